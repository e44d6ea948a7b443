"""The scripts of examples/python run, and draw a picture each."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent.parent / "examples" / "python"
SCRIPTS = sorted(EXAMPLES.glob("*.py"))

pytest.importorskip("matplotlib")
if not EXAMPLES.exists():
    pytest.skip("the examples are not in an sdist", allow_module_level=True)


def test_there_are_examples():
    assert len(SCRIPTS) >= 4


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_example(script, tmp_path):
    picture = tmp_path / "picture.png"
    done = subprocess.run([sys.executable, script, "--small", "-o", picture], cwd=tmp_path, capture_output=True, text=True,
                          timeout=120, env={**os.environ, "MPLBACKEND": "Agg", "MPLCONFIGDIR": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    assert picture.read_bytes()[:4] == b"\x89PNG"
    assert done.stdout.strip(), "it says what it found"
