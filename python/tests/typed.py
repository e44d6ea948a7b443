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

cloud = np.zeros((10, 3))
normals, curvatures = sapwood.Tree(cloud).normals(k=5, view=[0, 0, 1])
fitness: float = sapwood.Tree(cloud).align(cloud, "plane", kernel="huber").fitness
kept: int = sapwood.Tree(cloud).outliers(radius=1.0).kept
labels = sapwood.Tree(cloud).clusters(1.0, fewest=4).labels
hausdorff: float = sapwood.Tree(cloud).compare(sapwood.Tree(cloud)).hausdorff
cells: sapwood.Voxels = sapwood.voxels(cloud, 0.5, attributes=cloud)
made: int = sapwood.project(cloud, radius=1.0).steps
moved = sapwood.transform(sapwood.relax(cloud).points, np.eye(4))
together: sapwood.Alignments = sapwood.align_many([cloud, cloud], "plane", pairs=[[1, 0]], starts="global")
overlapping: list[int] = [pair.source for pair in together.pairs if pair.alignment and pair.alignment.converged]
rmse: float = sapwood.registration_icp(cloud, cloud, 1.0).rmse
bias: float = sapwood.MeshTree(cloud, [[0, 1, 2]]).distance(cloud, signed=True).bias
world = sapwood.Instances(sapwood.MeshTree(cloud, [[0, 1, 2]]), [np.eye(4)])
assert_type(world.trace([0, 0, 0], [1, 0, 0]), sapwood.InstanceHits)
assert_type(world.count, int)
world.rebuild([np.eye(4)], which=[0])
sapwood.Instances(cloud, [np.eye(4)])  # type: ignore[arg-type]
