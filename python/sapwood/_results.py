"""What searches return."""

from collections import namedtuple


class Neighbors(namedtuple("Neighbors", ["ids", "distances2"])):
    """The neighbours of queries: row i of ids and of distances2 belongs to query i."""

    __slots__ = ()


class Rows(namedtuple("Rows", ["offsets", "ids", "distances2"])):
    """Neighbours in rows of different lengths: row i is ids[offsets[i]:offsets[i + 1]], with distances2 beside it.

    distances2 is None where there are no distances.
    """

    __slots__ = ()

    def row(self, i):
        """The ids of row i.

        >>> import sapwood
        >>> rows = sapwood.Tree([[0.0], [1.0], [5.0]]).within([[0.2], [5.0]], 1.0)
        >>> rows.row(0)
        array([0, 1], dtype=int32)
        """
        if i < 0:
            i += len(self.offsets) - 1
        if not 0 <= i < len(self.offsets) - 1:
            raise IndexError("there is no such row")
        return self.ids[int(self.offsets[i]) : int(self.offsets[i + 1])]

    def lists(self):
        """All rows as a list of arrays of ids, without copies of them.

        >>> import sapwood
        >>> sapwood.Tree([[0.0], [1.0], [5.0]]).within([[0.2], [3.0]], 1.0).lists()
        [array([0, 1], dtype=int32), array([], dtype=int32)]
        """
        ends = self.offsets.tolist()
        return [self.ids[begin:end] for begin, end in zip(ends, ends[1:])]

    def pairs(self):
        """All hits as pairs: the number of the row, and the id; an array of NumPy.

        >>> import sapwood
        >>> sapwood.Tree([[0.0], [1.0], [5.0]]).within([[0.2], [5.0]], 1.0).pairs()
        array([[0, 0],
               [0, 1],
               [1, 2]])
        """
        import numpy

        pairs = numpy.empty((len(self.ids), 2), dtype=numpy.int64)
        pairs[:, 0] = numpy.repeat(numpy.arange(len(self.offsets) - 1), numpy.diff(self.offsets))
        pairs[:, 1] = self.ids
        return pairs
