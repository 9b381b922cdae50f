"""The table: which calls of which classes of scikit-learn margin answers."""

from __future__ import annotations

from margin.accel import linear, machines, neighbors, others
from margin.accel.fits import Fit
from margin.accel.neighbors import Queries

TABLE: dict[str, Fit | Queries] = {**linear.FITS, **machines.FITS, **others.FITS, **neighbors.QUERIES}
