#!/usr/bin/env python3
"""The two-point correlation function: how many more pairs of galaxies there are at a distance than chance would make.

    correlation.py [GALAXIES] [-o PICTURE.png] [--small]

GALAXIES is any file of points that Sapwood reads. Without one, clusters in a periodic cell are made up. Pairs are counted
by walking the tree against itself, at all distances in one traversal.
"""

import argparse
import time

import matplotlib.pyplot as plt
import numpy as np

import sapwood


def clusters(count: int, box: float) -> np.ndarray:
    """Half of the points lie in clusters, half anywhere."""
    rng = np.random.default_rng(5)
    middles = rng.uniform(0, box, (count // 200, 3))
    members = middles[rng.integers(len(middles), size=count // 2)] + rng.normal(0, 0.012 * box, (count // 2, 3))
    return np.vstack([members, rng.uniform(0, box, (count - count // 2, 3))]) % box


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("galaxies", nargs="?")
    parser.add_argument("-o", "--output", default="correlation.png")
    parser.add_argument("--small", action="store_true", help="fewer points")
    options = parser.parse_args()
    box = 100.0
    if options.galaxies:
        galaxies = np.asarray(sapwood.read_points(options.galaxies).points, dtype=np.float64)
        galaxies -= galaxies.min(axis=0)
        box = float(galaxies.max()) * 1.0001
    else:
        galaxies = clusters(5_000 if options.small else 100_000, box)
    edges = np.geomspace(box / 400, box / 8, 25)

    start = time.perf_counter()
    tree = sapwood.KDTree(galaxies, boxsize=box)
    pairs = tree.count_neighbors(tree, edges, cumulative=False)[1:]
    # In a periodic cell chance needs no random catalogue: every shell has its share of the volume.
    shell = 4 / 3 * np.pi * np.diff(edges**3) / box**3
    correlation = pairs / (len(galaxies) * (len(galaxies) - 1) * shell) - 1
    print(f"{len(galaxies):,} galaxies, {pairs.sum():,} pairs in {len(edges) - 1} shells, counted in "
          f"{time.perf_counter() - start:.3f} s; correlation {correlation[0]:.1f} at {edges[0]:.2f}, "
          f"{correlation[-1]:.3f} at {edges[-1]:.2f}")

    figure, axes = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
    slab = galaxies[galaxies[:, 2] < box / 10]
    axes[0].scatter(slab[:, 0], slab[:, 1], s=0.5, c="midnightblue")
    axes[0].set(title="A tenth of the cell", aspect="equal", xlabel="x", ylabel="y")
    middle = np.sqrt(edges[1:] * edges[:-1])
    axes[1].errorbar(middle, correlation, yerr=(1 + correlation) / np.sqrt(np.maximum(pairs, 1) / 2), fmt="o-", ms=3,
                     color="darkorange", capsize=2)
    axes[1].axhline(0, color="gray", lw=0.8)
    axes[1].set(title="Two-point correlation", xlabel="distance", ylabel="pairs beyond chance", xscale="log",
                yscale="symlog")
    figure.savefig(options.output, dpi=120)
    print(f"drawn: {options.output}")


if __name__ == "__main__":
    main()
