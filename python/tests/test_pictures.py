"""Pictures: as the command line draws them, and PNG as others read it."""

import struct
import subprocess
import sys
import zlib

import numpy as np
import pytest

import sapwood

CORNERS = np.array([[0, 0, 0], [2, 0, 0], [0, 2, 0], [0, 0, 2]], np.float32)
SIDES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], np.int32)


@pytest.fixture
def mesh():
    return sapwood.Mesh(CORNERS, SIDES, colors=np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]], np.float32))


@pytest.fixture
def command():
    """What the command line draws."""

    def draw(verb, *arguments, output):
        result = subprocess.run([sys.executable, "-m", "sapwood", verb, *map(str, arguments), "-o", str(output), "--quiet"],
                                capture_output=True, text=True, timeout=120)
        assert result.returncode == 0, result.stderr
        return read_ppm(output)

    return draw


def read_ppm(path):
    data = path.read_bytes()
    kind, size, most, pixels = data.split(b"\n", 3)
    width, height = map(int, size.split())
    assert kind == b"P6" and most == b"255"
    return np.frombuffer(pixels, np.uint8).reshape(height, width, 3)


def read_png(data):
    """RGB of 8 bits, with the filters None and Up."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = {}, 8
    while at < len(data):
        length, name = struct.unpack(">I4s", data[at:at + 8])
        content = data[at + 8:at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0] == zlib.crc32(name + content)
        chunks[name] = content
        at += 12 + length
    width, height, depth, kind = struct.unpack(">IIBB", chunks[b"IHDR"][:10])
    assert (depth, kind) == (8, 2) and list(chunks)[-1] == b"IEND"
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, 1 + 3 * width)
    assert (rows[:, 0] == 2).all()
    return np.cumsum(rows[:, 1:], axis=0, dtype=np.uint8).reshape(height, width, 3)


# ---- Meshes


def test_as_the_command_line_draws(tmp_path, mesh, command):
    path = tmp_path / "mesh.ply"
    sapwood.write(path, mesh)
    size = ["--size", "64x40", "--samples", 4]
    cases = [
        ([], {}),
        (["--eye", "5,4,3", "--at", "0.5,0.25,0"], {"eye": (5, 4, 3), "at": (0.5, 0.25, 0)}),
        (["--at", "0.5,0.1,0", "--up", "0,0,1", "--fov", 50], {"at": (0.5, 0.1, 0), "up": (0, 0, 1), "fov": 50}),
        (["--light", "4,4,4,2,1,1", "--area-light", "-3,5,1,0.7"],
         {"lights": [sapwood.Light((4, 4, 4), (2, 1, 1)), sapwood.Light((-3, 5, 1), side=0.7)]}),
        (["--flat", "--background", "0,0.5,1", "--exposure", 2, "--ambient", 0, "--bounces", 0],
         {"flat": True, "background": (0, 0.5, 1), "exposure": 2, "ambient": 0, "bounces": 0}),
        (["--heat"], {"heat": True}),
        (["--passes", 3, "--tone", "filmic"], {"passes": 3, "tone": "filmic"}),
        (["--photons", 2000, "--exposure", 3], {"photons": 2000, "exposure": 3}),
        (["--next-event", "--tone", "reinhard"], {"next_event": True, "tone": "reinhard"}),
        (["--photons", 2000, "--caustics", 900, "--gather", "--progressive", "--passes", 2, "-k", 9, "--radius", 3,
          "--filter", "cone", "--seed", 7],
         {"photons": sapwood.Photons(2000, 900, True, True, 9, 3.0, "cone", 7), "passes": 2}),
    ]
    different = set()
    for arguments, options in cases:
        expected = command("render", path, *size, *arguments, output=tmp_path / "a.ppm")
        picture = sapwood.render(sapwood.read(path), 64, 40, samples=4, **options)
        assert np.array_equal(picture.pixels, expected), arguments
        different.add(expected.tobytes())
    assert len(different) == len(cases)


def test_what_can_be_drawn(mesh):
    tree = sapwood.MeshTree(mesh)
    expected = sapwood.render(mesh, 32, 20, samples=2)
    plain = sapwood.render((CORNERS, SIDES), 32, 20, samples=2)
    assert expected.pixels.shape == (20, 32, 3) and expected.width == 32 and expected.height == 20
    assert expected.info["rays"] > 32 * 20 and not np.array_equal(expected.pixels, plain.pixels)
    for got in (sapwood.render(tree, 32, 20, samples=2), sapwood.render(mesh, 32, 20, samples=2, tree=tree),
                sapwood.render(mesh, 32, 20, samples=2, quality="fast", threads=1),
                sapwood.render(tree.copy(), 32, 20, samples=2)):
        assert np.array_equal(got.pixels, expected.pixels)
    double = sapwood.render((CORNERS.astype(float).tolist(), SIDES.astype(np.int64)), 32, 20, samples=2)
    assert np.array_equal(double.pixels, plain.pixels)
    assert sapwood.render(([], []), 8, 8, samples=1).pixels.shape == (8, 8, 3)
    glass = sapwood.Mesh(CORNERS, SIDES, material_ids=[0] * 4, materials=[sapwood.Material("glass", opacity=0.1, refraction=1.5)])
    assert not np.array_equal(sapwood.render(glass, 32, 20, samples=2).pixels, plain.pixels)
    assert np.array_equal(sapwood.render((CORNERS, SIDES), 32, 20, samples=2, lights=[(4, 4, 4)]).pixels,
                          sapwood.render((CORNERS, SIDES), 32, 20, samples=2, lights=[sapwood.Light((4, 4, 4))]).pixels)
    dark = sapwood.render((CORNERS, SIDES), 8, 8, samples=1, lights=[], ambient=0, background=(0, 0, 0))
    assert not dark.pixels.any()


def test_until_little_noise_is_left(mesh):
    picture = sapwood.render(mesh, 40, 25, samples=1, until_error=0.05, photons=500)
    assert 2 <= picture.info["passes"] and 0 < picture.info["error"] <= 0.05 and picture.info["photon_seconds"] > 0


def test_far_from_zero(mesh):
    far = CORNERS.astype(float) + [481234.57, 5431234.12, 0]
    picture = sapwood.render((far, SIDES), 32, 20, samples=2, flat=True)
    near = sapwood.render((CORNERS, SIDES), 32, 20, samples=2, flat=True)
    assert np.abs(picture.pixels.astype(int) - near.pixels).mean() < 8
    moved = sapwood.render((far, SIDES), 32, 20, samples=2, eye=far[0] + [5, 4, 3], at=far[0])
    assert np.abs(moved.pixels.astype(int) - sapwood.render((CORNERS, SIDES), 32, 20, samples=2, eye=(5, 4, 3), at=(0, 0, 0)).pixels).mean() < 8


def test_progress_and_cancelling(mesh):
    seen = []
    sapwood.render(mesh, 200, 200, samples=16, progress=seen.append)
    assert seen and seen == sorted(seen)
    with pytest.raises(sapwood.CancelledError):
        sapwood.render(mesh, 1000, 1000, samples=64, progress=lambda done: False)


@pytest.mark.parametrize("options", [
    {"width": 0}, {"height": 0}, {"width": 70_000}, {"fov": 180}, {"fov": -1}, {"up": (0, 0, 0)}, {"up": (1, 2)},
    {"eye": (0, 0, 0), "at": (0, 0, 0)}, {"samples": -1}, {"samples": 100_000}, {"bounces": 100}, {"exposure": -1.0},
    {"lights": [3]}, {"lights": [(1, 2)]}, {"lights": [sapwood.Light((0, 0, 0), side=-1)]}, {"background": (1, 2)},
    {"eye": (np.nan, 0, 0)}, {"quality": "best"}, {"passes": -1}, {"until_error": -1.0}, {"tone": "bright"},
    {"photons": -1}, {"photons": sapwood.Photons(9, filter="box")}, {"photons": sapwood.Photons(9, k=-1)}, {"background": (np.nan, 0, 0)},
])
def test_bad_pictures(mesh, options):
    with pytest.raises((ValueError, TypeError)):
        sapwood.render(mesh, **{"width": 8, "height": 8, "samples": 1, **options})


def test_meshes_that_cannot_be_drawn(mesh, tmp_path):
    tree = sapwood.MeshTree(mesh)
    tree.save(tmp_path / "tree")
    loaded = sapwood.MeshTree.load(tmp_path / "tree")
    with pytest.raises(sapwood.ArgumentError, match="without its mesh"):
        sapwood.render(loaded, 8, 8)
    assert sapwood.render(mesh, 8, 8, samples=1, tree=loaded).width == 8
    with pytest.raises(sapwood.ArgumentError):
        sapwood.render(sapwood.Mesh(CORNERS, SIDES[:2]), 8, 8, tree=tree)
    with pytest.raises(sapwood.RangeError):
        sapwood.render(sapwood.Mesh(CORNERS[:3], SIDES), 8, 8, tree=tree)
    with pytest.raises(TypeError):
        sapwood.render(3, 8, 8)
    with pytest.raises(sapwood.ArgumentError):
        sapwood.render(tree, 8, 8, tree=loaded)


# ---- Files


def test_files(tmp_path, rng):
    pixels = rng.integers(0, 256, (7, 5, 3)).astype(np.uint8)
    picture = sapwood.Picture(pixels)
    picture.save(tmp_path / "a.png")
    picture.save(str(tmp_path / "a.ppm"))
    assert np.array_equal(read_png((tmp_path / "a.png").read_bytes()), pixels)
    assert np.array_equal(read_ppm(tmp_path / "a.ppm"), pixels)
    assert picture._repr_png_() == (tmp_path / "a.png").read_bytes() and np.array_equal(np.asarray(picture), pixels)
    with pytest.raises(sapwood.ArgumentError, match="suffix"):
        picture.save(tmp_path / "a.jpg")
    with pytest.raises(OSError):
        picture.save(tmp_path / "no" / "a.png")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.png", "a.ppm"]
    image = pytest.importorskip("matplotlib.image")
    assert np.array_equal(np.round(image.imread(tmp_path / "a.png") * 255).astype(np.uint8), pixels)
    for wrong in (np.zeros((2, 2), np.uint8), np.zeros((2, 2, 4), np.uint8), np.zeros((2, 2, 3))):
        with pytest.raises(sapwood.ArgumentError):
            sapwood.Picture(wrong)


# ---- The nearest point of each pixel


@pytest.mark.parametrize("style", ["cells", "distances", "edges", "depth"])
@pytest.mark.parametrize("sites", ["two", "three", "far"])
def test_voronoi_as_the_command_line_draws(tmp_path, rng, command, style, sites):
    points = rng.uniform(-1, 3, (40, 3 if sites == "three" else 2))
    points = points + [481234.57, 5431234.12] if sites == "far" else points.astype(np.float32)
    np.save(tmp_path / "sites.npy", points)
    arguments = ["--size", "60x50", "--style", style]
    expected = command("voronoi", tmp_path / "sites.npy", *arguments, output=tmp_path / "a.ppm")
    assert np.array_equal(sapwood.voronoi(points, 60, 50, style=style).pixels, expected)
    if sites == "far":
        return
    options = {"extent": (-0.5, 0, 2, 2.5)}
    arguments += ["--extent", "-0.5,0,2,2.5"]
    if sites == "three":
        options["slice"] = 0.75
        arguments += ["--slice", 0.75]
    expected = command("voronoi", tmp_path / "sites.npy", *arguments, "--ids", tmp_path / "ids.npy", "--distances",
                       tmp_path / "distances.npy", output=tmp_path / "a.ppm")
    picture = sapwood.voronoi(points, 60, 50, style=style, **options)
    assert np.array_equal(picture.pixels, expected) and picture.extent == (-0.5, 0, 2, 2.5)
    assert np.array_equal(picture.ids, np.load(tmp_path / "ids.npy"))
    assert np.array_equal(picture.distances2, np.load(tmp_path / "distances.npy"))


def test_voronoi_by_brute_force(rng):
    points = rng.uniform(0, 1, (30, 2)).astype(np.float32)
    picture = sapwood.voronoi(points, 40, 32, extent=(0, 0, 1, 1))
    x = ((np.arange(40) + 0.5) * (1 / 40)).astype(np.float32)
    y = (np.float32(1) + (np.arange(32) + 0.5) * -(1 / 32)).astype(np.float32)
    d = (x[None, :, None] - points[:, 0]) ** 2 + (y[:, None, None] - points[:, 1]) ** 2
    assert (picture.ids == d.argmin(axis=-1)).mean() > 0.999
    assert np.abs(picture.distances2 - d.min(axis=-1)).max() < 1e-6
    assert isinstance(picture, sapwood.Picture) and repr(picture) == "<sapwood.VoronoiPicture of 40 x 32 pixels>"
    assert read_png(picture._repr_png_()).shape == (32, 40, 3)


def test_voronoi_of_few_points():
    assert (sapwood.voronoi(np.zeros((0, 2)), 4, 3).ids == -1).all()
    assert (sapwood.voronoi([[5.0, 5.0]], 4, 3).ids == 0).all()
    assert (sapwood.voronoi([[1, 1]] * 5, 4, 3).ids == 0).all()


@pytest.mark.parametrize("points, options", [
    ([[0]], {}), ([[0, 0, 0, 0]], {}), (3, {}), ([[0, np.nan]], {}), ([[0, 1e300]], {}), ([[0, 0]], {"style": "pretty"}),
    ([[0, 0]], {"slice": 1}), ([[0, 0]], {"extent": (1, 0, 0, 1)}), ([[0, 0]], {"extent": (0, 0, 1)}),
    ([[0, 0]], {"extent": (0, 0, np.inf, 1)}), ([[0, 0]], {"width": 0}), ([[0, 0]], {"height": 100_000}),
    ([[0, 0]], {"leaf_size": -1}), ([[0, 0]], {"device": "x"}), ([["a", "b"]], {}),
])
def test_bad_voronoi(points, options):
    with pytest.raises((ValueError, TypeError)):
        sapwood.voronoi(points, **{"width": 8, "height": 8, **options})
