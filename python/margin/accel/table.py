"""The table: which calls of which classes of scikit-learn margin answers."""

from __future__ import annotations

from margin.accel import crossed, linear, machines, neighbors, others
from margin.accel.crossed import Crossed
from margin.accel.fits import Fit
from margin.accel.neighbors import Queries

Entry = Fit | Queries | Crossed
TABLE: dict[str, Entry] = {**linear.FITS, **crossed.CROSSED, **machines.FITS, **others.FITS, **neighbors.QUERIES}
