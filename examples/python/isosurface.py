#!/usr/bin/env python3
"""The surface of a volume, drawn by Sapwood itself: no other package than NumPy is needed.

    isosurface.py [VOLUME.npy] [--level L] [-o PICTURE.png] [--mesh MESH.ply] [--small]

VOLUME is an array [z, y, x] in an NPY or NPZ. Without one, a gyroid in a ball is made.
"""

import argparse
import time

import numpy as np

import sapwood


def gyroid(side: int) -> sapwood.Volume:
    """A surface that divides space into two mazes, cut off by a ball."""
    axis = np.linspace(-1, 1, side, dtype=np.float32)
    z, y, x = np.meshgrid(axis, axis, axis, indexing="ij")
    a, b, c = (8 * t for t in (x, y, z))
    values = 0.6 - np.abs(np.sin(a) * np.cos(b) + np.sin(b) * np.cos(c) + np.sin(c) * np.cos(a))
    ball = 8 * (0.92 - np.sqrt(x * x + y * y + z * z))
    step = float(axis[1] - axis[0])
    return sapwood.Volume(np.minimum(values, ball), spacing=(step,) * 3, origin=(-1,) * 3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("volume", nargs="?")
    parser.add_argument("--level", type=float, help="default: halfway between the extremes; of the gyroid 0")
    parser.add_argument("-o", "--output", default="isosurface.png")
    parser.add_argument("--mesh", help="a file for the surface: PLY, OBJ, STL or OFF")
    parser.add_argument("--small", action="store_true", help="fewer samples and pixels")
    options = parser.parse_args()
    volume = sapwood.read_volume(options.volume) if options.volume else gyroid(48 if options.small else 160)
    level = options.level
    if level is None:
        level = 0.5 * (float(volume.values.min()) + float(volume.values.max())) if options.volume else 0.0

    start = time.perf_counter()
    surface = sapwood.isosurface(volume, level)
    print(f"{volume}: {len(surface.vertices):,} vertices and {len(surface.triangles):,} triangles in "
          f"{time.perf_counter() - start:.3f} s")
    if options.mesh:
        sapwood.write(options.mesh, surface.mesh())
        print(f"written: {options.mesh}")
    start = time.perf_counter()
    size = (120, 90) if options.small else (800, 600)
    picture = sapwood.render(surface.mesh(), *size, up=(0, 0, 1), samples=4 if options.small else 16)
    picture.save(options.output)
    print(f"drawn in {time.perf_counter() - start:.3f} s, {picture.info['rays']:,} rays: {options.output}")


if __name__ == "__main__":
    main()
