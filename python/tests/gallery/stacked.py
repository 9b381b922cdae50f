"""Made regression: a stack of models, and each of them, on rows not seen."""

from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import make_friedman1
from sklearn.ensemble import BaggingRegressor, StackingRegressor
from sklearn.linear_model import Lasso, LinearRegression, Ridge
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVR

X, y = make_friedman1(400, noise=1.0, random_state=0)
models = {
    "line": LinearRegression(), "curves": make_pipeline(StandardScaler(), PolynomialFeatures(2), Lasso(0.05)),
    "kernel": TransformedTargetRegressor(make_pipeline(StandardScaler(), SVR(C=10)), transformer=StandardScaler()),
    "bag": BaggingRegressor(Ridge(), n_estimators=5, random_state=0),
}
models["stack"] = StackingRegressor(list(models.items()), final_estimator=Ridge())
for name, model in models.items():
    print(f"{name:<8} {cross_val_score(model, X, y, cv=5).mean():.2f}")
