"""scikit-learn's own classes, fitted by margin, in programs that are not touched.

    python -m margin.accel script.py            # or -m module
    %load_ext margin.accel                      # in a notebook
    margin.accel.install()                      # in a program
    MARGIN_ACCEL=1 python script.py             # child processes, too; MARGIN_ACCEL=strict

No class is replaced. `fit` of the classes in `table.py` asks margin first, and the estimator gets the
attributes that scikit-learn's own fit would have set; everything else (parameters, predict, pickles,
subclasses, clone) is scikit-learn's code on scikit-learn's objects. What margin does not do, or would
do differently, goes to scikit-learn's fit, and is said once for each class and reason.
"""

from __future__ import annotations

from typing import Any

from margin.accel.counts import Fallback, Proof, logger, report
from margin.accel.hook import install, installed, proof, start, uninstall

__all__ = ["Fallback", "Proof", "install", "installed", "logger", "proof", "report", "start", "uninstall"]


def load_ipython_extension(shell: Any) -> None:
    install()


def unload_ipython_extension(shell: Any) -> None:
    uninstall()
