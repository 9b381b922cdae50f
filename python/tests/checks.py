"""scikit-learn's own checks, in all its versions."""

import warnings

import pytest
import sklearn
from sklearn.utils.estimator_checks import check_estimator

NEWEST = tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 6)

newest = pytest.mark.skipif(not NEWEST, reason="numbers, parameters and methods of newer versions")
# Of versions before 1.6: another name, .A of sparse matrices that SciPy has no longer, and parameters without default.
OLDER = {
    "check_sample_weight_equivalence_on_dense_data": "check_sample_weights_invariance",
    "OneHotEncoder": "check_methods_subset_invariance", "_OfSpec": "check_parameters_default_constructible",
}


def older(name, expected):
    return {OLDER.get(check, check) for check in expected} | {OLDER.get(name, "")}


def failed_checks(estimator):
    """Names of the checks that fail, with what they raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if NEWEST:
            results = check_estimator(estimator, on_fail=None, on_skip=None)
            return {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"}
        failed = {}
        for made, check in check_estimator(estimator, generate_only=True):
            try:
                check(made)
            except BaseException as reason:
                if type(reason).__name__ != "SkipTest":
                    failed[getattr(check, "func", check).__name__] = reason
        return failed
