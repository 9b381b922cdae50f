"""Handwritten digits: kernel, width and C of a support vector machine chosen by folds."""

from sklearn.datasets import load_digits
from sklearn.metrics import classification_report
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

X, y = load_digits(return_X_y=True)
X, X_test, y, y_test = train_test_split(X, y, test_size=0.4, random_state=0, stratify=y)
pipeline = Pipeline([("scale", StandardScaler()), ("machine", SVC())])
grid = GridSearchCV(pipeline, {"machine__C": [0.1, 1, 10], "machine__gamma": ["scale", 0.1]}, cv=3)
grid.fit(X, y)
print(grid.best_params_)
print(grid.cv_results_["rank_test_score"], grid.cv_results_["mean_test_score"].round(3))
print(classification_report(y_test, grid.predict(X_test), digits=2))
