"""The notebooks of docs/notebooks run, and print what is stored in them."""

import json
import pathlib
import sys
import warnings

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("pandas")
ROOT = pathlib.Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
sys.path.insert(0, str(ROOT / "python" / "tools"))

import run_notebooks  # noqa: E402


def test_there_are_notebooks():
    assert [path.stem for path in NOTEBOOKS] == ["images", "steps", "table"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook(path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a reader would see it
        assert run_notebooks.run(path) == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_is_kept(path):
    notebook = json.loads(path.read_text())
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert all(output["output_type"] == "stream" for cell in code for output in cell["outputs"])  # no pictures
    assert all(cell["execution_count"] is None for cell in code)
    first = ["".join(cell["source"]) for cell in code[:3]]  # proof, speed (shown with a model) and a picture
    assert "margin.fit" in first[0] and ".verify(" in first[1] and ("Display" in first[2] or "plt." in first[2])
