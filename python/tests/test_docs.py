"""What the documentation shows runs, and prints what it says."""

import doctest
import importlib
import inspect
import pkgutil
import sys
from pathlib import Path

import numpy as np
import pytest

import sapwood

README = Path(__file__).parent.parent / "README.md"
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def modules():
    yield sapwood
    for found in pkgutil.iter_modules(sapwood.__path__):
        if found.name != "__main__":
            yield importlib.import_module(f"sapwood.{found.name}")


def scalars(value):
    """The scalars of NumPy that the repr of a value shows. NumPy 1 prints 0.5 where NumPy 2 prints np.float64(0.5)."""
    if isinstance(value, np.generic):
        yield value
    elif isinstance(value, dict):
        yield from scalars([*value, *value.values()])
    elif isinstance(value, (tuple, list, set, frozenset)) or (isinstance(value, np.ndarray) and value.dtype == object):
        for item in value:
            yield from scalars(item)


@pytest.fixture(autouse=True)
def every_numpy_prints_the_same(monkeypatch):
    """What is shown looks the same with every version of NumPy."""
    show = sys.__displayhook__  # which doctest prints by

    def check(value):
        assert not list(scalars(value)), f"{value!r} is printed in another way by other versions of NumPy"
        show(value)

    monkeypatch.setattr(sys, "__displayhook__", check)


def test_scalars_of_numpy_are_seen():
    assert len(list(scalars([(np.float64(0.5), 1.0), {"a": np.bool_(True)}, np.array([np.int32(3), None]), np.zeros(2)]))) == 3


def test_readme():
    failed, tried = doctest.testfile(str(README), module_relative=False, optionflags=OPTIONS)
    assert tried > 20 and failed == 0


@pytest.mark.parametrize("module", list(modules()), ids=lambda module: module.__name__)
def test_docstrings(module):
    failed, _ = doctest.testmod(module, optionflags=OPTIONS, extraglobs={"sapwood": sapwood})
    assert failed == 0


def public():
    for name in sapwood.__all__:
        thing = getattr(sapwood, name)
        yield name, thing
        if inspect.isclass(thing) and not issubclass(thing, BaseException):
            for member, value in vars(thing).items():
                # As the class holds it: CPython hides the docstring of a bound class method that is told its class.
                if not member.startswith("_") and (callable(value) or inspect.isdatadescriptor(value)):
                    yield f"{name}.{member}", value


@pytest.mark.parametrize("name, thing", list(public()), ids=lambda value: value if isinstance(value, str) else "")
def test_everything_is_documented(name, thing):
    if not isinstance(thing, (str, int)):
        assert inspect.getdoc(thing), f"{name} has no docstring"
    if inspect.isroutine(thing):
        inspect.signature(thing)  # raises where __text_signature__ is missing
