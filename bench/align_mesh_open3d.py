"""Open3D's nearest points on a mesh in the loop of an alignment: align_mesh_open3d.py FOLDER DISTANCE PASSES, lines of key,
seconds a step, degrees left. Processor time of one thread: run it bound to one core. The scene is built within the clock."""

import statistics
import sys
import time

import numpy
import open3d

folder, distance, passes = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
STEPS = 20
points = numpy.fromfile(f"{folder}/points.raw", numpy.float32).reshape(-1, 3)
vertices = numpy.fromfile(f"{folder}/vertices.raw", numpy.float32).reshape(-1, 3)
triangles = numpy.fromfile(f"{folder}/triangles.raw", numpy.int32).reshape(-1, 3).astype(numpy.uint32)
Tensor = open3d.core.Tensor


def turn_of(vector):
    angle = numpy.linalg.norm(vector)
    if angle == 0:
        return numpy.eye(3)
    x, y, z = vector / angle
    skew = numpy.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return numpy.eye(3) + numpy.sin(angle) * skew + (1 - numpy.cos(angle)) * skew @ skew


def step_of_points(here, there):
    a, b = here.mean(0), there.mean(0)
    u, _, v = numpy.linalg.svd((here - a).T @ (there - b))
    turn = v.T @ numpy.diag([1, 1, numpy.linalg.det(v.T @ u.T)]) @ u.T
    return turn, b - turn @ a


def step_of_planes(here, there, normals):
    rows = numpy.hstack([numpy.cross(here, normals), normals])
    found = numpy.linalg.solve(rows.T @ rows, rows.T @ ((there - here) * normals).sum(1))
    return turn_of(found[:3]), found[3:]


def align(method):
    start = time.process_time()
    scene = open3d.t.geometry.RaycastingScene(nthreads=1)
    scene.add_triangles(Tensor(vertices), Tensor(triangles))
    turn, shift = numpy.eye(3), numpy.zeros(3)
    own = points.astype(numpy.float64)
    for _ in range(STEPS):
        here = own @ turn.T + shift
        found = scene.compute_closest_points(Tensor(here.astype(numpy.float32)))
        there = found["points"].numpy().astype(numpy.float64)
        near = ((there - here) ** 2).sum(1) <= distance**2
        here, there = here[near], there[near]
        if method == "plane":
            more, along = step_of_planes(here, there, found["primitive_normals"].numpy()[near].astype(numpy.float64))
        else:
            more, along = step_of_points(here, there)
        turn, shift = more @ turn, more @ shift + along
    return (time.process_time() - start) / STEPS, turn


axis = numpy.array([1, 2, 3]) / 14**0.5
for method in "point", "plane":
    runs = [align(method) for _ in range(passes)]
    m = runs[0][1] @ turn_of(numpy.deg2rad(5) * axis)
    sine = numpy.linalg.norm([m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]]) / 2
    print(f"{method} {statistics.median(r[0] for r in runs):.6f} {numpy.rad2deg(numpy.arcsin(sine)):.5f}", flush=True)
