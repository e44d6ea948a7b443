"""What must be known of the libraries whose arrays lie on a GPU: torch, CuPy and JAX.

The C part of the package calls this when it meets such an array. It asks a library for the stream in which it works
now, for arrays to write results to, and to take memory of Sapwood's as an array.
"""

import contextlib
import functools
import importlib
import sys
from typing import Any

_LEGACY = 1  # CUDA's default stream, as DLPack counts streams; the libraries call it 0


def _library(array: Any) -> str | None:
    """The library that an array belongs to, or that a class of it derives from: a name, or None."""
    kind: Any = type(array)
    return _library_of(kind)


@functools.lru_cache(64)
def _library_of(kind: Any) -> str | None:
    for cls in kind.__mro__:
        root: str = cls.__module__.partition(".")[0]
        if root in ("torch", "cupy"):
            return root
        if root in ("jax", "jaxlib"):
            return "jax"
    return None


def knows(array: Any) -> bool:
    """Whether an array's library is one of these."""
    return _library(array) is not None


def _unknown(array: Any) -> TypeError:
    return TypeError(
        f"results on a GPU are arrays of torch, CuPy or JAX, and these are none ({type(array).__module__}): nearest and "
        "within of a tree can write into other arrays (out)"
    )


def changes(array: Any) -> bool:
    """Whether an array's library lets it change."""
    return _library(array) != "jax"


def current_stream(array: Any, ordinal: int) -> tuple[int, object] | None:
    """The stream in which the array's library works on a GPU now, and an object that keeps it from being destroyed.

    None if the library does not say, or does not own the stream: then nobody knows how long it lives.
    """
    library = _library(array)
    if library == "torch":
        stream = sys.modules["torch"].cuda.current_stream(ordinal)
        number = stream.cuda_stream
        # torch's own streams live for ever. A foreign one has its address for a number in torch, too.
        return None if number and number == getattr(stream, "stream_id", None) else (number or _LEGACY, stream)
    if library == "cupy":
        cuda = sys.modules["cupy"].cuda
        with cuda.Device(ordinal):
            stream = cuda.get_current_stream()
        return (stream.ptr or _LEGACY, stream) if isinstance(stream, cuda.Stream) else None
    return None


_NAMES = {"f4": "float32", "f8": "float64", "i4": "int32", "i8": "int64", "i1": "int8", "u1": "uint8", "b1": "bool"}


def _wide(jax: Any) -> Any:
    """A context in which JAX makes arrays of 64 bits."""
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(True)
    return importlib.import_module("jax.experimental").enable_x64(True)


@functools.lru_cache(64)
def _zeros(shape: tuple[int, ...], dtype: str) -> Any:
    """A function that makes an array of JAX, compiled: a quarter of what the call of jax.numpy takes."""
    jax = sys.modules["jax"]
    return jax.jit(lambda: jax.numpy.zeros(shape, dtype))


def empty(like: Any, shape: tuple[int, ...], dtype: str) -> tuple[Any, int]:
    """A new array of the library of `like`, on its GPU, and its address."""
    name = _NAMES[dtype]
    library = _library(like)
    if library == "torch":
        torch = sys.modules["torch"]
        array = torch.empty(shape, dtype=getattr(torch, name), device=like.device)
        return array, array.data_ptr()
    if library == "cupy":
        cupy = sys.modules["cupy"]
        with like.device:
            array = cupy.empty(shape, dtype=name)
        return array, array.data.ptr
    if library == "jax":
        # Arrays of JAX do not change once anybody has seen them. This one nobody has: it is written to before it is
        # returned, and its memory is waited for, before and after.
        jax = sys.modules["jax"]
        wide = _wide(jax) if dtype.endswith("8") else contextlib.nullcontext()
        with wide, jax.default_device(next(iter(like.devices()))):
            array = _zeros(shape, name)().block_until_ready()
        return array, array.unsafe_buffer_pointer()
    raise _unknown(like)


def adopt(like: Any, memory: Any) -> Any:
    """Memory of Sapwood's on a GPU as an array of the library of `like`, without a copy."""
    library = _library(like)
    if library == "torch":
        return sys.modules["torch"].from_dlpack(memory)
    if library == "cupy":
        with like.device:
            return sys.modules["cupy"].from_dlpack(memory)
    if library == "jax":
        with _wide(sys.modules["jax"]):
            return importlib.import_module("jax.dlpack").from_dlpack(memory)
    raise _unknown(like)
