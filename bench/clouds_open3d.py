"""Open3D at the works of sapwood_clouds_bench: clouds_open3d.py POINTS.ply SPACING PASSES, lines of key, seconds, found.

Processor time of one thread (run it bound to one core, with OMP_NUM_THREADS=1); trees are built within each call.
"""

import statistics
import sys
import time

import numpy
import open3d

path, spacing, passes = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
cloud = open3d.io.read_point_cloud(path)
knn, ball = open3d.geometry.KDTreeSearchParamKNN, open3d.geometry.KDTreeSearchParamRadius


def kept(pair):
    return len(pair[1])


works = {
    "normals-k16": lambda: cloud.estimate_normals(knn(16)),
    "normals-k30": lambda: cloud.estimate_normals(knn(30)),
    "normals-radius": lambda: cloud.estimate_normals(ball(5 * spacing)),
    "nearest": lambda: numpy.sum(numpy.asarray(cloud.compute_nearest_neighbor_distance())),
    "statistical": lambda: kept(cloud.remove_statistical_outlier(21, 2.0)),
    "radius-outliers": lambda: kept(cloud.remove_radius_outlier(16, 5 * spacing)),
    "voxels": lambda: len(cloud.voxel_down_sample(4 * spacing).points),
    "farthest": lambda: len(cloud.farthest_point_down_sample(2048).points),
    "dbscan": lambda: numpy.asarray(cloud.cluster_dbscan(3 * spacing, 10)).max() + 1,
}
if len(cloud.points) < 100000:  # it takes half a minute otherwise
    works["orient"] = lambda: cloud.orient_normals_consistent_tangent_plane(15)
for key, work in works.items():
    found, samples = work(), []
    for _ in range(passes):
        start = time.process_time()
        found = work()
        samples.append(time.process_time() - start)
    print(key, f"{statistics.median(samples):.6f}", found if found is not None else 0, flush=True)
