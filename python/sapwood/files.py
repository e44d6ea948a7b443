"""Files of points, meshes and volumes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from . import _sapwood
from ._sapwood import ArgumentError

__all__ = ["Material", "Mesh", "PointSet", "Volume", "read", "read_mesh", "read_points", "read_volume", "write"]

FORMATS = ("auto", "ply", "xyz", "csv", "npy", "pcd", "obj", "stl", "off", "las", "laz", "gltf")
VOXELS = ("float32", "uint8", "int16", "uint16")
ORDERS = ("zyx", "xyz")
MESHES = ("obj", "stl", "off", "gltf")


def as_array(values: Any, name: str, dtype: Any = None) -> Any:
    """An array of NumPy. What NumPy says of a wrong value is said of the argument."""
    import numpy

    try:
        return numpy.asarray(values, dtype)
    except ValueError as error:
        raise ArgumentError(f"{name}: {error}") from None


def numbers(values: Any, name: str, count: int) -> tuple[float, ...]:
    """So many numbers as floats."""
    try:
        found = tuple(float(value) for value in values)
    except (TypeError, ValueError):
        found = ()
    if len(found) != count:
        raise ArgumentError(f"{name} must be {count} numbers, not {values!r}")
    return found


def three(values: Any, name: str) -> tuple[float, float, float]:
    """A place, or what else has a number for each axis."""
    x, y, z = numbers(values, name, 3)
    return x, y, z


class PointSet:
    """Points that came from a file.

    >>> import sapwood
    >>> points = sapwood.read(b"1 2 3\\n4 5 6\\n", kind="points")
    >>> points
    <sapwood.PointSet of 2 points, float32, 3 coordinates>
    >>> points.points
    array([[1., 2., 3.],
           [4., 5., 6.]], dtype=float32)
    """

    def __init__(self, points: Any) -> None:
        self.points = points
        """(count, dims), float32 or float64."""

    @property
    def count(self) -> int:
        """How many points there are."""
        return int(self.points.shape[0])

    @property
    def dims(self) -> int:
        """How many coordinates each has."""
        return int(self.points.shape[1])

    def __len__(self) -> int:
        return self.count

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return _as_array(self.points, dtype, copy)

    def __repr__(self) -> str:
        kind = getattr(self.points, "dtype", None) or {"f": "float32", "d": "float64"}[self.points.format]
        return f"<sapwood.PointSet of {self.count} points, {kind}, {self.dims} coordinates>"


class Material(NamedTuple):
    """How a surface reflects light: a material of an MTL file."""

    name: str
    """As in the file."""
    diffuse: tuple[float, float, float] = (0.8, 0.8, 0.8)
    """Kd: red, green, blue."""
    specular: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Ks."""
    emission: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Ke."""
    shininess: float = 1.0
    """Ns: the exponent of Phong's highlight."""
    opacity: float = 1.0
    """d: 0 is clear, 1 is opaque."""
    refraction: float = 1.0
    """Ni: the index of refraction."""
    illum: int = 2
    """The number of the illumination model: 3 and above mirror."""
    absorption: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """What is clear takes of light: exp(-absorption * distance) of it is left after a distance inside."""


class Mesh:
    """Triangles over shared vertices, with what files hold beside them.

    Mesh(vertices, triangles, *, normals=None, colors=None, material_ids=None, materials=(), origin=(0, 0, 0))

    vertices: (n, 3); triangles: (m, 3) ints; normals: (n, 3), to be written; colors: (n, 3), red, green and blue of each
    vertex, 0 … 1; material_ids: (m,), which of the materials, -1 for none; origin: what the vertices are relative to, so
    that float32 can hold places far from zero.

    >>> import sapwood
    >>> sapwood.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    <sapwood.Mesh of 3 vertices and 1 triangle>
    """

    def __init__(self, vertices: Any, triangles: Any, *, normals: Any = None, colors: Any = None,
                 material_ids: Any = None, materials: Iterable[Material] = (),
                 origin: Sequence[float] = (0.0, 0.0, 0.0)) -> None:
        self.vertices = _array(vertices)
        self.triangles = _array(triangles)
        self.normals = normals
        self.colors = colors
        self.material_ids = material_ids
        self.materials = [m if isinstance(m, Material) else Material(*m) for m in materials]
        self.origin = three(origin, "origin")

    @property
    def faces(self) -> Any:
        """trimesh's name for ``triangles``."""
        return self.triangles

    @property
    def vertex_count(self) -> int:
        """How many vertices there are."""
        return len(self.vertices)

    @property
    def triangle_count(self) -> int:
        """How many triangles there are."""
        return len(self.triangles)

    def moved(self) -> Mesh:
        """The same mesh with the origin added to the vertices, as float64."""
        import numpy

        if not any(self.origin):
            return self
        vertices = numpy.asarray(self.vertices, float) + self.origin
        return Mesh(vertices, self.triangles, normals=self.normals, colors=self.colors, material_ids=self.material_ids,
                    materials=self.materials)

    def _parts(self) -> tuple[Any, ...]:
        """As the C side takes a mesh."""
        return (self.vertices, self.triangles, self.colors, self.material_ids,
                tuple(tuple(material) for material in self.materials), self.normals, self.origin)

    def __repr__(self) -> str:
        more = [name for name in ("normals", "colors") if getattr(self, name) is not None]
        more += ["materials"] if self.materials else []
        origin = " at {:.15g} {:.15g} {:.15g}".format(*self.origin) if any(self.origin) else ""
        extra = f", with {' and '.join(more)}" if more else ""
        return f"<sapwood.Mesh of {_counted(self.vertex_count, 'vertex', 'vertices')} and " \
               f"{_counted(self.triangle_count, 'triangle', 'triangles')}{origin}{extra}>"


class Volume:
    """Samples on a lattice: values[z, y, x] lies at origin + spacing * (x, y, z).

    >>> import numpy, sapwood
    >>> sapwood.Volume(numpy.zeros((4, 3, 2), numpy.uint8), spacing=(1, 1, 2.5))
    <sapwood.Volume of 2 x 3 x 4 samples, uint8, spacing 1 1 2.5>
    """

    def __init__(self, values: Any, *, spacing: Sequence[float] = (1.0, 1.0, 1.0),
                 origin: Sequence[float] = (0.0, 0.0, 0.0)) -> None:
        self.values = values
        self.spacing = three(spacing, "spacing")
        self.origin = three(origin, "origin")

    @property
    def size(self) -> tuple[int, int, int]:
        """How many samples there are along x, y and z."""
        z, y, x = self.values.shape
        return int(x), int(y), int(z)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return _as_array(self.values, dtype, copy)

    def __repr__(self) -> str:
        size = " x ".join(str(n) for n in self.size)
        spacing = ", spacing {:.6g} {:.6g} {:.6g}".format(*self.spacing) if self.spacing != (1, 1, 1) else ""
        return f"<sapwood.Volume of {size} samples, {self.values.dtype}{spacing}>"


# ---- Reading


def read(source: Any, *, kind: str | None = None, format: str | None = None, **options: Any) -> PointSet | Mesh | Volume:
    """Reads points, a mesh or a volume from a file, or from bytes in memory.

    source: a path; bytes (or another buffer), the contents of a file; an open binary file; "-" for standard input.
    Points: PLY, PCD, NPY, NPZ, and text as XYZ or CSV. Meshes: PLY, OBJ with its MTL, STL, OFF, glTF. Volumes: NPY and NPZ of
    three axes, and raw samples. What gzip has packed is unpacked.

    kind: "points", "mesh" or "volume"; None: as the suffix and the first bytes say. A PLY with faces, OBJ, STL, OFF
    and glTF are meshes; an NPY of three axes is a volume, and so is what is read with the option ``size``; all else is points.
    The other options are those of ``read_points``, ``read_mesh`` and ``read_volume``.

    What is wrong with a file is raised with the byte or line where it is.

    >>> import sapwood
    >>> sapwood.read(b"v 0 0 0\\nv 1 0 0\\nv 0 1 0\\nf 1 2 3\\n", format="obj")
    <sapwood.Mesh of 3 vertices and 1 triangle>
    >>> sapwood.read(b"ply", kind="points")
    Traceback (most recent call last):
    ...
    sapwood.FormatError: ...
    """
    if kind is None:
        source = _loaded(source)
        kind = "volume" if options.get("size") is not None else _kind_of(source, format)
    if kind == "points":
        return read_points(source, format=format, **options)
    if kind == "mesh":
        return read_mesh(source, format=format, **options)
    if kind != "volume":
        raise ArgumentError(f"kind must be 'points', 'mesh', 'volume' or None, not {kind!r}")
    if format not in (None, "auto", "npy"):
        raise ArgumentError(f"volumes are NPY or raw samples, not {format}")
    return read_volume(source, **options)


def read_points(source: Any, *, format: str | None = None, columns: str | None = None, member: str | None = None,
                dtype: Any = None, float_error: float = 0.0, extent: float = 0.0, unpack_limit: int = 0) -> PointSet:
    """Reads points, as ``read`` does.

    columns: which columns of a file are coordinates, such as "lon,lat" or "2,3". member: which array of an NPZ. dtype:
    float32 or float64; None: as in the file, where text and ints are float32 if these hold them. float_error: points
    become float64 also if float32 moves a coordinate by more than this part of the extent, which is that of the points
    if it is 0. unpack_limit: bytes that packed ones may become; 0: 100 times as many, or 64 MiB if that is more.

    >>> import sapwood
    >>> sapwood.read_points(b"id,lon,lat\\n7,8.5,47.25\\n", columns="lon,lat", dtype="float64").points
    array([[ 8.5 , 47.25]])
    """
    source = _loaded(source)
    return PointSet(_sapwood.read_points(source, _in_memory(source), _format(format), _bits(dtype), columns, member,
                                         float_error, extent, unpack_limit))


def read_mesh(source: Any, *, format: str | None = None, keep_apart: bool = False, materials: Any = None,
              unpack_limit: int = 0, origin: Any = "auto") -> Mesh:
    """Reads a mesh, as ``read`` does. Polygons become triangles.

    keep_apart: triangles of an STL keep three vertices of their own; otherwise equal corners are one vertex. materials:
    the bytes of an MTL, taken instead of those files that an OBJ names. origin: (x, y, z), subtracted from coordinates
    before these become floats; "auto": chosen where floats would be too coarse, else 0, 0, 0. ``Mesh.origin`` has it.
    unpack_limit: as in ``read_points``.
    """
    source = _loaded(source)
    auto = isinstance(origin, str)
    if auto and origin != "auto":
        raise ArgumentError(f"origin must be three numbers or 'auto', not {origin!r}")
    where = (0.0, 0.0, 0.0) if auto else three(origin, "origin")
    vertices, triangles, colors, ids, table, _, origin = _sapwood.read_mesh(
        source, _in_memory(source), _format(format), keep_apart, _bytes_of(materials), unpack_limit, where, auto)
    return Mesh(vertices, triangles, colors=colors, material_ids=ids, materials=[Material(*m) for m in table],
                origin=origin)


def read_volume(source: Any, *, size: Sequence[int] | None = None, dtype: Any = "float32", big_endian: bool = False,
                skip: int = 0, spacing: Sequence[float] = (1.0, 1.0, 1.0), order: str = "zyx",
                member: str | None = None, unpack_limit: int = 0) -> Volume:
    """Reads a volume: an NPY, an array of an NPZ, or raw samples, of which `size` says how many there are.

    size: along x, y and z. dtype: of raw samples, float32, uint8, int16 or uint16. big_endian: their highest byte comes
    first. skip: bytes ahead of the first sample. order: what the axes of the array are, "zyx" or "xyz"; the values that
    you get are always [z, y, x]. member: which array of an NPZ. unpack_limit: as in ``read_points``.

    A file may be mapped: it must not change while the volume lives, whose values cannot be written then.

    >>> import sapwood
    >>> sapwood.read_volume(bytes(range(24)), size=(2, 3, 4), dtype="uint8")
    <sapwood.Volume of 2 x 3 x 4 samples, uint8>
    """
    import numpy

    source = _loaded(source)
    name = numpy.dtype(dtype).name
    if name not in VOXELS:
        raise ArgumentError(f"dtype must be float32, uint8, int16 or uint16, not {name}")
    if order not in ORDERS:
        raise ArgumentError(f"order must be 'zyx' or 'xyz', not {order!r}")
    values, spacing, origin = _sapwood.read_volume(
        source, _in_memory(source), tuple(size) if size is not None else (0, 0, 0), VOXELS.index(name), big_endian,
        skip, tuple(spacing), ORDERS.index(order), member, unpack_limit)
    return Volume(numpy.asarray(memoryview(values).toreadonly()), spacing=spacing, origin=origin)


# ---- Writing


def write(path: Any, data: Any, *, format: str | None = None, names: Sequence[str] | None = None,
          text: bool = False) -> None:
    """Writes points, a mesh or a volume to a file, which replaces an older one only when it is complete.

    data: an array (n, columns) or PointSet, as PLY, XYZ, CSV or NPY; a Mesh, or another object with vertices and faces
    or triangles, as PLY, OBJ (with an MTL beside it), STL or OFF; a Volume, as NPY. format: None: as the suffix of the
    path says. names: of columns, in CSV and PLY. text: PLY and STL of meshes are ascii instead of binary. "-" is
    standard output.

    >>> import pathlib, tempfile, sapwood
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "points.csv")
    ...     sapwood.write(path, [[1, 2], [3, 4.5]], names=["lon", "lat"])
    ...     print(path.read_text(), end="")
    lon,lat
    1,2
    3,4.5
    """
    if isinstance(data, Volume):
        _write_volume(path, data, format)
        return
    if not isinstance(data, (Mesh, PointSet)) and hasattr(data, "vertices"):
        data = Mesh(data.vertices, data.faces if hasattr(data, "faces") else data.triangles)
    if isinstance(data, Mesh):
        if names is not None:
            raise ArgumentError("names are those of columns; a mesh has none")
        _sapwood.write_mesh(path, _format(format), data._parts(), text)
        return
    if text:
        raise ArgumentError("text is for meshes; formats of points say themselves whether they are text")
    points = data.points if isinstance(data, PointSet) else data
    _sapwood.write_table(path, _format(format), points, None if names is None else tuple(names))


def _write_volume(path: Any, volume: Volume, format: str | None) -> None:
    """As an NPY; neither spacing nor origin have a place in it."""
    import io

    import numpy

    from .pictures import write_whole

    if _format(format) not in (0, FORMATS.index("npy")) or (format is None and _sapwood.format_of(path) != 4):
        raise ArgumentError("volumes are written as NPY; name the file .npy")
    stream = io.BytesIO()
    numpy.save(stream, numpy.asarray(volume.values), allow_pickle=False)
    write_whole(path, stream.getbuffer())


# ---- What arguments are


def _format(name: str | None) -> int:
    if name is None:
        return 0
    if name not in FORMATS:
        raise ArgumentError(f"format must be one of {', '.join(FORMATS)}, not {name!r}")
    return FORMATS.index(name)


def _bits(dtype: Any) -> int:
    if dtype is None:
        return 0
    import numpy

    name = numpy.dtype(dtype).name
    if name not in ("float32", "float64"):
        raise ArgumentError(f"dtype must be float32, float64 or None, not {name}")
    return int(name[-2:])


def _array(value: Any) -> Any:
    """Arrays as they are; lists and the like as NumPy's."""
    if hasattr(value, "shape"):
        return value
    import numpy

    return numpy.asarray(value)


def _as_array(array: Any, dtype: Any, copy: bool | None) -> Any:
    import numpy

    made = numpy.asarray(array, dtype)
    if copy and numpy.shares_memory(made, array):
        return made.copy()
    if copy is False and not numpy.shares_memory(made, array) and made.size:
        raise ArgumentError("the values cannot be given in this type without a copy")
    return made


def _counted(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def _in_memory(source: Any) -> bool:
    """Whether a source is a buffer of bytes, and no path. bytes are contents: a path is a str or os.PathLike."""
    return not isinstance(source, str) and not hasattr(source, "__fspath__")


def _loaded(source: Any) -> Any:
    """The contents of open files; all else as it is."""
    if _in_memory(source) and hasattr(source, "read") and not hasattr(source, "__buffer__"):
        try:
            memoryview(source).release()  # such as mmap, which is both
        except TypeError:
            source = source.read()
            if isinstance(source, str):
                raise TypeError("the file must be open in binary mode") from None
    return source


def _bytes_of(source: Any) -> bytes | None:
    if source is None:
        return None
    if isinstance(source, (str, os.PathLike)):
        raise TypeError("materials must be the bytes of an MTL file, not its path")
    return bytes(_loaded(source))


# ---- What a file holds


def _kind_of(source: Any, format: str | None) -> str:
    name = FORMATS[_format(format)]
    if name == "auto" and not _in_memory(source):
        name = FORMATS[_sapwood.format_of(source)]
    if name in MESHES:
        return "mesh"
    if name in ("xyz", "csv", "pcd"):
        return "points"
    head = _head_of(source)
    if name == "auto":
        name = _seen(head)
    if name == "ply":
        return "mesh" if _has_faces(head) else "points"
    if name == "npy":
        return "volume" if _is_volume(source, head) else "points"
    return "mesh" if name in MESHES else "points"


def _head_of(source: Any, most: int = 1 << 16) -> bytes:
    """The first bytes, unpacked; none of what cannot be opened twice: the reader says what is wrong with it."""
    import zlib

    try:
        if _in_memory(source):
            head = bytes(memoryview(source).cast("B")[:most])
        elif not os.path.isfile(source):
            return b""
        else:
            with open(source, "rb") as file:
                head = file.read(most)
        return zlib.decompressobj(31).decompress(head, most) if head[:2] == b"\x1f\x8b" else head
    except (OSError, zlib.error):
        return b""


def _seen(head: bytes) -> str:
    words = head[:512].split()
    if head[:3] == b"ply":
        return "ply"
    if head[:6] == b"\x93NUMPY" or head[:4] == b"PK\x03\x04":
        return "npy"
    if head[:4] == b"glTF" or head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{":
        return "gltf"
    if words and words[0].endswith(b"OFF") and not words[0].strip(b"STCN4nOF"):
        return "off"
    if words and words[0] == b"solid" and (b"facet" in words or b"endsolid" in words):
        return "stl"
    return "auto"


def _has_faces(head: bytes) -> bool:
    for line in head.replace(b"\r", b"\n").split(b"\n"):
        words = line.split()
        if words[:1] == [b"end_header"]:
            return False
        if len(words) == 3 and words[0] == b"element" and words[1] in (b"face", b"tristrips") and words[2] != b"0":
            return True
    return False


def _is_volume(source: Any, head: bytes) -> bool:
    import io
    import zipfile

    if head[:4] == b"PK\x03\x04":
        try:
            with zipfile.ZipFile(io.BytesIO(source) if _in_memory(source) else source) as archive:
                members = archive.namelist()
                if "volume.npy" in members:
                    return True
                if len(members) != 1:
                    return False
                with archive.open(members[0]) as file:
                    head = file.read(1 << 12)
        except (OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError):
            return False
    return _axes(head) == 3


def _axes(head: bytes) -> int:
    """How many axes the array of an NPY has."""
    start = head.find(b"'shape': (")
    end = head.find(b")", start)
    if start < 0 or end < 0:
        return 0
    return sum(bool(side.strip()) for side in head[start + 10:end].split(b","))
