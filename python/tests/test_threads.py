"""Threads, signals, progress and forks."""

import os
import signal
import sys
import threading
import time
import warnings

import numpy as np
import pytest

import sapwood

POINTS = np.random.default_rng(1).random((200_000, 3)).astype(np.float32)


def test_many_threads_on_one_tree():
    tree = sapwood.Tree(POINTS)
    expected = tree.nearest(POINTS[:2000], 4), tree.within(POINTS[:2000], 0.01)
    wrong = []

    def work():
        for _ in range(3):
            found = tree.nearest(POINTS[:2000], 4), tree.within(POINTS[:2000], 0.01)
            if not all(np.array_equal(a, b) for one, two in zip(found, expected) for a, b in zip(one, two)):
                wrong.append(found)
            try:
                tree.nearest(POINTS[:5, :2])
                wrong.append("no error")
            except sapwood.ArgumentError as error:
                if "shape" not in str(error):
                    wrong.append(error)

    threads = [threading.Thread(target=work) for _ in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_messages_are_those_of_the_thread():
    wrong = []

    def work(dims):
        points = np.zeros((3, dims))
        points[dims % 3] = np.nan
        for _ in range(300):
            try:
                sapwood.Tree(points, threads=1)
            except sapwood.NotFiniteError as error:
                if f"point {dims % 3}" not in str(error):
                    wrong.append(str(error))

    threads = [threading.Thread(target=work, args=(dims,)) for dims in range(1, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_rebuild_needs_the_tree_for_itself():
    tree = sapwood.Tree(POINTS)
    inside, wrong = [], []

    def progress(done):
        if not inside:
            inside.append(done)
            for call in (lambda: tree.rebuild(POINTS), lambda: tree.__init__(POINTS[:5])):
                try:
                    call()
                    wrong.append("no error")
                except RuntimeError as error:
                    if "used by another thread" not in str(error):
                        wrong.append(error)
        return True

    tree.nearest(POINTS, 8, progress=progress)
    assert inside and not wrong
    inside.clear()

    def searching(done):
        if not inside:
            inside.append(done)
            for call in (lambda: tree.nearest(POINTS[:5]), lambda: tree.count, lambda: len(tree)):
                try:
                    call()
                    wrong.append("no error")
                except RuntimeError as error:
                    if "rebuilt by another thread" not in str(error):
                        wrong.append(error)

    tree.rebuild(POINTS[:100_000], progress=searching)
    assert inside and not wrong and tree.count == 100_000


# ---- Progress

def test_progress():
    told = []
    tree = sapwood.Tree(POINTS, progress=told.append)
    assert told[-1] == 1.0 and told == sorted(told)
    told.clear()
    tree.nearest(POINTS, 16, progress=told.append)
    assert told[-1] == 1.0 and told == sorted(told) and all(0 <= number <= 1 for number in told)


def test_progress_ends_a_call():
    tree = sapwood.Tree(POINTS)
    with pytest.raises(sapwood.CancelledError):
        tree.nearest(POINTS, 16, progress=lambda done: False)

    class Enough(Exception):
        pass

    def enough(done):
        raise Enough(done)

    for _ in range(3):
        with pytest.raises(Enough):
            tree.nearest(POINTS, 16, progress=enough)
        with pytest.raises(Enough):
            sapwood.Tree(POINTS, progress=enough)
    assert tree.nearest(POINTS[:1]).ids.tolist() == [[0]]
    with pytest.raises(TypeError):
        tree.nearest(POINTS, progress=lambda: True)


def test_progress_may_call():
    """What progress calls may search, too, and may fail, on its own account."""
    tree = sapwood.Tree(POINTS)
    seen = []

    def progress(done):
        seen.append(tree.nearest(POINTS[:1]).ids[0, 0])
        with pytest.raises(sapwood.ArgumentError):
            tree.nearest([[0.0]])

    assert (tree.nearest(POINTS, 4, progress=progress).ids[:, 0] == np.arange(len(POINTS))).all()
    assert seen and set(seen) == {0}


def work_for(seconds):
    """A tree and as many queries as take about so long."""
    tree = sapwood.Tree(POINTS, threads=1)
    begin = time.perf_counter()
    tree.nearest(POINTS[:20_000], 16, ordered=True)
    each = (time.perf_counter() - begin) / 20_000
    count = int(seconds / each)
    return tree, np.resize(POINTS, (count, 3))


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers")
def test_signals_end_a_call():
    class Alarm(Exception):
        pass

    def ring(number, frame):
        raise Alarm

    tree, queries = work_for(3)
    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        begin = time.perf_counter()
        with pytest.raises(Alarm):
            tree.nearest(queries, 16)
        assert time.perf_counter() - begin < 2
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.skipif(sys.platform == "win32", reason="os.kill is another thing there")
def test_keyboard_interrupt(python):
    program = """
import os, signal, threading, time
import numpy as np, sapwood
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's jobs in the background ignore it
points = np.random.default_rng(1).random((3_000_000, 3))
def interrupt():
    time.sleep(0.15)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
try:
    while True: sapwood.Tree(points, threads=1)
except KeyboardInterrupt:
    print("interrupted", end="")
"""
    done = python(program)
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted", "")


def test_the_gil_is_released():
    """A thread that counts goes on beside a search."""
    tree, queries = work_for(0.6)
    counted = 0
    ending = False

    def count():
        nonlocal counted
        while not ending:
            counted += 1

    thread = threading.Thread(target=count)
    thread.start()
    time.sleep(0.05)
    first = counted
    begin = time.perf_counter()
    tree.nearest(queries, 16)
    during = counted - first
    seconds = time.perf_counter() - begin
    first, begin = counted, time.perf_counter()
    time.sleep(0.3)
    alone = (counted - first) / (time.perf_counter() - begin)
    ending = True
    thread.join()
    assert during / seconds > alone * 0.2  # on a machine that others use, too; the benchmark has the figure


# ---- Forks

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")


def child(work):
    """Runs work in a child of this process, and says whether it returned True."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads
        number = os.fork()
    if number == 0:
        good = False
        try:
            good = work()
        finally:
            os._exit(0 if good else 1)
    return os.waitpid(number, 0)[1] == 0


@forks
def test_children_use_their_parents_trees():
    tree, points = sapwood.Tree(POINTS), sapwood.Set(3)
    points.insert(POINTS[:1000])
    expected = tree.nearest(POINTS, 4)  # the library's threads exist from here on
    near = points.nearest(POINTS[:10], 3)

    def work():
        found = tree.nearest(POINTS, 4)
        again = sapwood.Tree(POINTS[:1000])
        points.insert(POINTS[1000:2000])
        return np.array_equal(found.ids, expected.ids) and again.nearest(POINTS[:1]).ids[0, 0] == 0 and len(points) == 2000

    assert child(work) and child(lambda: child(work))
    assert len(points) == 1000 and np.array_equal(points.nearest(POINTS[:10], 3).ids, near.ids)


@forks
def test_a_device_that_was_busy_when_its_process_was_forked():
    """A child cannot know in what state another thread's work left the memory of a device: it is told so, and goes on
    with a device of its own."""
    tree, queries = work_for(1)
    saved = bytes(tree.to_bytes())
    thread = threading.Thread(target=tree.nearest, args=(queries, 16))
    thread.start()
    time.sleep(0.2)

    def work():
        try:
            tree.nearest(POINTS[:1])
            return False
        except RuntimeError as error:
            again = sapwood.Tree.from_bytes(saved, threads=1)
            other = sapwood.Tree(POINTS[:10])
            return "forked while another thread" in str(error) and again.nearest(POINTS[:1]).ids[0, 0] == 0 and len(other) == 10

    assert child(work)
    thread.join()
    assert tree.nearest(POINTS[:1]).ids[0, 0] == 0


@forks
def test_sets_that_work_in_the_background_stay_with_their_process():
    points = sapwood.Set(3, background=True)
    points.insert(POINTS[:1000])

    def work():
        try:
            points.nearest(POINTS[:1])
        except RuntimeError as error:
            return "background" in str(error)
        return False

    assert child(work)
    assert points.nearest(POINTS[:1]).ids.tolist() == [[0]]


# ---- The end

@pytest.mark.parametrize("ending", ["", "sys.exit(0)", "os.kill(os.getpid(), signal.SIGTERM)", "raise KeyboardInterrupt"])
def test_ends_beside_a_long_call(python, ending):
    program = f"""
import os, signal, sys, threading, time
import numpy as np, sapwood
points = np.random.default_rng(1).random((400_000, 3))
tree = sapwood.Tree(points)
def progress(done): time.sleep(0.001)
def search():
    while True: tree.nearest(points, 16, progress=progress)
for _ in range(3): threading.Thread(target=search, daemon=True).start()
time.sleep(0.3)
{ending}
"""
    done = python(program)
    assert done.returncode in (0, 1, -signal.SIGTERM, -signal.SIGINT)
    assert "Fatal" not in done.stderr and "Error" not in done.stderr.replace("KeyboardInterrupt", "")
