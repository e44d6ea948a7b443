"""SciPy's k-d tree, name for name: ``from sapwood import KDTree`` instead of ``from scipy.spatial import KDTree``.

Answers are those of SciPy, except that of points at the same distance the one with the smallest index always comes
first. Choices where SciPy's behaviour is an accident: nothing is within a negative or NaN distance; p is at most 1000
or infinite; a fraction as k is refused; coordinates whose squared distances overflow are refused; points have at most
16 coordinates; trees of a call have one box; eps lets ``query`` be inexact, ``query_pairs`` finds all within
r * (1 + eps), the other calls are exact.

The tree that is shown (``tree``, ``indices``, ``size``) follows SciPy's rules, and is made when it is first asked for:
searches use another one. All methods of :class:`sapwood.Tree` are there, too.
"""

from __future__ import annotations

import copyreg
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, SupportsFloat, SupportsIndex, TypeAlias

from ._sapwood import ArgumentError, KDTreeBase
from .files import as_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike

__all__ = ["KDTree", "cKDTree", "cKDTreeNode"]

Points: TypeAlias = Any  # what numpy.asarray takes


class cKDTreeNode:
    """A node of the tree that a cKDTree shows. All attributes are read-only."""

    __slots__ = ("_greater", "_lesser", "_numbers", "_tree", "__weakref__")

    _tree: Any  # a cKDTree, or None
    _lesser: cKDTreeNode | None
    _greater: cKDTreeNode | None
    _numbers: tuple[int, int, float, int, int, int, int]

    def __init__(self) -> None:
        self._tree = self._lesser = self._greater = None
        self._numbers = (0, 0, 0.0, 0, 0, -1, -1)

    @classmethod
    def _of(cls, tree: KDTreeBase, number: int) -> cKDTreeNode:
        node = cls()
        node._tree = tree
        node._numbers = tree._node(number)
        return node

    @property
    def level(self) -> int:
        """The depth of the node: 0 at the root."""
        return self._numbers[0]

    @property
    def split_dim(self) -> int:
        """The axis that the node divides, -1 in a leaf."""
        return self._numbers[1]

    @property
    def split(self) -> float:
        """Points whose coordinate is below this are in `lesser`, the others in `greater`."""
        return self._numbers[2]

    @property
    def start_idx(self) -> int:
        """Where the node's points begin in the tree's `indices`."""
        return self._numbers[3]

    @property
    def end_idx(self) -> int:
        """Where the node's points end in the tree's `indices`."""
        return self._numbers[4]

    @property
    def children(self) -> int:
        """How many points the node has."""
        return self._numbers[4] - self._numbers[3]

    @property
    def indices(self) -> Any:
        """The indices of the node's points."""
        return self._tree.indices[self.start_idx : self.end_idx]

    @property
    def data_points(self) -> Any:
        """The node's points, a copy."""
        return self._tree.data[self.indices]

    @property
    def lesser(self) -> cKDTreeNode | None:
        """The node over the points below the split; None in a leaf."""
        if self._lesser is None and self.split_dim >= 0 and self._tree is not None:
            self._lesser = cKDTreeNode._of(self._tree, self._numbers[5])
        return self._lesser

    @property
    def greater(self) -> cKDTreeNode | None:
        """The node over the points that are not below the split; None in a leaf."""
        if self._greater is None and self.split_dim >= 0 and self._tree is not None:
            self._greater = cKDTreeNode._of(self._tree, self._numbers[6])
        return self._greater


class cKDTree(KDTreeBase):
    """A k-d tree with the interface of scipy.spatial.cKDTree.

    data: points of shape (n, m). They are not copied if they are C-contiguous float64.
    leafsize, compact_nodes, balanced_tree: how the tree that is shown is divided; searches are as fast with any.
    copy_data: copy the points in any case.
    boxsize: the size of a periodic box, one number or one an axis; 0 leaves an axis open.
    dtype: numpy.float32 keeps the points, and searches, in single precision. SciPy has no such argument.
    """

    __slots__ = ()

    def __init__(
        self,
        data: Points,
        leafsize: int = 16,
        compact_nodes: bool = True,
        copy_data: bool = False,
        balanced_tree: bool = True,
        boxsize: ArrayLike | None = None,
        *,
        dtype: DTypeLike = None,
    ) -> None:
        self._prepare(data, leafsize, compact_nodes, copy_data, balanced_tree, boxsize, dtype, True)

    def _prepare(self, data: Points, leafsize: int, compact_nodes: bool, copy_data: bool, balanced_tree: bool,
                 boxsize: ArrayLike | None, dtype: DTypeLike, plain_ids: bool) -> None:
        import numpy as np

        real = np.dtype(np.float64 if dtype is None else dtype)
        if real not in (np.float64, np.float32):
            raise ArgumentError(f"dtype must be float64 or float32, not {real}")
        given = as_array(data, "data")
        if given.dtype.kind == "c":
            raise TypeError("KDTree does not work with complex data")
        points = as_array(given, "data", real)
        copied = copy_data and given.dtype == real
        points = np.array(points, order="C", copy=True) if copied else np.asarray(points, order="C")
        if points.ndim != 2:
            raise ArgumentError(f"data must be of shape (n, m), n points of dimension m, not {points.shape}")
        if leafsize < 1:
            raise ArgumentError("leafsize must be at least 1")
        points = points.view(np.ndarray)
        points.flags.writeable = False
        box = None
        if boxsize is not None:
            box = np.empty(points.shape[1])
            box[...] = boxsize
            box.flags.writeable = False
        self._begin(points, leafsize, bool(compact_nodes), bool(balanced_tree), box, plain_ids)

    @property
    def tree(self) -> Any:
        """The root of the tree that is shown, a cKDTreeNode."""
        root = self._keep_root(None)
        return self._keep_root(cKDTreeNode._of(self, 0)) if root is None else root

    def sparse_distance_matrix(
        self,
        other: cKDTree,
        max_distance: SupportsFloat,
        p: SupportsFloat = 2.0,
        output_type: Literal["dok_matrix", "dok_array", "coo_matrix", "coo_array", "dict", "ndarray"] = "dok_matrix",
    ) -> Any:
        """The distances of all pairs of a point of this tree and a point of another within max_distance.

        output_type: 'dok_matrix', 'dok_array', 'coo_matrix', 'coo_array' (all of scipy.sparse); 'dict', of (i, j); or
        'ndarray', with the fields i, j and v. Distances of 0 are entries, too.
        """
        if output_type == "dict":
            return self._distances(other, max_distance, p, None)
        if output_type == "ndarray":
            import numpy as np

            fields = [("i", np.intp), ("j", np.intp), ("v", np.float64)]
            return self._distances(other, max_distance, p, np.dtype(fields, align=True))
        if output_type not in ("dok_matrix", "dok_array", "coo_matrix", "coo_array"):
            raise ArgumentError(f"Invalid output type {output_type!r}")
        from scipy import sparse  # type: ignore[import]

        kind = sparse.coo_array if output_type.endswith("array") else sparse.coo_matrix
        found = self._distances(other, max_distance, p, ())
        if found is None:
            matrix = kind((self.n, other.n))
        else:
            rows, columns, distances = found
            entries = columns.distances2 if distances is None else distances
            matrix = kind((entries, (rows, columns.ids)), shape=(self.n, other.n))
        return matrix.todok() if output_type.startswith("dok") else matrix

    def rebuild(self, points: Points, *, progress: Callable[[float], object] | None = None) -> None:
        """Builds the tree anew over other points, with the same options and precision. progress is not called."""
        leafsize, compact_nodes, balanced_tree = self._options
        cKDTree._prepare(self, points, leafsize, compact_nodes, False, balanced_tree, self.boxsize, self.data.dtype,
                         not isinstance(self, KDTree))

    def __getstate__(self) -> tuple[dict[str, Any], dict[str, Any] | None]:
        leafsize, compact_nodes, balanced_tree = self._options
        state = {"data": self.data, "leafsize": leafsize, "compact_nodes": compact_nodes,
                 "balanced_tree": balanced_tree, "boxsize": self.boxsize, "dtype": self.data.dtype}
        return state, getattr(self, "__dict__", None)

    def __setstate__(self, state: tuple[dict[str, Any], dict[str, Any] | None]) -> None:
        options, attributes = state
        cKDTree._prepare(self, copy_data=False, plain_ids=not isinstance(self, KDTree), **options)
        if attributes:
            self.__dict__.update(attributes)

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        return copyreg.__newobj__, (type(self),), self.__getstate__()  # type: ignore[attr-defined]


class KDTree(cKDTree):
    """A k-d tree with the interface of scipy.spatial.KDTree.

    data: points of shape (n, m). They are not copied if they are C-contiguous float64.
    leafsize, compact_nodes, balanced_tree: how the tree that is shown is divided; searches are as fast with any.
    copy_data: copy the points in any case.
    boxsize: the size of a periodic box, one number or one an axis; 0 leaves an axis open.
    dtype: numpy.float32 keeps the points, and searches, in single precision. SciPy has no such argument.
    """

    class node:
        """A node of the tree that a KDTree shows: an innernode or a leafnode."""

        @staticmethod
        def _create(ckdtree_node: cKDTreeNode | None = None) -> KDTree.node:
            if ckdtree_node is None:
                return KDTree.node()
            return KDTree.leafnode(ckdtree_node) if ckdtree_node.split_dim < 0 else KDTree.innernode(ckdtree_node)

        _node: cKDTreeNode

        def __init__(self, ckdtree_node: cKDTreeNode | None = None) -> None:
            self._node = cKDTreeNode() if ckdtree_node is None else ckdtree_node

        def __lt__(self, other: object) -> bool:
            return id(self) < id(other)

        def __gt__(self, other: object) -> bool:
            return id(self) > id(other)

        def __le__(self, other: object) -> bool:
            return id(self) <= id(other)

        def __ge__(self, other: object) -> bool:
            return id(self) >= id(other)

        @property
        def children(self) -> int:
            """How many points the node has."""
            return self._node.children

    class leafnode(node):
        """A node that is not divided."""

        @property
        def idx(self) -> Any:
            """The indices of the node's points."""
            return self._node.indices

    class innernode(node):
        """A node that is divided into two."""

        _less: KDTree.node | None
        _greater: KDTree.node | None

        def __init__(self, ckdtree_node: cKDTreeNode) -> None:
            super().__init__(ckdtree_node)
            self._less = self._greater = None

        @property
        def split_dim(self) -> int:
            """The axis that the node divides."""
            return self._node.split_dim

        @property
        def split(self) -> float:
            """Points whose coordinate is below this are in `less`, the others in `greater`."""
            return self._node.split

        @property
        def less(self) -> KDTree.node:
            """The node over the points below the split."""
            if self._less is None:
                self._less = KDTree.node._create(self._node.lesser)
            return self._less

        @property
        def greater(self) -> KDTree.node:
            """The node over the points that are not below the split."""
            if self._greater is None:
                self._greater = KDTree.node._create(self._node.greater)
            return self._greater

    def __init__(
        self,
        data: Points,
        leafsize: int = 10,
        compact_nodes: bool = True,
        copy_data: bool = False,
        balanced_tree: bool = True,
        boxsize: ArrayLike | None = None,
        *,
        dtype: DTypeLike = None,
    ) -> None:
        self._prepare(data, leafsize, compact_nodes, copy_data, balanced_tree, boxsize, dtype, False)

    @property
    def tree(self) -> Any:
        """The root of the tree that is shown, a KDTree.innernode or KDTree.leafnode."""
        root = self._keep_root(None)
        return self._keep_root(KDTree.node._create(cKDTreeNode._of(self, 0))) if root is None else root
