"""sapwood.Set: at every moment the answers of a tree over the points that it then holds."""

import pickle
import threading
import time

import numpy as np
import pytest

import sapwood


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("background", [False, True])
def test_as_a_tree(rng, dtype, background):
    held = {}
    points = sapwood.Set(3, dtype=dtype, background=background)
    for step in range(60):
        what = rng.integers(4)
        if what < 2 or not held:
            new = rng.random((int(rng.integers(1, 200)), 3)).astype(dtype)
            ids = points.insert(new)
            assert ids.dtype == np.int32 and not set(ids.tolist()) & set(held)
            held.update(zip(ids.tolist(), new))
        elif what == 2:
            going = rng.choice(list(held), min(len(held), 50), replace=False)
            assert points.remove(np.concatenate([going, [10**6]])) == len(going)
            for one in going:
                del held[one]
        else:
            lower, upper = np.sort(rng.random((2, 3)), axis=0) + [[-0.5], [0.5]]
            cut = step % 2
            count = (points.cut_box if cut else points.keep_box)(lower, upper)
            inside = {one for one, p in held.items() if (lower <= p).all() and (p <= upper).all()}
            going = inside if cut else set(held) - inside
            assert count == len(going)
            held = {one: p for one, p in held.items() if one not in going}
        assert len(points) == points.count == len(held)
        if not held:
            continue
        ids, where = np.array(sorted(held)), np.array([held[one] for one in sorted(held)])
        queries = rng.random((20, 3)).astype(dtype)
        tree = sapwood.Tree(where)
        found, expected = points.nearest(queries, 5), tree.nearest(queries, 5)
        assert np.array_equal(found.ids, np.where(expected.ids >= 0, ids[expected.ids], -1))
        assert np.array_equal(found.distances2, expected.distances2)
        rows, expected = points.within(queries, 0.2), tree.within(queries, 0.2, sorted=True)
        assert np.array_equal(rows.offsets, expected.offsets) and np.array_equal(rows.ids, ids[expected.ids])
        assert np.array_equal(rows.distances2, expected.distances2)
        assert np.array_equal(points.count_within(queries, 0.2), np.diff(rows.offsets))


def test_ids(rng):
    points = sapwood.Set(2)
    assert points.insert([[0, 0], [1, 1]], ids=[9, 4]).tolist() == [9, 4]
    assert points.next_id == 10 and points.insert([2, 2]).tolist() == [10]
    assert points.remove(9) == 1 and points.remove([9]) == 0
    assert points.insert([[5, 5]], [9]).tolist() == [9]
    assert points.nearest([5, 5]).ids.tolist() == [9]
    for ids in ([4], [-1], [2**31 - 1]):
        with pytest.raises((sapwood.ArgumentError, sapwood.RangeError)):
            points.insert([[0, 0]], ids)
    with pytest.raises(sapwood.ArgumentError):
        points.insert([[0, 0], [1, 1]], [20, 20])
    with pytest.raises(sapwood.ArgumentError, match="ids has 1 elements, and there are 2 points"):
        points.insert([[0, 0], [1, 1]], [20])
    assert len(points) == 3
    assert points.insert(np.zeros((0, 2))).shape == (0,) and points.remove([]) == 0


def test_attributes():
    points = sapwood.Set(3, dtype="float64")
    assert (points.count, points.dims, points.dtype, points.device, points.next_id, points.moving) == (0, 3, np.float64, "cpu", 0, False)
    assert repr(points) == "<sapwood.Set: 0 points, 3 dims, float64>"
    points.insert(np.zeros((1000, 3)))
    assert points.trees >= 1 and points.bytes > 24_000 and points.removed == 0
    for dtype in ("float32", "f4", np.float32, np.dtype("float32"), None):
        assert sapwood.Set(1, dtype=dtype).dtype == np.float32
    for dtype in ("float64", np.float64, float, np.dtype(float)):
        assert sapwood.Set(1, dtype=dtype).dtype == np.float64


@pytest.mark.parametrize("arguments, more, error", [
    ((), {}, TypeError), ((0,), {}, ValueError), ((17,), {}, ValueError), ((2.5,), {}, TypeError), ((2,), {"dtype": "int"}, ValueError),
    ((2,), {"dtype": 5}, ValueError), ((2,), {"device": "tpu"}, ValueError), ((2, 3), {}, TypeError), ((2,), {"size": 3}, TypeError),
    (("two",), {}, TypeError),
])
def test_bad_sets(arguments, more, error):
    with pytest.raises(error):
        sapwood.Set(*arguments, **more)


def test_bad_calls():
    points = sapwood.Set(2)
    points.insert([[0, 0], [1, 1]])
    for call, arguments in (
        (points.insert, ([[0.0]],)), (points.insert, ([[0.0, np.nan]],)), (points.nearest, ([[0.0]],)), (points.nearest, ([[0, 0]], 0)),
        (points.within, ([[0, 0]], -1)), (points.within, ([[0, 0]], np.nan)),
        (points.keep_box, ([0], [1])), (points.keep_box, ([0, np.nan], [1, 1])), (points.insert, ([[[0, 0]]],)),
    ):
        with pytest.raises((sapwood.ArgumentError, sapwood.NotFiniteError)):
            call(*arguments)
    for call, arguments in ((points.insert, ("a",)), (points.remove, ([0.5],)), (points.remove, (None,)), (points.within, ([[0, 0]], "a")),
                            (points.within, ([[0, 0]], None))):
        with pytest.raises(TypeError):
            call(*arguments)
    assert len(points) == 2
    empty = sapwood.Set.__new__(sapwood.Set)
    assert repr(empty) == "<sapwood.Set: not created>"
    for call in (empty.nearest, empty.insert, empty.remove):
        with pytest.raises(sapwood.ArgumentError, match="has not been created"):
            call([[0.0, 0.0]])
    with pytest.raises(sapwood.ArgumentError):
        len(empty)
    with pytest.raises(TypeError):
        pickle.dumps(points)


def test_changes_beside_searches(rng):
    """A change that meets a search raises, and changes nothing; in between both work."""
    points = sapwood.Set(3)
    points.insert(rng.random((20_000, 3)))
    queries = rng.random((3_000, 3)).astype(np.float32)
    wrong, refused, changed = [], 0, 0
    ending = threading.Event()

    def search():
        while not ending.is_set():
            try:
                found = points.nearest(queries, 3)
                if (found.ids < 0).any():
                    wrong.append("lost")
            except RuntimeError as error:
                if "being changed by another thread" not in str(error):
                    wrong.append(error)
            time.sleep(0.002)

    threads = [threading.Thread(target=search) for _ in range(3)]
    for thread in threads:
        thread.start()
    expected, end = len(points), time.monotonic() + 10
    while (changed < 20 or refused < 1) and time.monotonic() < end:
        try:
            points.insert(rng.random((100, 3)))
            changed += 1
            expected += 100
        except RuntimeError as error:
            assert "being used by another thread" in str(error)
            refused += 1
            time.sleep(0.001)
    ending.set()
    for thread in threads:
        thread.join()
    assert not wrong and changed and len(points) == expected
