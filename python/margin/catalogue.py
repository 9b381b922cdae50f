"""The registry: what a spec may name."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from margin._binding import ffi, lib
from margin.errors import text


@dataclass(frozen=True)
class Option:
    """An option of a component; `type` is "number", "integer", "choice", "switch", "numbers" or "text"."""

    name: str
    type: str
    low: float
    high: float
    default: str | None
    choices: tuple[str, ...]
    group: str | None
    help: str


@dataclass(frozen=True)
class Component:
    """A stage or learner."""

    name: str
    kind: str
    summary: str
    formula: str
    source: str
    page: str
    abilities: int
    options: tuple[Option, ...]


def _optional(pointer: Any) -> str | None:
    return text(pointer) if pointer else None


def _option(option: Any) -> Option:
    return Option(
        text(option.name),
        ("number", "integer", "choice", "switch", "numbers", "text")[option.type],
        option.low,
        option.high,
        _optional(option.default_text),
        tuple((_optional(option.choices) or "").split("|")) if option.choices else (),
        _optional(option.group),
        text(option.help),
    )


@cache
def components() -> dict[str, Component]:
    """All stages and learners by name, with their options."""
    found = {}
    for index in range(lib.margin_component_count()):
        c = lib.margin_component_at(index)
        found[text(c.name)] = Component(
            text(c.name),
            "stage" if c.kind == lib.MARGIN_STAGE else "learner",
            text(c.summary),
            text(c.formula),
            text(c.source),
            text(c.page),
            c.abilities,
            tuple(_option(lib.margin_component_option(c, i)) for i in range(c.option_count)),
        )
    return found


def canonical(spec: str) -> str:
    """The spec in canonical text; raises SpecError with the place of what is wrong."""
    from margin.errors import check, encoded, new_error

    parsed, error = ffi.new("margin_spec **"), new_error()
    check(lib.margin_spec_parse(ffi.NULL, encoded(spec), parsed, error), error)
    try:
        return text(lib.margin_spec_text(parsed[0]))
    finally:
        lib.margin_spec_free(parsed[0])
