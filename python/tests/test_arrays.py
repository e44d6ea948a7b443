"""Arrays that callers give: what is used where it lies, what is converted, and what is refused."""

import array
import ctypes
import decimal
import gc
import weakref

import numpy as np
import pytest

import sapwood

POINTS = np.random.default_rng(1).random((300, 3))
EXPECTED = sapwood.Tree(POINTS).nearest(POINTS[:20], 4)


def same(points, queries=POINTS[:20]):
    found = sapwood.Tree(points).nearest(queries, 4)
    return np.array_equal(found.ids, EXPECTED.ids) and np.array_equal(found.distances2, EXPECTED.distances2)


def apart(points):
    wide = np.full((len(points), 7), np.nan)
    wide[:, 2:5] = points
    return wide[:, 2:5]


def aligned_badly(points):
    memory = np.zeros(points.nbytes + 1, dtype=np.uint8)
    odd = memory[1:].view(points.dtype).reshape(points.shape)
    odd[:] = points
    assert not odd.flags.aligned
    return odd


def read_only(points):
    copy = points.copy()
    copy.flags.writeable = False
    return copy


class OnlyDlpack:
    """An array of which only DLPack is known."""

    def __init__(self, base, versions=True):
        self.base, self.versions, self.asked = base, versions, []

    def __dlpack_device__(self):
        return self.base.__dlpack_device__()

    def __dlpack__(self, **told):
        self.asked.append(told)
        if "max_version" in told and not self.versions:
            raise TypeError("what is max_version?")
        told.pop("max_version", None)
        return self.base.__dlpack__(**told)


@pytest.mark.parametrize("make", [
    apart, aligned_badly, read_only, np.asfortranarray, np.ndarray.tolist, memoryview,
    lambda points: points[::-1][::-1],
    lambda points: np.repeat(points, 2, axis=0)[::2],
    lambda points: np.repeat(points, 2, axis=1)[:, ::2],
    lambda points: points[::-1].copy()[::-1],
    lambda points: points.astype(">f8"),
    lambda points: points.astype(np.longdouble),
    lambda points: points.astype(object),
    lambda points: np.ma.masked_array(points, mask=points > 0.5),
    lambda points: points.view(type("Derived", (np.ndarray,), {})),
    lambda points: [tuple(point) for point in points],
    lambda points: [[decimal.Decimal(float(x)) for x in point] for point in points],
    lambda points: OnlyDlpack(points),
    lambda points: OnlyDlpack(points, versions=False),
    lambda points: OnlyDlpack(apart(points)),
    lambda points: OnlyDlpack(np.asfortranarray(points)),
    lambda points: type("Frame", (), {"__array__": lambda self, dtype=None, copy=None: points})(),
    lambda points: (ctypes.c_double * 3 * len(points)).from_buffer_copy(points),
])
def test_any_way_that_numbers_lie(make):
    assert same(make(POINTS))
    assert same(POINTS, make(POINTS[:20]))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", ">i4", "bool"])
def test_whole_numbers_become_float64(dtype):
    points = np.random.default_rng(2).integers(0, 2, (50, 3)).astype(dtype)
    tree = sapwood.Tree(points)
    assert tree.dtype == np.float64
    assert np.array_equal(tree.nearest(points, 3).ids, sapwood.Tree(points.astype(np.float64)).nearest(points.astype(float), 3).ids)


def test_precision_stays():
    assert sapwood.Tree(POINTS.astype(np.float32)).dtype == np.float32
    assert sapwood.Tree(POINTS.astype(np.float16)).dtype == np.float32
    assert sapwood.Tree(POINTS).dtype == np.float64
    assert sapwood.Tree(POINTS.tolist()).dtype == np.float64
    found = sapwood.Tree(POINTS.astype(np.float32)).nearest(POINTS, 2)
    assert (found.ids.dtype, found.distances2.dtype) == (np.int32, np.float32)


@pytest.mark.parametrize("points, error, says", [
    (np.zeros((3, 2), complex), TypeError, "points must be an array of real numbers, not of complex128"),
    (np.zeros((3, 2), "U3"), TypeError, "not of <U3"),
    (np.zeros((3, 2), "M8[s]"), TypeError, "not of datetime64"),
    (np.zeros(3, [("x", float), ("y", float)]), sapwood.ArgumentError, "points must have 2 dimensions, not 1"),
    (np.zeros((3, 2), [("x", float)]), TypeError, "not of \\[\\('x', '<f8'\\)\\]"),
    (np.zeros(()), sapwood.ArgumentError, "2 dimensions, not 0"),
    (np.zeros(3), sapwood.ArgumentError, "2 dimensions, not 1"),
    (np.zeros((3, 2, 2)), sapwood.ArgumentError, "2 dimensions, not 3"),
    (np.zeros((1,) * 9), sapwood.ArgumentError, "2 dimensions, not 9"),
    (np.zeros((1,) * 9, complex), sapwood.ArgumentError, "2 dimensions, not 9"),
    (np.zeros((3, 0)), sapwood.ArgumentError, "shape"),
    (np.zeros((3, 17)), sapwood.ArgumentError, "shape"),
    ([], sapwood.ArgumentError, "2 dimensions, not 1"),
    (5.0, sapwood.ArgumentError, "2 dimensions, not 0"),
    (None, TypeError, "real numbers"),
    ("points", TypeError, "real numbers"),
    (b"points", sapwood.ArgumentError, "dimensions"),
    ({1: 2}, TypeError, "real numbers"),
    ([[1, 2], [3]], sapwood.ArgumentError, "points: "),
    ([["a", "b"]], TypeError, "real numbers"),
    (np.array([["a", None]], object), sapwood.ArgumentError, "points: "),
    ([[0.0, np.nan]], sapwood.NotFiniteError, "point 0"),
    ([[0.0, 1.0], [np.inf, 1.0]], sapwood.NotFiniteError, "point 1"),
    ([[1e200, 0.0]], sapwood.NotFiniteError, "point 0"),
])
def test_points_that_are_none(points, error, says):
    with pytest.raises(error, match=says):
        sapwood.Tree(points)


def test_empty():
    for points in (np.zeros((0, 3)), np.zeros((0, 3), np.float32), np.zeros((4, 6))[::-1][:0, ::-2]):
        tree = sapwood.Tree(points)
        assert (len(tree), tree.dims) == (0, 3)
        found = tree.nearest(np.zeros((2, 3)), 2)
        assert found.ids.tolist() == [[-1, -1]] * 2 and np.isinf(found.distances2).all()
        assert tree.within(np.zeros((2, 3)), 1.0).offsets.tolist() == [0, 0, 0]
        assert tree.pairs(1.0).ids.shape == (0,)
        with pytest.raises(sapwood.ArgumentError):
            tree.nearest(np.zeros((2, 2)))
    found = sapwood.Tree(POINTS).nearest(np.zeros((0, 3)), 2)
    assert found.ids.shape == found.distances2.shape == (0, 2)


def test_zero_strides():
    points = np.broadcast_to(POINTS[0], (5, 3))
    assert sapwood.Tree(points).nearest(points[:1], 5).ids.tolist() == [[0, 1, 2, 3, 4]]
    column = np.broadcast_to(POINTS[:, :1], (300, 3))
    assert sapwood.Tree(column).nearest(column[7:8]).ids.tolist() == [[7]]


def test_results_are_written_where_they_are_returned():
    tree = sapwood.Tree(POINTS)
    ids, distances2 = np.empty((20, 4), np.int32), np.empty((20, 4))
    found = tree.nearest(POINTS[:20], 4, out=(ids, distances2))
    assert found.ids is ids and found.distances2 is distances2
    assert np.array_equal(ids, EXPECTED.ids) and np.array_equal(distances2, EXPECTED.distances2)
    ids[:] = 0
    found = tree.nearest(POINTS[:20], 4, out=[ids, None])
    assert found.distances2 is None and np.array_equal(ids, EXPECTED.ids)
    rows = tree.within(POINTS[:20], 0.2)
    out = (np.empty(21, np.int64), np.empty(rows.ids.size + 5, np.int32), np.empty(rows.ids.size + 5))
    into = tree.within(POINTS[:20], 0.2, out=out)
    assert into.ids is out[1]
    assert np.array_equal(out[0], rows.offsets)
    assert np.array_equal(out[1][: rows.ids.size], rows.ids) and np.array_equal(out[2][: rows.ids.size], rows.distances2)
    short = tree.within(POINTS[:20], 0.2, out=(out[0], np.empty(3, np.int32), None))
    assert short.offsets[-1] == rows.ids.size and np.array_equal(short.ids, rows.ids[:3])


@pytest.mark.parametrize("out, error", [
    ((np.empty((20, 4), np.int32),), TypeError),
    (np.empty((20, 4), np.int32), TypeError),
    ((np.empty((20, 3), np.int32), None), ValueError),
    ((np.empty((20, 4), np.int64), None), TypeError),
    ((np.empty((20, 4, 1), np.int32), None), ValueError),
    ((np.empty((20, 8), np.int32)[:, ::2], None), TypeError),
    ((np.empty((20, 8), np.int32)[:, :4], None), TypeError),
    ((np.empty((20, 4), np.int32, order="F"), None), TypeError),
    ((read_only(np.empty((20, 4), np.int32)), None), TypeError),
    ((None, np.empty((20, 4), np.float32)), TypeError),
    ((None, [[0.0] * 4] * 20), TypeError),
    ((None, np.empty((20, 4), ">f8")), TypeError),
    ((None, OnlyDlpack(np.empty((20, 4), np.float32))), TypeError),
])
def test_out_that_cannot_be_written_to(out, error):
    with pytest.raises(error, match="out"):
        sapwood.Tree(POINTS).nearest(POINTS[:20], 4, out=out)


def test_nothing_is_copied():
    """The pointers that the library saw are those of the arrays."""
    address = np.empty((5, 3), np.float32)
    probe = sapwood._sapwood._address
    for points in (address, apart(POINTS), read_only(POINTS), POINTS[5:], POINTS[::2], memoryview(POINTS)):
        assert probe(points) == np.asarray(points).__array_interface__["data"][0]
    assert probe(OnlyDlpack(POINTS)) == POINTS.ctypes.data
    for points in (np.asfortranarray(POINTS), POINTS.astype(">f8"), POINTS[::-1], np.zeros((3, 2), int)):
        assert probe(points) != points.__array_interface__["data"][0]


def test_rows_are_the_memory_of_the_search():
    rows = sapwood.Tree(POINTS).within(POINTS, 0.3)
    for part in rows:
        assert not part.flags.owndata and part.flags.c_contiguous and part.flags.aligned
    ids = rows.ids
    expected = ids.copy()
    del rows
    gc.collect()
    sapwood.trim()
    sapwood.Tree(POINTS).within(POINTS, 0.3)
    assert np.array_equal(ids, expected)


def test_memory_cannot_go_while_it_is_read():
    """Memory is held for as long as a call reads it, and not longer."""
    numbers = array.array("d", POINTS.ravel().tolist())
    view = memoryview(numbers).cast("B").cast("d", (300, 3))
    tree = sapwood.Tree(view)
    del view
    numbers.append(1.0)  # BufferError if it were still held
    del numbers
    assert np.array_equal(tree.nearest(POINTS[:20], 4).ids, EXPECTED.ids)

    class Resizing:
        """Resizes memory that was taken before, when it is taken itself."""

        def __init__(self, numbers):
            self.numbers, self.refused = numbers, False

        def __array__(self, dtype=None, copy=None):
            try:
                self.numbers.append(1.0)
            except BufferError:
                self.refused = True
            return np.ones(300, np.uint8)

    numbers = array.array("d", POINTS[:, 0].tolist())
    keep = Resizing(numbers)
    found = sapwood.Tree(POINTS[:, :1]).nearest(memoryview(numbers).cast("B").cast("d", (300, 1)), keep=keep)
    assert keep.refused and np.array_equal(found.ids[:, 0], np.arange(300))


def test_arrays_are_given_back():
    class Derived(np.ndarray):
        pass

    for order in "CF":
        points = np.asarray(POINTS, order=order).view(Derived)
        seen = weakref.ref(points)
        tree = sapwood.Tree(points)
        tree.nearest(points)
        with pytest.raises(sapwood.ArgumentError):
            tree.nearest(points[:, :2])
        with pytest.raises(sapwood.ArgumentError):
            tree.nearest(points, 0)
        del points
        gc.collect()
        assert seen() is None


# ---- DLPack

class Fake:
    """Says that it lies on some device."""

    def __init__(self, kind, ordinal=0, **capsule):
        self.kind, self.ordinal = kind, ordinal

    def __dlpack_device__(self):
        return self.kind, self.ordinal

    def __dlpack__(self, **told):
        raise AssertionError("nobody should ask for this")


class FakeInterface:
    def __init__(self, **changes):
        self.__cuda_array_interface__ = {"shape": (3, 2), "typestr": "<f4", "data": (4096, False), "version": 3, **changes}


def gpu():
    try:
        sapwood.Tree(POINTS, device="cuda")
    except sapwood.NoDeviceError:
        return False
    return True


needs_none = pytest.mark.skipif(gpu(), reason="there is a GPU")


@needs_none
@pytest.mark.parametrize("points", [Fake(2), Fake(2, 3), Fake(13), FakeInterface(), FakeInterface(stream=7)])
def test_gpu_arrays_where_there_is_no_gpu(points):
    with pytest.raises(sapwood.NoDeviceError, match="CUDA|GPU"):
        sapwood.Tree(points)
    with pytest.raises(sapwood.ArgumentError, match="queries lies on cuda:[03], and the work is done on the CPU"):
        sapwood.Tree(POINTS).nearest(points)
    with pytest.raises(sapwood.NoDeviceError):
        sapwood.Tree(points, device="cpu")
    with pytest.raises(sapwood.ArgumentError, match="lies on cuda"):
        sapwood.Tree(POINTS).nearest(POINTS, out=(points, None))


@needs_none
@pytest.mark.parametrize("changes", [
    {"shape": 3}, {"shape": (3, "2")}, {"shape": [3, 2]}, {"typestr": 5}, {"typestr": "f"}, {"data": 4096}, {"data": (None, False)},
    {"mask": 1}, {"strides": (8,)}, {"strides": 8}, {"strides": ("a", "b")}, {"stream": 0}, {"stream": "a"},
    {"shape": (1,) * 9}, {"shape": (2,)},
])
def test_interfaces_that_say_nothing(changes):
    with pytest.raises((TypeError, sapwood.ArgumentError, sapwood.NoDeviceError)):
        sapwood.Tree(FakeInterface(**changes))


@pytest.mark.parametrize("kind", [4, 7, 8, 10, 14])
def test_other_devices(kind):
    with pytest.raises(TypeError, match=f"points lies on a device of a kind that Sapwood does not know .*{kind}"):
        sapwood.Tree(Fake(kind))


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Managed(ctypes.Structure):
    _fields_ = [("tensor", DLTensor), ("context", ctypes.c_void_p), ("deleter", DELETER)]


class Versioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p), ("deleter", DELETER),
                ("flags", ctypes.c_uint64), ("tensor", DLTensor)]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
capsule_name = ctypes.pythonapi.PyCapsule_GetName
capsule_name.restype, capsule_name.argtypes = ctypes.c_char_p, [ctypes.py_object]


class HandMade:
    """A producer of capsules made here, that counts what is deleted."""

    def __init__(self, base, versioned=True, major=1, flags=0, strides=True, offset=0, deleter=True, **tensor):
        self.base, self.deleted = base, 0
        count = base.ndim
        self.shape = (ctypes.c_int64 * count)(*base.shape)
        self.strides = (ctypes.c_int64 * count)(*(step // base.itemsize for step in base.strides))
        t = DLTensor(base.ctypes.data - offset, 1, 0, count, 2, base.itemsize * 8, 1, self.shape,
                     self.strides if strides else None, offset)
        for name, value in tensor.items():
            setattr(t, name, value)
        self.function = DELETER(self.delete) if deleter else DELETER()
        self.name = b"dltensor_versioned" if versioned else b"dltensor"
        self.managed = Versioned(major, 0, None, self.function, flags, t) if versioned else Managed(t, None, self.function)

    def delete(self, _):
        self.deleted += 1

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **told):
        self.capsule = new_capsule(ctypes.addressof(self.managed), self.name, None)
        return self.capsule


@pytest.mark.parametrize("versioned", [True, False])
@pytest.mark.parametrize("more", [{}, {"strides": False}, {"offset": 24}])
def test_capsules(versioned, more):
    made = HandMade(POINTS, versioned, **more)
    assert same(made)
    assert made.deleted == 1 and capsule_name(made.capsule).startswith(b"used_dltensor")
    assert same(HandMade(POINTS, versioned, deleter=False))
    apart_made = HandMade(apart(POINTS), versioned)
    assert same(apart_made) and apart_made.deleted == 1


@pytest.mark.parametrize("more, error", [
    ({"major": 2}, BufferError), ({"lanes": 2}, TypeError), ({"code": 5}, TypeError), ({"bits": 4}, TypeError), ({"bits": 0}, TypeError),
    ({"ndim": 3}, ValueError), ({"ndim": 1}, ValueError), ({"ndim": -1}, ValueError), ({"ndim": 1000}, ValueError),
])
def test_capsules_that_are_refused(more, error):
    made = HandMade(POINTS, **more)
    with pytest.raises(error, match="points"):
        sapwood.Tree(made)
    assert made.deleted == (0 if "major" in more else 1)


def test_read_only_tensors():
    out = np.zeros((20, 4), np.int32)
    made = HandMade(out, flags=1, code=0)
    with pytest.raises(TypeError, match="writable"):
        sapwood.Tree(POINTS).nearest(POINTS[:20], 4, out=(made, None))
    assert made.deleted == 1
    made = HandMade(out, code=0)
    assert sapwood.Tree(POINTS).nearest(POINTS[:20], 4, out=(made, None)).ids is made
    assert np.array_equal(out, EXPECTED.ids)
    assert same(HandMade(POINTS, flags=1))


def test_what_is_no_capsule():
    class Liar:
        def __dlpack_device__(self):
            return (1, 0)

        def __dlpack__(self, **told):
            return 5

    with pytest.raises(TypeError, match="points: what __dlpack__\\(\\) returned is no capsule"):
        sapwood.Tree(Liar())
    for device in (None, (1,), ("a", 0), 5):
        Liar.__dlpack_device__ = lambda self, device=device: device
        with pytest.raises((TypeError, ValueError)):
            sapwood.Tree(Liar())


def test_memory_is_given_by_dlpack():
    """What rows lie in is read by other libraries in place: here NumPy's from_dlpack, old and new."""
    memory = sapwood.Tree(POINTS).within(POINTS, 0.3).ids.base
    while isinstance(memory, (np.ndarray, memoryview)):
        memory = memory.base if isinstance(memory, np.ndarray) else memory.obj
    assert memory.__dlpack_device__() == (1, 0)
    again = np.from_dlpack(memory)
    assert again.ctypes.data == np.asarray(memory).ctypes.data and again.dtype == np.int32
    for version in (None, (0, 8), (1, 0), (1, 1)):
        capsule = memory.__dlpack__(max_version=version)
        assert capsule_name(capsule) == (b"dltensor_versioned" if version and version[0] else b"dltensor")
    with pytest.raises(BufferError):
        memory.__dlpack__(copy=True)
    with pytest.raises(BufferError):
        memory.__dlpack__(dl_device=(2, 0))
    assert not hasattr(memory, "__cuda_array_interface__")
    expected = again.copy()
    del memory, capsule
    gc.collect()
    assert np.array_equal(again, expected)


torch = None
try:
    import torch
except ImportError:
    pass


@pytest.mark.skipif(torch is None, reason="there is no torch")
def test_torch_on_the_cpu():
    points = torch.from_numpy(POINTS)
    assert sapwood._sapwood._address(points) == POINTS.ctypes.data
    assert same(points) and same(points.T.contiguous().T) and same(points.clone().requires_grad_().detach())
    assert sapwood.Tree(points.float()).dtype == np.float32
    with pytest.raises((BufferError, RuntimeError, TypeError)):
        sapwood.Tree(points.clone().requires_grad_())


def test_without_numpy(python):
    """Where there is no NumPy, arrays of Python's own go in and memoryviews come out."""
    program = """
import sys
sys.modules["numpy"] = None
import array, sapwood
points = memoryview(array.array("d", [0, 0, 3, 0, 0, 4])).cast("B").cast("d", (3, 2))
tree = sapwood.Tree(points)
found = tree.nearest(points, 2)
assert found.ids.tolist() == [[0, 1], [1, 0], [2, 0]] and found.distances2.tolist() == [[0, 9], [0, 9], [0, 16]]
rows = tree.within(points, 3.5)
assert rows.offsets.tolist() == [0, 2, 4, 5] and rows.row(2).tolist() == [2] and rows.distances2.format == "d"
assert tree.count_within(points, 3.5).tolist() == [2, 2, 1] and tree.bounds[1].tolist() == [3, 4]
assert tree.dtype == "float64" and repr(tree) == "<sapwood.Tree: 3 points, 2 dims, float64, cpu>"
found.ids[0, 0] = 7
for wrong in ([[0.0, 0.0]], memoryview(b"abcdef").cast("B", (3, 2))):
    try:
        sapwood.Tree(wrong)
        raise SystemExit("no error")
    except TypeError as error:
        assert "without NumPy" in str(error)
"""
    done = python(program, "-X", "dev")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
