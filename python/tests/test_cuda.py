"""Arrays of torch, CuPy and JAX on a GPU: used where they lie, in their stream, and answered in kind."""

import os

import numpy as np
import pytest

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # or JAX takes most of the GPU's memory

import sapwood

try:
    sapwood.Tree([[0.0]], device="cuda")
except sapwood.NoDeviceError:
    pytest.skip("there is no GPU", allow_module_level=True)

POINTS = np.random.default_rng(1).random((20_000, 3)).astype(np.float32)
QUERIES = np.random.default_rng(2).random((3_000, 3)).astype(np.float32)


class Torch:
    def __init__(self):
        self.module = pytest.importorskip("torch")
        if not self.module.cuda.is_available():
            pytest.skip("torch sees no GPU")

    def array(self, values):
        return self.module.from_numpy(np.ascontiguousarray(values)).cuda()

    def numpy(self, array):
        assert isinstance(array, self.module.Tensor) and array.is_cuda
        return array.cpu().numpy()

    def address(self, array):
        return array.data_ptr()

    def empty(self, shape, dtype):
        return self.module.empty(shape, dtype=getattr(self.module, dtype), device="cuda")


class Cupy:
    def __init__(self):
        self.module = pytest.importorskip("cupy")

    def array(self, values):
        return self.module.asarray(values)

    def numpy(self, array):
        assert isinstance(array, self.module.ndarray)
        return array.get()

    def address(self, array):
        return array.data.ptr

    def empty(self, shape, dtype):
        return self.module.empty(shape, dtype)


class Jax:
    def __init__(self):
        self.module = pytest.importorskip("jax")
        if self.module.default_backend() != "gpu":
            pytest.skip("JAX sees no GPU")
        self.module.config.update("jax_enable_x64", True)

    def array(self, values):
        return self.module.numpy.asarray(values)

    def numpy(self, array):
        assert isinstance(array, self.module.Array) and next(iter(array.devices())).platform == "gpu"
        return np.asarray(array)

    def address(self, array):
        return array.unsafe_buffer_pointer()


class OnlyInterface:
    """An array of which only __cuda_array_interface__ is known."""

    def __init__(self, base, **changes):
        self.base = base
        self.__cuda_array_interface__ = {**base.__cuda_array_interface__, **changes}


@pytest.fixture(params=[Torch, Cupy, Jax], ids=["torch", "cupy", "jax"])
def library(request):
    return request.param()


@pytest.fixture(params=[Torch, Cupy], ids=["torch", "cupy"])
def streaming(request):
    return request.param()


def equal(library, found, expected):
    return all(np.array_equal(library.numpy(a), b) for a, b in zip(found, expected) if b is not None)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_answers(library, dtype):
    points, queries = POINTS.astype(dtype), QUERIES.astype(dtype)
    host = sapwood.Tree(points)
    there, asked = library.array(points), library.array(queries)
    tree = sapwood.Tree(there)
    assert tree.device == "cuda:0" and tree.dtype == dtype and "cuda:0" in repr(tree)
    tree.verify()
    for k in (1, 8, 40):
        assert equal(library, tree.nearest(asked, k), host.nearest(queries, k))
    assert equal(library, tree.nearest(asked[7], 3), host.nearest(queries[7], 3))
    assert equal(library, tree.within(asked, 0.05), host.within(queries, 0.05))
    assert equal(library, tree.within(asked, 0.05, sorted=True), host.within(queries, 0.05, sorted=True))
    assert np.array_equal(library.numpy(tree.count_within(asked, 0.05)), host.count_within(queries, 0.05))
    upper = library.array(queries + dtype(0.05))
    assert equal(library, tree.box(asked, upper), host.box(queries, queries + dtype(0.05)))
    assert np.array_equal(library.numpy(tree.box_count(asked, upper)), host.box_count(queries, queries + dtype(0.05)))
    assert equal(library, tree.pairs(0.01), host.pairs(0.01))
    assert equal(library, tree.nearest_self(3), host.nearest_self(3))
    assert tree.count_pairs(tree, [0.01, 0.1]).tolist() == host.count_pairs(host, [0.01, 0.1]).tolist()
    # Queries on the host are answered there.
    assert all(np.array_equal(a, b) for a, b in zip(tree.nearest(queries, 8), host.nearest(queries, 8)))
    assert all(np.array_equal(a, b) for a, b in zip(tree.within(queries, 0.05), host.within(queries, 0.05)))
    back = tree.copy("cpu")
    assert bytes(back.to_bytes()) == bytes(host.to_bytes()) and back.device == "cpu"
    tree.rebuild(library.array(points[:5000]))
    assert equal(library, tree.nearest(asked, 4), sapwood.Tree(points[:5000]).nearest(queries, 4))


def test_keywords(library):
    host, tree = sapwood.Tree(POINTS), sapwood.Tree(library.array(POINTS))
    asked = library.array(QUERIES)
    keep = POINTS[:, 0] < 0.5
    for more in ({"metric": "l1"}, {"metric": "linf"}, {"p": 3}, {"weights": [1, 2, 3]}, {"eps": 0.5}, {"radius": 0.1}):
        assert equal(library, tree.nearest(asked, 5, **more), host.nearest(QUERIES, 5, **more))
    assert equal(library, tree.nearest(asked, 5, keep=library.array(keep)), host.nearest(QUERIES, 5, keep=keep))
    assert equal(library, tree.nearest(asked, 5, keep=keep), host.nearest(QUERIES, 5, keep=keep))
    exclude = np.arange(len(QUERIES), dtype=np.int32)
    assert equal(library, tree.nearest(asked, 5, exclude=library.array(exclude)), host.nearest(QUERIES, 5, exclude=exclude))


def test_torch_is_asked_nothing_in_python(monkeypatch):
    """Tensors are read and made by torch's C code; its own streams are looked up once."""
    library = Torch()
    torch = library.module
    asked = library.array(QUERIES)
    out = library.empty((len(QUERIES), 4), "int32"), library.empty((len(QUERIES), 4), "float32")
    expected = sapwood.Tree(POINTS).nearest(QUERIES, 4)
    streams = [torch.cuda.current_stream(), torch.cuda.Stream(), torch.cuda.Stream()]
    trees = []
    for stream in streams:
        with torch.cuda.stream(stream):
            trees.append(sapwood.Tree(library.array(POINTS)))
    torch.cuda.synchronize()

    def refuse(*arguments, **more):
        raise AssertionError("this takes time")

    answers = []
    for stream, tree in zip(streams, trees):
        with torch.cuda.stream(stream), monkeypatch.context() as patch:
            patch.setattr(torch.Tensor, "__dlpack__", refuse)
            patch.setattr(torch.Tensor, "__dlpack_device__", refuse)
            patch.setattr(torch, "empty", refuse)
            patch.setattr(torch.cuda, "current_stream", refuse)
            answers += [tree.nearest(asked, 4), tree.nearest(asked, 4, out=out), tree.nearest(asked[7], 4)]
    torch.cuda.synchronize()
    for i, found in enumerate(answers):
        assert equal(library, found, (expected.ids[7], expected.distances2[7]) if i % 3 == 2 else expected)
    assert library.address(answers[1].ids) == library.address(out[0])


def test_empty(library):
    tree = sapwood.Tree(library.array(POINTS[:0]))
    found = tree.nearest(library.array(QUERIES[:5]), 2)
    assert (library.numpy(found.ids) == -1).all()
    tree = sapwood.Tree(library.array(POINTS))
    assert library.numpy(tree.nearest(library.array(QUERIES[:0]), 2).ids).shape == (0, 2)
    rows = tree.within(library.array(QUERIES[:3] + 100), 0.1)
    assert library.numpy(rows.ids).shape == (0,) and library.numpy(rows.offsets).tolist() == [0, 0, 0, 0]


def test_nothing_is_copied(library):
    address = sapwood._sapwood._address
    points = library.array(POINTS)
    assert address(points) == library.address(points)
    if not isinstance(library, Jax):  # slices of JAX are copies
        apart = library.array(np.zeros((100, 7), np.float32))[:, 2:5]
        assert address(apart) == library.address(apart)
        assert address(points[5:]) == library.address(points[5:])


def test_out(streaming):
    host, tree = sapwood.Tree(POINTS), sapwood.Tree(streaming.array(POINTS))
    asked = streaming.array(QUERIES)
    out = streaming.empty((len(QUERIES), 4), "int32"), streaming.empty((len(QUERIES), 4), "float32")
    found = tree.nearest(asked, 4, out=out)
    assert found.ids is out[0] and equal(streaming, found, host.nearest(QUERIES, 4))
    expected = host.within(QUERIES, 0.05)
    size = len(expected.ids)
    rows = streaming.empty((len(QUERIES) + 1,), "int64"), streaming.empty((size,), "int32"), streaming.empty((size,), "float32")
    assert equal(streaming, tree.within(asked, 0.05, out=rows), expected)


def test_memory_of_the_gpu_is_not_copied():
    """A tree and its answers take the memory that they are made of, no more."""
    torch = Torch()
    asked = torch.array(np.random.default_rng(3).random((1_000_000, 3)).astype(np.float32))
    tree = sapwood.Tree(asked)
    tree.nearest(asked, 8)
    torch.module.cuda.synchronize()
    torch.module.cuda.empty_cache()
    free = torch.module.cuda.mem_get_info()[0]
    kept = [tree.nearest(asked, 8) for _ in range(10)]
    torch.module.cuda.synchronize()
    taken = free - torch.module.cuda.mem_get_info()[0]
    results = sum(part.numel() * part.element_size() for found in kept for part in found)
    assert results <= taken + (2 << 20) and taken < results + (64 << 20)


def test_answers_stay_when_others_come(library):
    tree, host = sapwood.Tree(library.array(POINTS)), sapwood.Tree(POINTS)
    batches = [QUERIES + np.float32(i) for i in range(4)]
    found = [tree.nearest(library.array(batch), 4) for batch in batches]
    assert len({library.address(one.ids) for one in found}) == 4
    assert all(equal(library, one, host.nearest(batch, 4)) for one, batch in zip(found, batches))


def test_a_stream_that_ends_before_its_tree():
    cupy = Cupy()
    expected = sapwood.Tree(POINTS).nearest(QUERIES, 4)
    for _ in range(20):
        with new_stream(cupy):
            there = cupy.array(POINTS)
            tree = sapwood.Tree(there)
        with cupy.module.cuda.Stream(non_blocking=True):
            assert equal(cupy, tree.nearest(cupy.array(QUERIES), 4), expected)
        del there
    del tree


def test_foreign_streams(streaming):
    """A stream that the library does not own may be destroyed at any time: no tree works in it."""
    owner = pytest.importorskip("cupy").cuda.Stream(non_blocking=True)
    cuda = streaming.module.cuda
    stream = cuda.ExternalStream(owner.ptr)
    expected = sapwood.Tree(POINTS).nearest(QUERIES, 4)
    points, queries = streaming.array(POINTS), streaming.array(QUERIES)
    with within_stream(streaming, stream):
        there, asked = streaming.empty(POINTS.shape, "float32"), streaming.empty(QUERIES.shape, "float32")
        delayed(streaming, stream, there, points)
        tree = sapwood.Tree(there)
        delayed(streaming, stream, asked, queries)
        assert equal(streaming, tree.nearest(asked, 4), expected)
    wait_for_all(streaming)
    del owner, stream
    assert equal(streaming, tree.nearest(queries, 4), expected)
    del tree
    sapwood.trim()


def test_rows_live_as_long_as_they_are_looked_at(library):
    tree = sapwood.Tree(library.array(POINTS))
    expected = sapwood.Tree(POINTS).within(QUERIES, 0.05)
    ids = tree.within(library.array(QUERIES), 0.05).ids
    del tree
    sapwood.trim()
    for _ in range(5):
        sapwood.Tree(library.array(POINTS[::-1].copy())).within(library.array(QUERIES), 0.05)
    assert np.array_equal(library.numpy(ids), expected.ids)


# ---- Streams

def delayed(library, stream, array, values):
    """Writes into an array in a stream, behind work that takes a while. Nobody waits for it."""
    if isinstance(library, Torch):
        with library.module.cuda.stream(stream):
            library.module.cuda._sleep(3_000_000)
            array.copy_(values, non_blocking=True)
    else:
        with stream:
            slow = library.module.RawKernel(
                'extern "C" __global__ void slow(long long ticks) { long long t = clock64(); while (clock64() - t < ticks) ; }', "slow")
            slow((1,), (1,), (np.int64(3_000_000),))
            array[...] = values


def new_stream(library):
    cuda = library.module.cuda
    return cuda.Stream() if isinstance(library, Torch) else cuda.Stream(non_blocking=True)


def within_stream(library, stream):
    return library.module.cuda.stream(stream) if isinstance(library, Torch) else stream


def wait_for_all(library):
    library.module.cuda.synchronize() if isinstance(library, Torch) else library.module.cuda.Device().synchronize()


def test_what_is_written_in_a_side_stream_is_seen(streaming):
    """The points, and then the queries, are written in a side stream behind a slow kernel, and used there at once."""
    host = sapwood.Tree(POINTS)
    expected = host.nearest(QUERIES, 4)
    points, queries = streaming.array(POINTS), streaming.array(QUERIES)
    for _ in range(20):
        there, asked = streaming.array(np.zeros_like(POINTS)), streaming.array(np.zeros_like(QUERIES))
        stream = new_stream(streaming)
        wait_for_all(streaming)
        delayed(streaming, stream, there, points)
        delayed(streaming, stream, asked, queries)
        with within_stream(streaming, stream):
            tree = sapwood.Tree(there)
            delayed(streaming, stream, asked, queries)
            found = tree.nearest(asked, 4)
            total = found.distances2.sum()  # in the stream, without waiting
            assert equal(streaming, found, expected)
        assert float(total) == pytest.approx(float(expected.distances2.sum(dtype=np.float64)), rel=1e-3)


def test_random_schedules(streaming, rng, thorough):
    """Arrays are written, searched and read in streams chosen at random. The library's own order between streams is kept
    by events; nothing waits on the host but where the last answer is read."""
    clouds = [rng.random((2_000, 3)).astype(np.float32) for _ in range(4)]
    asked = [rng.random((200, 3)).astype(np.float32) for _ in range(4)]
    expected = [[sapwood.Tree(cloud).nearest(queries, 3) for queries in asked] for cloud in clouds]
    clouds_there, asked_there = [streaming.array(c) for c in clouds], [streaming.array(q) for q in asked]
    streams = [new_stream(streaming) for _ in range(4)]
    points, queries = streaming.empty((2_000, 3), "float32"), streaming.empty((200, 3), "float32")
    tree = sapwood.Tree(clouds_there[0])
    wait_for_all(streaming)
    for _ in range(10_000 if thorough else 300):
        stream, cloud, batch = streams[rng.integers(4)], int(rng.integers(4)), int(rng.integers(4))
        with within_stream(streaming, stream):
            if rng.random() < 0.1:
                delayed(streaming, stream, points, clouds_there[cloud])
            else:
                points[...] = clouds_there[cloud]
            queries[...] = asked_there[batch]
            if rng.random() < 0.5:
                tree = sapwood.Tree(points)
            else:
                tree.rebuild(points)  # in the stream of the tree, which may be another
            found = tree.nearest(queries, 3)
            assert equal(streaming, found, expected[cloud][batch])


def test_a_tree_of_one_stream_used_in_another(streaming):
    expected = sapwood.Tree(POINTS).nearest(QUERIES, 4)
    tree = sapwood.Tree(streaming.array(POINTS))
    queries = streaming.array(QUERIES)
    wait_for_all(streaming)
    for _ in range(10):
        stream = new_stream(streaming)
        asked = streaming.array(np.zeros_like(QUERIES))
        wait_for_all(streaming)
        with within_stream(streaming, stream):
            delayed(streaming, stream, asked, queries)
            assert equal(streaming, tree.nearest(asked, 4), expected)


def test_trees_of_host_points(library):
    """A tree that was brought to a GPU answers queries there, too."""
    tree = sapwood.Tree(POINTS, device="cuda")
    host = sapwood.Tree(POINTS)
    asked = library.array(QUERIES)
    assert equal(library, tree.nearest(asked, 4), host.nearest(QUERIES, 4))
    assert all(isinstance(part, np.ndarray) for part in tree.pairs(0.01))
    assert equal(library, host.copy("cuda").within(asked, 0.05), host.within(QUERIES, 0.05))


# ---- What is refused

def test_refused(library):
    tree, host = sapwood.Tree(library.array(POINTS)), sapwood.Tree(POINTS)
    asked = library.array(QUERIES)
    with pytest.raises(sapwood.ArgumentError, match="queries lies on cuda:0, and the work is done on the CPU"):
        host.nearest(asked)
    with pytest.raises(TypeError, match="queries, on a GPU, must be of float32"):
        tree.nearest(library.array(QUERIES.astype(np.float64)))
    with pytest.raises(TypeError, match="points, on a GPU, must be of float32 or float64"):
        sapwood.Tree(library.array(QUERIES.astype(np.int32)))
    with pytest.raises(sapwood.ArgumentError, match="cpu"):
        sapwood.Tree(asked, device="cpu")
    with pytest.raises(sapwood.NoDeviceError):
        sapwood.Tree(POINTS, device="cuda:99")
    bad = POINTS.copy()
    bad[77, 1] = np.nan
    with pytest.raises(sapwood.NotFiniteError, match="77"):
        sapwood.Tree(library.array(bad))
    with pytest.raises(sapwood.NotFiniteError):
        tree.rebuild(library.array(bad))
    if not isinstance(library, Jax):
        with pytest.raises(TypeError, match="last axis contiguous"):
            tree.nearest(library.array(np.zeros((3, 100), np.float32)).T)


def test_jax_arrays_are_never_written_to():
    jax = Jax()
    tree = sapwood.Tree(jax.array(POINTS))
    out = jax.module.numpy.zeros((len(QUERIES), 1), dtype="int32")
    with pytest.raises(TypeError):
        tree.nearest(jax.array(QUERIES), out=(out, None))
    assert not np.asarray(out).any()


def test_interface_alone():
    cupy = Cupy()
    points, asked = cupy.array(POINTS), cupy.array(QUERIES)
    tree = sapwood.Tree(OnlyInterface(points))
    out = cupy.empty((len(QUERIES), 4), "int32"), cupy.empty((len(QUERIES), 4), "float32")
    tree.nearest(OnlyInterface(asked), 4, out=out)
    assert equal(cupy, out, sapwood.Tree(POINTS).nearest(QUERIES, 4))
    with pytest.raises(TypeError, match="can write into other arrays"):
        tree.nearest(OnlyInterface(asked), 4)
    for changes in ({"stream": 0}, {"mask": asked}, {"typestr": ">f4"}, {"typestr": "<f2"}, {"strides": (4, 8)}):
        with pytest.raises((TypeError, ValueError)):
            tree.nearest(OnlyInterface(asked, **changes), 4, out=out)


# ---- Clouds

WEIGHTS = np.random.default_rng(3).random(len(POINTS)).astype(np.float32)
CLOUDS = {
    "normals": lambda tree: tree.normals(k=12),
    "normals alone": lambda tree: (tree.normals(radius=0.05, falloff="biweight", weights=WEIGHTS[: tree.count], curvatures=False).normals,),
    "seen": lambda tree: tree.normals(view=[5, 5, 5]),
    "consistent": lambda tree: tree.normals(orient="consistent"),
    "covariances": lambda tree: tree.covariances(k=40),
    "shapes": lambda tree: tree.shapes(k=12),
    "some shapes": lambda tree: tree.shapes(["planarities", "counts", "kinds"], radius=0.05),
    "gather_self": lambda tree: tree.gather_self(radius=0.05, attributes=np.stack([WEIGHTS[: tree.count]] * 2, 1)),
    "counts": lambda tree: (tree.density(radius=0.05),),
    "distances": lambda tree: (tree.density("distance", k=3),),
    "kernels": lambda tree: (tree.density("kernel", radius=0.05, dims=2),),
    "outliers": lambda tree: tree.outliers(k=8),
    "sparse": lambda tree: tree.outliers(radius=0.03, k=2),
    "clusters": lambda tree: tree.clusters(0.02, fewest=4, least=3),
    "farthest": lambda tree: (tree.sample(50),),
    "disks": lambda tree: (tree.sample(radius=0.1, seed=3),),
}


def same_cloud(library, found, expected):
    """library None: of NumPy."""
    for a, b in zip(found, expected, strict=True):
        if not isinstance(b, np.ndarray):
            assert a == b
            continue
        assert isinstance(a, np.ndarray) if library is None else not isinstance(a, np.ndarray)
        got = library.numpy(a) if library else a
        assert got.shape == b.shape and got.dtype == b.dtype and np.array_equal(got, b)


@pytest.mark.parametrize("call", CLOUDS.values(), ids=CLOUDS)
def test_clouds(library, call):
    """Results lie where the tree's points do, and are the CPU's bits."""
    expected = call(sapwood.Tree(POINTS))
    same_cloud(library, call(sapwood.Tree(library.array(POINTS))), expected)
    same_cloud(None, call(sapwood.Tree(POINTS, device="cuda")), expected)


def test_clouds_in_double_precision(library):
    points = POINTS[:5000].astype(np.float64)
    tree, host = sapwood.Tree(library.array(points)), sapwood.Tree(points)
    for call in ("normals", "consistent", "shapes", "gather_self", "distances", "outliers", "clusters"):
        same_cloud(library, CLOUDS[call](tree), CLOUDS[call](host))


def test_clouds_without_points(library):
    tree, host = sapwood.Tree(library.array(POINTS[:0])), sapwood.Tree(POINTS[:0])
    for call in ("normals", "covariances", "some shapes", "counts", "clusters", "farthest"):
        more = WEIGHTS[:0]
        same_cloud(library, CLOUDS[call](tree), CLOUDS[call](host))
        assert tree.normals(weights=more).normals.shape == (0, 3)


def test_gather(library):
    tree, host = sapwood.Tree(library.array(POINTS)), sapwood.Tree(POINTS)
    told = {"radius": 0.05, "weights": WEIGHTS, "attributes": WEIGHTS}
    expected = host.gather(QUERIES, **told)
    same_cloud(library, tree.gather(library.array(QUERIES), **told), expected)
    same_cloud(None, tree.gather(QUERIES, **told), expected)  # queries on the host are answered there
    same_cloud(None, sapwood.Tree(POINTS, device="cuda").gather(QUERIES, **told), expected)
    one = tree.gather(library.array(QUERIES)[7], k=5, only=["counts", "offsets"])
    alone = host.gather(QUERIES[7], k=5, only=["counts", "offsets"])
    assert library.numpy(one.counts) == alone.counts and np.array_equal(library.numpy(one.offsets), alone.offsets)
    with pytest.raises(sapwood.ArgumentError, match="weights must be on the host"):
        tree.gather(QUERIES, weights=library.array(WEIGHTS))
    with pytest.raises(sapwood.ArgumentError, match="the work is done on the CPU"):
        host.gather(library.array(QUERIES))


def test_clouds_into_arrays(streaming):
    tree, host = sapwood.Tree(streaming.array(POINTS)), sapwood.Tree(POINTS)
    count = len(POINTS)
    normals, curvatures = streaming.empty((count, 3), "float32"), np.empty(count, np.float32)
    found, expected = tree.normals(out=(normals, curvatures)), host.normals()
    assert found.normals is normals and found.curvatures is curvatures
    assert np.array_equal(streaming.numpy(normals), expected.normals) and np.array_equal(curvatures, expected.curvatures)
    keep = streaming.empty((count,), "bool")
    assert tree.outliers(k=8, out=keep).keep is keep
    assert np.array_equal(streaming.numpy(keep), host.outliers(k=8).keep)
    labels, density = streaming.empty((count,), "int32"), np.empty(count)
    assert tree.clusters(0.02, out=(labels, None)).labels is labels and tree.density(radius=0.05, out=density) is density
    assert np.array_equal(streaming.numpy(labels), host.clusters(0.02).labels)
    assert np.array_equal(density, host.density(radius=0.05))
    with pytest.raises(sapwood.ArgumentError, match="the work is done on the CPU"):
        host.normals(out=(normals, None))


def test_clouds_in_streams(streaming):
    """What comes after a call in its stream sees what it wrote; in another stream the host waits."""
    tree, expected = sapwood.Tree(streaming.array(POINTS)), sapwood.Tree(POINTS).normals(k=8)
    for _ in range(20):
        stream = new_stream(streaming)
        out = streaming.empty(expected.normals.shape, "float32"), streaming.empty(expected.curvatures.shape, "float32")
        wait_for_all(streaming)
        with within_stream(streaming, stream):
            found = tree.normals(k=8, out=out)
            assert equal(streaming, (found.normals * 1, found.curvatures * 1), expected)
            assert equal(streaming, tree.normals(k=8), expected)
            there = sapwood.Tree(streaming.array(POINTS))
            assert equal(streaming, (there.normals(k=8).normals * 1,), (expected.normals,))


def test_distances_of_clouds(library):
    tree, host = sapwood.Tree(library.array(POINTS)), sapwood.Tree(POINTS)
    expected = host.distance(QUERIES, quantile=0.9)
    for points in (library.array(QUERIES), QUERIES):
        same_cloud(None, tree.distance(points, quantile=0.9), expected)  # on the host, wherever the points are
    other, apart = sapwood.Tree(library.array(QUERIES)), sapwood.Tree(QUERIES)
    found, wanted = tree.compare(other), host.compare(apart)
    same_cloud(None, found.forth, wanted.forth)
    same_cloud(None, found.back, wanted.back)
    assert found[2:] == wanted[2:]


@pytest.mark.parametrize("method", ["point", "plane", "generalised"])
def test_align(library, method):
    tree, host = sapwood.Tree(library.array(POINTS)), sapwood.Tree(POINTS)
    source = POINTS[::3] + np.array([0.003, -0.002, 0.001], np.float32)
    for told in ({}, {"kernel": "huber", "overlap": 0.9}, {"max_distance": 0.02, "one_to_one": True, "levels": 2}):
        expected = host.align(source, method, iterations=20, **told)
        same_cloud(None, tree.align(library.array(source), method, iterations=20, **told), expected)
        same_cloud(None, tree.align(source, method, iterations=20, **told), expected)
    with pytest.raises(sapwood.UnsupportedError):
        tree.align(source, start="global")
    with pytest.raises(sapwood.ArgumentError, match="the work is done on the CPU"):
        host.align(library.array(source))


def test_relax():
    points = np.random.default_rng(4).random((3000, 3)).astype(np.float32) * np.array([1, 1, 0.02], np.float32)
    for told in ({"steps": 3}, {"radius": 0.1, "steps": 2, "more": 100, "normals": True}):
        same_cloud(None, sapwood.relax(points, device="cuda", **told), sapwood.relax(points, **told))


def test_clouds_that_need_the_host(library):
    there, tree = library.array(POINTS), sapwood.Tree(library.array(POINTS))
    normals = tree.normals().normals
    for call in (lambda: tree.orient(normals), lambda: tree.normals(weights=library.array(WEIGHTS)),
                 lambda: tree.align(POINTS, "plane", normals=normals), lambda: sapwood.voxels(there, 0.1),
                 lambda: sapwood.relax(there), lambda: sapwood.transform(there, np.eye(4)),
                 lambda: sapwood.align_many([POINTS, there])):
        with pytest.raises(sapwood.ArgumentError, match="on the host"):
            call()
    with pytest.raises(sapwood.UnsupportedError):
        tree.features()
    upright = sapwood.Tree(POINTS).normals().normals
    assert np.array_equal(tree.orient(upright, view=[5, 5, 5]), sapwood.Tree(POINTS).orient(upright, view=[5, 5, 5]))


def test_clouds_of_nobody():
    """Arrays of which only __cuda_array_interface__ is known say where they lie, but not what to make results of."""
    cupy = Cupy()
    tree, expected = sapwood.Tree(OnlyInterface(cupy.array(POINTS))), sapwood.Tree(POINTS).normals(k=8)
    with pytest.raises(TypeError, match="can write into other arrays"):
        tree.normals(k=8)
    out = cupy.empty((len(POINTS), 3), "float32"), cupy.empty((len(POINTS),), "float32")
    assert equal(cupy, tree.normals(k=8, out=out), expected)


def test_sets(library):
    points, host = sapwood.Set(3, device="cuda"), sapwood.Set(3)
    assert np.array_equal(library.numpy(points.insert(library.array(POINTS))), host.insert(POINTS))
    assert points.remove(np.arange(100, dtype=np.int32)) == host.remove(np.arange(100))
    asked = library.array(QUERIES)
    assert equal(library, points.nearest(asked, 4), host.nearest(QUERIES, 4))
    assert equal(library, points.within(asked, 0.05), host.within(QUERIES, 0.05))


def test_pickles(library):
    import pickle

    tree = sapwood.Tree(library.array(POINTS))
    again = pickle.loads(pickle.dumps(tree))
    assert again.device == "cuda:0"
    assert equal(library, again.nearest(library.array(QUERIES), 4), sapwood.Tree(POINTS).nearest(QUERIES, 4))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_children_are_refused():
    tree = sapwood.Tree(POINTS, device="cuda")
    number = os.fork()
    if number == 0:
        try:
            tree.nearest(QUERIES)
        except RuntimeError as error:
            os._exit(0 if "does not work in such a child" in str(error) else 2)
        os._exit(1)
    assert os.waitpid(number, 0)[1] == 0
