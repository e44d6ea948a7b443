"""Arrays on a GPU: CuPy's, torch's and JAX's, beside the C call over the same memory, and beside CuPy's own k-d tree.

    python gpu.py [--library LIBSAPWOOD.so] [--points N] [--parts]

1M float32 points, 1M queries in random order, k = 8; medians of 21 calls, each until its answer is there. --library: a
shared library that was built with CUDA, for the C call. --parts: also what the parts of a call cost, in microseconds.
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
from sapwood import _gpu

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


# ---- Parts of a call


def microseconds(call: Callable[[], object], calls: int = 201) -> float:
    times: list[float] = []
    for _ in range(calls + 20):
        start = time.perf_counter()
        call()
        times.append((time.perf_counter() - start) * 1e6)
    return statistics.median(times[20:])


def prepared(call: Callable[[], object], asked: Any, forms: Any, calls: int = 11) -> float:
    """The median, in milliseconds, of calls whose arrays for results were made before."""
    made = [_gpu.empty(asked, forms) for _ in range(3 * calls)]
    usual = _gpu.empty
    try:
        _gpu.empty = lambda like, wanted: made.pop()
        times = []
        while made:
            start = time.perf_counter()
            call()
            times.append((time.perf_counter() - start) * 1e3)
        return statistics.median(times[calls:])
    finally:
        _gpu.empty = usual


def jax_parts(asked: Any, forms: Any) -> dict[str, Callable[[], object]]:
    jax = importlib.import_module("jax")
    (device,) = asked.devices()
    zeros = [jax.jit(lambda shape=shape, dtype=dtype: jax.numpy.zeros(shape, _gpu._NAMES[dtype])) for shape, dtype in forms]
    both = _gpu._maker(forms)

    def on_device(makers: list[Any]) -> None:
        for make in makers:
            with jax.default_device(device):
                array = make().block_until_ready()
            array.unsafe_buffer_pointer()

    return {
        "the buffer protocol, refused": lambda: buffer_of(asked),
        "__dlpack_device__()": asked.__dlpack_device__,
        "__dlpack__(stream=1)": lambda: asked.__dlpack__(stream=1, max_version=(1, 0)),
        "__cuda_array_interface__": lambda: asked.__cuda_array_interface__,
        "is_ready()": asked.is_ready,
        "unsafe_buffer_pointer()": asked.unsafe_buffer_pointer,
        "block_until_ready() of what is ready": asked.block_until_ready,
        "devices()": lambda: next(iter(asked.devices())),
        "default_device(), entered and left": lambda: entered(jax.default_device(device)),
        "results, zeros, one after the other": lambda: on_device(zeros),
        "results, both at once, not waited for": lambda: _gpu._make(device, forms),
        "results, both at once, on the usual device": lambda: [array.block_until_ready() for array in both()],
        "from_dlpack(), twice": lambda: [jax.dlpack.from_dlpack(Lent(asked)) for _ in forms],
    }


class Lent:
    """An array that is lent to its own library."""

    def __init__(self, array: Any) -> None:
        self.__dlpack__, self.__dlpack_device__ = array.__dlpack__, array.__dlpack_device__


def buffer_of(array: Any) -> None:
    try:
        memoryview(array)
    except (BufferError, TypeError):
        pass


def entered(context: Any) -> None:
    with context:
        pass


def show_parts(name: str, tree: sapwood.Tree, asked: Any, wait: Callable[[Any], object]) -> None:
    forms = (((len(asked), K), "i4"), ((len(asked), K), "f4"))
    one = asked[:1]
    wait(tree.nearest(one, K))
    parts: dict[str, Callable[[], object]] = {"a call with one query": lambda: wait(tree.nearest(one, K))}
    if name != "torch":  # whose tensors are made by torch's C code
        parts["its stream"] = lambda: _gpu.current_stream(asked, 0)
        parts["results, both at once"] = lambda: _gpu.empty(asked, forms)
    if name == "JAX":
        parts |= jax_parts(asked, forms)
    for part, call in parts.items():
        print(f"  {name}: {part:<46}{microseconds(call):9.1f} us", flush=True)
    if name != "torch":
        took = prepared(lambda: wait(tree.nearest(asked, K)), asked, forms)
        print(f"  {name}: {'a search whose results were made before':<46}{took * 1e3:9.1f} us", flush=True)


def on_host(array: Any) -> np.ndarray:
    return np.asarray(array.get() if hasattr(array, "get") else array.cpu() if hasattr(array, "cpu") else array)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library")
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--parts", action="store_true")
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
        if options.parts:
            show_parts(name, tree, asked, wait)
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
