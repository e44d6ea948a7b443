"""What the tests share."""

import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--thorough", action="store_true", help="more cases, for minutes")


@pytest.fixture
def thorough(pytestconfig: pytest.Config) -> bool:
    return bool(pytestconfig.getoption("--thorough"))


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20)


@pytest.fixture
def python() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a program in a Python of its own, with options before it."""

    def run(program: str, *options: str, **more: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, *options, "-c", program], capture_output=True, text=True, timeout=120, **more)

    return run
