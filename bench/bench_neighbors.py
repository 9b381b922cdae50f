#!/usr/bin/env python3
"""Nearest neighbours: margin against nanoflann, SciPy, scikit-learn and faiss, those that are there.

usage: bench_neighbors.py [--programs FOLDER] [--repeats N] [--only tree|brute]

Every side gets the same points and queries; medians; the sums of the distances must agree. nanoflann
is compiled from peer_nanoflann.cpp with -O3 -march=native.
"""
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

import common
from common import CORES, median


def ours(a, folder, k, method, threads, kind=()):
    out = common.run(a.programs / 'bench_neighbors', folder / 'x.npy', folder / 'q.npy', k, method, threads,
                     a.repeats + 1, *kind)
    lines = [line.split()[:3] for line in out.strip().split('\n')][1:]
    return [median(float(line[c]) for line in lines) for c in range(2)] + [float(lines[0][2])]


def timed(repeats, build, query):
    builds, queries = [], []
    for _ in range(repeats):
        start = time.perf_counter()
        index = build()
        middle = time.perf_counter()
        distances = query(index)
        builds.append(middle - start)
        queries.append(time.perf_counter() - middle)
    return median(builds), median(queries), float(np.sum(distances, dtype=np.float64))


def show(name, result, base=None):
    build, query, total = result
    ratio = [common.times(build / base[0]), common.times(query / base[1])] if base else ['', '']
    common.row(name, common.seconds(build), common.seconds(query), *ratio, f'{total:.6f}')


def heading(name):
    print(name)
    common.head('', 'build', 'queries', 'build, margin against it', 'queries, margin against it', 'sum of distances')


def morton(q):
    cells = (q * 1024).astype(np.uint64)
    key = np.zeros(len(q), dtype=np.uint64)
    for bit in range(9, -1, -1):
        for j in range(q.shape[1]):
            key = (key << np.uint64(1)) | ((cells[:, j] >> np.uint64(bit)) & np.uint64(1))
    return q[np.argsort(key)]


def nanoflann(a, folder, columns, k):
    program = folder / 'peer'
    source = Path(__file__).with_name('peer_nanoflann.cpp')
    if subprocess.run(['g++', '-O3', '-march=native', '-o', program, source], capture_output=True).returncode:
        return None
    results = []
    for queries in ('q.f64', 'sorted.f64'):
        out = common.run(program, folder / 'x.f64', folder / queries, columns, k, a.repeats)
        lines = [[float(v) for v in line.split()] for line in out.strip().split('\n')]
        results.append([median(line[c] for line in lines) for c in range(3)])
    return results


def tree(a, rows, columns, queries, k):
    rng = np.random.default_rng(1)
    x, q = rng.random((rows, columns)), rng.random((queries, columns))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.save(folder / 'x.npy', x)
        np.save(folder / 'q.npy', q)
        x.tofile(folder / 'x.f64')
        q.tofile(folder / 'q.f64')
        morton(q).tofile(folder / 'sorted.f64')
        heading(f'tree, {rows} x {columns}, {queries} queries, k={k}')
        one = ours(a, folder, k, 'tree', 1)
        show('margin, 1 thread', one)
        all_threads = ours(a, folder, k, 'tree', CORES)
        show(f'margin, {CORES} threads', all_threads)
        peers = nanoflann(a, folder, columns, k)
        if peers:
            for label, base in (('1 thread', one), (f'{CORES} threads', all_threads)):
                show(f'nanoflann, to {label}', peers[0], base)
                show(f'nanoflann, sorted, to {label}', peers[1], base)
        from scipy.spatial import cKDTree
        from sklearn.neighbors import KDTree
        show('SciPy cKDTree, 1 thread', timed(a.repeats, lambda: cKDTree(x), lambda t: t.query(q, k)[0]), one)
        show(f'SciPy cKDTree, {CORES} threads',
             timed(a.repeats, lambda: cKDTree(x), lambda t: t.query(q, k, workers=-1)[0]), all_threads)
        show('scikit-learn KDTree', timed(1, lambda: KDTree(x), lambda t: t.query(q, k)[0]), one)


def brute(a, name, x, q, k):
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        np.save(folder / 'x.npy', x)
        np.save(folder / 'q.npy', q)
        heading(f'brute force, {name}, k={k}')
        mine = ours(a, folder, k, 'brute', CORES, ('f32',))
        show(f'margin, {CORES} threads', mine)
        from sklearn.neighbors import NearestNeighbors
        show('scikit-learn',
             timed(a.repeats, lambda: NearestNeighbors(n_neighbors=k, algorithm='brute').fit(x),
                   lambda t: t.kneighbors(q)[0]), mine)
        try:
            import faiss
        except ImportError:
            print('skipped: faiss is not installed')
            return

        def build():
            index = faiss.IndexFlatL2(x.shape[1])
            index.add(x)
            return index

        show(f'faiss {faiss.__version__} IndexFlatL2',
             timed(a.repeats, build, lambda t: np.sqrt(np.maximum(t.search(q, k)[0], 0))), mine)


def main():
    a = common.options(__doc__, repeats=5, only=None)
    if a.only != 'brute':
        tree(a, 1000000, 3, 100000, 5)
    if a.only != 'tree':
        rng = np.random.default_rng(2)
        brute(a, '60000 x 100, 10000 queries', rng.standard_normal((60000, 100)).astype(np.float32),
              rng.standard_normal((10000, 100)).astype(np.float32), 5)


if __name__ == '__main__':
    main()
