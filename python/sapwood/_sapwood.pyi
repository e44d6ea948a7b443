"""The C part: trees and sets over points."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, Literal, Self, SupportsFloat, SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._results import Neighbors, Rows

Device: TypeAlias = Any  # 'cpu', 'cuda', 'cuda:1', or an object whose str() that is, such as a torch.device
Array: TypeAlias = Any  # anything that ArrayLike is, and arrays of torch, CuPy and JAX, on the host or on a GPU
Metric: TypeAlias = Literal["l2", "l1", "linf", "lp"]
Progress: TypeAlias = Callable[[float], object]
Path: TypeAlias = str | bytes | PathLike[str] | PathLike[bytes]

__version__: str

class Error(Exception):
    status: int

class ArgumentError(Error, ValueError): ...
class RangeError(Error, ValueError): ...
class NotFiniteError(Error, ValueError): ...
class OutOfMemoryError(Error, MemoryError): ...
class DeviceMemoryError(Error, MemoryError): ...
class NoDeviceError(Error, RuntimeError): ...
class DeviceLostError(Error, RuntimeError): ...
class UnsupportedError(Error, NotImplementedError): ...
class FileError(Error, OSError): ...
class FormatError(Error, ValueError): ...
class CancelledError(Error): ...

class Tree:
    def __init__(
        self,
        points: Array,
        *,
        leaf_size: SupportsIndex = 0,
        split: Literal["median", "midpoint"] = "median",
        axis: Literal["widest", "cycle"] = "widest",
        period: ArrayLike | None = None,
        drop_duplicates: bool = False,
        drop_nonfinite: bool = False,
        device: Device = None,
        threads: SupportsIndex = 0,
        progress: Progress | None = None,
    ) -> None: ...
    @property
    def count(self) -> int: ...
    @property
    def source_count(self) -> int: ...
    @property
    def dims(self) -> int: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def device(self) -> str: ...
    @property
    def threads(self) -> int: ...
    @property
    def depth(self) -> int: ...
    @property
    def leaves(self) -> int: ...
    @property
    def largest_leaf(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
    @property
    def period(self) -> NDArray[np.float64] | None: ...
    @property
    def leaf_size(self) -> int: ...
    @property
    def split(self) -> str: ...
    @property
    def duplicates(self) -> int: ...
    @property
    def not_finite(self) -> int: ...
    @property
    def mapped(self) -> bool: ...
    def __len__(self) -> int: ...
    def rebuild(self, points: Array, *, progress: Progress | None = None) -> None: ...
    def nearest(
        self,
        queries: Array,
        k: SupportsIndex = 1,
        *,
        radius: SupportsFloat | Array | None = None,
        metric: Metric = "l2",
        p: SupportsFloat | None = None,
        weights: ArrayLike | None = None,
        keep: Array | None = None,
        eps: SupportsFloat = 0.0,
        exclude: Array | None = None,
        ks: Array | None = None,
        ordered: bool = False,
        ids: bool = True,
        distances: bool = True,
        out: Sequence[Array | None] | None = None,
        progress: Progress | None = None,
    ) -> Neighbors: ...
    def within(
        self,
        queries: Array,
        radius: SupportsFloat | Array,
        *,
        k: SupportsIndex | None = None,
        sorted: bool = False,
        metric: Metric = "l2",
        p: SupportsFloat | None = None,
        weights: ArrayLike | None = None,
        keep: Array | None = None,
        out: Sequence[Array | None] | None = None,
        progress: Progress | None = None,
    ) -> Rows: ...
    def count_within(
        self,
        queries: Array,
        radius: SupportsFloat | Array,
        *,
        k: SupportsIndex | None = None,
        metric: Metric = "l2",
        p: SupportsFloat | None = None,
        weights: ArrayLike | None = None,
        keep: Array | None = None,
        progress: Progress | None = None,
    ) -> Any: ...
    def box(self, lower: Array, upper: Array, *, progress: Progress | None = None) -> Rows: ...
    def box_count(self, lower: Array, upper: Array, *, progress: Progress | None = None) -> Any: ...
    def pairs(self, radius: SupportsFloat, *, shifts: bool = False, progress: Progress | None = None) -> Any: ...
    def pairs_with(self, other: Tree, radius: SupportsFloat, *, progress: Progress | None = None) -> Rows: ...
    def count_pairs(
        self,
        other: Tree,
        radii: ArrayLike,
        *,
        weights: ArrayLike | None = None,
        other_weights: ArrayLike | None = None,
        cumulative: bool = True,
        progress: Progress | None = None,
    ) -> NDArray[Any]: ...
    def nearest_self(
        self,
        k: SupportsIndex = 1,
        *,
        radius: SupportsFloat | Array | None = None,
        metric: Metric = "l2",
        p: SupportsFloat | None = None,
        weights: ArrayLike | None = None,
        keep: Array | None = None,
        eps: SupportsFloat = 0.0,
        with_self: bool = False,
        progress: Progress | None = None,
    ) -> Neighbors: ...
    def nearest_for(
        self,
        other: Tree,
        k: SupportsIndex = 1,
        *,
        radius: SupportsFloat | Array | None = None,
        metric: Metric = "l2",
        p: SupportsFloat | None = None,
        weights: ArrayLike | None = None,
        keep: Array | None = None,
        eps: SupportsFloat = 0.0,
        exclude: Array | None = None,
        progress: Progress | None = None,
    ) -> Neighbors: ...
    def verify(self) -> None: ...
    def nodes(self) -> NDArray[np.int32]: ...
    def save(self, path: Path, /) -> None: ...
    @classmethod
    def load(cls, path: Path, *, trust: bool = False, device: Device = None, threads: SupportsIndex = 0) -> Self: ...
    def to_bytes(self) -> memoryview: ...
    @classmethod
    def from_bytes(
        cls, bytes: Any, *, trust: bool = False, device: Device = None, threads: SupportsIndex = 0
    ) -> Self: ...
    def copy(self, device: Device = None, *, threads: SupportsIndex | None = None) -> Self: ...

class Set:
    def __init__(
        self,
        dims: SupportsIndex,
        *,
        dtype: Any = "float32",
        background: bool = False,
        device: Device = None,
        threads: SupportsIndex = 0,
    ) -> None: ...
    @property
    def count(self) -> int: ...
    @property
    def next_id(self) -> int: ...
    @property
    def removed(self) -> int: ...
    @property
    def dims(self) -> int: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def device(self) -> str: ...
    @property
    def trees(self) -> int: ...
    @property
    def moving(self) -> bool: ...
    @property
    def bytes(self) -> int: ...
    def __len__(self) -> int: ...
    def insert(self, points: Array, ids: Array | None = None) -> Any: ...
    def remove(self, ids: Array, /) -> int: ...
    def keep_box(self, lower: ArrayLike, upper: ArrayLike) -> int: ...
    def cut_box(self, lower: ArrayLike, upper: ArrayLike) -> int: ...
    def nearest(
        self,
        queries: Array,
        k: SupportsIndex = 1,
        *,
        radius: SupportsFloat | Array | None = None,
        progress: Progress | None = None,
    ) -> Neighbors: ...
    def within(self, queries: Array, radius: SupportsFloat, *, progress: Progress | None = None) -> Rows: ...
    def count_within(self, queries: Array, radius: SupportsFloat, *, progress: Progress | None = None) -> Any: ...

def trim() -> None: ...
def _command(arguments: list[bytes], /) -> int: ...
