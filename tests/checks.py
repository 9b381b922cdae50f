"""What the checks of the program share: a count of what holds, running the program, the last line."""
import subprocess
import sys

program = sys.argv[1] if len(sys.argv) > 1 else None
counts = {'passed': 0, 'failed': 0}


def expect(ok, what):
    counts['passed' if ok else 'failed'] += 1
    if not ok:
        print('breach:', what)


def run(*words):
    return subprocess.run([program, *map(str, words)], capture_output=True, text=True, timeout=120)


def finish():
    print(f"{counts['passed']} passed, {counts['failed']} failed")
    sys.exit(counts['failed'] > 0)
