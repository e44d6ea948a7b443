"""SciPy's k-d tree, name for name: ``from sapwood import KDTree`` instead of ``from scipy.spatial import KDTree``.

Answers are those of SciPy, except that of points at the same distance the one with the smallest index always comes
first. Choices where SciPy's behaviour is an accident: nothing is within a negative or NaN distance; p is at most 1000
or infinite; a fraction as k is refused; coordinates whose squared distances overflow are refused; points have at most
16 coordinates; eps lets ``query`` be inexact, ``query_pairs`` finds all within r * (1 + eps), the other calls are exact.

The tree that is shown (``tree``, ``indices``, ``size``) follows SciPy's rules, and is made when it is first asked for:
searches use another one. All methods of :class:`sapwood.Tree` are there, too.
"""

from __future__ import annotations

import copyreg

from ._sapwood import KDTreeBase

__all__ = ["KDTree", "cKDTree", "cKDTreeNode"]


class cKDTreeNode:
    """A node of the tree that a cKDTree shows. All attributes are read-only."""

    __slots__ = ("_greater", "_lesser", "_numbers", "_tree", "__weakref__")

    def __init__(self):
        self._tree = self._lesser = self._greater = None
        self._numbers = (0, 0, 0.0, 0, 0, -1, -1)

    @classmethod
    def _of(cls, tree, number):
        node = cls()
        node._tree = tree
        node._numbers = tree._node(number)
        return node

    @property
    def level(self):
        """The depth of the node: 0 at the root."""
        return self._numbers[0]

    @property
    def split_dim(self):
        """The axis that the node divides, -1 in a leaf."""
        return self._numbers[1]

    @property
    def split(self):
        """Points whose coordinate is below this are in `lesser`, the others in `greater`."""
        return self._numbers[2]

    @property
    def start_idx(self):
        """Where the node's points begin in the tree's `indices`."""
        return self._numbers[3]

    @property
    def end_idx(self):
        """Where the node's points end in the tree's `indices`."""
        return self._numbers[4]

    @property
    def children(self):
        """How many points the node has."""
        return self._numbers[4] - self._numbers[3]

    @property
    def indices(self):
        """The indices of the node's points."""
        return self._tree.indices[self.start_idx : self.end_idx]

    @property
    def data_points(self):
        """The node's points, a copy."""
        return self._tree.data[self.indices]

    @property
    def lesser(self):
        """The node over the points below the split; None in a leaf."""
        if self._lesser is None and self.split_dim >= 0 and self._tree is not None:
            self._lesser = cKDTreeNode._of(self._tree, self._numbers[5])
        return self._lesser

    @property
    def greater(self):
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

    def __init__(self, data, leafsize=16, compact_nodes=True, copy_data=False, balanced_tree=True, boxsize=None, *,
                 dtype=None):
        self._prepare(data, leafsize, compact_nodes, copy_data, balanced_tree, boxsize, dtype, True)

    def _prepare(self, data, leafsize, compact_nodes, copy_data, balanced_tree, boxsize, dtype, plain_ids):
        import numpy

        dtype = numpy.dtype(numpy.float64 if dtype is None else dtype)
        if dtype not in (numpy.float64, numpy.float32):
            raise ValueError(f"dtype must be float64 or float32, not {dtype}")
        data = numpy.asarray(data)
        if data.dtype.kind == "c":
            raise TypeError("KDTree does not work with complex data")
        if copy_data:
            data = numpy.array(data, dtype=dtype, order="C", copy=True)
        else:
            data = numpy.asarray(data, dtype=dtype, order="C")
        if data.ndim != 2:
            raise ValueError(f"data must be of shape (n, m), where there are n points of dimension m, not {data.shape}")
        if leafsize < 1:
            raise ValueError("leafsize must be at least 1")
        data = data.view(numpy.ndarray)
        data.flags.writeable = False
        if boxsize is not None:
            box = numpy.empty(data.shape[1])
            box[...] = boxsize
            box.flags.writeable = False
            boxsize = box
        self._begin(data, leafsize, bool(compact_nodes), bool(balanced_tree), boxsize, plain_ids)

    @property
    def tree(self):
        """The root of the tree that is shown, a cKDTreeNode."""
        root = self._keep_root(None)
        return self._keep_root(cKDTreeNode._of(self, 0)) if root is None else root

    def sparse_distance_matrix(self, other, max_distance, p=2.0, output_type="dok_matrix"):
        """The distances of all pairs of a point of this tree and a point of another within max_distance.

        output_type: 'dok_matrix', 'dok_array', 'coo_matrix', 'coo_array' (all of scipy.sparse); 'dict', of (i, j); or
        'ndarray', with the fields i, j and v. Distances of 0 are entries, too.
        """
        if output_type == "dict":
            return self._distances(other, max_distance, p, None)
        if output_type == "ndarray":
            import numpy

            fields = [("i", numpy.intp), ("j", numpy.intp), ("v", numpy.float64)]
            return self._distances(other, max_distance, p, numpy.dtype(fields, align=True))
        if output_type not in ("dok_matrix", "dok_array", "coo_matrix", "coo_array"):
            raise ValueError(f"Invalid output type {output_type!r}")
        from scipy import sparse

        kind = sparse.coo_array if output_type.endswith("array") else sparse.coo_matrix
        found = self._distances(other, max_distance, p, ())
        if found is None:
            matrix = kind((self.n, other.n))
        else:
            rows, columns, distances = found
            entries = columns.distances2 if distances is None else distances
            matrix = kind((entries, (rows, columns.ids)), shape=(self.n, other.n))
        return matrix.todok() if output_type.startswith("dok") else matrix

    def rebuild(self, points):
        """Builds the tree anew over other points, of the same precision, with the same options."""
        leafsize, compact_nodes, balanced_tree = self._options
        cKDTree._prepare(self, points, leafsize, compact_nodes, False, balanced_tree, self.boxsize, self.data.dtype,
                         not isinstance(self, KDTree))

    def __getstate__(self):
        leafsize, compact_nodes, balanced_tree = self._options
        state = {"data": self.data, "leafsize": leafsize, "compact_nodes": compact_nodes,
                 "balanced_tree": balanced_tree, "boxsize": self.boxsize, "dtype": self.data.dtype}
        return state, getattr(self, "__dict__", None)

    def __setstate__(self, state):
        options, attributes = state
        cKDTree._prepare(self, copy_data=False, plain_ids=not isinstance(self, KDTree), **options)
        if attributes:
            self.__dict__.update(attributes)

    def __reduce_ex__(self, protocol):
        return copyreg.__newobj__, (type(self),), self.__getstate__()


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
        def _create(ckdtree_node=None):
            if ckdtree_node is None:
                return KDTree.node()
            return KDTree.leafnode(ckdtree_node) if ckdtree_node.split_dim < 0 else KDTree.innernode(ckdtree_node)

        def __init__(self, ckdtree_node=None):
            self._node = cKDTreeNode() if ckdtree_node is None else ckdtree_node

        def __lt__(self, other):
            return id(self) < id(other)

        def __gt__(self, other):
            return id(self) > id(other)

        def __le__(self, other):
            return id(self) <= id(other)

        def __ge__(self, other):
            return id(self) >= id(other)

        @property
        def children(self):
            """How many points the node has."""
            return self._node.children

    class leafnode(node):
        """A node that is not divided."""

        @property
        def idx(self):
            """The indices of the node's points."""
            return self._node.indices

    class innernode(node):
        """A node that is divided into two."""

        def __init__(self, ckdtree_node):
            super().__init__(ckdtree_node)
            self._less = self._greater = None

        @property
        def split_dim(self):
            """The axis that the node divides."""
            return self._node.split_dim

        @property
        def split(self):
            """Points whose coordinate is below this are in `less`, the others in `greater`."""
            return self._node.split

        @property
        def less(self):
            """The node over the points below the split."""
            if self._less is None:
                self._less = KDTree.node._create(self._node.lesser)
            return self._less

        @property
        def greater(self):
            """The node over the points that are not below the split."""
            if self._greater is None:
                self._greater = KDTree.node._create(self._node.greater)
            return self._greater

    def __init__(self, data, leafsize=10, compact_nodes=True, copy_data=False, balanced_tree=True, boxsize=None, *,
                 dtype=None):
        self._prepare(data, leafsize, compact_nodes, copy_data, balanced_tree, boxsize, dtype, False)

    @property
    def tree(self):
        """The root of the tree that is shown, a KDTree.innernode or KDTree.leafnode."""
        root = self._keep_root(None)
        return self._keep_root(KDTree.node._create(cKDTreeNode._of(self, 0))) if root is None else root
