"""Every method of sapwood.KDTree against SciPy's, on random points and with random arguments.

    python3 tests/test_scipy_random.py [checks [seed]]

compares until so many checks have been made, 100,000 by default; as a test, some thousand. What both must agree about
is compared as it is: which points, which shape, which type; distances to a few units in the last place, because SciPy adds
in another order from 8 coordinates on, and calls pow. Of equal distances SciPy may name any point: there, that the
smallest index comes first is compared with all distances, computed by NumPy.
"""

import sys

import numpy as np
import pytest

scipy_spatial = pytest.importorskip("scipy.spatial")

import sapwood  # noqa: E402

INF = np.inf


class Case:
    """Points and queries, and the two trees over the points."""

    def __init__(self, rng):
        self.rng = rng
        self.n = int(rng.choice([0, 1, 2, 7, 30, 200, 500]))
        self.m = int(rng.choice([1, 2, 3, 4, 5, 8, 11]))
        self.family = str(rng.choice(["uniform", "normal", "lattice", "few", "far"]))
        self.box = None
        self.p = float(rng.choice([2.0, 2.0, 1.0, INF, 3.0, 1.5, 4.7 if self.n < 100 else 2.5]))
        self.points = self.make(self.n)
        if rng.random() < 0.4:
            self.close_box()
        cls = str(rng.choice(["KDTree", "cKDTree"]))
        options = {"leafsize": int(rng.choice([1, 3, 10, 16])), "compact_nodes": bool(rng.random() < 0.5),
                   "balanced_tree": bool(rng.random() < 0.5), "boxsize": self.box}
        self.ours = getattr(sapwood, cls)(self.points, **options)
        self.theirs = getattr(scipy_spatial, cls)(self.points, **options)
        self.scale = float(np.ptp(self.points, axis=0).max()) if self.n else 1.0

    def make(self, count):
        rng, m = self.rng, self.m
        if self.family == "uniform":
            return rng.random((count, m))
        if self.family == "normal":
            return rng.normal(size=(count, m))
        if self.family == "lattice":
            return rng.integers(0, 5, (count, m)).astype(float)
        if self.family == "few":
            return rng.random((3, m))[rng.integers(0, 3, count)]
        return 1000 + rng.random((count, m))

    def close_box(self):
        """A box around the points, moved so that it holds them; some axes may stay open."""
        if self.n:
            self.points -= self.points.min(axis=0)
        size = (self.points.max(axis=0) if self.n else np.zeros(self.m)) * self.rng.choice([1.0, 1.5]) + 1
        self.box = np.where(self.rng.random(self.m) < 0.75, size, 0.0)

    def queries(self, count):
        q = self.make(count)
        if self.box is not None and count:
            q = q - q.min(axis=0) + self.rng.integers(-2, 3, q.shape) * (self.box if self.rng.random() < 0.5 else 0)
        if count and self.n and self.rng.random() < 0.5:
            q[: count // 2] = self.points[self.rng.integers(0, self.n, count // 2)]
        return q

    def distances(self, q, points):
        """All distances, in NumPy."""
        if self.box is not None:
            wrapped = q - np.floor(q / np.where(self.box > 0, self.box, INF)) * self.box
            q = np.where(self.box > 0, wrapped, q)
        d = np.abs(q[:, None, :] - points[None, :, :])
        if self.box is not None:
            d = np.where(self.box > 0, np.minimum(d, self.box - d), d)
        if self.p == INF:
            return d.max(axis=2, initial=0)
        return np.sqrt((d * d).sum(axis=2)) if self.p == 2 else (d**self.p).sum(axis=2) ** (1 / self.p)

    def radius(self):
        """One that no distance is likely to equal, so that rounding does not decide."""
        return float(self.scale * self.rng.random() ** 2 * 1.2 + 1e-3)

    def close(self, a, b):
        a, b = np.asarray(a), np.asarray(b)
        assert a.shape == b.shape and a.dtype == b.dtype, (a.shape, b.shape, a.dtype, b.dtype)
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-11 * (self.scale + 1e3 * (self.family == "far")))


def check_query(c):
    rng = c.rng
    shape = [(), (5,), (2, 3), (0,), (40,)][rng.integers(5)]
    q = c.queries(int(np.prod(shape, dtype=int))).reshape(shape + (c.m,))
    k = [1, 2, 5, c.n + 2, [1], [3, 1, 1], np.array([2, 4]), range(1, 4)][rng.integers(8)]
    bound = INF if rng.random() < 0.6 else c.radius()
    workers = int(rng.choice([1, 2, -1]))
    arguments = {"k": k, "p": c.p, "distance_upper_bound": bound, "workers": workers}
    (d, i), (e, j) = c.ours.query(q, **arguments), c.theirs.query(q, **arguments)
    assert type(d) is type(e) and type(i) is type(j), (type(d), type(e), type(i), type(j))
    c.close(d, e)
    assert np.asarray(i).dtype == np.asarray(j).dtype and np.shape(i) == np.shape(j)
    if not isinstance(k, int):
        full, which = c.ours.query(q, int(max(k)), p=c.p, distance_upper_bound=bound)
        columns = np.array(list(k)) - 1
        full, which = (np.reshape(x, (*shape, int(max(k))))[..., columns] for x in (full, which))
        assert np.array_equal(full, d) and np.array_equal(which, i)
        return
    # Who is named is as far as is said, and nobody who is nearer, or as near with a smaller index, is left out.
    flat = q.reshape(-1, c.m)
    all_d = c.distances(flat, c.points)
    d, i = np.reshape(d, (len(flat), k)), np.reshape(i, (len(flat), k))
    for row in range(len(flat)):
        there = i[row] < c.n
        assert len(set(i[row][there])) == there.sum() and np.array_equal(there, np.isfinite(d[row]))
        c.close(all_d[row][i[row][there]], d[row][there])
        assert there.sum() == min(k, (all_d[row] < bound).sum())
        assert (np.diff(d[row][there]) >= 0).all()
        if c.family == "lattice" and c.box is None and c.p in (1, 2, INF):  # their distances are exact
            assert np.array_equal(i[row][there], np.lexsort((np.arange(c.n), all_d[row]))[: there.sum()])


def check_eps(c):
    q, k, eps = c.queries(20), 3, float(c.rng.choice([0.01, 0.5, 3.0]))
    d, i = c.ours.query(q, k, eps=eps, p=c.p)
    true, _ = c.ours.query(q, k, p=c.p)
    assert ((true <= d) & (d <= true * (1 + eps) * (1 + 1e-12))).all() and ((i < c.n) == np.isfinite(d)).all()


def check_ball_point(c):
    rng = c.rng
    shape = [(), (5,), (2, 3), (0,), (30,)][rng.integers(5)]
    q = c.queries(int(np.prod(shape, dtype=int))).reshape(shape + (c.m,))
    r = c.radius() if rng.random() < 0.6 else np.abs(rng.normal(size=shape)) * c.radius()
    arguments = {"p": c.p, "workers": int(rng.choice([1, 2, -1]))}
    ours = c.ours.query_ball_point(q, r, **arguments)
    theirs = c.theirs.query_ball_point(q, r, **arguments)
    assert type(ours) is type(theirs) and np.shape(ours) == np.shape(theirs) or shape == ()
    if shape == ():
        assert isinstance(ours, list) and sorted(ours) == sorted(theirs) and all(type(i) is int for i in ours)
        ascending = c.ours.query_ball_point(q, r, return_sorted=True, **arguments)
        assert ascending == sorted(ours)
    else:
        assert all(a == b for a, b in zip(ours.ravel(), theirs.ravel(), strict=True))
    a = c.ours.query_ball_point(q, r, return_length=True, **arguments)
    b = c.theirs.query_ball_point(q, r, return_length=True, **arguments)
    assert type(a) is type(b) and np.array_equal(a, b) and np.asarray(a).dtype == np.asarray(b).dtype


def other_of(c):
    """Another pair of trees with the same box."""
    points = c.make(int(c.rng.choice([0, 1, 40, 150])))
    if c.box is not None and len(points):
        points = points - points.min(axis=0)
        points = np.where(c.box > 0, points % np.where(c.box > 0, c.box, 1), points)
    options = {"leafsize": 4, "boxsize": c.box}
    return type(c.ours)(points, **options), type(c.theirs)(points, **options)


def check_ball_tree(c):
    r = c.radius()
    ours, theirs = other_of(c)
    a, b = c.ours.query_ball_tree(ours, r, c.p), c.theirs.query_ball_tree(theirs, r, c.p)
    assert isinstance(a, list) and len(a) == len(b)
    assert all(isinstance(x, list) and sorted(x) == sorted(y) for x, y in zip(a, b, strict=True))


def check_pairs(c):
    r = c.radius() * 0.3
    a, b = c.ours.query_pairs(r, c.p), c.theirs.query_pairs(r, c.p)
    assert a == b and all(type(i) is int and type(j) is int for i, j in a)
    a = c.ours.query_pairs(r, p=c.p, output_type="ndarray")
    b = c.theirs.query_pairs(r, p=c.p, output_type="ndarray")
    assert a.shape == b.shape and a.dtype == b.dtype and (a[:, 0] < a[:, 1]).all()
    assert {tuple(x) for x in a.tolist()} == {tuple(x) for x in b.tolist()}
    wide = c.ours.query_pairs(r, p=c.p, eps=0.1)
    assert wide >= c.ours.query_pairs(r, c.p) and wide == c.ours.query_pairs(r * 1.1, c.p)


def check_counts(c):
    rng = c.rng
    ours, theirs = (c.ours, c.theirs) if rng.random() < 0.3 else other_of(c)
    if c.n == 0 or ours.n == 0:
        weights = None  # SciPy raises IndexError
    else:
        a, b = rng.random(c.n), rng.normal(size=ours.n)
        weights = [None, (a, b), (None, b), (a, None), (None, None), a if ours is c.ours else None][rng.integers(6)]
    r = c.radius() if rng.random() < 0.3 else np.array([c.radius() for _ in range(rng.integers(0, 6))])
    cumulative = bool(rng.random() < 0.5)
    if np.ndim(r) and not cumulative:
        r = np.sort(np.concatenate([r, r[:1]]))
    elif np.ndim(r):
        r = np.concatenate([r, r[:2]])
    if np.size(r) == 0 and c.box is not None:
        return
    x = c.ours.count_neighbors(ours, r, c.p, weights, cumulative)
    y = c.theirs.count_neighbors(theirs, r, c.p, weights, cumulative)
    assert np.shape(x) == np.shape(y) and type(x) is type(y)
    if np.issubdtype(np.asarray(y).dtype, np.integer):
        assert np.array_equal(x, y), (x, y, c.p, r)
    else:
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-9 * (1 + c.n * ours.n))


def check_sparse(c):
    r = c.radius() * 0.4
    ours, theirs = other_of(c)
    a = c.ours.sparse_distance_matrix(ours, r, c.p, output_type="dict")
    b = c.theirs.sparse_distance_matrix(theirs, r, c.p, output_type="dict")
    assert a.keys() == b.keys()
    c.close([a[key] for key in sorted(a)], [b[key] for key in sorted(a)])
    x = c.ours.sparse_distance_matrix(ours, r, c.p, output_type="ndarray")
    y = c.theirs.sparse_distance_matrix(theirs, r, c.p, output_type="ndarray")
    assert x.dtype == y.dtype and {(int(i), int(j)): float(v) for i, j, v in x} == a
    kind = str(c.rng.choice(["dok_matrix", "coo_matrix"]))
    s = c.ours.sparse_distance_matrix(ours, r, c.p, output_type=kind)
    t = c.theirs.sparse_distance_matrix(theirs, r, c.p, output_type=kind)
    assert type(s) is type(t) and s.shape == t.shape and s.nnz == t.nnz == len(a)
    if s.nnz:
        c.close(s.toarray(), t.toarray())


def check_attributes(c):
    a, b = c.ours, c.theirs
    assert (a.n, a.m, a.leafsize, a.size) == (b.n, b.m, b.leafsize, b.size)
    for name in ("data", "maxes", "mins", "boxsize"):
        x, y = getattr(a, name), getattr(b, name)
        assert np.array_equal(x, y) if y is not None else x is None
    assert np.array_equal(np.sort(a.indices), np.sort(b.indices))
    pending = [(a.tree, b.tree)]
    while pending:
        x, y = pending.pop()
        x, y = getattr(x, "_node", x), getattr(y, "_node", y)
        for name in ("level", "split_dim", "children", "start_idx", "end_idx"):
            assert getattr(x, name) == getattr(y, name), name
        assert sorted(x.indices) == sorted(y.indices)
        if y.split_dim >= 0:
            assert x.split == y.split
            pending += [(x.lesser, y.lesser), (x.greater, y.greater)]
        else:
            assert x.lesser is None and x.greater is None
    if c.n:
        w = c.rng.random(c.n)
        np.testing.assert_allclose(a._build_weights(w), b._build_weights(w))


CHECKS = [check_query, check_query, check_eps, check_ball_point, check_ball_tree, check_pairs, check_counts,
          check_sparse, check_attributes]


def compare(checks, seed):
    done = 0
    while done < checks:
        case_seed = seed + done
        c = Case(np.random.default_rng(case_seed))
        for check in CHECKS:
            try:
                check(c)
            except Exception:
                print(f"{check.__name__} failed: seed {case_seed}, {c.family} points, n {c.n}, m {c.m}, p {c.p}, "
                      f"box {c.box}", file=sys.stderr)
                raise
            done += 1
    return done


def test_random_calls_agree_with_scipy():
    assert compare(3000, 1) >= 3000


if __name__ == "__main__":
    print(compare(int(sys.argv[1]) if len(sys.argv) > 1 else 100000, int(sys.argv[2]) if len(sys.argv) > 2 else 1),
          "checks, none failed")
