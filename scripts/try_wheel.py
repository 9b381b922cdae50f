"""What a wheel has to do where there is nothing but NumPy."""

import pathlib
import pickle
import sys

import margin
import numpy as np

X = np.random.default_rng(0).normal(size=(200, 5))
y = (X[:, 0] + X[:, 1] ** 2 > 1).astype(int)
model = margin.fit("standardize | svm(kernel=rbf, task=classify)", X, y)
assert model.report.converged and model.verify(X, y).converged
assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
assert margin.compare(X, y, ["naive-bayes", "logistic"]).best is not None
assert margin.KDTree(X).query(X[:3])[1].ravel().tolist() == [0, 1, 2]
licences = {path.name for path in (pathlib.Path(margin.__file__).parent / "licenses").iterdir()}
assert licences == {"LICENSE", "LICENSE.lapack", "LICENSE.jansson", "LICENSE.zlib"}, licences
try:
    margin.Ridge
except ImportError as reason:
    assert "pip install scikit-learn" in str(reason)
else:
    assert "sklearn" in sys.modules
