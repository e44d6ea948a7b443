"""How arrays of JAX for results are made. The JAX here is none, and its arrays have no memory; test_cuda.py has the real one."""

import contextlib
import sys
import types

import pytest

from sapwood import _gpu

FORMS = (((5, 2), "i4"), ((5, 2), "f4"))


class Device:
    pass


class Array:
    def __init__(self, shape, dtype, address):
        self.shape, self.dtype, self.address, self.waited = shape, dtype, address, False

    def devices(self):
        return {DEVICE}

    def block_until_ready(self):
        self.waited = True
        return self

    def unsafe_buffer_pointer(self):
        assert self.waited
        return self.address


Array.__module__ = "jaxlib._jax"
DEVICE = Device()
LIKE = Array((0,), "float32", 0)


@pytest.fixture
def jax(monkeypatch):
    """What a JAX does that counts its calls."""
    fake = types.SimpleNamespace(calls=0, wide=0, address=0, step=64, memory=True)

    def empty(shape, dtype):
        fake.address += fake.step
        return Array(shape, dtype, fake.address)

    def jit(function):
        def call():
            fake.calls += 1
            if not fake.memory:
                raise MemoryError
            return function()

        return call

    @contextlib.contextmanager
    def enable_x64(on):
        fake.wide += 1
        yield

    fake.numpy, fake.jit, fake.enable_x64 = types.SimpleNamespace(empty=empty), jit, enable_x64
    fake.default_device = contextlib.nullcontext
    monkeypatch.setitem(sys.modules, "jax", fake)
    _gpu._maker.cache_clear()
    _gpu.trim()
    yield fake
    _gpu._maker.cache_clear()
    _gpu.trim()


def test_all_arrays_are_made_in_one_call(jax):
    made = _gpu.empty(LIKE, FORMS)
    assert [(array.shape, array.dtype, address) for array, address in made] == [((5, 2), "int32", 64), ((5, 2), "float32", 128)]
    assert jax.calls == 1 and jax.wide == 0
    _gpu.empty(LIKE, (((3,), "f8"),))
    assert jax.wide == 1


def test_equal_addresses_are_not_taken(jax):
    jax.step = 0
    assert len(_gpu.empty(LIKE, FORMS)) == 2 and jax.calls == 3  # together, and then each by itself


def test_the_next_arrays_are_made_while_the_gpu_works(jax):
    seen = set()

    def call(forms=FORMS):
        before = jax.calls
        seen.update(address for _, address in _gpu.empty(LIKE, forms))
        made = jax.calls - before
        _gpu.prepare()
        return made, jax.calls - before - made

    # Made before the work, and while it goes on: from the second call of a kind on.
    assert [call() for _ in range(4)] == [(1, 0), (1, 1), (0, 1), (0, 1)]
    assert len(seen) == 8  # nobody gets what another has
    assert call(FORMS[:1]) == (1, 0) and not _gpu._spares.kept  # what is not wanted goes back
    assert call() == (1, 0)
    assert call() == (1, 1)
    _gpu.prepare()
    assert len(_gpu._spares.kept) == 1
    _gpu.trim()
    assert not _gpu._spares.kept and call() == (1, 0)


def test_large_arrays_are_not_kept(jax):
    large = (((1 << 20, 65), "i4"),)
    for _ in range(3):
        _gpu.empty(LIKE, large)
        _gpu.prepare()
    assert jax.calls == 3 and not _gpu._spares.kept


def test_no_memory_for_the_next_arrays(jax):
    for _ in range(2):
        _gpu.empty(LIKE, FORMS)
    jax.memory = False
    _gpu.prepare()
    assert not _gpu._spares.kept
    with pytest.raises(MemoryError):
        _gpu.empty(LIKE, FORMS)
    jax.memory = True
    assert len(_gpu.empty(LIKE, FORMS)) == 2
