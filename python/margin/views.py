"""Arrays as the library sees them: views that own nothing, made without a copy where they can be.

What is copied, once: layouts of which neither rows nor (where a call takes those) columns lie together,
numbers that are neither float64 nor float32, foreign byte orders, numbers that are not aligned (a mapped file with an odd header).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from margin._binding import ffi, lib

_TYPES = {
    np.dtype(np.float64): lib.MARGIN_F64,
    np.dtype(np.float32): lib.MARGIN_F32,
    np.dtype(np.int32): lib.MARGIN_I32,
    np.dtype(np.int64): lib.MARGIN_I64,
    np.dtype(np.uint8): lib.MARGIN_U8,
}
DTYPES = {code: dtype for dtype, code in _TYPES.items()}
_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


def address(array: np.ndarray) -> Any:
    """Where the numbers of an array begin."""
    if array.flags.c_contiguous:
        return ffi.from_buffer(array)
    return ffi.cast("void *", array.__array_interface__["data"][0])


def is_sparse(x: Any) -> bool:
    return hasattr(x, "tocsr") and hasattr(x, "nnz")


def _check_compressed(x: Any, what: str) -> None:
    """SciPy's own loops take these numbers as they are."""
    starts, indices = x.indptr, x.indices
    major, minor = x.shape if x.format != "csc" else x.shape[::-1]
    if x.format == "bsr":
        major, minor = major // x.blocksize[0], minor // x.blocksize[1]
    fits = len(starts) == major + 1 and starts[0] == 0 and not (np.diff(starts) < 0).any()
    fits = fits and starts[-1] <= min(len(indices), len(x.data))
    if fits and x.format != "csr" and len(indices):
        fits = indices.min() >= 0 and indices.max() < minor
    if not fits:
        raise ValueError(f"{what} is an inconsistent sparse matrix: its indptr and indices do not fit its shape and data")


def summed_rows(x: Any, what: str) -> Any:
    """Sparse rows as CSR, where an entry that is stored more than once is the sum."""
    if hasattr(x, "indptr"):
        _check_compressed(x, what)
    rows = x.tocsr()
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def as_sparse_as(given: Any, made: Any) -> Any:
    """What was made of sparse rows, as SciPy's array or matrix, whichever they are."""
    if not is_sparse(made) or not is_sparse(given):
        return made
    from scipy.sparse import csr_array, isspmatrix

    return made if isspmatrix(given) else csr_array(made)


def floats(x: Any, what: str) -> np.ndarray:
    """x as an array of float64 or float32; a copy only where it is neither."""
    if type(x) is not np.ndarray and isinstance(x, np.ma.MaskedArray):
        x = np.where(np.ma.getmaskarray(x), np.nan, np.asarray(x, np.float64))  # a number that is masked is none
    array = x if isinstance(x, np.ndarray) else np.asarray(x)
    if array.dtype in _FLOATS and array.dtype.isnative:
        return array if array.flags.aligned else array.copy()
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {what} has to be real numbers")
    if array.dtype.kind not in "biufO":
        advice = {"M": ": give days, months or seconds", "m": ": give seconds"}.get(array.dtype.kind, "")
        raise ValueError(f"{what} has to be numbers, not {array.dtype}{advice}")
    wanted = np.float32 if array.dtype in (np.float16, np.dtype(">f4")) else np.float64
    try:
        return array.astype(wanted)
    except (TypeError, ValueError) as reason:
        raise ValueError(f"{what} has to be numbers: {reason}") from None


def _rows_together(x: np.ndarray) -> np.ndarray:
    """x itself if each row lies together and rows follow one another at a step of whole numbers."""
    rows, columns = x.shape
    size = x.itemsize
    across, along = x.strides
    if (
        x.flags.aligned
        and (along == size or columns <= 1)
        and (rows <= 1 or (across >= columns * size and across % size == 0))
    ):
        return x
    return np.ascontiguousarray(x)


def _columns_together(x: np.ndarray) -> bool:
    """Whether each column lies together and rows do not, as in Fortran order."""
    along, across = x.strides
    return min(x.shape) > 1 and x.flags.aligned and along == x.itemsize and across >= x.shape[0] * along


class Matrix:
    """A margin_matrix and what it borrows from; `columns`: of columns, too."""

    __slots__ = ("view", "keep", "rows", "columns")

    def __init__(self, x: Any, what: str = "X", *, columns: bool = False) -> None:
        self.view = ffi.new("margin_matrix *")
        if is_sparse(x):
            self._sparse(x, what)
        else:
            self._dense(x, what, columns)
        self.rows, self.columns = self.view.rows, self.view.columns

    def _dense(self, x: Any, what: str, columns: bool) -> None:
        array = floats(x, what)
        if array.ndim != 2:
            raise ValueError(
                f"{what} has to have two dimensions, rows and columns; it has {array.ndim}. "
                f"Reshape your data: {what}.reshape(-1, 1) is one column, {what}.reshape(1, -1) one row"
            )
        view = self.view
        by_columns = columns and _columns_together(array)
        array = array if by_columns else _rows_together(array)
        view.rows, view.columns = array.shape
        view.value_type = _TYPES[array.dtype]
        self.keep: Any = array
        if by_columns:
            begins = array.__array_interface__["data"][0] + np.arange(array.shape[1], dtype=np.uintp) * array.strides[1]
            view.column_values = ffi.cast("void **", address(begins))
            self.keep = (array, begins)
            return
        view.values = address(array)
        step = array.strides[0] // array.itemsize if array.shape[0] > 1 else array.shape[1]
        view.stride = max(step, array.shape[1])

    def _sparse(self, x: Any, what: str) -> None:
        rows = summed_rows(x, what)
        values = np.ascontiguousarray(floats(rows.data, what))
        starts, indices = (
            np.require(a if a.dtype in (np.int32, np.int64) else a.astype(np.int64), requirements=["C", "A"])
            for a in (rows.indptr, rows.indices)
        )
        view = self.view
        view.values, view.row_starts, view.column_indices = map(address, (values, starts, indices))
        view.rows, view.columns = rows.shape
        view.value_type = _TYPES[values.dtype]
        view.start_type, view.index_type = _TYPES[starts.dtype], _TYPES[indices.dtype]
        self.keep = (values, starts, indices)


def vector(array: np.ndarray, into: Any) -> np.ndarray:
    """Fills the margin_vector `into`; returns the array that it borrows from."""
    array = np.require(array, requirements=["C", "A"])
    into.values = address(array)
    into.count = array.size
    into.type = _TYPES[array.dtype]
    return array


class _Borrowed:
    """Numbers of a model as an array that keeps the model alive."""

    def __init__(self, owner: Any, pointer: Any, shape: tuple[int, ...], dtype: Any, writable: bool) -> None:
        self.owner = owner
        self.__array_interface__ = {
            "version": 3,
            "shape": shape,
            "typestr": dtype.str,
            "data": (int(ffi.cast("uintptr_t", pointer)), not writable),
        }


def borrowed(owner: Any, pointer: Any, shape: tuple[int, ...], dtype: Any, *, writable: bool = False) -> np.ndarray:
    """An array over the library's memory, without a copy; `owner` lives as long as it does."""
    dtype = np.dtype(dtype)
    if 0 in shape:
        return np.empty(shape, dtype)
    return np.asarray(_Borrowed(owner, pointer, shape, dtype, writable))


def taken_over(owner: Any, view: Any) -> Any:
    """A margin_matrix that belongs to `owner` as an array or CSR matrix, without a copy."""
    values = DTYPES[view.value_type]
    if not view.row_starts:
        return borrowed(owner, view.values, (view.rows, view.columns), values, writable=True)
    from scipy.sparse import csr_matrix

    starts = borrowed(owner, view.row_starts, (view.rows + 1,), DTYPES[view.start_type], writable=True)
    count = int(starts[-1])
    indices = borrowed(owner, view.column_indices, (count,), DTYPES[view.index_type], writable=True)
    made = csr_matrix((view.rows, view.columns), dtype=values)
    made.data, made.indices, made.indptr = borrowed(owner, view.values, (count,), values, writable=True), indices, starts
    return made
