"""What a type checker makes of the package: mypy reads this file, nothing runs it. Each line that is marked must be refused:
an ignored error that is none is one itself (warn_unused_ignores)."""

from typing import assert_type

import numpy as np

import sapwood

points = np.zeros((5, 3), np.float32)

tree = sapwood.Tree(points, split="midpoint", progress=lambda done: done < 0.5)
ids, distances2 = tree.nearest(points, 2, radius=1.0, metric="l1")
found = tree.nearest([[0.0, 1.0, 2.0]])
assert_type(found, sapwood.Neighbors)
rows = tree.within(points, 0.5)
assert_type(rows, sapwood.Rows)
assert_type(tree.count, int)
assert_type(tree.device, str)
assert_type(sapwood.Tree.load("tree.sapwood"), sapwood.Tree)
tree.save("tree.sapwood")
assert_type(sapwood.__version__, str)

drop_in = sapwood.KDTree(points, leafsize=20, boxsize=[1.0, 1.0, 1.0])
distance, index = drop_in.query(points, k=[1, 3], workers=-1)
flat: sapwood.Tree = drop_in
assert_type(drop_in.n, int)
assert_type(drop_in.query_ball_tree(drop_in, 0.1), list[list[int]])


class Own(sapwood.KDTree):
    """Classes may be derived."""


try:
    sapwood.read("scan.ply")
except sapwood.FormatError as error:
    assert_type(error.status, int)

tree.nearest(points, metric="l3")  # type: ignore[arg-type]
tree.nearest(points, "two")  # type: ignore[arg-type]
tree.nearest()  # type: ignore[call-arg]
tree.count = 3  # type: ignore[misc]
sapwood.KDTree(points, leaf_sise=3)  # type: ignore[call-arg]
