"""sapwood.KDTree and sapwood.cKDTree beyond what SciPy's own tests and the random comparison look at."""

import copy
import gc
import inspect
import pickle
import threading
import weakref

import numpy as np
import pytest

import sapwood
from sapwood import KDTree, cKDTree


@pytest.fixture
def points(rng):
    return rng.random((60, 3))


@pytest.fixture(params=[KDTree, cKDTree])
def kind(request):
    return request.param


# ---- Queries


def test_of_equal_distances_the_smallest_index_comes_first(kind):
    lattice = np.array([(x, y) for x in range(6) for y in range(6)], float)
    tree = kind(lattice[np.random.default_rng(0).permutation(36)])
    squares = ((tree.data[:, None] - tree.data[None]) ** 2).sum(axis=2)
    _, found = tree.query(tree.data, 9)
    assert np.array_equal(found, np.argsort(squares, axis=1, kind="stable")[:, :9])


def test_answers_are_the_same_bits_for_any_workers(kind, rng):
    tree, queries = kind(rng.random((20000, 3))), rng.random((70001, 3))
    for k in (1, 3, [2, 1]):
        d, i = tree.query(queries, k)
        for workers in (2, 3, -1):
            e, j = tree.query(queries, k, workers=workers)
            assert np.array_equal(d, e) and np.array_equal(i, j)
    lists = tree.query_ball_point(queries[:3000], 0.03)
    assert all(a == b for a, b in zip(lists, tree.query_ball_point(queries[:3000], 0.03, workers=3), strict=True))


def test_one_point_is_answered_as_one_of_many(kind, points, rng):
    tree, queries = kind(points), rng.random((20, 3))
    for arguments in ({}, {"k": 5}, {"k": [3, 1]}, {"p": 1}, {"p": 3}, {"eps": 0.5}, {"distance_upper_bound": 0.1}):
        d, i = tree.query(queries, **arguments)
        for row, query in enumerate(queries):
            for form in (query, tuple(query), query.tolist(), query.astype(object)):
                e, j = tree.query(form, **arguments)
                assert np.array_equal(d[row], e) and np.array_equal(i[row], j)


def test_the_upper_bound_is_not_found_and_a_radius_is(kind):
    tree = kind([[0.0], [3.0]])
    for p in (1, 2, 3, np.inf):
        assert tree.query([1.0], p=p, distance_upper_bound=1.0) == (np.inf, 2)
        assert tree.query([[1.0]], p=p, distance_upper_bound=1.0)[1] == [2]
        assert tree.query([1.0], p=p, distance_upper_bound=1.0000001)[1] == 0
        assert tree.query([0.0], p=p, distance_upper_bound=0.0)[1] == 2
        assert tree.query([[0.0]], k=2, p=p, distance_upper_bound=-1.0)[1].tolist() == [[2, 2]]
        assert tree.query_ball_point([1.0], 1.0, p=p) == [0]
        assert tree.query_ball_point([1.0], -1.0, p=p) == [] and tree.query_ball_point([[1.0]], np.nan, p=p)[0] == []
        assert tree.query_pairs(3.0, p=p) == {(0, 1)} and tree.query_pairs(-3.0, p=p) == set()
        assert tree.count_neighbors(tree, [-1.0, 0.0, 3.0], p=p).tolist() == [0, 2, 4]
        assert tree.sparse_distance_matrix(tree, -1.0, p=p, output_type="dict") == {}


def test_distances_of_zero_are_entries(points):
    sparse = pytest.importorskip("scipy.sparse")
    tree = KDTree(points)
    for name in ("dok_matrix", "dok_array", "coo_matrix", "coo_array"):
        matrix = tree.sparse_distance_matrix(tree, 1e-9, output_type=name)
        assert isinstance(matrix, getattr(sparse, name)) and matrix.nnz == 60 and matrix.sum() == 0
    none = tree.sparse_distance_matrix(tree, -1, output_type="coo_matrix")
    assert none.shape == (60, 60) and none.nnz == 0


def test_counts_between_edges_with_weights_by_another_norm(points, rng):
    tree, other = KDTree(points), KDTree(rng.random((40, 3)))
    a, b, edges = rng.random(60), rng.normal(size=40), np.array([0.1, 0.3, 0.3, 0.9])
    distances = np.abs(points[:, None] - other.data[None]).sum(axis=2)
    bins = tree.count_neighbors(other, edges, p=1, weights=(a, b), cumulative=False)
    expected = [(np.outer(a, b) * ((distances > low) & (distances <= high))).sum()
                for low, high in zip([-1, *edges[:-1]], edges, strict=True)]
    np.testing.assert_allclose(bins, expected, atol=1e-12)
    assert bins[2] == 0


@pytest.mark.parametrize("k", [0, -1, [], [0], 2.5, None, "a", [1.5], [[1, 2]], 2**40])
def test_a_wrong_k_is_refused(kind, points, k):
    with pytest.raises(sapwood.ArgumentError, match="k must be an integer"):
        kind(points).query(points, k=k)


@pytest.mark.parametrize(("error", "arguments"), [
    (ValueError, {"workers": 0}), (ValueError, {"workers": -2}), (TypeError, {"workers": 1.5}),
    (ValueError, {"p": 0.5}), (ValueError, {"p": np.nan}), (ValueError, {"p": 1001}), (ValueError, {"eps": -0.1}),
    (ValueError, {"eps": np.nan}), (TypeError, {"distance_upper_bound": "1"}), (TypeError, {"n_jobs": 1}),
])  # fmt: skip
def test_wrong_arguments_are_refused(kind, points, error, arguments):
    tree = kind(points)
    for query in (points[0], points):
        with pytest.raises(error):
            tree.query(query, **arguments)


@pytest.mark.parametrize("x", [1.0, [1, 2], np.zeros((2, 2)), None, "abc", [[1, 2], [3]], np.zeros((3, 0))])
def test_queries_of_a_wrong_shape_are_refused(kind, points, x):
    tree = kind(points)
    for call in (tree.query, lambda x: tree.query_ball_point(x, 1)):
        with pytest.raises(sapwood.ArgumentError):
            call(x)


def test_queries_that_are_not_finite_are_refused(kind, points):
    tree = kind(points)
    for bad in ([np.nan, 0, 0], np.full(3, np.inf), np.where(np.arange(60)[:, None] == 59, np.nan, points)):
        with pytest.raises(sapwood.ArgumentError, match="must be finite"):
            tree.query(bad)
        with pytest.raises(sapwood.ArgumentError, match="must be finite"):
            tree.query_ball_point(bad, 1, return_length=True)


def test_trees_that_do_not_fit_are_refused(kind, points):
    tree = kind(points)
    calls = [tree.query_ball_tree, tree.count_neighbors, tree.sparse_distance_matrix]
    for call in calls:
        for other in (kind(points[:, :2]), kind(points, boxsize=2), kind(points, dtype=np.float32)):
            with pytest.raises(sapwood.ArgumentError, match="have different"):
                call(other, 1.0)
        for other in (3, None, points, sapwood.Tree(points)):
            with pytest.raises(TypeError, match="must be a cKDTree"):
                call(other, 1.0)


def test_wrong_counts_are_refused(kind, points):
    tree = kind(points)
    for r in ([[1.0]], np.nan, [0.1, np.nan], "x"):
        with pytest.raises(sapwood.ArgumentError):
            tree.count_neighbors(tree, r)
    for weights in (np.ones(3), (1, 2, 3), (np.ones(60), np.ones(59)), np.ones((60, 1)), np.full(60, np.nan)):
        with pytest.raises((sapwood.ArgumentError, sapwood.NotFiniteError)):
            tree.count_neighbors(tree, 1.0, weights=weights)
    with pytest.raises(sapwood.ArgumentError, match="output_type"):
        tree.query_pairs(1.0, output_type="list")
    with pytest.raises(sapwood.ArgumentError, match="output type"):
        tree.sparse_distance_matrix(tree, 1.0, output_type="csr")


# ---- Points


def test_points_are_the_callers_memory(kind, points):
    tree = kind(points)
    assert tree.data.base is points and not tree.data.flags.writeable and np.shares_memory(tree.data, points)
    assert not np.shares_memory(kind(points, copy_data=True).data, points)
    frozen = points.copy()
    frozen.flags.writeable = False
    assert kind(frozen).query(frozen)[1].tolist() == list(range(60))


@pytest.mark.parametrize("convert", [
    np.ndarray.tolist, np.asfortranarray, np.ma.masked_array, lambda a: a[::-1], lambda a: a.astype(">f8"),
    lambda a: a.astype(object), lambda a: a.astype("f4"), lambda a: (a * 1000).astype(int), memoryview,
    lambda a: np.broadcast_to(a[:1], (4, 3)), lambda a: a > 0.5,
])  # fmt: skip
def test_whatever_numpy_makes_an_array_of(kind, points, convert):
    given = convert(points)
    tree, as_doubles = kind(given), np.asarray(given).astype(float)
    assert np.array_equal(tree.data, as_doubles)
    d, _ = tree.query(given)
    assert d.tolist() == [0] * len(as_doubles)
    assert tree.query_ball_point(given, 0, return_length=True).tolist() == [
        (as_doubles == row).all(axis=1).sum() for row in as_doubles
    ]


@pytest.mark.parametrize(("error", "data", "options"), [
    (TypeError, np.zeros((3, 2), complex), {}), (ValueError, [1.0, 2.0], {}), (ValueError, np.zeros((2, 0)), {}),
    (ValueError, np.full((2, 2), 1e200), {}), (ValueError, np.zeros((2, 17)), {}), (ValueError, None, {}),
    (ValueError, [[1.0, np.nan]], {}), (ValueError, [[1.0]], {"leafsize": 0}), (ValueError, [[1.0]], {"boxsize": 1.0}),
    (ValueError, [[-1.0]], {"boxsize": 1.0}), (ValueError, [[1.0]], {"boxsize": [1, 2]}),
    (ValueError, [[1.0]], {"boxsize": np.inf}), (TypeError, [[1.0]], {"foo": 1}), (ValueError, [[1.0]], {"dtype": int}),
])  # fmt: skip
def test_wrong_points_and_options_are_refused(kind, error, data, options):
    with pytest.raises(error):
        kind(data, **options)


def test_a_tree_of_no_points(kind):
    tree = kind(np.zeros((0, 3)))
    d, i = tree.query([[0, 0, 0]], 2)
    assert np.isinf(d).all() and i.tolist() == [[0, 0]] and tree.query((0, 0, 0)) == (np.inf, 0)
    assert tree.query_pairs(1) == set() and tree.query_ball_tree(tree, 1) == [] and tree.size == 1
    assert tree.count_neighbors(tree, [1, 2], weights=(np.zeros(0), None)).tolist() == [0, 0]
    assert tree.maxes.tolist() == [0, 0, 0] and tree.tree.children == 0


def test_single_precision(kind, points, rng):
    narrow = points.astype(np.float32)
    tree, wide, queries = kind(narrow, dtype=np.float32), kind(narrow), rng.random((30, 3)).astype(np.float32)
    assert tree.data.dtype == np.float32 and tree.data.base is narrow and tree.dtype == np.float32
    for arguments in ({}, {"k": 4}, {"k": [3, 1]}, {"k": 3, "p": 1}, {"k": 2, "p": 3}, {"distance_upper_bound": 0.1}):
        (d, i), (e, j) = tree.query(queries, **arguments), wide.query(queries, **arguments)
        assert np.array_equal(i, j) and d.dtype == np.float64
        np.testing.assert_allclose(d, e, rtol=1e-6)
        one, which = tree.query(queries[7], **arguments)
        assert np.array_equal(one, d[7]) and np.array_equal(which, i[7])
    for p in (1, 2, 3, np.inf):
        assert tree.query_pairs(0.2, p) == wide.query_pairs(0.2, p)
        assert tree.count_neighbors(tree, [0.1, 0.2], p).tolist() == wide.count_neighbors(wide, [0.1, 0.2], p).tolist()
        a, b = (t.sparse_distance_matrix(t, 0.2, p, output_type="dict") for t in (tree, wide))
        assert a.keys() == b.keys() and all(abs(a[key] - b[key]) < 1e-6 for key in a)
        w = rng.random(60)
        np.testing.assert_allclose(tree.count_neighbors(tree, 0.2, p, weights=w), wide.count_neighbors(wide, 0.2, p, w))
    assert tree.query_ball_point(queries[0], 0.3, return_sorted=True) == wide.query_ball_point(queries, 0.3)[0]
    assert tree.query_ball_point(queries[0], 0.3, return_length=True) == len(wide.query_ball_point(queries, 0.3)[0])
    assert tree.size == wide.size


# ---- Objects


def test_half_initialised_objects_raise(kind, points):
    half, whole = kind.__new__(kind), kind(points)
    for call in (
        lambda: half.query(points), lambda: half.query_ball_point(points, 1), lambda: half.query_pairs(1),
        lambda: half.query_ball_tree(whole, 1), lambda: whole.query_ball_tree(half, 1), lambda: half.n,
        lambda: whole.count_neighbors(half, 1), lambda: half.sparse_distance_matrix(whole, 1), lambda: half.tree,
        lambda: half.size, lambda: half.indices, lambda: half.data, lambda: half.mins, lambda: half.boxsize,
        lambda: half._node(0), lambda: half._build_weights(points[0]), lambda: half.rebuild(points),
        lambda: pickle.dumps(half), lambda: copy.copy(half),
    ):  # fmt: skip
        with pytest.raises(sapwood.ArgumentError, match="has not been built"):
            call()


class Named(KDTree):
    def __init__(self, points, name):
        super().__init__(points)
        self.name = name


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(points, protocol):
    for tree in (Named(points, "a"), KDTree(points, 3), cKDTree(points, 7, boxsize=[2, 0, 2], balanced_tree=False),
                 cKDTree(points, dtype=np.float32)):
        for twin in (pickle.loads(pickle.dumps(tree, protocol)), copy.copy(tree), copy.deepcopy(tree)):
            assert type(twin) is type(tree) and np.array_equal(twin.data, tree.data) and twin.dtype == tree.dtype
            assert (twin.leafsize, twin.size) == (tree.leafsize, tree.size)
            assert np.array_equal(twin.boxsize, tree.boxsize)
            assert np.array_equal(twin.query(points, 3)[1], tree.query(points, 3)[1])
            assert type(twin.query(points[0])[1]) is type(tree.query(points[0])[1])
            assert getattr(twin, "name", None) == getattr(tree, "name", None)


def test_pickle_leaves_the_points_out_of_band(points):
    buffers = []
    stream = pickle.dumps(KDTree(points), 5, buffer_callback=buffers.append)
    assert len(stream) < 1000 and len(buffers) == 1 and np.shares_memory(np.asarray(buffers[0].raw()), points)
    assert pickle.loads(stream, buffers=buffers).query(points)[1].tolist() == list(range(60))


def test_copies_and_files_are_flat_trees(kind, points, tmp_path):
    tree = kind(points)
    tree.save(tmp_path / "tree")
    for flat in (tree.copy(), kind.load(tmp_path / "tree")):
        assert type(flat) is sapwood.Tree
        assert np.array_equal(flat.nearest(points, 2).ids, tree.query(points, 2)[1])


def test_rebuild(kind, points, rng):
    tree, root = kind(points, 3, balanced_tree=False), None
    root = tree.tree
    more = rng.random((100, 3))
    tree.rebuild(more)
    assert tree.n == 100 and tree.data.base is more and tree.leafsize == 3 and tree.tree is not root
    assert tree.query(more)[1].tolist() == list(range(100)) and tree.indices.max() == 99


def test_nodes_are_made_once(kind, points):
    tree, found = kind(points, 1), []
    barrier = threading.Barrier(8)

    def look():
        barrier.wait()
        found.append((tree.tree, tree.indices, tree.size))

    threads = [threading.Thread(target=look) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(root is found[0][0] and indices is found[0][1] for root, indices, _ in found)
    with pytest.raises(IndexError):
        tree._node(tree.size)


def test_a_tree_that_keeps_its_nodes_is_collected(kind, points):
    tree = kind(points)
    assert tree.tree.children == 60
    gone = weakref.ref(tree)
    del tree
    gc.collect()
    assert gone() is None


def test_attributes(points):
    assert issubclass(KDTree, cKDTree) and issubclass(cKDTree, sapwood.Tree)
    assert not hasattr(cKDTree(points), "__dict__")
    KDTree(points).anything = 1
    assert type(KDTree(points).query(points[0])[1]) is np.intp and type(cKDTree(points).query(points[0])[1]) is int
    tree = cKDTree(points)
    for name in ("n", "m", "leafsize", "size", "data", "maxes", "mins", "indices", "boxsize", "tree"):
        with pytest.raises(AttributeError):
            setattr(tree, name, 1)


@pytest.mark.parametrize("name", [
    "query", "query_ball_point", "query_ball_tree", "query_pairs", "count_neighbors", "sparse_distance_matrix",
])  # fmt: skip
def test_signatures_are_scipys(name):
    spatial = pytest.importorskip("scipy.spatial")
    ours, theirs = inspect.signature(getattr(KDTree, name)), inspect.signature(getattr(spatial.KDTree, name))
    assert list(ours.parameters) == list(theirs.parameters)
    for parameter, other in zip(ours.parameters.values(), theirs.parameters.values(), strict=True):
        assert parameter.default == other.default


def test_threads_share_a_tree(kind, rng):
    tree, queries = kind(rng.random((5000, 3))), rng.random((2000, 3))
    expected, wrong = tree.query(queries, 4), []

    def ask(first):
        for row in range(first, 2000, 16):
            one = tree.query(queries[row], 4)
            wrong.extend([row] * (not np.array_equal(one[0], expected[0][row])))
        wrong.extend([-1] * (not np.array_equal(tree.query(queries, 4, workers=2)[1], expected[1])))

    threads = [threading.Thread(target=ask, args=(first,)) for first in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
