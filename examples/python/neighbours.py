#!/usr/bin/env python3
"""Neighbours of a scan: how far the eighth neighbour of each point is says how densely the surface was sampled, and which
points lie alone.

    neighbours.py [SCAN] [-o PICTURE.png] [--small]

SCAN is any file of points that Sapwood reads (PLY, PCD, XYZ, CSV, NPY, NPZ). Without one a room is scanned that does not
exist, from two places.
"""

import argparse
import time

import matplotlib.pyplot as plt
import numpy as np

import sapwood


def scanned_room(count: int) -> tuple[np.ndarray, np.ndarray]:
    """What two lasers see of a room with a column, with noise, and a few points that nothing reflected; and from where."""
    rng = np.random.default_rng(7)
    size = np.array([8.0, 6.0, 3.0])
    start = np.array([[2.0, 2.0, 1.5], [6.5, 4.5, 1.5]])[rng.integers(2, size=count)]
    azimuth, elevation = rng.uniform(0, 2 * np.pi, count), rng.uniform(-1.3, 0.9, count)
    direction = np.stack([np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)], 1)
    reach = np.where(direction > 0, (size - start) / direction, -start / direction).min(axis=1)
    # The column: x and y alone decide where a ray meets it.
    flat = direction[:, :2] / np.linalg.norm(direction[:, :2], axis=1, keepdims=True)
    to_column = np.array([4.0, 3.2]) - start[:, :2]
    along = (to_column * flat).sum(axis=1)
    aside2 = (to_column**2).sum(axis=1) - along**2
    hit = (along > 0) & (aside2 < 0.16)
    reach[hit] = np.minimum(reach[hit], (along[hit] - np.sqrt(0.16 - aside2[hit])) / np.cos(elevation[hit]))
    points = start + direction * (reach + rng.normal(0, 0.003, count))[:, None]
    stray = rng.random(count) < 0.001
    points[stray] = rng.uniform(0, size, (stray.sum(), 3))
    return points.astype(np.float32), start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scan", nargs="?")
    parser.add_argument("-o", "--output", default="neighbours.png")
    parser.add_argument("--small", action="store_true", help="fewer points")
    options = parser.parse_args()
    if options.scan:
        points = np.asarray(sapwood.read_points(options.scan).points)
    else:
        points, _ = scanned_room(20_000 if options.small else 400_000)

    start = time.perf_counter()
    tree = sapwood.Tree(points)
    ids, distances2 = tree.nearest_self(8)
    spacing = np.sqrt(distances2[:, -1])
    alone = spacing > 5 * np.median(spacing)
    print(f"{len(points):,} points, 8 neighbours of each in {time.perf_counter() - start:.3f} s; median distance of the "
          f"eighth {np.median(spacing):.4g}; {alone.sum():,} points lie alone")

    figure, axes = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
    shown = np.random.default_rng(1).permutation(len(points))[:60_000]  # more cannot be told apart
    plan = axes[0].scatter(points[shown, 0], points[shown, 1], c=np.log10(spacing[shown]), s=0.3, cmap="viridis",
                           vmax=np.log10(5 * np.median(spacing)))
    axes[0].scatter(*points[alone, :2].T, s=4, c="crimson", label="alone")
    axes[0].set(title="From above", aspect="equal", xlabel="x", ylabel="y")
    axes[0].legend(loc="upper right", markerscale=2)
    figure.colorbar(plan, ax=axes[0], label="log10 of the distance of the eighth neighbour")
    axes[1].hist(np.log10(spacing), bins=100, color="seagreen")
    axes[1].set(title="How densely the scan samples", xlabel="log10 of the distance", ylabel="points", yscale="log")
    figure.savefig(options.output, dpi=120)
    print(f"drawn: {options.output}")


if __name__ == "__main__":
    main()
