"""Reading and writing files: every format there and back, against what NumPy and Python read themselves."""

import base64
import gzip
import io
import json
import pathlib
import struct

import numpy as np
import pytest

import sapwood

SAMPLES = pathlib.Path(__file__).parent.parent.parent / "tests" / "samples"
VERTICES = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.25]], np.float32)
TRIANGLES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], np.int32)


def corners(mesh):
    return np.asarray(mesh.vertices)[np.asarray(mesh.triangles)]


# ---- Points


@pytest.mark.parametrize("suffix", ["ply", "xyz", "csv", "tsv", "npy"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("dims", [2, 3, 5])
def test_points_there_and_back(tmp_path, rng, suffix, dtype, dims):
    points, path = rng.normal(size=(50, dims)).astype(dtype), tmp_path / f"points.{suffix}"
    sapwood.write(path, points)
    found = sapwood.read(path)
    assert isinstance(found, sapwood.PointSet) and found.count == len(found) == 50 and found.dims == dims
    assert np.array_equal(sapwood.read(path, dtype=dtype).points, points)
    assert np.array_equal(np.asarray(found), points) and found.points.dtype == dtype
    assert np.array_equal(sapwood.read(path.read_bytes(), kind="points", format=suffix if suffix != "tsv" else "csv",
                                       dtype=dtype).points, points)
    again = tmp_path / f"again.{suffix}"
    sapwood.write(str(again), found)
    assert again.read_bytes() == path.read_bytes()
    packed = tmp_path / f"points.{suffix}.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert np.array_equal(sapwood.read(packed, dtype=dtype).points, points)
    with open(path, "rb") as file:
        assert np.array_equal(sapwood.read(file, kind="points", format=suffix if suffix != "tsv" else "csv",
                                           dtype=dtype).points, points)


def test_numpy_reads_what_is_written_and_the_other_way(tmp_path, rng):
    points = rng.normal(size=(20, 3))
    sapwood.write(tmp_path / "a.npy", points)
    assert np.array_equal(np.load(tmp_path / "a.npy"), points)
    for array in (points, points.astype(">f8"), np.asfortranarray(points), points.astype(np.float32), (points * 9).astype(np.int16)):
        np.save(tmp_path / "b.npy", array)
        assert np.array_equal(sapwood.read(tmp_path / "b.npy").points, array)
    np.savez(tmp_path / "c.npz", other=np.zeros((2, 2)), points=points)
    np.savez_compressed(tmp_path / "d.npz", mine=points, other=points + 1)
    assert np.array_equal(sapwood.read(tmp_path / "c.npz").points, points)
    assert np.array_equal(sapwood.read(tmp_path / "d.npz", member="other").points, points + 1)
    with pytest.raises(sapwood.ArgumentError):
        sapwood.read(tmp_path / "d.npz")
    with pytest.raises(sapwood.ArgumentError, match="nothing"):
        sapwood.read(tmp_path / "d.npz", member="nothing")
    np.savetxt(tmp_path / "e.csv", points, delimiter=",", header="x,y,z", comments="")
    assert np.array_equal(sapwood.read(tmp_path / "e.csv").points, points)


def test_columns_and_precision(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("id,lon,lat\n1,8.5,47.25\n2,9.5,48\n")
    assert sapwood.read(path, columns="lat,lon").points.tolist() == [[47.25, 8.5], [48, 9.5]]
    assert sapwood.read(path, columns="2").points.tolist() == [[8.5], [9.5]]
    path.write_text("481234.57 5431234.12 312.5\n481235.57 5431234.62 312.5\n")
    assert sapwood.read(path, format="xyz").points.dtype == np.float64
    assert sapwood.read(path, format="xyz", dtype=np.float32).points.dtype == np.float32
    path.write_text("100000.5 0\n100001.25 1\n")
    assert sapwood.read(path, format="xyz").points.dtype == np.float32
    assert sapwood.read(path, format="xyz", float_error=1e-12).points.dtype == np.float32
    path.write_text("100000.3 0\n100001.3 1\n")
    assert sapwood.read(path, format="xyz", float_error=1e-6, extent=1.0).points.dtype == np.float64
    with pytest.raises(sapwood.ArgumentError, match="altitude"):
        sapwood.read(path, format="csv", columns="altitude")


def test_tables_of_ints_and_names(tmp_path):
    path = tmp_path / "ids.csv"
    sapwood.write(path, np.array([[1, 2], [2**40, -4]]), names=["near", "far"])
    assert path.read_text() == "near,far\n1,2\n1099511627776,-4\n"
    sapwood.write(path, np.array([[7, 8]], np.int32))
    assert path.read_text().splitlines()[1] == "7,8"
    sapwood.write(tmp_path / "flat.npy", np.arange(5))
    assert np.array_equal(np.load(tmp_path / "flat.npy"), np.arange(5))
    sapwood.write(tmp_path / "apart.npy", np.arange(24.0).reshape(4, 6)[:, ::2])
    assert np.array_equal(np.load(tmp_path / "apart.npy"), np.arange(24.0).reshape(4, 6)[:, ::2])
    with pytest.raises(sapwood.ArgumentError, match="names"):
        sapwood.write(path, np.zeros((2, 2)), names=["one"])
    with pytest.raises((TypeError, ValueError)):
        sapwood.write(path, np.zeros((2, 2)), names=[1, 2])


# ---- Meshes


def a_mesh():
    materials = [sapwood.Material("red", diffuse=(0.5, 0.25, 0), shininess=10.0),
                 sapwood.Material("glass", diffuse=(0, 0, 0.5), specular=(1, 1, 1), opacity=0.25, refraction=1.5, illum=5)]
    return sapwood.Mesh(VERTICES, TRIANGLES, colors=np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 1]], np.float32),
                        material_ids=[0, 1, 1, -1], materials=materials)


@pytest.mark.filterwarnings("ignore:the material library")  # of bytes in memory
@pytest.mark.parametrize("suffix, text", [("ply", False), ("ply", True), ("obj", False), ("stl", False), ("stl", True), ("off", False)])
def test_meshes_there_and_back(tmp_path, suffix, text):
    mesh, path = a_mesh(), tmp_path / f"mesh.{suffix}"
    sapwood.write(path, mesh, text=text)
    found = sapwood.read(path)
    assert isinstance(found, sapwood.Mesh) and np.array_equal(corners(found), VERTICES[TRIANGLES])
    assert found.vertex_count == 4 and found.triangle_count == 4 and np.array_equal(found.faces, found.triangles)
    if suffix != "stl":
        assert np.array_equal(found.vertices, VERTICES) and np.array_equal(found.triangles, TRIANGLES)
        assert np.array_equal(found.colors, mesh.colors)
    if suffix == "obj":
        assert found.materials[:2] == mesh.materials
        ids = found.material_ids
        assert ids[:3].tolist() == [0, 1, 1] and "materials" in repr(found)
        bare = sapwood.read(path.read_bytes(), format="obj", materials=(tmp_path / "mesh.mtl").read_bytes())
        assert bare.materials[:2] == mesh.materials
    for source in (path.read_bytes(), bytearray(path.read_bytes()), memoryview(path.read_bytes()), io.BytesIO(path.read_bytes())):
        other = sapwood.read(source, format=suffix)
        assert np.array_equal(corners(other), corners(found))
    if suffix != "obj":  # the first bytes say what it is
        assert np.array_equal(corners(sapwood.read(path.read_bytes(), kind="mesh")), corners(found))
    tree = sapwood.MeshTree.read(path, quality="fast")
    assert tree.triangle_count == 4 and tree.mesh.triangle_count == 4


def test_kinds_by_their_bytes(tmp_path):
    for name, kind in (("a.ply", sapwood.Mesh), ("a.off", sapwood.Mesh)):
        sapwood.write(tmp_path / name, a_mesh())
        assert isinstance(sapwood.read((tmp_path / name).read_bytes()), kind)
        assert isinstance(sapwood.read(gzip.compress((tmp_path / name).read_bytes())), kind)
    sapwood.write(tmp_path / "a.stl", a_mesh(), text=True)
    assert isinstance(sapwood.read((tmp_path / "a.stl").read_bytes()), sapwood.Mesh)
    sapwood.write(tmp_path / "b.ply", VERTICES)
    assert isinstance(sapwood.read(tmp_path / "b.ply"), sapwood.PointSet)
    assert sapwood.read(tmp_path / "b.ply", kind="mesh").triangle_count == 0
    np.save(tmp_path / "c.npy", np.zeros((2, 3, 4), np.uint8))
    np.savez(tmp_path / "d.npz", volume=np.zeros((2, 3, 4), np.uint8), other=np.zeros(3))
    np.savez(tmp_path / "e.npz", np.zeros((2, 3, 4), np.uint8))
    for name in ("c.npy", "d.npz", "e.npz"):
        assert sapwood.read(tmp_path / name).size == (4, 3, 2)
        assert sapwood.read((tmp_path / name).read_bytes()).size == (4, 3, 2)


def test_gltf(tmp_path):
    binary = VERTICES.astype("<f4").tobytes() + TRIANGLES.astype("<u4").tobytes()
    scene = {"asset": {"version": "2.0"}, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0, "translation": [1, 0, 0]}],
             "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
             "buffers": [{"byteLength": len(binary), "uri": "data:;base64," + base64.b64encode(binary).decode()}],
             "bufferViews": [{"buffer": 0, "byteLength": 48}, {"buffer": 0, "byteOffset": 48, "byteLength": 48}],
             "accessors": [{"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3"},
                           {"bufferView": 1, "componentType": 5125, "count": 12, "type": "SCALAR"}]}
    path = tmp_path / "a.gltf"
    path.write_text(json.dumps(scene))
    wanted = VERTICES[TRIANGLES] + np.float32([1, 0, 0])
    for source in (path, path.read_bytes(), b"\xef\xbb\xbf \n" + path.read_bytes(), gzip.compress(path.read_bytes())):
        found = sapwood.read(source)
        assert isinstance(found, sapwood.Mesh) and np.array_equal(corners(found), wanted)
    assert np.array_equal(corners(sapwood.read(path.read_bytes(), format="gltf")), wanted)
    assert sapwood.MeshTree.read(path).triangle_count == 4
    with pytest.raises(sapwood.UnsupportedError):
        sapwood.write(tmp_path / "b.glb", a_mesh())


def test_normals_and_origins(tmp_path):
    far = VERTICES.astype(float) + [481234.57, 5431234.12, 0]
    path = tmp_path / "far.ply"
    mesh = sapwood.Mesh(VERTICES, TRIANGLES, normals=VERTICES, origin=(481234.53, 5431234.0, 0))
    sapwood.write(path, mesh)
    assert b"property float nx" in path.read_bytes()
    found = sapwood.read(path)
    assert any(found.origin) and np.abs(found.moved().vertices - mesh.moved().vertices).max() < 1e-6
    assert " at " in repr(found)
    assert sapwood.read(path, origin=(481234.53, 5431234.0, 0)).vertices.tolist() == VERTICES.tolist()
    with pytest.warns(UserWarning, match="moves coordinates"):
        assert sapwood.read(path, origin=(0, 0, 0)).origin == (0, 0, 0)
    tree = sapwood.MeshTree.read(path)
    assert tree.origin == found.origin
    assert np.abs(tree.closest(far).distance).max() < 0.3
    with pytest.raises(sapwood.ArgumentError, match="origin"):
        sapwood.read(path, origin="somewhere")


def test_polygons_and_bytes():
    square = b"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n"
    assert sapwood.read(square, format="obj").triangles.tolist() == [[0, 1, 2], [0, 2, 3]]
    solid = np.array([([0, 0, 1], VERTICES[t].tolist(), 0) for t in TRIANGLES], [("n", "<f4", 3), ("v", "<f4", (3, 3)), ("a", "<u2")])
    stl = b"\0" * 80 + struct.pack("<I", 4) + solid.tobytes()
    assert sapwood.read(stl, format="stl").vertex_count == 4
    assert sapwood.read(stl, format="stl", keep_apart=True).vertex_count == 12


@pytest.mark.skipif(not SAMPLES.exists(), reason="the samples are not here: this is an sdist")
def test_samples():
    read = 0
    for path in sorted(SAMPLES.rglob("*")):
        if path.suffix in (".ply", ".xyz", ".csv", ".npy", ".pcd", ".obj", ".stl", ".off"):
            thing = sapwood.read(path)
            assert repr(thing).startswith("<sapwood.")
            read += 1
    assert read > 0


# ---- Volumes


@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint16", "float32"])
def test_volumes(tmp_path, rng, dtype):
    values = rng.integers(0, 200, (4, 5, 6)).astype(dtype)
    np.save(tmp_path / "a.npy", values)
    values.tofile(tmp_path / "a.raw")
    values.astype(values.dtype.newbyteorder(">")).tofile(tmp_path / "b.raw")
    (tmp_path / "c.raw").write_bytes(b"header" + values.tobytes())
    raw = {"size": (6, 5, 4), "dtype": dtype}
    for volume in (sapwood.read(tmp_path / "a.npy"), sapwood.read(tmp_path / "a.raw", **raw),
                   sapwood.read(tmp_path / "b.raw", big_endian=True, **raw), sapwood.read(tmp_path / "c.raw", skip=6, **raw),
                   sapwood.read(values.tobytes(), **raw), sapwood.read(values.T.tobytes(), order="zyx", **raw)):
        assert volume.values.dtype == dtype and volume.size == (6, 5, 4) and volume.values.shape == (4, 5, 6)
        assert np.array_equal(volume.values.ravel().sum(), values.ravel().sum())
    np.save(tmp_path / "d.npy", values.T)
    assert np.array_equal(sapwood.read(tmp_path / "d.npy", order="xyz").values, values)
    assert np.array_equal(sapwood.read(tmp_path / "a.npy").values, values)
    assert np.array_equal(np.asarray(sapwood.read(tmp_path / "b.raw", big_endian=True, **raw)), values)
    assert sapwood.read(tmp_path / "a.npy", spacing=(1, 2, 0.5)).spacing == (1, 2, 0.5)


def test_volumes_cannot_be_written_to(tmp_path):
    """Their memory may be that of the file."""
    np.save(tmp_path / "a.npy", np.zeros((64, 64, 64), np.float32))
    values = sapwood.read(tmp_path / "a.npy").values
    with pytest.raises(ValueError):
        values[0, 0, 0] = 1
    with pytest.raises(ValueError):
        values.flags.writeable = True
    assert not values.any()


def test_volumes_there_and_back(tmp_path, rng):
    volume = sapwood.Volume(rng.normal(size=(3, 4, 5)).astype(np.float32))
    sapwood.write(tmp_path / "a.npy", volume)
    assert np.array_equal(sapwood.read(tmp_path / "a.npy").values, volume.values)
    with pytest.raises(sapwood.ArgumentError, match="NPY"):
        sapwood.write(tmp_path / "a.ply", volume)
    assert [p.name for p in tmp_path.iterdir()] == ["a.npy"]


# ---- Memory


def test_arrays_outlive_what_was_read(tmp_path):
    sapwood.write(tmp_path / "a.ply", a_mesh())
    mesh = sapwood.read(tmp_path / "a.ply")
    vertices, triangles, colors = mesh.vertices, mesh.triangles, mesh.colors
    del mesh
    junk = [bytes(1 << 16) for _ in range(50)]
    assert np.array_equal(vertices, VERTICES) and np.array_equal(triangles, TRIANGLES) and colors[3].tolist() == [1, 1, 1]
    vertices[0] = 7  # it is ours
    assert vertices[0].tolist() == [7, 7, 7] and junk


@pytest.mark.resident
def test_memory_is_given_back(tmp_path):
    import resource

    points = np.zeros((20_000, 3), np.float32)
    sapwood.write(tmp_path / "a.npy", points)
    sapwood.write(tmp_path / "a.ply", a_mesh())
    data = (tmp_path / "a.npy").read_bytes()

    def cycle():
        sapwood.read(tmp_path / "a.npy")
        sapwood.read(data)
        sapwood.read(tmp_path / "a.ply")
        sapwood.read(bytes(24_080), size=(10, 20, 30), skip=80, dtype="float32")
        sapwood.write(tmp_path / "b.ply", a_mesh())
        for wrong in (data[:100], b"", b"ply\nformat"):
            with pytest.raises(sapwood.Error):
                sapwood.read(wrong, kind="points")

    for _ in range(20):
        cycle()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(300):
        cycle()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 4 << 10  # KiB


# ---- What is wrong


def test_notes_are_warnings():
    """What a reader could do without, in its own words."""
    data = b"mtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
    with pytest.warns(UserWarning, match="a.mtl") as caught:
        assert sapwood.read_mesh(data, format="obj").triangle_count == 1
    assert caught[0].filename == __file__


def test_errors_say_where(tmp_path):
    path = tmp_path / "bad.ply"
    sapwood.write(path, a_mesh())
    whole = path.read_bytes()
    path.write_bytes(whole[:-5])
    with pytest.raises(sapwood.FormatError, match=r"byte|bytes"):
        sapwood.read(path)
    with pytest.raises(sapwood.FormatError, match="line 2"):
        sapwood.read(b"1 2 3\n1 x 3\n", kind="points", format="xyz")
    with pytest.raises(sapwood.RangeError, match="9"):
        sapwood.read(b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n", format="obj")
    with pytest.raises(sapwood.FormatError, match="24"):
        sapwood.read(bytes(23), size=(2, 3, 4), dtype="uint8")
    with pytest.raises(OSError, match="nowhere"):
        sapwood.read(tmp_path / "nowhere.ply")
    with pytest.raises(OSError):
        sapwood.read(tmp_path)
    with pytest.raises(OSError):
        sapwood.write(tmp_path / "no" / "folder.ply", VERTICES)
    assert [p.name for p in tmp_path.iterdir()] == ["bad.ply"]


@pytest.mark.parametrize("call", [
    lambda path: sapwood.read(path, kind="cloud"),
    lambda path: sapwood.read(path, format="las"),
    lambda path: sapwood.read(path, dtype="int32"),
    lambda path: sapwood.read(path, kind="volume", size=(2, 2)),
    lambda path: sapwood.read(path, kind="volume", size=(2, 2, -2)),
    lambda path: sapwood.read(path, kind="volume", dtype="int64", size=(1, 1, 1)),
    lambda path: sapwood.read(path, kind="volume", order="yxz"),
    lambda path: sapwood.read(path, kind="volume", format="ply"),
    lambda path: sapwood.read(path, unpack_limit=-1),
    lambda path: sapwood.read("a\0b"),
    lambda path: sapwood.write(path.with_suffix(".las"), VERTICES),
    lambda path: sapwood.write(path.with_suffix(".pcd"), VERTICES),
    lambda path: sapwood.write(path.with_suffix(".ply.gz"), VERTICES),
    lambda path: sapwood.write(path, VERTICES, text=True),
    lambda path: sapwood.write(path, a_mesh(), names=["x"]),
    lambda path: sapwood.write(path, np.zeros((2, 2, 2))),
    lambda path: sapwood.write(path, 3.0),
    lambda path: sapwood.write(path, np.zeros((2, 0))),
    lambda path: sapwood.write(path, [["a", "b"]]),
    lambda path: sapwood.write(path, sapwood.Mesh(VERTICES, TRIANGLES + 4)),
    lambda path: sapwood.write(path, sapwood.Mesh(VERTICES, TRIANGLES, normals=VERTICES[:2])),
    lambda path: sapwood.write(path, sapwood.Mesh(VERTICES, TRIANGLES, colors=TRIANGLES[:, :2])),
    lambda path: sapwood.write(path, sapwood.Mesh(VERTICES, TRIANGLES, material_ids=[0])),
    lambda path: sapwood.write(path.with_suffix(".obj"), sapwood.Mesh(VERTICES, TRIANGLES, material_ids=[0, 0, 0, 1],
                                                                      materials=[sapwood.Material("one")])),
    lambda path: sapwood.write(path.with_suffix(".obj"), sapwood.Mesh(VERTICES, TRIANGLES, materials=[sapwood.Material("")],
                                                                      material_ids=[0] * 4)),
    lambda path: sapwood.Mesh(VERTICES, TRIANGLES, origin=(1, 2)),
    lambda path: sapwood.Mesh(VERTICES, TRIANGLES, materials=[3]),
    lambda path: sapwood.read_mesh(path, materials="a.mtl"),
    lambda path: sapwood.read(io.StringIO("1 2 3"), kind="points"),
    lambda path: sapwood.read(5),
    lambda path: sapwood.write(5, VERTICES),
])
def test_bad_calls(tmp_path, call):
    path = tmp_path / "points.ply"
    sapwood.write(path, VERTICES)
    before = path.read_bytes()
    with pytest.raises((ValueError, TypeError, NotImplementedError)):
        call(path)
    assert path.read_bytes() == before and [p.name for p in tmp_path.iterdir()] == ["points.ply"]


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_many_bad_files(tmp_path, rng):
    """Bytes that were changed are read or refused, never anything else."""
    files = []
    for suffix in ("ply", "obj", "stl", "off"):
        sapwood.write(tmp_path / f"a.{suffix}", a_mesh())
        files.append((suffix, "mesh", (tmp_path / f"a.{suffix}").read_bytes()))
    for suffix in ("ply", "xyz", "csv", "npy"):
        sapwood.write(tmp_path / f"b.{suffix}", VERTICES)
        files.append((suffix, "points", (tmp_path / f"b.{suffix}").read_bytes()))
    refused = 0
    for suffix, kind, data in files:
        for _ in range(100):
            bad = bytearray(data[: rng.integers(1, len(data) + 1)])
            for at in rng.integers(0, len(bad), 3):
                bad[at] = rng.integers(0, 256)
            try:
                sapwood.read(bytes(bad), kind=kind, format=suffix)
                sapwood.read(bytes(bad))
            except (sapwood.Error, ValueError):
                refused += 1
    assert refused > 100
