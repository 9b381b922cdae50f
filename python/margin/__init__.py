"""Classical machine learning in which every model comes with a proof of how good it is.

    >>> import margin
    >>> model = margin.fit("standardize | logistic", X, y)
    >>> model.report.gap <= model.report.tolerance
    True

scikit-learn's names (``margin.Ridge``, ``margin.SVC``, ...) are there where scikit-learn is installed.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from margin.catalogue import Component, Option, canonical, components
from margin.config import config_context, get_config, set_config
from margin.displays import CoefficientsDisplay, SearchDisplay, TraceDisplay
from margin.errors import (
    ArgumentError,
    Cause,
    ConvergenceWarning,
    DataError,
    Error,
    FileError,
    FileMissingError,
    FilePermissionError,
    FormatError,
    InternalError,
    LimitError,
    ModelError,
    OutOfMemoryError,
    SpecError,
    Status,
    SystemRefusedError,
    UnsupportedError,
    version,
)
from margin.fitting import fit
from margin.judging import BoundaryDisplay, CalibrationDisplay, ConfusionDisplay, LearningDisplay, RocDisplay
from margin.learning import LearningCurve, learning_curve
from margin.measures import Importance, Metrics
from margin.model import Model, from_bytes, load
from margin.neighbors import KDTree, Neighbors
from margin.progress import Progress
from margin.report import Report
from margin.searching import Cell, SearchTable, compare, search, usual_specs
from margin.separability import Separation, separable
from margin.trace import TraceStep

__version__ = version()


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module 'margin' has no attribute {name!r}")
    try:
        return getattr(import_module("margin.estimators"), name)
    except AttributeError:
        raise AttributeError(f"module 'margin' has no attribute {name!r}") from None


def __dir__() -> list[str]:
    try:
        from margin.estimators import __all__ as estimators
    except ImportError:
        return sorted(globals())
    return sorted({*globals(), *estimators})
