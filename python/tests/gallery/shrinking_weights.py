"""Diabetes: which measurements stay in the model as the penalties of lasso and ridge grow."""

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import ElasticNet, Lasso, LinearRegression, Ridge
from sklearn.metrics import mean_squared_error, r2_score
from sklearn.model_selection import cross_val_score

data = load_diabetes(scaled=False)
X = (data.data - data.data.mean(0)) / data.data.std(0)
y = data.target
for alpha in np.logspace(-2, 1.5, 8):
    lasso, both = Lasso(alpha=alpha).fit(X, y), ElasticNet(alpha=alpha, l1_ratio=0.8).fit(X, y)
    ridge = Ridge(alpha=len(X) * alpha).fit(X, y)
    kept = [name for name, weight in zip(data.feature_names, lasso.coef_) if weight]
    print(f"{alpha:8.3f}  {','.join(kept):<40} {np.count_nonzero(both.coef_)}  {np.abs(ridge.coef_).sum():8.2f}  {lasso.score(X, y):.3f} {ridge.score(X, y):.3f}")
plain = LinearRegression().fit(X, y)
print(f"{mean_squared_error(y, plain.predict(X)):.1f} {r2_score(y, plain.predict(X)):.3f} rank {plain.rank_}")
print({name: round(float(np.mean(cross_val_score(model, X, y, cv=5))), 3) for name, model in
       {"plain": LinearRegression(), "ridge": Ridge(10.0), "lasso": Lasso(1.0)}.items()})
