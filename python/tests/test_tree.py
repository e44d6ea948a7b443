"""sapwood.Tree, compared with brute force in the same order of operations."""

import copy
import io
import pickle
import weakref

import numpy as np
import pytest

import sapwood

FLOATS = [np.float32, np.float64]


def offsets_of(counts):
    return np.concatenate([[0], np.cumsum(counts)])


def terms(points, queries, metric="l2", p=None, weights=None, period=None):
    """What is called distances2 of all queries and points: each operation rounded once, added in the order of the axes."""
    kind = points.dtype.type
    total = np.zeros((len(queries), len(points)), kind)
    for axis in range(points.shape[1]):
        length = np.abs(queries[:, None, axis] - points[None, :, axis])
        if period is not None and period[axis]:
            length = np.minimum(length, kind(period[axis]) - length)
        term = length if weights is None else length * kind(weights[axis])
        term = term * length if metric == "l2" else length**p if metric == "lp" else term
        total = np.maximum(total, term) if metric == "linf" else total + term
    return total


def brute_nearest(points, queries, k, radius2=None, keep=None, **more):
    distances2 = terms(points, queries, **more)
    ids = np.full((len(queries), k), -1, np.int32)
    found = np.full((len(queries), k), np.inf, points.dtype)
    for row, line in enumerate(distances2):
        allowed = np.isfinite(line)
        if keep is not None:
            allowed &= keep.astype(bool)
        if radius2 is not None:
            allowed &= line <= radius2
        which = np.flatnonzero(allowed)
        which = which[np.lexsort((which, line[which]))][:k]
        ids[row, : len(which)] = which
        found[row, : len(which)] = line[which]
    return ids, found


def cloud(rng, count, dims, dtype, lattice=False):
    points = rng.integers(0, 4, (count, dims)) if lattice else rng.random((count, dims))
    return points.astype(dtype)


def equal(found, expected):
    return all(np.array_equal(a, b) for a, b in zip(found, expected))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("dims", [1, 2, 3, 4, 7, 16])
@pytest.mark.parametrize("split", ["median", "midpoint", "vvh"])
def test_nearest(rng, dtype, dims, split):
    for lattice in (False, True):
        points, queries = cloud(rng, 200, dims, dtype, lattice), cloud(rng, 30, dims, dtype, lattice)
        for leaf_size in (0, 1, 50):
            tree = sapwood.Tree(points, split=split, query_radius=0.1 if split == "vvh" else 0, leaf_size=leaf_size)
            for k in (1, 5, 40, 250):
                assert equal(tree.nearest(queries, k), brute_nearest(points, queries, k))
            keep = rng.random(200) < 0.5
            assert equal(tree.nearest(queries, 3, keep=keep), brute_nearest(points, queries, 3, keep=keep))
            tree.verify()


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("metric", [{"metric": "l1"}, {"metric": "linf"}, {"metric": "lp", "p": 3}, {"metric": "lp", "p": 2},
                                    {"p": 1}, {"p": np.inf}])
def test_metrics(rng, dtype, metric):
    points, queries = cloud(rng, 300, 3, dtype), cloud(rng, 30, 3, dtype)
    tree = sapwood.Tree(points)
    name = {1: "l1", 2: "l2", np.inf: "linf"}.get(metric.get("p"), metric.get("metric", "lp"))
    found, expected = tree.nearest(queries, 5, **metric), brute_nearest(points, queries, 5, metric=name, p=metric.get("p"))
    if name == "lp":  # a power of three has its own order of operations
        assert np.allclose(found.distances2, expected[1], rtol=1e-5) and (found.ids == expected[0]).mean() > 0.95
    else:
        assert equal(found, expected)
    rows = tree.within(queries, 0.3, **metric)
    assert np.array_equal(np.diff(rows.offsets), tree.count_within(queries, 0.3, **metric))


@pytest.mark.parametrize("dtype", FLOATS)
def test_weights_and_periods(rng, dtype):
    points, queries = cloud(rng, 300, 3, dtype), cloud(rng, 30, 3, dtype)
    weights = np.array([1.0, 0.5, 2.0])
    tree = sapwood.Tree(points)
    assert equal(tree.nearest(queries, 5, weights=weights), brute_nearest(points, queries, 5, weights=weights))
    assert equal(tree.nearest(queries, 5, weights=[1, 0.5, 2]), brute_nearest(points, queries, 5, weights=weights))
    for period, as_given in (([1, 1, 1], 1), ([1, 0, 1], [1.0, 0.0, 1.0]), ([0, 1, 0], [np.inf, 1, 0])):
        around = sapwood.Tree(points, period=as_given)
        assert around.period.tolist() == period
        assert equal(around.nearest(queries, 5), brute_nearest(points, queries, 5, period=period))
    assert tree.period is None
    rows, shifts = sapwood.Tree(points, period=1).pairs(0.1, shifts=True)
    assert shifts.shape == (len(rows.ids), 3) and shifts.dtype == np.int8 and set(np.unique(shifts)) == {-1, 0, 1}
    pairs = rows.pairs()
    offset = points[pairs[:, 1]].astype(float) + shifts - points[pairs[:, 0]]
    assert np.allclose((offset**2).sum(1), rows.distances2, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("dtype", FLOATS)
def test_radii(rng, dtype):
    points, queries = cloud(rng, 300, 3, dtype), cloud(rng, 40, 3, dtype)
    tree = sapwood.Tree(points)
    distances2 = terms(points, queries)
    radius2 = dtype(0.25) * dtype(0.25)
    assert equal(tree.nearest(queries, 9, radius=0.25), brute_nearest(points, queries, 9, radius2=radius2))
    rows = tree.within(queries, 0.25)
    assert rows.offsets.dtype == np.int64 and rows.ids.dtype == np.int32 and rows.distances2.dtype == dtype
    for i in range(40):
        expected = np.flatnonzero(distances2[i] <= radius2)
        assert np.array_equal(np.sort(rows.row(i)), expected)
        part = slice(rows.offsets[i], rows.offsets[i + 1])
        assert np.array_equal(rows.distances2[part], distances2[i, rows.ids[part]])
    assert [row.tolist() for row in rows.lists()] == [rows.row(i).tolist() for i in range(40)]
    assert np.array_equal(rows.row(-1), rows.row(39))
    for i in (40, -41):
        with pytest.raises(IndexError):
            rows.row(i)
    ascending = tree.within(queries, 0.25, sorted=True)
    assert np.array_equal(ascending.row(3), ascending.row(3)[np.lexsort((ascending.row(3), distances2[3, ascending.row(3)]))])
    few = tree.within(queries, 0.25, k=2)
    expected = brute_nearest(points, queries, 2, radius2=radius2)[0]
    assert np.array_equal(few.ids, expected[expected >= 0])
    radii = np.linspace(0, 0.5, 40)
    assert np.array_equal(tree.count_within(queries, radii), [(d <= dtype(r) * dtype(r)).sum() for d, r in zip(distances2, radii)])
    assert tree.count_within(queries[0], np.inf).tolist() == [300]
    assert tree.count_within(points, 0).tolist() == [1] * 300
    for none in (0, 0.0, np.float32(0), np.zeros(300)):
        found = tree.nearest(points, 2, radius=none)
        assert found.ids[:, 0].tolist() == list(range(300)) and (found.ids[:, 1] == -1).all()
    assert equal(tree.nearest(queries, 3, radius=np.inf), tree.nearest(queries, 3))
    for i, (few, many) in enumerate(zip(tree.nearest(queries, 3, radius=radii).ids, tree.nearest(queries, 3).ids)):
        near = distances2[i, many] <= dtype(radii[i]) ** 2
        assert np.array_equal(few, np.where(near, many, -1))


def test_options_of_nearest(rng):
    points = cloud(rng, 300, 3, np.float64)
    tree = sapwood.Tree(points)
    plain = tree.nearest(points, 5)
    alone = tree.nearest_self(4)
    assert np.array_equal(alone.ids, plain.ids[:, 1:]) and np.array_equal(alone.distances2, plain.distances2[:, 1:])
    assert equal(tree.nearest(points, 4, exclude=np.arange(300)), alone)
    assert equal(tree.nearest_self(5, with_self=True), plain)
    assert equal(tree.nearest(points, 5, ordered=True), plain)
    assert equal(tree.nearest_for(tree, 5), plain)
    ks = rng.integers(0, 6, 300)
    some = tree.nearest(points, 5, ks=ks)
    assert np.array_equal(some.ids, np.where(np.arange(5) < ks[:, None], plain.ids, -1))
    assert tree.nearest(points, 5, ids=False).ids is None and tree.nearest(points, 5, distances=False).distances2 is None
    assert np.array_equal(tree.nearest(points, 5, distances=False).ids, plain.ids)
    assert tree.nearest(points[7], 5).ids.tolist() == plain.ids[7].tolist()
    assert tree.nearest(points[7]).ids.shape == (1,)
    near = tree.nearest(points, 5, eps=0.5)
    assert (near.distances2 <= plain.distances2 * 1.5**2 + 1e-12).all()
    bad = points[:5].copy()
    bad[2, 1] = np.nan
    found = tree.nearest(bad, 2)
    assert found.ids[2].tolist() == [-1, -1] and np.isinf(found.distances2[2]).all() and (found.ids[[0, 1, 3, 4]] >= 0).all()


@pytest.mark.parametrize("dtype", FLOATS)
def test_boxes(rng, dtype):
    points = cloud(rng, 300, 3, dtype)
    lower = cloud(rng, 30, 3, dtype)
    upper = lower + dtype(0.3)
    upper[5, 0] = np.nan
    lower[6] = -np.inf
    tree = sapwood.Tree(points)
    rows = tree.box(lower, upper)
    inside = ((points[None] >= lower[:, None]) & (points[None] <= upper[:, None])).all(2)
    assert rows.distances2 is None
    assert [np.sort(row).tolist() for row in rows.lists()] == [np.flatnonzero(line).tolist() for line in inside]
    assert np.array_equal(tree.box_count(lower, upper), inside.sum(1))
    assert np.array_equal(tree.box(lower[0], upper[0]).ids, rows.row(0))
    for corners in ((lower, upper[:5]), (lower[:, :2], upper), (lower[:, :2], upper[:, :2])):
        with pytest.raises(sapwood.ArgumentError):
            tree.box(*corners)


@pytest.mark.parametrize("dtype", FLOATS)
def test_pairs(rng, dtype):
    points, others = cloud(rng, 200, 3, dtype), cloud(rng, 150, 3, dtype)
    tree, other = sapwood.Tree(points), sapwood.Tree(others)
    own, between = terms(points, points), terms(others, points)
    radius2 = dtype(0.2) * dtype(0.2)
    pairs = tree.pairs(0.2).pairs()
    expected = np.argwhere(np.triu(own <= radius2, 1))
    assert np.array_equal(pairs[np.lexsort(pairs.T[::-1])], expected)
    pairs = tree.pairs_with(other, 0.2).pairs()
    assert np.array_equal(pairs[np.lexsort(pairs.T[::-1])], np.argwhere(between <= radius2))
    radii = np.array([0.1, 0.2, 0.2, 0.7])
    limits = (radii.astype(dtype) * radii.astype(dtype))[:, None, None]
    counts = tree.count_pairs(other, radii)
    assert counts.dtype == np.int64 and np.array_equal(counts, (between <= limits).sum((1, 2)))
    assert tree.count_pairs(other, 0.2) == counts[1] and tree.count_pairs(other, 0.2).shape == ()
    assert np.array_equal(np.cumsum(tree.count_pairs(other, radii, cumulative=False)), counts)
    weights, other_weights = rng.random(200), rng.random(150)
    for w, v in ((weights, other_weights), (weights, None), (None, other_weights)):
        sums = tree.count_pairs(other, radii, weights=w, other_weights=v)
        products = np.outer(np.ones(200) if w is None else w, np.ones(150) if v is None else v)
        assert sums.dtype == np.float64 and np.allclose(sums, ((between <= limits) * products).sum((1, 2)))
    assert equal(tree.nearest_for(other, 3), tree.nearest(others, 3))


def test_nodes(rng):
    points = cloud(rng, 100, 2, np.float64)
    nodes = sapwood.Tree(points).nodes()
    assert nodes.shape == (100, 4) and np.array_equal(np.sort(nodes[:, 0]), np.arange(100))
    seen, waiting = 0, [0]
    while waiting:
        node = nodes[waiting.pop()]
        seen += 1
        for child in node[2:]:
            if child >= 0:
                waiting.append(child)
    assert seen == 100


# ---- Life

def test_attributes(rng):
    points = np.repeat(cloud(rng, 50, 3, np.float32), 2, axis=0)
    tree = sapwood.Tree(points, leaf_size=8, drop_duplicates=True, threads=1)
    assert (tree.count, len(tree), tree.source_count, tree.duplicates) == (50, 50, 100, 50)
    assert (tree.dims, tree.dtype, tree.device, tree.threads, tree.leaf_size, tree.split) == (3, np.float32, "cpu", 1, 8, "median")
    lower, upper = tree.bounds
    assert np.array_equal(lower, points.min(0)) and np.array_equal(upper, points.max(0))
    assert tree.depth > 0 and tree.leaves > 1 and tree.largest_leaf <= 10 and tree.bytes > points.nbytes // 2 and not tree.mapped
    assert repr(tree) == "<sapwood.Tree: 50 points, 3 dims, float32, cpu>"
    assert repr(sapwood.Tree([[1.0]])) == "<sapwood.Tree: 1 point, 1 dim, float64, cpu>"
    bad = points.copy()
    bad[3] = np.nan
    assert sapwood.Tree(bad, drop_nonfinite=True).not_finite == 1
    with pytest.raises(AttributeError):
        tree.count = 5
    with pytest.raises(AttributeError):
        tree.something = 5


def test_rebuild(rng):
    points, others = cloud(rng, 300, 3, np.float32), cloud(rng, 500, 3, np.float32)
    tree = sapwood.Tree(points, leaf_size=4)
    for now in (others, points, others[:0], points[:1], others.tolist()):
        assert tree.rebuild(now) is None
        now = np.asarray(now, np.float32).reshape(-1, 3)
        assert tree.count == tree.source_count == len(now) and tree.leaf_size == 4
        assert equal(tree.nearest(points, 2), brute_nearest(now, points, 2))
    with pytest.raises(sapwood.NotFiniteError):
        tree.rebuild([[np.inf, 0, 0]])
    with pytest.raises(sapwood.ArgumentError):
        tree.rebuild([[0.0, 0.0]])
    assert tree.count == 500
    again = sapwood.Tree.from_bytes(bytes(tree.to_bytes()))
    again.rebuild(points)
    assert not again.mapped and equal(again.nearest(others, 2), brute_nearest(points, others, 2))


def test_init_again(rng):
    tree = sapwood.Tree(cloud(rng, 10, 2, np.float64))
    tree.__init__(cloud(rng, 20, 3, np.float32))
    assert (tree.count, tree.dims, tree.dtype) == (20, 3, np.float32)
    with pytest.raises(sapwood.ArgumentError):
        tree.__init__([1.0])
    assert tree.count == 20


def test_save_and_load(rng, tmp_path):
    points = cloud(rng, 300, 3, np.float64)
    tree = sapwood.Tree(points, period=[1, 0, 1])
    for path in (tmp_path / "a.sapwood", str(tmp_path / "b é.sapwood"), bytes(tmp_path / "c.sapwood")):
        assert tree.save(path) is None
        for trust in (False, True):
            loaded = sapwood.Tree.load(path, trust=trust)
            assert loaded.mapped and loaded.period.tolist() == [1, 0, 1] and equal(loaded.nearest(points, 3), tree.nearest(points, 3))
    with pytest.raises(sapwood.FileError, match="nowhere") as failure:
        sapwood.Tree.load(tmp_path / "nowhere")
    assert isinstance(failure.value, OSError)
    with pytest.raises(sapwood.FileError):
        tree.save(tmp_path / "nowhere" / "a")
    (tmp_path / "text").write_text("no tree at all" * 100)
    with pytest.raises(sapwood.FormatError):
        sapwood.Tree.load(tmp_path / "text")
    for path in (5, None, "a\0b"):
        with pytest.raises((TypeError, ValueError)):
            tree.save(path)
    assert isinstance(pickle.loads(pickle.dumps(sapwood.Tree.load(tmp_path / "a.sapwood"))), sapwood.Tree)


class Named(sapwood.Tree):
    """A tree with something of its own."""

    def __init__(self, points, name="none"):
        super().__init__(points, leaf_size=4)
        self.name = name


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles(rng, protocol):
    points = cloud(rng, 300, 3, np.float32)
    for tree in (sapwood.Tree(points, threads=1), Named(points, "first")):
        again = pickle.loads(pickle.dumps(tree, protocol))
        assert type(again) is type(tree) and again.threads == tree.threads and equal(again.nearest(points, 3), tree.nearest(points, 3))
        assert getattr(again, "name", None) == getattr(tree, "name", None)
        for copied in (copy.copy(tree), copy.deepcopy(tree), tree.copy(), tree.copy("cpu"), tree.copy(threads=1)):
            assert type(copied) is type(tree) and equal(copied.nearest(points, 3), tree.nearest(points, 3))
            assert getattr(copied, "name", None) == getattr(tree, "name", None)


def test_pickles_beside_their_bytes(rng):
    points = cloud(rng, 300, 3, np.float32)
    tree = sapwood.Tree(points)
    parts = []
    text = pickle.dumps(tree, 5, buffer_callback=parts.append)
    assert len(text) < 200 and len(parts) == 1
    again = pickle.loads(text, buffers=parts)
    copies = pickle.loads(text, buffers=[bytearray(part) for part in parts])
    assert again.mapped and equal(again.nearest(points, 3), tree.nearest(points, 3))
    del parts, text
    assert equal(again.nearest(points, 3), tree.nearest(points, 3))
    assert equal(copies.nearest(points, 3), tree.nearest(points, 3))


def test_hostile_pickles(rng):
    """Bytes that were changed are refused, wherever they were changed."""
    tree = sapwood.Tree(cloud(rng, 40, 2, np.float32))
    text = pickle.dumps(tree)
    assert len(text) > 500
    for place in range(100, len(text) - 60, 3):
        wrong = bytearray(text)
        wrong[place] ^= 1 << int(rng.integers(8))
        try:
            found = pickle.loads(bytes(wrong))
        except Exception:
            continue
        assert equal(found.nearest([[0, 0]], 3), tree.nearest([[0, 0]], 3))  # of padding between arrays
    rebuild = tree.__reduce_ex__(4)[0]
    saved = bytes(tree.to_bytes())
    for wrong in ((int, saved, "cpu", 0), (sapwood.Tree, saved, "tpu", 0), (sapwood.Tree, saved, "cpu", -1), (sapwood.Tree, 5, "cpu", 0),
                  (sapwood.Tree, saved[:-1], "cpu", 0), (sapwood.Tree, b"", "cpu", 0), ("Tree", saved, "cpu", 0)):
        with pytest.raises((TypeError, ValueError)):
            rebuild(*wrong)


def test_a_pickle_of_itself(rng):
    tree = Named(cloud(rng, 10, 2, np.float64))
    tree.name = [tree]
    again = pickle.loads(pickle.dumps(tree))
    assert again.name[0] is again
    nested = tree
    for _ in range(50):
        nested = Named([[0.0]], nested)
    stream = io.BytesIO()
    pickle.dump(nested, stream)
    stream.seek(0)
    assert pickle.load(stream).name.name.count == 1


def test_bytes_in_place(rng):
    """Bytes that can be changed are copied; those that cannot are used as they lie."""
    tree = sapwood.Tree(cloud(rng, 300, 2, np.float64))
    saved = tree.to_bytes()
    assert saved.readonly
    assert sapwood.Tree.from_bytes(saved).mapped
    changing = bytearray(saved)
    again = sapwood.Tree.from_bytes(changing)
    changing[:] = bytes(len(changing))
    changing.clear()
    assert equal(again.nearest([[0, 0]], 3), tree.nearest([[0, 0]], 3))
    for wrong in (5, None, "text", b"", b"x" * 100, bytes(saved)[:-1], bytes(saved) + b"\0"):
        with pytest.raises((TypeError, ValueError)):
            sapwood.Tree.from_bytes(wrong)


def test_subclasses(rng):
    class Quiet(sapwood.Tree):
        def __init__(self, points):
            pass

    class Other(Named):
        def nearest(self, *args, **more):
            return super().nearest(*args, **more).ids

    quiet = Quiet([[1.0]])
    assert repr(quiet).endswith("Quiet: not built>")
    for call in (quiet.nearest, quiet.rebuild, quiet.within, quiet.copy, quiet.verify, quiet.to_bytes):
        with pytest.raises((ValueError, TypeError)):
            call(*([[[1.0]]] if call in (quiet.nearest, quiet.rebuild) else []))
    with pytest.raises(sapwood.ArgumentError, match="has not been built"):
        quiet.nearest([[1.0]])
    with pytest.raises(sapwood.ArgumentError, match="has not been built"):
        pickle.dumps(quiet)
    assert Other([[1.0], [2.0]], "x").nearest([[1.1]]).tolist() == [[0]]
    tree = sapwood.Tree([[1.0]])
    seen = weakref.ref(tree)
    assert seen() is tree
    del tree
    assert seen() is None
    with pytest.raises(TypeError):
        sapwood._sapwood.Tree.__new__(int)
    with pytest.raises(TypeError):
        type("Mixed", (sapwood.Tree, sapwood.Set), {})


# ---- What is refused

@pytest.mark.parametrize("arguments, more, error, says", [
    ((), {}, TypeError, "missing required argument 'points'"),
    (([[1.0]], 5), {}, TypeError, "takes 1 positional argument but 2 were given"),
    (([[1.0]],), {"points": 5}, TypeError, "multiple values for argument 'points'"),
    (([[1.0]],), {"leaf_size": -1}, sapwood.ArgumentError, "leaf_size must be from 0 to 1024, not -1"),
    (([[1.0]],), {"leaf_size": 10**30}, sapwood.ArgumentError, "leaf_size"),
    (([[1.0]],), {"leaf_size": 1.5}, TypeError, "leaf_size must be an integer, not float"),
    (([[1.0]],), {"leafsize": 1}, TypeError, "unexpected keyword argument 'leafsize'"),
    (([[1.0]],), {"split": "middle"}, sapwood.ArgumentError, "split must be one of 'median', 'midpoint', 'vvh', not 'middle'"),
    (([[1.0]],), {"query_radius": 1}, sapwood.ArgumentError, "query_radius"),
    (([[1.0]],), {"split": "vvh", "query_radius": -1}, sapwood.ArgumentError, "query_radius"),
    (([[1.0]],), {"split": 3}, TypeError, "split must be a string, not int"),
    (([[1.0]],), {"period": [1, 2]}, sapwood.ArgumentError, "period must be"),
    (([[1.0]],), {"period": -1}, sapwood.ArgumentError, "period"),
    (([[1.0]],), {"period": np.nan}, sapwood.ArgumentError, "period"),
    (([[1.0]],), {"period": "long"}, TypeError, "period"),
    (([[1.0]],), {"device": "tpu"}, sapwood.ArgumentError, "device must be 'cpu', 'cuda' or 'cuda:N', not 'tpu'"),
    (([[1.0]],), {"device": "cuda:x"}, sapwood.ArgumentError, "device"),
    (([[1.0]],), {"device": 5}, sapwood.ArgumentError, "device"),
    (([[1.0]],), {"threads": 5000}, sapwood.ArgumentError, "threads"),
    (([[1.0]],), {"progress": 5}, TypeError, "progress must be a function"),
    (([[1.0]],), {"drop_duplicates": np.zeros(2)}, TypeError, "drop_duplicates"),
])
def test_arguments_of_builds(arguments, more, error, says):
    with pytest.raises(error, match=says):
        sapwood.Tree(*arguments, **more)


@pytest.mark.parametrize("arguments, more, error, says", [
    ((), {}, TypeError, "queries"),
    (([[1.0]], 0), {}, sapwood.ArgumentError, "k must be from 1 to 2147483647, not 0"),
    (([[1.0]], -1), {}, sapwood.ArgumentError, "k must be"),
    (([[1.0]], 2**31), {}, sapwood.ArgumentError, "k must be"),
    (([[1.0]], 2.5), {}, TypeError, "k must be an integer, not float"),
    (([[1.0]], [1]), {}, TypeError, "k must be an integer, not list"),
    (([[1.0, 2.0]],), {}, sapwood.ArgumentError, "shape"),
    (([[[1.0]]],), {}, sapwood.ArgumentError, "queries must have 1 to 2 dimensions, not 3"),
    ((1.0,), {}, sapwood.ArgumentError, "queries must have 1 to 2 dimensions, not 0"),
    (([[1j]],), {}, TypeError, "queries must be an array of real numbers"),
    (([[1.0]],), {"radius": -1}, sapwood.ArgumentError, "radius"),
    (([[1.0]],), {"radius": np.nan}, sapwood.ArgumentError, "radius"),
    (([[1.0]],), {"radius": [1.0, 2.0]}, sapwood.ArgumentError, "radius must be a number, or one number for each of the 1 queries"),
    (([[1.0]],), {"radius": "far"}, TypeError, "radius"),
    (([[1.0]],), {"metric": "l3"}, sapwood.ArgumentError, "metric must be one of"),
    (([[1.0]],), {"metric": "lp"}, sapwood.ArgumentError, "'lp' needs p"),
    (([[1.0]],), {"p": 0.5}, sapwood.ArgumentError, "p"),
    (([[1.0]],), {"metric": "l1", "p": 3}, sapwood.ArgumentError, "p"),
    (([[1.0]],), {"weights": [1.0, 2.0]}, sapwood.ArgumentError, "weights has 2 elements, and there are 1 axes"),
    (([[1.0]],), {"weights": [-1.0]}, sapwood.ArgumentError, "weight"),
    (([[1.0]],), {"keep": [True]}, sapwood.ArgumentError, "keep has 1 elements, and there are 3 points"),
    (([[1.0]],), {"keep": [1, 0, 1]}, TypeError, "keep"),
    (([[1.0]],), {"eps": -1}, sapwood.ArgumentError, "eps"),
    (([[1.0]],), {"exclude": [0, 1]}, sapwood.ArgumentError, "exclude"),
    (([[1.0]],), {"exclude": [2**40]}, sapwood.ArgumentError, "exclude has numbers that int32 cannot hold"),
    (([[1.0]],), {"exclude": [0.5]}, TypeError, "exclude"),
    (([[1.0]],), {"ks": [1.5]}, TypeError, "ks"),
    (([[1.0]],), {"neighbours": 3}, TypeError, "neighbours"),
])
def test_arguments_of_nearest(arguments, more, error, says):
    with pytest.raises(error, match=says):
        sapwood.Tree([[0.0], [1.0], [2.0]]).nearest(*arguments, **more)


def test_other_arguments():
    tree = sapwood.Tree([[0.0], [1.0], [2.0]])
    single = sapwood.Tree(np.zeros((3, 1), np.float32))
    for call, arguments, error in (
        (tree.within, ([[1.0]],), TypeError), (tree.within, ([[1.0]], None), TypeError), (tree.within, ([[1.0]], -1), ValueError),
        (tree.within, ([[1.0]], np.nan), ValueError), (tree.count_within, ([[1.0]], "a"), TypeError), (tree.pairs, (-1,), ValueError),
        (tree.pairs, (np.nan,), ValueError), (tree.pairs, ([1],), TypeError), (tree.pairs_with, (5, 1), TypeError),
        (tree.pairs_with, (single, 1), ValueError), (tree.nearest_for, (single,), ValueError), (tree.nearest_for, (None,), TypeError),
        (tree.count_pairs, (tree, [2, 1]), ValueError), (tree.count_pairs, (tree, [-1]), ValueError),
        (tree.count_pairs, (tree, [[1]]), ValueError), (tree.count_pairs, (None, 1), TypeError),
        (tree.nearest_self, (0,), ValueError), (tree.copy, ("tpu",), ValueError), (tree.verify, (1,), TypeError),
    ):
        with pytest.raises(error):
            call(*arguments)
    assert tree.count_pairs(tree, []).shape == (0,)
    with pytest.raises(sapwood.ArgumentError, match="weights"):
        tree.count_pairs(tree, 1, weights=[1.0])
    with pytest.raises(sapwood.NotFiniteError):
        tree.count_pairs(tree, 1, weights=[1.0, np.nan, 1.0])


def test_errors():
    kinds = {name: getattr(sapwood, name) for name in sapwood.__all__ if name.endswith("Error") and name != "Error"}
    assert len({kind.status for kind in kinds.values()}) == len(kinds) == 11
    assert all(issubclass(kind, sapwood.Error) for kind in kinds.values())
    assert issubclass(sapwood.OutOfMemoryError, MemoryError) and issubclass(sapwood.UnsupportedError, NotImplementedError)
    with pytest.raises(sapwood.Error) as failure:
        sapwood.Tree([[np.nan]])
    assert failure.value.status == 3
    assert pickle.loads(pickle.dumps(failure.value)).args == failure.value.args


def test_a_k_that_no_memory_holds():
    tree = sapwood.Tree([[0.0], [1.0], [2.0]])
    with pytest.raises((MemoryError, ValueError)):
        tree.nearest(np.zeros((2**20, 1)), 2**31 - 1)
    assert tree.nearest([[0.0]], 1000).ids[0, :4].tolist() == [0, 1, 2, -1]


@pytest.mark.parametrize("dtype", FLOATS)
def test_any_number_of_threads(rng, dtype):
    points, queries = cloud(rng, 20_000, 3, dtype), cloud(rng, 5_000, 3, dtype)
    first = None
    for threads in (1, 2, 5, 0):
        tree = sapwood.Tree(points, threads=threads)
        found = tree.nearest(queries, 8), tree.within(queries, 0.03), tree.pairs(0.01), tree.nearest_self(3)
        first = first or (found, bytes(tree.to_bytes()))
        assert all(equal(a, b) for a, b in zip(found, first[0])) and bytes(tree.to_bytes()) == first[1]


def test_a_radius_is_no_option():
    tree, lists, points = sapwood.Tree([[0.0], [1.0]]), sapwood.KDTree([[0.0], [1.0]]), sapwood.Set(1)
    for call in (lambda: tree.pairs(None), lambda: tree.pairs_with(tree, None), lambda: points.within([[0.0]], None),
                 lambda: lists.query_pairs(None), lambda: lists.query_ball_tree(lists, None),
                 lambda: lists.sparse_distance_matrix(lists, None)):
        with pytest.raises(TypeError, match="must be a number"):
            call()
    with pytest.raises(TypeError, match="keep must be an array of bool or uint8"):
        tree.nearest([[0.0]], keep=np.array([1, 2]))
