"""A data set for one call: a margin_data and everything that it borrows from."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from margin._binding import ffi
from margin.arrow import arrow_frame, is_arrow
from margin.columns import Column, Descriptions, frame, is_frame
from margin.labels import Target, target
from margin.views import Matrix, address, floats, vector


class Data:
    """X, and as they apply y, sample weights and the descriptions of the columns. `columns`: for a call that
    takes X by columns, too."""

    __slots__ = ("struct", "x", "target", "named", "_keep", "_chosen")

    def __init__(
        self, x: Any, y: Any = None, sample_weight: Any = None, described: Sequence[Column] | None = None,
        *, columns: bool = False
    ) -> None:
        if described is None and is_frame(x):
            x, described = frame(x)
        elif described is None and is_arrow(x):
            x, described = arrow_frame(x)
        self.struct = ffi.new("margin_data *")
        self.x = Matrix(x, columns=columns)
        self.target: Target | None = None
        self.struct.x = self.x.view[0]
        self._keep: list[Any] = [self.x]
        self.named = described is not None
        if described is not None:
            self._borrow("columns", Descriptions(described))
        if y is not None:
            self._set_target(y if isinstance(y, Target) else target(y))
        if sample_weight is not None:
            self._set_weights(sample_weight)

    def select(self, rows: np.ndarray) -> None:
        """Uses these rows (numbers from 0, int64), in this order."""
        self._chosen = np.ascontiguousarray(rows, np.int64)
        self.struct.selection, self.struct.selected = ffi.cast("int64_t *", address(self._chosen)), len(self._chosen)

    def _borrow(self, field: str, descriptions: Descriptions) -> None:
        self._keep.append(descriptions)
        setattr(self.struct, field, descriptions.array)

    def _set_target(self, given: Target) -> None:
        self.target = given
        if given.values.shape[0] != self.x.rows:
            raise ValueError(
                "Found input variables with inconsistent numbers of samples: "
                f"X has {self.x.rows} rows and y {given.values.shape[0]}"
            )
        values = given.values
        if values.ndim == 2:
            self.struct.targets = values.shape[1]
            values = floats(values, "y")
        self._keep.append(vector(values, self.struct.y))
        if given.declared is not None:
            self._keep.append(vector(given.declared, self.struct.classes))
        if given.column is not None:
            self._borrow("target", Descriptions([given.column]))

    def _set_weights(self, sample_weight: Any) -> None:
        weights = sample_weight if isinstance(sample_weight, np.ma.MaskedArray) else np.asarray(sample_weight)
        if weights.ndim == 0:
            weights = np.full(self.x.rows, float(weights))
        if weights.ndim != 1:
            raise ValueError(f"Sample weights must be 1D array or scalar: they have {weights.ndim} dimensions")
        weights = floats(weights, "sample_weight")
        if weights.shape[0] != self.x.rows:
            raise ValueError(
                f"sample_weight.shape == {weights.shape}, expected {(self.x.rows,)}: a weight for each row"
            )
        self._keep.append(vector(weights, self.struct.weights))
