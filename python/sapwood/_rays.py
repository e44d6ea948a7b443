"""Rays and their answers in arrays on a GPU, put together and taken apart by the library that the arrays are of."""

from __future__ import annotations

import sys
from typing import Any

from . import _gpu


def limits(value: Any) -> Any:
    """tmin or tmax for the C side: a number, or one for each ray."""
    if isinstance(value, (int, float)):
        return value
    if not getattr(value, "shape", None) and hasattr(value, "__float__"):
        return float(value)
    if not hasattr(value, "reshape"):
        import numpy

        value = numpy.asarray(value)
    return value.reshape(-1)


def gpu_of(array: Any) -> Any:
    """What knows the library of an array on a GPU; None for arrays on the host and all else."""
    library = _gpu._library(array)
    if library == "torch" and array.is_cuda:
        return Torch()
    if library == "cupy":
        return Cupy()
    if library == "jax" and any(device.platform in ("gpu", "cuda") for device in array.devices()):
        return Jax()
    return None


class Library:
    """Arrays of one library."""

    xp: Any

    def full(self, like: Any, value: Any) -> Any:
        """A column of float32 with as many rows as `like`."""
        raise NotImplementedError

    def floats(self, array: Any) -> Any:
        return array.astype(self.xp.float32)

    def ints(self, array: Any) -> Any:
        """The same bits as int32."""
        return array.view(self.xp.int32)

    def concatenate(self, arrays: list[Any]) -> Any:
        return self.xp.concatenate(arrays, 1)

    def where(self, condition: Any, this: Any, that: Any) -> Any:
        return self.xp.where(condition, this, that)

    def join_rays(self, origins: Any, directions: Any, tmin: Any, tmax: Any) -> Any:
        """The library's records of rays, (n, 8)."""
        one, other = (a.reshape((-1, 3)) for a in (origins, directions))
        count = max(one.shape[0], other.shape[0]) if one.shape[0] != 0 and other.shape[0] != 0 else 0
        one, other = (a if a.shape[0] == count else a[:1].repeat(*self.repeats(count)) for a in (one, other))
        columns = [self.floats(one), self.full(one, tmin), self.floats(other), self.full(one, tmax)]
        return self.concatenate(columns)

    def repeats(self, count: int) -> tuple[int, int]:
        """The arguments of repeat that make `count` rows of one."""
        return count, 0

    def split_hits(self, hits: Any) -> tuple[Any, Any, Any, Any]:
        """t, triangle, u and v of records (…, 4), in place."""
        return hits[..., 0], self.ints(hits[..., 3]), hits[..., 1], hits[..., 2]

    def split_closest(self, found: Any) -> tuple[Any, Any, Any, Any, Any]:
        """point, distance, triangle, u and v of records (n, 7)."""
        return found[:, :3], self.root(found[:, 3]), self.ints(found[:, 6]), found[:, 4], found[:, 5]

    def root(self, squares: Any) -> Any:
        """Square roots, correctly rounded."""
        return self.xp.sqrt(squares)

    def split_instance_hits(self, hits: Any) -> tuple[Any, ...]:
        """t, triangle, u, v and instance of records (…, 5), in place."""
        return (*self.split_hits(hits), self.ints(hits[..., 4]))

    def all_hits(self, tree: Any, rays: tuple[Any, ...], most: int, progress: Any) -> tuple[Any, ...]:
        """Offsets, and the records of hits. How many hits a ray has is not known before: with more room until it suffices."""
        room = min(most, 16)
        hits, counts = tree._trace_all(*rays, progress, room)
        while room < most and counts.shape[0] and int(counts.max()) == room:
            room = min(most, 4 * room)
            hits, counts = tree._trace_all(*rays, progress, room)
        there = self.arange(room, counts)[None, :] < counts[:, None]
        return self.offsets(counts), hits[there]

    def offsets(self, counts: Any) -> Any:
        """Where the hits of each ray begin, and the end."""
        return self.xp.concatenate([self.xp.zeros(1, self.xp.int64), self.xp.cumsum(counts, dtype=self.xp.int64)])

    def arange(self, count: int, like: Any) -> Any:
        return self.xp.arange(count)


class Cupy(Library):
    def __init__(self) -> None:
        self.xp = sys.modules["cupy"]

    def full(self, like: Any, value: Any) -> Any:
        column = self.xp.empty((like.shape[0], 1), self.xp.float32)
        column[:, 0] = value
        return column


class Jax(Library):
    def __init__(self) -> None:
        self.jax: Any = sys.modules["jax"]
        self.xp = self.jax.numpy

    def full(self, like: Any, value: Any) -> Any:
        return self.xp.broadcast_to(self.xp.asarray(value, self.xp.float32).reshape((-1, 1)), (like.shape[0], 1))

    def ints(self, array: Any) -> Any:
        return self.jax.lax.bitcast_convert_type(array, self.xp.int32)

    def root(self, squares: Any) -> Any:
        # XLA's roots of float32 are approximate, but those of float64 are not, and round to the right ones.
        with _gpu._wide(self.jax):
            return self.xp.sqrt(squares.astype(self.xp.float64)).astype(self.xp.float32)

    def offsets(self, counts: Any) -> Any:
        with _gpu._wide(self.jax):
            return super().offsets(counts)


class Torch(Library):
    def __init__(self) -> None:
        self.xp = sys.modules["torch"]

    def full(self, like: Any, value: Any) -> Any:
        column = self.xp.empty((like.shape[0], 1), dtype=self.xp.float32, device=like.device)
        column[:, 0] = value
        return column

    def floats(self, array: Any) -> Any:
        return array.to(self.xp.float32)

    def concatenate(self, arrays: list[Any]) -> Any:
        return self.xp.cat(arrays, 1)

    def repeats(self, count: int) -> tuple[int, int]:
        return count, 1

    def arange(self, count: int, like: Any) -> Any:
        return self.xp.arange(count, device=like.device)

    def offsets(self, counts: Any) -> Any:
        start = self.xp.zeros(1, dtype=self.xp.int64, device=counts.device)
        return self.xp.cat([start, self.xp.cumsum(counts, 0, dtype=self.xp.int64)])
