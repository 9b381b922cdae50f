"""Rows to learn from and rows to judge by."""

from __future__ import annotations

from typing import Any

import numpy as np

from margin._binding import ffi, lib
from margin.contexts import context
from margin.data import Data
from margin.errors import check, new_error
from margin.views import address, vector


class Splits:
    """Folds of the rows of a data set: `count` splits, each row tested once in each repeat; 0 folds are one split
    with the share `test` to test on."""

    def __init__(self, data: Data, folds: int, *, test: float = 0.0, repeats: int = 1, stratify: bool = False,
                 groups: Any = None, seed: int = 0, in_order: bool = False) -> None:
        options = ffi.new("margin_split_options *")
        options.size = ffi.sizeof("margin_split_options")
        options.folds, options.repeats, options.seed = folds, repeats, seed
        options.test = test
        options.stratify, options.in_order = stratify, in_order
        if groups is not None:
            _, codes = np.unique(np.asarray(groups), return_inverse=True)
            self._groups = vector(codes.astype(np.int64), options.groups)
        made, error = ffi.new("margin_splits **"), new_error()
        check(lib.margin_split(context(), data.struct, options, made, error), error)
        self._handle = ffi.gc(made[0], lib.margin_splits_free)
        self.count = lib.margin_splits_count(self._handle)
        self.folds = lib.margin_splits_folds(self._handle)

    def rows(self, split: int, *, test: bool = True) -> np.ndarray:
        """Numbers of the rows that are tested (or learned from)."""
        part = lib.MARGIN_PART_TEST if test else lib.MARGIN_PART_TRAIN
        rows = np.empty(lib.margin_splits_size(self._handle, split, part), np.int64)
        lib.margin_splits_rows(self._handle, split, part, ffi.cast("int64_t *", address(rows)))
        return rows
