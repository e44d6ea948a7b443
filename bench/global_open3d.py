"""Alignment without a start, beside Open3D (Debian: python3-open3d): features, RANSAC over their matches, then planes.

    global_open3d.py SAPWOOD POINTS.ply [CASES]

Each case cuts a cloud into two parts that have half of each in common, no point being in both, adds noise of 0.1 % of the
diagonal, turns one part anyhow and moves it far away. Lines of case, seconds and degrees left of both; then how many each
put where they belong, within 5 degrees, and the median seconds: what the call took, files being read, on one thread."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

os.environ["OMP_NUM_THREADS"] = "1"
import numpy
import open3d

program, path, cases = sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 5
registration = open3d.pipelines.registration
random = numpy.random.default_rng(1)
points = numpy.asarray(open3d.io.read_point_cloud(path).points)
diagonal = numpy.linalg.norm(points.max(0) - points.min(0))


def cut():
    rank = (points @ random.normal(size=3)).argsort().argsort() / len(points)
    half = random.random(len(points)) < 0.5
    source, target = points[half & (rank < 2 / 3)], points[~half & (rank > 1 / 3)]
    source, target = (p + random.normal(scale=0.001 * diagonal, size=p.shape) for p in (source, target))
    turn = numpy.linalg.qr(random.normal(size=(3, 3)))[0]
    turn *= numpy.sign(numpy.linalg.det(turn))
    return source @ turn.T + 20 * diagonal * random.normal(size=3), target, turn


def left(found, turn):
    sine = numpy.linalg.norm(found @ turn - numpy.eye(3)) / 8**0.5
    return numpy.rad2deg(2 * numpy.arcsin(min(1, sine)))


def sapwood(source, target):
    with tempfile.TemporaryDirectory() as folder:
        numpy.save(f"{folder}/source.npy", source)
        numpy.save(f"{folder}/target.npy", target)
        said = subprocess.run([program, "align", f"{folder}/source.npy", f"{folder}/target.npy", "--global", "--method",
                               "plane", "--threads", "1", "--json"], capture_output=True, text=True)
    if said.returncode:
        return None, numpy.eye(3), 0
    said = json.loads(said.stdout)
    seconds = said["seconds"]["search"] + said["seconds"]["build"]
    return seconds, numpy.array(said["transform"]).reshape(4, 4)[:3, :3], said["start"]["spacing"]


def rival(source, target, spacing):
    geometry = open3d.geometry
    clouds = [geometry.PointCloud(open3d.utility.Vector3dVector(p)) for p in (source, target)]
    start = time.perf_counter()
    thin = [c.voxel_down_sample(spacing) for c in clouds]
    for c in thin:
        c.estimate_normals(geometry.KDTreeSearchParamHybrid(2 * spacing, 30))
    features = [registration.compute_fpfh_feature(c, geometry.KDTreeSearchParamHybrid(5 * spacing, 100)) for c in thin]
    found = registration.registration_ransac_based_on_feature_matching(
        thin[0], thin[1], features[0], features[1], True, 1.5 * spacing,
        registration.TransformationEstimationPointToPoint(False), 3,
        [registration.CorrespondenceCheckerBasedOnEdgeLength(0.9),
         registration.CorrespondenceCheckerBasedOnDistance(1.5 * spacing)],
        registration.RANSACConvergenceCriteria(100000, 0.999))
    clouds[1].estimate_normals(geometry.KDTreeSearchParamKNN(16))
    found = registration.registration_icp(clouds[0], clouds[1], 0.5 * spacing, found.transformation,
                                          registration.TransformationEstimationPointToPlane())
    return time.perf_counter() - start, found.transformation[:3, :3]


rows = []
for case in range(cases):
    source, target, turn = cut()
    seconds, found, spacing = sapwood(source, target)
    if seconds is None:
        print(f"{case}: Sapwood found nothing")
        rows.append((float("nan"), 180, float("nan"), 180))
        continue
    other_seconds, other = rival(source, target, spacing)
    rows.append((seconds, left(found, turn), other_seconds, left(other, turn)))
    print("{}: Sapwood {:.3f} s, {:.3f} degrees; Open3D {:.3f} s, {:.3f} degrees".format(case, *rows[-1]), flush=True)
for name, at in ("Sapwood", 0), ("Open3D", 2):
    print(f"{name}: {sum(r[at + 1] < 5 for r in rows)} of {cases}, median {statistics.median(r[at] for r in rows):.3f} s")
