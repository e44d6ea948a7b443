"""SciPy's own tests of its k-d trees, run on sapwood.KDTree and sapwood.cKDTree.

    python3 tests/scipy_tests.py [arguments of pytest]

The file that is installed with SciPy is imported with SciPy's classes replaced. Some releases of SciPy differ from the
newest one, which is followed: what an older file asks for instead is excused below, by name and with the reason; a test
that is excused and passes nevertheless is a failure, too.
"""

import sys

import pytest

EXCUSED = {
    "test_kdtree_nan": ("1.11", "points that are not finite were taken before SciPy 1.11; since then, a ValueError"),
    "test_kdtree_attributes": ("1.18", "`data` was the caller's array itself before SciPy 1.18; since then, a view"),
}


def version_of(text):
    return tuple(int(part) for part in text.split(".")[:2])


def replace():
    """Puts Sapwood's classes in the place of SciPy's."""
    import scipy.spatial
    from scipy.spatial import _ckdtree, _kdtree

    import sapwood
    from sapwood.kdtree import cKDTreeNode

    for module in (scipy.spatial, _kdtree, _ckdtree):
        module.cKDTree = sapwood.cKDTree
        if hasattr(module, "KDTree"):
            module.KDTree = sapwood.KDTree
    _ckdtree.cKDTreeNode = cKDTreeNode


class Excuses:
    """A plugin that expects the excused tests, and only those, to fail."""

    @staticmethod
    def pytest_collection_modifyitems(items):
        import scipy

        for item in items:
            since, reason = EXCUSED.get(item.name, ("0.0", ""))
            if version_of(scipy.__version__) < version_of(since):
                item.add_marker(pytest.mark.xfail(reason=reason, strict=True))


def main(arguments):
    replace()
    # SciPy has markers of its own, which this project's options would refuse.
    return pytest.main(["-q", "-p", "no:cacheprovider", "-o", "addopts=", "-o", "filterwarnings=", "--pyargs",
                        "scipy.spatial.tests.test_kdtree", *arguments], plugins=[Excuses()])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
