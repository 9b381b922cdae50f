"""One learner under many penalties, each judged by leaving out every row, in closed form."""

from __future__ import annotations

from dataclasses import dataclass

from margin._binding import ffi, lib
from margin.contexts import running
from margin.data import Data
from margin.errors import check, new_error, text
from margin.specs import Spec


@dataclass(frozen=True)
class PathPoint:
    """A penalty, and how well its model predicts rows that it was not fitted to (see margin/path.h)."""

    spec: str
    alpha: float
    objective: float
    gap: float
    freedom: float
    train_rmse: float
    leave_one_out_rmse: float
    gcv_rmse: float


def path_data(spec: str, data: Data, *, threads: int | None = None) -> tuple[list[PathPoint], int]:
    """The points of a spec such as ``ridge(alpha={0.1,1,10})``, and the number of the best one."""
    parsed, error = Spec(spec), new_error()
    result = ffi.new("margin_path_result *")
    result.size = ffi.sizeof("margin_path_result")
    with running(threads) as context:
        status = lib.margin_path(context, parsed._handle, data.struct, result, error)
    check(status, error)
    try:
        points = [lib.margin_path_point_at(result, k) for k in range(result.count)]
        return [
            PathPoint(text(p.spec), p.alpha, p.objective, p.gap, p.freedom, p.train_rmse, p.leave_one_out_rmse, p.gcv_rmse)
            for p in points
        ], result.best
    finally:
        lib.margin_path_free(result)
