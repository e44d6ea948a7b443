"""Sapwood beside SciPy: every figure that the package promises, measured in one run.

    python compare.py [--quick] [--library LIBSAPWOOD.so] [GROUP ...]

Groups: uniform, scan, flat, ball, pairs, counts, sparse, build, single, import, threads, memory. Without one: all. One thread
unless a row says otherwise, in processor time; rows of several threads in seconds by the clock. The two sides take turns;
medians of seven rounds, of three for SciPy where a round of it takes more than a second. --quick: a tenth of the points
and three rounds, which says whether it works, not how fast it is. --library: the C library, to time the C call beside.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy
import scipy.spatial

import sapwood
from data import Array, scan, uniform
from library import Library
from measure import Table, in_new_process, in_turns, machine, microseconds


@dataclass
class Run:
    table: Table
    million: int
    rounds: int
    slow: int  # rounds of slow rivals
    library: str | None


def same(ours: object, theirs: object) -> None:
    """Answers are compared in the same run: distances to a rounding of SciPy's, which adds in another order from eight
    dimensions on."""
    np.testing.assert_allclose(np.asarray(ours, float), np.asarray(theirs, float), rtol=1e-12, atol=0)


def query(run: Run, name: str, cloud: Callable[[int, int], Array], targets: dict[int, tuple[float, float | None]]) -> None:
    points, queries = cloud(run.million, 1), cloud(run.million, 2)
    ours, theirs = sapwood.KDTree(points), scipy.spatial.KDTree(points)
    for k, (target, stretch) in targets.items():
        same(ours.query(queries[:1000], k)[0], theirs.query(queries[:1000], k)[0])
        a, b = in_turns([lambda: ours.query(queries, k), lambda: theirs.query(queries, k)], [run.rounds, run.slow])
        run.table.ratio(f"KDTree.query, {name}, k = {k}", b, a, target, stretch)
    one, two = in_turns([lambda: ours.query(queries, 8), lambda: ours.query(queries, 8, workers=2)],
                        [run.rounds, run.rounds], time.perf_counter)
    run.table.least(f"KDTree.query, {name}, k = 8, two workers / one", "", one / two, 1.85, "x")


def query_uniform(run: Run) -> None:
    query(run, "uniform", uniform, {1: (10, 15), 8: (6, 10), 16: (5, 8)})


def query_scan(run: Run) -> None:
    query(run, "scan-like", scan, {1: (8, None), 8: (5, None), 16: (4, None)})


def flat(run: Run) -> None:
    points, queries = uniform(run.million, 1), uniform(run.million, 2)
    theirs = scipy.spatial.KDTree(points)
    double = sapwood.Tree(points, threads=1)
    points32, queries32 = points.astype(np.float32), queries.astype(np.float32)
    ours = sapwood.Tree(points32, threads=1)
    for k in (1, 8):
        a, b, c = in_turns([lambda: ours.nearest(queries32, k), lambda: theirs.query(queries32, k),
                            lambda: double.nearest(queries, k)], [run.rounds, run.slow, run.rounds])
        run.table.ratio(f"Tree.nearest, float32 in and out, k = {k}", b, a, 15)
        run.table.least(f"Tree.nearest, k = {k}, float64 / float32", "", c / a, 1.25, "x")
    if run.library is None:
        run.table.note("no --library: Tree.nearest beside the C call is left out")
        return
    library = Library(run.library, points32.ctypes.data, len(points32), threads=1)
    for k in (1, 8):
        ids, distances2 = np.empty((run.million, k), np.int32), np.empty((run.million, k), np.float32)
        call = library.nearest(queries32.ctypes.data, run.million, k, ids.ctypes.data, distances2.ctypes.data)
        into = (np.empty_like(ids), np.empty_like(distances2))
        a, b = in_turns([lambda: ours.nearest(queries32, k, out=into), call], [2 * run.rounds + 1] * 2)
        assert np.array_equal(ids, into[0].reshape(ids.shape)) and np.array_equal(distances2, into[1].reshape(ids.shape))
        run.table.most(f"Tree.nearest into arrays, k = {k}, beside the C call", f"{b * 1e3:.0f} ms", a / b, 1.05, "x")


def ball(run: Run) -> None:
    points, queries = uniform(run.million, 1), uniform(run.million // 5, 2)
    radius = (29 / run.million / (4 / 3 * np.pi)) ** (1 / 3)
    ours, theirs, tree = sapwood.KDTree(points), scipy.spatial.KDTree(points), sapwood.Tree(points, threads=1)
    lists, rows = theirs.query_ball_point(queries[:1000], radius), ours.query_ball_point(queries[:1000], radius)
    assert all(a == b for a, b in zip(lists, rows))
    a, b, c, d, e = in_turns(
        [lambda: ours.query_ball_point(queries, radius), lambda: theirs.query_ball_point(queries, radius),
         lambda: ours.query_ball_point(queries, radius, return_length=True),
         lambda: theirs.query_ball_point(queries, radius, return_length=True), lambda: tree.within(queries, radius)],
        [run.rounds, run.slow, run.rounds, run.slow, run.rounds])
    run.table.ratio("query_ball_point, 29 hits, sorted lists", b, a, 5)
    run.table.ratio("query_ball_point, return_length", d, c, 20)
    run.table.ratio("Tree.within, rows with distances", b, e, 25)


def pairs(run: Run) -> None:
    points = uniform(run.million, 1)
    radius = (29 / run.million / (4 / 3 * np.pi)) ** (1 / 3)
    ours, theirs = sapwood.KDTree(points), scipy.spatial.KDTree(points)
    assert len(ours.query_pairs(radius, output_type="ndarray")) == len(theirs.query_pairs(radius, output_type="ndarray"))
    a, b = in_turns([lambda: ours.query_pairs(radius, output_type="ndarray"),
                     lambda: theirs.query_pairs(radius, output_type="ndarray")], [run.rounds, run.slow])
    run.table.ratio("query_pairs('ndarray'), 14.5 pairs a point", b, a, 3)


def counts(run: Run) -> None:
    points = uniform(run.million, 1)
    radius = (29 / run.million / (4 / 3 * np.pi)) ** (1 / 3)
    ours, theirs = sapwood.KDTree(points), scipy.spatial.KDTree(points)
    radii = np.linspace(radius / 10, radius, 10)
    assert np.array_equal(ours.count_neighbors(ours, radii), theirs.count_neighbors(theirs, radii))
    a, b, c, d = in_turns([lambda: ours.count_neighbors(ours, radius), lambda: theirs.count_neighbors(theirs, radius),
                           lambda: ours.count_neighbors(ours, radii), lambda: theirs.count_neighbors(theirs, radii)],
                          [run.rounds, run.slow, run.rounds, run.slow])
    run.table.ratio("count_neighbors, one radius", b, a, 8)
    run.table.ratio("count_neighbors, ten radii", d, c, 5)


def sparse(run: Run) -> None:
    count = run.million // 5
    points, others = uniform(count, 1), uniform(count, 2)
    radius = (29 / count / (4 / 3 * np.pi)) ** (1 / 3)
    ours, theirs = [sapwood.KDTree(p) for p in (points, others)], [scipy.spatial.KDTree(p) for p in (points, others)]

    def matrix(trees: list[scipy.spatial.KDTree]) -> object:
        return trees[0].sparse_distance_matrix(trees[1], radius, output_type="coo_matrix")

    assert abs(matrix(ours) - matrix(theirs)).max() < 1e-15
    a, b = in_turns([lambda: matrix(ours), lambda: matrix(theirs)], [run.rounds, run.slow])
    run.table.ratio("sparse_distance_matrix, coo, 29 entries a row", b, a, 6)


FIRST_BUILD = """
import time, numpy
from {module} import KDTree
points = numpy.random.default_rng(1).random(({count}, 3))
start = time.process_time()
tree = KDTree(points)
print(time.process_time() - start)
"""


def build(run: Run) -> None:
    points = uniform(run.million, 1)
    fresh = [in_new_process(FIRST_BUILD.format(module=module, count=run.million), run.rounds)
             for module in ("scipy.spatial", "sapwood")]
    run.table.ratio("KDTree(points), fresh memory (a new process)", fresh[0], fresh[1], 3)
    a, b = in_turns([lambda: sapwood.KDTree(points), lambda: scipy.spatial.KDTree(points)], [run.rounds, run.rounds])
    run.table.ratio("KDTree(points), warm memory", b, a, 5)


def single(run: Run) -> None:
    for count, target in ((1000, 2), (run.million, 3)):
        points = uniform(count, 1)
        ours, theirs = sapwood.KDTree(points), scipy.spatial.KDTree(points)
        queries = [row.copy() for row in uniform(997, 2)]
        tuples = [tuple(row) for row in uniform(997, 2).tolist()]
        lists = uniform(997, 2).tolist()

        def each(call: Callable[..., object], of: list[object], *more: object) -> float:
            turn = iter(range(1 << 60))
            size = len(of)
            loop = microseconds(lambda: of[next(turn) % size])
            return microseconds(lambda: call(of[next(turn) % size], *more)) - loop

        for name, of, more in (("array", queries, ()), ("tuple", tuples, ()), ("list", lists, ()),
                               ("array, k = 8", queries, (8,))):
            rival = each(theirs.query, of, *more)
            run.table.most(f"one point a call, {count:,} points, {name}", f"{rival:.1f} µs", each(ours.query, of, *more),
                           target, "µs")
        if count == 1000:
            rival = each(theirs.query_ball_point, queries, 1e-3)
            run.table.most("query_ball_point, one point, no hit, 1,000 points", f"{rival:.1f} µs",
                           each(ours.query_ball_point, queries, 1e-3), 2, "µs")


IMPORT = """
import sys, time, numpy
start = time.perf_counter()
import sapwood
print((time.perf_counter() - start) * 1e3)
assert not any(name.split('.')[0] == 'scipy' for name in sys.modules)
"""


def imports(run: Run) -> None:
    run.table.most("import sapwood beside NumPy, without SciPy", "", in_new_process(IMPORT, 2 * run.rounds + 1), 15, "ms")


def threads(run: Run) -> None:
    points, queries = uniform(run.million, 1), uniform(run.million, 2)
    tree = sapwood.KDTree(points)
    counted, stop = [0], threading.Event()

    def count() -> None:
        while not stop.is_set():
            counted[0] += 1

    counter = threading.Thread(target=count)
    counter.start()
    rates: list[list[float]] = [[], []]
    for turn in range(2 * run.rounds):
        start, before = time.perf_counter(), counted[0]
        if turn % 2:
            tree.query(queries, 8)
        else:
            time.sleep(0.3)
        rates[turn % 2].append((counted[0] - before) / (time.perf_counter() - start))
    stop.set()
    counter.join()
    run.table.least("a thread that counts beside a query keeps", "", float(np.median(rates[1]) / np.median(rates[0])), 0.9,
                    "of its rate")

    def both() -> None:
        halves = [threading.Thread(target=tree.query, args=(half, 8)) for half in np.array_split(queries, 2)]
        for half in halves:
            half.start()
        for half in halves:
            half.join()

    one, two = in_turns([lambda: tree.query(queries, 8), both], [run.rounds] * 2, time.perf_counter)
    run.table.least("two threads, one worker each, on one tree", "", one / two, 1.8, "x")


MEMORY = """
import sys
sys.path.insert(0, {folder!r})
import numpy, sapwood
from data import uniform
from measure import peak
points, queries = uniform({count}, 1), uniform({count}, 2)
tree, drop_in = sapwood.Tree(points, threads=1), sapwood.KDTree(points)
drop_in.query(queries[:10], 8), tree.within(queries[:10], 0.01)
grown, found = peak(lambda: {call})
size = sum(part.nbytes for part in map(numpy.asarray, found)) / 2**20
print({result})
"""


def memory(run: Run) -> None:
    """In new processes, so that no memory is used again that was freed before."""
    def measured(call: str, result: str) -> float:
        folder = str(Path(__file__).resolve().parent)
        return in_new_process(MEMORY.format(folder=folder, count=run.million, call=call, result=result), 3)

    radius = (29 / run.million / (4 / 3 * np.pi)) ** (1 / 3)
    size = run.million * 8 * 16 / 2**20
    run.table.most("KDTree.query, k = 8: peak beyond its results", f"{size:.0f} MB",
                   measured("drop_in.query(queries, 8)", "grown - size"), 32, "MB")
    size = measured(f"tree.within(queries, {radius})", "size")
    run.table.most("Tree.within: peak as a part of its arrays", f"{size:.0f} MB",
                   measured(f"tree.within(queries, {radius})", "grown / size"), 1.1, "x")


GROUPS: dict[str, Callable[[Run], None]] = {
    "uniform": query_uniform, "scan": query_scan, "flat": flat, "ball": ball, "pairs": pairs, "counts": counts, "sparse": sparse, "build": build,
    "single": single, "import": imports, "threads": threads, "memory": memory}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", nargs="*", choices=[*GROUPS, []], metavar="GROUP")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--library")
    options = parser.parse_args()
    million, rounds, slow = (100_000, 3, 1) if options.quick else (1_000_000, 7, 3)
    print(f"{machine()}; Python {sys.version.split()[0]}, NumPy {np.__version__}, SciPy {scipy.__version__}, "
          f"Sapwood {sapwood.__version__}; {million:,} points, rounds: {rounds}, of slow rivals {slow}")
    run = Run(Table(), million, rounds, slow, options.library)
    for name in options.groups or GROUPS:
        GROUPS[name](run)
    return run.table.end()


if __name__ == "__main__":
    sys.exit(main())
