"""Meshes on a GPU: arrays of CuPy, torch and JAX in and out, with the answers of the CPU, bit for bit."""

import os

import numpy as np
import pytest

import sapwood

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")


class Cupy:
    def __init__(self):
        import cupy

        cupy.zeros(1)
        self.kind, self.to = cupy.ndarray, cupy.asarray

    def back(self, array):
        assert isinstance(array, self.kind)
        return array.get()


class Torch:
    def __init__(self):
        import torch

        self.kind = torch.Tensor
        self.to = lambda array: torch.from_numpy(np.ascontiguousarray(array)).cuda()
        self.to(np.zeros(1))

    def back(self, array):
        assert isinstance(array, self.kind) and array.is_cuda
        return array.cpu().numpy()


class Jax:
    def __init__(self):
        import jax

        self.kind, gpu = jax.Array, jax.devices("gpu")[0]
        self.to = lambda array: jax.device_put(array, gpu)

    def back(self, array):
        assert isinstance(array, self.kind)
        return np.asarray(array)


@pytest.fixture(params=[Cupy, Torch, Jax], ids=["cupy", "torch", "jax"])
def library(request):
    try:
        sapwood.MeshTree([[0, 0, 0]], [[0, 0, 0]], device="cuda")
        return request.param()
    except (ImportError, RuntimeError, AssertionError) as error:
        pytest.skip(f"no GPU, or not this library: {error}")


@pytest.fixture
def mesh(rng):
    vertices = (rng.uniform(-1, 1, (200, 1, 3)) + rng.normal(0, 0.3, (200, 3, 3))).reshape(-1, 3).astype(np.float32)
    return vertices, np.arange(600, dtype=np.int32).reshape(-1, 3)


@pytest.fixture
def queries(rng):
    points = rng.uniform(-2, 2, (500, 3)).astype(np.float32)
    return points, rng.normal(size=(500, 3)).astype(np.float32)


def same(library, got, expected):
    assert len(got) == len(expected)
    for one, other in zip(got, expected):
        back = library.back(one)
        assert back.shape == other.shape and np.array_equal(back, other)


def test_trees(library, mesh):
    cpu, gpu = sapwood.MeshTree(*mesh), sapwood.MeshTree(*map(library.to, mesh))
    assert gpu.device == "cuda:0" and bytes(gpu._bytes()) == bytes(cpu._bytes())
    gpu.rebuild(library.to(mesh[0] + np.float32(1)))
    assert bytes(gpu._bytes()) == bytes(sapwood.MeshTree(mesh[0] + np.float32(1), mesh[1])._bytes())
    assert gpu.copy(device="cpu").device == "cpu" and cpu.copy(device="cuda").device == "cuda:0"
    with pytest.raises(sapwood.ArgumentError):
        sapwood.MeshTree(library.to(mesh[0]), mesh[1])
    with pytest.raises(sapwood.ArgumentError):
        sapwood.MeshTree(*map(library.to, mesh), device="cpu")


def test_rays(library, mesh, queries):
    cpu, gpu = sapwood.MeshTree(*mesh), sapwood.MeshTree(*map(library.to, mesh))
    origins, directions = map(library.to, queries)
    for limits in ({}, {"tmin": 0.25, "tmax": 2.0}):
        same(library, gpu.trace(origins, directions, **limits), cpu.trace(*queries, **limits))
        same(library, [gpu.occluded(origins, directions, **limits)], [cpu.occluded(*queries, **limits)])
        for limit in (None, 2):
            same(library, gpu.trace_all(origins, directions, limit=limit, **limits),
                 cpu.trace_all(*queries, limit=limit, **limits))
    same(library, gpu.trace(origins[0], directions), cpu.trace(queries[0][0], queries[1]))
    same(library, gpu.trace(origins, directions[0]), cpu.trace(queries[0], queries[1][0]))
    grid = queries[0].reshape(20, 25, 3)
    same(library, gpu.trace(library.to(grid), directions[0]), cpu.trace(grid, queries[1][0]))
    rays = np.concatenate([queries[0], np.full((500, 1), 0.1), queries[1], np.full((500, 1), 9)], 1).astype(np.float32)
    same(library, gpu.trace(library.to(rays)), cpu.trace(rays))
    for got, expected in zip(gpu.trace(*queries), cpu.trace(*queries)):  # from the host
        assert isinstance(got, np.ndarray) and np.array_equal(got, expected)
    with pytest.raises(sapwood.ArgumentError):
        cpu.trace(origins, directions)


def test_instances(library, mesh, queries):
    transforms = np.tile(np.eye(4), (5, 1, 1))
    transforms[:, :3, 3] = np.linspace(-1, 1, 15).reshape(5, 3)
    cpu, gpu = (sapwood.Instances(tree, transforms) for tree in (sapwood.MeshTree(*mesh), sapwood.MeshTree(*map(library.to, mesh))))
    there = tuple(map(library.to, queries))
    same(library, gpu.trace(*there), cpu.trace(*queries))
    same(library, [gpu.occluded(*there)], [cpu.occluded(*queries)])
    for limit in (None, 2):
        same(library, gpu.trace_all(*there, limit=limit), cpu.trace_all(*queries, limit=limit))
    transforms[:, 0, 0] = 2
    cpu.rebuild(transforms)
    gpu.rebuild(transforms)
    for got, expected in zip(gpu.trace(*queries), cpu.trace(*queries)):  # from the host
        assert isinstance(got, np.ndarray) and np.array_equal(got, expected)


def test_points(library, mesh, queries):
    cpu, gpu = sapwood.MeshTree(*mesh), sapwood.MeshTree(*map(library.to, mesh))
    points = library.to(queries[0])
    same(library, gpu.closest(points), cpu.closest(queries[0]))
    same(library, [gpu.inside(points)], [cpu.inside(queries[0])])
    same(library, [gpu.signed_distance(points)], [cpu.signed_distance(queries[0])])
    same(library, gpu.closest(library.to(queries[0].reshape(20, 25, 3))), cpu.closest(queries[0].reshape(20, 25, 3)))


def test_surfaces(library, rng):
    values = rng.normal(size=(20, 21, 22)).astype(np.float32)
    same(library, sapwood.isosurface(library.to(values), 0.25), sapwood.isosurface(values, 0.25))


def test_streams(library, rng):
    items, keep = np.sort(rng.integers(0, 99, 5000)).astype(np.int32), rng.random(5000) < 0.5
    same(library, [sapwood.compact(library.to(items), library.to(keep))], [items[keep]])
    same(library, [sapwood.unique(library.to(items))], [np.unique(items)])
    table = rng.normal(size=(500, 3)).astype(np.float32)
    same(library, [sapwood.compact(library.to(table), library.to(keep[:500]))], [table[keep[:500]]])


def test_pictures(library, mesh):
    expected = sapwood.render(mesh, 40, 30, samples=2).pixels
    assert np.array_equal(sapwood.render(mesh, 40, 30, samples=2, device="cuda").pixels, expected)
    with pytest.raises(sapwood.ArgumentError, match="GPU"):
        sapwood.render(sapwood.MeshTree(*map(library.to, mesh)), 40, 30)
