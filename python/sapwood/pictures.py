"""Pictures: of meshes, and of the nearest point of each pixel."""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from . import _sapwood
from ._sapwood import ArgumentError
from .files import Mesh, as_array, numbers, three
from .mesh import MeshTree, _mesh_of

__all__ = ["Light", "Photons", "Picture", "VoronoiPicture", "render", "voronoi"]

STYLES = ("cells", "distances", "edges", "depth")
TONES = ("clamp", "reinhard", "filmic")
FILTERS = ("constant", "cone", "epanechnikov")


class Picture:
    """A picture, which notebooks show.

    >>> import numpy, sapwood
    >>> picture = sapwood.Picture(numpy.zeros((2, 3, 3), numpy.uint8))
    >>> picture
    <sapwood.Picture of 3 x 2 pixels>
    >>> picture._repr_png_()[:4]
    b'\\x89PNG'
    """

    def __init__(self, pixels: Any, **info: Any) -> None:
        import numpy

        self.pixels = numpy.asarray(pixels)
        """uint8 (height, width, 3): red, green, blue in sRGB, rows from top to bottom."""
        if self.pixels.dtype != numpy.uint8 or self.pixels.ndim != 3 or self.pixels.shape[2] != 3:
            raise ArgumentError(f"pixels must be uint8 (height, width, 3), not {self.pixels.dtype} {self.pixels.shape}")
        self.info: dict[str, Any] = info
        """What the picture took: rays, photons, passes, seconds; hottest, and the error that is left."""

    @property
    def width(self) -> int:
        """In pixels."""
        return int(self.pixels.shape[1])

    @property
    def height(self) -> int:
        """In pixels."""
        return int(self.pixels.shape[0])

    def save(self, path: Any) -> None:
        """Writes a PNG, or a PPM if the path ends with .ppm; it replaces an older file only when it is complete."""
        name = os.fsdecode(path).lower()
        if name.endswith(".png"):
            write_whole(path, self._repr_png_())
        elif name.endswith(".ppm"):
            write_whole(path, b"P6\n%d %d\n255\n" % (self.width, self.height) + self.pixels.tobytes())
        else:
            raise ArgumentError(f"{os.fsdecode(path)}: unknown suffix of a picture; use .png or .ppm")

    def _repr_png_(self) -> bytes:
        import numpy

        # Rows as differences from the row above: filter 2 of the PNG specification.
        rows = numpy.empty((self.height, 1 + 3 * self.width), numpy.uint8)
        pixels = self.pixels.reshape(self.height, 3 * self.width)
        rows[:, 0] = 2
        rows[:1, 1:] = pixels[:1]
        rows[1:, 1:] = pixels[1:] - pixels[:-1]
        header = struct.pack(">IIBBBBB", self.width, self.height, 8, 2, 0, 0, 0)
        chunks = [(b"IHDR", header), (b"sRGB", b"\0"), (b"IDAT", zlib.compress(rows.tobytes(), 6)), (b"IEND", b"")]
        return b"\x89PNG\r\n\x1a\n" + b"".join(
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
            for name, data in chunks)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        from .files import _as_array

        return _as_array(self.pixels, dtype, copy)

    def __repr__(self) -> str:
        return f"<sapwood.{type(self).__name__} of {self.width} x {self.height} pixels>"


class Light(NamedTuple):
    """A light. It is not seen itself, only what it shines on; its light falls off with the square of the distance."""

    position: Sequence[float]
    """Of a point light; the middle of an area light."""
    color: Sequence[float] = (1.0, 1.0, 1.0)
    """Red, green, blue: how bright it makes a white surface that faces it in the middle of the mesh's box."""
    side: Any = 0.0
    """An area light: the side of a square that faces the middle, or two vectors, the sides of a parallelogram. 0: a
    point light, with sharp shadows."""


@dataclass(frozen=True)
class Photons:
    """Photons that light a picture: what was scattered before, and caustics, which mirrors and glass throw."""

    count: int
    """Photons that each pass sends out."""
    caustics: int = 0
    """Photons that it sends out for caustics alone; 0: as many."""
    gather: bool = False
    """Look photons up one bounce further on: slower, without stains."""
    progressive: bool = False
    """From pass to pass only nearer photons count."""
    k: int = 0
    """Photons that count at a place; 0 without a radius: 50; 0 with one: all."""
    radius: float = 0.0
    """Photons beyond do not count; 0: no limit."""
    filter: str = "epanechnikov"
    """How much they count by their distance: "constant", "cone" or "epanechnikov"."""
    seed: int = 1
    """Other seeds give other photons."""


def render(mesh: Any, width: int = 800, height: int = 500, *, tree: MeshTree | None = None,
           eye: Sequence[float] | None = None, at: Sequence[float] | None = None,
           up: Sequence[float] = (0.0, 1.0, 0.0), fov: float = 35.0, lights: Iterable[Any] | None = None,
           samples: int = 16, bounces: int = 5, ambient: float = 1.0, exposure: float = 1.0,
           background: Sequence[float] | None = None, flat: bool = False, heat: bool = False, hottest: float = 0.0,
           next_event: bool = False, passes: int = 0, until_error: float = 0.0, tone: str = "clamp", photons: Photons | int | None = None,
           quality: str = "high", device: Any = None, threads: int = 0,
           progress: Callable[[float], object] | None = None) -> Picture:
    """Draws a mesh, with shadows, mirrors, glass and light from the sky: a Picture.

    mesh: a Mesh, a MeshTree (whose mesh is drawn), a pair (vertices, triangles), or an object of trimesh or Open3D.
    tree: a tree over the mesh that is there already; otherwise one is built, as quality, device and threads say.

    eye, at: where the camera stands and what it looks at; None: such that the whole mesh is seen. up: which way is up.
    fov: degrees from the lower edge of the picture to the upper. lights: Light, or positions; None: one soft light above
    the camera's shoulder; []: the sky alone. samples: rays through a pixel. bounces: how often light may be mirrored,
    refracted or scattered. ambient: strength of the light from the sky. exposure: factor of all light. background:
    linear red, green, blue; None: the sky. flat: triangles as they are, without smoothed normals. heat: instead, how
    many nodes of the tree the camera's rays look at; hottest: what is brightest then.

    next_event: send rays to faces that shine, too, so that small ones leave less noise. passes: the mean of so many
    pictures, each with its own samples and photons; until_error: fewer do, once the noise that is left is at most this
    part of the mean brightness. tone: how light brighter than white is drawn, "clamp", "reinhard" or "filmic".
    photons: Photons, or how many.

    The same bits on any machine, and as ``python -m sapwood render`` draws it.

    >>> import sapwood
    >>> mesh = sapwood.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    >>> sapwood.render(mesh, 64, 48, samples=4)
    <sapwood.Picture of 64 x 48 pixels>
    """
    if isinstance(mesh, MeshTree):
        if tree is not None and tree is not mesh:
            raise ArgumentError("the mesh is a tree already, so tree must be None")
        tree = mesh
        if tree.mesh is None:
            raise ArgumentError("this tree was loaded, without its mesh: give the mesh, and the tree as tree=")
        mesh = tree.mesh
    else:
        mesh = _mesh_of(*mesh) if isinstance(mesh, (tuple, list)) and len(mesh) == 2 else _mesh_of(mesh, None)
    if tree is None:
        tree = MeshTree(mesh, quality=quality, device=device, threads=threads)
    shown = _relative(mesh, tree)
    camera, middle = _camera(tree, width, height, eye, at, three(up, "up"), fov)
    lamps = None if lights is None else tuple(_lamp(light, tree.origin, middle) for light in lights)
    sky = None if background is None else three(background, "background")
    pixels, info = _sapwood.render(
        tree, shown._parts(), camera, lamps, width, height, samples, bounces if bounces > 0 else -1,
        ambient if ambient > 0 else -1.0, exposure, sky, flat, heat, hottest, next_event, passes, until_error,
        _chosen(TONES, tone, "tone"), _photons(photons), progress)
    return Picture(pixels, **info)


def _chosen(names: tuple[str, ...], name: str, what: str) -> int:
    if name not in names:
        raise ArgumentError(f"{what} must be one of {', '.join(names)}, not {name!r}")
    return names.index(name)


def _photons(photons: Any) -> tuple[Any, ...] | None:
    """Photons as the C side takes them."""
    if photons is None:
        return None
    if not isinstance(photons, Photons):
        photons = Photons(photons)
    return (photons.count, photons.caustics, bool(photons.gather), bool(photons.progressive), photons.k, photons.radius,
            _chosen(FILTERS, photons.filter, "filter"), photons.seed)


def _relative(mesh: Mesh, tree: MeshTree) -> Mesh:
    """The mesh with vertices relative to the tree's origin, as the tree holds them."""
    import numpy

    vertices = mesh.vertices
    if mesh.origin != tree.origin:
        vertices = (numpy.asarray(vertices, float) + mesh.origin - tree.origin).astype(numpy.float32)
    return Mesh(vertices, mesh.triangles, colors=mesh.colors, material_ids=mesh.material_ids, materials=mesh.materials)


def _camera(tree: MeshTree, width: int, height: int, eye: Any, at: Any, up: tuple[float, float, float],
            fov: float) -> tuple[tuple[Any, ...], tuple[float, ...]]:
    """The camera, relative to the tree's origin, and the middle of the tree's box."""
    import numpy

    if not any(up):
        raise ArgumentError("up must be a direction, not 0, 0, 0")
    zero = (0.0, 0.0, 0.0)
    from_place, middle, up, fov = _sapwood.frame(tree, width, height, (zero, zero, up, fov))
    to_place = middle
    if at is not None:
        to_place = tuple(float(numpy.float32(a - o)) for a, o in zip(three(at, "at"), tree.origin))
        # In floats, as the command line does.
        from_place = tuple(float(numpy.float32(numpy.float32(e) - numpy.float32(m)) + numpy.float32(a))
                           for e, m, a in zip(from_place, middle, to_place))
    if eye is not None:
        from_place = tuple(float(numpy.float32(e - o)) for e, o in zip(three(eye, "eye"), tree.origin))
    if from_place == to_place:
        raise ArgumentError("the camera is at the point that it looks at; eye and at must differ")
    return (from_place, to_place, up, fov), middle


def _lamp(light: Any, origin: tuple[float, ...], middle: tuple[float, ...]) -> tuple[Any, ...]:
    """A light as the C side takes it."""
    if not isinstance(light, Light):
        light = Light(three(light, "lights"))
    place = tuple(_float32(p - o) for p, o in zip(three(light.position, "position"), origin))
    side = light.side
    if hasattr(side, "__len__"):
        one, other = side
        sides = (three(one, "side"), three(other, "side"))
    elif side < 0:
        raise ArgumentError(f"the side of a light must not be negative: {side}")
    else:
        sides = _facing(place, middle, _float32(side)) if side > 0 else ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    return place, three(light.color, "color"), sides


def _float32(value: float) -> float:
    return float(struct.unpack("f", struct.pack("f", value))[0])


def _facing(place: tuple[float, ...], middle: tuple[float, ...], side: float) -> tuple[Any, Any]:
    """Two sides of a square that faces the middle."""
    to = [m - p for m, p in zip(middle, place)]
    least = 0 if abs(to[0]) < abs(to[1]) else 1
    if abs(to[2]) < abs(to[least]):
        least = 2
    first = [float(a == least) for a in range(3)]
    sides = []
    for _ in range(2):
        across = [to[(a + 1) % 3] * first[(a + 2) % 3] - to[(a + 2) % 3] * first[(a + 1) % 3] for a in range(3)]
        length = (across[0] * across[0] + across[1] * across[1] + across[2] * across[2]) ** 0.5
        first = [x / length if length > 0 else 0.0 for x in across]
        sides.append(tuple(x * side for x in first))
    return sides[0], sides[1]


# ---- Nearest points


class VoronoiPicture(Picture):
    """A picture of which point is nearest to each pixel.

    Beside the pixels: ids, int32 (height, width), the row of the nearest point of each pixel; distances2, float32
    (height, width), their squared distances; extent, (x0, y0, x1, y1), the edges of what is shown, y upwards.
    """

    def __init__(self, pixels: Any, ids: Any, distances2: Any, extent: tuple[float, float, float, float]) -> None:
        super().__init__(pixels)
        self.ids = ids
        self.distances2 = distances2
        self.extent = extent


def voronoi(points: Any, width: int = 800, height: int = 500, *, extent: Sequence[float] | None = None,
            slice: float | None = None, style: str = "cells", leaf_size: int = 0, device: Any = None, threads: int = 0,
            progress: Callable[[float], object] | None = None) -> VoronoiPicture:
    """The point nearest to each pixel of a picture: a VoronoiPicture with ids, distances2 and pixels.

    points: (n, 2), or (n, 3) with a slice: the z at which space is cut; None: the middle. extent: (x0, y0, x1, y1), what
    the picture shows; None: all points, with a margin. style: "cells" has a colour for each point and lines between
    them, "distances" and "edges" show just these, "depth" how many leaves of the tree were looked at.

    The same as ``python -m sapwood voronoi`` draws. Points that are float64, and so far from zero that floats would move
    them visibly, are searched relative to their middle.

    >>> import sapwood
    >>> picture = sapwood.voronoi([[0, 0], [1, 0]], 4, 2, extent=(0, 0, 1, 1))
    >>> picture.ids
    array([[0, 0, 1, 1],
           [0, 0, 1, 1]], dtype=int32)
    """
    import numpy

    if style not in STYLES:
        raise ArgumentError(f"style must be one of {', '.join(STYLES)}, not {style!r}")
    sites = as_array(points, "points")
    if sites.ndim != 2 or sites.shape[1] not in (2, 3):
        raise ArgumentError(f"points must have the shape (n, 2) or (n, 3), not {sites.shape}")
    if slice is not None and sites.shape[1] == 2:
        raise ArgumentError("slice is for points with three coordinates")
    if width < 1 or height < 1:
        raise ArgumentError(f"width and height must be 1 to 65536 pixels, not {width} and {height}")
    sites, origin = _floats(sites)
    edges, middle = _fitted(sites, origin, width, height)
    if extent is not None:
        x0, y0, x1, y1 = numbers(extent, "extent", 4)
        if not (x0 < x1 and y0 < y1) or not numpy.isfinite([x0, y0, x1, y1]).all():
            raise ArgumentError(f"extent must be x0, y0, x1, y1 with x0 < x1 and y0 < y1, not {tuple(extent)}")
        edges = (x0, y0, x1, y1)
    corner = (edges[0] - origin[0], edges[3] - origin[1], middle if slice is None else float(slice) - origin[2])
    ids, distances2, pixels = _sapwood.voronoi(
        sites, corner, (edges[2] - edges[0]) / width, (edges[1] - edges[3]) / height, width, height, STYLES.index(style),
        leaf_size or (8 if style == "depth" else 0), "cpu" if style == "depth" else device, threads, progress)
    return VoronoiPicture(pixels, ids, distances2, edges)


def _floats(sites: Any) -> tuple[Any, tuple[float, float, float]]:
    """Points as float32; relative to their middle where floats would move them too far."""
    import numpy

    nowhere = (0.0, 0.0, 0.0)
    if sites.dtype == numpy.float32 or sites.dtype == numpy.float16 or not sites.size:
        return numpy.ascontiguousarray(sites, numpy.float32), nowhere
    sites = numpy.ascontiguousarray(sites, numpy.float64)
    with numpy.errstate(over="ignore", invalid="ignore"):
        near = sites.astype(numpy.float32)
        moved = abs(sites - near)
    if not numpy.isfinite(sites).all():
        return near, nowhere  # the library says which
    if numpy.isinf(moved).any():
        raise ArgumentError("a coordinate is beyond the range of a float32")
    lower, upper = sites.min(axis=0), sites.max(axis=0)
    if moved.max() <= 2**-20 * (upper - lower).max():
        return near, nowhere
    middle = 0.5 * lower + 0.5 * upper
    x, y, z = (*middle.tolist(), 0.0)[:3]
    return (sites - middle).astype(numpy.float32), (x, y, z)


def _fitted(sites: Any, origin: tuple[float, float, float], width: int,
            height: int) -> tuple[tuple[float, float, float, float], float]:
    """The edges of a picture of all points with a margin, in square pixels, and the z of its middle."""
    middle, size = [0.5, 0.5, 0.0], [1.0, 1.0]
    if len(sites):
        lower, upper = sites.min(axis=0).astype(float).tolist(), sites.max(axis=0).astype(float).tolist()
        for a in range(len(lower)):
            middle[a] = 0.5 * (lower[a] + upper[a])
        size = [upper[a] - lower[a] for a in range(2)]
    step = max(size[0] / width, size[1] / height) * 1.04
    if not step > 0:
        step = 1.0 / width
    x, y = origin[0] + middle[0], origin[1] + middle[1]
    return (x - 0.5 * step * width, y - 0.5 * step * height, x + 0.5 * step * width, y + 0.5 * step * height), middle[2]


def write_whole(path: Any, data: Any) -> None:
    """A file that replaces an older one only when it is complete."""
    folder, name = os.path.split(os.path.realpath(os.fsdecode(path)))
    temporary = os.path.join(folder, f".sapwood-{os.getpid()}-{name}.part")
    try:
        with open(temporary, "xb") as file:
            file.write(data)
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise
