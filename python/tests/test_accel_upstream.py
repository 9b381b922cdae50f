"""scikit-learn's own tests, with small data, too, fitted by margin; what may fail, and why.

A test that fails is an error unless it is listed, and a name of the list whose tests all pass is one, too."""

import collections
import os
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree

import pytest
import sklearn
from accel_expected import EXPECTED, VERSION

HERE = pathlib.Path(__file__).resolve().parent
FILES = [*(f"linear_model/tests/test_{name}.py" for name in ("base", "common", "coordinate_descent", "logistic", "ridge")),
         "svm/tests/test_svm.py", "svm/tests/test_sparse.py", "svm/tests/test_bounds.py", "tests/test_naive_bayes.py", "tests/test_kernel_ridge.py", "preprocessing/tests/test_data.py", "preprocessing/tests/test_common.py",
         "cluster/tests/test_k_means.py",
         *(f"neighbors/tests/test_{name}.py" for name in ("neighbors", "neighbors_pipeline", "graph", "lof"))]


def results(folder, *words):
    """Of each test function of scikit-learn: how many of its cases passed and failed."""
    root = pathlib.Path(sklearn.__file__).parent
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={folder / 'results.xml'}", *words, *(str(root / name) for name in FILES)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    found = collections.defaultdict(lambda: [0, 0])
    for case in xml.etree.ElementTree.parse(folder / "results.xml").iter("testcase"):
        if case.find("skipped") is None:
            failed = case.find("failure") is not None or case.find("error") is not None
            name = re.sub(r"^.*\.test_", "test_", case.get("classname")) + "::" + case.get("name").split("[")[0]
            found[name][failed] += 1
    return found, done.stdout


@pytest.mark.long
def test_scikit_learns_own_tests(tmp_path):
    if sklearn.__version__.split(".")[:2] != VERSION.split("."):
        pytest.skip(f"the list is for scikit-learn {VERSION}")
    found, said = results(tmp_path, "-p", "accel_upstream")
    passed, failed = (sum(counts[i] for counts in found.values()) for i in (0, 1))
    failing = {name: counts[1] for name, counts in found.items() if counts[1]}
    print(f"{passed} of {passed + failed} passed, {passed / (passed + failed):.1%}")
    taken = re.search(r"margin.accel: (\d+) calls taken", said)
    assert taken and int(taken[1]) > 5000, said[-3000:]
    assert set(failing) - set(EXPECTED) == set(), "fail and are not listed"
    assert set(EXPECTED) - set(failing) == set(), "are listed and pass"
    assert passed >= 0.95 * (passed + failed)
