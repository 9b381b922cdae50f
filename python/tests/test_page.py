"""What README.md, docs/python.md and docs/accel.md show is what it prints."""

import contextlib
import io
import pathlib
import re
import subprocess
import sys

import pytest
import sklearn

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name, programs", [("README", 1), ("docs/python", 3), ("docs/accel", 1)])
def test_the_page(tmp_path, monkeypatch, name, programs):
    if name == "docs/accel":
        pytest.importorskip("sklearn", minversion="1.6")  # with older versions margin.accel does nothing, and says so
    monkeypatch.chdir(tmp_path)
    page = (ROOT / f"{name}.md").read_text()
    shown = re.findall(r"```python\n(.*?)```\s*```text\n(.*?)```", page, re.S)
    assert len(shown) == page.count("```python") >= programs
    names: dict = {}
    for program, expected in shown:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(program, names)
        assert printed.getvalue() == expected


def test_the_page_of_parameters():
    page = (ROOT / "docs" / "sklearn.md").read_text()
    version = ".".join(sklearn.__version__.split(".")[:2])
    if f"Defaults of scikit-learn {version} " not in page:
        pytest.skip("another scikit-learn than that of the page")
    assert subprocess.run([sys.executable, str(ROOT / "python" / "tools" / "make_page.py"), "--check"]).returncode == 0
