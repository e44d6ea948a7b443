"""The clouds of the comparison."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def uniform(count: int, seed: int) -> Array:
    """The unit cube, in random order."""
    return np.random.default_rng(seed).random((count, 3))


def scan(count: int, seed: int) -> Array:
    """What a scanner of 64 beams sees from eight places in a yard: its ground and walls, spheres and poles, in random
    order, with the noise of its range. The scene of bench/data.c, of other random numbers."""
    side = 40.0
    yard, rng = np.random.default_rng(777), np.random.default_rng(seed)
    spheres = np.column_stack([yard.uniform(2, side - 2, (24, 2)), yard.uniform(0.3, 3.3, 24), yard.uniform(0.2, 1.2, 24)])
    poles = np.column_stack([yard.uniform(2, side - 2, (40, 2)), yard.uniform(0.1, 0.5, 40)])
    stops = np.column_stack([yard.uniform(5, side - 5, (8, 2)), np.full(8, 1.7)])
    start = stops[rng.integers(8, size=count)]
    azimuth = rng.uniform(0, 2 * np.pi, count)
    elevation = np.radians(-25 + 0.625 * rng.integers(64, size=count) + rng.normal(0, 0.02, count))
    along = np.column_stack([np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)])
    reach = np.where(along[:, 2] < 0, -start[:, 2] / along[:, 2], np.inf)  # the ground
    reach = np.minimum(reach, (np.where(along[:, :2] > 0, side - start[:, :2], -start[:, :2]) / along[:, :2]).min(axis=1))

    def nearer(a: Array | float, b: Array, c: Array) -> Array:
        """The nearer of reach and the first root of a*t*t + 2*b*t + c that lies ahead."""
        within = b * b - a * c
        root = (-b - np.sqrt(np.maximum(within, 0))) / a
        return np.where((within > 0) & (root > 1e-3), np.minimum(reach, root), reach)

    for x, y, z, radius in spheres:
        away = start - (x, y, z)
        reach = nearer(1.0, (away * along).sum(axis=1), (away**2).sum(axis=1) - radius**2)
    flat = (along[:, :2] ** 2).sum(axis=1)
    for x, y, radius in poles:
        away = start[:, :2] - (x, y)
        reach = nearer(flat, (away * along[:, :2]).sum(axis=1), (away**2).sum(axis=1) - radius**2)
    return start + along * (reach + rng.normal(0, 0.004, count))[:, None]
