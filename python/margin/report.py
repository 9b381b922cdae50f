"""What a fit reports: what was minimised, how it ended, and how far from the optimum it provably is."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from html import escape
from typing import Any, Iterable, Mapping

from margin._binding import ffi, lib
from margin.errors import Status, in_python, text

TASKS = {
    lib.MARGIN_CLASSIFY: "classify",
    lib.MARGIN_REGRESS: "regress",
    lib.MARGIN_CLUSTER: "cluster",
    lib.MARGIN_TRANSFORM: "transform",
}


@dataclass(frozen=True, repr=False)
class Report:
    """The report of a fit, or of a verification.

    Attributes
    ----------
    status : Status
        OK: converged; otherwise what stopped it.
    objective : float
        Value of `formula` at the model, summed over its parts.
    gap : float
        The proof: (objective - least possible) / max(1, objective) is at most this. NaN: nothing is
        minimised, or nothing tells how low it could be; inf: there is no bound.
    tolerance : float
        What was asked of the gap.
    iterations : int
        How many `iteration_name` it took.
    reason : str
        Why it ended, and if it stopped early what to do.
    items : dict
        Numbers that only some learners have, such as "support vectors".
    parts : tuple of Report
        Of each sub-problem (class, pair of classes, target), where a fit or a verification has several; none of a
        model from a file.
    announced_memory : int
        Bytes that the fit said before it began that it would hold at once; 0: it said nothing (fits with a kernel
        do), or not known (a model from a file, an update, a verification).
    peak_memory : int
        Bytes that it held at once, those of the model included and those of the data not; 0: not known (a model from
        a file, an update, a verification).
    """

    status: Status
    task: str
    rows: int
    columns: int
    classes: int
    objective: float
    gap: float
    tolerance: float
    iterations: int
    iteration_name: str
    seconds: float
    threads: int
    subproblems: int
    formula: str
    reason: str
    train_accuracy: float
    train_rmse: float
    train_r2: float
    items: Mapping[str, float] = field(default_factory=dict)
    parts: tuple["Report", ...] = ()
    announced_memory: int = 0
    peak_memory: int = 0

    @property
    def converged(self) -> bool:
        return self.status == Status.OK

    def lines(self) -> list[tuple[str, str]]:
        """What a person wants to read, as label and text."""
        lines = [("minimised", self.formula)]
        how = [] if math.isnan(self.gap) else [f"gap {self.gap:.6g} of {self.tolerance:.6g} asked"]
        if self.iterations:
            how.append(f"{self.iterations} {self.iteration_name}")
        if self.seconds:
            took = f"{self.seconds:.3g} s" if self.seconds >= 1 else f"{self.seconds * 1e3:.3g} ms"
            how.append(f"{took} on {self.threads} {'thread' if self.threads == 1 else 'threads'}")
        proven = "holds" if self.gap > self.tolerance else "converged"  # a proof may agree with a fit that stopped
        lines.append((proven if self.converged else "stopped", ", ".join(how)))
        lines.append(("because", self.reason))
        if self.items:
            lines.append(("details", ", ".join(f"{k} {v:.6g}" for k, v in self.items.items())))
        scores = {"accuracy": self.train_accuracy, "rmse": self.train_rmse, "r2": self.train_r2}
        known = [f"{name} {value:.6g}" for name, value in scores.items() if not math.isnan(value)]
        if known and not math.isnan(self.items.get("scored_rows", math.nan)):
            known.append(f"on {self.items['scored_rows']:.0f} of these rows, spread evenly")
        if known:
            lines.append(("training", ", ".join(known)))
        return lines

    def __str__(self) -> str:
        return "\n".join(f"{label:<11} {words}" for label, words in self.lines() if words)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return as_table(self.lines())


def as_table(lines: Iterable[tuple[str, str]]) -> str:
    """Labels and texts for a notebook."""
    rows = "".join(f"<tr><th>{escape(label)}</th><td>{escape(words)}</td></tr>" for label, words in lines if words)
    return f"<table>{rows}</table>"


def new_report() -> Any:
    report = ffi.new("margin_report *")
    report.size = ffi.sizeof("margin_report")
    return report


def new_reports(count: int) -> Any:
    reports = ffi.new("margin_report[]", count)
    for report in reports:
        report.size = ffi.sizeof("margin_report")
    return reports


def read_report(report: Any, parts: tuple[Report, ...] = (), memory: tuple[int, int] = (0, 0)) -> Report:
    return Report(
        status=Status(report.status),
        task=TASKS[report.task],
        rows=report.rows,
        columns=report.columns,
        classes=report.classes,
        objective=report.objective,
        gap=report.gap,
        tolerance=report.tolerance,
        iterations=report.iterations,
        iteration_name=text(report.iteration_name),
        seconds=report.seconds,
        threads=report.threads,
        subproblems=report.subproblems,
        formula=text(report.formula),
        reason=in_python(text(report.reason)),
        train_accuracy=report.train_accuracy,
        train_rmse=report.train_rmse,
        train_r2=report.train_r2,
        items={text(report.items[i].name): report.items[i].value for i in range(report.item_count)},
        parts=parts,
        announced_memory=memory[0],
        peak_memory=memory[1],
    )


