"""run_notebooks.py [--write] [NOTEBOOK...]: runs the cells of docs/notebooks in this process, without Jupyter, and
compares what they print with what is stored in them; --write stores it. Pictures, and what is shown of models (it has
times), are run as well and not stored."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import pathlib
import sys
from typing import Any

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "docs" / "notebooks"


def run_cell(source: str, names: dict[str, Any], place: str) -> str:
    """What the cell prints."""
    body = ast.parse(source).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), place, "exec"), names)
        if last is not None:
            shown = eval(compile(ast.Expression(last.value), place, "eval"), names)
            show = next((getattr(shown, name) for name in ("_repr_mimebundle_", "_repr_html_") if hasattr(shown, name)), shown.__repr__)
            show()  # as IPython asks
    return printed.getvalue()


def stored(cell: dict[str, Any]) -> str:
    return "".join(line for output in cell["outputs"] for line in output["text"])


def outputs(text: str) -> list[dict[str, Any]]:
    return [{"name": "stdout", "output_type": "stream", "text": text.splitlines(keepends=True)}] if text else []


def run(path: pathlib.Path, write: bool = False) -> list[str]:
    """Where what is printed differs from what is stored."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    notebook = json.loads(path.read_text())
    names: dict[str, Any] = {"__name__": "__main__"}
    different = []
    here = os.getcwd()
    os.chdir(path.parent)
    try:
        for number, cell in enumerate(c for c in notebook["cells"] if c["cell_type"] == "code"):
            place = f"{path.name}, code cell {number + 1}"
            printed = run_cell("".join(cell["source"]), names, place)
            plt.close("all")
            if printed != stored(cell):
                different.append(f"{place} prints\n{printed}and has\n{stored(cell)}")
            cell["outputs"] = outputs(printed)
    finally:
        os.chdir(here)
    if write:
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
    return different


def main() -> int:
    words = [word for word in sys.argv[1:] if word != "--write"]
    write = "--write" in sys.argv
    found = [d for path in ([pathlib.Path(w) for w in words] or sorted(FOLDER.glob("*.ipynb"))) for d in run(path, write)]
    if not write:
        print("\n".join(found) or "as stored")
    return 0 if write or not found else 1


if __name__ == "__main__":
    sys.exit(main())
