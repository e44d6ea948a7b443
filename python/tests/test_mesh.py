"""Trees over triangles: against brute force, and what is given to them wrongly."""

import copy
import pickle
import threading

import numpy as np
import pytest

import sapwood

CUBE = np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)], np.float32)
CUBE_TRIANGLES = np.array([[0, 2, 1], [1, 2, 3], [4, 5, 6], [5, 7, 6], [0, 1, 4], [1, 5, 4],
                           [2, 6, 3], [3, 6, 7], [0, 4, 2], [2, 4, 6], [1, 3, 5], [3, 7, 5]], np.int32)


def random_mesh(rng, count=60):
    centers = rng.uniform(-1, 1, (count, 1, 3))
    vertices = (centers + rng.normal(0, 0.3, (count, 3, 3))).reshape(-1, 3).astype(np.float32)
    return vertices, np.arange(3 * count, dtype=np.int32).reshape(-1, 3)


def ball(side=12):
    z, y, x = np.mgrid[-side:side + 1, -side:side + 1, -side:side + 1]
    surface = sapwood.isosurface((side - 1.5) ** 2 - (x * x + y * y + z * z).astype(np.float32), 0.0,
                                 origin=(-side, -side, -side))
    return surface.vertices, surface.triangles


@pytest.fixture
def mesh(rng):
    return random_mesh(rng)


@pytest.fixture
def tree(mesh):
    return sapwood.MeshTree(*mesh)


def alone(vertices, triangles):
    """A tree for each triangle: what a search of one has to be put together from."""
    return [sapwood.MeshTree(vertices[corners], [[0, 1, 2]]) for corners in triangles]


# ---- Rays


def first_hits(trees, origins, directions, **limits):
    t = np.full(len(origins), np.inf, np.float32)
    u, v, triangle = np.zeros_like(t), np.zeros_like(t), np.full(len(origins), -1, np.int32)
    for i, one in enumerate(trees):
        hits = one.trace(origins, directions, **limits)
        nearer = hits.t < t
        t[nearer], u[nearer], v[nearer], triangle[nearer] = hits.t[nearer], hits.u[nearer], hits.v[nearer], i
    return t, triangle, u, v


def test_first_hits(rng, mesh, tree):
    origins, directions = rng.uniform(-3, 3, (500, 3)).astype(np.float32), rng.normal(size=(500, 3)).astype(np.float32)
    directions[::2] = -origins[::2] + rng.normal(0, 0.3, (250, 3))
    trees = alone(*mesh)
    for limits in ({}, {"tmin": 0.5}, {"tmax": 0.8}, {"tmin": rng.uniform(0, 1, 500), "tmax": rng.uniform(0, 3, 500)}):
        hits = tree.trace(origins, directions, **limits)
        for got, expected in zip(hits, first_hits(trees, origins, directions, **limits)):
            assert np.array_equal(got, expected)
        assert np.array_equal(tree.occluded(origins, directions, **limits), hits.triangle >= 0)
    assert (hits.triangle >= 0).sum() > 20


def test_hits_lie_on_their_triangles(rng, mesh, tree):
    """The formula of the documentation, in double precision."""
    origins, directions = rng.uniform(-3, 3, (300, 3)), rng.normal(size=(300, 3))
    directions[:200] = -origins[:200]
    t, triangle, u, v = tree.trace(origins, directions)
    hit = triangle >= 0
    assert 50 < hit.sum() < 300 and np.isinf(t[~hit]).all() and not u[~hit].any() and not v[~hit].any()
    corners = mesh[0][mesh[1][triangle[hit]]].astype(float)
    u, v = u[hit, None].astype(float), v[hit, None].astype(float)
    on_triangle = corners[:, 0] * (1 - u - v) + corners[:, 1] * u + corners[:, 2] * v
    on_ray = origins[hit] + directions[hit] * t[hit, None]
    assert np.abs(on_triangle - on_ray).max() < 1e-5
    # No other triangle is nearer: Möller and Trumbore.
    a, b, c = (mesh[0][mesh[1][:, i]].astype(float) for i in range(3))
    for origin, direction, found in zip(origins, directions, t):
        p = np.cross(direction, c - a)
        scale = np.einsum("ij,ij->i", b - a, p)
        s = origin - a
        q = np.cross(s, b - a)
        one, other = np.einsum("ij,ij->i", s, p) / scale, q @ direction / scale
        where = np.einsum("ij,ij->i", c - a, q) / scale
        hits = where[(one >= 0) & (other >= 0) & (one + other <= 1) & (where >= 0)]
        nearest = hits.min() if len(hits) else np.inf
        assert nearest == found or abs(nearest - found) < 1e-4


@pytest.mark.parametrize("limit", [None, 1, 2, 7])
def test_all_hits(rng, mesh, tree, limit):
    origins, directions = rng.uniform(-3, 3, (200, 3)), rng.normal(size=(200, 3))
    directions[::2] = -origins[::2]
    hits = tree.trace_all(origins, directions, limit=limit)
    single = [one.trace(origins, directions) for one in alone(*mesh)]
    assert hits.offsets.dtype == np.int64 and hits.offsets[0] == 0 and hits.offsets[-1] == len(hits.t)
    for i in range(len(origins)):
        expected = sorted((one.t[i], k, one.u[i], one.v[i]) for k, one in enumerate(single) if one.triangle[i] >= 0)
        row = slice(hits.offsets[i], hits.offsets[i + 1])
        assert list(zip(hits.t[row], hits.triangle[row], hits.u[row], hits.v[row])) == expected[:limit]


def test_more_hits_than_there_is_room_for_at_first():
    """As many layers as make the call trace rays again."""
    layers = np.arange(100, dtype=np.float32)
    vertices = np.array([[[0, 0, z], [1, 0, z], [0, 1, z]] for z in layers], np.float32).reshape(-1, 3)
    tree = sapwood.MeshTree(vertices, np.arange(300).reshape(-1, 3))
    hits = tree.trace_all([[0.25, 0.25, -1]] * 3 + [[5, 5, 5]], [0, 0, 2])
    assert hits.offsets.tolist() == [0, 100, 200, 300, 300]
    assert np.array_equal(hits.t, np.tile((layers + 1) / 2, 3)) and np.array_equal(hits.triangle, np.tile(range(100), 3))


def test_shapes_of_rays(tree):
    one = tree.trace([-3, 0, 0], [1, 0, 0])
    assert np.ndim(one.t) == 0 and one.t.dtype == np.float32 and one.triangle.dtype == np.int32
    assert isinstance(tree.occluded([-3, 0, 0], [1, 0, 0]), np.bool_)
    grid = np.stack(np.meshgrid(np.linspace(-1, 1, 5), np.linspace(-1, 1, 4), [-3.0]), -1)[:, :, 0]
    hits = tree.trace(grid, [0, 0, 1])
    assert hits.t.shape == (4, 5) and tree.occluded(grid, [0, 0, 1]).shape == (4, 5)
    flat = tree.trace(grid.reshape(-1, 3), np.tile([0, 0, 1], (20, 1)))
    assert np.array_equal(hits.t.ravel(), flat.t) and np.array_equal(hits.triangle.ravel(), flat.triangle)
    assert tree.trace([0, 0, -3], grid).t.shape == (4, 5)
    assert tree.trace(np.empty((0, 3)), [0, 0, 1]).t.shape == (0,)
    assert tree.trace(np.empty((0, 3)), np.empty((0, 3))).t.shape == (0,) and tree.trace([], [0, 0, 1]).t.shape == (0,)
    assert tree.trace_all(np.empty((0, 3)), [0, 0, 1]).offsets.tolist() == [0]


def test_records_of_rays(rng, tree):
    rays = np.empty((100, 8), np.float32)
    rays[:, :3], rays[:, 4:7] = rng.uniform(-3, 3, (100, 3)), rng.normal(size=(100, 3))
    rays[:, 3], rays[:, 7] = 0.25, 4
    expected = tree.trace(rays[:, :3], rays[:, 4:7], tmin=0.25, tmax=4)
    for got, wanted in zip(tree.trace(rays), expected):
        assert np.array_equal(got, wanted) and got.dtype == wanted.dtype
    assert np.array_equal(tree.occluded(rays), expected.triangle >= 0)
    with pytest.raises(sapwood.ArgumentError, match=r"\(n, 8\)"):
        tree.trace(np.zeros((4, 7), np.float32))


def test_long_calls_are_made_of_parts(rng, tree):
    count = (1 << 20) + 70_000
    origins = rng.uniform(-3, 3, (1 << 12, 3)).astype(np.float32)
    directions = -origins
    expected = tree.trace(origins, directions)
    turns = -(-count // len(origins))
    many = np.tile(origins, (turns, 1))[:count]
    seen = []
    hits = tree.trace(many, -many, progress=seen.append)
    assert np.array_equal(hits.t, np.tile(expected.t, turns)[:count])
    assert np.array_equal(hits.triangle, np.tile(expected.triangle, turns)[:count])
    assert seen == sorted(seen) and seen[-1] == 1 and 0 <= seen[0]
    assert np.array_equal(tree.occluded(many, -many), hits.triangle >= 0)
    assert np.array_equal(tree.closest(many).distance, np.tile(tree.closest(origins).distance, turns)[:count])


@pytest.mark.parametrize("kind", ["float64", "float16", "int", "big", "fortran", "reversed", "apart", "readonly", "list"])
def test_arrays_of_all_kinds(mesh, tree, kind):
    points = np.array([[-3, 0, 0], [0, 2, 0], [1, 1, 1], [0, 0, 4]], np.float32)
    other = {
        "float64": lambda: points.astype(float), "float16": lambda: points.astype(np.float16),
        "int": lambda: points.astype(int), "big": lambda: points.astype(">f4"), "fortran": lambda: np.asfortranarray(points),
        "reversed": lambda: points[::-1].copy()[::-1], "apart": lambda: np.repeat(points, 2, 0)[::2],
        "readonly": lambda: np.frombuffer(points.tobytes(), np.float32).reshape(-1, 3), "list": points.tolist,
    }[kind]()
    expected, got = tree.trace(points, -points), tree.trace(other, -points)
    assert all(np.array_equal(a, b) for a, b in zip(got, expected))
    assert all(np.array_equal(a, b) for a, b in zip(tree.closest(other), tree.closest(points)))
    assert np.array_equal(tree.inside(other), tree.inside(points))
    for triangles in (mesh[1].astype(np.int64), mesh[1].astype(np.uint16), mesh[1].tolist(), np.asfortranarray(mesh[1])):
        again = sapwood.MeshTree(mesh[0].astype(float), triangles)
        assert bytes(again._bytes()) == bytes(tree._bytes())


def test_rays_that_hit_nothing(tree):
    bad = [[np.nan, 0, 0], [np.inf, 0, 0], [0, 0, 0], [1e300, 0, 0]]
    assert (tree.trace(bad, [0, 0, 1])[1][[0, 1, 3]] == -1).all()
    assert (tree.trace([0, 0, -3], [[0, 0, 0], [np.nan, 0, 1], [0, 0, np.inf]]).triangle == -1).all()
    assert tree.trace([0, 0, -3], [0, 0, 1], tmin=2, tmax=1).triangle == -1
    assert tree.trace([0, 0, -3], [0, 0, 1], tmin=float("nan")).triangle == -1


def test_any_number_of_threads(rng, mesh):
    points = rng.uniform(-2, 2, (5000, 3))
    trees = [sapwood.MeshTree(*mesh, threads=threads) for threads in (1, 2, 0)]
    answers = [(*tree.trace(points, -points), *tree.closest(points), tree.inside(points)) for tree in trees]
    for other in answers[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(other, answers[0]))
    fast = sapwood.MeshTree(*mesh, quality="fast")
    assert fast.quality == "fast" and trees[0].quality == "high"
    assert all(np.array_equal(a, b) for a, b in zip((*fast.trace(points, -points),), answers[0]))


# ---- Points


def test_closest(rng, mesh, tree):
    points = rng.uniform(-2, 2, (400, 3)).astype(np.float32)
    best = np.full(400, np.inf, np.float32)
    expected = np.full(400, -1, np.int32)
    place = np.zeros((400, 3), np.float32)
    for i, one in enumerate(alone(*mesh)):
        found = one.closest(points)
        nearer = found.distance < best
        best[nearer], expected[nearer], place[nearer] = found.distance[nearer], i, found.point[nearer]
    point, distance, triangle, u, v = tree.closest(points)
    # Squares that differ may have roots that do not; the smallest number is that of the squares.
    assert np.array_equal(distance, best)
    same = triangle == expected
    assert same.sum() >= 398 and np.array_equal(point[same], place[same])
    corners = mesh[0][mesh[1][triangle]].astype(float)
    there = corners[:, 0] * (1 - u - v)[:, None] + corners[:, 1] * u[:, None] + corners[:, 2] * v[:, None]
    assert np.abs(there - point).max() < 1e-5
    assert np.abs(np.linalg.norm(points - point.astype(float), axis=1) - distance).max() < 1e-5


def test_inside_of_a_cube(rng):
    tree = sapwood.MeshTree(CUBE, CUBE_TRIANGLES)
    points = rng.uniform(-0.5, 1.5, (2000, 3))
    truth = ((points > 0) & (points < 1)).all(axis=1)
    assert np.array_equal(tree.inside(points), truth) and np.array_equal(tree.contains(points), truth)
    outside = np.linalg.norm(np.maximum(np.maximum(-points, points - 1), 0), axis=1)
    within = np.minimum(points, 1 - points).min(axis=1)
    expected = np.where(truth, -within, outside)
    signed = tree.signed_distance(points)
    assert signed.dtype == np.float32 and np.abs(signed - expected).max() < 1e-6
    assert np.array_equal(np.abs(signed), tree.closest(points).distance)
    assert tree.inside([0.5, 0.5, 0.5]) and tree.signed_distance([0.5, 0.5, 0.5]) == -0.5
    assert tree.inside(points.reshape(20, 100, 3)).shape == (20, 100)
    assert tree.closest(points.reshape(20, 100, 3)).point.shape == (20, 100, 3)
    assert tree.closest([2, 0.5, 0.5]).point.tolist() == [1, 0.5, 0.5]
    assert not tree.inside([[np.nan, 0.5, 0.5], [np.inf, 0, 0]]).any()
    found = tree.closest([[np.nan, 0.5, 0.5]])
    assert found.triangle == -1 and np.isinf(found.distance)


# ---- Names of others


def test_names_that_others_use(rng, mesh, tree):
    points = rng.uniform(-2, 2, (50, 3))
    assert all(np.array_equal(a, b) for a, b in zip(tree.closest_point(points), tree.closest(points)[:3]))
    rays = np.concatenate([points, -points], 1).reshape(5, 10, 6)
    answer, hits = tree.cast_rays(rays), tree.trace(rays[..., :3], rays[..., 3:])
    hit = hits.triangle >= 0
    assert 0 < hit.sum() < 50
    assert np.array_equal(answer["t_hit"], hits.t) and answer["primitive_ids"].dtype == np.uint32
    assert (answer["primitive_ids"][~hit] == 0xFFFFFFFF).all() and (answer["geometry_ids"][hit] == 0).all()
    assert np.array_equal(answer["primitive_ids"][hit], hits.triangle[hit])
    assert np.array_equal(answer["primitive_uvs"], np.stack([hits.u, hits.v], -1))
    a, b, c = (mesh[0][mesh[1][hits.triangle[hit], i]].astype(float) for i in range(3))
    normals = np.cross(b - a, c - a)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    assert np.abs(answer["primitive_normals"][hit] - normals).max() < 1e-6 and not answer["primitive_normals"][~hit].any()
    with pytest.raises(sapwood.ArgumentError, match="6"):
        tree.cast_rays(points)


def test_objects_of_others(mesh, tree):
    class Trimesh:
        vertices, faces = mesh

    class Open3d:
        vertices, triangles = mesh

    for other in (Trimesh(), Open3d(), sapwood.Mesh(*mesh)):
        assert bytes(sapwood.MeshTree(other)._bytes()) == bytes(tree._bytes())
    with pytest.raises(TypeError, match="triangles are missing"):
        sapwood.MeshTree(mesh[0])


# ---- Far from zero


def test_a_mesh_far_from_zero(rng, tmp_path):
    far = np.array([481234.625, 5431234.125, 312.5])
    vertices, triangles = ball()
    near, tree = sapwood.MeshTree(vertices, triangles), sapwood.MeshTree(vertices.astype(float) + far, triangles)
    assert np.abs(np.array(tree.origin) - far).max() < 30 and near.origin == (0, 0, 0)
    points = rng.uniform(-15, 15, (500, 3))
    one, other = near.closest(points), tree.closest(points + far)
    assert other.point.dtype == np.float64 and one.point.dtype == np.float32
    assert np.abs(one.distance - other.distance).max() < 1e-4 and np.abs(one.point + far - other.point).max() < 1e-2
    assert np.mean(near.inside(points) == tree.inside(points + far)) > 0.99
    assert np.abs(near.trace(points, -points).t - tree.trace(points + far, -points).t).max() < 1e-4
    assert np.abs(np.array(tree.bounds) - np.array(near.bounds) - far).max() < 1e-4
    assert pickle.loads(pickle.dumps(tree)).origin == tree.origin == tree.copy().origin
    tree.save(tmp_path / "far.tree")
    loaded = sapwood.MeshTree.load(tmp_path / "far.tree", origin=tree.origin)
    assert np.array_equal(loaded.closest(points + far).point, other.point)
    coarse = sapwood.MeshTree(vertices.astype(float) + far, triangles, origin=(0, 0, 0))
    assert coarse.origin == (0, 0, 0) and coarse.closest(points).point.dtype == np.float32
    tree.rebuild(vertices.astype(float) + far + 1)
    assert np.abs(near.closest(points).distance - tree.closest(points + far + 1).distance).max() < 1e-4


# ---- The tree itself


def test_refit(rng, mesh):
    tree = sapwood.MeshTree(*mesh)
    moved = (mesh[0] + rng.normal(size=mesh[0].shape) * 0.01).astype(np.float32)
    loss = tree.refit(moved)
    assert 0.5 < loss < 100 and tree.mesh.triangle_count == len(mesh[1])
    origins, directions = rng.normal(size=(2, 200, 3))
    new = sapwood.MeshTree(moved, mesh[1])
    for mine, theirs in zip(tree.trace(origins, directions), new.trace(origins, directions)):
        assert np.array_equal(mine, theirs, equal_nan=True)
    tree.verify()
    before = bytes(tree._bytes())
    with pytest.raises(ValueError, match="rebuild it"):
        tree.refit(CUBE, CUBE_TRIANGLES)
    assert bytes(tree._bytes()) == before
    new.refit(moved)
    assert new.refit(moved) == pytest.approx(1, abs=0.2)


def test_rebuild(rng, mesh):
    tree = sapwood.MeshTree(*mesh)
    moved = mesh[0] + np.float32(1)
    tree.rebuild(moved)
    assert bytes(tree._bytes()) == bytes(sapwood.MeshTree(moved, mesh[1])._bytes())
    tree.rebuild(CUBE, CUBE_TRIANGLES)
    assert tree.triangle_count == 12 and tree.bounds == ((0, 0, 0), (1, 1, 1)) and tree.mesh.triangle_count == 12
    with pytest.raises(sapwood.RangeError):
        tree.rebuild(CUBE[:4], CUBE_TRIANGLES)
    assert tree.triangle_count == 12 and tree.trace([0.5, 0.25, -1], [0, 0, 1]).t == 1


def test_save_and_load(tmp_path, mesh, tree):
    path = tmp_path / "tree.sapwood"
    tree.save(path)
    for loaded in (sapwood.MeshTree.load(path), sapwood.MeshTree.load(str(path), trust=True)):
        assert loaded.mapped and loaded.mesh is None and bytes(loaded._bytes()) == bytes(tree._bytes())
        loaded.verify()
        assert np.array_equal(loaded.trace([[0, 0, -3]], [0, 0, 1]).t, tree.trace([[0, 0, -3]], [0, 0, 1]).t)
        with pytest.raises(sapwood.ArgumentError, match="without its mesh"):
            loaded.rebuild(mesh[0])
        with pytest.raises(sapwood.ArgumentError, match="tree.mesh"):
            loaded.cast_rays([[0, 0, -3, 0, 0, 1]])
        loaded.mesh = sapwood.Mesh(*mesh)
        assert loaded.cast_rays([[0, 0, -3, 0, 0, 1]])["t_hit"].shape == (1,)
    saved = bytearray(path.read_bytes())
    for at in np.random.default_rng(3).integers(0, len(saved), 50):
        path.write_bytes(saved[:at] + bytes([saved[at] ^ 0x10]) + saved[at + 1:])
        with pytest.raises(sapwood.FormatError):
            sapwood.MeshTree.load(path)
    path.write_bytes(saved[: len(saved) // 2])
    with pytest.raises(sapwood.FormatError):
        sapwood.MeshTree.load(path)
    with pytest.raises(OSError, match="nowhere"):
        sapwood.MeshTree.load(tmp_path / "nowhere")
    with pytest.raises(OSError):
        tree.save(tmp_path / "nowhere" / "tree")
    with pytest.raises(sapwood.ArgumentError):
        sapwood.MeshTree.load("a\0b")


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(tree, protocol):
    tree.name = "with an attribute"
    again = pickle.loads(pickle.dumps(tree, protocol))
    assert bytes(again._bytes()) == bytes(tree._bytes()) and again.name == tree.name and again.mesh is None
    again.verify()


def test_pickle_out_of_band(tree):
    buffers = []
    data = pickle.dumps(tree, 5, buffer_callback=buffers.append)
    assert len(data) < 1000 and len(buffers) == 1
    assert bytes(pickle.loads(data, buffers=buffers)._bytes()) == bytes(tree._bytes())
    hostile = bytearray(buffers[0].raw())
    hostile[len(hostile) // 2] ^= 1
    with pytest.raises(sapwood.FormatError):
        pickle.loads(data, buffers=[hostile])


def test_copies(tree):
    for other in (tree.copy(), copy.copy(tree), copy.deepcopy(tree), tree.copy(device="cpu", threads=1)):
        assert bytes(other._bytes()) == bytes(tree._bytes()) and other.device == "cpu" and other.mesh is tree.mesh


def test_what_it_says(mesh, tree):
    assert repr(tree).startswith("<sapwood.MeshTree of 60 triangles on cpu, -")
    assert tree.triangle_count == 60 and tree.references >= 60 and tree.leaves == tree.nodes + 1 and tree.depth > 2
    assert np.array_equal(tree.bounds, [mesh[0].min(axis=0), mesh[0].max(axis=0)])
    assert tree.bytes > 1000 and not tree.mapped and tree.expected_cost > 0 and tree.heuristic == "surface"
    empty = sapwood.MeshTree([], [])
    assert repr(empty) == "<sapwood.MeshTree of 0 triangles on cpu>"
    assert empty.trace([0, 0, 0], [0, 0, 1]).triangle == -1 and not empty.inside([[0, 0, 0]])[0]
    assert empty.closest([[0, 0, 0]]).triangle[0] == -1 and len(empty.trace_all([[0, 0, 0]], [0, 0, 1]).t) == 0
    voxels = sapwood.MeshTree(*mesh, heuristic="voxels", radius=0.1)
    assert voxels.heuristic == "voxels"


def test_subclasses(mesh):
    class Named(sapwood.MeshTree):
        def __init__(self, name, *args):
            super().__init__(*args)
            self.name = name

    tree = Named("bunny", *mesh)
    assert repr(tree).startswith("<sapwood.Named of 60") and tree.copy().name == "bunny" and type(tree.copy()) is Named


# ---- What is wrong


@pytest.mark.parametrize("vertices, triangles, error, says", [
    ([[0, 0]], [[0, 0, 0]], sapwood.ArgumentError, "vertices"),
    ([[0, 0, 0]], [[0, 0]], sapwood.ArgumentError, "triangles"),
    ([[0, 0, 0]], [[0, 0, 1]], sapwood.RangeError, "0"),
    ([[0, 0, 0]], [[0, 0, -1]], sapwood.RangeError, "-1|4294967295"),
    ([[0, 0, 0]], [[0, 0, 2**31]], (ValueError, OverflowError), "triangles"),
    ([[0, np.nan, 0]], [[0, 0, 0]], sapwood.NotFiniteError, "0"),
    ([[0, np.inf, 0]], [[0, 0, 0]], sapwood.NotFiniteError, "0"),
    ([[0, 1e300, 0]], [[0, 0, 0]], sapwood.NotFiniteError, "0"),
    (np.zeros((2, 2, 3)), [[0, 0, 0]], sapwood.ArgumentError, "vertices"),
    (1.5, [[0, 0, 0]], sapwood.ArgumentError, "vertices"),
    ([["a", "b", "c"]], [[0, 0, 0]], (TypeError, ValueError), "vertices"),
    ([[0j, 0, 0]], [[0, 0, 0]], TypeError, "vertices"),
    ([[0, 0, 0]], [[0.5, 0, 0]], (TypeError, ValueError), "triangles"),
    (np.zeros(3, [("x", "f4"), ("y", "f4"), ("z", "f4")]), [[0, 0, 0]], (TypeError, ValueError), "vertices"),
    (np.array([[object()] * 3]), [[0, 0, 0]], (TypeError, ValueError), "vertices|float"),
])
def test_bad_meshes(vertices, triangles, error, says):
    with pytest.raises(error, match=says):
        sapwood.MeshTree(vertices, triangles)


@pytest.mark.parametrize("options", [
    {"quality": "best"}, {"heuristic": "none"}, {"radius": -1.0}, {"traversal_cost": -1.0}, {"empty_space": 2.0},
    {"small_node": 100}, {"depth": 1000}, {"memory": 1}, {"device": "gpu"}, {"device": "cpu:x"}, {"threads": -1},
    {"origin": (1, 2)}, {"origin": "here"}, {"origin": (np.nan, 0, 0)},
])
def test_bad_options(mesh, options):
    with pytest.raises(sapwood.Error):
        sapwood.MeshTree(*mesh, **options)


def test_bad_searches(tree):
    for origins, directions in (([0, 0], [0, 0, 1]), ([0, 0, 0], [0, 1]), (1.0, [0, 0, 1]), (np.zeros((4, 3)), np.zeros((5, 3))),
                                (np.zeros((2, 4)), [0, 0, 1]), ([["a", "b", "c"]], [0, 0, 1])):
        for search in (tree.trace, tree.occluded, tree.trace_all):
            with pytest.raises((ValueError, TypeError)):
                search(origins, directions)
    with pytest.raises(sapwood.ArgumentError, match="tmax"):
        tree.trace(np.zeros((4, 3)), [0, 0, 1], tmax=[1, 2, 3])
    with pytest.raises((ValueError, TypeError), match="tmin"):
        tree.trace(np.zeros((4, 3)), [0, 0, 1], tmin="now")
    for limit in (0, -1):
        with pytest.raises(sapwood.ArgumentError, match="limit"):
            tree.trace_all([[0, 0, 0]], [0, 0, 1], limit=limit)
    for search in (tree.closest, tree.inside, tree.signed_distance):
        for points in ([0, 0], 7, np.zeros((2, 2)), [["a", "b", "c"]]):
            with pytest.raises((ValueError, TypeError)):
                search(points)
    with pytest.raises(TypeError, match="progress"):
        tree.trace([[0, 0, 0]], [0, 0, 1], progress=1)


def test_half_initialised():
    tree = sapwood.MeshTree.__new__(sapwood.MeshTree)
    assert repr(tree) == "<sapwood.MeshTree that has not been built>" and tree.mesh is None
    for call in (lambda: tree.trace([0, 0, 0], [0, 0, 1]), lambda: tree.closest([0, 0, 0]), lambda: tree.inside([0, 0, 0]),
                 tree.copy, tree.verify, lambda: tree.save("x"), lambda: pickle.dumps(tree), lambda: tree.depth,
                 lambda: tree.rebuild(CUBE, CUBE_TRIANGLES), lambda: sapwood.render(tree, 4, 4)):
        with pytest.raises(sapwood.ArgumentError):
            call()
    with pytest.raises(sapwood.RangeError):
        tree.__init__(CUBE[:2], CUBE_TRIANGLES)
    with pytest.raises(sapwood.ArgumentError, match="not been built"):
        tree.verify()


# ---- Threads, progress, interrupts


def test_many_threads_search_one_tree(rng):
    tree = sapwood.MeshTree(*ball(8), threads=1)
    points = rng.uniform(-10, 10, (2000, 3))
    expected, wrong = tree.closest(points), []

    def work():
        for _ in range(5):
            found = tree.closest(points)
            if not all(np.array_equal(a, b) for a, b in zip(found, expected)):
                wrong.append(found)

    threads = [threading.Thread(target=work) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_search_meets_a_rebuild(rng):
    """Either is refused while the other is at work, and neither harms the tree."""
    vertices, triangles = ball(20)
    tree = sapwood.MeshTree(vertices, triangles)
    points = rng.uniform(-30, 30, (1000, 3))
    answers, refused, stop = [], [], threading.Event()

    def search():
        while not (stop.is_set() and answers):
            try:
                answers.append(tree.trace(points, -points).t)
            except RuntimeError:
                refused.append(1)

    thread = threading.Thread(target=search)
    thread.start()
    try:
        for _ in range(20):
            try:
                tree.rebuild(vertices)
            except RuntimeError:
                refused.append(2)
    finally:
        stop.set()
        thread.join()
    tree.verify()
    assert answers and all(np.array_equal(one, answers[0]) for one in answers)


def test_progress_of_a_build():
    vertices, triangles = ball(40)
    seen = []
    sapwood.MeshTree(vertices, triangles, progress=seen.append, threads=1)
    assert seen and seen == sorted(seen) and 0 <= seen[0] and seen[-1] <= 1
    with pytest.raises(sapwood.CancelledError):
        sapwood.MeshTree(vertices, triangles, progress=lambda done: False)

    def fail(done):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        sapwood.MeshTree(vertices, triangles, progress=fail)


@pytest.mark.resident
def test_memory_is_given_back(mesh):
    import resource

    points = np.zeros((1000, 3), np.float32)

    def cycle():
        tree = sapwood.MeshTree(*mesh)
        tree.trace(points, points + 1)
        tree.trace_all(points, points + 1)
        tree.closest(points)
        tree.inside(points)
        tree.signed_distance(points)
        pickle.loads(pickle.dumps(tree.copy()))
        for wrong in (lambda: tree.trace(points, [1]), lambda: sapwood.MeshTree(mesh[0][:1], mesh[1])):
            with pytest.raises(sapwood.Error):
                wrong()

    for _ in range(50):
        cycle()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(500):
        cycle()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 4 << 10  # KiB


def test_ends_and_forks_with_trees_alive(python):
    done = python("""
import atexit, gc, os, sys
import numpy as np
import sapwood
tree = sapwood.MeshTree([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
surface = sapwood.isosurface(np.random.default_rng(1).random((9, 9, 9), np.float32), 0.5)
sys.kept = [tree, surface.vertices, tree.trace]
class Kept: pass
kept = Kept()
kept.me, kept.tree, kept.normals = kept, tree, surface.normals
atexit.register(lambda: tree.closest([0, 0, 0]))
child = os.fork()
if not child:
    assert tree.trace([0.25, 0.25, 1], [0, 0, -1]).t == 1
    sapwood.MeshTree(surface)
    del surface
    gc.collect()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
""", "-X", "dev")
    assert (done.returncode, done.stderr) == (0, "")


def test_whole_rays_meet_a_tree_with_an_origin():
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], float) + [1000.123456789, 2000.987654321, 0]
    tree = sapwood.MeshTree(corners, [[0, 1, 2]])
    assert any(tree.origin)
    for dtype in (np.float32, np.float64):
        rays = np.array([[1000.3, 2001.2, 5, 0, 0, 0, -1, np.inf], [1000.3, 2001.2, 5, 6, 0, 0, -1, np.inf]], dtype)
        hits = tree.trace(rays)
        assert hits.triangle.tolist() == [0, -1] and hits.t.tolist() == [5, np.inf]
        assert tree.occluded(rays).tolist() == [True, False]
