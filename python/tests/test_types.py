"""What type checkers see: the package itself, and a program that uses it."""

import os
import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("mypy")
SETTINGS = pathlib.Path(__file__).resolve().parent.parent / "pyproject.toml"
PROGRAM = """\
import margin
import numpy as np

reveal_type(margin.fit("ridge", np.eye(3), np.ones(3)).report.gap)
reveal_type(margin.Ridge(alpha=2.0, fit_intercept=False))
reveal_type(margin.SVC().fit(np.eye(3), np.ones(3)).predict(np.eye(3)))
margin.Ridge(alhpa=1.0)
margin.KMeans("three")
"""


def mypy(folder, *words):
    command = [sys.executable, "-m", "mypy", "--cache-dir", os.devnull, *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_the_package(tmp_path):
    done = mypy(tmp_path, "--config-file", str(SETTINGS))
    assert done.returncode == 0, done.stdout


def test_a_program(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    lines = mypy(tmp_path, "--strict", "program.py").stdout.splitlines()
    expected = {4: '"float"', 5: '.Ridge"', 6: "ndarray", 7: '"alhpa"', 8: '"str"; expected "int"'}
    for number, words in expected.items():
        assert any(line.startswith(f"program.py:{number}:") and words in line for line in lines), lines
    assert sum(": error: " in line for line in lines) == 2, lines
