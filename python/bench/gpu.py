"""Arrays on a GPU: CuPy's, torch's and JAX's, beside the C call over the same memory, and beside CuPy's own k-d tree.

    python gpu.py [--library LIBSAPWOOD.so] [--points N]

1M float32 points, 1M queries in random order, k = 8; medians of 21 calls, each until its answer is there. --library: a
shared library that was built with CUDA, for the C call.
"""

from __future__ import annotations

import argparse
import importlib
import os
import statistics
import sys
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # or JAX takes three quarters of the GPU's memory

import numpy as np

import sapwood
from data import uniform
from library import Library
from measure import Table

K = 8


def milliseconds(call: Callable[[], object], calls: int = 21) -> float:
    times: list[float] = []
    warm = time.perf_counter() + 0.3  # an idle GPU is slow at first
    while len(times) < calls:
        start = time.perf_counter()
        call()
        end = time.perf_counter()
        if start > warm:
            times.append((end - start) * 1e3)
    return statistics.median(times)


def sides(points: np.ndarray, queries: np.ndarray) -> dict[str, tuple[Any, Any, Callable[[Any], object]]]:
    """For each library that is here: points and queries on the GPU, and what waits for an answer."""
    found: dict[str, tuple[Any, Any, Callable[[Any], object]]] = {}

    def load(name: str) -> ModuleType | None:
        try:
            return importlib.import_module(name)
        except ImportError as error:
            print(f"{name} is left out: {error}")
            return None

    if cupy := load("cupy"):
        stream = cupy.cuda.get_current_stream()
        found["CuPy"] = cupy.asarray(points), cupy.asarray(queries), lambda answer: stream.synchronize()
    if torch := load("torch"):
        if torch.cuda.is_available():
            found["torch"] = (torch.as_tensor(points, device="cuda"), torch.as_tensor(queries, device="cuda"),
                              lambda answer: torch.cuda.current_stream().synchronize())
    if jax := load("jax"):
        gpus = [device for device in jax.devices() if device.platform in ("gpu", "cuda")]
        if gpus:
            found["JAX"] = (jax.device_put(points, gpus[0]), jax.device_put(queries, gpus[0]),
                            lambda answer: jax.block_until_ready(list(answer)))
    return found


def on_host(array: Any) -> np.ndarray:
    return np.asarray(array.get() if hasattr(array, "get") else array.cpu() if hasattr(array, "cpu") else array)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library")
    parser.add_argument("--points", type=int, default=1_000_000)
    options = parser.parse_args()
    count = options.points
    points, queries = (uniform(count, seed).astype(np.float32) for seed in (1, 2))
    expected = sapwood.Tree(points).nearest(queries, K)
    found = sides(points, queries)
    if not found:
        print("no library with arrays on a GPU is here")
        return 0
    table = Table()
    c_call = None
    if options.library and "CuPy" in found:
        import cupy

        held, asked, _ = found["CuPy"]
        ids, distances2 = cupy.empty((count, K), cupy.int32), cupy.empty((count, K), cupy.float32)
        library = Library(options.library, held.data.ptr, count, cuda=True)
        c_call = milliseconds(library.nearest(asked.data.ptr, count, K, ids.data.ptr, distances2.data.ptr))
        assert np.array_equal(ids.get(), expected[0]) and np.array_equal(distances2.get(), expected[1])
        table.note(f"the C call: {c_call:.3f} ms")
    for name, (held, asked, wait) in found.items():
        tree = sapwood.Tree(held)
        answer = tree.nearest(asked, K)
        wait(answer)
        assert type(answer[0]) is type(asked), f"{name} in, {type(answer[0])} out"
        assert all(np.array_equal(on_host(ours), cpu) for ours, cpu in zip(answer, expected)), name
        ours = milliseconds(lambda: wait(tree.nearest(asked, K)))
        built = milliseconds(lambda: wait(sapwood.Tree(held).nearest(asked[:1], 1)))
        table.note(f"{name}: nearest {ours:.3f} ms, a new tree and one answer {built:.3f} ms")
        if c_call:
            table.most(f"Tree.nearest of {name}'s arrays, beside the C call", f"{c_call:.3f} ms", ours / c_call, 1.05, "x")
        if name == "CuPy":
            try:
                from cupyx.scipy.spatial import KDTree
            except ImportError as error:
                table.note(f"no cupyx.scipy.spatial.KDTree here: {error}")
                continue
            theirs = KDTree(held)
            rival = milliseconds(lambda: wait(theirs.query(asked, K)), 5)
            table.ratio("Tree.nearest beside cupyx.scipy.spatial.KDTree", rival / 1e3, ours / 1e3, 20)
    return table.end()


if __name__ == "__main__":
    sys.exit(main())
