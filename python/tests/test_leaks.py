"""Ten thousand builds, searches and failures, and no byte more than before."""

import gc
import tracemalloc

import numpy as np
import pytest

import sapwood


pytestmark = pytest.mark.resident


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


POINTS = np.random.default_rng(1).random((500, 3))
QUERIES = POINTS[:20] + 0.01
TREE, DROP_IN, SMALL = sapwood.Tree(POINTS), sapwood.KDTree(POINTS), sapwood.Tree(QUERIES)
MATRIX = np.eye(4)
FLAT = sapwood.MeshTree(POINTS[:3], [[0, 1, 2]])


def build():
    sapwood.Tree(POINTS), sapwood.KDTree(POINTS)


def search():
    TREE.nearest(QUERIES, 3)
    TREE.nearest(QUERIES.tolist(), 3)
    TREE.within(QUERIES, 0.2)
    TREE.box([0, 0, 0], [0.2, 0.2, 0.2])


def search_as_scipy():
    DROP_IN.query(QUERIES, 3)
    DROP_IN.query(QUERIES[0])
    DROP_IN.query_ball_point(QUERIES, 0.2)
    DROP_IN.query_ball_point(QUERIES[0], 0.2)
    DROP_IN.query_pairs(0.1)
    DROP_IN.count_neighbors(DROP_IN, [0.1, 0.2])


def search_clouds():
    SMALL.normals(k=5)
    SMALL.shapes(k=5)
    SMALL.orient(SMALL.normals(k=5, curvatures=False).normals, view=[0, 0, 9])
    SMALL.gather(QUERIES, k=5, attributes=QUERIES[:, :2])
    SMALL.density(radius=0.1), SMALL.outliers(), SMALL.clusters(0.05), SMALL.sample(5), SMALL.sample(radius=0.5)
    SMALL.distance(QUERIES), SMALL.compare(TREE), SMALL.align(QUERIES, iterations=2)
    sapwood.voxels(QUERIES, 0.5, attributes=QUERIES[:, ::2]), sapwood.relax(QUERIES), sapwood.transform(QUERIES, MATRIX)
    sapwood.project(QUERIES, steps=2), sapwood.project(QUERIES, starts=QUERIES[::2], radius=0.3, steps=1)


def stand():
    world = sapwood.Instances([FLAT, FLAT], [MATRIX, MATRIX], [0, 1])
    world.trace(QUERIES, QUERIES), world.trace_all(QUERIES, QUERIES)
    world.rebuild([MATRIX], [1])
    repr(world), world.bounds
    for wrong in ([MATRIX[:3] * 0], [MATRIX[:3] * np.nan], 3):
        try:
            world.rebuild(wrong)
        except ValueError:
            continue
        raise AssertionError(wrong)


def look():
    repr(TREE), TREE.count, TREE.bounds, TREE.dtype, DROP_IN.data, DROP_IN.mins, sapwood.KDTree(POINTS).tree


def fail():
    for call, arguments in ((TREE.nearest, (QUERIES, 0)), (TREE.nearest, (QUERIES[:, :2],)), (TREE.within, (QUERIES, "a")),
                            (DROP_IN.query, (QUERIES, -1)), (DROP_IN.query, ([[np.nan] * 3],)), (sapwood.Tree, ([["a"]],)),
                            (sapwood.Tree, (np.full((5, 3), np.inf),)), (sapwood.Tree.load, ("/nowhere",)),
                            (TREE.gather, (QUERIES[:, :2],)), (TREE.orient, (QUERIES,)), (TREE.align, (QUERIES * np.nan,)),
                            (sapwood.voxels, (QUERIES, 0)), (sapwood.project, (QUERIES, -1)), (TREE.compare, (3,))):
        try:
            call(*arguments)
        except (TypeError, ValueError, OSError):
            continue
        raise AssertionError(f"{call} took {arguments}")


@pytest.mark.parametrize("work", [build, search, search_as_scipy, search_clouds, stand, look, fail])
def test_memory_stays(work, thorough):
    cycles = 10_000 if thorough else 1_000
    for _ in range(1_000):  # until memory is as large as it gets
        work()
    gc.collect()
    before = resident()
    for _ in range(cycles):
        work()
    gc.collect()
    grown = resident() - before
    assert grown < 1 << 19, f"{grown} bytes more after {cycles} rounds"

    tracemalloc.start()
    try:
        for _ in range(200):  # Python keeps what it frees, to be used again
            work()
        grown = []
        for _ in range(4):  # what leaks grows each time; tables that Python enlarges now and then do not
            gc.collect()
            before = tracemalloc.get_traced_memory()[0]
            for _ in range(1_000):
                work()
            gc.collect()
            grown.append(tracemalloc.get_traced_memory()[0] - before)
        assert min(grown) < 1_000 * 8, f"{grown} bytes: as much as a pointer for each round"
    finally:
        tracemalloc.stop()
