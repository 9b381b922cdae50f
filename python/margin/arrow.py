"""Tables of other packages by the Arrow PyCapsule protocol (polars, pyarrow, duckdb, ...): `__arrow_c_stream__`.

The library reads the stream and copies numbers once into rows; texts and dictionaries become categories. Nothing of
Arrow has to be installed.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from margin._binding import ffi, lib
from margin.columns import Column, read_columns
from margin.contexts import running
from margin.errors import check, new_error
from margin.views import DTYPES, borrowed

_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype, _pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def is_arrow(x: Any) -> bool:
    return hasattr(x, "__arrow_c_stream__") and not hasattr(x, "iloc")


def arrow_frame(x: Any) -> tuple[np.ndarray, list[Column]]:
    """A table as one array of rows and the descriptions of its columns: float32 if all are of single precision."""
    capsule = x.__arrow_c_stream__()
    stream = ffi.cast("struct ArrowArrayStream *", _pointer_of(capsule, b"arrow_array_stream"))
    options = ffi.new("margin_read_options *")
    no_target = ffi.new("char[]", b"")
    options.size, options.target = ffi.sizeof("margin_read_options"), no_target
    made, error = ffi.new("margin_table **"), new_error()
    with running() as context:
        check(lib.margin_table_from_arrow(context, stream, options, made, error), error)
    table = ffi.gc(made[0], lib.margin_table_free)
    data = lib.margin_table_data(table)
    shape = (data.x.rows, data.x.columns)
    return borrowed(table, data.x.values, shape, DTYPES[data.x.value_type]), read_columns(data.columns, data.x.columns)
