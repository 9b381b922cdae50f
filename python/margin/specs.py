"""A spec as data: its steps, what they say, and the same spec with something changed."""

from __future__ import annotations

from numbers import Real
from typing import Any, Iterator

import numpy as np

from margin._binding import ffi, lib
from margin.contexts import context
from margin.errors import check, encoded, new_error, text
from margin.views import address


class Spec:
    """An immutable spec. Steps are called by their component's name; of equal ones the second `name2`."""

    def __init__(self, source: str | Any) -> None:
        if isinstance(source, str):
            made, error = ffi.new("margin_spec **"), new_error()
            check(lib.margin_spec_parse(context(), encoded(source), made, error), error)
            source = made[0]
        self._handle = ffi.gc(source, lib.margin_spec_free)

    def __str__(self) -> str:
        return text(lib.margin_spec_text(self._handle))

    @property
    def steps(self) -> list[str]:
        names: list[str] = []
        for k in range(lib.margin_spec_steps(self._handle)):
            name = text(lib.margin_spec_step(self._handle, k).name)
            again = sum(n.rstrip("0123456789") == name for n in names)
            names.append(f"{name}{again + 1}" if again else name)
        return names

    @property
    def learner(self) -> Any:
        """The last component, a margin_component."""
        return lib.margin_spec_step(self._handle, lib.margin_spec_steps(self._handle) - 1)

    def settings(self) -> Iterator[tuple[str, Any, int]]:
        """(step__option, value, number of values) of all that is given."""
        for number, step in enumerate(self.steps):
            component = lib.margin_spec_step(self._handle, number)
            for k in range(component.option_count):
                option = text(lib.margin_component_option(component, k).name)
                found = self._setting(number, option)
                if found.given:
                    yield f"{step}__{option}", _value(found), found.values

    def _setting(self, step: int, option: str) -> Any:
        found = ffi.new("margin_setting *")
        found.size = ffi.sizeof("margin_setting")
        lib.margin_spec_setting(self._handle, step, option.encode(), found)
        return found

    def varied(self) -> list[str]:
        """What has a set to search over."""
        return [name for name, _, values in self.settings() if values > 1]

    def value(self, name: str) -> Any:
        step, option = self._place(name)
        return _value(self._setting(step, option))

    def given(self, name: str) -> bool:
        step, option = self._place(name)
        return bool(self._setting(step, option).given)

    def _place(self, name: str) -> tuple[int, str]:
        step, _, option = name.partition("__")
        if not option or step not in self.steps:
            raise ValueError(f"Invalid parameter {name!r}: the spec {self} has the steps {', '.join(self.steps)}, "
                             "whose options are set by step__option")
        return self.steps.index(step), option

    def changed(self, name: str, value: Any) -> "Spec":
        """With one option changed; None: to its default."""
        step, option = self._place(name)
        setting = ffi.new("margin_setting *")
        setting.size = ffi.sizeof("margin_setting")
        keep: list[Any] = [ffi.new("char[]", option.encode())]
        setting.option, setting.given = keep[0], value is not None
        if isinstance(value, (bool, np.bool_)):
            setting.number = float(value)
        elif isinstance(value, Real):
            setting.number = float(value)
        elif isinstance(value, str):
            keep.append(ffi.new("char[]", value.encode()))
            setting.word = keep[-1]
        elif value is not None:
            numbers = np.ascontiguousarray(value, np.float64).ravel()
            keep.append(numbers)
            setting.numbers, setting.count = ffi.cast("double *", address(numbers)), numbers.size
        made, error = ffi.new("margin_spec **"), new_error()
        check(lib.margin_spec_with(self._handle, step, setting, made, error), error)
        return Spec(made[0])


def require_user(spec: str) -> None:
    """Raises where no kernel of the spec is the caller's function."""
    if not any(name.endswith("__kernel") and value == "user" for name, value, _ in Spec(spec).settings()):
        raise ValueError(f"kernel is a function, and the spec {spec!r} has no kernel=user that it could stand for: "
                         "write it there, as in 'svm(kernel=user)', or give no function")


def _value(setting: Any) -> Any:
    if setting.word:
        return text(setting.word)
    if setting.numbers:
        return [setting.numbers[k] for k in range(setting.count)]
    number = setting.number
    return int(number) if number == number and abs(number) < 2**53 and number == int(number) else number
