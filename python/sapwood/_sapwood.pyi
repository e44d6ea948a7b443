"""The C part: trees and sets over points."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, Literal, Self, SupportsFloat, SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._results import Neighbors, Rows
from .cloud import (
    Alignment,
    Clusters,
    Comparison,
    Covariances,
    Distances,
    Gathered,
    Normals,
    Outliers,
    Shapes,
)

Device: TypeAlias = Any  # 'cpu', 'cuda', 'cuda:1', or an object whose str() that is, such as a torch.device
Array: TypeAlias = Any  # anything that ArrayLike is, and arrays of torch, CuPy and JAX, on the host or on a GPU
Metric: TypeAlias = Literal["l2", "l1", "linf", "lp"]
Falloff: TypeAlias = Literal["none", "biweight"]
Orient: TypeAlias = Literal["axis", "view", "views", "path", "consistent"]
Words: TypeAlias = str | Sequence[str]
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
        split: Literal["median", "midpoint", "vvh"] = "median",
        query_radius: float = 0,
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
    def normals(
        self,
        *,
        k: SupportsIndex | None = None,
        radius: SupportsFloat | None = None,
        weights: ArrayLike | None = None,
        falloff: Falloff | None = None,
        orient: Orient | None = None,
        view: ArrayLike | None = None,
        views: ArrayLike | None = None,
        view_times: ArrayLike | None = None,
        point_times: ArrayLike | None = None,
        graph_k: SupportsIndex | None = None,
        curvatures: bool = True,
        out: Sequence[Array | None] | None = None,
        progress: Progress | None = None,
    ) -> Normals: ...
    def covariances(
        self,
        *,
        k: SupportsIndex | None = None,
        radius: SupportsFloat | None = None,
        weights: ArrayLike | None = None,
        falloff: Falloff | None = None,
        eigenvalues: bool = True,
        out: Sequence[Array | None] | None = None,
        progress: Progress | None = None,
    ) -> Covariances: ...
    def shapes(
        self,
        only: Words | None = None,
        *,
        k: SupportsIndex | None = None,
        radius: SupportsFloat | None = None,
        weights: ArrayLike | None = None,
        falloff: Falloff | None = None,
        orient: Orient | None = None,
        view: ArrayLike | None = None,
        views: ArrayLike | None = None,
        view_times: ArrayLike | None = None,
        point_times: ArrayLike | None = None,
        graph_k: SupportsIndex | None = None,
        progress: Progress | None = None,
    ) -> Shapes: ...
    def orient(
        self,
        normals: ArrayLike,
        orient: Orient | None = None,
        *,
        view: ArrayLike | None = None,
        views: ArrayLike | None = None,
        view_times: ArrayLike | None = None,
        point_times: ArrayLike | None = None,
        graph_k: SupportsIndex | None = None,
        out: Array | None = None,
        progress: Progress | None = None,
    ) -> NDArray[np.float32]: ...
    def features(
        self,
        *,
        k: SupportsIndex | None = None,
        radius: SupportsFloat | None = None,
        normals: ArrayLike | None = None,
        oriented: bool = False,
        out: Array | None = None,
        progress: Progress | None = None,
    ) -> NDArray[np.float32]: ...
    def gather(
        self,
        queries: Array,
        *,
        k: SupportsIndex | None = None,
        radius: SupportsFloat | None = None,
        weights: ArrayLike | None = None,
        falloff: Falloff | None = None,
        attributes: ArrayLike | None = None,
        only: Words | None = None,
        progress: Progress | None = None,
    ) -> Gathered: ...
    def gather_self(
        self,
        *,
        k: SupportsIndex | None = None,
        radius: SupportsFloat | None = None,
        weights: ArrayLike | None = None,
        falloff: Falloff | None = None,
        attributes: ArrayLike | None = None,
        only: Words | None = None,
        progress: Progress | None = None,
    ) -> Gathered: ...
    def density(
        self,
        kind: Literal["count", "distance", "kernel"] = "count",
        *,
        radius: SupportsFloat | None = None,
        k: SupportsIndex | None = None,
        dims: SupportsIndex | None = None,
        out: Array | None = None,
        progress: Progress | None = None,
    ) -> NDArray[np.float64]: ...
    def outliers(
        self,
        kind: Literal["statistical", "radius"] | None = None,
        *,
        k: SupportsIndex | None = None,
        ratio: SupportsFloat | None = None,
        radius: SupportsFloat | None = None,
        out: Array | None = None,
        progress: Progress | None = None,
    ) -> Outliers: ...
    def clusters(
        self,
        radius: SupportsFloat,
        *,
        fewest: SupportsIndex = 1,
        least: SupportsIndex = 1,
        out: Sequence[Array | None] | None = None,
        progress: Progress | None = None,
    ) -> Clusters: ...
    def sample(
        self,
        count: SupportsIndex | None = None,
        *,
        radius: SupportsFloat | None = None,
        start: SupportsIndex | None = None,
        seed: SupportsIndex | None = None,
        progress: Progress | None = None,
    ) -> NDArray[np.int32]: ...
    def distance(
        self,
        points: Array,
        *,
        radius: SupportsFloat | None = None,
        quantile: SupportsFloat | None = None,
        distances: bool = True,
        out: Array | None = None,
        progress: Progress | None = None,
    ) -> Distances: ...
    def compare(
        self,
        other: Tree,
        *,
        radius: SupportsFloat | None = None,
        quantile: SupportsFloat | None = None,
        distances: bool = True,
        progress: Progress | None = None,
    ) -> Comparison: ...
    def align(
        self,
        source: ArrayLike,
        method: Literal["point", "plane", "generalised"] | str = "point",
        *,
        start: ArrayLike | Literal["global"] | None = None,
        iterations: SupportsIndex | None = None,
        tolerance: SupportsFloat | None = None,
        levels: SupportsIndex | None = None,
        max_distance: SupportsFloat | None = None,
        overlap: SupportsFloat | Literal["find"] | None = None,
        max_angle: SupportsFloat | None = None,
        one_to_one: bool = False,
        kernel: Literal["none", "huber", "tukey", "cauchy"] | None = None,
        kernel_scale: SupportsFloat | None = None,
        flatness: SupportsFloat | None = None,
        normals_k: SupportsIndex | None = None,
        source_normals: ArrayLike | None = None,
        normals: ArrayLike | None = None,
        drop_nonfinite: bool = False,
        progress: Progress | None = None,
    ) -> Alignment: ...
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

# What sapwood.MeshTree, Instances, read, write, compact, isosurface, render and voronoi are made of.

class MeshTree:
    def _build(
        self,
        vertices: Array,
        triangles: Array,
        subtracted: Sequence[float],
        origin: Sequence[float],
        options: tuple[Any, ...],
        device: Device,
        threads: int,
        progress: Progress | None,
        /,
    ) -> None: ...
    def _rebuild(
        self, vertices: Array, triangles: Array, subtracted: Sequence[float], progress: Progress | None, /
    ) -> None: ...
    def _refit(
        self, vertices: Array, triangles: Array, subtracted: Sequence[float], progress: Progress | None, /
    ) -> float: ...
    def _save(self, path: Any, /) -> None: ...
    def _bytes(self) -> Any: ...
    def _load(
        self, source: Any, origin: Sequence[float], trust: bool, device: Device, threads: int, from_memory: bool, /
    ) -> None: ...
    def _copy(self, new: MeshTree, device: Device, threads: int, /) -> MeshTree: ...
    def _verify(self) -> None: ...
    def _describe(self) -> dict[str, Any]: ...
    def _trace(self, *arguments: Any) -> Any: ...
    def _occluded(self, *arguments: Any) -> Any: ...
    def _trace_all(self, *arguments: Any) -> Any: ...
    def _closest(self, points: Array, progress: Progress | None, /) -> Any: ...
    def _inside(self, points: Array, progress: Progress | None, /) -> Any: ...
    def _signed_distance(self, points: Array, progress: Progress | None, /) -> Any: ...
    def _distance(self, *arguments: Any) -> Distances: ...
    def _align(self, *arguments: Any) -> Any: ...

class Instances:
    def _build(self, trees: list[Any], transforms: Any, which: Any, progress: Progress | None, /) -> None: ...
    def _trace(self, *arguments: Any) -> Any: ...
    def _occluded(self, *arguments: Any) -> Any: ...
    def _trace_all(self, *arguments: Any) -> Any: ...
    def _describe(self) -> dict[str, Any]: ...

def read_points(*arguments: Any) -> Any: ...
def read_mesh(*arguments: Any) -> Any: ...
def read_volume(*arguments: Any) -> Any: ...
def write_mesh(*arguments: Any) -> None: ...
def write_table(*arguments: Any) -> None: ...
def format_of(path: Any, /) -> int: ...
def kept(keep: Any, /) -> int: ...
def compact(*arguments: Any) -> int: ...
def unique(*arguments: Any) -> int: ...
def compact_gpu(*arguments: Any) -> Any: ...
def unique_gpu(*arguments: Any) -> tuple[Any, int]: ...
def isosurface(*arguments: Any) -> tuple[Any, Any, Any]: ...
def frame(*arguments: Any) -> tuple[Any, ...]: ...
def render(*arguments: Any) -> tuple[Any, ...]: ...
def voxels(*arguments: Any) -> tuple[Any, ...]: ...
def relax(*arguments: Any) -> tuple[Any, ...]: ...
def align_many(*arguments: Any) -> tuple[Any, ...]: ...
def project(*arguments: Any) -> tuple[Any, ...]: ...
def transform(points: Any, matrix: Any, out: Any, /) -> Any: ...
def voronoi(*arguments: Any) -> tuple[Any, Any, Any]: ...

class KDTreeBase(Tree):
    @property
    def n(self) -> int: ...
    @property
    def m(self) -> int: ...
    @property
    def leafsize(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def data(self) -> NDArray[Any]: ...
    @property
    def maxes(self) -> NDArray[np.float64]: ...
    @property
    def mins(self) -> NDArray[np.float64]: ...
    @property
    def indices(self) -> NDArray[np.intp]: ...
    @property
    def boxsize(self) -> NDArray[np.float64] | None: ...
    def query(
        self,
        x: ArrayLike,
        k: SupportsIndex | ArrayLike = 1,
        eps: SupportsFloat = 0.0,
        p: SupportsFloat = 2.0,
        distance_upper_bound: SupportsFloat = ...,
        workers: SupportsIndex | None = 1,
    ) -> tuple[Any, Any]: ...
    def query_ball_point(
        self,
        x: ArrayLike,
        r: ArrayLike,
        p: SupportsFloat = 2.0,
        eps: SupportsFloat = 0.0,
        workers: SupportsIndex | None = 1,
        return_sorted: bool | None = None,
        return_length: bool = False,
    ) -> Any: ...
    def query_ball_tree(
        self, other: KDTreeBase, r: SupportsFloat, p: SupportsFloat = 2.0, eps: SupportsFloat = 0.0
    ) -> list[list[int]]: ...
    def query_pairs(
        self,
        r: SupportsFloat,
        p: SupportsFloat = 2.0,
        eps: SupportsFloat = 0.0,
        output_type: Literal["set", "ndarray"] = "set",
    ) -> Any: ...
    def count_neighbors(
        self,
        other: KDTreeBase,
        r: ArrayLike,
        p: SupportsFloat = 2.0,
        weights: tuple[ArrayLike | None, ArrayLike | None] | ArrayLike | None = None,
        cumulative: bool = True,
    ) -> Any: ...
    def _begin(
        self, data: NDArray[Any], leafsize: int, compact: bool, balanced: bool, boxsize: Any, plain_ids: bool, /
    ) -> None: ...
    def _build_weights(self, weights: ArrayLike, /) -> NDArray[np.float64]: ...
    def _distances(self, other: KDTreeBase, max_distance: SupportsFloat, p: SupportsFloat, type: Any) -> Any: ...
    def _keep_root(self, root: Any, /) -> Any: ...
    def _node(self, number: int, /) -> tuple[int, int, float, int, int, int, int]: ...
    @property
    def _options(self) -> tuple[int, bool, bool]: ...
