"""Clouds of points, beside closed forms and brute force in NumPy."""

import signal
import threading
import time

import numpy as np
import pytest

import sapwood

FLOATS = [np.float32, np.float64]


@pytest.fixture
def sphere(rng):
    """A unit sphere about (5, 5, 5), and its normals."""
    out = rng.normal(size=(3000, 3))
    out /= np.linalg.norm(out, axis=1, keepdims=True)
    return out + 5, out


def turn(angle, axis):
    """A matrix of 4 x 4."""
    axis = np.asarray(axis) / np.linalg.norm(axis)
    cross = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    matrix = np.eye(4)
    matrix[:3, :3] += np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross
    return matrix


# ---- Normals


@pytest.mark.parametrize("dtype", FLOATS)
def test_normals_of_a_plane(rng, dtype):
    points = np.zeros((400, 3), dtype)
    points[:, :2] = rng.random((400, 2))
    tree = sapwood.Tree(points)
    for more in ({}, {"k": 5}, {"radius": 0.3}, {"k": 9, "radius": 0.3, "falloff": "biweight"}, {"weights": rng.random(400) + 0.1}):
        normals, curvatures = tree.normals(**more)
        assert normals.dtype == curvatures.dtype == np.float32 and normals.shape == (400, 3)
        assert (normals == [0, 0, 1]).all() and (curvatures == 0).all()
    assert (tree.normals(view=[0, 0, -1]).normals == [0, 0, -1]).all()
    assert tree.normals(curvatures=False).curvatures is None


def test_normals_of_a_sphere(sphere):
    points, outward = sphere
    tree = sapwood.Tree(points)
    inward = tree.normals(k=12, view=[5, 5, 5]).normals
    assert ((inward * outward).sum(1) < -0.97).all()
    assert np.array_equal(tree.normals(k=12, orient="view", view=[5, 5, 5]).normals, inward)
    assert np.array_equal(tree.normals(k=12, views=np.full((3000, 3), 5.0)).normals, inward)
    moving = tree.normals(k=12, views=[[5, 5, 5], [5, 5, 5]], view_times=[0, 1], point_times=np.linspace(0, 1, 3000)).normals
    assert np.array_equal(moving, inward)
    assert np.array_equal(tree.normals(k=12, orient="consistent", graph_k=8).normals, -inward)
    assert np.array_equal(tree.orient(inward, "consistent"), -inward)
    turned = inward.copy()
    assert tree.orient(turned, view=[5, 5, 5], out=turned) is turned and np.array_equal(turned, inward)
    assert tree.orient(-inward, view=[5, 5, 5]).tolist() == inward.tolist()


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("more", [{"k": 10}, {"radius": 0.25}, {"k": 10, "radius": 0.2}])
def test_shapes_by_brute_force(rng, dtype, more):
    points = rng.random((300, 3)).astype(dtype)
    tree = sapwood.Tree(points)
    found = tree.shapes(**more)
    distance = np.linalg.norm(points[:, None].astype(float) - points[None], axis=2)
    for i in range(300):
        near = np.argsort(distance[i], kind="stable")[: more.get("k", 300)]
        near = near[distance[i, near] <= more.get("radius", np.inf)]
        assert found.counts[i] == len(near)
        if len(near) < 4:
            continue
        values, axes = np.linalg.eigh(np.cov(points[near].astype(float).T, bias=True))
        assert np.allclose(found.eigenvalues[i], values, rtol=1e-5, atol=1e-9)
        six = np.cov(points[near].astype(float).T, bias=True)[np.triu_indices(3)]
        assert np.allclose(found.covariances[i], six, rtol=1e-5, atol=1e-9)
        if values[1] > 1.1 * values[0]:
            assert abs(found.normals[i] @ axes[:, 0]) > 1 - 1e-5
        if values[2] > 1.1 * values[1]:
            assert abs(found.directions[i] @ axes[:, 2]) > 1 - 1e-5
        assert np.isclose(found.curvatures[i], values[0] / values.sum(), rtol=1e-4, atol=1e-7)
        assert np.isclose(found.planarities[i], (values[1] - values[0]) / values[2], rtol=1e-4, atol=1e-6)
        assert np.isclose(found.linearities[i], (values[2] - values[1]) / values[2], rtol=1e-4, atol=1e-6)
        assert found.kinds[i] == 3
    assert np.array_equal(tree.normals(**more).normals, found.normals)
    assert np.array_equal(tree.normals(**more).curvatures, found.curvatures)
    covariances, eigenvalues = tree.covariances(**more)
    assert np.array_equal(covariances, found.covariances) and np.array_equal(eigenvalues, found.eigenvalues)
    matrices = tree.covariances(**more).matrices()
    assert np.array_equal(matrices, matrices.transpose(0, 2, 1)) and np.array_equal(matrices[:, 1, 2], covariances[:, 4])
    assert tree.covariances(eigenvalues=False, **more).eigenvalues is None
    some = tree.shapes(("kinds", "curvatures"), **more)
    assert np.array_equal(some.kinds, found.kinds) and some.normals is None and some.counts is None
    assert tree.shapes("counts", **more).counts.tolist() == found.counts.tolist()


def test_points_without_normals():
    line = sapwood.Tree(np.arange(30.0).reshape(-1, 1) * [1, 2, 3])
    found = line.shapes(k=5)
    assert (found.kinds == 2).all() and not found.normals.any() and np.allclose(found.directions @ [1, 2, 3], np.sqrt(14))
    assert (sapwood.Tree(np.ones((9, 3))).shapes().kinds == 1).all()
    assert (sapwood.Tree([[0.0, 0, 0], [1, 0, 0]]).shapes().kinds == 0).all()
    dropped = sapwood.Tree([[np.nan, 0, 0], [0, 0, 0], [1, 0, 0], [0, 1, 0]], drop_nonfinite=True).normals().normals
    assert dropped.tolist() == [[0, 0, 0], [0, 0, 1], [0, 0, 1], [0, 0, 1]]
    assert sapwood.Tree(np.zeros((0, 3))).normals().normals.shape == (0, 3)


@pytest.mark.parametrize("dtype", FLOATS)
def test_gather_by_brute_force(rng, dtype):
    points, queries = rng.integers(0, 9, (200, 3)).astype(dtype), rng.integers(0, 9, (50, 3)).astype(dtype)
    weights, attributes = rng.integers(0, 4, 200).astype(np.float32), rng.integers(-5, 5, (200, 2)).astype(np.float32)
    tree = sapwood.Tree(points)
    offsets = points[None].astype(float) - queries[:, None]
    near = (offsets**2).sum(2) <= 9
    found = tree.gather(queries, radius=3, weights=weights, attributes=attributes)
    pull = near * weights.astype(float)
    assert np.array_equal(found.counts, near.sum(1)) and np.array_equal(found.weights, pull.sum(1))
    assert np.array_equal(found.offsets, np.einsum("qp,qpd->qd", pull, offsets))
    squares = np.einsum("qp,qpd,qpe->qde", pull, offsets, offsets)
    assert np.array_equal(found.products, squares[:, [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]])
    assert np.array_equal(found.attributes, pull @ attributes)
    flat = tree.gather(queries, radius=3, weights=weights, attributes=attributes[:, 1], only=["attributes", "counts"])
    assert np.array_equal(flat.attributes, found.attributes[:, 1]) and flat.weights is None
    one = tree.gather(queries[3], radius=3, weights=weights, attributes=attributes)
    assert one.counts.shape == () and one.counts == found.counts[3] and np.array_equal(one.products, found.products[3])
    own = tree.gather_self(radius=3, weights=weights, attributes=attributes)
    asked = tree.gather(points, radius=3, weights=weights, attributes=attributes)
    assert all(np.array_equal(a, b) for a, b in zip(own, asked))
    assert tree.gather(queries, k=7).counts.tolist() == [7] * 50 and tree.gather(queries).attributes is None
    apart = np.zeros((200, 4), np.float32)[:, ::2]
    apart[:] = attributes
    assert np.array_equal(tree.gather(queries, radius=3, weights=weights, attributes=apart).attributes, found.attributes)
    fading = tree.gather(queries, radius=3, falloff="biweight", only="weights").weights
    assert np.allclose(fading, (near * (1 - (offsets**2).sum(2) / 9) ** 2).sum(1), rtol=1e-12)


def test_gather_in_a_plane(rng):
    points = rng.random((100, 2))
    found = sapwood.Tree(points).gather_self(k=5)
    assert found.offsets.shape == (100, 2) and found.products.shape == (100, 3)


# ---- Density, outliers, clusters, samples


@pytest.mark.parametrize("dtype", FLOATS)
def test_density(rng, dtype):
    points = rng.random((500, 3)).astype(dtype)
    tree = sapwood.Tree(points)
    assert np.array_equal(tree.density(radius=0.2), tree.count_within(points, 0.2) - 1)
    third = np.sqrt(tree.nearest_self(3).distances2[:, 2].astype(float))
    assert np.array_equal(tree.density("distance", k=3), third)
    distance2 = ((points[:, None].astype(float) - points[None]) ** 2).sum(2)
    part = np.maximum(0, 1 - distance2 / 0.04) ** 2
    volume = 32 * np.pi / 105 * 0.2**3  # the integral of (1 - r*r)**2 over a ball
    assert np.allclose(tree.density("kernel", radius=0.2), part.sum(1) / volume, rtol=1e-5)
    out = np.empty(500)
    assert tree.density(radius=0.2, out=out) is out and np.array_equal(out, tree.density("count", radius=0.2))
    assert np.allclose(tree.density("kernel", radius=0.2, dims=2), part.sum(1) / (np.pi / 3 * 0.04), rtol=1e-5)


@pytest.mark.parametrize("dtype", FLOATS)
def test_outliers(rng, dtype):
    points = np.concatenate([rng.random((400, 3)), rng.random((10, 3)) * 20 + 5]).astype(dtype)
    tree = sapwood.Tree(points)
    mean = np.sqrt(tree.nearest_self(20).distances2.astype(float)).mean(1)
    found = tree.outliers()
    assert np.isclose(found.mean, mean.mean(), rtol=1e-12) and np.isclose(found.deviation, mean.std(ddof=1), rtol=1e-12)
    assert found.keep.dtype == bool and np.array_equal(found.keep, mean <= found.limit) and found.kept == found.keep.sum() < 410
    assert np.isclose(found.limit, mean.mean() + 2 * mean.std(ddof=1), rtol=1e-12)
    few = tree.outliers(k=5, ratio=1)
    assert few.kept == few.keep.sum() and few.limit < found.limit
    near = tree.outliers(radius=0.3, k=4)
    assert np.array_equal(near.keep, tree.count_within(points, 0.3) > 4) and near.mean == 0
    for dtype_of_out in (bool, np.uint8):
        out = np.empty(410, dtype_of_out)
        assert tree.outliers("radius", radius=0.3, k=4, out=out).keep is out and np.array_equal(out, near.keep)


def brute_clusters(points, radius, fewest):
    near = ((points[:, None] - points[None]) ** 2).sum(2) <= radius * radius
    core = near.sum(1) >= fewest
    labels = np.full(len(points), -1)
    count = 0
    for i in range(len(points)):
        if not core[i] or labels[i] >= 0:
            continue
        labels[i] = count
        stack = [i]
        while stack:
            for j in np.flatnonzero(near[stack.pop()] & core & (labels < 0)):
                labels[j] = count
                stack.append(j)
        count += 1
    kinds = np.where(core, 2, 0)
    distance2 = ((points[:, None] - points[None]) ** 2).sum(2)
    for i in np.flatnonzero(~core):
        cores = np.flatnonzero(core & near[i])
        if len(cores):
            labels[i] = labels[cores[np.argmin(distance2[i, cores])]]
            kinds[i] = 1
    return labels, kinds, count


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("fewest", [1, 4, 7])
def test_clusters_by_brute_force(rng, dtype, fewest):
    points = (rng.integers(0, 64, (300, 2)) / 64).astype(dtype)
    tree = sapwood.Tree(points)
    found = tree.clusters(0.0625, fewest=fewest)
    labels, kinds, count = brute_clusters(points.astype(float), 0.0625, fewest)
    assert np.array_equal(found.labels, labels) and np.array_equal(found.kinds, kinds) and found.cluster_count == count > 1
    large = tree.clusters(0.0625, fewest=fewest, least=10)
    assert large.cluster_count == sum(np.bincount(labels[labels >= 0]) >= 10)
    out = np.empty(300, np.int32), np.empty(300, np.uint8)
    assert tree.clusters(0.0625, fewest=fewest, out=out).labels is out[0] and np.array_equal(out[1], kinds)
    assert tree.clusters(0.0625, out=(out[0], None)).kinds is None


@pytest.mark.parametrize("dtype", FLOATS)
def test_samples(rng, dtype):
    points = rng.random((300, 3)).astype(dtype)
    tree = sapwood.Tree(points)
    for start in (0, 17):
        chosen, distance2 = [start], ((points - points[start]) ** 2).sum(1)
        while len(chosen) < 40:
            chosen.append(int(np.argmax(distance2)))
            distance2 = np.minimum(distance2, ((points - points[chosen[-1]]) ** 2).sum(1))
        assert tree.sample(40, start=start).tolist() == chosen
    assert sorted(tree.sample(10**12).tolist()) == list(range(300))
    ids = tree.sample(radius=0.3)
    assert ids.dtype == np.int32 and (np.diff(ids) > 0).all()
    own = ((points[ids][:, None] - points[ids][None]) ** 2).sum(2)
    assert (own[~np.eye(len(ids), dtype=bool)] > 0.3**2 * (1 - 1e-6)).all()
    assert (((points[:, None] - points[ids][None]) ** 2).sum(2).min(1) <= 0.3**2 * (1 + 1e-6)).all()
    assert tree.sample(radius=0.3, seed=1).tolist() != ids.tolist() and tree.sample(radius=0.3, seed=0).tolist() == ids.tolist()


# ---- Clouds of clouds


@pytest.mark.parametrize("dtype", FLOATS)
def test_voxels_by_brute_force(rng, dtype):
    points = rng.integers(0, 256, (500, 3)).astype(dtype) / 64
    colors = rng.integers(0, 256, (500, 3)).astype(np.float32)
    found = sapwood.voxels(points, [1, 0.5, 2], origin=[0.25, 0, 0], attributes=colors)
    cells = np.floor((points.astype(float) - [0.25, 0, 0]) / [1, 0.5, 2]).astype(int)
    unique, first, which, counts = np.unique(cells[:, ::-1], axis=0, return_index=True, return_inverse=True, return_counts=True)
    which = which.reshape(-1)
    assert np.array_equal(found.cell_of, which) and np.array_equal(found.counts, counts) and np.array_equal(found.ids, first)
    means = np.array([points[which == c].astype(float).mean(0) for c in range(len(unique))])
    assert found.points.dtype == dtype and np.allclose(found.points, means, rtol=1e-6)
    assert np.allclose(found.attributes, [colors[which == c].mean(0) for c in range(len(unique))], rtol=1e-5)
    assert found.normals is None
    chosen = sapwood.voxels(points, [1, 0.5, 2], origin=[0.25, 0, 0], point="first", normals=np.tile([0, 0, 2.0], (500, 1)),
                            attributes=colors[:, 0])
    assert np.array_equal(chosen.points, points[first]) and np.array_equal(chosen.attributes, colors[first, 0])
    assert chosen.normals.shape == (len(first), 3)
    many = sapwood.voxels(points, 1.0, fewest=9)
    assert (many.counts >= 9).all() and (many.cell_of == -1).any()
    assert sapwood.voxels(points[:, :1], 1.0).points.shape == (4, 1)
    assert sapwood.voxels(np.zeros((0, 3)), 1.0).points.shape == (0, 3)
    points[3] = np.nan
    assert sapwood.voxels(points, 1.0, drop_nonfinite=True).cell_of[3] == -1
    with pytest.raises(sapwood.NotFiniteError, match="3"):
        sapwood.voxels(points, 1.0)


def test_results_outlive_what_they_lie_in(rng):
    means = sapwood.voxels(rng.random((1000, 3)), 0.1).points
    kept = means.copy()
    [sapwood.voxels(rng.random((1000, 3)), 0.1) for _ in range(20)]
    assert np.array_equal(means, kept)


def test_relax(rng):
    points = (rng.random((500, 3)) * [1, 1, 0]).astype(np.float32)
    found = sapwood.relax(points, steps=8, more=100, normals=True)
    assert found.points.shape == found.normals.shape == (600, 3) and found.steps == 8 and found.movement > 0
    assert not found.points[:, 2].any() and (found.normals == [0, 0, 1]).all()
    assert sapwood.Tree(found.points).density("distance").min() > 5 * sapwood.Tree(points).density("distance").min()
    one = sapwood.relax(points, steps=8, threads=1)
    assert np.array_equal(one.points, sapwood.relax(points, steps=8, threads=2).points) and one.normals is None
    soon = sapwood.relax(points, steps=500, tolerance=0.5)
    assert soon.steps < 500 and soon.range > 0


def test_project(rng):
    points = rng.normal(size=(4000, 3))
    points = (points / np.linalg.norm(points, axis=1)[:, None] * rng.normal(1, 0.03, 4000)[:, None]).astype(np.float32)
    found = sapwood.project(points, radius=0.5)
    off = np.abs(np.linalg.norm(found.points, axis=1) - 1)
    assert found.points.shape == (200, 3) and found.points.dtype == np.float32 and off.max() < 0.06 and off.mean() < 0.02
    assert found.steps == 35 and found.radius == 0.5 and found.movement > 0
    assert np.array_equal(found.points, sapwood.project(points, 200, radius=0.5, threads=2).points)
    assert sapwood.Tree(found.points).density("distance").min() > 0.05
    few = sapwood.project(points, starts=points[:14:2], radius=0.5, push=1e-9, tolerance=0.01, by_density=True, median=True)
    assert few.points.shape == (7, 3) and few.steps < 35
    assert sapwood.project(points).radius > 0
    assert sapwood.project(points[:0]).points.shape == (0, 3)


@pytest.mark.parametrize("dtype", FLOATS)
def test_transform(rng, dtype):
    points, matrix = rng.random((100, 3)).astype(dtype), turn(0.3, [1, 2, 3])
    matrix[:3, 3] = 4, 5, 6
    wide = points.astype(float)
    m = matrix
    expected = np.stack([((m[r, 0] * wide[:, 0] + m[r, 1] * wide[:, 1]) + m[r, 2] * wide[:, 2]) + m[r, 3] for r in range(3)], 1)
    moved = sapwood.transform(points, matrix)
    assert moved.dtype == dtype and np.array_equal(moved, expected.astype(dtype))
    assert np.array_equal(sapwood.transform(points[3], matrix), moved[3])
    assert np.array_equal(sapwood.transform(points[::2], matrix), moved[::2])
    out = points.copy()
    assert sapwood.transform(out, matrix, out=out) is out and np.array_equal(out, moved)
    for bad, error in ((np.eye(3), sapwood.ArgumentError), (np.diag([1, 1, 1, 2]), sapwood.ArgumentError),
                       (np.full((4, 4), np.nan), sapwood.NotFiniteError), ("a", TypeError), (None, TypeError)):
        with pytest.raises(error):
            sapwood.transform(points, bad)
    with pytest.raises(sapwood.ArgumentError):
        sapwood.transform(points[:, :2], matrix)
    nothing = sapwood.Tree(points).shapes(())
    assert set(nothing) == {None} and set(sapwood.Tree(points).gather(points, only=())) == {None}


# ---- Distances


@pytest.mark.parametrize("dtype", FLOATS)
def test_distance(rng, dtype):
    points, others = rng.random((300, 3)).astype(dtype), rng.random((200, 3)).astype(dtype) + dtype(0.1)
    tree, other = sapwood.Tree(points), sapwood.Tree(others)
    expected = np.sqrt(tree.nearest(others).distances2[:, 0].astype(float))
    found = tree.distance(others, quantile=0.9)
    assert found.distances.dtype == float and np.array_equal(found.distances, expected) and found.counted == 200
    assert np.isclose(found.mean, expected.mean(), rtol=1e-12) and np.isclose(found.mean_square, (expected**2).mean(), rtol=1e-12)
    assert found.greatest == expected.max() == expected[found.farthest] and found.quantile == np.sort(expected)[179]
    near = tree.distance(others, radius=0.1)
    assert np.array_equal(near.distances, np.where(expected <= 0.1, expected, np.inf)) and near.counted == (expected <= 0.1).sum()
    assert tree.distance(others, distances=False).distances is None
    out = np.empty(200)
    assert tree.distance(others, out=out).distances is out and np.array_equal(out, expected)
    both = tree.compare(other, quantile=0.5)
    assert np.array_equal(both.back.distances, expected) and both.forth.distances.shape == (300,)
    assert both.hausdorff == max(both.forth.greatest, both.back.greatest) and both.chamfer == both.forth.mean + both.back.mean
    assert both.chamfer_square == both.forth.mean_square + both.back.mean_square
    assert both.quantile == max(both.forth.quantile, both.back.quantile)
    assert tree.compare(other, distances=False).forth.distances is None
    nothing = tree.distance(np.zeros((0, 3), dtype))
    assert nothing.counted == 0 and nothing.farthest == -1 and nothing.mean == 0


CORNERS = np.array([[0, 0, 0], [4, 0, 0], [0, 3, 0], [0, 0, 2]], np.float32)
SIDES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], np.int32)
FAR = np.array([481234.5, 5431234.25, 100.0])


def test_distance_to_a_mesh(rng):
    tree = sapwood.MeshTree(CORNERS, SIDES)
    points = (rng.random((500, 3)) * 4 - 1).astype(np.float32)
    closest, inside = tree.closest(points), tree.inside(points)
    found = tree.distance(points)
    assert np.allclose(found.distances, closest.distance, rtol=1e-6) and found.counted == 500
    signed = tree.distance(points, signed=True)
    assert np.array_equal(signed.distances, np.where(inside, -found.distances, found.distances)) and inside.any()
    assert signed.bias < signed.mean == found.mean
    far = sapwood.MeshTree(CORNERS.astype(float) + FAR, SIDES)
    assert any(far.origin)
    assert np.allclose(far.distance(points + FAR).distances, found.distances, atol=1e-5)


# ---- Alignment


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("method", ["point", "plane", "generalised"])
def test_align(rng, sphere, dtype, method):
    points = (sphere[1] * [1, 2, 3] + 0.1 * np.sin(9 * sphere[1]) + 5).astype(dtype)
    motion = turn(0.02, [1, 2, 3])
    motion[:3, 3] = -0.1, 0.05, 0.02
    source = sapwood.transform(points, np.linalg.inv(motion))
    tree = sapwood.Tree(points)
    found = tree.align(source, method, iterations=300, tolerance=1e-9)
    assert found.reason == ("converged" if found.converged else "iterations") and found.pairs == len(points)
    assert np.allclose(found.transform, motion, atol=1e-4 if dtype == np.float32 else 1e-6)
    assert found.fitness == 1 and found.rmse < 1e-3 and found.inlier_rmse == found.rmse
    assert found.transformation is found.transform and np.array_equal(found.apply(source), sapwood.transform(source, found.transform))
    assert found.information.shape == (6, 6) and np.array_equal(found.information, found.information.T)
    assert found.strengths.shape == (6,) and found.directions.shape == (6, 6) and found.center.shape == (3,)
    there = tree.align(source, method, start=motion)
    assert there.iterations <= 3 and np.allclose(there.transform, motion, atol=1e-4)
    given = tree.align(source, method, normals=tree.normals().normals, iterations=5)
    assert given.iterations <= 5


def test_how_to_align(rng, sphere):
    points = sphere[0] * [1, 2, 3]
    tree = sapwood.Tree(points)
    source = np.concatenate([points[:2000] + 0.02, points[:100] + 9])
    for more in ({"overlap": 0.9}, {"overlap": "find"}, {"max_distance": 0.5}, {"kernel": "tukey"}, {"kernel": "huber", "kernel_scale": 0.1},
                 {"max_angle": 0.5}, {"one_to_one": True, "max_distance": 0.5}, {"levels": 2, "overlap": 0.9}, {"normals_k": 8, "max_angle": 1}):
        found = tree.align(source, **more)
        assert np.isfinite(found.transform).all() and found.pairs > 0
        if "overlap" in more or "max_distance" in more:
            assert abs(found.transform[:3, 3] + 0.02).max() < 5e-3 and found.fitness < 1, more
    assert tree.align(source, overlap=0.9).overlap == 0.9 and tree.align(source, kernel="cauchy").kernel_scale > 0
    lost = tree.align(source + 1000, max_distance=1)
    assert lost.reason == "no pairs" and not lost.converged and np.array_equal(lost.transform, np.eye(4))
    plane = sapwood.Tree(rng.random((500, 3)) * [1, 1, 0])
    assert plane.align(rng.random((300, 3)) * [1, 1, 0] + [0, 0, 0.01], "plane").undetermined == 3
    source[5] = np.nan
    with pytest.raises(sapwood.NotFiniteError, match="5"):
        tree.align(source)
    assert tree.align(source, drop_nonfinite=True, overlap=0.9).pairs > 0


def test_align_with_a_mesh(rng):
    tree, far = sapwood.MeshTree(CORNERS, SIDES), sapwood.MeshTree(CORNERS.astype(float) + FAR, SIDES)
    on = np.asarray(tree.closest(rng.random((2000, 3)) * 4).point, float)
    motion = turn(0.03, [3, 1, 2])
    motion[:3, 3] = 0.05, 0, 0.02
    source = sapwood.transform(on, np.linalg.inv(motion))
    found = tree.align(source, "plane", tolerance=1e-9)
    assert np.allclose(found.transform, motion, atol=1e-4) and found.rmse < 1e-4
    there = far.align(source + FAR, "plane", tolerance=1e-9)
    assert np.allclose(there.apply(source + FAR), on + FAR, atol=1e-3) and np.allclose(there.center - FAR, found.center, atol=1e-3)
    again = far.align(source + FAR, "plane", start=there.transform)
    assert again.iterations <= 3 and np.allclose(again.apply(source + FAR), on + FAR, atol=1e-3)
    with pytest.raises(sapwood.ArgumentError, match="start"):
        far.align(source + FAR, start=np.eye(3))


def bumpy(rng, count):
    """Points of a ball with bumps of many sizes: nowhere does it look as elsewhere."""
    on = rng.standard_normal((count, 3))
    on /= np.linalg.norm(on, axis=1)[:, None]
    waves = np.array([[3, 1, 2], [1, 5, 2], [4, 2, 7], [8, 3, 1.0]])
    return on * (1 + 0.1 * np.sin(on @ waves.T + [0, 1, 2, 3]).sum(1))[:, None] * [1, 1.3, 1.7]


@pytest.mark.parametrize("dtype", FLOATS)
def test_align_from_anywhere(rng, dtype):
    points = bumpy(rng, 12000)
    motion = turn(2.5, [1, -2, 3])
    motion[:3, 3] = 30, -20, 10
    part = points[::2][points[::2, 0] > -0.4]
    tree = sapwood.Tree(points[1::2].astype(dtype))
    found = tree.align(sapwood.transform(part, np.linalg.inv(motion)).astype(dtype), "plane", start="global")
    assert np.allclose(found.transform, motion, atol=0.02) and found.reason == "converged"
    lost = tree.align(rng.random((4000, 3)).astype(dtype), start="global")
    assert lost.reason == "no pairs" and np.array_equal(lost.transform, np.eye(4)) and lost.undetermined == 6
    with pytest.raises(sapwood.ArgumentError, match="start must be one of 'global'"):
        tree.align(part.astype(dtype), start="local")


def test_align_with_a_mesh_from_anywhere(rng):
    corners = bumpy(rng, 3000)
    hull = pytest.importorskip("scipy.spatial").ConvexHull(corners / np.linalg.norm(corners, axis=1)[:, None])
    source = bumpy(rng, 8000)
    motion = turn(2, [1, 2, -1])
    for origin in (np.zeros(3), FAR):
        tree = sapwood.MeshTree(corners + origin, hull.simplices.astype(np.int32))
        found = tree.align(sapwood.transform(source, np.linalg.inv(motion)) + origin, "plane", start="global")
        moved = found.apply(sapwood.transform(source, np.linalg.inv(motion)) + origin)
        assert np.abs(moved - (source + origin)).max() < 0.1


def test_motions_that_fit_as_well(rng):
    def shape(kind):
        on = rng.standard_normal((5000, 3)) if kind == "ball" else rng.uniform(-1, 1, (5000, 3))
        size = np.linalg.norm(on, axis=1) if kind == "ball" else abs(on).max(1)
        return (on / size[:, None] + 0.01 * rng.standard_normal(on.shape)).astype(np.float32)

    for kind in "ball", "cube":
        target, source = shape(kind), shape(kind)
        found = sapwood.Tree(target).align(sapwood.transform(source, turn(1, [1, 2, 3])), start="global")
        assert found.rivals > 0 and (kind == "ball" or found.reason != "no pairs")
        assert sapwood.Tree(target).align(source).rivals == 0  # nobody looked
    pair = sapwood.align_many([target, source], starts="global").pairs[0]
    assert pair.found and pair.alignment.rivals > 0
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], np.float32)
    sides = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    mesh = sapwood.MeshTree(corners, [[a, b, c] for a, b, c, _ in sides] + [[a, c, d] for a, _, c, d in sides])
    assert mesh.align(source, start="global").rivals > 0
    stone = bumpy(rng, 12000)
    found = sapwood.Tree(stone[::2]).align(sapwood.transform(stone[1::2], turn(2, [1, 2, 3])), start="global")
    assert found.rivals == 0 and found.reason != "no pairs"


def scans(rng, count, angle):
    """A bumpy thing seen from several sides, each time turned and shifted, and the motions that put all together."""
    clouds, motions = [], []
    for i in range(count):
        points = bumpy(rng, 9000)
        side = np.array([np.cos(i), np.sin(i), 0.3])
        motion = turn(angle * i, [1, i, 2])
        motion[:3, 3] = angle * np.array([1, -2, 0.5]) * i
        clouds.append(sapwood.transform(points[points @ side > -0.4], np.linalg.inv(motion)).astype(np.float32))
        motions.append(motion)
    return clouds, np.array(motions)


def test_many_clouds(rng):
    clouds, motions = scans(rng, 4, 0.03)
    far = clouds[0] + np.float32(1000)
    found = sapwood.align_many([*clouds, far], "plane", max_distance=0.2)
    assert found.transforms.shape == (5, 4, 4) and found.transforms.dtype == np.float64
    assert np.array_equal(found.transforms[0], np.eye(4)) and np.array_equal(found.transforms[4], np.eye(4))
    assert np.allclose(found.transforms[:4], motions, atol=0.02)
    assert found.groups.dtype == np.int32 and found.groups.tolist() == [0, 0, 0, 0, 1]
    assert [pair[:2] for pair in found.pairs] == [(source, target) for source in range(5) for target in range(source)]
    for pair in found.pairs:
        assert type(pair) is sapwood.AlignedPair and pair.found == pair.kept == (pair.source < 4)
        assert (0.25 <= pair.weight <= 1 and pair.residual < 0.02 and pair.alignment.fitness >= 0.1) if pair.found else (
            pair.alignment is None and pair.weight == pair.residual == 0)
    one = sapwood.Tree(clouds[1]).align(clouds[2], "plane", max_distance=0.2)
    assert all(np.array_equal(a, b) for a, b in zip(found.pairs[2].alignment, one))
    again = sapwood.align_many(iter([*clouds, far]), "plane", max_distance=0.2, threads=1)
    assert np.array_equal(again.transforms, found.transforms)


def test_many_clouds_and_where_they_begin(rng):
    clouds, motions = scans(rng, 3, 1.5)
    assert len(set(sapwood.align_many(clouds, max_distance=0.05).groups)) > 1  # they are too far apart for that
    begun = sapwood.align_many(clouds, "plane", starts=motions, overlap="find")
    anywhere = sapwood.align_many(clouds, "plane", starts="global")
    for found in (begun, anywhere):
        assert found.groups.tolist() == [0, 0, 0] and np.allclose(found.transforms, motions, atol=0.03)
    some = sapwood.align_many(clouds, "plane", starts=motions, pairs=np.array([[2, 0, 9], [1, 2, 9]], np.int32)[:, :2])
    assert [pair[:2] for pair in some.pairs] == [(2, 0), (1, 2)] and some.groups.tolist() == [0, 0, 0]
    none = sapwood.align_many(clouds, starts=motions, pairs=[])
    assert none.pairs == [] and none.groups.tolist() == [0, 1, 2] and np.allclose(none.transforms, motions)
    picky = sapwood.align_many(clouds, "plane", starts=motions, max_distance=0.1, least_overlap=0.999, scale=0.1)
    assert not any(pair.found for pair in picky.pairs)


def test_few_clouds():
    nothing = sapwood.align_many([])
    assert nothing.transforms.shape == (0, 4, 4) and nothing.groups.shape == (0,) and nothing.pairs == []
    alone = sapwood.align_many(np.zeros((1, 5, 3)))
    assert np.array_equal(alone.transforms, [np.eye(4)]) and alone.groups.tolist() == [0]
    empty = sapwood.align_many([np.zeros((0, 3)), ONES])
    assert empty.groups.tolist() == [0, 1] and not empty.pairs[0].found
    holes = sapwood.align_many([[[np.nan, 0, 0], *np.eye(3)], np.eye(3)], drop_nonfinite=True)
    assert holes.groups.tolist() == [0, 0]
    done = []
    sapwood.align_many([ONES, ONES], progress=done.append)
    assert done[-1] == 1
    with pytest.raises(sapwood.CancelledError):
        sapwood.align_many([ONES, ONES], progress=lambda part: False)


@pytest.mark.parametrize("dtype", FLOATS)
def test_features(rng, dtype):
    points = bumpy(rng, 3000).astype(dtype)
    tree = sapwood.Tree(points)
    features = tree.features()
    assert features.shape == (3000, 33) and features.dtype == np.float32
    assert np.allclose(features.reshape(-1, 3, 11).sum(2), 100, rtol=1e-3)  # percent
    out = np.empty((3000, 33), np.float32)
    assert tree.features(k=20, out=out) is out and not np.array_equal(out, features)
    given = tree.features(normals=tree.normals(k=16).normals)
    assert np.array_equal(given, features)
    assert np.array_equal(tree.features(normals=-tree.normals(k=16).normals), features)
    assert not np.array_equal(tree.features(normals=tree.normals(k=16).normals, oriented=True), features)
    assert np.isfinite(tree.features(radius=0.1)).all()


# ---- Names that others use


def test_names_of_open3d(rng):
    points = rng.random((500, 3))
    tree = sapwood.Tree(points)
    assert np.array_equal(sapwood.estimate_normals(points, 0.2, 30), tree.normals(k=30, radius=0.2).normals)
    assert np.array_equal(sapwood.estimate_normals(tree), tree.normals(k=30).normals)
    kept, ids = sapwood.remove_statistical_outlier(points, 10, 1.5)
    assert np.array_equal(ids, np.flatnonzero(tree.outliers(k=9, ratio=1.5).keep)) and np.array_equal(kept, points[ids])
    kept, ids = sapwood.remove_radius_outlier(points, 4, 0.1)
    assert np.array_equal(ids, np.flatnonzero(tree.count_within(points, 0.1) > 4)) and np.array_equal(kept, points[ids])
    assert np.array_equal(sapwood.cluster_dbscan(points, 0.1, 5), tree.clusters(0.1, fewest=5).labels)
    assert len(sapwood.voxel_down_sample(points, 0.25)) <= 125
    assert np.array_equal(sapwood.farthest_point_down_sample(points, 20), points[tree.sample(20)])
    assert np.array_equal(sapwood.compute_point_cloud_distance(points + 1, points), tree.distance(points + 1).distances)
    assert sapwood.registration_icp(points[:100], points, 0.1, max_iteration=3).iterations <= 3


# ---- What cannot be


TREE = sapwood.Tree(np.random.default_rng(5).random((60, 3)))
FLAT = sapwood.Tree(np.random.default_rng(5).random((60, 2)))
AROUND = sapwood.Tree(np.random.default_rng(5).random((60, 3)), period=1)
MESH = sapwood.MeshTree(CORNERS, SIDES)
ONES = np.ones((60, 3), np.float32)


@pytest.mark.parametrize("call, error, says", [
    (lambda: TREE.normals(k=0), sapwood.ArgumentError, "k must be"),
    (lambda: TREE.normals(k=2.5), TypeError, "k must be"),
    (lambda: TREE.normals(radius=0), sapwood.ArgumentError, "radius must be above 0"),
    (lambda: TREE.normals(radius=np.nan), sapwood.ArgumentError, "radius must be above 0"),
    (lambda: TREE.normals(falloff="linear"), sapwood.ArgumentError, "falloff must be one of"),
    (lambda: TREE.normals(falloff="biweight"), sapwood.ArgumentError, "falloff: needs a finite radius"),
    (lambda: TREE.normals(weights=np.ones(3)), sapwood.ArgumentError, "weights has 3 rows, and there are 60 points"),
    (lambda: TREE.normals(weights=np.full(60, -1.0)), sapwood.ArgumentError, r"weights\[0\]: -1 is negative"),
    (lambda: TREE.normals(weights=np.full(60, np.inf)), sapwood.NotFiniteError, "weights"),
    (lambda: TREE.normals(orient="up"), sapwood.ArgumentError, "orient must be one of"),
    (lambda: TREE.normals(orient="view"), sapwood.ArgumentError, "orient='view' needs view"),
    (lambda: TREE.normals(orient="axis", view=[0, 0, 1]), sapwood.ArgumentError, "view is not for orient='axis'"),
    (lambda: TREE.normals(view=[0, 0]), sapwood.ArgumentError, "view has 2 rows, and there are 3 axes"),
    (lambda: TREE.normals(view=[0, 0, np.nan]), sapwood.NotFiniteError, "view"),
    (lambda: TREE.normals(views=np.zeros((2, 3))), sapwood.ArgumentError, "views has 2 rows"),
    (lambda: TREE.normals(views=np.zeros((60, 2))), sapwood.ArgumentError, "views has 2 columns, not 3"),
    (lambda: TREE.normals(views=np.zeros((2, 3)), view_times=[0, 1]), sapwood.ArgumentError, "needs views, view_times and"),
    (lambda: TREE.normals(views=np.zeros((2, 3)), view_times=[1, 0], point_times=np.ones(60)), sapwood.ArgumentError, "before"),
    (lambda: TREE.normals(graph_k=3), sapwood.ArgumentError, "graph_k is not for orient='axis'"),
    (lambda: TREE.normals(out=ONES), TypeError, "out must be a tuple of 2 arrays"),
    (lambda: TREE.normals(out=(ONES[:5], None)), sapwood.ArgumentError, "out"),
    (lambda: TREE.normals(out=(ONES.astype(float), None)), TypeError, "out"),
    (lambda: TREE.normals(5), TypeError, "positional"),
    (lambda: TREE.normals(progress=5), TypeError, "progress"),
    (lambda: FLAT.normals(), sapwood.ArgumentError, "dimensions"),
    (lambda: AROUND.normals(), sapwood.UnsupportedError, "period"),
    (lambda: TREE.shapes(["normals", "beauty"]), sapwood.ArgumentError, "only must be one of"),
    (lambda: TREE.shapes([3]), TypeError, "only must be words"),
    (lambda: TREE.orient(None), TypeError, "normals must be an array"),
    (lambda: TREE.orient(ONES[:3]), sapwood.ArgumentError, "normals has 3 rows"),
    (lambda: TREE.orient(ONES * np.nan), sapwood.NotFiniteError, "normals"),
    (lambda: TREE.gather(ONES, attributes=np.ones((3, 2))), sapwood.ArgumentError, "attributes has 3 rows"),
    (lambda: TREE.gather(ONES, attributes=np.ones((60, 0))), sapwood.ArgumentError, "no columns"),
    (lambda: TREE.gather(ONES, only="attributes"), sapwood.ArgumentError, "there are none"),
    (lambda: TREE.gather(ONES[:, :2]), sapwood.ArgumentError, "queries"),
    (lambda: TREE.gather_self(ONES), TypeError, "positional"),
    (lambda: TREE.density(), sapwood.ArgumentError, "takes a radius"),
    (lambda: TREE.density(radius=np.inf), sapwood.ArgumentError, "radius"),
    (lambda: TREE.density("distance", radius=1), sapwood.ArgumentError, "takes k"),
    (lambda: TREE.density(radius=1, dims=2), sapwood.ArgumentError, "dims is for"),
    (lambda: TREE.density("kernel", radius=1, dims=4), sapwood.ArgumentError, "dims: 4 is not 1 to 3"),
    (lambda: TREE.outliers("radius"), sapwood.ArgumentError, "takes a radius"),
    (lambda: TREE.outliers("statistical", radius=1), sapwood.ArgumentError, "no radius"),
    (lambda: TREE.outliers(ratio=-1), sapwood.ArgumentError, "ratio must be above 0"),
    (lambda: TREE.clusters(-1), sapwood.ArgumentError, "radius"),
    (lambda: TREE.clusters(None), TypeError, "radius must be a number"),
    (lambda: TREE.clusters(1, fewest=0), sapwood.ArgumentError, "fewest must be"),
    (lambda: TREE.sample(), sapwood.ArgumentError, "either count"),
    (lambda: TREE.sample(3, radius=1), sapwood.ArgumentError, "either count"),
    (lambda: TREE.sample(0), sapwood.ArgumentError, "count must be"),
    (lambda: TREE.sample(3, start=60), sapwood.ArgumentError, "start: there is no point 60"),
    (lambda: AROUND.sample(3), sapwood.UnsupportedError, "period"),
    (lambda: TREE.distance(ONES, quantile=1.5), sapwood.ArgumentError, "quantile must be from 0 to 1"),
    (lambda: TREE.distance(ONES[0]), sapwood.ArgumentError, "points must have 2 dimensions"),
    (lambda: TREE.compare(ONES), TypeError, "other must be a sapwood.Tree"),
    (lambda: TREE.compare(FLAT), sapwood.ArgumentError, "dimensions"),
    (lambda: sapwood.MeshTree(CORNERS, SIDES[:3]).distance(ONES[:, :2]), sapwood.ArgumentError, "points"),
    (lambda: TREE.align(ONES, "magic"), sapwood.ArgumentError, "method must be one of"),
    (lambda: TREE.align(ONES, start=np.diag([2, 1, 1, 1])), sapwood.ArgumentError, "start: is no turn and shift"),
    (lambda: TREE.align(ONES, start=np.eye(3)), sapwood.ArgumentError, "start must be a matrix of 4 x 4"),
    (lambda: TREE.align(ONES, overlap=2), sapwood.ArgumentError, "overlap"),
    (lambda: TREE.align(ONES, overlap="guess"), sapwood.ArgumentError, "overlap must be one of 'find'"),
    (lambda: TREE.align(ONES, kernel_scale=1), sapwood.ArgumentError, "kernel_scale is for a kernel"),
    (lambda: TREE.align(ONES, source_normals=ONES[:4]), sapwood.ArgumentError, "source_normals has 4 rows"),
    (lambda: TREE.align(ONES[:, :2]), sapwood.ArgumentError, "source"),
    (lambda: FLAT.align(ONES[:, :2]), sapwood.ArgumentError, "3"),
    (lambda: MESH.align(ONES, levels=9), sapwood.ArgumentError, "levels must be from 1 to 8"),
    (lambda: sapwood.align_many(5), TypeError, "clouds must be a sequence of arrays, not <class 'int'>"),
    (lambda: sapwood.align_many("scans"), TypeError, "clouds must be a sequence"),
    (lambda: sapwood.align_many(ONES), sapwood.ArgumentError, r"clouds\[0\] must have 2 dimensions, not 1"),
    (lambda: sapwood.align_many([ONES, [["a"]]]), TypeError, r"clouds\[1\]"),
    (lambda: sapwood.align_many([ONES, ONES[:, :2]]), sapwood.ArgumentError, "points of cloud 1 have 2 dimensions, not 3"),
    (lambda: sapwood.align_many([ONES, ONES * np.nan]), sapwood.NotFiniteError, "point 0"),
    (lambda: sapwood.align_many([ONES[:1]] * 1001), sapwood.RangeError, "at most 1000"),
    (lambda: sapwood.align_many([ONES], "magic"), sapwood.ArgumentError, "method must be one of"),
    (lambda: sapwood.align_many([ONES], pairs=[[0, 0]]), sapwood.ArgumentError, "pairs: pair 0, 0 and 0, is not of two clouds"),
    (lambda: sapwood.align_many([ONES] * 2, pairs=[[0, 2]]), sapwood.ArgumentError, "is not of two clouds"),
    (lambda: sapwood.align_many([ONES] * 2, pairs=[0, 1]), sapwood.ArgumentError, "rows of two numbers"),
    (lambda: sapwood.align_many([ONES] * 2, pairs=[[0.5, 1]]), TypeError, "pairs must be an array of int32"),
    (lambda: sapwood.align_many([ONES] * 2, pairs=[[2**40, 1]]), sapwood.ArgumentError, "pairs has numbers that int32 cannot hold"),
    (lambda: sapwood.align_many([ONES] * 2, starts=[np.eye(4)]), sapwood.ArgumentError, "starts must be 2 matrices of 4 x 4"),
    (lambda: sapwood.align_many([ONES] * 2, starts=[np.eye(4), 2 * np.eye(4)]), sapwood.ArgumentError, "start"),
    (lambda: sapwood.align_many([ONES] * 2, starts="local"), sapwood.ArgumentError, "starts must be one of 'global'"),
    (lambda: sapwood.align_many([ONES] * 2, least_overlap=2), sapwood.ArgumentError, "least_overlap: 2 is not between 0 and 1"),
    (lambda: sapwood.align_many([ONES] * 2, scale=0), sapwood.ArgumentError, "scale must be above 0"),
    (lambda: sapwood.align_many([ONES] * 2, scale="big"), TypeError, "scale must be a number, not str"),
    (lambda: sapwood.align_many([ONES] * 2, kernel_scale=1), sapwood.ArgumentError, "kernel_scale is for a kernel"),
    (lambda: sapwood.align_many([ONES] * 2, progress=5), TypeError, "progress must be a function"),
    (lambda: sapwood.voxels(ONES, 0), sapwood.ArgumentError, "size"),
    (lambda: sapwood.voxels(ONES, [1, 2]), sapwood.ArgumentError, "size must be a number, or one number for each of the 3 axes"),
    (lambda: sapwood.voxels(ONES, 1, point="best"), sapwood.ArgumentError, "point must be one of"),
    (lambda: sapwood.voxels(ONES, 1, attributes=np.ones(3)), sapwood.ArgumentError, "attributes has 3 rows"),
    (lambda: sapwood.voxels(ONES, 1e-30), sapwood.RangeError, "size"),
    (lambda: sapwood.relax(ONES[:, :2]), sapwood.ArgumentError, "points"),
    (lambda: sapwood.relax(ONES * np.nan), sapwood.NotFiniteError, "point 0"),
    (lambda: sapwood.relax(ONES, step=3), sapwood.ArgumentError, "step"),
    (lambda: sapwood.relax(ONES, more=10**6), sapwood.ArgumentError, "more"),
    (lambda: sapwood.project(ONES[:, :2]), sapwood.ArgumentError, "points"),
    (lambda: sapwood.project(ONES * np.nan), sapwood.NotFiniteError, "point 0"),
    (lambda: sapwood.project(ONES, 10**6), sapwood.ArgumentError, "count"),
    (lambda: sapwood.project(ONES, 1, starts=ONES), sapwood.ArgumentError, "count and starts"),
    (lambda: sapwood.project(ONES, starts=ONES[:, :2]), sapwood.ArgumentError, "starts has 2 columns"),
    (lambda: sapwood.project(ONES, starts=ONES * np.inf), sapwood.NotFiniteError, "starts"),
    (lambda: sapwood.project(ONES, starts=ONES[:0]), sapwood.ArgumentError, "starts"),
    (lambda: sapwood.project(ONES, push=0.7), sapwood.ArgumentError, "push"),
    (lambda: sapwood.project(ONES, radius=-1), sapwood.ArgumentError, "radius"),
    (lambda: sapwood.remove_statistical_outlier(ONES, 1), sapwood.ArgumentError, "nb_neighbors"),
    (lambda: sapwood.voxel_down_sample(ONES, 0), sapwood.ArgumentError, "voxel_size"),
    (lambda: sapwood.Tree.__new__(sapwood.Tree).normals(), sapwood.ArgumentError, "has not been built"),
])  # fmt: skip
def test_wrong_arguments(call, error, says):
    with pytest.raises(error, match=says):
        call()


# ---- Threads, signals, progress


LARGE_POINTS = np.random.default_rng(2).random((150_000, 3), dtype=np.float32)
LARGE = sapwood.Tree(LARGE_POINTS)
CALLS = {
    "normals": lambda **more: LARGE.normals(k=64, **more),
    "consistent": lambda **more: LARGE.normals(k=16, orient="consistent", **more),
    "gather": lambda **more: LARGE.gather_self(k=64, **more),
    "density": lambda **more: LARGE.density("distance", k=64, **more),
    "clusters": lambda **more: LARGE.clusters(0.03, fewest=10, **more),
    "sample": lambda **more: LARGE.sample(20_000, **more),
    "project": lambda **more: sapwood.project(LARGE_POINTS, radius=0.1, steps=100, **more),
    "align": lambda **more: LARGE.align(np.random.default_rng(3).random((100_000, 3)), "plane", iterations=100, tolerance=1e-15, **more),
}


@pytest.mark.parametrize("name", CALLS)
def test_progress_stops_a_call(name):
    told = []
    with pytest.raises(sapwood.CancelledError):
        CALLS[name](progress=lambda done: told.append(done) or False)
    assert len(told) == 1 and 0 <= told[0] <= 1

    def fail(done):
        raise LookupError(done)

    with pytest.raises(LookupError):
        CALLS[name](progress=fail)


def test_a_signal_stops_a_call():
    """As Ctrl-C does."""
    def strike(number, frame):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, strike)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        start = time.perf_counter()
        with pytest.raises(KeyboardInterrupt):
            while time.perf_counter() < start + 30:
                CALLS["align"]()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_other_threads_run_meanwhile():
    counted = 0
    working = threading.Thread(target=CALLS["normals"])
    working.start()
    while working.is_alive():
        counted += 1
    assert counted > 100


def test_results_do_not_depend_on_threads(rng):
    points = rng.random((20_000, 3)).astype(np.float32)
    one, two = sapwood.Tree(points, threads=1), sapwood.Tree(points, threads=2)
    for call in (lambda t: t.normals(radius=0.1, orient="consistent"), lambda t: t.gather_self(k=20), lambda t: t.outliers(),
                 lambda t: t.clusters(0.02, fewest=3), lambda t: t.align(points[::3] + np.float32(0.001), "plane")):
        for a, b in zip(call(one), call(two)):
            assert np.array_equal(a, b)
