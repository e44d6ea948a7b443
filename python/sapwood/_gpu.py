"""What must be known of the libraries whose arrays lie on a GPU: torch, CuPy and JAX.

The C part of the package calls this when it meets such an array. It asks a library for the stream in which it works
now, for arrays to write results to, and to take memory of Sapwood's as an array.
"""

import contextlib
import functools
import importlib
import math
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
        f"results on a GPU are arrays of torch, CuPy or JAX, and these are none ({type(array).__module__}): calls that take "
        "out can write into other arrays"
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


_Forms = tuple[tuple[tuple[int, ...], str], ...]


@functools.lru_cache(64)
def _maker(forms: _Forms) -> Any:
    """A function that makes arrays of JAX, compiled: a quarter of what calls of jax.numpy take."""
    jax = sys.modules["jax"]
    # Since JAX 0.11 they are not even filled with zeros.
    return jax.jit(lambda: [jax.numpy.empty(shape, _NAMES[dtype]) for shape, dtype in forms])


def empty(like: Any, forms: _Forms) -> list[tuple[Any, int]]:
    """New arrays of the library of `like`, on its GPU, and their addresses. forms: the shape and the type of each."""
    library = _library(like)
    if library == "torch":
        torch = sys.modules["torch"]
        tensors = [torch.empty(shape, dtype=getattr(torch, _NAMES[dtype]), device=like.device) for shape, dtype in forms]
        return [(tensor, tensor.data_ptr()) for tensor in tensors]
    if library == "cupy":
        with like.device:
            arrays = [sys.modules["cupy"].empty(shape, dtype=_NAMES[dtype]) for shape, dtype in forms]
        return [(array, array.data.ptr) for array in arrays]
    if library == "jax":
        # Arrays of JAX do not change once anybody has seen them. These nobody has: they are written to before they are
        # returned, and waited for before and after: what JAX does with memory that it gives out again is over then.
        wanted = next(iter(like.devices())), forms
        arrays = _spares.take(wanted) or _make(*wanted)
        made = [(array, array.block_until_ready().unsafe_buffer_pointer()) for array in arrays]
        # That a compiler takes equal empty arrays for one is not to be expected, and must not be.
        apart = len({address for _, address in made}) == len(made)
        return made if apart else [empty(like, (form,))[0] for form in forms]
    raise _unknown(like)


def _make(device: Any, forms: _Forms) -> list[Any]:
    """New arrays of JAX, which may not be there yet."""
    jax = sys.modules["jax"]
    wide = _wide(jax) if any(dtype.endswith("8") for _, dtype in forms) else contextlib.nullcontext()
    with wide, jax.default_device(device):
        return _maker(forms)()  # type: ignore[no-any-return]


class _Spares:
    """Arrays of JAX for the next call, made while the GPU is at work on one: JAX takes longer to make them than for all
    else that is done before and after a search. Only for a call that wants the same as the two before it."""

    def __init__(self) -> None:
        self.last: tuple[Any, _Forms] | None = None
        self.wanted: tuple[Any, _Forms] | None = None
        self.kept: dict[tuple[Any, _Forms], list[Any]] = {}

    def take(self, wanted: tuple[Any, _Forms]) -> list[Any] | None:
        """Arrays that were made before, which nobody else gets; None: there are none."""
        arrays = self.kept.pop(wanted, None)
        self.kept.clear()
        self.wanted = wanted if wanted == self.last and _size(wanted[1]) <= _SPARE_BYTES else None
        self.last = wanted
        return arrays

    def make(self) -> None:
        wanted, self.wanted = self.wanted, None
        if wanted:
            with contextlib.suppress(Exception):  # there may be no memory for what nobody has asked for
                self.kept[wanted] = _make(*wanted)


_SPARE_BYTES = 1 << 28
_spares = _Spares()


def _size(forms: _Forms) -> int:
    return sum(math.prod(shape) * int(dtype[1]) for shape, dtype in forms)


def prepare() -> None:
    """Called while the GPU works on what arrays were made for last: something may be done now for the next call."""
    _spares.make()


def trim() -> None:
    """Gives back what is kept for calls to come."""
    _spares.last = _spares.wanted = None
    _spares.kept.clear()


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
