"""What was taken and what was not, here and in child processes; and how near the optimum it is."""

from __future__ import annotations

import atexit
import json
import logging
import math
import os
import pathlib
import shutil
import sys
import tempfile
import threading
from dataclasses import dataclass
from typing import Any, Iterator

logger = logging.getLogger("margin.accel")
PLACE = "MARGIN_ACCEL_COUNTS"  # the folder in which child processes leave their lines


class Fallback(RuntimeError):
    """In strict mode: a call that margin did not take, and why."""


@dataclass(frozen=True)
class Proof:
    """How far a fit can be from the exact one.

    Attributes
    ----------
    formula : str
        What was minimised.
    objective : float
        Its value at the coefficients that were found.
    gap : float
        The least possible value is at most this much lower: proven, by a dual point.
    modulus : float
        mu: half of it times the squared distance is what the objective gains at least when the weights
        move away from the best ones (twice alpha for Ridge, 1 for a penalty norm(w)^2 / 2); 0: unknown.
    distance : float
        norm(w - w*) is at most sqrt(2 gap / mu), and what rounding to scikit-learn's dtype adds; of a
        kernel machine it is the norm of f - f* in the kernel's space. inf where mu is 0.
    """

    formula: str
    objective: float
    gap: float
    modulus: float
    distance: float


def proof_of(report: Any, modulus: float, rounding: float) -> Proof:
    # the gap of several sub-problems is the greatest of theirs, each relative to max(1, its objective)
    gap = report.gap * (abs(report.objective) + max(1, report.subproblems))
    distance = math.sqrt(2 * gap / modulus) + rounding if modulus > 0 else math.inf
    return Proof(report.formula, report.objective, gap, modulus, distance)


TAKEN, SMALL, LEFT = "taken", "small", "left"
_counts: dict[tuple[str, str, str], list[float]] = {}  # class (and method), how, reason: calls, seconds, greatest distance
_lock = threading.Lock()
_maker, _folder = 0, ""  # the process that made the folder for its children


def begin() -> None:
    """The first process makes the folder; its children find it in their environment and leave it alone."""
    global _maker, _folder
    if PLACE in os.environ:
        return
    if _maker != os.getpid():
        _maker, _folder = os.getpid(), tempfile.mkdtemp(prefix="margin-accel-")
        atexit.register(_remove, _maker, _folder)
    os.environ[PLACE] = _folder


def _remove(maker: int, folder: str) -> None:
    if maker == os.getpid():
        shutil.rmtree(folder, ignore_errors=True)


def end() -> None:
    """Processes that start from now on are not its children."""
    if _maker == os.getpid():
        os.environ.pop(PLACE, None)


def note(name: str, how: str, reason: str = "", seconds: float = 0.0, found: Proof | None = None) -> None:
    """One call. A child writes a line at once, as nobody knows how it will end."""
    distance = found.distance if found else 0.0
    with _lock:
        new = _add(_counts, (name, how, reason), 1, seconds, distance)
        place = os.environ.get(PLACE, "")
        if _maker != os.getpid() and os.path.isdir(place):
            with open(os.path.join(place, f"{os.getpid()}.jsonl"), "a") as lines:
                lines.write(json.dumps([name, how, reason, seconds, distance]) + "\n")
    if new and how == LEFT:
        logger.warning("%s is left to scikit-learn: %s", name if "." in name else f"{name}.fit", reason)


def _add(counts: dict[tuple[str, str, str], list[float]], key: tuple[str, str, str], calls: float, seconds: float,
         distance: float) -> bool:
    new = key not in counts
    held = counts.setdefault(key, [0, 0.0, 0.0])
    held[:] = held[0] + calls, held[1] + seconds, max(held[2], distance)
    return new


def _of_children() -> Iterator[pathlib.Path]:
    if _maker == os.getpid():
        yield from sorted(pathlib.Path(_folder).glob("*.jsonl"))


def report(file: Any = None) -> str:
    """The table of calls taken and left, child processes included; printed to `file` if one is given."""
    counts = {key: list(held) for key, held in _counts.items()}
    children = list(_of_children())
    for child in children:
        for line in child.read_text().splitlines():
            name, how, reason, seconds, distance = json.loads(line)
            _add(counts, (name, how, reason), 1, seconds, distance)
    text = "\n".join(_lines(counts, len(children)))
    if file is not None:
        print(text, file=file)
    return text


def _lines(counts: dict[tuple[str, str, str], list[float]], children: int) -> Iterator[str]:
    def total(how: str, name: str | None = None) -> int:
        return int(sum(held[0] for key, held in counts.items() if key[1] == how and name in (None, key[0])))

    yield (f"margin.accel: {total(TAKEN)} calls taken, {total(SMALL)} where nothing is gained, {total(LEFT)} left to "
           f"scikit-learn" + (f", {children} child processes among them" if children else ""))
    if counts:
        yield f"  {'class':<33}{'taken':>7}{'seconds':>10}{'no gain':>9}{'left':>6}   |w - w*| at most"
    for name in sorted({key[0] for key in counts}):
        _, seconds, distance = counts.get((name, TAKEN, ""), (0, 0.0, math.nan))
        proven = f"{distance:.2g}" if 0 < distance < math.inf else "no bound" if distance == math.inf else ""
        yield (f"  {name:<33}{total(TAKEN, name):>7}{seconds:>10.3f}{total(SMALL, name):>9}{total(LEFT, name):>6}   {proven}").rstrip()
    for (name, how, reason), held in sorted(counts.items()):
        if how == LEFT:
            yield f"  {name} left {int(held[0])}: {reason}"


def forget() -> None:
    """Counts from 0, and everything is said once more."""
    with _lock:
        _counts.clear()
        for child in _of_children():
            child.unlink()


def report_at_exit(process: int) -> None:
    if process == os.getpid() and (_counts or any(_of_children())):
        report(sys.stderr)
