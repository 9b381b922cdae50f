"""Loaded as a plugin of pytest, so that scikit-learn's own tests run with its classes fitted by margin."""

from margin import accel

accel.install(small=True)


def pytest_unconfigure(config):
    print()
    print(accel.report())
