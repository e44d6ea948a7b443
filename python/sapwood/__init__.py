"""K-d trees over points and triangles, on CPUs and GPUs.

>>> import numpy, sapwood
>>> tree = sapwood.Tree(numpy.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]]))
>>> ids, distances2 = tree.nearest([[0.9, 0.1]], k=2)
>>> ids
array([[1, 0]], dtype=int32)
"""

from typing import TYPE_CHECKING, Any

from ._results import Neighbors, Rows
from ._sapwood import (
    ArgumentError,
    CancelledError,
    DeviceLostError,
    DeviceMemoryError,
    Error,
    FileError,
    FormatError,
    NoDeviceError,
    NotFiniteError,
    OutOfMemoryError,
    RangeError,
    Set,
    Tree,
    UnsupportedError,
    __version__,
    trim,
)
from .files import Material, Mesh, PointSet, Volume, read, read_mesh, read_points, read_volume, write
from .instances import AllInstanceHits, InstanceHits, Instances
from .kdtree import KDTree, cKDTree, cKDTreeNode
from .mesh import AllHits, Closest, Hits, MeshTree
from .pictures import Light, Photons, Picture, VoronoiPicture, render, voronoi
from .stream import compact, unique
from .surface import Surface, isosurface

if TYPE_CHECKING:
    from .cloud import (
        AlignedPair,
        Alignment,
        Alignments,
        Clusters,
        Comparison,
        Covariances,
        Distances,
        Gathered,
        Normals,
        Outliers,
        Projected,
        Relaxed,
        Shapes,
        Voxels,
        align_many,
        cluster_dbscan,
        compute_point_cloud_distance,
        estimate_normals,
        farthest_point_down_sample,
        project,
        registration_icp,
        relax,
        remove_radius_outlier,
        remove_statistical_outlier,
        transform,
        voxel_down_sample,
        voxels,
    )

__all__ = [
    "AlignedPair",
    "Alignment",
    "Alignments",
    "AllHits",
    "AllInstanceHits",
    "ArgumentError",
    "CancelledError",
    "Closest",
    "Clusters",
    "Comparison",
    "Covariances",
    "DeviceLostError",
    "DeviceMemoryError",
    "Distances",
    "Error",
    "FileError",
    "FormatError",
    "Gathered",
    "Hits",
    "InstanceHits",
    "Instances",
    "KDTree",
    "Light",
    "Material",
    "Mesh",
    "MeshTree",
    "Neighbors",
    "NoDeviceError",
    "Normals",
    "NotFiniteError",
    "OutOfMemoryError",
    "Outliers",
    "Photons",
    "Picture",
    "PointSet",
    "Projected",
    "RangeError",
    "Relaxed",
    "Rows",
    "Set",
    "Shapes",
    "Surface",
    "Tree",
    "UnsupportedError",
    "Volume",
    "VoronoiPicture",
    "Voxels",
    "__version__",
    "align_many",
    "cKDTree",
    "cKDTreeNode",
    "cluster_dbscan",
    "compact",
    "compute_point_cloud_distance",
    "estimate_normals",
    "farthest_point_down_sample",
    "isosurface",
    "project",
    "read",
    "read_mesh",
    "read_points",
    "read_volume",
    "registration_icp",
    "relax",
    "remove_radius_outlier",
    "remove_statistical_outlier",
    "render",
    "transform",
    "trim",
    "unique",
    "voronoi",
    "voxel_down_sample",
    "voxels",
    "write",
]


def __getattr__(name: str) -> Any:
    """What is in sapwood.cloud, when it is first asked for: until then importing sapwood takes less time."""
    if name in __all__:
        from . import cloud

        if hasattr(cloud, name):
            globals()[name] = getattr(cloud, name)
            return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
