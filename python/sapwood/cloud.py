"""Clouds of points: what Tree's calls about them return, and calls that make clouds of clouds.

Trees have ``normals``, ``covariances``, ``shapes``, ``orient``, ``features``, ``gather``, ``gather_self``, ``density``,
``outliers``, ``clusters``, ``sample``, ``distance``, ``compare`` and ``align``. Here are ``voxels``, ``relax``,
``project``, ``transform`` and ``align_many``, which need no tree, and the names that Open3D has for these calls.

On a GPU trees do all of that but ``align(start="global")``. An array of results lies where
the tree's points lay when they were given, those of ``gather`` where its queries lie: on the GPU, of the same library, or
on the host. So may what is given as ``out``. On the host are the arrays of ``distance``, ``compare`` and ``orient``; and
what tells how to do it: weights, attributes, views and normals.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from . import _sapwood

__all__ = ["AlignedPair", "Alignment", "Alignments", "Clusters", "Comparison", "Covariances", "Distances", "Gathered", "Normals", "Outliers", "Projected",
           "Relaxed", "Shapes", "Voxels", "align_many", "cluster_dbscan", "compute_point_cloud_distance", "estimate_normals",
           "farthest_point_down_sample", "project", "registration_icp", "relax", "remove_radius_outlier",
           "remove_statistical_outlier", "transform", "voxel_down_sample", "voxels"]


class Normals(NamedTuple):
    """The normals of points: one row or entry for each."""

    normals: Any
    """float32 (n, 3): of length 1; 0 where there is none."""
    curvatures: Any
    """float32: 0 for a plane, at most 1/3; None if they were not wanted."""


class Covariances(NamedTuple):
    """The covariances of the neighbours of points: one row for each."""

    covariances: Any
    """float32 (n, 6): xx, xy, xz, yy, yz, zz."""
    eigenvalues: Any
    """float32 (n, 3): ascending; None if they were not wanted."""

    def matrices(self) -> Any:
        """The covariances as matrices, (n, 3, 3).

        >>> import sapwood
        >>> line = sapwood.Tree([[0.0, 0, 0], [3, 0, 0], [6, 0, 0]])
        >>> line.covariances(k=3).matrices()[0]
        array([[6., 0., 0.],
               [0., 0., 0.],
               [0., 0., 0.]], dtype=float32)
        """
        return self.covariances[:, [0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(-1, 3, 3)


class Shapes(NamedTuple):
    """What the neighbours of points look like: one row or entry for each; None for what was not wanted."""

    normals: Any
    """float32 (n, 3): of length 1; 0 where there is none."""
    directions: Any
    """float32 (n, 3): along which the neighbours spread most; 0 where there is none."""
    covariances: Any
    """float32 (n, 6): xx, xy, xz, yy, yz, zz."""
    eigenvalues: Any
    """float32 (n, 3): l0, l1, l2, ascending."""
    curvatures: Any
    """float32: l0 / (l0 + l1 + l2)."""
    planarities: Any
    """float32: (l1 - l0) / l2."""
    linearities: Any
    """float32: (l2 - l1) / l2."""
    counts: Any
    """int32: how many neighbours there were, the point itself among them."""
    kinds: Any
    """uint8: 0 too few neighbours, 1 all at one place, 2 on a line, 3 a surface."""


class Gathered(NamedTuple):
    """Sums over the neighbours of queries: one row or entry for each; None for what was not wanted."""

    counts: Any
    """int32: neighbours."""
    weights: Any
    """float64: the sums of their weights."""
    offsets: Any
    """float64 (n, dims): of weights times the differences to the query."""
    products: Any
    """float64 (n, dims * (dims + 1) / 2): of weights times the products of these differences."""
    attributes: Any
    """float64: of weights times each attribute."""


class Outliers(NamedTuple):
    """Which points are no outliers."""

    keep: Any
    """An array of bool: True for points that are none."""
    kept: int
    """How many these are."""
    mean: float
    """Of the mean distances of all points; 0 for outliers by a radius."""
    deviation: float
    """Their standard deviation."""
    limit: float
    """The greatest mean distance that is no outlier's."""


class Clusters(NamedTuple):
    """Which points belong together."""

    labels: Any
    """int32: the number of each point's cluster; -1 for noise."""
    kinds: Any
    """uint8: 0 noise, 1 a border point, 2 a core point; None if they were not wanted."""
    cluster_count: int
    """How many clusters there are."""


class Distances(NamedTuple):
    """How far points are from others, and what that says together. All are of sizes, but for the bias."""

    distances: Any
    """float64: of each point; infinite where there is no counterpart. None if they were not wanted."""
    counted: int
    """Points that have a distance."""
    mean: float
    """0 where no point counts, as all that follow."""
    mean_square: float
    """The mean of the squares."""
    bias: float
    """The mean with signs."""
    quantile: float
    """What the asked part of the distances does not exceed; 0 if none was asked for."""
    greatest: float
    """The directed Hausdorff distance."""
    farthest: int
    """The row where that is found first; -1 if no point counts."""


class Comparison(NamedTuple):
    """Two clouds beside each other."""

    forth: Distances
    """From the points of the tree that was asked to the other's."""
    back: Distances
    """From the other's points to those of the tree that was asked."""
    hausdorff: float
    """The greater of the greatest of both."""
    quantile: float
    """The greater of the quantiles of both."""
    chamfer: float
    """The sum of the means of both."""
    chamfer_square: float
    """The sum of the means of squares of both."""


class Alignment(NamedTuple):
    """The motion that takes one cloud onto another."""

    transform: Any
    """float64 (4, 4): a turn and a shift."""
    converged: bool
    """Whether the last step moved less than the tolerance."""
    reason: str
    """Why it ended: "converged", "iterations" (all that were allowed) or "no pairs"."""
    iterations: int
    """Steps made, on all levels."""
    pairs: int
    """Pairs that count, at the transform."""
    fitness: float
    """Pairs over the points of the source."""
    rmse: float
    """The root of the mean squared distance of these pairs."""
    overlap: float
    """The part that was used last; 1 where none was asked for."""
    kernel_scale: float
    """That was used last; 0 without a kernel."""
    center: Any
    """float64 (3,): where the middle of the source's box has come."""
    information: Any
    """float64 (6, 6): how well the pairs determine the motion: turns about the three axes through center, then shifts."""
    undetermined: int
    """Directions of 6 in which the pairs say nothing; the source was not moved in them."""
    strengths: Any
    """float64 (6,): how strongly each of the directions is determined, ascending, beside the last."""
    directions: Any
    """float64 (6, 6): a row for each of the strengths."""
    rivals: int = 0
    """With start="global": other motions that were tried out and fit as well, by which the source lies elsewhere. Above 0
    the source looks alike from several sides, as a box does, or from all, as a ball does, and transform is one of several
    that are as right. With "no pairs": several fit, and nothing tells which is right."""

    @property
    def transformation(self) -> Any:
        """Open3D's name for ``transform``."""
        return self.transform

    @property
    def inlier_rmse(self) -> float:
        """Open3D's name for ``rmse``."""
        return self.rmse

    def apply(self, points: Any) -> Any:
        """Points, moved as the source was to be.

        >>> import sapwood
        >>> tree = sapwood.Tree([[0.0, 0, 0], [2, 0, 0], [0, 1, 0], [0, 0, 3]])
        >>> tree.align([[0.0, 0, 1], [2, 0, 1], [0, 1, 1], [0, 0, 4]]).apply([[0.0, 0, 5]]).round(6)
        array([[0., 0., 4.]])
        """
        return transform(points, self.transform)


class AlignedPair(NamedTuple):
    """What became of two clouds of many."""

    source: int
    """The number of the cloud that moves."""
    target: int
    """The number of the cloud that it is aligned with."""
    found: bool
    """Whether they overlap, so that there is an alignment."""
    kept: bool
    """Whether that agrees with the other pairs: weight is at least 1/4."""
    residual: float
    """How far the motion of the pair is from that of all: root of the mean of squares over its points; 0 if not found."""
    weight: float
    """How much the pair counted at last, 0 to 1."""
    alignment: Alignment | None
    """Of the two alone; None if not found."""


class Alignments(NamedTuple):
    """The motions that put many clouds together."""

    transforms: Any
    """float64 (n, 4, 4): take each cloud to where the first one of its group lies."""
    groups: Any
    """int32 (n,): which clouds hang together by pairs that are kept, numbered by their first clouds from 0."""
    pairs: list[AlignedPair]
    """All pairs that were aligned, or those that were given."""


class Voxels(NamedTuple):
    """One point for each cell of a grid, in the order of the cells: the last axis counts most."""

    points: Any
    """Of the type of the points given."""
    ids: Any
    """int32: the point that stands for each cell; of a centroid the first."""
    counts: Any
    """int32: points in each cell."""
    normals: Any
    """float32 (m, 3), or None."""
    attributes: Any
    """float32 (m, …), or None."""
    cell_of: Any
    """int32: the row of each point given; -1 of those left out."""


class Relaxed(NamedTuple):
    """Points that repelled each other."""

    points: Any
    """float32 (n + more, 3): in their order, then those that were added."""
    normals: Any
    """float32, as many; None if they were not wanted."""
    steps: int
    """That were done."""
    movement: float
    """Of the last step: root of the mean of squares."""
    range: float
    """Of the forces."""


class Projected(NamedTuple):
    """Points on the surface that a cloud samples."""

    points: Any
    """float32 (count, 3)."""
    steps: int
    """That were done."""
    movement: float
    """Of the last step: root of the mean of squares."""
    radius: float
    """That was taken."""


def voxels(points: Any, size: Any, *, origin: Any = None, point: str = "centroid", fewest: int = 1,
           drop_nonfinite: bool = False, normals: Any = None, attributes: Any = None) -> Voxels:
    """A cloud thinned by a grid: one point for each cell that has some, as Voxels(points, ids, counts, normals,
    attributes, cell_of).

    points: (n, dims), float32 or float64. size: the side of a cell, or one for each axis. origin: a corner of a cell (0).
    point: "centroid", the mean of the cell's points; "first", the one with the smallest id; "nearest", the one nearest to
    the middle of the cell. fewest: cells with fewer points are left out. drop_nonfinite: leave out points that are not
    finite, which otherwise raise NotFiniteError. normals (n, 3), attributes (n,) or (n, m), such as colours: float32,
    thinned with the points.

    >>> import sapwood
    >>> found = sapwood.voxels([[0.25, 0.25], [0.75, 0.25], [3.5, 0.5]], 1.0)
    >>> found.points, found.cell_of
    (array([[0.5 , 0.25],
           [3.5 , 0.5 ]]), array([0, 0, 1], dtype=int32))
    """
    flat = attributes is not None and getattr(attributes, "ndim", None) != 2
    if flat:
        from .files import as_array

        attributes = as_array(attributes, "attributes")
        flat = attributes.ndim == 1
        attributes = attributes[:, None] if flat else attributes
    found = Voxels(*_sapwood.voxels(points, size, origin, point, fewest, drop_nonfinite, normals, attributes))
    return found._replace(attributes=found.attributes[:, 0]) if flat else found


def relax(points: Any, *, k: int | None = None, radius: float | None = None, steps: int = 1, step: float | None = None,
          tolerance: float | None = None, more: int = 0, free: bool = False, normals: bool = False,
          device: Any = None, threads: int = 0, progress: Callable[[float], object] | None = None) -> Relaxed:
    """Lets points that repel each other relax on the surface that they sample, which evens out a scan: Relaxed(points,
    normals, steps, movement, range).

    points: (n, 3), float32; where they are far from 0, take a middle off before. k: the nearest exert forces (16), or
    those within the radius. steps: how many; tolerance: stop when points move by less than this part of the forces'
    range. step: part of the longest step that lowers the energy for sure, at most 2 (1). more: points that are added,
    where points lie most alone. free: do not put points back on the surface that those given sample. normals: also those
    of the points before the last step. device: "cuda" does it on a GPU, with the same result; the arrays are on the host.

    >>> import numpy, sapwood
    >>> points = numpy.random.default_rng(1).random((400, 3)) * [1, 1, 0]
    >>> found = sapwood.relax(points, steps=10)
    >>> spacing = [sapwood.Tree(p).density("distance").min() for p in (points, found.points)]
    >>> bool(spacing[1] > 5 * spacing[0]), float(abs(found.points[:, 2]).max())
    (True, 0.0)
    """
    return Relaxed(*_sapwood.relax(points, k, radius, steps, step, tolerance, more, free, normals, device, threads,
                                     progress))


def project(points: Any, count: int | None = None, *, starts: Any = None, radius: float | None = None, steps: int = 35,
            push: float | None = None, tolerance: float | None = None, by_density: bool = False,
            median: bool = False, device: Any = None, threads: int = 0,
            progress: Callable[[float], object] | None = None) -> Projected:
    """A few points on the surface that a cloud samples with noise and outliers, and evenly there: weighted locally optimal
    projection (WLOP), as Projected(points, steps, movement, radius).

    points: (n, 3), float32; where they are far from 0, take a middle off before. count: how many are made (one for every
    20); starts: or where they begin, (count, 3). radius: how far points reach (8 mean spacings): much farther than the
    noise goes, but less far than details are wide. push: how much they keep off each other, at most 0.5 (0.45).
    tolerance: stop when points move by less than this part of the radius. by_density: points given weigh the less the more
    of them lie nearby, for clouds that are dense in parts. median: points go to the median of those around, which stays on
    curved surfaces with a wide radius, instead of to their mean, which takes out more noise with a narrow one. device:
    "cuda" does it on a GPU, with the same result; the arrays are on the host.

    >>> import numpy, sapwood
    >>> rng = numpy.random.default_rng(1)
    >>> points = rng.random((2000, 3)) * [1, 1, 0] + rng.normal(0, 0.02, (2000, 3)) * [0, 0, 1]
    >>> found = sapwood.project(points, radius=0.3)
    >>> found.points.shape, bool(found.points[:, 2].std() < points[:, 2].std() / 4)
    ((100, 3), True)
    """
    return Projected(*_sapwood.project(points, count, starts, radius, steps, push, tolerance, by_density, median, device,
                                        threads, progress))


def transform(points: Any, matrix: Any, out: Any = None) -> Any:
    """Points, (n, 3) or (3,), moved by a matrix of 4 x 4 whose last row is 0 0 0 1: in double precision, rounded to the
    type of the points, float32 or float64. out: an array that is written to, which may be points itself.

    >>> import numpy, sapwood
    >>> shift = numpy.eye(4)
    >>> shift[:3, 3] = 1, 2, 3
    >>> sapwood.transform([[0.0, 0.0, 0.0]], shift)
    array([[1., 2., 3.]])
    """
    return _sapwood.transform(points, matrix, out)


def align_many(clouds: Any, method: str = "point", *, pairs: Any = None, starts: Any = None,
               iterations: int | None = None, tolerance: float | None = None, levels: int | None = None,
               max_distance: float | None = None, overlap: float | str | None = None, max_angle: float | None = None,
               one_to_one: bool = False, kernel: str | None = None, kernel_scale: float | None = None,
               flatness: float | None = None, normals_k: int | None = None, least_overlap: float | None = None,
               scale: float | None = None, drop_nonfinite: bool = False, threads: int = 0,
               progress: Callable[[float], object] | None = None) -> Alignments:
    """Aligns many clouds with one another: pairs of them, and then all so that they suit the pairs best, as
    Alignments(transforms, groups, pairs). A pair that is wrong does not pull at the others, as long as more of them agree.

    clouds: at most 1,000 arrays (n, 3), float32; where they are far from 0, take a middle off before. pairs: (m, 2), source
    and target of each pair, clouds counted from 0; None: all, in the order (1, 0), (2, 0), (2, 1), (3, 0), … starts:
    (clouds, 4, 4), where each cloud lies at first, from which it must be off by a fraction of its size only; None: as they
    are; "global": how two lie on each other is found by their shapes, as ``Tree.align`` does it.
    least_overlap: pairs with less fitness do not count (0.1). scale: a length: pairs whose clouds are off by more, once all
    lie as they suit one another, count little (three times the median of the rmse of pairs). All else: as ``Tree.align``.

    >>> import numpy, sapwood
    >>> points = numpy.random.default_rng(1).random((500, 3))
    >>> found = sapwood.align_many([points, points + [0.01, 0, 0], points + [0, 0.02, 0]])
    >>> found.transforms[:, :3, 3].round(4) + 0.0
    array([[ 0.  ,  0.  ,  0.  ],
           [-0.01,  0.  ,  0.  ],
           [ 0.  , -0.02,  0.  ]])
    >>> found.groups, [(pair.source, pair.target) for pair in found.pairs if pair.kept]
    (array([0, 0, 0], dtype=int32), [(1, 0), (2, 0), (2, 1)])
    """
    return Alignments(*_sapwood.align_many(clouds, method, pairs, starts, iterations, tolerance, levels, max_distance,
                                           overlap, max_angle, one_to_one, kernel, kernel_scale, flatness, normals_k,
                                           least_overlap, scale, drop_nonfinite, threads, progress))


# ---- Names that Open3D has. Points are arrays, or trees over them.


def _tree_of(points: Any) -> _sapwood.Tree:
    return points if isinstance(points, _sapwood.Tree) else _sapwood.Tree(points)


def estimate_normals(points: Any, radius: float | None = None, max_nn: int | None = 30) -> Any:
    """Open3D's name for ``Tree.normals``: its ``KDTreeSearchParamHybrid(radius, max_nn)`` without an object. Points, or a
    Tree of them; the normals alone, float32.

    >>> import sapwood
    >>> sapwood.estimate_normals([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]])[0]
    array([0., 0., 1.], dtype=float32)
    """
    return _tree_of(points).normals(k=max_nn, radius=radius, curvatures=False).normals


def remove_statistical_outlier(points: Any, nb_neighbors: int = 20, std_ratio: float = 2.0) -> tuple[Any, Any]:
    """Open3D's name for ``Tree.outliers``: the points that are none, and their ids. Open3D counts the point itself among
    its neighbours, and so does this; ``Tree.outliers`` does not.

    >>> import sapwood
    >>> points, ids = sapwood.remove_statistical_outlier([[0.0], [1], [2], [3], [90]], nb_neighbors=3, std_ratio=1)
    >>> ids
    array([0, 1, 2, 3])
    """
    import numpy

    points = numpy.asarray(points)
    if nb_neighbors < 2:
        raise _sapwood.ArgumentError(f"nb_neighbors must be at least 2, the point itself among them, not {nb_neighbors}")
    ids = numpy.flatnonzero(_sapwood.Tree(points).outliers("statistical", k=nb_neighbors - 1, ratio=std_ratio).keep)
    return points[ids], ids


def remove_radius_outlier(points: Any, nb_points: int, radius: float) -> tuple[Any, Any]:
    """Open3D's name for ``Tree.outliers`` with a radius: the points that have more than nb_points within the radius,
    themselves among them, and their ids.

    >>> import sapwood
    >>> sapwood.remove_radius_outlier([[0.0], [1.0], [5.0]], 1, 1.5)[1]
    array([0, 1])
    """
    import numpy

    points = numpy.asarray(points)
    ids = numpy.flatnonzero(_sapwood.Tree(points).outliers("radius", k=nb_points, radius=radius).keep)
    return points[ids], ids


def cluster_dbscan(points: Any, eps: float, min_points: int) -> Any:
    """Open3D's name for ``Tree.clusters``: the labels alone. Points, or a Tree of them.

    >>> import sapwood
    >>> sapwood.cluster_dbscan([[0.0], [1.0], [9.0], [9.5], [50.0]], eps=1.0, min_points=2)
    array([ 0,  0,  1,  1, -1], dtype=int32)
    """
    return _tree_of(points).clusters(eps, fewest=min_points).labels


def voxel_down_sample(points: Any, voxel_size: float) -> Any:
    """Open3D's name for ``voxels``: the centroids alone. Its cells begin half a cell before the least corner of the
    points, and so do these.

    >>> import sapwood
    >>> sapwood.voxel_down_sample([[0.0], [0.25], [3.0]], 1.0)
    array([[0.125],
           [3.   ]])
    """
    import numpy

    points = numpy.asarray(points)
    if not len(points):
        return points.copy()
    if not voxel_size > 0:
        raise _sapwood.ArgumentError(f"voxel_size must be above 0, not {voxel_size}")
    return voxels(points, voxel_size, origin=points.min(axis=0).astype(float) - 0.5 * voxel_size).points


def farthest_point_down_sample(points: Any, num_samples: int) -> Any:
    """Open3D's name for ``Tree.sample``: the points themselves.

    >>> import sapwood
    >>> sapwood.farthest_point_down_sample([[0.0], [1.0], [9.0]], 2)
    array([[0.],
           [9.]])
    """
    import numpy

    points = numpy.asarray(points)
    return points[_sapwood.Tree(points).sample(num_samples)]


def compute_point_cloud_distance(source: Any, target: Any) -> Any:
    """Open3D's name for ``Tree.distance``: how far each point of source is from the nearest of target.

    >>> import sapwood
    >>> sapwood.compute_point_cloud_distance([[0.0], [3.0]], [[1.0]])
    array([1., 2.])
    """
    return _tree_of(target).distance(source).distances


def registration_icp(source: Any, target: Any, max_correspondence_distance: float, init: Any = None,
                     method: str = "point", max_iteration: int = 30) -> Alignment:
    """Open3D's name for ``Tree.align``. target: points, or a Tree of them. method: "point", "plane" or "generalised".

    >>> import numpy, sapwood
    >>> points = numpy.random.default_rng(1).random((500, 3))
    >>> found = sapwood.registration_icp(points + [0, 0, 0.01], points, 0.2)
    >>> round(float(found.transformation[2, 3]), 6), found.fitness
    (-0.01, 1.0)
    """
    return _tree_of(target).align(source, method, start=init, max_distance=max_correspondence_distance,
                                  iterations=max_iteration)
