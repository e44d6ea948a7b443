// Compiled, not run: the types of the CommonJS entry.
import sapwood = require("sapwood");
import points = require("sapwood/points");

const tree: sapwood.PointTree = new sapwood.PointTree([1, 2]);
const found: sapwood.Neighbor[] = tree.knn([1, 2], 1);
const only: number = new points.PointTree(new Float32Array(2)).nearest(0, 0)!.id;
// @ts-expect-error: numbers are needed
tree.within([1, 2], "far");
export = { found, only };
