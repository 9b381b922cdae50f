"""make_page.py [--check]: writes the tables of docs/sklearn.md, every parameter of every estimator, from the
table that the classes are made of; defaults that differ are those of the scikit-learn that is installed.
Needs the package. --check compares, and says whether the page is as it would be written."""

from __future__ import annotations

import inspect
import pathlib
import re
import sys
from importlib import import_module
from typing import Any

import margin
import sklearn
from margin.estimators.recipes import RECIPES

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "sklearn.md"
MARK = "<!-- made by python/tools/make_page.py -->\n"
MODULES = ("linear_model", "svm", "kernel_ridge", "neighbors", "naive_bayes", "cluster", "preprocessing", "impute",
           "kernel_approximation")


def theirs(name: str) -> dict[str, Any] | None:
    for module in MODULES:
        found = getattr(import_module(f"sklearn.{module}"), name, None)
        if found is not None:
            return found().get_params()
    return None


def literal(value: Any) -> str:
    return f"`{value.__name__}`" if isinstance(value, type) else f"`{value!r}`"


def same(a: Any, b: Any) -> bool:
    return a is b or a == b or (a != a and b != b)


def table(name: str) -> str:
    recipe, defaults = RECIPES[name], theirs(name)
    lines = [f"### {name}", "", f"{recipe.summary} Spec: `{recipe.learner}`"
             + ("." if defaults is not None else "; margin's own, scikit-learn has none."), "",
             "| parameter | default | scikit-learn's | values | meaning |", "| --- | --- | --- | --- | --- |"]
    for p in recipe.parameters:
        other = ""
        if defaults is not None and p.name in defaults and not same(defaults[p.name], p.default):
            other = literal(defaults[p.name])
        elif defaults is not None and p.name not in defaults:
            other = "none"
        values = p.type.replace("|", "\\|")
        lines.append(f"| `{p.name}` | {literal(p.default)} | {other} | {values} | {p.help.replace('|', chr(92) + '|')} |")
    return "\n".join(lines) + "\n"


def by_hand(name: str) -> str:
    """The same of a class that is not from the table, by its documentation."""
    text = inspect.getdoc(getattr(margin, name)) or ""
    parameters = text.split("Parameters\n----------\n")[1].split("\n\n")[0]
    lines = [f"### {name}", "", text.split("\n")[0], "", "| parameter | default | values | meaning |", "| --- | --- | --- | --- |"]
    for word, kind, meaning in re.findall(r"^(\w+) : (.*)\n((?: .*\n?)*)", parameters + "\n", re.M):
        values, _, default = kind.partition(", default=")
        meaning = " ".join(meaning.split()).rstrip(".").replace("|", "\\|")
        lines.append(f"| `{word}` | {f'`{default}`' if default else ''} | {values} | {meaning} |")
    return "\n".join(lines) + "\n"


def made() -> str:
    version = ".".join(sklearn.__version__.split(".")[:2])
    head = f"Defaults of scikit-learn {version} are shown where they differ.\n\n"
    return MARK + head + "\n".join([*map(table, RECIPES), *map(by_hand, ("Search", "Conformal", "KDTree"))])


def main() -> int:
    text = PAGE.read_text()
    wanted = text[: text.index(MARK)] + made()
    if "--check" not in sys.argv:
        PAGE.write_text(wanted)
    elif text != wanted:
        print(f"{PAGE.name} is not as it would be written: run python/tools/make_page.py")
        return 1
    return 0


if __name__ == "__main__":
    assert margin.__version__
    sys.exit(main())
