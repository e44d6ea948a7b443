"""python -m sapwood is the command line."""

import struct
import subprocess
import sys
import zlib

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


def pixels_of_png(data):
    """Decodes what the command writes: one filter a row, 8 bits a channel."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, chunks = 8, []
    while at < len(data):
        length, name = struct.unpack(">I4s", data[at:at + 8])
        content = data[at + 8:at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0] == zlib.crc32(name + content)
        chunks.append((name, content))
        at += 12 + length
    assert chunks[0][0] == b"IHDR" and chunks[-1] == (b"IEND", b"")
    width, height, bits, colours = struct.unpack(">IIBB", chunks[0][1][:10])
    assert (bits, colours) == (8, 2)
    packed = zlib.decompress(b"".join(content for name, content in chunks if name == b"IDAT"))
    lines = np.frombuffer(packed, np.uint8).reshape(height, 3 * width + 1)
    rows, used = np.zeros((height + 1, width + 1, 3), int), set()  # with a row and a column of zeros before
    for y, line in enumerate(lines, 1):
        used.add(int(line[0]))
        for x, raw in enumerate(line[1:].reshape(width, 3).astype(int), 1):
            left, above, corner = rows[y, x - 1], rows[y - 1, x], rows[y - 1, x - 1]
            paeth = [min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
                     for a, b, c in zip(left, above, corner)]
            rows[y, x] = (raw + [0, left, above, (left + above) // 2, paeth][line[0]]) % 256
    return rows[1:, 1:], used


def test_png_holds_what_ppm_does(tmp_path):
    (tmp_path / "mesh.obj").write_text("v 0 0 0\nv 3 0 1\nv 0 3 2\nv 2 2 -1\nf 1 2 3\nf 1 2 4\nf 4 2 3\n")
    filters = set()
    for size in ("1x1", "90x61", "3x200"):
        for suffix in ("png", "ppm"):
            done = command("render", "mesh.obj", "-q", "--size", size, "-o", f"a.{suffix}", cwd=tmp_path)
            assert done.returncode == 0, done.stderr
        pixels, used = pixels_of_png((tmp_path / "a.png").read_bytes())
        filters |= used
        assert pixels.astype(np.uint8).tobytes() == (tmp_path / "a.ppm").read_bytes().split(b"\n", 3)[3]
    assert len(filters) >= 3


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
