"""DLPack on the double: real capsules of NumPy's, whose tensor is said to lie on a GPU."""

import ctypes
from typing import Any, ClassVar

import numpy as np

from tests.kernels.cupy.arrays import Array
from tests.kernels.cupy.machine import Block, Machine
from tests.kernels.cupy.surface import SURFACE, check_call

_CPU, _CUDA = 1, 2


class _Tensor(ctypes.Structure):
    _fields_: ClassVar[Any] = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
    ]


class _Numpys:
    """Gives NumPy's importer a capsule."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return _CPU, 0


def _tensor(capsule: Any) -> _Tensor:
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    return _Tensor.from_address(pointer_of(capsule, b"dltensor"))


def _device_of(self: Array) -> tuple[int, int]:
    return _CUDA, self._block.device


def _capsule_of(
    self: Array,
    *,
    stream: Any = None,
    max_version: Any = None,
    dl_device: Any = None,
    copy: Any = 0,
) -> Any:
    """Return a capsule of the memory; the array lives as long as that."""
    owner: Any = (ctypes.c_char * max(self.nbytes, 1)).from_address(self._raw.ctypes.data)
    owner.array = self
    plain = np.frombuffer(owner, np.uint8, self.nbytes)
    values = np.ndarray(self.shape, self.dtype, plain, strides=self.strides)
    capsule = values.__dlpack__()
    tensor = _tensor(capsule)
    tensor.device_type, tensor.device_id = _device_of(self)
    return capsule


def add_exchange(module: Any, machine: Machine) -> None:
    """Give a module ``from_dlpack``, and arrays what it asks for."""
    setattr(Array, "__dlpack__", _capsule_of)  # noqa: B010 (mypy: assignment to a method)
    setattr(Array, "__dlpack_device__", _device_of)  # noqa: B010

    def from_dlpack(*args: Any, **kwargs: Any) -> Array:
        check_call("from_dlpack", SURFACE["functions"]["from_dlpack"], args, kwargs)
        kind, number = args[0].__dlpack_device__()
        stream = machine.current()
        assert (kind, number) == (_CUDA, stream.device_id), "a tensor of another device"
        capsule = args[0].__dlpack__(stream=stream.ptr, max_version=None)
        tensor = _tensor(capsule)
        memory = machine._behind(tensor.data)
        assert memory is not None, "a tensor outside device memory"
        tensor.device_type, tensor.device_id = _CPU, 0
        offset = tensor.data - int(memory.raw.ctypes.data)
        values = np.from_dlpack(_Numpys(capsule))
        raw: Any = np.ndarray(values.shape, values.dtype, memory.raw, offset, values.strides)
        block = Block(memory, None, number, None)
        block.exporter = values  # lives as long as what it shares
        return Array(machine, raw, block)

    module.from_dlpack = from_dlpack
