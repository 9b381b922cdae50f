"""check_docs.py PROGRAM ROOT: the commands shown in README.md and docs/*.md print what is shown there.

A block of shell, fenced as ```console or indented, whose lines begin with `$ `. Each document has a
directory of its own with the tables of examples/data in it; `$ cat FILE` of another file makes it from
the lines shown. A line `...` stands for any lines. Times, thread counts, steps and gaps vary with the
machine and are not compared; other numbers agree to 1e-3. Pictures are left out where gnuplot is absent."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

NUMBER = re.compile(r"[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")
VARYING = [
    (re.compile(r"\b\d+(\.\d+)?(e-?\d+)? (ms|us|µs|s)\b"), "TIME"),
    (re.compile(r"on \d+ threads?"), "on N threads"),
    (re.compile(r"\b\d+ ([\w-]+ )?(steps?|refinements?|iterations?|rounds?|epochs?)\b"), "N steps"),
    (re.compile(r"\b(gap( of)?|residual) +[-+.\de]+"), "gap G"),
    (re.compile(r" +"), " "),
]


def blocks(text):
    """Lists of lines, without indent or fence."""
    for fenced in re.findall(r"```console\n(.*?)```", text, re.S):
        yield fenced.splitlines()
    block = []
    for line in re.sub(r"```.*?```", "", text, flags=re.S).splitlines() + ["end"]:
        if line.startswith("    ") or (block and not line.strip()):
            block.append(line[4:])
        elif block:
            if block[0].startswith("$ "):
                yield block
            block = []


def steps(block):
    """(command, lines shown) of a block."""
    found = []
    for line in block:
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found:
            found[-1][1].append(line.rstrip())
    for command, shown in found:
        while shown and not shown[-1]:
            shown.pop()
        yield command, shown


def same_line(shown, got):
    for pattern, name in VARYING:
        shown, got = pattern.sub(name, shown), pattern.sub(name, got)
    if NUMBER.sub("#", shown).strip() != NUMBER.sub("#", got).strip():
        return False
    for a, b in zip(map(float, NUMBER.findall(shown)), map(float, NUMBER.findall(got))):
        if abs(a - b) > 1e-3 * max(abs(a), abs(b)) and max(abs(a), abs(b)) > 1e-6:
            return False
    return True


def same(shown, got):
    if not shown:
        return not got
    if shown[0] == "...":
        return any(same(shown[1:], got[i:]) for i in range(len(got) + 1))
    return bool(got) and same_line(shown[0], got[0]) and same(shown[1:], got[1:])


def check(path, program, root):
    """Number of commands run and a list of complaints."""
    run, complaints = 0, []
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with tempfile.TemporaryDirectory() as work:
        tables = os.path.join(root, "examples", "data")
        os.makedirs(os.path.join(work, "examples"))
        shutil.copytree(tables, os.path.join(work, "examples", "data"))
        given = {name for name in os.listdir(tables) if name.endswith(".csv")}
        for name in given:
            shutil.copy(os.path.join(tables, name), work)
        environment = dict(os.environ, PATH=os.path.dirname(program) + os.pathsep + os.environ["PATH"])
        for command, shown in (step for block in blocks(text) for step in steps(block)):
            cat = re.fullmatch(r"cat (\S+)", command)
            if cat and (cat[1] in given or not os.path.exists(os.path.join(work, cat[1]))):
                with open(os.path.join(work, cat[1]), "w", encoding="utf-8") as file:
                    file.write("\n".join(shown) + "\n")
                continue
            if command.startswith("margin plot") and not shutil.which("gnuplot"):
                continue
            done = subprocess.run(["bash", "-c", command], cwd=work, env=environment, text=True, timeout=300,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            run += 1
            got = [line.rstrip() for line in done.stdout.splitlines()]
            while got and not got[-1]:
                got.pop()
            if not same(shown, got):
                complaints.append("\n".join([f"{path}: $ {command}", "shown:", *shown, f"printed (exit status {done.returncode}):", *got, ""]))
    return run, complaints


def main():
    program, root = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    docs = os.path.join(root, "docs")
    paths = [os.path.join(root, "README.md")]
    paths += sorted(os.path.join(docs, name) for name in os.listdir(docs) if name.endswith(".md"))
    total, complaints = 0, []
    for path in paths:
        run, found = check(path, program, root)
        total += run
        complaints += found
    print("\n".join(complaints))
    print(f"{total} commands, {len(complaints)} print something else than shown")
    return 1 if complaints or total < 20 else 0


sys.exit(main())
