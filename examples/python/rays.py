#!/usr/bin/env python3
"""Rays through a mesh: how far away it is from each pixel of a camera, which way its surface faces, and how open each
place is to the sky.

    rays.py [MESH] [-o PICTURE.png] [--small]

MESH is any mesh that Sapwood reads (PLY, OBJ, STL, OFF). Without one, the surface of a knot is made.
"""

import argparse
import time

import matplotlib.pyplot as plt
import numpy as np

import sapwood


def knot(side: int) -> sapwood.Mesh:
    """A trefoil with a thick skin: where a volume of distances from a curve reaches a level."""
    angle = np.linspace(0, 2 * np.pi, 400, endpoint=False)
    curve = np.stack([np.sin(angle) + 2 * np.sin(2 * angle), np.cos(angle) - 2 * np.cos(2 * angle), -np.sin(3 * angle)], 1)
    axis = np.linspace(-4, 4, side, dtype=np.float32)
    z, y, x = np.meshgrid(axis, axis, axis, indexing="ij")
    _, distances2 = sapwood.Tree(curve.astype(np.float32)).nearest(np.stack([x, y, z], -1).reshape(-1, 3))
    distances = np.sqrt(distances2).reshape(side, side, side)
    step = float(axis[1] - axis[0])
    return sapwood.isosurface(distances, 0.55, low_inside=True, spacing=(step,) * 3, origin=(-4,) * 3).mesh()


def camera(bounds: np.ndarray, width: int, height: int) -> tuple[np.ndarray, np.ndarray]:
    """Where rays start, and the direction of each pixel's, for a look at the whole box."""
    middle, size = bounds.mean(axis=0), np.linalg.norm(bounds[1] - bounds[0])
    eye = middle + np.array([0.35, 0.45, 1.0]) * size * 0.85
    forward = (middle - eye) / np.linalg.norm(middle - eye)
    right = np.cross(forward, [0, 1, 0])
    right /= np.linalg.norm(right)
    x = (np.arange(width) + 0.5) / width - 0.5
    y = (0.5 - (np.arange(height) + 0.5) / height) * height / width
    return eye, forward + x[None, :, None] * right + y[:, None, None] * np.cross(right, forward)


def openness(tree: sapwood.MeshTree, places: np.ndarray, normals: np.ndarray, rays: int) -> np.ndarray:
    """Which part of the rays from each place, in all directions before it, meets nothing."""
    rng = np.random.default_rng(1)
    directions = rng.normal(size=(len(places), rays, 3))
    directions /= np.linalg.norm(directions, axis=-1, keepdims=True)
    directions += normals[:, None] * 1.0001  # a cosine lobe
    start = places + normals * 1e-3 * np.ptp(places, axis=0).max()
    hidden = tree.occluded(np.broadcast_to(start[:, None], directions.shape), directions)
    return 1 - hidden.mean(axis=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mesh", nargs="?")
    parser.add_argument("-o", "--output", default="rays.png")
    parser.add_argument("--small", action="store_true", help="fewer pixels")
    options = parser.parse_args()
    mesh = sapwood.read_mesh(options.mesh) if options.mesh else knot(40 if options.small else 120)
    width, height, rays = (96, 72, 8) if options.small else (640, 480, 64)

    start = time.perf_counter()
    tree = sapwood.MeshTree(mesh)
    built = time.perf_counter()
    eye, directions = camera(np.array(tree.bounds), width, height)
    hits = tree.trace(eye, directions)
    traced = time.perf_counter()
    seen = hits.triangle >= 0
    corners = np.asarray(mesh.vertices, float)[mesh.triangles[hits.triangle[seen]]]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)
    normals *= -np.sign(np.einsum("ij,ij->i", normals, directions[seen]))[:, None]  # towards the camera
    places = eye + directions[seen] * hits.t[seen, None]
    sky = openness(tree, places, normals, rays)
    print(f"{tree.triangle_count:,} triangles, tree in {built - start:.3f} s; {hits.t.size:,} rays in "
          f"{traced - built:.3f} s, {seen.sum():,} of them hit; {seen.sum() * rays:,} more to the sky in "
          f"{time.perf_counter() - traced:.3f} s")

    pictures = [np.full((height, width), np.nan), np.full((height, width, 3), 1.0), np.full((height, width), np.nan)]
    pictures[0][seen], pictures[1][seen], pictures[2][seen] = hits.t[seen], 0.5 + 0.5 * normals, sky
    figure, axes = plt.subplots(1, 3, figsize=(13, 3.8), layout="constrained")
    for ax, picture, title, colors in zip(axes, pictures, ("Distance", "Normals", "Open to the sky"), ("magma_r", None, "gray")):
        ax.imshow(picture, cmap=colors)
        ax.set(title=title, xticks=[], yticks=[])
    figure.savefig(options.output, dpi=120)
    print(f"drawn: {options.output}")


if __name__ == "__main__":
    main()
