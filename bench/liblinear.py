"""liblinear-train as a peer: what it takes without reading its file, and its weights."""
import resource
import shutil
import subprocess

import numpy as np

import common

PROGRAM = shutil.which('liblinear-train') or shutil.which('train')


def used_by(*words):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run([PROGRAM, '-q', '-B', '1', *map(str, words)], check=True, capture_output=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


class Peer:
    """LIBLINEAR on x.npy and y.npy in `folder` (labels -1 and 1)."""

    def __init__(self, given, folder):
        self.path, self.model = folder / 'data.svm', folder / 'model'
        common.run(given.programs / 'bench_read', 'convert', folder / 'x.npy', folder / 'y.npy', self.path)
        self.reading = used_by('-s', 2, '-e', '1e9', self.path, self.model)

    def train(self, kind, c=1.0):
        """Processor seconds of `train -s KIND -B 1 -c C` less those of a run that stops at once;
        weights and intercept (penalised as the weight of a column of ones)."""
        seconds = used_by('-s', kind, '-c', c, self.path, self.model) - self.reading
        w = np.loadtxt(self.model, skiprows=6)
        first = next(line for line in open(self.model) if line.startswith('label')).split()[1]
        sign = 1 if first == '1' else -1
        return seconds, sign * w[:-1], sign * w[-1]
