"""Compaction: against NumPy's own indexing."""

import numpy as np
import pytest

import sapwood


@pytest.mark.parametrize("dtype", ["u1", "i2", "f4", "f8", "c16", "S5", "U3", "M8[s]", "?", [("a", "i1"), ("b", "f8")], "f2", ">i4"])
@pytest.mark.parametrize("shape", [(), (3,), (2, 5)])
def test_compact(rng, dtype, shape):
    items = np.frombuffer(rng.integers(0, 2, 50_000 * np.dtype(dtype).itemsize, dtype=np.uint8).tobytes(), dtype)
    rows = len(items) // int(np.prod(shape, dtype=int))
    items = items[: rows * int(np.prod(shape, dtype=int))].reshape(rows, *shape)[:5000]
    for keep in (rng.random(len(items)) < 0.3, np.zeros(len(items), bool), np.ones(len(items), bool)):
        kept = sapwood.compact(items, keep)
        assert kept.dtype == items.dtype and kept.tobytes() == items[keep].tobytes() and kept.shape == items[keep].shape
        assert sapwood.compact(items, keep.astype(np.uint8) * 7).tobytes() == kept.tobytes()
    assert sapwood.compact(items, keep, threads=1).tobytes() == kept.tobytes()


def test_compact_of_arrays_of_all_kinds(rng):
    table = rng.normal(size=(60, 40))
    keep = rng.random(60) < 0.5
    for other in (np.asfortranarray(table), table[::-1], table[:, ::2], np.repeat(table, 2, 0)[::2], table.tolist()):
        assert np.array_equal(sapwood.compact(other, keep), np.asarray(other)[keep])
    assert np.array_equal(sapwood.compact(table, keep[::-1]), table[keep[::-1]])
    assert np.array_equal(sapwood.compact(table, keep.tolist()), table[keep])
    table.flags.writeable = False
    assert np.array_equal(sapwood.compact(table, keep), table[keep])
    assert sapwood.compact([], np.zeros(0, bool)).shape == (0,)
    assert sapwood.compact(np.zeros((4, 0)), [True, False, True, True]).shape == (3, 0)
    assert sapwood.compact(np.zeros((0, 3)), np.zeros(0, bool)).shape == (0, 3)


def runs(items):
    """The first of each run."""
    rows = np.frombuffer(items.tobytes(), np.uint8).reshape(len(items), items[:1].nbytes or items.itemsize)
    first = np.ones(len(items), bool)
    first[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    return items[first]


@pytest.mark.parametrize("dtype", ["u1", "i8", "f4", "S3", [("a", "i1"), ("b", "f8")]])
def test_unique(rng, dtype):
    items = rng.integers(0, 3, 5000).astype(np.uint8).astype("S3" if dtype == "S3" else "i8" if isinstance(dtype, list) else dtype)
    if isinstance(dtype, list):
        table = np.zeros(5000, dtype)
        table["a"], table["b"] = items % 2, items
        items = table
    for some in (items, np.sort(items), items[:1], items[:0], np.tile(items[:1], 100)):
        got = sapwood.unique(some)
        assert got.dtype == items.dtype and got.tobytes() == runs(some).tobytes()
    pairs = np.sort(rng.integers(0, 4, (1000, 2)), axis=0)
    assert np.array_equal(sapwood.unique(pairs), runs(pairs))
    assert np.array_equal(sapwood.unique(pairs[:, ::-1]), runs(np.ascontiguousarray(pairs[:, ::-1])))


def test_unique_compares_bytes():
    assert len(sapwood.unique(np.array([0.0, -0.0, np.nan, np.nan]))) == 3
    assert sapwood.unique(np.zeros((5, 0))).shape == (1, 0)
    values = sapwood.unique(np.arange(100) // 10)
    values[:] = 1  # it is an array of its own
    assert values.flags.owndata and len(values) == 10


def test_progress():
    seen = []
    items = np.zeros(3_000_000, np.float64)
    sapwood.compact(items, np.ones(len(items), bool), progress=seen.append)
    assert seen == sorted(seen)
    with pytest.raises(TypeError, match="progress"):
        sapwood.compact(items, np.ones(len(items), bool), progress=3)


@pytest.mark.parametrize("call", [
    lambda: sapwood.compact([1, 2, 3], [True, False]),
    lambda: sapwood.compact([1, 2, 3], [[True, False, True]]),
    lambda: sapwood.compact([1, 2, 3], [0.5, 1, 1]),
    lambda: sapwood.compact([1, 2, 3], [1, 2, 3]),
    lambda: sapwood.compact(5, [True]),
    lambda: sapwood.compact(np.array([object()]), [True]),
    lambda: sapwood.compact([1], [True], device="tpu"),
    lambda: sapwood.compact([1], [True], threads=-1),
    lambda: sapwood.unique(5),
    lambda: sapwood.unique(np.array([None, 1])),
    lambda: sapwood.unique(np.array([1]), device="tpu"),
])
def test_bad_calls(call):
    with pytest.raises((ValueError, TypeError)):
        call()


@pytest.mark.resident
def test_memory_is_given_back(rng):
    import resource

    items, keep = rng.normal(size=(10_000, 3)), rng.random(10_000) < 0.5

    def cycle():
        sapwood.compact(items, keep)
        sapwood.unique(items)
        with pytest.raises(sapwood.ArgumentError):
            sapwood.compact(items, keep[:5])

    for _ in range(50):
        cycle()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(1000):
        cycle()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 4 << 10  # KiB
