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

__all__ = [
    "ArgumentError",
    "CancelledError",
    "DeviceLostError",
    "DeviceMemoryError",
    "Error",
    "FileError",
    "FormatError",
    "Neighbors",
    "NoDeviceError",
    "NotFiniteError",
    "OutOfMemoryError",
    "RangeError",
    "Rows",
    "Set",
    "Tree",
    "UnsupportedError",
    "__version__",
    "trim",
]
