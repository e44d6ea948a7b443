"""Tensors of torch on a GPU are read without torch's Python code. The torch here is none: its memory is the host's, and no
call works on it; test_cuda.py has the real one."""

import json

import numpy as np
import pytest

import sapwood

TORCH = '''
import sys, types
import numpy as np

calls = []  # what was asked in Python's way


class dtype:
    def __init__(self, name):
        self.name = name


class Tensor:
    def __init__(self, values, ordinal=0, requires_grad=False, layout="strided", is_cuda=True, negative=False):
        self.values, self.ordinal, self.requires_grad, self.is_cuda = values, ordinal, requires_grad, is_cuda
        self.layout, self.negative = getattr(torch, layout), negative
        self.dtype = getattr(torch, values.dtype.name, None)

    @property
    def shape(self): return self.values.shape
    def stride(self): return tuple(step // self.values.itemsize for step in self.values.strides)
    def data_ptr(self): return self.values.ctypes.data
    def get_device(self): return self.ordinal
    def is_neg(self): return self.negative

    def __dlpack_device__(self):
        calls.append("device")
        return 2, self.ordinal

    def __dlpack__(self, **told):
        calls.append("dlpack")
        raise BufferError("this is not a real tensor")


class Stream:
    def __init__(self, number, id): self.cuda_stream, self.stream_id = number, id


torch = types.ModuleType("torch")
torch.Tensor, torch.strided, torch.sparse, torch.now = Tensor, object(), object(), Stream(0, 0)
for name in ("float32", "float64", "int32", "int64", "int8", "uint8", "bool"):
    setattr(torch, name, dtype(name))
Tensor.__module__ = "torch"


def current_stream(ordinal):
    calls.append("stream")
    return torch.now


torch.cuda = types.SimpleNamespace(current_stream=current_stream)
torch._C = types.SimpleNamespace(_cuda_getCurrentRawStream=lambda ordinal: torch.now.cuda_stream)
sys.modules["torch"] = torch
import sapwood
address = sapwood._sapwood._address


def taken(tensor):
    """Whether it was read, and what of Python was called for that."""
    calls.clear()
    try:
        return [address(tensor) == tensor.data_ptr(), list(calls)]
    except (sapwood.Error, BufferError, TypeError) as error:
        return [False, list(calls)]
'''


def ask(python, program):
    done = python(TORCH + "\nimport json\nprint(json.dumps((lambda values: [" + program + "])(np.arange(12, dtype=np.float32).reshape(4, 3))))")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_plain_tensors_are_read_at_once(python):
    assert ask(python, """
        taken(Tensor(values)), taken(Tensor(values.astype(float))), taken(Tensor(values[:, :2])), taken(Tensor(values[0])),
        taken(Tensor(values[:0])), taken(Tensor(values, ordinal=3))""") == [[True, []]] * 6


def test_other_tensors_are_left_to_dlpack(python):
    class_of_its_own = "type('Own', (Tensor,), {})(values)"
    for tensor in ("Tensor(values, requires_grad=True)", "Tensor(values, layout='sparse')", "Tensor(values, is_cuda=False)",
                   "Tensor(values, negative=True)", "Tensor(values.T)", "Tensor(values.astype(np.int32))", "Tensor(values.astype(np.float16))",
                   "Tensor(values.reshape(2, 2, 3, 1))", class_of_its_own):
        [(read, calls)] = ask(python, f"taken({tensor})")
        assert not read and calls[0] == "device", tensor


def test_streams_of_torch_are_looked_up_once(python):
    assert ask(python, """
        setattr(torch, 'now', Stream(4096, 35)), taken(Tensor(values)), taken(Tensor(values)),
        setattr(torch, 'now', Stream(8192, 51)), taken(Tensor(values)), taken(Tensor(values)),
        setattr(torch, 'now', Stream(4096, 35)), taken(Tensor(values)), taken(Tensor(values, ordinal=1))""") == [
        None, [True, ["stream"]], [True, []], None, [True, ["stream"]], [True, []], None, [True, []], [True, ["stream"]]]


def test_streams_of_others_are_not_trusted(python):
    """torch knows a foreign stream by its address; how long it lives, nobody says."""
    for _, (read, calls) in [ask(python, "setattr(torch, 'now', Stream(4096, 4096)), taken(Tensor(values))")] * 2:
        assert not read and calls[:2] == ["stream", "device"]


@pytest.mark.parametrize("change", ["del torch._C", "del torch.strided", "del torch.float32", "del torch._C._cuda_getCurrentRawStream"])
def test_another_torch_is_asked_by_dlpack(python, change):
    assert ask(python, f"exec({change!r}), taken(Tensor.__new__(Tensor)) if 0 else None")[1] is None
    done = python(TORCH + f"values = np.zeros((4, 3), np.float32)\ntensor = Tensor(values)\n{change}\nprint(taken(tensor))")
    assert done.returncode == 0 and done.stdout.startswith("[False, ['device'"), done.stderr


def test_without_torch():
    assert sapwood._sapwood._address(np.zeros((2, 3)))
