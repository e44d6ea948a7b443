#!/usr/bin/env python3
"""Normals of a scan: points that lie alone are left out, the rest is thinned to one point a cell, and each gets a normal that
points to where its scanner stood. Edges and corners show by their curvature, walls, floor and column by their normals.

    normals.py [SCAN] [-o PICTURE.png] [--small]

SCAN is any file of points that Sapwood reads (PLY, PCD, XYZ, CSV, NPY, NPZ, LAS); its normals are made to agree with one
another, since nobody knows where the scanner was. Without one a room is scanned that does not exist, from two places.
"""

import argparse
import time

import matplotlib.pyplot as plt
import numpy as np
from neighbours import scanned_room

import sapwood


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scan", nargs="?")
    parser.add_argument("-o", "--output", default="normals.png")
    parser.add_argument("--small", action="store_true", help="fewer points")
    options = parser.parse_args()
    if options.scan:
        points, places = np.asarray(sapwood.read_points(options.scan).points), None
    else:
        points, places = scanned_room(30_000 if options.small else 400_000)

    start = time.perf_counter()
    keep = sapwood.Tree(points).outliers().keep
    size = np.ptp(points[keep], axis=0).max() / (60 if options.small else 250)
    cells = sapwood.voxels(points[keep], size, point="nearest")
    tree = sapwood.Tree(cells.points)
    if places is None:
        normals, curvatures = tree.normals(k=16, orient="consistent")
    else:
        normals, curvatures = tree.normals(k=16, views=places[keep][cells.ids])
    flat = curvatures < 0.01
    print(f"{len(points):,} points, {len(points) - keep.sum():,} of them alone, {len(cells.points):,} cells with a normal each, "
          f"in {time.perf_counter() - start:.3f} s; {flat.mean():.0%} lie on flat surfaces, {(normals[flat, 2] > 0.99).mean():.0%} "
          "of these face up")

    figure, axes = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
    order = np.argsort(cells.points[:, 2])  # from above, what is higher hides the rest
    height = cells.points[order, 2]
    low = order[height < height[0] + 0.95 * (height[-1] - height[0])]  # without the ceiling
    axes[0].scatter(*cells.points[low, :2].T, c=(normals[low] + 1) / 2, s=1)
    axes[0].set(title="Normals, x y z as red green blue", aspect="equal", xlabel="x", ylabel="y")
    plan = axes[1].scatter(*cells.points[low, :2].T, c=curvatures[low], s=1, cmap="magma", vmax=0.15)
    axes[1].set(title="Curvature: edges and corners", aspect="equal", xlabel="x", ylabel="y")
    figure.colorbar(plan, ax=axes[1], label="l0 / (l0 + l1 + l2)")
    figure.savefig(options.output, dpi=120)
    print(f"drawn: {options.output}")


if __name__ == "__main__":
    main()
