"""The clouds of the comparison."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def uniform(count: int, seed: int) -> Array:
    """The unit cube, in random order."""
    return np.random.default_rng(seed).random((count, 3))


def scan(count: int, seed: int) -> Array:
    """What a laser sees from eight places in a yard: its ground and walls and forty balls, in random order, with the
    noise of its range."""
    rng = np.random.default_rng(seed)
    side, height = 40.0, 8.0
    stops = np.column_stack([rng.uniform(5, side - 5, (8, 2)), np.full(8, 1.7)])
    balls = np.random.default_rng(1).uniform([2, 2, 0.5], [side - 2, side - 2, 3], (40, 3))
    start = stops[rng.integers(8, size=count)]
    azimuth, elevation = rng.uniform(0, 2 * np.pi, count), rng.uniform(-1.2, 0.15, count)
    direction = np.column_stack([np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth),
                                 np.sin(elevation)])
    with np.errstate(divide="ignore"):
        reach = np.where(direction > 0, (np.array([side, side, height]) - start) / direction, -start / direction).min(axis=1)
    for ball in balls:
        along = ((ball - start) * direction).sum(axis=1)
        aside2 = ((ball - start) ** 2).sum(axis=1) - along**2
        hit = (along > 0) & (aside2 < 0.36)
        reach[hit] = np.minimum(reach[hit], along[hit] - np.sqrt(0.36 - aside2[hit]))
    return start + direction * (reach + rng.normal(0, 0.004, count))[:, None]
