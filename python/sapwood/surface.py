"""Surfaces of volumes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from . import _sapwood
from ._sapwood import ArgumentError
from ._rays import gpu_of
from .files import Mesh, Volume, as_array

__all__ = ["Surface", "isosurface"]


class Surface(NamedTuple):
    """A surface as a mesh: arrays whose memory the library made."""

    vertices: Any
    """float32 (n, 3): x, y, z."""
    triangles: Any
    """int32 (m, 3): fronts face out of the body."""
    normals: Any
    """float32 (n, 3): of length 1, out of the body; 0 where the volume does not change."""

    @property
    def faces(self) -> Any:
        """trimesh's name for ``triangles``."""
        return self.triangles

    def mesh(self) -> Mesh:
        """The same as a Mesh, to be written or drawn."""
        return Mesh(self.vertices, self.triangles, normals=self.normals)


def isosurface(volume: Any, level: float = 0.0, *, low_inside: bool = False, spacing: Sequence[float] | None = None,
               origin: Sequence[float] | None = None, order: str = "zyx", device: Any = None, threads: int = 0,
               progress: Callable[[float], object] | None = None) -> Surface:
    """The surface of a volume at a level, by marching cubes: Surface(vertices, triangles, normals).

    volume: an array [z, y, x] of three axes, or a Volume. float32, uint8, int16 and uint16 are used as they are (also on
    a GPU), bools as uint8, others become float32. A sample is inside if its value is at least the level; low_inside:
    the body is where values are low, as of signed distances, so fronts and normals face higher values. spacing and
    origin: along x, y and z; None: those of the Volume, else 1 and 0. order: "xyz" for arrays [x, y, z].

    Vertices are x, y, z; skimage's ``marching_cubes`` gives them in the order of the array's axes. The mesh has no
    cracks; the same volume gives the same mesh, bit for bit, on CPUs and CUDA GPUs.

    >>> import numpy, sapwood
    >>> z, y, x = numpy.mgrid[-8:9, -8:9, -8:9]
    >>> surface = sapwood.isosurface(36.5 - x*x - y*y - z*z, spacing=(.5, .5, .5), origin=(-4, -4, -4))
    >>> bool(abs(numpy.linalg.norm(surface.vertices, axis=1) - 3.02).max() < .02)
    True
    """
    if order not in ("zyx", "xyz"):
        raise ArgumentError(f"order must be 'zyx' or 'xyz', not {order!r}")
    if isinstance(volume, Volume):
        spacing = volume.spacing if spacing is None else spacing
        origin = volume.origin if origin is None else origin
        volume = volume.values
    values = _values(volume, order)
    spacing = tuple(spacing) if spacing is not None else (1.0, 1.0, 1.0)
    origin = tuple(origin) if origin is not None else (0.0, 0.0, 0.0)
    return Surface(*_sapwood.isosurface(values, level, low_inside, spacing, origin, device, threads, progress))


def _values(volume: Any, order: str) -> Any:
    """Samples [z, y, x] of a type that the library takes."""
    if gpu_of(volume):
        if order == "xyz":
            raise ArgumentError("order must be 'zyx' of arrays on a GPU; transpose them there")
        return volume
    import numpy

    values = as_array(volume, "volume")
    if values.ndim != 3:
        raise ArgumentError(f"volume must have three axes, not the shape {values.shape}")
    if order == "xyz":
        values = values.T
    if values.dtype == numpy.bool_:
        return numpy.ascontiguousarray(values).view(numpy.uint8)
    native = values.dtype.newbyteorder("=")
    if native not in (numpy.float32, numpy.uint8, numpy.int16, numpy.uint16):
        if values.dtype.kind not in "fiu":
            raise TypeError(f"volume must hold numbers, not {values.dtype}")
        with numpy.errstate(over="ignore"):
            return numpy.ascontiguousarray(values, numpy.float32)
    return numpy.ascontiguousarray(values, native)
