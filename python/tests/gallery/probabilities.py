"""Tumours: are the probabilities of three classifiers to be trusted, and does calibration help?"""

from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, random_state=1)
for name, model in {
    "logistic": make_pipeline(StandardScaler(), LogisticRegression(C=0.5)),
    "naive Bayes": GaussianNB(),
    "naive Bayes, sigmoid": CalibratedClassifierCV(GaussianNB(), cv=4),
    "machine, sigmoid": make_pipeline(StandardScaler(), CalibratedClassifierCV(LinearSVC(C=0.01, tol=1e-8, max_iter=100000), cv=4)),
}.items():
    chances = model.fit(X, y).predict_proba(X_test)[:, 1]
    print(f"{name:<22} {brier_score_loss(y_test, chances):.3f} {log_loss(y_test, chances):.3f} {roc_auc_score(y_test, chances):.3f}")
