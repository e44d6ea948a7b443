"""What wrong arguments raise, and what it says."""

import re
from pathlib import Path

import numpy as np
import pytest

import sapwood

POINTS = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
TREE, DROP_IN, SET = sapwood.Tree(POINTS), sapwood.KDTree(POINTS), sapwood.Set(3)
MESH = sapwood.MeshTree(POINTS, [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])

VALUES = {
    "k": lambda: TREE.nearest(POINTS, 0),
    "k beyond C": lambda: TREE.nearest(POINTS, 2**70),
    "radius": lambda: TREE.nearest(POINTS, 1, radius=-1),
    "radius beyond floats": lambda: TREE.within(POINTS, 10**400),
    "metric": lambda: TREE.nearest(POINTS, metric="l3"),
    "p of another metric": lambda: TREE.nearest(POINTS, metric="l1", p=3),
    "columns": lambda: TREE.nearest(POINTS[:, :2]),
    "axes": lambda: TREE.nearest(POINTS[None]),
    "uneven rows": lambda: TREE.nearest([[1, 2, 3], [4]]),
    "no numbers": lambda: sapwood.Tree(np.array([["a", "b"]], object)),
    "count of boxes": lambda: TREE.box(POINTS, POINTS[:2]),
    "other tree": lambda: TREE.pairs_with(sapwood.Tree(POINTS[:, :2]), 1.0),
    "leaf_size": lambda: sapwood.Tree(POINTS, leaf_size=2000),
    "period": lambda: sapwood.Tree(POINTS, period=-1),
    "device": lambda: sapwood.Tree(POINTS, device="toaster"),
    "threads": lambda: sapwood.MeshTree(MESH.mesh, threads=2**40),
    "path": lambda: TREE.save("a\0b"),
    "set": lambda: SET.insert([[1, 2]]),
    "as scipy": lambda: DROP_IN.query(POINTS, p=0.5),
    "as scipy, shape": lambda: DROP_IN.query("abc"),
    "as scipy, data": lambda: sapwood.KDTree([[1, 2], [3]]),
    "rays": lambda: MESH.trace([[1, 2]], [[0, 0, 1]]),
    "origin": lambda: sapwood.Mesh(POINTS, [[0, 1, 2]], origin=("a", 0, 0)),
    "volume": lambda: sapwood.isosurface(np.zeros((2, 2))),
    "spacing": lambda: sapwood.isosurface(np.zeros((2, 2, 2)), spacing=(-1, 1, 1)),
    "format": lambda: sapwood.read(b"1 2 3", format="doc"),
    "picture": lambda: sapwood.render(MESH, 0, 10),
    "not built": lambda: sapwood.Tree.__new__(sapwood.Tree).nearest(POINTS),
}
TYPES = {
    "k": lambda: TREE.nearest(POINTS, 1.5),
    "radius": lambda: TREE.within(POINTS, "far"),
    "points": lambda: sapwood.Tree([[1j]]),
    "other": lambda: TREE.pairs_with(POINTS, 1.0),
    "keep": lambda: TREE.nearest(POINTS, keep=[1, 0, 1, 1]),
    "progress": lambda: TREE.nearest(POINTS, progress=3),
    "name": lambda: TREE.nearest(POINTS, neighbours=3),
    "path": lambda: TREE.save(3),
    "rays": lambda: MESH.trace([["a"] * 3], [[0, 0, 1]]),
}
# What the interface of C calls things, and Python does not.
OF_C = re.compile(r"\b(sap_|SAP_|options\.|search\.|scene\.|volume\.)|\.(dims|count|stride|coords)\b|NULL")


@pytest.mark.parametrize("name", VALUES)
def test_wrong_values_are_argument_errors(name):
    with pytest.raises(sapwood.ArgumentError) as failure:
        VALUES[name]()
    assert isinstance(failure.value, ValueError) and isinstance(failure.value, sapwood.Error)
    assert not OF_C.search(str(failure.value)), failure.value


@pytest.mark.parametrize("name", TYPES)
def test_wrong_types_are_type_errors(name):
    with pytest.raises(TypeError) as failure:
        TYPES[name]()
    assert not OF_C.search(str(failure.value)), failure.value


def test_nothing_raises_a_bare_value_error():
    package, sources = Path(sapwood.__file__).parent, Path(__file__).parent.parent / "src"
    for path in [*package.glob("*.py"), *sources.glob("*.c")]:
        assert not re.search(r"raise ValueError|(SetString|Format)\(PyExc_ValueError", path.read_text()), path


@pytest.mark.parametrize("name", ["ArgumentError", "RangeError", "NotFiniteError", "FormatError"])
def test_errors_about_values_are_value_errors(name):
    assert issubclass(getattr(sapwood, name), (ValueError,)) and issubclass(getattr(sapwood, name), sapwood.Error)


@pytest.mark.parametrize("call, says", [
    (lambda: TREE.nearest(POINTS, metric="l1", p=3), "p: is for the metric 'lp' and must be 0 for others"),
    (lambda: TREE.nearest(POINTS, radius=-1), "radius: -1 is negative or not a number"),
    (lambda: TREE.nearest(POINTS[:, :2]), "queries.shape[-1]: is 2, but the tree's points have 3"),
    (lambda: TREE.box(POINTS, POINTS[:2]), "upper.shape[0]: is 2, but lower.shape[0] is 4"),
    (lambda: TREE.count_pairs(TREE, [1.0], weights=[1, 1, np.nan, 1]), "weights[2]: is nan"),
    (lambda: sapwood.read(b"1 2\n", columns="x,,z"), "columns: 'x,,z' has nothing where a column should stand between commas"),
])  # fmt: skip
def test_sentences_use_the_names_of_arguments(call, says):
    with pytest.raises(ValueError, match=re.escape(says)):
        call()


def test_paths_stay_as_they_are(tmp_path):
    path = tmp_path / "search.k" / "sap_options.ply"
    with pytest.raises(sapwood.FileError, match=re.escape(str(path))):
        sapwood.read(path)


def test_excluded_ids_are_those_of_points():
    for exclude in (np.arange(4), [-1] * 4, np.arange(4, dtype=np.int32)):
        TREE.nearest(POINTS, exclude=exclude)
        TREE.nearest_for(TREE, exclude=exclude)
    for at, bad in ((0, 4), (3, -2), (2, 2**31 - 1)):
        exclude = np.full(4, -1, np.int32)
        exclude[at] = bad
        for call in (lambda: TREE.nearest(POINTS, exclude=exclude), lambda: TREE.nearest_for(TREE, exclude=exclude)):
            with pytest.raises(sapwood.ArgumentError, match=rf"exclude\[{at}\] is {bad}, which is neither -1 nor the id of one of the 4"):
                call()


def test_radii_that_are_negative_or_nan():
    """One number is a mistake; in an array, as the C library has it, the query finds nothing."""
    radii = np.array([-1.0, np.nan, 0.5, -0.0])
    assert TREE.nearest(POINTS, radius=radii).ids[:, 0].tolist() == [-1, -1, 2, 3]
    assert TREE.count_within(POINTS, radii).tolist() == [0, 0, 1, 1]
    assert np.diff(TREE.within(POINTS, radii).offsets).tolist() == [0, 0, 1, 1]
    for bad in (-1.0, np.nan, np.float32(-1), np.array(np.nan)):
        for call in (TREE.nearest, TREE.within, TREE.count_within):
            with pytest.raises(sapwood.ArgumentError, match="radius"):
                call(POINTS, radius=bad)


@pytest.mark.parametrize("thing", [sapwood.Tree.load, sapwood.Tree.from_bytes, TREE.load, TREE.nearest, SET.insert, DROP_IN.query])
def test_bound_methods_have_docstrings(thing):
    assert thing.__doc__ and thing.__text_signature__
