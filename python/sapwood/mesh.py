"""Triangle meshes: trees over them, rays, nearest points, what lies inside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _sapwood
from ._sapwood import ArgumentError
from .files import Mesh, as_array, read_mesh, three

if TYPE_CHECKING:
    from .cloud import Alignment, Distances

__all__ = ["AllHits", "Closest", "Hits", "MeshTree"]

QUALITIES = ("high", "fast")
HEURISTICS = ("surface", "voxels")


class Hits(NamedTuple):
    """Where rays first meet a mesh: one entry of each array for each ray."""

    t: Any
    """float32: along the ray, in lengths of its direction; infinite for a miss."""
    triangle: Any
    """int32: its number in the mesh; -1 for a miss."""
    u: Any
    """float32: the hit lies at corner0 * (1-u-v) + corner1 * u + corner2 * v."""
    v: Any
    """float32: see u."""


class AllHits(NamedTuple):
    """All hits of rays: those of ray i stand at offsets[i] … offsets[i+1], by (t, triangle)."""

    offsets: Any
    """int64, one more than there are rays."""
    t: Any
    """As in Hits."""
    triangle: Any
    """As in Hits."""
    u: Any
    """As in Hits."""
    v: Any
    """As in Hits."""


class Closest(NamedTuple):
    """The points of a mesh that are nearest to others: one row or entry for each of those."""

    point: Any
    """float32 (…, 3): where it lies. float64 if the tree has an origin."""
    distance: Any
    """float32: infinite if there is none."""
    triangle: Any
    """int32: of equal distances the smallest number; -1 if there is none."""
    u: Any
    """float32: as in Hits."""
    v: Any
    """float32: as in Hits."""


class _Parts:
    """Progress over a call that the library gets as several."""

    def __init__(self, progress: Callable[[float], object], count: int) -> None:
        self.progress, self.all, self.first, self.count = progress, max(count, 1), 0, 0

    def part(self, first: int, count: int) -> None:
        self.first, self.count = first, count

    def __call__(self, done: float) -> object:
        return self.progress((self.first + done * self.count) / self.all)


def _rows(array: Any, name: str) -> tuple[Any, tuple[int, ...]]:
    """The array with two axes at most, and the shape without the last."""
    shape = getattr(array, "shape", None)
    if shape is None:
        array = as_array(array, name)
        shape = array.shape
    shape = tuple(shape)
    if not shape:
        raise ArgumentError(f"{name} must have the shape (n, 3), or (3,) for one; got a number")
    if shape == (0,):
        import numpy

        return numpy.empty((0, 3), numpy.float32), (0,)
    return (array.reshape((-1, shape[-1])) if len(shape) > 2 else array), shape[:-1]


def _shaped(array: Any, shape: tuple[int, ...], width: int = 0) -> Any:
    """An array of one row for each query, as the queries were shaped."""
    if len(shape) == 1:
        return array
    return array.reshape(shape + (width,)) if width else array.reshape(shape)[()]


def _ray_arguments(origins: Any, directions: Any, tmin: Any, tmax: Any,
                   has_origin: bool = False) -> tuple[tuple[Any, ...], tuple[int, ...], Any]:
    """The first arguments of a search in C, the shape of its results, and what knows the library of GPU arrays."""
    from . import _rays

    gpu = _rays.gpu_of(origins)
    if has_origin and gpu:
        raise ArgumentError("this tree has an origin: it takes rays on the host only")
    if directions is None:
        shape = tuple(getattr(origins, "shape", (0,)))
        if has_origin and len(shape) == 2 and shape[1] == 8:  # as others, each relative to the origin
            parts = origins[:, :3], origins[:, 4:7], origins[:, 3], origins[:, 7]
            return parts, shape[:1], None
        return (origins, None, None, None), shape[:1], gpu
    start, start_shape = _rows(origins, "origins")
    along, along_shape = _rows(directions, "directions")
    if start_shape and along_shape and start_shape != along_shape:
        raise ArgumentError(f"origins {start_shape + (3,)} and directions {along_shape + (3,)} must have the same shape, "
                            f"or one of them (3,)")
    shape = start_shape or along_shape
    if gpu:
        return (gpu.join_rays(start, along, tmin, tmax), None, None, None), shape, gpu
    return (start, along, _rays.limits(tmin), _rays.limits(tmax)), shape, None


def _progress(progress: Any, shape: tuple[int, ...]) -> Any:
    if progress is None:
        return None
    if not callable(progress):
        raise TypeError("progress must be a function that takes a number from 0 to 1")
    count = 1
    for side in shape:
        count *= side
    return _Parts(progress, count)


def _mesh_of(vertices: Any, triangles: Any) -> Mesh:
    """The mesh of the arguments: arrays, or one object that has them."""
    if triangles is not None:
        return Mesh(vertices, triangles)
    if isinstance(vertices, Mesh):
        return vertices
    faces = getattr(vertices, "triangles", None) if not hasattr(vertices, "faces") else vertices.faces
    if not hasattr(vertices, "vertices") or faces is None:
        raise TypeError(f"triangles are missing: give vertices and triangles, or a mesh, not {type(vertices).__name__} alone")
    return Mesh(vertices.vertices, faces)


def _needed_origin(vertices: Any) -> tuple[float, float, float]:
    """An origin for vertices that floats would move too far from where they are: by 2^-20 of the mesh's size."""
    import numpy

    if not isinstance(vertices, numpy.ndarray) or vertices.dtype.kind != "f" or vertices.itemsize != 8:
        return 0.0, 0.0, 0.0
    if vertices.ndim != 2 or vertices.shape[1] != 3 or not len(vertices):
        return 0.0, 0.0, 0.0
    places: Any = vertices
    lower, upper = places.min(axis=0), places.max(axis=0)
    with numpy.errstate(all="ignore"):
        extent = float((upper - lower).max())
        largest = max(float(abs(lower).max()), float(abs(upper).max()))
    # Floats move a coordinate by at most 2^-25 of its power of two: where even that is little, nothing needs a look.
    if not numpy.isfinite(largest) or largest * 2**-24 <= extent * 2**-20 or largest < 2**-100 or largest > 1e38:
        return 0.0, 0.0, 0.0
    moved = max(float(abs(places[:, a] - places[:, a].astype(numpy.float32)).max()) for a in range(3))
    if moved <= extent * 2**-20:
        return 0.0, 0.0, 0.0
    step = 10.0 ** numpy.floor(numpy.log10(extent)) if extent > 0 else 1.0
    x, y, z = (float(numpy.round((0.5 * low + 0.5 * high) / step) * step) for low, high in zip(lower, upper))
    return x, y, z


class MeshTree(_sapwood.MeshTree):
    """A k-d tree over the triangles of a mesh, for rays and nearest points.

    MeshTree(vertices, triangles, *, quality="high", ...)
    MeshTree(mesh, *, ...)

    vertices: (n, 3) numbers; triangles: (m, 3) ints, the vertices at the corners of each. Or one object that has both:
    what ``sapwood.read`` gives for a mesh, or one of trimesh or Open3D (``vertices`` and ``faces`` or ``triangles``).
    The tree keeps a copy of the triangles.

    quality: "high" looks for the cheapest plane at every node; "fast" halves large nodes, which builds several times
    faster and traces a little slower. Answers are the same.

    origin: (x, y, z), subtracted from float64 vertices before these become floats, and from origins of rays and points
    too; points that the tree gives are moved back. None: one is chosen where floats would be too coarse for the mesh,
    as they are for a building at 481234.57, 5431234.12.

    device: "cpu", "cuda", "cuda:1"; None: where the arrays lie. threads: 0 for all. progress: a function that is given
    numbers from 0 to 1 during a build; if it returns False the build ends with an exception.

    heuristic: "surface" suits rays, "voxels" points within `radius` of the mesh. traversal_cost (5) is that of a step from
    a node to its child, intersection_cost (1) that of a test of a triangle. empty_space (0.25): the part of a node's side
    that must be empty to be cut off; small_node (64): nodes of so few triangles are small; both are of "fast" builds.
    depth: inner nodes from the root to a leaf, at most. memory: bytes that the build keeps to; 0: no bound.

    >>> import numpy, sapwood
    >>> corners = numpy.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], numpy.float32)
    >>> tree = sapwood.MeshTree(corners, [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    >>> tree
    <sapwood.MeshTree of 4 triangles on cpu, 0 0 0 to 1 1 1>
    >>> float(tree.trace([.25, .25, -1], [0, 0, 1]).t)
    1.0
    >>> tree.inside([[.1, .1, .1], [1, 1, 1]])
    array([ True, False])
    """

    _mesh: Mesh | None = None

    def __init__(
        self,
        vertices: Any,
        triangles: Any = None,
        *,
        quality: str = "high",
        heuristic: str = "surface",
        radius: float = 0.0,
        traversal_cost: float = 0.0,
        intersection_cost: float = 0.0,
        empty_space: float = 0.0,
        small_node: int = 0,
        depth: int = 0,
        memory: int = 0,
        origin: Sequence[float] | None = None,
        device: Any = None,
        threads: int = 0,
        progress: Callable[[float], object] | None = None,
    ) -> None:
        mesh = _mesh_of(vertices, triangles)
        if quality not in QUALITIES:
            raise ArgumentError(f"quality must be 'high' or 'fast', not {quality!r}")
        if heuristic not in HEURISTICS:
            raise ArgumentError(f"heuristic must be 'surface' or 'voxels', not {heuristic!r}")
        if any(mesh.origin):
            if origin is not None:
                raise ArgumentError("this mesh has an origin of its own, so origin must be None")
            subtracted, where = (0.0, 0.0, 0.0), mesh.origin
        else:
            subtracted = _needed_origin(mesh.vertices) if origin is None else three(origin, "origin")
            where = subtracted
        options = (QUALITIES.index(quality), HEURISTICS.index(heuristic), radius, traversal_cost, intersection_cost,
                   empty_space, small_node, depth, memory)
        self._build(mesh.vertices, mesh.triangles, subtracted, where, options, device, threads, progress)
        self._mesh = mesh

    @classmethod
    def read(cls, path: Any, *, format: str | None = None, keep_apart: bool = False, materials: Any = None,
             unpack_limit: int = 0, origin: Any = "auto", **options: Any) -> MeshTree:
        """Builds a tree over a mesh from a file: PLY, OBJ, STL or OFF, also packed by gzip.

        The mesh, with its colours and materials, is then ``tree.mesh``. The first options are those of
        ``sapwood.read_mesh``, the others those of MeshTree.
        """
        mesh = read_mesh(path, format=format, keep_apart=keep_apart, materials=materials, unpack_limit=unpack_limit,
                         origin=origin)
        return cls(mesh, **options)

    @property
    def mesh(self) -> Mesh | None:
        """The mesh that the tree was built over; None for a tree that was loaded, until you set it."""
        return self._mesh

    @mesh.setter
    def mesh(self, mesh: Any) -> None:
        self._mesh = None if mesh is None else _mesh_of(mesh, None)

    # ---- Rays

    def trace(self, origins: Any, directions: Any = None, *, tmin: Any = 0.0, tmax: Any = float("inf"),
              progress: Callable[[float], object] | None = None) -> Hits:
        """The first hit of each ray, as Hits(t, triangle, u, v).

        origins and directions: (n, 3), or (3,) for one ray or for what all rays share, or with more axes, such as
        (height, width, 3): the arrays of the result have the same ones without the last. A direction need not have
        length 1. tmin and tmax: from where to where along each ray; numbers, or one for each. Without directions, rays
        are (n, 8): origin, tmin, direction and tmax of each, float32, which the library takes as they lie (of a tree with
        an origin they may be float64).

        The hit is the one with the smallest (t, triangle); both sides of triangles are hit, and no ray slips between
        triangles that share an edge. Rays that are not finite or have no direction hit nothing.

        Arrays on a GPU (CuPy, torch, JAX) for a tree on it give arrays of the same library, in its stream.

        >>> import sapwood
        >>> tree = sapwood.MeshTree([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
        >>> hits = tree.trace([[.2, .2, 1], [.8, .8, 1]], [0, 0, -1])
        >>> hits.t, hits.triangle
        (array([ 1., inf], dtype=float32), array([ 0, -1], dtype=int32))
        """
        rays, shape, gpu = self._rays(origins, directions, tmin, tmax)
        answer = self._trace(*rays, _progress(progress, shape))
        return Hits(*(_shaped(a, shape) for a in (gpu.split_hits(answer) if gpu else _answers(answer, rays))))

    def occluded(self, origins: Any, directions: Any = None, *, tmin: Any = 0.0, tmax: Any = float("inf"),
                 progress: Callable[[float], object] | None = None) -> Any:
        """Whether each ray hits anything at all: bools. Otherwise as ``trace``, and faster.

        >>> import sapwood
        >>> tree = sapwood.MeshTree([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
        >>> tree.occluded([[.2, .2, 1], [.8, .8, 1]], [0, 0, -1])
        array([ True, False])
        """
        rays, shape, _ = self._rays(origins, directions, tmin, tmax)
        return _shaped(self._occluded(*rays, _progress(progress, shape)), shape)

    def trace_all(self, origins: Any, directions: Any, *, limit: int | None = None, tmin: Any = 0.0,
                  tmax: Any = float("inf"), progress: Callable[[float], object] | None = None) -> AllHits:
        """All hits of each ray, or the first `limit`, as AllHits(offsets, t, triangle, u, v).

        Those of ray i (counted over all axes but the last) stand at offsets[i] … offsets[i+1], in the order of
        (t, triangle). Otherwise as ``trace``.

        >>> import sapwood
        >>> tree = sapwood.MeshTree([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
        ...                         [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
        >>> hits = tree.trace_all([[.25, .25, -1], [5, 5, 5]], [0, 0, 1])
        >>> hits.offsets, hits.t
        (array([0, 2, 2]), array([1. , 1.5], dtype=float32))
        """
        if limit is not None and limit < 1:
            raise ArgumentError(f"limit must be at least 1, or None for all hits, not {limit}")
        rays, shape, gpu = self._rays(origins, directions, tmin, tmax)
        most = min(2**31 - 1 if limit is None else limit, max(self.triangle_count, 1))
        if gpu:
            offsets, hits = gpu.all_hits(self, rays, most, progress)
            return AllHits(offsets, *gpu.split_hits(hits))
        return AllHits(*self._trace_all(*rays, _progress(progress, shape), most))

    def _rays(self, origins: Any, directions: Any, tmin: Any, tmax: Any) -> tuple[tuple[Any, ...], tuple[int, ...], Any]:
        return _ray_arguments(origins, directions, tmin, tmax, any(self.origin))

    # ---- Points

    def closest(self, points: Any, *, progress: Callable[[float], object] | None = None) -> Closest:
        """The point of the mesh nearest to each of the points, as Closest(point, distance, triangle, u, v).

        points: (n, 3), (3,) for one, or with more axes. Without triangles, or for a point that is not finite, the
        triangle is -1 and the distance infinite.

        >>> import sapwood
        >>> tree = sapwood.MeshTree([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
        >>> tree.closest([[.25, .25, 2], [-3, 0, 4]])[:3]
        (array([[0.25, 0.25, 0.  ],
               [0.  , 0.  , 0.  ]], dtype=float32), array([2., 5.], dtype=float32), array([0, 0], dtype=int32))
        """
        from . import _rays

        rows, shape = _rows(points, "points")
        answer = self._closest(rows, _progress(progress, shape))
        gpu = _rays.gpu_of(rows)
        point, *others = gpu.split_closest(answer) if gpu else answer
        return Closest(_shaped(point, shape, 3), *(_shaped(a, shape) for a in others))

    def inside(self, points: Any, *, progress: Callable[[float], object] | None = None) -> Any:
        """Whether each of the points lies inside a closed mesh: bools.

        That is whether a ray from it crosses the surface an odd number of times. Points on the surface may count as
        inside or outside; points that are not finite lie outside.
        """
        rows, shape = _rows(points, "points")
        return _shaped(self._inside(rows, _progress(progress, shape)), shape)

    def signed_distance(self, points: Any, *, progress: Callable[[float], object] | None = None) -> Any:
        """The distance of each of the points to a closed mesh, negative inside: float32.

        Open3D's ``compute_signed_distance`` has the same sign; trimesh's ``signed_distance`` the opposite one.

        >>> import sapwood
        >>> tree = sapwood.MeshTree([[0, 0, 0], [3, 0, 0], [0, 3, 0], [0, 0, 3]],
        ...                         [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
        >>> tree.signed_distance([[.5, .5, .25], [0, 0, -2]])
        array([-0.25,  2.  ], dtype=float32)
        """
        from . import _rays

        rows, shape = _rows(points, "points")
        if gpu := _rays.gpu_of(rows):
            distance, inside = self.closest(rows).distance, self._inside(rows, None)
            return _shaped(gpu.where(inside, -distance, distance), shape)
        return _shaped(self._signed_distance(rows, _progress(progress, shape)), shape)

    def distance(self, points: Any, *, signed: bool = False, radius: float | None = None, quantile: float | None = None,
                 distances: bool = True, out: Any = None,
                 progress: Callable[[float], object] | None = None) -> Distances:
        """How far each of the points, (n, 3), is from the mesh, and what that says together, as Distances(distances,
        counted, mean, mean_square, bias, quantile, greatest, farthest): float64.

        signed: distances from inside a closed mesh are negative. All else: as ``Tree.distance``.

        >>> import sapwood
        >>> tree = sapwood.MeshTree([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
        >>> found = tree.distance([[.25, .25, 2], [-3, 0, 4]])
        >>> found.distances, found.mean
        (array([2., 5.]), 3.5)
        """
        return self._distance(self._relative(points, "points"), radius, quantile, signed, distances, out, progress)

    def align(self, source: Any, method: str = "point", *, start: Any = None, iterations: int | None = None,
              tolerance: float | None = None, levels: int | None = None, max_distance: float | None = None,
              overlap: float | str | None = None, max_angle: float | None = None, one_to_one: bool = False,
              kernel: str | None = None, kernel_scale: float | None = None, flatness: float | None = None,
              normals_k: int | None = None, source_normals: Any = None, drop_nonfinite: bool = False,
              progress: Callable[[float], object] | None = None) -> Alignment:
        """The turn and shift that take source, an array of points, onto the mesh, as an Alignment. Arguments: as
        ``Tree.align``; the mesh has normals of its own.

        >>> import numpy, sapwood
        >>> corners = numpy.array([[0, 0, 0], [4, 0, 0], [0, 3, 0], [0, 0, 2]], numpy.float32)
        >>> tree = sapwood.MeshTree(corners, [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
        >>> source = numpy.concatenate([tree.closest(numpy.random.default_rng(1).random((500, 3)) * 4).point])
        >>> tree.align(source + [.05, 0, .02], "plane").transform[:3, 3].round(4) + 0.0
        array([-0.05,  0.  , -0.02])
        """
        place = self._relative(source, "source")
        found = self._align(place, method, self._moved(start, 1.0), iterations, tolerance, levels, max_distance, overlap,
                            max_angle, one_to_one, kernel, kernel_scale, flatness, normals_k, source_normals,
                            drop_nonfinite, progress)
        if not any(self.origin):
            return found  # type: ignore[no-any-return]
        return found._replace(  # type: ignore[no-any-return]
            transform=self._moved(found.transform, -1.0), center=found.center + self.origin)

    def _relative(self, points: Any, name: str) -> Any:
        """Points beside the tree's origin."""
        if not any(self.origin):
            return points
        import numpy

        return (as_array(points, name, float) - self.origin).astype(numpy.float32)

    def _moved(self, matrix: Any, sign: float) -> Any:
        """A motion of points beside the origin that is one of points themselves (sign 1), or the other way (-1)."""
        if matrix is None or isinstance(matrix, str) or not any(self.origin):
            return matrix
        import numpy

        moved = numpy.array(as_array(matrix, "start", float))
        if moved.shape != (4, 4):
            raise ArgumentError(f"start must be a matrix of 4 x 4, not of the shape {moved.shape}")
        origin = numpy.array(self.origin)
        moved[:3, 3] += sign * (moved[:3, :3] @ origin - origin)
        return moved

    # ---- Names that others use

    def contains(self, points: Any) -> Any:
        """trimesh's name for ``inside``."""
        return self.inside(points)

    def closest_point(self, points: Any) -> tuple[Any, Any, Any]:
        """trimesh's name for ``closest``: the nearest points, distances and triangles, as float32 and int32 (trimesh:
        float64 and int64)."""
        return tuple(self.closest(points)[:3])  # type: ignore[return-value]

    def cast_rays(self, rays: Any) -> dict[str, Any]:
        """The first hit of each ray as Open3D's RaycastingScene gives it: rays are (…, 6), origin and direction.

        A dict of t_hit, geometry_ids, primitive_ids, primitive_uvs and primitive_normals. As there, a miss has an
        infinite t_hit, the ids 4294967295, and zeros. Unlike there, the arrays are NumPy's, and the only geometry is
        number 0.

        >>> import sapwood
        >>> tree = sapwood.MeshTree([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
        >>> answer = tree.cast_rays([[.25, .25, 2, 0, 0, -1]])
        >>> answer["t_hit"], answer["primitive_ids"], answer["primitive_normals"]
        (array([2.], dtype=float32), array([0], dtype=uint32), array([[0., 0., 1.]], dtype=float32))
        """
        import numpy

        rays = as_array(rays, "rays")
        if not rays.ndim or rays.shape[-1] != 6:
            raise ArgumentError(f"rays must have the shape (…, 6), origin and direction of each, not {rays.shape}")
        hits = self.trace(rays[..., :3], rays[..., 3:])
        triangle = numpy.asarray(hits.triangle)
        return {
            "t_hit": hits.t,
            "geometry_ids": numpy.where(triangle < 0, numpy.uint32(0xFFFFFFFF), numpy.uint32(0)),
            "primitive_ids": triangle.astype(numpy.uint32),
            "primitive_uvs": numpy.stack([hits.u, hits.v], -1),
            "primitive_normals": self._normals(triangle),
        }

    def _normals(self, triangle: Any) -> Any:
        """Of length 1, where triangles show their fronts; 0 for those without area, and for number -1."""
        import numpy

        if self.mesh is None:
            raise ArgumentError("this tree was loaded, and without its mesh there are no normals; set tree.mesh")
        normals = numpy.zeros(triangle.shape + (3,), numpy.float32)
        hit = triangle >= 0
        vertices = numpy.asarray(self.mesh.vertices)
        first, second, third = numpy.moveaxis(vertices[numpy.asarray(self.mesh.triangles)[triangle[hit]]], 1, 0)
        across = numpy.cross(second.astype(float) - first, third.astype(float) - first)
        length = numpy.linalg.norm(across, axis=-1, keepdims=True)
        normals[hit] = numpy.divide(across, length, out=numpy.zeros_like(across), where=length > 0)
        return normals

    # ---- The tree itself

    def rebuild(self, vertices: Any, triangles: Any = None, *,
                progress: Callable[[float], object] | None = None) -> None:
        """Builds anew over another mesh, or one that has moved, into the memory of the tree, with the same options.

        Without triangles, those of the tree's mesh stay. No other thread may search the tree meanwhile; if one does,
        this raises RuntimeError, and so does a search during it.
        """
        self._change(self._rebuild, vertices, triangles, progress)

    def refit(self, vertices: Any, triangles: Any = None, *,
              progress: Callable[[float], object] | None = None) -> float:
        """Fits the tree to its mesh after the vertices have moved a little: about three times as fast as a rebuild.

        Trees of quality "fast" are rebuilt about as fast, and on a GPU trees are always built anew. Answers are those of a
        new tree, bit for bit. Returns how many times as much rays are expected to cost as after the last build: rebuild when
        that is more than you like. There must be as many triangles as before.
        """
        return float(self._change(self._refit, vertices, triangles, progress))

    def _change(self, how: Callable[..., Any], vertices: Any, triangles: Any, progress: Any) -> Any:
        if triangles is None and not hasattr(vertices, "vertices"):
            if self.mesh is None:
                raise ArgumentError("this tree was loaded, without its mesh: give the triangles too")
            triangles = self.mesh.triangles
        mesh = _mesh_of(vertices, triangles)
        if any(mesh.origin) and mesh.origin != self.origin:
            mesh = mesh.moved()
        subtracted = (0.0, 0.0, 0.0) if any(mesh.origin) else self.origin
        result = how(mesh.vertices, mesh.triangles, subtracted, progress)
        self._mesh = mesh
        return result

    def save(self, path: Any) -> None:
        """Writes the tree to a file, which replaces an older one only when complete. An origin is not saved."""
        self._save(path)

    @classmethod
    def load(cls, path: Any, *, trust: bool = False, origin: Sequence[float] = (0.0, 0.0, 0.0), device: Any = None,
             threads: int = 0) -> MeshTree:
        """Loads a saved tree, which is mapped where it can be: the file must not be changed while the tree lives.

        All of it is checked first. trust: only its checksum and sizes are, which is faster; for files that you saved
        yourself. origin: that of the tree when it was saved.
        """
        self = cls.__new__(cls)
        self._load(path, three(origin, "origin"), trust, device, threads, False)
        return self

    def copy(self, *, device: Any = None, threads: int = 0) -> MeshTree:
        """A copy of the tree on another device, or (None) the same."""
        new = type(self).__new__(type(self))
        self._copy(new, device, threads)
        new.__dict__.update(self.__dict__)
        return new

    def verify(self) -> None:
        """Checks the whole tree, and raises if anything about it is wrong."""
        self._verify()

    def __copy__(self) -> MeshTree:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> MeshTree:
        return self.copy()

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        import pickle

        data = self._bytes()
        state = {name: value for name, value in self.__dict__.items() if name != "_mesh"}
        saved = pickle.PickleBuffer(data) if protocol >= 5 else bytes(data)
        return _unpickled, (type(self), saved, self.origin, self.device, self._describe()["threads"]), state or None

    def __repr__(self) -> str:
        try:
            info = self._describe()
        except ValueError:
            return f"<sapwood.{type(self).__name__} that has not been built>"
        lower, upper = (" ".join(f"{x:.6g}" for x in corner) for corner in info["bounds"])
        box = f", {lower} to {upper}" if info["triangle_count"] else ""
        return f"<sapwood.{type(self).__name__} of {info['triangle_count']} triangles on {info['device']}{box}>"

    @property
    def triangle_count(self) -> int:
        """How many triangles the mesh has."""
        return int(self._describe()["triangle_count"])

    @property
    def device(self) -> str:
        """Where the tree lies: "cpu", "cuda:0"."""
        return str(self._describe()["device"])

    @property
    def bounds(self) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
        """The least and the greatest corner of the triangles' box; (+inf, …) and (-inf, …) without any."""
        return self._describe()["bounds"]  # type: ignore[no-any-return]

    @property
    def origin(self) -> tuple[float, float, float]:
        """What the coordinates in the tree are relative to. Those that you give and get are not."""
        return self._describe()["origin"]  # type: ignore[no-any-return]

    @property
    def quality(self) -> str:
        """"high" or "fast", as it was built."""
        return QUALITIES[self._describe()["quality"]]

    @property
    def heuristic(self) -> str:
        """"surface" or "voxels", as it was built."""
        return HEURISTICS[self._describe()["heuristic"]]

    @property
    def depth(self) -> int:
        """Inner nodes from the root to the deepest leaf."""
        return int(self._describe()["depth"])

    @property
    def nodes(self) -> int:
        """How many inner nodes there are."""
        return int(self._describe()["nodes"])

    @property
    def leaves(self) -> int:
        """How many leaves there are, empty ones included."""
        return int(self._describe()["leaves"])

    @property
    def references(self) -> int:
        """Triangles in leaves, each counted in every leaf that holds it."""
        return int(self._describe()["references"])

    @property
    def expected_cost(self) -> float:
        """Of a ray, by the surface area heuristic, with the costs of the options."""
        return float(self._describe()["cost"])

    @property
    def bytes(self) -> int:
        """Of the tree's arrays, triangles included."""
        return int(self._describe()["bytes"])

    @property
    def mapped(self) -> bool:
        """Whether the arrays lie as they were saved, in a mapped file or in bytes."""
        return bool(self._describe()["mapped"])


def _answers(answer: Any, rays: tuple[Any, ...]) -> Any:
    """The arrays of hits: those that C made, or columns of the library's records."""
    if rays[1] is not None:
        return answer
    return answer[:, 0], answer[:, 3].view("i4"), answer[:, 1], answer[:, 2]


def _unpickled(cls: type[MeshTree], saved: Any, origin: tuple[float, float, float], device: str, threads: int) -> MeshTree:
    self = cls.__new__(cls)
    try:
        self._load(saved, origin, False, device, threads, True)
    except _sapwood.NoDeviceError:  # there is no such GPU here
        self._load(saved, origin, False, "cpu", threads, True)
    return self
