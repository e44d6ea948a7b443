"""python -m sapwood is the command line."""

import subprocess
import sys

import numpy as np

import sapwood


def command(*words, **more):
    return subprocess.run([sys.executable, "-m", "sapwood", *map(str, words)], capture_output=True, text=True, timeout=60,
                          **more)


def test_version_and_help():
    assert command("--version").stdout.startswith(f"sapwood {sapwood.__version__}\n")
    assert "nearest" in command("--help").stdout


def test_answers_as_the_package_does(tmp_path):
    points = np.random.default_rng(3).random((1000, 3)).astype(np.float32)
    np.save(tmp_path / "scan ä.npy", points)
    done = command("nearest", tmp_path / "scan ä.npy", "-k", 4, "--with-self", "-q", "-o", tmp_path / "ids.npy")
    assert (done.returncode, done.stderr) == (0, "")
    assert np.array_equal(np.load(tmp_path / "ids.npy"), sapwood.Tree(points).nearest(points, 4)[0])


def test_exit_status():
    wrong = command("nearest", "/nowhere.npy")
    assert wrong.returncode not in (0, None) and "/nowhere.npy" in wrong.stderr
    usage = command("--no-such-option")
    assert usage.returncode == 2 and usage.stdout == ""


def test_interrupted(tmp_path):
    """Ctrl-C ends it as it ends any command, and leaves no file behind."""
    program = ("import os, signal, threading, sys; from sapwood.__main__ import main; import numpy as np;"
               "threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start();"
               "sys.argv[1:] = ['nearest', 'points.npy', '-k', '200', '-o', 'ids.npy', '-q']; main()")
    np.save(tmp_path / "points.npy", np.random.default_rng(3).random((1_000_000, 3)).astype(np.float32))
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == -2, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["points.npy"]
