"""Times scipy's cKDTree on the clouds that the benchmark exported: FOLDER OUT.csv, lines of key,seconds.

The clouds' first fifth of queries are asked and the time is scaled to all of them; medians of three passes.
"""

import statistics
import sys
import time

import numpy
from scipy.spatial import cKDTree

folder, out = sys.argv[1], sys.argv[2]
PASSES = 3


def median_seconds(work):
    work()
    samples = []
    for _ in range(PASSES):
        start = time.perf_counter()
        work()
        samples.append(time.perf_counter() - start)
    return statistics.median(samples)


rows = []
for cloud, radius in (("uniform", 0.0193), ("scan", 0.0475)):
    points = numpy.load(f"{folder}/{cloud}.npy")
    queries = numpy.load(f"{folder}/{cloud}-queries.npy")
    part = queries[: len(queries) // 5]
    scale = len(queries) / len(part)
    density = len(points) / 1000000
    radius /= density ** (1 / 3 if cloud == "uniform" else 1 / 2)
    tree = cKDTree(points)
    for key, k in (("1nn", 1), ("k8", 8), ("k16", 16)):
        rows.append((f"{cloud}-{key}", scale * median_seconds(lambda: tree.query(part, k=k, workers=1))))
    for key, lengths in (("count", True), ("collect", False)):
        seconds = median_seconds(
            lambda: tree.query_ball_point(part, radius, workers=1, return_sorted=False, return_length=lengths)
        )
        rows.append((f"{cloud}-{key}", scale * seconds))
    if cloud == "uniform":
        rows.append(("build-beside", median_seconds(lambda: cKDTree(points))))

with open(out, "w", encoding="ascii") as file:
    for key, seconds in rows:
        print(f"{key},{seconds:.6f}", file=file)
