"""Instances of meshes: against each instance traced alone, and what is given to them wrongly."""

import gc
import pickle
import threading
import weakref

import numpy as np
import pytest
from test_mesh import CUBE, CUBE_TRIANGLES, random_mesh

import sapwood


def turned(rng, count):
    """Transforms that turn, scale and shift."""
    transforms = np.tile(np.eye(4), (count, 1, 1))
    for m in transforms:
        m[:3, :3] = np.linalg.qr(rng.normal(size=(3, 3)))[0] * rng.uniform(0.3, 2, 3)
        m[:3, 3] = rng.uniform(-5, 5, 3)
    return transforms


@pytest.fixture
def trees(rng):
    return [sapwood.MeshTree(*random_mesh(rng)), sapwood.MeshTree(CUBE, CUBE_TRIANGLES)]


@pytest.fixture
def rays(rng):
    origins = rng.uniform(-8, 8, (400, 3)).astype(np.float32)
    return origins, (rng.uniform(-5, 5, (400, 3)) - origins).astype(np.float32)


def moved(ray, transform):
    """Rays as an instance sees them, by the arithmetic of sapwood/instances.h."""
    m, s = transform[:3, :3].astype(np.float32).astype(float), transform[:3, 3].astype(np.float32).astype(float)
    at = lambda r, c: m[r % 3, c % 3]
    c = [[at(i + 1, j + 1) * at(i + 2, j + 2) - at(i + 1, j + 2) * at(i + 2, j + 1) for j in range(3)] for i in range(3)]
    whole = (m[0, 0] * c[0][0] + m[0, 1] * c[0][1]) + m[0, 2] * c[0][2]
    w = [[c[k][r] / whole for k in range(3)] for r in range(3)]
    shift = [-((w[r][0] * s[0] + w[r][1] * s[1]) + w[r][2] * s[2]) for r in range(3)]
    o, d = ray[0].astype(float).T, ray[1].astype(float).T
    return (np.stack([((w[r][0] * o[0] + w[r][1] * o[1]) + w[r][2] * o[2]) + shift[r] for r in range(3)], -1).astype(np.float32),
            np.stack([(w[r][0] * d[0] + w[r][1] * d[1]) + w[r][2] * d[2] for r in range(3)], -1).astype(np.float32))


def all_hits(trees, transforms, which, rays):
    """For each ray its hits by (t, instance, triangle), each instance traced alone."""
    found = [[] for _ in rays[0]]
    for number, (transform, tree) in enumerate(zip(transforms, which)):
        hits = trees[tree].trace_all(*moved(rays, transform))
        for i, row in enumerate(found):
            for k in range(hits.offsets[i], hits.offsets[i + 1]):
                row.append((hits.t[k], number, hits.triangle[k], hits.u[k], hits.v[k]))
    return [sorted(row) for row in found]


def check(world, expected, rays, **limits):
    hits, flags = world.trace(*rays, **limits), world.occluded(*rays, **limits)
    assert np.array_equal(flags, [len(row) > 0 for row in expected])
    for i, row in enumerate(expected):
        first = row[0] if row else (np.float32(np.inf), -1, -1, 0, 0)
        assert (hits.t[i], hits.instance[i], hits.triangle[i], hits.u[i], hits.v[i]) == first
    for limit in (None, 1, 3):
        found = world.trace_all(*rays, limit=limit, **limits)
        assert found.offsets.dtype == np.int64 and found.offsets[-1] == len(found.t)
        for i, row in enumerate(expected):
            part = slice(found.offsets[i], found.offsets[i + 1])
            assert list(zip(found.t[part], found.instance[part], found.triangle[part], found.u[part],
                            found.v[part])) == row[:limit]


def test_hits_are_those_of_each_instance_alone(rng, trees, rays):
    transforms, which = turned(rng, 20), rng.integers(0, 2, 20)
    world = sapwood.Instances(trees, transforms, which)
    expected = all_hits(trees, transforms, which, rays)
    assert 50 < sum(bool(row) for row in expected) < 400
    check(world, expected, rays)
    check(world, [[hit for hit in row if 0.25 <= hit[0] <= 0.75] for row in expected], rays, tmin=0.25, tmax=0.75)
    assert world.count == 20 and world.trees == tuple(trees) and np.array_equal(world.which, which)
    assert world.triangle_count == sum(trees[t].triangle_count for t in which)
    assert world.device == "cpu" and world.depth >= 5 and world.bytes > 20 * 104


def test_instances_move(rng, trees, rays):
    transforms, which = turned(rng, 9), rng.integers(0, 2, 9)
    world = sapwood.Instances(trees, transforms[:, :3], which)
    for _ in range(3):
        transforms = turned(rng, 9)
        world.rebuild(transforms)
        check(world, all_hits(trees, transforms, which, rays), rays)
    world.rebuild(transforms[:4], [1, 1, 0, 0])
    check(world, all_hits(trees, transforms[:4], [1, 1, 0, 0], rays), rays)
    world.rebuild(transforms[:2], trees=trees[::-1])
    check(world, all_hits(trees, transforms[:2], [1, 0], rays), rays)


def test_a_tree_that_is_rebuilt(rng, trees, rays):
    transforms = turned(rng, 2)
    world = sapwood.Instances(trees, transforms)
    trees[1].rebuild(CUBE * 2)
    for search in (world.trace, world.occluded, world.trace_all):
        with pytest.raises(RuntimeError, match="tree 1 was rebuilt"):
            search(*rays)
    world.rebuild(transforms)
    check(world, all_hits(trees, transforms, [0, 1], rays), rays)
    trees[0].__init__(CUBE, CUBE_TRIANGLES)
    with pytest.raises(RuntimeError, match="tree 0 was rebuilt"):
        world.trace(*rays)
    world.rebuild(transforms)
    check(world, all_hits(trees, transforms, [0, 1], rays), rays)


def test_trees_with_an_origin_stand_there(rays):
    place = np.array([1000000.3, 2000000.7, -3000000.1])
    far = CUBE + place
    tree = sapwood.MeshTree(far, CUBE_TRIANGLES)
    assert any(tree.origin)
    back = np.eye(4)
    back[:3, 3] = -place
    near = sapwood.Instances(sapwood.MeshTree(CUBE, CUBE_TRIANGLES), [np.eye(4)])
    there = sapwood.Instances(tree, back)
    expected, hits = near.trace(*rays), there.trace(*rays)
    assert 5 < (expected.instance == 0).sum() and np.array_equal(expected.instance, hits.instance)
    assert np.allclose(expected.t, hits.t, rtol=1e-5)


def test_shapes(trees):
    world = sapwood.Instances(trees[1], np.eye(4))
    one = world.trace([0.25, 0.5, -1], [0, 0, 2])
    assert one.t == 0.5 and one.instance == 0 and np.ndim(one.t) == 0 and one.instance.dtype == np.int32
    grid = np.full((4, 5, 3), 0.25)
    grid[..., 2] = -1
    assert world.trace(grid, [0, 0, 1]).instance.shape == (4, 5) and world.occluded(grid, [0, 0, 1]).all()
    rays = np.zeros((3, 8), np.float32)
    rays[:, :3], rays[:, 4:7], rays[:, 7] = [0.25, 0.5, -1], [0, 0, 2], np.inf
    assert np.array_equal(world.trace(rays).t, [0.5] * 3) and world.occluded(rays).all()
    assert world.trace(np.empty((0, 3)), [0, 0, 1]).instance.shape == (0,)
    assert world.trace_all([], [0, 0, 1]).offsets.tolist() == [0]


def test_none_and_empty_meshes():
    empty = sapwood.MeshTree(np.empty((0, 3)), np.empty((0, 3), np.int32))
    for world in (sapwood.Instances(empty, []), sapwood.Instances(empty, [np.eye(4)] * 3)):
        assert world.trace([0, 0, 0], [1, 0, 0]).instance == -1 and np.isinf(world.bounds[0]).all()
        assert world.trace_all([[0, 0, 0]], [1, 0, 0]).offsets.tolist() == [0, 0]


def test_more_hits_than_there_is_room_for_at_first(trees):
    transforms = np.tile(np.eye(4), (100, 1, 1))
    transforms[:, 2, 3] = np.arange(100) * 2
    hits = sapwood.Instances(trees[1], transforms).trace_all([[0.3, 0.6, -1]] * 2 + [[5, 5, 5]], [0, 0, 1])
    assert hits.offsets.tolist() == [0, 200, 400, 400]
    assert np.allclose(hits.t, np.tile(np.arange(200) + 1, 2)) and np.array_equal(hits.instance, np.tile(np.arange(200) // 2, 2))


def test_they_keep_their_trees(rays):
    tree = sapwood.MeshTree(CUBE, CUBE_TRIANGLES)
    known = weakref.ref(tree)
    world = sapwood.Instances(tree, np.eye(4))
    expected = world.trace(*rays)
    del tree
    gc.collect()
    assert known() is not None and np.array_equal(world.trace(*rays).t, expected.t)
    del world
    gc.collect()
    assert known() is None


def test_wrong_arguments(trees):
    one = np.eye(4)
    flat = np.diag([1, 1, 0, 1])
    wrong = [
        (trees, [one], None, sapwood.ArgumentError, "which is missing"),
        (trees, [one], [2], sapwood.ArgumentError, "instance 0 is of tree 2"),
        (trees, [one], [-1], sapwood.ArgumentError, "of tree -1"),
        (trees, [one], [2**40], sapwood.ArgumentError, "there are 2 trees"),
        (trees, [one], [0, 1], sapwood.ArgumentError, "which must be an int"),
        (trees, [one], [0.5], sapwood.ArgumentError, "which must be an int"),
        (trees[0], [one, flat], None, sapwood.ArgumentError, "instance 1 has no inverse"),
        (trees[0], [one, one * np.nan], None, sapwood.ArgumentError, "last row"),
        (trees[0], [one[:3], one[:3] * np.nan], None, sapwood.NotFiniteError, "instance 1 is not finite"),
        (trees[0], [one[:3] * 1e38], None, sapwood.NotFiniteError, "so far that squares overflow"),
        (trees[0], np.eye(3), None, sapwood.ArgumentError, "shape"),
        (trees[0], [one * 2], None, sapwood.ArgumentError, "last row"),
        ([], [one], [0], sapwood.ArgumentError, "at least one"),
        ([trees[0], 3], [one], [0], TypeError, "MeshTree"),
        ([trees[0], sapwood.MeshTree(CUBE, CUBE_TRIANGLES, threads=1)], [one, one], [0, 1], sapwood.ArgumentError,
         "another device"),
    ]
    world = sapwood.Instances(trees, [one, one])
    before = world.trace([0.25, 0.5, -9], [0, 0, 2])
    for held, transforms, which, kind, sentence in wrong:
        with pytest.raises(kind, match=sentence):
            sapwood.Instances(held, transforms, which)
        with pytest.raises(kind, match=sentence):
            world.rebuild(transforms, which, trees=held)
        assert world.trace([0.25, 0.5, -9], [0, 0, 2]) == before and world.count == 2
    for search in (world.trace, world.occluded, world.trace_all):
        with pytest.raises(sapwood.ArgumentError, match="shape"):
            search([[0, 0]], [[1, 0]])
    with pytest.raises(sapwood.ArgumentError, match="limit"):
        world.trace_all([0, 0, 0], [1, 0, 0], limit=0)
    with pytest.raises(TypeError):
        pickle.dumps(world)
    new = sapwood.Instances.__new__(sapwood.Instances)
    with pytest.raises(sapwood.ArgumentError, match="not been built"):
        new.trace([0, 0, 0], [1, 0, 0])
    with pytest.raises(sapwood.ArgumentError, match="not been built"):
        new.rebuild(np.eye(4))
    assert "not been built" in repr(new)


def test_progress(trees, rays):
    heard = []
    world = sapwood.Instances(trees[0], [np.eye(4)] * 3, progress=heard.append)
    with pytest.raises(sapwood.CancelledError):
        world.trace(*(np.tile(part, (100, 1)) for part in rays), progress=lambda done: False)
    assert all(0 <= done <= 1 for done in heard)


def test_threads(rng, trees, rays):
    transforms = turned(rng, 50)
    world = sapwood.Instances(trees[0], transforms)
    expected = world.trace(*rays)
    wrong = []

    def search():
        for _ in range(20):
            try:
                if not np.array_equal(world.trace(*rays).t, expected.t):
                    wrong.append("another answer")
            except RuntimeError:
                pass

    def rebuild():
        for _ in range(50):
            try:
                world.rebuild(transforms)
            except RuntimeError:
                pass

    workers = [threading.Thread(target=work) for work in (search, search, rebuild)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong
