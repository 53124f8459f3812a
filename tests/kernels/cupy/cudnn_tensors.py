"""Tensors of the double of cuDNN's front end, and the operations beside convolutions."""

import enum
from typing import Any

import ml_dtypes
import numpy as np

from tests.kernels.cupy.machine import Machine, Memory

DataType = enum.Enum("DataType", ["NOT_SET", "FLOAT", "HALF", "BFLOAT16", "INT64", "INT32"])
_DTYPES = {
    DataType.FLOAT: np.dtype(np.float32),
    DataType.HALF: np.dtype(np.float16),
    DataType.BFLOAT16: np.dtype(ml_dtypes.bfloat16),
    DataType.INT64: np.dtype(np.int64),
    DataType.INT32: np.dtype(np.int32),
}
_ALIGNMENT = 16  # bytes, of what is not told otherwise


class Tensor:
    """A tensor of a graph."""

    def __init__(self, kind: DataType, dim: list[int], stride: list[int], uid: int) -> None:
        self.kind, self.dim, self.stride, self.uid = kind, dim, stride, uid
        self.output = False
        self.alignment = _ALIGNMENT

    def set_output(self, value: bool, /) -> "Tensor":
        self.output = value
        return self

    def set_uid(self, uid: int, /) -> "Tensor":
        self.uid = uid
        return self

    def set_dim(self, dim: list[int], /) -> "Tensor":
        self.dim = dim
        return self

    def set_stride(self, stride: list[int], /) -> "Tensor":
        self.stride = stride
        return self

    def set_alignment(self, alignment: int, /) -> "Tensor":
        self.alignment = alignment
        return self

    def _set_data_type(self, kind: DataType, /) -> "Tensor":
        self.kind = kind
        return self

    @property
    def dtype(self) -> np.dtype[Any]:
        return _DTYPES[self.kind]

    @property
    def nbytes(self) -> int:
        return int(np.prod(self.dim)) * self.dtype.itemsize

    @property
    def layouts(self) -> set[str]:
        """The dense orders that its strides are: channels first, channels last, or both, or none.

        Strides of axes of extent 1 mean nothing.
        """
        found = set()
        for name, axes in (("NHWC", [0, *range(2, len(self.dim)), 1]), ("NCHW", None)):
            order, step = axes or list(range(len(self.dim))), 1
            for axis in reversed(order):
                if self.dim[axis] > 1 and self.stride[axis] != step:
                    break
                step *= self.dim[axis]
            else:
                found.add(name)
        return found

    def at(self, machine: Machine, address: int) -> tuple[Memory, Any]:
        """Return the memory of an address, and the values there, to read or to write."""
        assert address % self.alignment == 0, f"tensor {self.uid}: not aligned as was promised"
        memory = machine._behind(address)
        assert memory is not None, f"tensor {self.uid}: an address outside device memory"
        steps = [step * self.dtype.itemsize for step in self.stride]
        start = address - memory.start
        last = sum((n - 1) * step for n, step in zip(self.dim, steps, strict=True))
        end = start + last + self.dtype.itemsize
        assert end <= memory.raw.size, f"tensor {self.uid}: beyond its memory"
        return memory, np.ndarray(self.dim, self.dtype, memory.raw, start, steps)


class Operations:
    """What a graph may compute beside convolutions: not run."""

    def _made(self) -> Tensor:
        """Return a tensor that an operation makes."""
        raise NotImplementedError

    def batchnorm(
        self,
        input: Tensor,  # noqa: A002  # the front end's name
        scale: Tensor,
        bias: Tensor,
        in_running_mean: Tensor,
        in_running_var: Tensor,
        epsilon: Tensor,
        momentum: Tensor,
    ) -> list[Tensor]:
        return [self._made() for _ in range(5)]

    def batchnorm_backward(
        self,
        grad: Tensor,
        input: Tensor,  # noqa: A002  # the front end's name
        scale: Tensor,
        mean: Tensor,
        inv_variance: Tensor,
    ) -> list[Tensor]:
        return [self._made() for _ in range(3)]

    def layernorm(
        self,
        norm_forward_phase: Any,
        input: Tensor,  # noqa: A002  # the front end's name
        scale: Tensor,
        bias: Tensor,
        epsilon: Tensor,
    ) -> list[Tensor]:
        return [self._made() for _ in range(3)]

    def layernorm_backward(
        self,
        grad: Tensor,
        input: Tensor,  # noqa: A002  # the front end's name
        scale: Tensor,
        mean: Tensor,
        inv_variance: Tensor,
    ) -> list[Tensor]:
        return [self._made() for _ in range(3)]
