"""Coefficients of linear models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from margin.model import Model


class LinearAttributes:
    """`coef_` and `intercept_` in scikit-learn's shapes: views of the model's numbers, read-only."""

    if TYPE_CHECKING:

        def _fitted(self) -> Model: ...

    @property
    def coef_(self) -> np.ndarray:
        return self._shaped(self._fitted().weights)

    @property
    def intercept_(self) -> Any:
        return self._fitted().intercepts

    def _shaped(self, weights: Any) -> np.ndarray:
        return weights


class LinearValues(LinearAttributes):
    """The same of a regression: one target has no dimension of its own."""

    def _shaped(self, weights: Any) -> np.ndarray:
        return weights if self._fitted().target_count > 1 else weights[0]

    @property
    def intercept_(self) -> Any:
        intercepts = self._fitted().intercepts
        if not getattr(self, "fit_intercept", True):
            return 0.0
        return intercepts if self._fitted().target_count > 1 else intercepts[0]
