"""What scikit-learn called otherwise before version 1.6: checks of arrays, and tags."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import sklearn.utils
from sklearn.base import BaseEstimator, MultiOutputMixin
from sklearn.utils.fixes import parse_version

__all__ = ["Base", "check_array", "validate_data"]
MODERN = parse_version(parse_version(sklearn.__version__).base_version) >= parse_version("1.6")

if MODERN or TYPE_CHECKING:
    from sklearn.utils import check_array
    from sklearn.utils.validation import validate_data

    Base = BaseEstimator
else:

    def _named(words: dict[str, Any]) -> dict[str, Any]:
        if "ensure_all_finite" in words:
            words["force_all_finite"] = words.pop("ensure_all_finite")
        return words

    def check_array(X: Any, **words: Any) -> Any:
        return sklearn.utils.check_array(X, **_named(words))

    def validate_data(estimator: Any, X: Any, y: Any = "no_validation", *, reset: bool = True,
                      skip_check_array: bool = False, **words: Any) -> Any:
        if skip_check_array:
            estimator._check_feature_names(X, reset=reset)
            estimator._check_n_features(X, reset=reset)
            return X
        return estimator._validate_data(X, y, reset=reset, **_named(words))

    class Base(BaseEstimator):  # type: ignore[no-redef]
        """Tags as they are now, told as they were."""

        def __sklearn_tags__(self) -> Any:
            parts = {
                "input_tags": {"sparse": False, "categorical": False, "string": False, "allow_nan": False,
                               "positive_only": False, "pairwise": False, "two_d_array": True},
                "target_tags": {"required": False, "multi_output": isinstance(self, MultiOutputMixin)}, "transformer_tags": {"preserves_dtype": ["float64"]},
                "classifier_tags": {"poor_score": False}, "regressor_tags": {"poor_score": False},
            }
            return SimpleNamespace(
                **{name: SimpleNamespace(**values) for name, values in parts.items()}, requires_fit=True,
                estimator_type=getattr(self, "_estimator_type", None),
            )

        def _more_tags(self) -> dict[str, Any]:
            tags = self.__sklearn_tags__()
            given = tags.input_tags
            kinds = {"2darray": True, "sparse": given.sparse, "categorical": given.categorical, "string": given.string}
            return {
                "X_types": [kind for kind, there in kinds.items() if there], "allow_nan": given.allow_nan,
                "requires_positive_X": given.positive_only, "pairwise": given.pairwise, "requires_fit": tags.requires_fit,
                "stateless": not tags.requires_fit, "multioutput": tags.target_tags.multi_output,
                "preserves_dtype": tags.transformer_tags.preserves_dtype,
                "poor_score": tags.classifier_tags.poor_score or tags.regressor_tags.poor_score,
            }
