"""What the documentation shows runs, and prints what it says."""

import doctest
import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest

import sapwood

README = Path(__file__).parent.parent / "README.md"
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def modules():
    yield sapwood
    for found in pkgutil.iter_modules(sapwood.__path__):
        if found.name != "__main__":
            yield importlib.import_module(f"sapwood.{found.name}")


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
