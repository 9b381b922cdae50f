"""A trained model: answers, proof, bytes."""

from __future__ import annotations

import os
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any, Callable, Mapping

import numpy as np

from margin._binding import ffi, lib
from margin.columns import Column, read_columns
from margin.contexts import running
from margin.data import Data
from margin.errors import check, new_error, text
from margin.kernels import Kernel
from margin.labels import Target
from margin.measures import Importance, Metrics, evaluate, importance
from margin.report import TASKS, Report, as_table, new_report, new_reports, read_report
from margin.specs import require_user
from margin.tensors import Tensors
from margin.views import Matrix, address, as_sparse_as, borrowed, taken_over

if TYPE_CHECKING:
    from margin.neighbors import Neighbors


class Model:
    """A model is immutable: any number of threads may use one at the same time. Made by :func:`margin.fit`,
    :func:`margin.load`, or from the bytes of a file.

    ``Model("standardize | svm(C=10)")`` with a spec is an estimator for scikit-learn's tools, whose `model_` is
    such a model once it is fitted; `task` says what ("classify", "regress", "cluster") where the learner can do
    more than one thing. Options of the spec are parameters (``svm__C``).

    Attributes
    ----------
    spec : str
        What was trained, with the options that were given.
    report : Report
    classes : ndarray or None
        Labels in the order of the columns of probabilities; None if it is no classifier.
    tensors : mapping of str to ndarray
        All numbers of the model under the names of its file, read-only and without a copy.
    held_out : Metrics or None
        On the rows `held_out_rows`, which :func:`margin.fit` did not learn from; a file does not keep them.
    """

    held_out: Metrics | None = None
    held_out_rows: np.ndarray | None = None

    def __new__(cls, source: Any, task: str | None = None, **words: Any) -> Any:
        if not isinstance(source, str):
            return super().__new__(cls)
        from margin.estimators.spec import estimator_of

        return estimator_of(source, task, **words)

    def __init__(self, handle: Any, *, target: Target | None = None, report: Any = None, parts: list[Any] | None = None,
                 trace: list[Any] | None = None, kernel: Kernel | None = None, memory: tuple[int, int] = (0, 0)) -> None:
        self._handle = ffi.gc(handle, lib.margin_model_free)
        self._kernel = kernel  # is called as long as the model is there
        self._memory = memory  # announced and held by the fit
        self._label_names = target.names if target else None
        self._label_type = target.dtype if target else None
        self._fit_report = report  # a margin_report, with the seconds of the fit; None: the model has none
        self._parts = parts or []  # those of its sub-problems
        self.trace = trace

    # ---- what it knows

    @cached_property
    def spec(self) -> str:
        return text(lib.margin_model_spec(self._handle))

    @cached_property
    def report(self) -> Report:
        parts = tuple(map(read_report, self._parts))
        return read_report(self._fit_report or lib.margin_model_report(self._handle), parts, self._memory)

    @cached_property
    def task(self) -> str:
        """"classify", "regress", "cluster", or "transform" (stages alone)."""
        return TASKS[lib.margin_model_task(self._handle)]

    @cached_property
    def class_names(self) -> tuple[str, ...]:
        count = lib.margin_model_class_count(self._handle)
        names = (lib.margin_model_class_name(self._handle, c) for c in range(count))
        return tuple(text(name) for name in names if name)  # clusters have none

    @cached_property
    def classes(self) -> np.ndarray | None:
        if self.task != "classify":
            return None
        names = self.class_names
        if self._label_names is not None:
            return np.array([self._label_names.get(name, name) for name in names], self._label_type)
        whole = _whole_numbers(names)
        if whole is not None:
            return whole.astype(self._label_type) if _is_numeric(self._label_type) else whole
        values = np.array([lib.margin_model_class_value(self._handle, c) for c in range(len(names))])
        if np.isnan(values).any():
            return np.array(names)
        return values.astype(self._label_type) if _is_numeric(self._label_type) else values

    @property
    def _labels(self) -> np.ndarray:
        assert self.classes is not None
        return self.classes

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The columns that prediction takes."""
        return self._described(lib.margin_model_columns)

    @cached_property
    def features(self) -> tuple[Column, ...]:
        """The columns that the hypothesis is about: those of the data, or what stages made of them."""
        return self._described(lib.margin_model_features)

    def _described(self, function: Any) -> tuple[Column, ...]:
        count = ffi.new("int64_t *")
        return tuple(read_columns(function(self._handle, count), count[0]))

    @property
    def tensors(self) -> Mapping[str, np.ndarray]:
        return Tensors(self._handle)

    @cached_property
    def target_count(self) -> int:
        return lib.margin_model_target_count(self._handle)

    @cached_property
    def score_count(self) -> int:
        return lib.margin_model_score_count(self._handle)

    @cached_property
    def _class_count(self) -> int:
        """Clusters are counted, too, which have no names."""
        return lib.margin_model_class_count(self._handle)

    @cached_property
    def has_probabilities(self) -> bool:
        return bool(lib.margin_model_has_probabilities(self._handle))

    # ---- answers

    def predict(self, X: Any, *, threads: int | None = None) -> np.ndarray:
        """The label, cluster (or 1 inlier, 0 outlier) or value of each row."""
        if self.task == "regress":
            values = self._answer(lib.MARGIN_OUTPUT_VALUES, X, self.target_count, threads)
            return values[:, 0] if self.target_count == 1 else values
        codes = self.class_codes(X, threads=threads)
        if self.task == "cluster":
            return codes
        if codes.size and codes.min() < 0:
            row = int(np.argmin(codes))
            raise ValueError(f"row {row} (from 0) has no answer: a value that is missing or infinite, or no neighbour")
        return self._labels[codes]

    def class_codes(self, X: Any, *, threads: int | None = None) -> np.ndarray:
        """The place of each row's label in `classes`; -1 where there is no answer."""
        return self._answer(lib.MARGIN_OUTPUT_LABELS, X, 0, threads)

    def scores(self, X: Any, *, threads: int | None = None) -> np.ndarray:
        """rows x scores: w.x + b and its like, see margin_scores in margin/model.h."""
        return self._answer(lib.MARGIN_OUTPUT_SCORES, X, self.score_count, threads)

    def class_scores(self, X: Any, *, threads: int | None = None) -> np.ndarray:
        """rows x classes: a number for each class, the greatest is that of the label."""
        return self._answer(lib.MARGIN_OUTPUT_CLASS_SCORES, X, self._class_count, threads)

    def probabilities(self, X: Any, *, threads: int | None = None) -> np.ndarray:
        """rows x classes."""
        return self._answer(lib.MARGIN_OUTPUT_PROBABILITIES, X, self._class_count, threads)

    def distances(self, X: Any, *, threads: int | None = None) -> np.ndarray:
        """rows x clusters: Euclidean distances from the centres."""
        return self._answer(lib.MARGIN_OUTPUT_DISTANCES, X, self.score_count, threads)

    def transform(self, X: Any, *, threads: int | None = None) -> Any:
        """The rows as the stages of the model make them, those too that are folded into a linear one:
        an array, or a CSR matrix (array, if X is one) where the stages keep zeros; float32 if X is."""
        return as_sparse_as(X, self._transformed(Data(X), threads))

    def _transformed(self, data: Data, threads: int | None) -> Any:
        result, error = ffi.new("margin_transformed *"), new_error()
        result.size = ffi.sizeof("margin_transformed")
        with running(threads) as context_:
            status = lib.margin_transform(context_, self._handle, data.struct, result, error)
        check(status, error)
        return taken_over(ffi.gc(result, lib.margin_transformed_free), result.x)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Back through `minmax` and `standardize`: rows in the units of the data, as float64."""
        rows, error = Matrix(X), new_error()
        out = np.empty((rows.rows, len(self.columns)))
        pointer = ffi.cast("double *", address(out))
        check(lib.margin_transform_inverse(self._handle, rows.view, pointer, error), error)
        return out

    @cached_property
    def _needs_scratch(self) -> bool:
        return lib.margin_model_scratch_size(self._handle) > 0

    def _few_rows(self, what: int, X: np.ndarray, columns: int) -> np.ndarray | None:
        """Rows that are not worth waking threads for, on the calling one. None: something is wrong, and the
        long way has the sentence."""
        rows = X.shape[0]
        view = lib.margin_dense_f64(ffi.from_buffer("double[]", X), rows, X.shape[1], X.shape[1])
        out = np.empty((rows, columns) if columns else rows, np.float64 if columns else np.int64)
        status = lib.margin_predict_scratch(
            self._handle, ffi.new("margin_matrix *", view), what, ffi.from_buffer(out), ffi.NULL, ffi.NULL
        )
        return out if status >= 0 else None

    def _answer(self, what: int, X: Any, columns: int, threads: int | None) -> np.ndarray:
        if (type(X) is np.ndarray and X.ndim == 2 and 0 < X.size <= 512 and X.dtype == np.float64
                and X.flags.c_contiguous and not self._needs_scratch and self._kernel is None):
            quick = self._few_rows(what, X, columns)
            if quick is not None:
                return quick
        data = Data(X, columns=True)
        shape = (data.x.rows, columns) if columns else (data.x.rows,)
        out = np.empty(shape, np.float64 if columns else np.int64)
        error = new_error()
        with running(threads, kernel=self._kernel) as context_:
            if data.named:
                status = lib.margin_predict_data(
                    context_, self._handle, data.struct, what, address(out), error
                )
            else:
                status = lib.margin_predict_parallel(
                    context_, self._handle, data.x.view, what, address(out), error
                )
        check(status, error)
        return out

    def predict_one(self, row: Any) -> Any:
        """The answer for one row of numbers (a sequence or an array)."""
        row = np.ascontiguousarray(row, np.float64)
        view = lib.margin_dense_f64(ffi.from_buffer("double[]", row), 1, row.size, row.size)
        matrix = ffi.new("margin_matrix *", view)
        if self.task == "regress":
            value = ffi.new("double[]", self.target_count)
            if lib.margin_predict_values(self._handle, matrix, value, ffi.NULL) >= 0:
                return value[0] if len(value) == 1 else np.array(list(value))
        else:
            code = ffi.new("int64_t *")
            if lib.margin_predict(self._handle, matrix, code, ffi.NULL) >= 0 and code[0] >= 0:
                return code[0] if self.task == "cluster" else self._labels[code[0]]
        return self.predict(row.reshape(1, -1))[0]  # wide rows, and the sentence of what is wrong

    # ---- proof

    def verify(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> Report:
        """Recomputes the proof from the model and its training data with code that shares nothing with the
        solver. The status of what it returns is OK if it agrees with the model's report; `reason` says
        where it does not; `parts` has what was found of each class, pair of classes or target."""
        data = Data(X, y, sample_weight, columns=True)
        found, error = new_report(), new_error()
        count = max(1, lib.margin_model_report(self._handle).subproblems)
        parts = new_reports(count)
        with running(kernel=self._kernel) as context_:
            status = lib.margin_verify_parts(
                context_, self._handle, data.struct, found, parts, count, error
            )
        check(status, error)
        return read_report(found, tuple(read_report(ffi.addressof(part)) for part in parts))

    # ---- worth

    def evaluate(self, X: Any, y: Any = None, *, sample_weight: Any = None, bootstrap: int = 0, level: float = 0.95,
                 seed: int = 0, threads: int | None = None) -> Metrics:
        """Metrics on rows, which should be others than those of the training (docs/judging.md); with `bootstrap`
        resamples (20 or more) also their intervals."""
        return evaluate(self, Data(X, y, sample_weight), bootstrap=bootstrap, level=level, seed=seed, threads=threads)

    def importance(self, X: Any, y: Any = None, *, sample_weight: Any = None, metric: str | None = None,
                   repeats: int = 5, seed: int = 0, threads: int | None = None) -> list[Importance]:
        """By how much a metric gets worse where the values of one column are shuffled among rows that the model
        was not trained on (Breiman 2001), the most important column first."""
        return importance(self, Data(X, y, sample_weight), metric=metric, repeats=repeats, seed=seed, threads=threads)

    def update(self, X: Any, y: Any, *, sample_weight: Any = None, threads: int | None = None) -> "Model":
        """A model of the rows that this one was trained on and these: for learners whose models are statistics
        (naive-bayes). Classes and categories may be new; stages stay as they were trained."""
        data = Data(X, y, sample_weight)
        made, report, error = ffi.new("margin_model **"), new_report(), new_error()
        with running(threads) as context_:
            status = lib.margin_update(context_, self._handle, data.struct, made, report, error)
        check(status, error)
        updated = Model(made[0], target=data.target, report=report)
        if self._label_names is not None:
            updated._label_names = {**self._label_names, **(updated._label_names or {})}
        return updated

    # ---- promises

    def promise(self, X: Any, y: Any, *, sample_weight: Any = None, coverage: float | None = None, calibrate: str | None = None,
                threshold: float | str | None = None, costs: Any = None, folds: int = 0, seed: int = 0,
                threads: int | None = None) -> "Model":
        """A copy that keeps what is settled after a fit, from fits to its folds (docs/judging.md).

        Parameters
        ----------
        X, y, sample_weight
            What the model was trained on.
        coverage : float, optional
            Share of future rows whose truth :meth:`intervals` or :meth:`sets` are to hold. Rows count alike: no weights.
        calibrate : {'sigmoid', 'isotonic', 'temperature'}, optional
        threshold : float or str, optional
            Two classes: the second from this probability on, or where this metric is best.
        costs : array-like of shape (classes, classes), optional
            What an answer (column) costs where the row is of a class (row).
        folds : int
            0: 10, or as many as the rarest class has rows (with groups: groups).
        """
        data = Data(X, y, sample_weight)
        for name, given in (("threshold", threshold), ("coverage", coverage)):
            if given is not None and not isinstance(given, str) and given == 0:
                raise ValueError(f"{name} has to be above 0; None asks for none")
        options = ffi.new("margin_promise_options *")
        options.size = ffi.sizeof("margin_promise_options")
        kinds = [None, "sigmoid", "isotonic", "temperature"]
        if calibrate not in kinds:
            raise ValueError(f"calibrate has to be one of {kinds}, not {calibrate!r}")
        options.calibrate, options.coverage, options.folds, options.seed = kinds.index(calibrate), coverage or 0.0, folds, seed
        keep: list[Any] = []
        if isinstance(threshold, str):
            keep.append(ffi.new("char[]", threshold.encode()))
            options.threshold_metric = keep[0]
        else:
            options.threshold = threshold or 0.0
        if costs is not None:
            keep.append(np.ascontiguousarray(costs, np.float64))
            options.costs, options.cost_count = ffi.cast("double *", address(keep[-1])), keep[-1].size
        made, error = ffi.new("margin_model **"), new_error()
        with running(threads, kernel=self._kernel) as context_:
            status = lib.margin_promise(context_, self._handle, data.struct, options, made, error)
        check(status, error)
        promised = Model(made[0], report=self._fit_report, parts=self._parts, kernel=self._kernel, memory=self._memory)
        promised._label_names, promised._label_type = self._label_names, self._label_type
        return promised

    @property
    def coverage(self) -> float:
        """What :meth:`promise` was asked for; NaN: nothing."""
        return lib.margin_model_coverage(self._handle)

    def intervals(self, X: Any, *, threads: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper ends for each row of a regression with coverage."""
        data, error = Data(X), new_error()
        ends = np.empty((2, data.x.rows))
        pointers = [ffi.cast("double *", address(end)) for end in ends]
        with running(threads, kernel=self._kernel) as context_:
            status = lib.margin_predict_intervals(context_, self._handle, data.struct, *pointers, error)
        check(status, error)
        return ends[0], ends[1]

    def sets(self, X: Any, *, threads: int | None = None) -> np.ndarray:
        """rows x classes booleans: the classes that a row may be of. A row that is like none has no class."""
        data, error = Data(X), new_error()
        found = np.empty((data.x.rows, self._class_count), np.uint8)
        with running(threads, kernel=self._kernel) as context_:
            status = lib.margin_predict_sets(
                context_, self._handle, data.struct, ffi.cast("uint8_t *", address(found)), error
            )
        check(status, error)
        return found.astype(bool)

    # ---- bytes

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model's file whole or not at all: the one that C and the shell read and write."""
        error = new_error()
        check(lib.margin_model_save(self._handle, os.fsencode(path), error), error)

    def __bytes__(self) -> bytes:
        length, error = ffi.new("int64_t *"), new_error()
        check(lib.margin_model_encoded_size(self._handle, length, error), error)
        encoded = bytearray(length[0])
        check(
            lib.margin_model_encode_into(
                self._handle, ffi.from_buffer(encoded), len(encoded), length, error
            ),
            error,
        )
        return bytes(encoded)

    def __reduce__(self) -> Any:
        kernel = () if self._kernel is None else (self._kernel.function,)
        return _restore, (bytes(self), self._label_names, self._label_type, *kernel)

    def __copy__(self) -> "Model":
        return self

    def __deepcopy__(self, memo: Any) -> "Model":
        return self

    # ---- for people

    def __repr__(self) -> str:
        return f"<margin.Model {self.spec!r}: {self._about()}>"

    def _repr_html_(self) -> str:
        return f"<p><code>{escape(self.spec)}</code>, {self._about()}</p>{as_table(self.lines())}"

    def lines(self) -> list[tuple[str, str]]:
        """What was minimised, the proof, and what the model is worth, as label and text."""
        worth = [] if self.held_out is None else [("held-out", f"{self.held_out.brief()} that training did not see")]
        return [*self.report.lines(), *worth]

    def _about(self) -> str:
        report = self.report
        size = f"{report.rows} rows, {report.columns} columns"
        return f"{size}, {len(self.class_names)} classes" if self.task == "classify" else size

    # ---- pieces that only some models have

    @cached_property
    def weights(self) -> np.ndarray | None:
        """scores x features, in the units of the data as far as stages can be folded; None if not linear."""
        pointer = lib.margin_model_weights(self._handle, 0)
        if not pointer:
            return None
        return borrowed(self._handle, pointer, (self.score_count, len(self.features)), np.float64)

    @cached_property
    def intercepts(self) -> np.ndarray:
        """One for each score."""
        return np.array([lib.margin_model_intercept(self._handle, s) for s in range(self.score_count)])

    @cached_property
    def neighbors(self) -> Neighbors:
        """The training rows of a knn model without stages, to be asked for the nearest."""
        from margin.neighbors import Neighbors

        return Neighbors(self)

    def dual(self, score: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Training rows that take part in a score (from 0) and their coefficients, signs included.

        Of kernel-ridge and kernel-logistic none: all rows do, `tensors["hypothesis.coefficients"]` has theirs.
        """
        rows, alpha, sign = (ffi.new(f"const {t} **") for t in ("int64_t", "double", "double"))
        count = lib.margin_model_dual(self._handle, score, rows, alpha, sign, ffi.NULL)
        if not count:
            return np.empty(0, np.int64), np.empty(0)
        taken = [np.frombuffer(ffi.buffer(p[0], 8 * count), t)
                 for p, t in ((rows, np.int64), (alpha, np.float64), (sign, np.float64))]
        return taken[0].copy(), taken[1] * taken[2]


def _whole_numbers(names: tuple[str, ...]) -> np.ndarray | None:
    """Class names that are whole numbers as written (not 007, not 1e3), to the last digit."""
    try:
        numbers = [int(name) for name in names]
        return np.array(numbers, np.int64) if [str(n) for n in numbers] == list(names) else None
    except (ValueError, OverflowError):
        return None


def _is_numeric(dtype: np.dtype[Any] | None) -> bool:
    return dtype is not None and dtype.kind in "iuf"


def _restore(encoded: bytes, names: dict[str, Any] | None, dtype: np.dtype[Any] | None, kernel: Any = None) -> Model:
    model = from_bytes(encoded, kernel=kernel)
    model._label_names, model._label_type = names, dtype
    return model


def from_bytes(encoded: bytes | bytearray | memoryview, *, kernel: Callable[[np.ndarray, np.ndarray], Any] | None = None) -> Model:
    """The model that these bytes of a file hold; `kernel` is the function of one with kernel=user."""
    view = ffi.from_buffer(encoded)
    return _read(kernel, lambda context_, made, error: lib.margin_model_decode(context_, view, len(view), made, error))


def load(path: str | os.PathLike[str], *, mapped: bool = False,
         kernel: Callable[[np.ndarray, np.ndarray], Any] | None = None) -> Model:
    """Reads a model's file, whoever wrote it. `mapped` leaves large parts in the file, which must not be
    changed while the model lives; `kernel` is the function of a model with kernel=user."""
    read = lib.margin_model_map if mapped else lib.margin_model_load
    return _read(kernel, lambda context_, made, error: read(context_, os.fsencode(path), made, error))


def _read(function: Any, read: Callable[[Any, Any, Any], int]) -> Model:
    made, error = ffi.new("margin_model **"), new_error()
    kernel = Kernel(function) if function is not None else None
    with running(kernel=kernel) as context_:
        status = read(context_, made, error)
    check(status, error)
    model = Model(made[0], kernel=kernel)
    if kernel is not None:
        require_user(model.spec)
    return model
