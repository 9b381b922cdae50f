"""Training."""

from __future__ import annotations

import warnings
from typing import Any, Callable, Mapping

import numpy as np

from margin._binding import ffi, lib
from margin.contexts import running
from margin.data import Data
from margin.errors import ConvergenceWarning, check, encoded, new_error
from margin.kernels import Kernel
from margin.labels import target
from margin.measures import evaluate, held_out
from margin.model import Model
from margin.progress import Asked
from margin.report import Report, new_report
from margin.specs import require_user
from margin.trace import Tracer, TraceStep


def fit(
    spec: str,
    X: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    classes: Any = None,
    class_weight: Mapping[Any, float] | None = None,
    centres: Any = None,
    seed: int | None = None,
    threads: int | None = None,
    time_limit: float | None = None,
    memory: int | str | None = None,
    progress: Asked = None,
    trace: bool | Callable[[TraceStep], Any] = False,
    start: Model | None = None,
    kernel: Callable[[np.ndarray, np.ndarray], Any] | None = None,
    holdout: float | None = None,
) -> Model:
    """Trains a spec, such as ``"standardize | svm(C=10)"``, on data.

    Parameters
    ----------
    spec : str
        Stages and a learner; docs/options.md lists them.
    X : array-like, sparse matrix or DataFrame of shape (rows, columns)
        float64 and float32 in C order (rows may lie apart) and CSR are used where they lie, and Fortran
        order (pandas) for linear models of more rows than columns; docs/python.md has the rest.
    y : array-like of shape (rows,) or (rows, targets), optional
        Labels of any kind, or values. None for clusters and one class.
    sample_weight : array-like of shape (rows,), optional
        Weight k counts as k copies of a row, 0 as none.
    classes : array-like, optional
        Labels that are classes whether rows have them or not, for a first part of the data; only
        naive-bayes and knn learn classes that no row has.
    class_weight : mapping, optional
        Label to what its rows count; 1 for those that are not in it. The same as the option of that name.
    centres : array-like of shape (clusters, columns), optional
        Where kmeans begins, as its learner sees the columns.
    seed : int, optional
        What random choices derive from; 0 without it.
    threads : int, optional
        At most so many; all cores without it. The model does not depend on it.
    time_limit : float, optional
        Seconds. A fit that has a model by then stops with a ConvergenceWarning.
    memory : int or str, optional
        Bytes that the fit may hold at once, the model included, such as ``"2G"``; LimitError where it needs more.
    progress : bool or callable, optional
        A bar for fits that take longer than half a second: see :func:`margin.set_config`, which says what holds
        where `threads`, `time_limit`, `memory` or `progress` are not given.
    trace : bool or callable
        True keeps each step in `model.trace`; a function is called with each :class:`TraceStep` and ends
        the fit by returning something true.
    start : Model, optional
        A linear model of as many features, targets and classes: an iterative solver with a smooth loss
        begins there. It changes the way and not what is proven.
    kernel : callable, optional
        What ``kernel=user`` of the spec stands for: a function of two arrays of rows, as the learner sees them (behind
        the stages, at most 4096 columns), that returns the kernel values of all pairs. It is called for blocks, in the
        calling thread. Files do not hold it: `margin.load(path, kernel=)`; a pickle has its name.
    holdout : float, optional
        Share of the rows, drawn by `seed`, that are not learned from: `model.held_out` has the metrics there, and
        `model.held_out_rows` their numbers. Classes keep their shares.

    Returns
    -------
    Model

    Warns
    -----
    ConvergenceWarning
        The gap that was asked was not reached.
    """
    if not isinstance(spec, str):
        raise TypeError(f"spec has to be a text such as 'standardize | svm(C=10)', not {spec!r}")
    if start is not None and not isinstance(start, Model):
        raise TypeError(f"start has to be a margin.Model, not {start!r}")
    own = None if kernel is None else Kernel(kernel)
    if own is not None:
        require_user(spec)
    y = y if classes is None else target(y, classes=classes)
    data = Data(X, y, sample_weight, columns=holdout is None)
    others = None if holdout is None else held_out(spec, data, holdout, seed)
    model, converged = fit_data(
        spec,
        data,
        class_weight=class_weight,
        centres=centres,
        seed=seed,
        threads=threads,
        time_limit=time_limit,
        memory=memory,
        progress=progress,
        trace=trace,
        start=start,
        kernel=own,
    )
    if others is not None:
        data.select(others)
        model.held_out = evaluate(model, data, unknown_wrong=True, threads=threads)
        model.held_out_rows = others
    if not converged:
        warnings.warn(not_converged(model.report), ConvergenceWarning, stacklevel=2)
    return model


def fit_data(
    spec: str,
    data: Data,
    *,
    class_weight: Mapping[Any, float] | None = None,
    centres: Any = None,
    seed: int | None = None,
    threads: int | None = None,
    time_limit: float | None = None,
    memory: int | str | None = None,
    progress: Asked = None,
    trace: bool | Callable[[TraceStep], Any] = False,
    start: Model | None = None,
    kernel: Kernel | None = None,
) -> tuple[Model, bool]:
    """The same for data that the library sees already; warns of nothing, but says whether it converged."""
    error, report = new_error(), new_report()
    options = ffi.new("margin_fit_options *")
    options.size = ffi.sizeof("margin_fit_options")
    if start is not None:
        options.start = start._handle
    if class_weight is not None:
        weights = _class_weights(data, class_weight)
        options.class_weights = ffi.from_buffer("double[]", weights)
        options.class_weight_count = len(weights)
    if centres is not None:
        first = np.ascontiguousarray(centres, dtype=np.float64)
        if first.ndim != 2:
            raise ValueError(f"centres has to have two dimensions, (clusters, columns); it has {first.ndim}")
        options.centres = ffi.from_buffer("double[]", first)
        options.centre_count = first.size
    tracer = Tracer(trace if callable(trace) else bool(trace))
    kept = ffi.new_handle(tracer)
    options.part, options.user = lib.margin_python_part, kept
    if trace:
        options.trace = lib.margin_python_trace
    parsed, made = ffi.new("margin_spec **"), ffi.new("margin_model **")
    with running(threads, seed, time_limit, memory, progress, kernel, accounts=True) as context:
        check(lib.margin_spec_parse(context, encoded(spec), parsed, error), error)
        try:
            status = lib.margin_fit_with(
                context, parsed[0], data.struct, options, made, report, error
            )
        finally:
            lib.margin_spec_free(parsed[0])
        held = (lib.margin_context_announced_memory(context), lib.margin_context_peak_memory(context))
    if tracer.exception is not None:
        raise tracer.exception
    check(status, error)
    model = Model(made[0], target=data.target, report=report, parts=tracer.parts, trace=tracer.steps, kernel=kernel, memory=held)
    return model, status == 0


def _class_weights(data: Data, given: Mapping[Any, float]) -> np.ndarray:
    """In the order of the classes: numbers ascending, others by name; so are numbers of many digits."""
    if data.target is None:
        raise ValueError("class_weight needs labels y")
    if not isinstance(given, Mapping):
        raise ValueError(
            f"class_weight has to be a dict of labels and weights; it is {given!r}: "
            "the spec takes class_weight=balanced, as logistic(class_weight=balanced)"
        )
    found = data.target.values if data.target.declared is None else data.target.declared
    if data.target.names is None:
        labels = np.unique(found).tolist()
        if any(isinstance(label, int) and abs(label) > 2**53 for label in labels):
            labels.sort(key=str)
    else:
        names = list(data.target.names)
        labels = [data.target.names[name] for name in sorted(names[code] for code in np.unique(found))]
    unknown = [label for label in given if label not in labels]
    if unknown:
        raise ValueError(f"class_weight has {unknown}, which are no labels of y")
    return np.array([float(given.get(label, 1.0)) for label in labels])


def not_converged(report: Report) -> str:
    """Gap, effect and remedy, for a warning."""
    steps = f"{report.iterations} {report.iteration_name}"
    if report.gap != report.gap:
        return f"stopped after {steps}: {report.reason}"
    bound = report.gap * max(1.0, abs(report.objective))
    effect = (
        f"the objective may be up to {bound:.3g} above the least possible one. "
        if bound < float("inf")
        else "nothing tells how far the objective is from the least possible one. "
    )
    return (
        f"gap {report.gap:.3g} of {report.tolerance:.3g} asked after {steps}: {effect}{report.reason}"
    )
