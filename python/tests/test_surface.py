"""Surfaces: what a surface must be, and the same for all ways to give a volume."""

import numpy as np
import pytest

import sapwood


def blobs(rng, shape=(14, 15, 16)):
    return rng.normal(size=shape).astype(np.float32)


def edges(triangles):
    """Of each triangle its three sides, as pairs in their direction."""
    return np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])


def test_a_ball():
    z, y, x = np.mgrid[-10:11, -10:11, -10:11]
    values = (64.5 - x * x - y * y - z * z).astype(np.float32)
    surface = sapwood.isosurface(values, 0, origin=(-10, -10, -10))
    vertices, triangles, normals = surface
    assert vertices.dtype == normals.dtype == np.float32 and triangles.dtype == np.int32
    radius = np.linalg.norm(vertices, axis=1)
    assert np.abs(radius - np.sqrt(64.5)).max() < 0.05
    outward = vertices / radius[:, None]
    assert np.einsum("ij,ij->i", normals, outward).min() > 0.99 and np.abs(np.linalg.norm(normals, axis=1) - 1).max() < 1e-6
    a, b, c = (vertices[triangles[:, i]].astype(float) for i in range(3))
    assert abs(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6 / (4 / 3 * np.pi * 64.5**1.5) - 1) < 0.02
    tree = sapwood.MeshTree(surface)
    points = np.random.default_rng(1).uniform(-9, 9, (1000, 3))
    clear = np.abs(np.linalg.norm(points, axis=1) - np.sqrt(64.5)) > 0.1
    assert np.array_equal(tree.inside(points)[clear], (np.linalg.norm(points, axis=1) < np.sqrt(64.5))[clear])
    inner = sapwood.isosurface(-values, 0, origin=(-10, -10, -10), low_inside=True)
    assert np.einsum("ij,ij->i", inner.normals, inner.vertices).min() > 0
    assert surface.mesh().normals is normals and surface.faces is triangles


def test_surfaces_are_closed(rng):
    values = np.pad(blobs(rng), 1, constant_values=-9)
    triangles = sapwood.isosurface(values, 0.1).triangles
    there = {tuple(edge) for edge in edges(triangles)}
    assert len(there) == 3 * len(triangles) > 1000 and all((b, a) in there for a, b in there)


def test_vertices_lie_where_values_meet_the_level(rng):
    values, level = blobs(rng), 0.25
    vertices = sapwood.isosurface(values, level).vertices.astype(float)
    low = np.floor(vertices).astype(int)
    high = np.ceil(vertices).astype(int)
    assert ((low != high).sum(axis=1) <= 1).all()
    one, other = (values[p[:, 2], p[:, 1], p[:, 0]].astype(float) for p in (low, high))
    part = (vertices - low).sum(axis=1)
    assert np.abs(one + (other - one) * part - level).max() < 1e-5
    # One for each edge between inside and outside.
    inside = values >= np.float32(level)
    crossings = sum(np.count_nonzero(np.diff(inside.astype(int), axis=axis)) for axis in range(3))
    assert len(vertices) == crossings


@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint16", "float64", "int64", "float16", ">f4", ">i2", "bool"])
def test_types(rng, dtype):
    values = rng.integers(0, 2 if dtype == "bool" else 100, (8, 9, 10)).astype(dtype)
    level = 0.5 if dtype == "bool" else 50.5
    expected, got = sapwood.isosurface(values.astype(np.float32), level), sapwood.isosurface(values, level)
    assert all(np.array_equal(a, b) for a, b in zip(got, expected)) and len(got.triangles) > 100


def test_ways_to_give_a_volume(rng):
    values = blobs(rng)
    expected = sapwood.isosurface(values, 0.5, spacing=(1, 2, 3), origin=(-1, 0, 1))
    volume = sapwood.Volume(values, spacing=(1, 2, 3), origin=(-1, 0, 1))
    for got in (sapwood.isosurface(volume, 0.5), sapwood.isosurface(np.asfortranarray(values), 0.5, spacing=(1, 2, 3), origin=(-1, 0, 1)),
                sapwood.isosurface(values.T, 0.5, spacing=(1, 2, 3), origin=(-1, 0, 1), order="xyz"),
                sapwood.isosurface(values.tolist(), 0.5, spacing=(1, 2, 3), origin=(-1, 0, 1)),
                sapwood.isosurface(np.repeat(values, 2, 2)[:, :, ::2], 0.5, spacing=(1, 2, 3), origin=(-1, 0, 1)),
                sapwood.isosurface(values, 0.5, spacing=(1, 2, 3), origin=(-1, 0, 1), threads=1)):
        assert all(np.array_equal(a, b) for a, b in zip(got, expected))
    plain = sapwood.isosurface(volume, 0.5, spacing=(1, 1, 1), origin=(0, 0, 0))
    assert np.array_equal(plain.vertices, sapwood.isosurface(values, 0.5).vertices)


def test_files_and_surfaces(tmp_path, rng):
    values = rng.integers(0, 256, (6, 7, 8)).astype(np.uint16)
    np.save(tmp_path / "a.npy", values)
    volume = sapwood.read(tmp_path / "a.npy", spacing=(1, 1, 2))
    surface = sapwood.isosurface(volume, 99.5)
    assert np.array_equal(surface.vertices, sapwood.isosurface(values, 99.5, spacing=(1, 1, 2)).vertices)
    sapwood.write(tmp_path / "a.ply", surface.mesh())
    found = sapwood.read(tmp_path / "a.ply")
    assert np.array_equal(found.vertices, surface.vertices) and np.array_equal(found.triangles, surface.triangles)
    sapwood.write(tmp_path / "b.ply", surface)
    assert np.array_equal(sapwood.read(tmp_path / "b.ply").vertices, surface.vertices)


def test_empty_surfaces():
    for shape in ((0, 0, 0), (1, 5, 5), (4, 4, 4), (0, 3, 3)):
        vertices, triangles, normals = sapwood.isosurface(np.zeros(shape, np.float32), 1)
        assert vertices.shape == triangles.shape == normals.shape == (0, 3)


def test_memory_is_the_library_s(rng):
    """Nothing is copied, and arrays keep what they need."""
    import resource

    values = blobs(rng, (60, 60, 60))
    vertices = sapwood.isosurface(values, 0).vertices
    assert vertices.base is not None and not vertices.flags.owndata
    expected = vertices.copy()
    for _ in range(5):
        sapwood.isosurface(values, 0.5)
    assert np.array_equal(vertices, expected)
    for _ in range(3):
        sapwood.isosurface(values, 0)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(50):
        sapwood.isosurface(values, 0)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 16 << 10  # KiB; a surface has 20 MB


@pytest.mark.parametrize("volume, options, error", [
    (np.zeros((3, 3)), {}, ValueError), (np.zeros((2, 2, 2, 2)), {}, ValueError), (3, {}, ValueError),
    (np.full((3, 3, 3), np.nan), {}, sapwood.NotFiniteError), (np.full((3, 3, 3), 1e300), {}, sapwood.NotFiniteError),
    (np.zeros((3, 3, 3), complex), {}, TypeError), (np.array([[["a"]]]), {}, TypeError),
    (np.zeros((3, 3, 3)), {"level": np.nan}, ValueError), (np.zeros((3, 3, 3)), {"spacing": (1, 1)}, (TypeError, ValueError)),
    (np.zeros((3, 3, 3)), {"spacing": (1, 1, -1)}, ValueError), (np.zeros((3, 3, 3)), {"origin": (np.inf, 0, 0)}, ValueError),
    (np.zeros((3, 3, 3)), {"order": "yxz"}, ValueError), (np.zeros((3, 3, 3)), {"device": "x"}, ValueError),
    (np.zeros((3, 3, 3)), {"progress": 3}, TypeError),
])
def test_bad_volumes(volume, options, error):
    with pytest.raises(error):
        sapwood.isosurface(volume, **options)
