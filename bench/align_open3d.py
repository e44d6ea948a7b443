"""Open3D at the works of sapwood_align_bench: align_open3d.py FOLDER DISTANCE PASSES, lines of key, seconds, steps (? where
Open3D does not tell), degrees left. Processor time of one thread: run it bound to one core, with OMP_NUM_THREADS=1."""

import statistics
import sys
import time

import numpy
import open3d

folder, distance, passes = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
registration = open3d.pipelines.registration
knn = open3d.geometry.KDTreeSearchParamKNN(16)


def cloud(name):
    rows = numpy.fromfile(f"{folder}/{name}.raw", numpy.float32).reshape(-1, 3)
    return open3d.geometry.PointCloud(open3d.utility.Vector3dVector(rows.astype(float)))


def align(method, to_end):
    target, source = cloud("target"), cloud("source")
    start = time.process_time()
    if method == "plane":
        target.estimate_normals(knn)
    least = 1e-12 if to_end else 0
    criteria = registration.ICPConvergenceCriteria(least, least * distance, 200 if to_end else 20)
    if method == "generalised":
        target.estimate_covariances(knn)
        source.estimate_covariances(knn)
        found = registration.registration_generalized_icp(
            source, target, distance, numpy.eye(4), registration.TransformationEstimationForGeneralizedICP(), criteria)
    else:
        kind = (registration.TransformationEstimationPointToPlane() if method == "plane"
                else registration.TransformationEstimationPointToPoint())
        found = registration.registration_icp(source, target, distance, numpy.eye(4), kind, criteria)
    return time.process_time() - start, found.transformation[:3, :3]


axis = numpy.array([1, 2, 3]) / 14**0.5
skew = numpy.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
made = numpy.eye(3) + numpy.sin(numpy.deg2rad(5)) * skew + (1 - numpy.cos(numpy.deg2rad(5))) * skew @ skew
for method in "point", "plane", "generalised":
    for end in "20", "end":
        runs = [align(method, end == "end") for _ in range(passes)]
        m = runs[0][1] @ made
        sine = numpy.linalg.norm([m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]]) / 2
        print(f"{method}-{end} {statistics.median(r[0] for r in runs):.6f} ? {numpy.rad2deg(numpy.arcsin(sine)):.5f}",
              flush=True)
