"""python -m margin.accel [--strict] script.py [arguments], or -m module [arguments]."""

from __future__ import annotations

import os
import runpy
import sys

from margin.accel import hook

USAGE = "usage: python -m margin.accel [--strict] (script.py | -m module) [arguments]"


def main() -> None:
    words = sys.argv[1:]
    strict = words[:1] == ["--strict"]
    words = words[strict:]
    as_module = words[:1] == ["-m"]
    words = words[as_module:]
    if not words or words[0].startswith("-"):
        sys.exit(USAGE)
    hook.install(strict=strict or hook.asked("strict"), small=hook.asked("all"), at_exit=True)
    sys.argv = words
    if as_module:
        sys.path[0] = os.getcwd()
        runpy.run_module(words[0], run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = os.path.dirname(os.path.abspath(words[0]))
        runpy.run_path(words[0], run_name="__main__")


main()
