"""Stream compaction: of an array, the items that are wanted, moved together in their old order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _sapwood
from ._sapwood import ArgumentError
from ._rays import gpu_of
from .files import as_array

__all__ = ["compact", "unique"]


def compact(array: Any, keep: Any, *, device: Any = None, threads: int = 0,
            progress: Callable[[float], object] | None = None) -> Any:
    """Keeps array[i] where keep[i] is true: a new array. As ``array[keep]`` in NumPy, by all threads.

    array: of any type but objects, and any number of axes; items are its rows, which are copied byte for byte. keep:
    bools or uint8, one for each. An array on a GPU (CuPy, torch, JAX) gives one there.

    >>> import numpy, sapwood
    >>> sapwood.compact(numpy.arange(5) ** 2, [True, False, False, True, True])
    array([ 0,  9, 16])
    """
    if gpu_of(array):
        kept = int((keep != 0).sum())
        return _sapwood.compact_gpu(array, keep, kept, threads)
    import numpy

    items, size = _items(array)
    flags = as_array(keep, "keep")
    if flags.dtype not in (numpy.bool_, numpy.uint8):
        raise TypeError(f"keep must be bools or uint8, not {flags.dtype}")
    if flags.shape != items.shape[:1]:
        raise ArgumentError(f"keep must have one flag for each of the {items.shape[0]} items, not the shape {flags.shape}")
    flags = numpy.ascontiguousarray(flags).view(numpy.uint8)
    out = numpy.empty((_sapwood.kept(flags),) + items.shape[1:], items.dtype)
    if size:
        _sapwood.compact(_raw(items), size, flags, _raw(out), device, threads, progress)
    return out


def unique(array: Any, *, device: Any = None, threads: int = 0,
           progress: Callable[[float], object] | None = None) -> Any:
    """Keeps the first of each run of adjacent items that are equal in every byte: a new array.

    Of sorted items that is each value once. Unlike ``numpy.unique`` it does not sort, so that what is equal but not
    adjacent stays; -0 and 0 differ, and a NaN equals itself. Otherwise as ``compact``.

    >>> import sapwood
    >>> sapwood.unique([1, 1, 2, 2, 2, 1])
    array([1, 2, 1])
    """
    if gpu_of(array):
        out, count = _sapwood.unique_gpu(array, threads)
        return out[:count]
    import numpy

    items, size = _items(array)
    if not size:  # rows of no bytes are all equal
        return items[:1].copy()
    out = numpy.empty_like(items, order="C", subok=False)
    count = _sapwood.unique(_raw(items), size, _raw(out), device, threads, progress)
    if count < len(out):
        out.resize((count,) + items.shape[1:], refcheck=False)
    return out


def _items(array: Any) -> tuple[Any, int]:
    """The array, contiguous, and the bytes of an item."""
    import numpy

    items = numpy.ascontiguousarray(array) if numpy.ndim(array) else numpy.asarray(array)
    if not items.ndim:
        raise ArgumentError("array must have at least one axis")
    if items.dtype.hasobject:
        raise TypeError(f"array must hold plain bytes, not Python objects ({items.dtype})")
    size = items.itemsize
    for side in items.shape[1:]:
        size *= side
    return items, size


def _raw(array: Any) -> Any:
    """The bytes of an array, in place."""
    import numpy

    return array.reshape(-1).view(numpy.uint8) if array.size else numpy.empty(0, numpy.uint8)
