"""make_estimators.py BINDING OUTPUT: writes OUTPUT/estimators/made_*.py from the table in
margin/estimators/recipes.py and the registry, which is asked through the module _binding in the folder
BINDING; and OUTPUT/__init__.pyi, OUTPUT/estimators/__init__.pyi, which tell type checkers what is imported
when it is first asked for. The build runs it, so it needs neither an installed margin nor scikit-learn."""

from __future__ import annotations

import ast
import pathlib
import sys
import textwrap
import types

SOURCE = pathlib.Path(__file__).resolve().parent.parent / "margin"


def _package(name: str, *folders: pathlib.Path) -> None:
    """A package whose __init__ is not run."""
    package = types.ModuleType(name)
    package.__path__ = [str(folder) for folder in folders]
    sys.modules[name] = package


BINDING, OUTPUT = map(pathlib.Path, sys.argv[1:])
_package("margin", SOURCE, BINDING)
_package("margin.estimators", SOURCE / "estimators")

from margin.catalogue import components  # noqa: E402
from margin.estimators.attributes import ALWAYS, OF_BASE  # noqa: E402
from margin.estimators.parameters import Recipe  # noqa: E402
from margin.estimators.recipes import RECIPES  # noqa: E402

BASES = {
    "linear": {"classifiers": ["LinearClassifier", "PerceptronClassifier"], "regressors": ["LinearRegressor", "LinearTargets"]},
    "crossed": {"crossed": ["LassoCrossed", "LogisticCrossed", "RidgeCrossed"]},
    "kernel": {"machines": ["KernelClassifier", "KernelPerceptronClassifier"], "clusters": ["OneClass"],
               "regressors": ["ExpansionRegressor", "KernelRidgeRegressor", "LinearExpansion"]},
    "neighbors": {"nearest": ["Nearest", "NearestClassifier", "NearestRegressor", "RadiusClassifier"]},
    "bayes": {"bayes": ["CategoryClassifier", "CountClassifier", "DiscreteClassifier", "GaussianClassifier", "MixedClassifier"]},
    "cluster": {"clusters": ["Clusters"]},
    "stages": {"encoders": ["Encoder"], "transformers": [
        "ColumnScaler", "Imputer", "MinMax", "Named", "Products", "RowScaler", "Sampler"]},
}


def wrapped(text: str, indent: str) -> str:
    return textwrap.fill(text, 100, initial_indent=indent, subsequent_indent=indent, break_long_words=False)


def positional(recipe: Recipe) -> int:
    """How many leading parameters scikit-learn takes by position."""
    theirs = {"Ridge": 1, "Lasso": 1, "ElasticNet": 1, "LogisticRegression": 1, "LinearSVC": 2, "RidgeCV": 1,
              "KernelRidge": 1, "KNeighborsClassifier": 1, "KNeighborsRegressor": 1,
              "RadiusNeighborsClassifier": 1, "RadiusNeighborsRegressor": 1, "KMeans": 1,
              "MinMaxScaler": 1, "Normalizer": 1, "PolynomialFeatures": 1, "Nystroem": 1, "RBFFeatures": 1}
    return theirs.get(recipe.name, 0)


# classes of margin.estimators that are not from the table
BY_HAND = {"Conformal": "conformal", "Search": "search"}


def literal(value: object) -> str:
    if isinstance(value, type):
        return value.__name__
    return "float('nan')" if value != value else repr(value)


def signature(recipe: Recipe) -> str:
    lines = ["        self,"]
    for place, p in enumerate(recipe.parameters):
        if place == positional(recipe):
            lines.append("        *,")
        lines.append(f"        {p.name}: {p.hint} = {literal(p.default)},")
    return "\n".join(lines)


def docstring(recipe: Recipe) -> str:
    component = components()[recipe.learner]
    lines = [f'    """{recipe.summary}', "", wrapped(f"margin's `{recipe.learner}`: {component.formula}", "    "),
             "", "    Parameters", "    ----------"]
    for p in recipe.parameters:
        lines += [f"    {p.name} : {p.type}, default={literal(p.default)}", wrapped(p.help + ".", "        ")]
    lines += ["", "    Attributes", "    ----------"]
    for name, kind, meaning in (*ALWAYS, *OF_BASE[recipe.base]):
        lines += [f"    {name} : {kind}", wrapped(meaning + ".", "        ")]
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
    recipes = [r for r in RECIPES.values() if r.module == name]
    names = ", ".join(repr(r.name) for r in recipes)
    classes = "\n\n".join(map(written, recipes))
    return (
        '"""Made by tools/make_estimators.py from recipes.py and the registry; do not edit."""\n\n'
        f"from __future__ import annotations\n\nfrom typing import Any\n\n{imports}\n\n__all__ = [{names}]\n\n\n{classes}"
    )


def stub() -> str:
    """What margin/__init__.py imports, and the classes."""
    tree = ast.parse((SOURCE / "__init__.py").read_text())
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom) and str(node.module).startswith("margin")]
    lines = [f"from {node.module} import {a.name} as {a.name}" for node in imports for a in node.names]
    return "\n".join([*lines, "from margin.estimators import *", "", "__version__: str", ""])


def main() -> None:
    classes = OUTPUT / "estimators"
    classes.mkdir(parents=True, exist_ok=True)
    for name in BASES:
        (classes / f"made_{name}.py").write_text(module(name))
    lines = [f"from margin.estimators.made_{name} import *\n" for name in BASES]
    lines += [f"from margin.estimators.{place} import {name} as {name}\n" for name, place in BY_HAND.items()]
    (classes / "__init__.pyi").write_text("".join(lines))
    (OUTPUT / "__init__.pyi").write_text(stub())


if __name__ == "__main__":
    main()
