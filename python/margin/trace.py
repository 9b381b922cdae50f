"""What a learner does, step by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, NamedTuple

import numpy as np

from margin._binding import ffi


class Novikoff(NamedTuple):
    """Both inequalities of Novikoff's proof after a step: along >= least_along, square <= greatest_square (see
    margin_novikoff in margin/model.h)."""

    along: float
    least_along: float
    square: float
    greatest_square: float


@dataclass(frozen=True)
class TraceStep:
    """One step of a learner that can trace (see margin_trace_step in margin/model.h). Rows and parts count
    from 0; `row` is None where no single row was picked, `errors` where nothing is classified. Of perceptrons: `alpha`
    and `updates` of each row in dual and kernel form, `distance`, loss / norm of the weights, `novikoff` with
    ``bound=steps``; None of others."""

    part: int
    parts: int
    step: int
    row: int | None
    errors: int | None
    loss: float
    intercept: float
    weights: np.ndarray | None
    alpha: np.ndarray | None
    updates: np.ndarray | None = None
    distance: float | None = None
    novikoff: Novikoff | None = None


class Tracer:
    """Takes what one fit tells: the reports of its sub-problems, and its steps, which it keeps, or hands each to a
    function, which ends the fit by returning something true or by raising an exception."""

    def __init__(self, trace: bool | Callable[[TraceStep], Any]) -> None:
        self.steps: list[TraceStep] | None = [] if trace is True else None
        self.function: Any = self.steps.append if self.steps is not None else trace
        self.exception: BaseException | None = None
        self.parts: list[Any] = []  # margin_reports, which take longer to read than a small fit

    def take(self, step: Any) -> int:
        return 1 if self.function(read_step(step)) else 0


def _copy(pointer: Any, count: int) -> np.ndarray | None:
    return np.frombuffer(ffi.buffer(pointer, 8 * count)).copy() if pointer and count else None


def read_step(step: Any) -> TraceStep:
    return TraceStep(
        part=step.subproblem,
        parts=step.subproblems,
        step=step.step,
        row=step.row if step.row >= 0 else None,
        errors=step.errors if step.errors >= 0 else None,
        loss=step.loss,
        intercept=step.intercept,
        weights=_copy(step.weights, step.weight_count),
        alpha=_copy(step.alpha, step.alpha_count),
        updates=_copy(step.updates, step.alpha_count),
        distance=step.distance[0] if step.distance else None,
        novikoff=Novikoff(*(getattr(step.novikoff, name) for name in Novikoff._fields)) if step.novikoff else None,
    )


def _keep(exception: type[BaseException], value: BaseException, traceback: Any) -> int:
    frame = traceback.tb_frame.f_locals if traceback else {}
    user = frame.get("user")
    if user is not None:
        ffi.from_handle(user).exception = value
    return 1


@ffi.def_extern()
def margin_python_part(report: Any, subproblem: int, user: Any) -> None:
    if report.subproblems > 1:
        ffi.from_handle(user).parts.append(ffi.new("margin_report *", report[0]))


@ffi.def_extern(onerror=_keep, error=1)
def margin_python_trace(step: Any, user: Any) -> int:
    return ffi.from_handle(user).take(step)
