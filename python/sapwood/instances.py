"""Meshes that stand in the world many times, each moved by a matrix: a tree over their trees, and rays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from . import _sapwood
from ._sapwood import ArgumentError
from .files import as_array
from .mesh import MeshTree, _progress, _ray_arguments, _shaped

__all__ = ["AllInstanceHits", "InstanceHits", "Instances"]


class InstanceHits(NamedTuple):
    """Where rays first meet an instance: one entry of each array for each ray."""

    t: Any
    """float32: along the ray, in lengths of its direction; infinite for a miss."""
    triangle: Any
    """int32: its number in the instance's mesh; -1 for a miss."""
    u: Any
    """float32: the hit lies at corner0 * (1-u-v) + corner1 * u + corner2 * v, moved by the instance's transform."""
    v: Any
    """float32: see u."""
    instance: Any
    """int32: the instance's number; -1 for a miss."""


class AllInstanceHits(NamedTuple):
    """All hits of rays: those of ray i stand at offsets[i] … offsets[i+1], by (t, instance, triangle)."""

    offsets: Any
    """int64, one more than there are rays."""
    t: Any
    """As in InstanceHits."""
    triangle: Any
    """As in InstanceHits."""
    u: Any
    """As in InstanceHits."""
    v: Any
    """As in InstanceHits."""
    instance: Any
    """As in InstanceHits."""


class Instances(_sapwood.Instances):
    """Meshes that stand in the world many times: a tree over their trees, each moved by a transform.

    Instances(trees, transforms, which=None)

    trees: a MeshTree, or a list of them, all on one device. They are kept, not copied: a mesh has one tree however often
    it stands somewhere. transforms: (n, 3, 4) or (n, 4, 4), or (3, 4) for one, from each instance's mesh to the world; a
    transform may turn, shift, scale, shear and mirror, but must have an inverse. which: (n,) ints, the number of each
    instance's tree. None: the only tree, or, of as many trees as transforms, each tree once.

    A tree with an origin stands there. Transforms become float32 when its place has been added.

    When instances move, ``rebuild`` is given their new transforms: that takes microseconds for hundreds of them. It also
    has to be called when a tree was rebuilt or refitted; until then searches raise RuntimeError. progress: as for MeshTree.

    >>> import numpy, sapwood
    >>> tree = sapwood.MeshTree([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    >>> transforms = numpy.tile(numpy.eye(4), (3, 1, 1))
    >>> transforms[:, 0, 3] = [0, 10, 20]
    >>> world = sapwood.Instances(tree, transforms)
    >>> world
    <sapwood.Instances, 3 of 1 mesh, on cpu>
    >>> hits = world.trace([[.25, .25, 4], [20.25, .25, 4], [15, .25, 4]], [0, 0, -1])
    >>> hits.instance, hits.t
    (array([ 0,  2, -1], dtype=int32), array([ 4.,  4., inf], dtype=float32))
    """

    _trees: tuple[MeshTree, ...] = ()
    _which: Any = None

    def __init__(self, trees: MeshTree | Sequence[MeshTree], transforms: Any, which: Any = None, *,
                 progress: Callable[[float], object] | None = None) -> None:
        self._place(trees, transforms, which, progress)

    def rebuild(self, transforms: Any, which: Any = None, *, trees: MeshTree | Sequence[MeshTree] | None = None,
                progress: Callable[[float], object] | None = None) -> None:
        """Builds anew over instances that have moved, or over others, into the memory of the tree.

        Without trees, those of before stay, and so does which, if there are as many transforms. No other thread may
        search the tree meanwhile; if one does, this raises RuntimeError, and so does a search during it.
        """
        if trees is None:
            self._describe()  # or there are none yet
        if trees is None and which is None and len(self._numbers(transforms)) == len(self._which):
            which = self._which
        self._place(self._trees if trees is None else trees, transforms, which, progress)

    def _numbers(self, transforms: Any) -> Any:
        """Transforms as float64, (n, 3 or 4, 4)."""
        numbers = as_array(transforms, "transforms", float)
        if numbers.ndim == 2:
            numbers = numbers[None]
        if numbers.ndim == 1 and not len(numbers):
            numbers = numbers.reshape(0, 3, 4)
        if numbers.ndim != 3 or numbers.shape[1:] not in ((3, 4), (4, 4)):
            raise ArgumentError(f"transforms must have the shape (n, 3, 4) or (n, 4, 4), not {numbers.shape}")
        if numbers.shape[1] == 4 and (numbers[:, 3] != (0, 0, 0, 1)).any():
            raise ArgumentError("transforms must have 0, 0, 0, 1 as their last row")
        return numbers

    def _place(self, trees: Any, transforms: Any, which: Any, progress: Any) -> None:
        import numpy

        numbers = self._numbers(transforms)
        held = (trees,) if isinstance(trees, MeshTree) else tuple(trees)
        if which is None:
            if len(held) != 1 and len(held) != len(numbers):
                raise ArgumentError(f"which is missing: there are {len(held)} trees and {len(numbers)} transforms")
            chosen = numpy.arange(len(numbers), dtype=numpy.int32) if len(held) != 1 else numpy.zeros(len(numbers), numpy.int32)
        else:
            chosen = as_array(which, "which")
            if chosen.shape != (len(numbers),) or chosen.dtype.kind not in "iu" and len(chosen):
                raise ArgumentError(f"which must be an int for each of the {len(numbers)} transforms")
            chosen = numpy.array(chosen, numpy.int64).clip(-1, 2**31 - 1).astype(numpy.int32)
        self._build(list(held), numpy.ascontiguousarray(numbers), chosen, progress)
        self._trees, self._which = held, chosen

    def trace(self, origins: Any, directions: Any = None, *, tmin: Any = 0.0, tmax: Any = float("inf"),
              progress: Callable[[float], object] | None = None) -> InstanceHits:
        """The first hit of each ray, which is in the world, as InstanceHits(t, triangle, u, v, instance).

        The hit is the one with the smallest (t, instance, triangle). An instance is hit where its mesh is hit by the ray
        that is moved to it; ``sapwood/instances.h`` states the arithmetic. Arguments: as of ``MeshTree.trace``.
        """
        rays, shape, gpu = _ray_arguments(origins, directions, tmin, tmax)
        hits = self._trace(*rays, _progress(progress, shape))
        return InstanceHits(*(_shaped(a, shape) for a in _columns(hits, gpu)))

    def occluded(self, origins: Any, directions: Any = None, *, tmin: Any = 0.0, tmax: Any = float("inf"),
                 progress: Callable[[float], object] | None = None) -> Any:
        """Whether each ray hits anything at all: bools. Otherwise as ``trace``, and faster."""
        rays, shape, _ = _ray_arguments(origins, directions, tmin, tmax)
        return _shaped(self._occluded(*rays, _progress(progress, shape)), shape)

    def trace_all(self, origins: Any, directions: Any, *, limit: int | None = None, tmin: Any = 0.0,
                  tmax: Any = float("inf"), progress: Callable[[float], object] | None = None) -> AllInstanceHits:
        """All hits of each ray, or the first `limit`, as AllInstanceHits(offsets, t, triangle, u, v, instance).

        Those of ray i (counted over all axes but the last) stand at offsets[i] … offsets[i+1], in the order of
        (t, instance, triangle). Otherwise as ``trace``.
        """
        if limit is not None and limit < 1:
            raise ArgumentError(f"limit must be at least 1, or None for all hits, not {limit}")
        rays, shape, gpu = _ray_arguments(origins, directions, tmin, tmax)
        most = min(2**31 - 1 if limit is None else limit, max(self.triangle_count, 1))
        if gpu:
            offsets, hits = gpu.all_hits(self, rays, most, progress)
        else:
            offsets, hits = self._trace_all(*rays, _progress(progress, shape), most)
        return AllInstanceHits(offsets, *_columns(hits, gpu))

    def __repr__(self) -> str:
        try:
            info = self._describe()
        except ValueError:
            return f"<sapwood.{type(self).__name__} that have not been built>"
        meshes = "1 mesh" if info["trees"] == 1 else f"{info['trees']} meshes"
        return f"<sapwood.{type(self).__name__}, {info['count']} of {meshes}, on {info['device']}>"

    @property
    def trees(self) -> tuple[MeshTree, ...]:
        """The meshes' trees."""
        return self._trees

    @property
    def which(self) -> Any:
        """The number of each instance's tree: int32."""
        return None if self._which is None else self._which.copy()

    @property
    def count(self) -> int:
        """How many instances there are."""
        return int(self._describe()["count"])

    @property
    def triangle_count(self) -> int:
        """How many triangles all instances have together."""
        import numpy

        self._describe()
        return int(numpy.bincount(self._which, minlength=len(self._trees)) @ [tree.triangle_count for tree in self._trees])

    @property
    def device(self) -> str:
        """Where the tree lies: "cpu", "cuda:0"."""
        return str(self._describe()["device"])

    @property
    def bounds(self) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
        """The corners of a box around all instances, a little larger than they are; (+inf, …) and (-inf, …) without any."""
        return self._describe()["bounds"]  # type: ignore[no-any-return]

    @property
    def depth(self) -> int:
        """Inner nodes from the root to the deepest leaf, which holds one instance."""
        return int(self._describe()["depth"])

    @property
    def bytes(self) -> int:
        """Of the tree's arrays, without the meshes' trees."""
        return int(self._describe()["bytes"])


def _columns(hits: Any, gpu: Any) -> tuple[Any, ...]:
    """t, triangle, u, v and instance of the library's records."""
    if gpu:
        return tuple(gpu.split_instance_hits(hits))
    columns = hits.T.copy()
    return columns[0], columns[3].view("i4"), columns[1], columns[2], columns[4].view("i4")
