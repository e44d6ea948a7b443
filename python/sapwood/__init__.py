"""K-d trees over points and triangles, on CPUs and GPUs.

>>> import numpy, sapwood
>>> tree = sapwood.Tree(numpy.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]]))
>>> ids, distances2 = tree.nearest([[0.9, 0.1]], k=2)
>>> ids
array([[1, 0]], dtype=int32)
"""

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
from .kdtree import KDTree, cKDTree, cKDTreeNode
from .mesh import AllHits, Closest, Hits, MeshTree
from .pictures import Light, Picture, VoronoiPicture, render, voronoi
from .stream import compact, unique
from .surface import Surface, isosurface

__all__ = [
    "AllHits",
    "ArgumentError",
    "CancelledError",
    "Closest",
    "DeviceLostError",
    "DeviceMemoryError",
    "Error",
    "FileError",
    "FormatError",
    "Hits",
    "KDTree",
    "Light",
    "Material",
    "Mesh",
    "MeshTree",
    "Neighbors",
    "NoDeviceError",
    "NotFiniteError",
    "OutOfMemoryError",
    "Picture",
    "PointSet",
    "RangeError",
    "Rows",
    "Set",
    "Surface",
    "Tree",
    "UnsupportedError",
    "Volume",
    "VoronoiPicture",
    "__version__",
    "cKDTree",
    "cKDTreeNode",
    "compact",
    "isosurface",
    "read",
    "read_mesh",
    "read_points",
    "read_volume",
    "render",
    "trim",
    "unique",
    "voronoi",
    "write",
]
