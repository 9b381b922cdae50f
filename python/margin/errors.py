"""What can go wrong. The text of an error is the library's own sentence: what, where, how to mend it."""

from __future__ import annotations

import os
import re
from enum import IntEnum
from typing import Any

from margin._binding import ffi, lib


class Status(IntEnum):
    """How a call ended: 0 done, above 0 a usable result that stopped early, below 0 a failure."""

    OK = 0
    STOPPED_ITERATIONS = 1
    STOPPED_TIME = 2
    STOPPED_STALLED = 3
    ARGUMENT = -1
    SPEC = -2
    DATA = -3
    FORMAT = -4
    MODEL = -5
    MEMORY = -6
    LIMIT = -7
    FILE = -8
    SYSTEM = -9
    CANCELLED = -10
    INTERNAL = -11


class Cause(IntEnum):
    """What it is about the data that a call cannot use, or which limit was met."""

    NONE = 0
    MISSING_VALUE = 1
    INFINITE_VALUE = 2
    NO_ROWS = 3
    FEW_ROWS = 4
    ONE_CLASS = 5
    UNKNOWN_CLASS = 6
    COLUMNS = 7
    WEIGHTS = 8
    CATEGORIES = 9
    UNKNOWN_CATEGORY = 10
    TARGET = 11
    NEGATIVE_VALUE = 12
    OVERFLOW = 13
    TIME_LIMIT = 14
    MEMORY_LIMIT = 15


class Error(Exception):
    """Base of all errors of the library.

    Attributes
    ----------
    status : Status
    cause : Cause or int
        What it is about the data, or which limit it was (an int if a later library knows more causes).
    row, feature : int or None
        Row and column of the data that was given, from 0; None where they do not apply.
    position : int or None
        Byte in the text of a spec, from 0.
    line, column : int or None
        Place in a text file or spec, from 1.
    """

    status: Status = Status.INTERNAL
    cause: int = Cause.NONE
    row: int | None = None
    feature: int | None = None
    position: int | None = None
    line: int | None = None
    column: int | None = None


class ArgumentError(Error, ValueError):
    """The call itself is wrong: a shape, or what the learner does not take."""


class SpecError(Error, ValueError):
    """A spec: its syntax, an unknown name, a value out of range."""


class DataError(Error, ValueError):
    """The data cannot be used: NaN, one class, no rows, other columns; `cause` says which."""


class FormatError(Error, ValueError):
    """A data file does not follow its format."""


class ModelError(Error, ValueError):
    """A model file is damaged, hostile or from a newer version."""


class OutOfMemoryError(Error, MemoryError):
    """There was not enough memory."""


class LimitError(Error, RuntimeError):
    """A limit was reached before there was a result: of time, of memory, or a stated one."""


class FileError(Error, OSError):
    """A file could not be opened, read or written; `errno` says why."""


class FileMissingError(FileError, FileNotFoundError):
    """There is no such file."""


class FilePermissionError(FileError, PermissionError):
    """The file may not be read or written."""


class SystemRefusedError(Error, OSError):
    """The operating system refused something else, such as a thread."""


class InternalError(Error, RuntimeError):
    """A defect in margin itself."""


class UnsupportedError(Error, ValueError):
    """A value of a parameter that scikit-learn's class takes and margin's does not."""

    status = Status.ARGUMENT


class ConvergenceWarning(UserWarning):
    """A fit stopped before the gap that was asked; the model is usable, and its report says how far off it is."""


_CLASSES: dict[int, type[Error]] = {
    Status.ARGUMENT: ArgumentError,
    Status.SPEC: SpecError,
    Status.DATA: DataError,
    Status.FORMAT: FormatError,
    Status.MODEL: ModelError,
    Status.MEMORY: OutOfMemoryError,
    Status.LIMIT: LimitError,
    Status.FILE: FileError,
    Status.SYSTEM: SystemRefusedError,
    Status.INTERNAL: InternalError,
}
_FILES: dict[type[OSError], type[Error]] = {
    FileNotFoundError: FileMissingError,
    PermissionError: FilePermissionError,
}


def encoded(words: str) -> bytes:
    """For the library, to which a zero is the end."""
    if "\0" in words:
        raise ValueError(f"{words!r} has a zero character")
    return words.encode()


def text(pointer: Any) -> str:
    """A text of the library."""
    return ffi.string(pointer).decode("utf-8", "replace")


def _member(kind: type[IntEnum], value: int) -> Any:
    try:
        return kind(value)
    except ValueError:
        return value


# Remedies of C and the shell, and what they are here.
_REMEDIES = {
    " (MARGIN_MISSING_DROP)": "", " (margin_read_options.ignore)": "", " (margin_split_options.stratify)": "",
    " (margin_read_options.categorical)": "", " (margin_read_options.labels)": "", " (margin_read_options.target)": "",
    " (margin_data.classes)": "", " (margin_search_options.count)": "", "(margin_search_options.most_cells)": "(most_cells)",
    "give it (margin_data.y), name a column of the file, or for npy and idx the file of the labels": "give y",
    "have to be read as categories": "have to be given as texts",
    "(margin cv compares them by cross-validation, margin path penalties of ridge, margin plot elbow numbers of clusters)":
        "(margin.search compares them by cross-validation)",
    "margin separable": "margin.separable",
    "(margin compare)": "(margin.compare)",
    "margin_separable_options.positive ": "y == ",
    "margin_model_transform": "Model.transform",
    "margin_promise_options.coverage": "Model.promise(coverage=)",
    "margin_context_options.kernel": "kernel= of margin.fit and margin.load",
}


def in_python(sentence: str, row: int = 0) -> str:
    """The library's sentence; with a `row` it is about, rows are counted from 0."""
    for theirs, ours in _REMEDIES.items():
        sentence = sentence.replace(theirs, ours)
    if row <= 0:
        return sentence
    return re.sub(r"\b(row|query) ([1-9]\d*)\b", lambda found: f"{found[1]} {int(found[2]) - 1} (from 0)", sentence)


def exception(status: int, error: Any) -> BaseException:
    """The exception for a failed call whose margin_error is `error`."""
    if status == Status.CANCELLED:
        return KeyboardInterrupt()
    kind = _CLASSES.get(status, InternalError)
    sentence = in_python(text(error.text), error.row)
    arguments: tuple[Any, ...] = (sentence,)
    if status == Status.FILE and error.system_error:
        plain = type(OSError(error.system_error, os.strerror(error.system_error)))
        kind = _FILES.get(plain, kind)
    raised = kind(*arguments)
    raised.status = _member(Status, status)
    raised.cause = _member(Cause, error.cause)
    raised.row = error.row - 1 if error.row > 0 else None
    raised.feature = error.feature - 1 if error.feature > 0 else None
    raised.position = error.position if error.position >= 0 and status == Status.SPEC else None
    raised.line = error.line or None
    raised.column = error.column or None
    if isinstance(raised, OSError) and error.system_error:
        raised.errno = error.system_error
    return raised


def check(status: int, error: Any) -> int:
    """Returns a status that is a success; raises for the others."""
    if status < 0:
        raise exception(status, error)
    return status


def new_error() -> Any:
    return ffi.new("margin_error *")


def version() -> str:
    return text(lib.margin_version())
