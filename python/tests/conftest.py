import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris


@pytest.fixture(scope="session")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture(scope="session")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return (X - X.mean(0)) / X.std(0), y


@pytest.fixture(scope="session")
def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return X * 20, y


@pytest.fixture
def rng():
    return np.random.default_rng(0)
