"""A stand-in for the compiled module of cuDNN's front end 1.22, for rehearsals.

It takes the calls that `cudnn_plans` and `norm_plans` make, with the argument names of the front
end, refuses a gradient whose extents were not told, and runs convolutions with NumPy on the
double's memory. Other operations are checked and not run.
"""

import ctypes
import enum
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np

__all__ = ["make"]

DataType = enum.Enum("DataType", ["NOT_SET", "FLOAT", "HALF", "BFLOAT16", "INT64", "INT32"])
_DTYPES = {
    DataType.FLOAT: np.dtype(np.float32),
    DataType.HALF: np.dtype(np.float16),
    DataType.BFLOAT16: np.dtype(ml_dtypes.bfloat16),
}


class NotSupportedError(Exception):
    """What check_support raises."""


class _Tensor:
    """A tensor of a graph."""

    def __init__(self, kind: DataType, dim: list[int], stride: list[int], uid: int) -> None:
        self.kind, self.dim, self.stride, self.uid = kind, dim, stride, uid
        self.output = False

    def set_output(self, value: bool) -> "_Tensor":
        self.output = value
        return self

    def set_uid(self, uid: int) -> "_Tensor":
        self.uid = uid
        return self

    def set_dim(self, dim: list[int]) -> "_Tensor":
        self.dim = dim
        return self

    def set_stride(self, stride: list[int]) -> "_Tensor":
        self.stride = stride
        return self

    def _set_data_type(self, kind: DataType) -> "_Tensor":
        self.kind = kind
        return self

    def at(self, address: int) -> Any:
        """Return the values at an address, as an array that writes through."""
        dtype = _DTYPES[self.kind]
        extents = zip(self.dim, self.stride, strict=True)
        count = 1 + sum((extent - 1) * step for extent, step in extents)
        memory = (ctypes.c_char * (count * dtype.itemsize)).from_address(address)
        steps = [step * dtype.itemsize for step in self.stride]
        return np.lib.stride_tricks.as_strided(np.frombuffer(memory, dtype), self.dim, steps)


class _Graph:
    """``pygraph``."""

    def __init__(
        self,
        *,
        io_data_type: DataType = DataType.NOT_SET,
        intermediate_data_type: DataType = DataType.NOT_SET,
        compute_data_type: DataType = DataType.NOT_SET,
        handle: int | None = None,
    ) -> None:
        assert {intermediate_data_type, compute_data_type} <= {DataType.FLOAT}
        self._kind = io_data_type
        self._handle = handle
        self._tensors: list[_Tensor] = []
        self._nodes: list[tuple[str, Any, Any, _Tensor, dict[str, Any]]] = []
        self._steps: list[str] = []

    def _make_tensor(
        self,
        dim: list[int],
        stride: list[int],
        data_type: DataType = DataType.NOT_SET,
        is_virtual: bool = False,
        is_pass_by_value: bool = False,
        name: str = "",
        uid: int = -1,
    ) -> _Tensor:
        assert len(dim) == len(stride)
        assert all(type(extent) is int for extent in [*dim, *stride])
        kind = self._kind if data_type is DataType.NOT_SET else data_type
        self._tensors.append(_Tensor(kind, dim, stride, uid))
        return self._tensors[-1]

    def _made(self) -> _Tensor:
        return self._make_tensor([], [])

    def _convolve(self, kind: str, first: Any, second: Any, geometry: dict[str, Any]) -> _Tensor:
        out = self._made()
        self._nodes.append((kind, first, second, out, geometry))
        return out

    def conv_fprop(
        self,
        image: _Tensor,
        weight: _Tensor,
        padding: list[int],
        stride: list[int],
        dilation: list[int],
    ) -> _Tensor:
        geometry = {"padding": padding, "stride": stride, "dilation": dilation}
        return self._convolve("forward", image, weight, geometry)

    def conv_dgrad(
        self,
        loss: _Tensor,
        filter: _Tensor,  # noqa: A002  # the front end's name
        padding: list[int],
        stride: list[int],
        dilation: list[int],
    ) -> _Tensor:
        geometry = {"padding": padding, "stride": stride, "dilation": dilation}
        return self._convolve("data", loss, filter, geometry)

    def conv_wgrad(
        self,
        image: _Tensor,
        loss: _Tensor,
        padding: list[int],
        stride: list[int],
        dilation: list[int],
    ) -> _Tensor:
        geometry = {"padding": padding, "stride": stride, "dilation": dilation}
        return self._convolve("filter", image, loss, geometry)

    def batchnorm(
        self,
        input: _Tensor,  # noqa: A002  # the front end's name
        scale: _Tensor,
        bias: _Tensor,
        in_running_mean: _Tensor,
        in_running_var: _Tensor,
        epsilon: _Tensor,
        momentum: _Tensor,
    ) -> list[_Tensor]:
        return [self._made() for _ in range(5)]

    def batchnorm_backward(
        self,
        grad: _Tensor,
        input: _Tensor,  # noqa: A002  # the front end's name
        scale: _Tensor,
        mean: _Tensor,
        inv_variance: _Tensor,
    ) -> list[_Tensor]:
        return [self._made() for _ in range(3)]

    def layernorm(
        self,
        norm_forward_phase: Any,
        input: _Tensor,  # noqa: A002  # the front end's name
        scale: _Tensor,
        bias: _Tensor,
        epsilon: _Tensor,
    ) -> list[_Tensor]:
        return [self._made() for _ in range(3)]

    def layernorm_backward(
        self,
        grad: _Tensor,
        input: _Tensor,  # noqa: A002  # the front end's name
        scale: _Tensor,
        mean: _Tensor,
        inv_variance: _Tensor,
    ) -> list[_Tensor]:
        return [self._made() for _ in range(3)]

    def sdpa(
        self, q: _Tensor, k: _Tensor, v: _Tensor, *, attn_scale: float, generate_stats: bool
    ) -> list[Any]:
        return [self._made(), self._made() if generate_stats else None]

    def sdpa_backward(
        self,
        q: _Tensor,
        k: _Tensor,
        v: _Tensor,
        o: _Tensor,
        dO: _Tensor,
        stats: _Tensor,
        *,
        attn_scale: float,
    ) -> list[_Tensor]:
        return [self._made() for _ in range(3)]

    def _then(self, step: str, *before: str) -> None:
        assert set(before) <= set(self._steps), f"{step} came before one of {before}"
        self._steps.append(step)

    def validate(self) -> None:
        self._then("validate")
        for kind, *_, out, _geometry in self._nodes:
            if kind != "forward" and not out.dim:
                raise ValueError(f"conv {kind}: set_dim is missing; the real one crashes here")

    def build_operation_graph(self) -> None:
        self._then("operations", "validate")

    def create_execution_plans(self, modes: list[Any]) -> None:
        assert isinstance(modes, list)
        self._then("plans", "operations")

    def deselect_numeric_notes(self, notes: list[Any]) -> None:
        assert isinstance(notes, list)
        self._then("notes", "plans")

    def check_support(self) -> None:
        self._then("support", "plans")

    def build_plans(self) -> None:
        self._then("build", "support")

    def get_workspace_size(self) -> int:
        assert "build" in self._steps
        return 0

    def _execute(self, var_pack: dict[int, int], workspace: int, handle: int | None) -> None:
        assert "build" in self._steps
        assert handle == self._handle
        assert all(type(x) is int for x in (*var_pack, *var_pack.values(), workspace))
        for kind, first, second, out, geometry in self._nodes:
            arrays = [tensor.at(var_pack[tensor.uid]) for tensor in (first, second, out)]
            _RUN[kind](*arrays, geometry)

    def _execute_with_ptrs(self, user_ptrs: list[int], workspace: int, handle: int) -> None:
        numbers = sorted(t.uid for t in self._tensors if t.uid >= 0)
        self._execute(dict(zip(numbers, user_ptrs, strict=True)), workspace, handle)


def _taps(data: Any, weight: Any, output: Any, geometry: dict[str, Any]) -> Any:
    """Yield, for each group and position of the filter, the slices that meet there.

    Of the padded data (N, C/g, Ho, Wo), of the weight (K/g, C/g), of the output (N, K/g, Ho, Wo).
    """
    groups = data.shape[1] // weight.shape[1]
    (step, _), (dilation, _) = geometry["stride"], geometry["dilation"]
    rows, columns = output.shape[2:]
    for group in range(groups):
        ins = slice(group * weight.shape[1], (group + 1) * weight.shape[1])
        per_group = weight.shape[0] // groups
        outs = slice(group * per_group, (group + 1) * per_group)
        for r, s in np.ndindex(*weight.shape[2:]):
            down = slice(r * dilation, r * dilation + (rows - 1) * step + 1, step)
            across = slice(s * dilation, s * dilation + (columns - 1) * step + 1, step)
            yield data[:, ins, down, across], weight[outs, :, r, s], output[:, outs]


def _padded(shape: tuple[int, ...], geometry: dict[str, Any]) -> Any:
    p, q = geometry["padding"]
    return np.zeros((*shape[:2], shape[2] + 2 * p, shape[3] + 2 * q))


def _inside(padded: Any, geometry: dict[str, Any]) -> Any:
    p, q = geometry["padding"]
    return padded[:, :, p : padded.shape[2] - p, q : padded.shape[3] - q]


def _forward(image: Any, weight: Any, out: Any, geometry: dict[str, Any]) -> None:
    data, total = _padded(image.shape, geometry), np.zeros(out.shape)
    _inside(data, geometry)[...] = image
    for x, w, y in _taps(data, weight.astype(float), total, geometry):
        y += np.einsum("nchw,kc->nkhw", x, w)
    out[...] = total.astype(out.dtype)


def _data(loss: Any, weight: Any, out: Any, geometry: dict[str, Any]) -> None:
    total = _padded(out.shape, geometry)
    for x, w, y in _taps(total, weight.astype(float), loss.astype(float), geometry):
        x += np.einsum("nkhw,kc->nchw", y, w)
    out[...] = _inside(total, geometry).astype(out.dtype)


def _filter(image: Any, loss: Any, out: Any, geometry: dict[str, Any]) -> None:
    data, total = _padded(image.shape, geometry), np.zeros(out.shape)
    _inside(data, geometry)[...] = image
    for x, w, y in _taps(data, total, loss.astype(float), geometry):
        w += np.einsum("nchw,nkhw->kc", x, y)
    out[...] = total.astype(out.dtype)


_RUN: dict[str, Callable[..., None]] = {"forward": _forward, "data": _data, "filter": _filter}


def make() -> Any:
    """Return the stand-in."""
    handles: list[int] = []

    def create_handle() -> int:
        handles.append(0)
        return len(handles)

    def set_stream(handle: int, stream: int) -> None:
        assert type(stream) is int
        handles[handle - 1] = stream

    return SimpleNamespace(
        data_type=DataType,
        heur_mode=SimpleNamespace(A=0, B=1, FALLBACK=2),
        numerical_note=SimpleNamespace(DOWN_CONVERT_INPUTS=1, TENSOR_CORE=0),
        norm_forward_phase=SimpleNamespace(INFERENCE=0, TRAINING=1),
        cudnnGraphNotSupportedError=NotSupportedError,
        backend_version_string=lambda: "0.0.0",
        create_handle=create_handle,
        set_stream=set_stream,
        pygraph=_Graph,
    )
