"""Tables with named columns: a DataFrame's numbers, categories and names as the library describes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Sequence

import numpy as np

from margin._binding import ffi, lib
from margin.errors import DataError


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name and, if it is one of categories, their names (code k means categories[k])."""

    name: str
    categories: tuple[str, ...] | None = None


class Descriptions:
    """An array of margin_column and the texts that it points to."""

    __slots__ = ("array", "keep")

    def __init__(self, columns: Sequence[Column]) -> None:
        self.array = ffi.new("margin_column[]", len(columns))
        self.keep: list[Any] = []
        for place, column in zip(self.array, columns):
            place.name = self._text(column.name)
            if column.categories is None:
                place.kind = lib.MARGIN_NUMERIC
                continue
            names = ffi.new("const char *[]", [self._text(name) for name in column.categories])
            self.keep.append(names)
            place.kind = lib.MARGIN_CATEGORICAL
            place.categories = names
            place.category_count = len(column.categories)

    def _text(self, value: str) -> Any:
        kept = ffi.new("char[]", value.encode("utf-8", "surrogatepass"))
        self.keep.append(kept)
        return kept


def read_columns(pointer: Any, count: int) -> list[Column]:
    """Descriptions that the library handed out."""
    return [
        Column(
            _string(pointer[j].name),
            tuple(_string(pointer[j].categories[k]) for k in range(pointer[j].category_count))
            if pointer[j].kind == lib.MARGIN_CATEGORICAL
            else None,
        )
        for j in range(count)
    ]


def _string(pointer: Any) -> str:
    return ffi.string(pointer).decode("utf-8", "replace")


def is_frame(x: Any) -> bool:
    """Whether x is a pandas DataFrame (or looks like one)."""
    return hasattr(x, "dtypes") and hasattr(x, "columns") and hasattr(x, "iloc")


def _written(label: Any) -> str:
    """The name of a category: whole numbers are written alike, whether pandas made floats of them or not."""
    return str(int(label)) if isinstance(label, (float, np.floating)) and float(label).is_integer() else str(label)


def codes_of(values: Any) -> tuple[np.ndarray, tuple[str, ...]]:
    """Codes (-1: missing) and names of a column of categories or texts; names that occur twice are one."""
    import pandas

    if isinstance(values.dtype, pandas.CategoricalDtype):
        codes, given = np.asarray(values.cat.codes), [_written(v) for v in values.cat.categories]
    else:
        codes, uniques = pandas.factorize(values)
        given = [_written(v) for v in uniques]
    names = sorted(set(given), key=lambda name: name.encode())
    place = {name: code for code, name in enumerate(names)}
    return np.array([place[name] for name in given] + [-1], np.int64)[codes], tuple(names)


def frame(x: Any) -> tuple[np.ndarray, list[Column]]:
    """A DataFrame as one array of rows and the descriptions of its columns. Numbers of one type are taken
    over in that type, all others as float64, those in columns of objects, too; a missing value is NaN."""
    import pandas

    if (x.dtypes == object).any():
        x = x.infer_objects()
    names = [str(name) for name in x.columns]
    kinds = [is_numeric(dtype) for dtype in x.dtypes]
    if all(kinds) and len(set(x.dtypes)) == 1 and isinstance(x.dtypes.iloc[0], np.dtype):
        return x.to_numpy(), [Column(name) for name in names]
    rows = np.empty(x.shape, np.float64)
    described = []
    for j, (name, numeric) in enumerate(zip(names, kinds)):
        values = x.iloc[:, j]
        if numeric:
            rows[:, j] = values.to_numpy(np.float64, na_value=np.nan)
            described.append(Column(name))
        elif isinstance(values.dtype, pandas.CategoricalDtype) or values.dtype.kind in "OUST":
            codes, categories = codes_of(values)
            rows[:, j] = np.where(codes < 0, np.nan, codes)
            described.append(Column(name, categories))
        else:
            raise DataError(
                f"column {name!r} holds {values.dtype}; columns hold numbers, texts or categories"
                + numbers_of(values.dtype, f"X[{name!r}]")
            )
    return rows, described


def numbers_of(dtype: Any, column: str) -> str:
    """What to do about dates and durations, for the end of a sentence."""
    advice = {
        "M": f": leave it out, or make numbers of it, such as ({column} - {column}.min()).dt.days or {column}.dt.month",
        "m": f": make numbers of it, such as {column}.dt.total_seconds()",
    }
    return advice.get(getattr(dtype, "kind", ""), ": leave it out, or make numbers of it")


def is_numeric(dtype: Any) -> bool:
    return getattr(dtype, "kind", "O") in "biuf" and not hasattr(dtype, "categories")
