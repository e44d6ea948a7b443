"""What must be known of the libraries whose arrays lie on a GPU: torch, CuPy and JAX.

The C part of the package calls this when it meets such an array. It asks a library for the stream in which it works
now, for arrays to write results to, and to take memory of Sapwood's as an array.
"""

import sys

_LEGACY = 1  # CUDA's default stream, as DLPack counts streams; the libraries call it 0


def _library(array):
    """The library that an array belongs to, or that a class of it derives from: a name, or None."""
    for cls in type(array).__mro__:
        root = cls.__module__.partition(".")[0]
        if root in ("torch", "cupy"):
            return root
        if root in ("jax", "jaxlib"):
            return "jax"
    return None


def current_stream(array, ordinal):
    """The stream in which the array's library works on a GPU now, or None if it does not say."""
    library = _library(array)
    if library == "torch":
        return sys.modules["torch"].cuda.current_stream(ordinal).cuda_stream or _LEGACY
    if library == "cupy":
        return sys.modules["cupy"].cuda.get_current_stream(ordinal).ptr or _LEGACY
    return None


_NAMES = {"f4": "float32", "f8": "float64", "i4": "int32", "i8": "int64", "i1": "int8", "u1": "uint8", "b1": "bool"}


def _wide(jax):
    """A context in which JAX makes arrays of 64 bits."""
    enable = getattr(jax, "enable_x64", None)
    if enable is None:
        from jax.experimental import enable_x64 as enable
    return enable(True)


def empty(like, shape, dtype):
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
        with _wide(jax), jax.default_device(next(iter(like.devices()))):
            array = jax.numpy.zeros(shape, dtype=name).block_until_ready()
        return array, array.unsafe_buffer_pointer()
    raise TypeError(
        f"results can be given as arrays of torch, CuPy and JAX, not of {type(like).__module__}: "
        "pass arrays to be written to as out"
    )


def adopt(like, memory):
    """Memory of Sapwood's on a GPU as an array of the library of `like`, without a copy."""
    library = _library(like)
    if library == "torch":
        return sys.modules["torch"].from_dlpack(memory)
    if library == "cupy":
        with like.device:
            return sys.modules["cupy"].from_dlpack(memory)
    if library == "jax":
        jax = sys.modules["jax"]
        with _wide(jax):
            return jax.dlpack.from_dlpack(memory)
    return memory
