"""The C calls beside which the package is timed: through ctypes, from the shared library of the same build."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

pointer, integer, long = ctypes.c_void_p, ctypes.c_int32, ctypes.c_int64


class Points(ctypes.Structure):
    _fields_ = [("coords", pointer), ("count", long), ("dims", integer), ("stride", long)]


class Search(ctypes.Structure):
    _fields_ = [("k", integer), ("radius", ctypes.c_double), ("rest", ctypes.c_char * 256)]


class DeviceOptions(ctypes.Structure):
    _fields_ = [("processor", integer), ("ordinal", integer), ("threads", integer), ("stream", pointer),
                ("rest", ctypes.c_char * 256)]


class Library:
    """A tree of float32 points, in host memory or on the GPU, and its searches."""

    def __init__(self, path: str, points: int, count: int, *, cuda: bool = False, threads: int = 0,
                 stream: int | None = None) -> None:
        self.library = ctypes.CDLL(path)
        self.device, self.tree = pointer(), pointer()
        options = DeviceOptions(2 if cuda else 1, 0, threads, stream, b"")
        self.check(self.library.sap_device_open(ctypes.byref(options), ctypes.byref(self.device)))
        self.check(self.library.sap_tree_build(self.device, Points(points, count, 3, 0), None, ctypes.byref(self.tree)))
        self.library.sap_device_wait(self.device)

    def nearest(self, queries: int, count: int, k: int, ids: int, distances2: int) -> Callable[[], None]:
        """A call of sap_nearest over arrays that are there: addresses of float32, int32 and float32."""
        arguments = (self.tree, Points(queries, count, 3, 0), ctypes.byref(Search(k)), pointer(ids), pointer(distances2))

        def call() -> None:
            self.check(self.library.sap_nearest(*arguments))

        return call

    def wait(self) -> None:
        self.check(self.library.sap_device_wait(self.device))

    @staticmethod
    def check(status: int) -> None:
        if status != 0:
            raise RuntimeError(f"the C library answers {status}")
