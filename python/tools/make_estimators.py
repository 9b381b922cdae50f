"""make_estimators.py [--check]: writes margin/estimators/made_*.py from the table in recipes.py and the
registry. --check compares, and says which file is not as it would be written."""

from __future__ import annotations

import pathlib
import sys
import textwrap

from margin import components
from margin.estimators.recipes import RECIPES, Recipe

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "margin" / "estimators"
BASES = {
    "linear": {"classifiers": ["LinearClassifier"], "regressors": ["LinearRegressor", "LinearTargets"]},
    "kernel": {"classifiers": ["KernelClassifier"], "clusters": ["OneClass"],
               "regressors": ["ExpansionRegressor", "KernelRidgeRegressor"]},
    "neighbors": {"classifiers": ["Classifier"], "regressors": ["Regressor"]},
    "bayes": {"classifiers": ["BayesClassifier", "CategoryClassifier", "CountClassifier", "DiscreteClassifier"]},
    "cluster": {"clusters": ["Clusters"]},
}


def wrapped(text: str, indent: str) -> str:
    return textwrap.fill(text, 100, initial_indent=indent, subsequent_indent=indent, break_long_words=False)


def positional(recipe: Recipe) -> int:
    """How many leading parameters scikit-learn takes by position."""
    theirs = {"Ridge": 1, "Lasso": 1, "ElasticNet": 1, "LogisticRegression": 1, "LinearSVC": 2,
              "KernelRidge": 1, "KNeighborsClassifier": 1, "KNeighborsRegressor": 1, "KMeans": 1}
    return theirs.get(recipe.name, 0)


def signature(recipe: Recipe) -> str:
    lines = ["        self,"]
    for place, p in enumerate(recipe.parameters):
        if place == positional(recipe):
            lines.append("        *,")
        lines.append(f"        {p.name}: {p.hint} = {p.default!r},")
    return "\n".join(lines)


def docstring(recipe: Recipe) -> str:
    component = components()[recipe.learner]
    lines = [f'    """{recipe.summary}', "", wrapped(f"margin's `{recipe.learner}`: {component.formula}", "    "),
             "", "    Parameters", "    ----------"]
    for p in recipe.parameters:
        lines += [f"    {p.name} : {p.type}, default={p.default!r}", wrapped(p.help + ".", "        ")]
    lines += ["", "    Attributes", "    ----------", "    model_ : margin.Model", "    report_ : margin.Report",
              "        What was minimised, how it ended, and the proven gap."]
    lines += ["", "    References", "    ----------", wrapped(component.source, "    "), '    """']
    return "\n".join(lines)


def written(recipe: Recipe) -> str:
    sets = "\n".join(f"        self.{p.name} = {p.name}" for p in recipe.parameters)
    return (
        f"class {recipe.name}({recipe.base}):\n{docstring(recipe)}\n\n    _recipe = {recipe.name!r}\n\n"
        f"    def __init__(\n{signature(recipe)}\n    ) -> None:\n{sets}\n"
    )


def module(name: str) -> str:
    imports = "\n".join(
        f"from margin.estimators.{place} import {', '.join(bases)}" for place, bases in BASES[name].items()
    )
    classes = "\n\n".join(written(r) for r in RECIPES.values() if r.module == name)
    return (
        '"""Made by tools/make_estimators.py from recipes.py and the registry; do not edit."""\n\n'
        f"from __future__ import annotations\n\nfrom typing import Any\n\n{imports}\n\n\n{classes}"
    )


def main() -> int:
    stale = 0
    for name in BASES:
        path, text = FOLDER / f"made_{name}.py", module(name)
        if "--check" not in sys.argv:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            print(f"{path.name} is not what recipes.py and the registry say; run python/tools/make_estimators.py")
            stale += 1
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
