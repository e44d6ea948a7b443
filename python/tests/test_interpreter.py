"""What a process may do to the module: end with trees alive, end while threads search, count references, be forked,
start other interpreters."""

import os
import sys

import pytest

BUILD = """
import gc, os, signal, sys, threading, time
import numpy as np
import sapwood
points = np.random.default_rng(1).random((20_000, 3))
tree = sapwood.Tree(points)
drop_in = sapwood.KDTree(points)
"""


def ends_well(done):
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


@pytest.mark.parametrize("keep", [
    "",  # globals
    "sys.kept = [tree, drop_in, tree.nearest, tree.within(points[:10], 0.1)]",  # the interpreter's own
    "class Kept:\n def __init__(self): self.tree, self.me = tree, self\nkept = Kept()",  # on a circle
    "threading.local().tree = tree",
    "import atexit\natexit.register(lambda: print(drop_in.query(points[0])[1], end=''))",
    "class Late:\n def __del__(self): self.answer = self.tree.nearest(points[:5])\nlate = Late(); late.tree = tree",
    "sys.modules.pop('sapwood'); sys.modules.pop('sapwood._sapwood'); del sapwood; gc.collect()",
])
def test_ends_with_trees_alive(python, keep):
    ends_well(python(BUILD + keep, "-X", "dev"))


@pytest.mark.parametrize("ending", ["", "sys.exit()", "raise SystemExit", "os._exit(0)"])
def test_ends_while_a_daemon_searches(python, ending):
    search = """
def search():
    while True: tree.nearest(points, 8)
for _ in range(2): threading.Thread(target=search, daemon=True).start()
time.sleep(0.1)
"""
    ends_well(python(BUILD + search + ending))


def test_no_warnings_and_no_lost_references(python):
    """In development mode, where memory is checked and files left open are told of."""
    program = BUILD + """
answers = {tree.nearest: (points, 3), tree.within: (points[:100], 0.1), drop_in.query: (points, 2),
           drop_in.query_ball_point: (points[:100], 0.1)}
held = [tree, drop_in, points, sapwood.Tree, sapwood.KDTree]
def counts(): return [sys.getrefcount(one) for one in held]
for call, arguments in answers.items(): call(*arguments)
before = counts()
for _ in range(50):
    for call, arguments in answers.items(): call(*arguments)
    for wrong in ((), ("a",), (points[:, :2],), (points, 0)):
        for call in answers:
            try: call(*wrong)
            except (TypeError, ValueError): pass
    sapwood.Tree(points), sapwood.KDTree(points)
del call, wrong
gc.collect()
after = counts()
assert after == before, (before, after)
"""
    ends_well(python(program, "-X", "dev", "-W", "error"))


def test_types_of_nothing(python):
    """Objects whose __init__ was never called raise, whatever they are asked."""
    program = BUILD + """
for kind in (sapwood.Tree, sapwood.cKDTree, sapwood.KDTree, sapwood.Set, sapwood.MeshTree, sapwood.Instances):
    empty = kind.__new__(kind)
    for name in dir(kind):
        if name.startswith("__") and name not in ("__repr__", "__len__", "__reduce__", "__getstate__"): continue
        try:
            value = getattr(empty, name)
            if callable(value): value()
        except Exception as error:
            assert str(error), (kind, name)
"""
    ends_well(python(program, "-X", "dev"))


def test_other_interpreters_are_refused(python):
    program = """
try: import _xxsubinterpreters as interpreters
except ImportError: import _interpreters as interpreters
import sapwood
other = interpreters.create()
try:
    failure = interpreters.run_string(other, "import sapwood")
    text = "" if failure is None else str(failure.formatted)
except Exception as error:
    text = str(error)
interpreters.destroy(other)
print(text)
"""
    assert "interpreter" in ends_well(python(program))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_forked_after_threads(python):
    """A child searches trees of its parent and builds its own, also with threads, and its parent goes on."""
    program = BUILD + """
import warnings
warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads
expected = tree.nearest(points, 4)
for _ in range(5):
    child = os.fork()
    if child == 0:
        try:
            same = all(np.array_equal(a, b) for a, b in zip(expected, tree.nearest(points, 4)))
            again = sapwood.Tree(points).nearest(points, 4)
            same &= all(np.array_equal(a, b) for a, b in zip(expected, again))
            same &= np.array_equal(sapwood.KDTree(points).query(points, 4, workers=2)[1], expected[0])
        except BaseException as error:
            print(error, file=sys.stderr)
            same = False
        os._exit(0 if same else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert all(np.array_equal(a, b) for a, b in zip(expected, tree.nearest(points, 4)))
"""
    ends_well(python(program))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_processes_of_multiprocessing(python):
    program = BUILD + """
import multiprocessing
def search(rows): return tree.nearest(points[rows], 3)[0].sum()
def search_theirs(task): return task[0].query(points[task[1]])[1].sum()
import warnings
warnings.simplefilter("ignore", DeprecationWarning)
with multiprocessing.get_context("fork").Pool(2) as pool:
    parts = [slice(i, i + 2000) for i in range(0, 20_000, 2000)]
    assert sum(pool.map(search, parts)) == tree.nearest(points, 3)[0].sum()
    assert sum(pool.map(search_theirs, [(drop_in, part) for part in parts])) == drop_in.query(points)[1].sum()
"""
    ends_well(python(program))


def test_imported_again(python):
    program = """
import sys, sapwood, gc
first = sapwood.Tree([[0.0, 1.0]])
for name in [name for name in sys.modules if name.startswith("sapwood")]: del sys.modules[name]
import sapwood
second = sapwood.Tree([[0.0, 1.0]])
assert repr(first) == repr(second)
del first; gc.collect()
assert second.count == 1
"""
    ends_well(python(program, "-X", "dev"))


def test_import_is_light(python):
    program = """
import sys, sapwood
sapwood.KDTree([[0.0, 1.0], [2.0, 3.0]]).query([0.0, 1.0])
heavy = {name.split(".")[0] for name in sys.modules} & {"scipy", "torch", "cupy", "jax", "matplotlib", "asyncio"}
assert not heavy, heavy
"""
    ends_well(python(program))


@pytest.mark.skipif(sys.platform != "linux", reason="threads are counted in /proc")
def test_threads_of_the_process(python):
    """One worker means one thread: nothing starts others beside it."""
    program = """
import os, sys, numpy as np
os.environ["OMP_NUM_THREADS"] = "1"
before = len(os.listdir("/proc/self/task"))
import sapwood
points = np.random.default_rng(1).random((20_000, 3))
tree = sapwood.KDTree(points)
tree.query(points, 4)
assert len(os.listdir("/proc/self/task")) == before
"""
    ends_well(python(program))
