"""From which size margin's fit is quicker than scikit-learn's: user CPU of one thread, medians.

    OMP_NUM_THREADS=1 python bench/accel_small.py [class ...]
"""

import statistics
import sys
import time
import warnings

import numpy as np
import sklearn.linear_model
import sklearn.svm
from margin import accel
from margin.accel.table import TABLE
from sklearn.base import clone
from sklearn.utils import all_estimators

SHAPES = [(20, 4), (50, 10), (100, 20), (150, 4), (500, 5), (500, 20), (1000, 50), (2000, 20), (5000, 50), (20000, 50)]
KINDS = {name: kind for name, kind in all_estimators() if name in TABLE and "fit" in TABLE[name].counted}


def seconds(estimator, X, y, small):
    if small:
        accel.install(small=True)
    runs = []
    try:
        while sum(runs) < 0.3 and len(runs) < 30:
            made = clone(estimator)
            before = time.process_time()
            made.fit(X, y)
            runs.append(time.process_time() - before)
    finally:
        accel.uninstall()
    return statistics.median(runs)


warnings.simplefilter("ignore")
random = np.random.default_rng(0)
for name in sys.argv[1:] or KINDS:
    estimator = KINDS[name]()
    for rows, columns in SHAPES:
        if name in ("SVC", "SVR") and rows > 5000:
            continue
        X = random.normal(size=(rows, columns))
        f = X @ random.normal(size=columns) + random.normal(size=rows)
        y = (f > 0).astype(int) if hasattr(estimator, "predict_proba") or "SVC" in name or "NB" in name or name.endswith("Classifier") else f
        theirs, ours = (seconds(estimator, X, y, small) for small in (False, True))
        print(f"{name:<20} {rows:>6} x {columns:<3} {rows * columns:>8} cells  scikit-learn {theirs * 1e3:8.3f} ms  margin {ours * 1e3:8.3f} ms"
              f"  {theirs / ours:6.2f}x", flush=True)
