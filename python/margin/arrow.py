"""Tables of other packages by the Arrow PyCapsule protocol (polars, pyarrow, duckdb, ...): `__arrow_c_stream__`.

Numbers are copied once into rows; texts and dictionaries become categories. Nothing of Arrow has to be
installed: a stream is three C structs, https://arrow.apache.org/docs/format/CStreamInterface.html.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from margin.columns import Column

_STRUCTS = """
struct ArrowSchema { const char *format, *name, *metadata; int64_t flags, n_children;
    struct ArrowSchema **children; struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *); void *private_data; };
struct ArrowArray { int64_t length, null_count, offset, n_buffers, n_children; const void **buffers;
    struct ArrowArray **children; struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *); void *private_data; };
struct ArrowArrayStream { int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *); void *private_data; };
"""
_NUMBERS = {"c": "i1", "C": "u1", "s": "i2", "S": "u2", "i": "i4", "I": "u4", "l": "i8", "L": "u8", "e": "f2",
            "f": "f4", "g": "f8"}
_TEXTS = ("u", "U", "vu")


@cache
def _ffi() -> Any:
    from cffi import FFI

    ffi = FFI()
    ffi.cdef(_STRUCTS)
    return ffi


def is_arrow(x: Any) -> bool:
    return hasattr(x, "__arrow_c_stream__") and not hasattr(x, "iloc")


def _bits(pointer: Any, offset: int, length: int) -> np.ndarray:
    raw = np.frombuffer(_ffi().buffer(pointer, (offset + length + 7) // 8), np.uint8)
    return np.unpackbits(raw, bitorder="little")[offset : offset + length].astype(bool)


def _present(array: Any) -> np.ndarray | None:
    """Which values are there; None: all."""
    if array.null_count == 0 or array.n_buffers == 0 or array.buffers[0] == _ffi().NULL:
        return None
    return _bits(array.buffers[0], array.offset, array.length)


def _plain(array: Any, place: int, dtype: str, extra: int = 0) -> np.ndarray:
    kind = np.dtype(dtype)
    count = array.length + extra
    if count == 0:
        return np.empty(0, kind)
    raw = _ffi().buffer(array.buffers[place], (array.offset + count) * kind.itemsize)
    return np.frombuffer(raw, kind)[array.offset :]


def _texts(array: Any, form: str) -> list[str]:
    """Values of a column of texts; what is missing may be anything."""
    ffi = _ffi()
    if form == "vu":
        return _views(array)
    starts = _plain(array, 1, "i4" if form == "u" else "i8", extra=1)
    if array.length == 0:
        return []
    data = bytes(ffi.buffer(array.buffers[2], int(starts[-1]))) if starts[-1] else b""
    return [data[a:b].decode("utf-8", "replace") for a, b in zip(starts[:-1].tolist(), starts[1:].tolist())]


def _views(array: Any) -> list[str]:
    """Views of 16 bytes: a length and the text itself, or its start, buffer and place there."""
    ffi = _ffi()
    raw = bytes(ffi.buffer(array.buffers[1], 16 * (array.offset + array.length))) if array.length else b""
    made = []
    for k in range(array.offset, array.offset + array.length):
        view = raw[16 * k : 16 * k + 16]
        length = int.from_bytes(view[:4], "little")
        if length > 12:
            buffer, place = (int.from_bytes(view[j : j + 4], "little") for j in (8, 12))
            view = bytes(ffi.buffer(ffi.cast("const char *", array.buffers[2 + buffer]) + place, length))
        else:
            view = view[4 : 4 + length]
        made.append(view.decode("utf-8", "replace"))
    return made


class _Part:
    """One column of one chunk: numbers (NaN: missing), or texts and what is there of them."""

    def __init__(self, schema: Any, array: Any, name: str) -> None:
        form = _ffi().string(schema.format).decode()
        there = _present(array)
        self.texts: np.ndarray | None = None
        if schema.dictionary != _ffi().NULL:
            kind = _ffi().string(schema.dictionary.format).decode()
            if kind not in _TEXTS:
                raise TypeError(f"column {name!r} is a dictionary of something else than texts")
            words = _texts(array.dictionary, kind)
            codes = _plain(array, 1, _NUMBERS[form]).astype(np.int64)
            codes = codes if there is None else np.where(there, codes, 0)
            self.texts = np.array([*words, None], dtype=object)[:-1][codes] if words else np.full(array.length, None, object)
        elif form in _TEXTS:
            self.texts = np.array([*_texts(array, form), None], dtype=object)[:-1]
        elif form == "b":
            self.numbers = _bits(array.buffers[1], array.offset, array.length).astype(np.float64)
        elif form in _NUMBERS:
            self.numbers = _plain(array, 1, _NUMBERS[form])
        elif form == "n":
            self.numbers, there = np.full(array.length, np.nan), None
        else:
            raise TypeError(f"column {name!r} has the Arrow type {form!r}; columns hold numbers, booleans, texts or categories")
        if self.texts is not None:
            self.texts = self.texts if there is None else np.where(there, self.texts, np.array(None, object))
        elif there is not None:
            self.numbers = np.where(there, self.numbers, np.nan)


def _chunks(x: Any) -> tuple[list[str], list[list[_Part]]]:
    """Names, and for each column its parts."""
    import ctypes

    ffi = _ffi()
    capsule = x.__arrow_c_stream__()
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    stream = ffi.cast("struct ArrowArrayStream *", get(capsule, b"arrow_array_stream"))
    schema = ffi.new("struct ArrowSchema *")
    if stream.get_schema(stream, schema) != 0:
        raise ValueError("the Arrow stream has no schema")
    try:
        if ffi.string(schema.format) != b"+s":
            raise TypeError("X has to be a table: an Arrow stream of structs, with named columns")
        names = [ffi.string(schema.children[j].name).decode() for j in range(schema.n_children)]
        parts: list[list[_Part]] = [[] for _ in names]
        while True:
            array = ffi.new("struct ArrowArray *")
            if stream.get_next(stream, array) != 0:
                raise ValueError(f"the Arrow stream broke off: {ffi.string(stream.get_last_error(stream)).decode()}")
            if array.release == ffi.NULL:
                return names, parts
            try:
                for j, name in enumerate(names):
                    child = _sliced(array, array.children[j])
                    parts[j].append(_Part(schema.children[j], child, name))
                    if parts[j][-1].texts is None:
                        parts[j][-1].numbers = np.array(parts[j][-1].numbers)  # before the memory is given back
            finally:
                array.release(array)
    finally:
        schema.release(schema)


def _sliced(parent: Any, child: Any) -> Any:
    """The rows of a child that its struct is about."""
    if parent.offset == 0 and parent.length == child.length:
        return child
    made = _ffi().new("struct ArrowArray *", child[0])
    made.offset, made.length, made.null_count = child.offset + parent.offset, parent.length, -1
    return made


def arrow_frame(x: Any) -> tuple[np.ndarray, list[Column]]:
    """A table as one array of rows and the descriptions of its columns: float32 if all numbers are, else float64."""
    names, parts = _chunks(x)
    rows = sum(len(p.numbers if p.texts is None else p.texts) for p in parts[0]) if parts else 0
    single = bool(names) and all(p.texts is None and p.numbers.dtype == np.float32 for column in parts for p in column)
    values = np.empty((rows, len(names)), np.float32 if single else np.float64)
    described = []
    for j, (name, column) in enumerate(zip(names, parts)):
        if any(p.texts is not None for p in column):
            texts = np.concatenate([p.texts for p in column if p.texts is not None])
            known = sorted({t for t in texts if t is not None}, key=lambda t: t.encode())
            place = {t: code for code, t in enumerate(known)}
            values[:, j] = [np.nan if t is None else place[t] for t in texts]
            described.append(Column(name, tuple(known)))
        else:
            values[:, j] = np.concatenate([p.numbers for p in column]) if column else 0
            described.append(Column(name))
    return values, described
