"""Graphs of cuDNN's frontend, 1.18 to 1.26, for a convolution or one of its gradients.

Dimensions are logical, (N, C, H, W) and (filters, channels of a group, R, S), with D before H for
three axes; strides define the memory layout, which is the same for all tensors of a problem:
engines with tensor cores read channels-last memory, and have no kernels for mixed layouts. One
spatial axis becomes two, the first of extent 1. Tensors have ids, by which a plan gets their
addresses.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.dtype import BFLOAT16, FLOAT16, FLOAT32
from gluonish.core.spec import Shape

DATA, WEIGHT, OUT, BIAS, ADDEND = 1, 2, 3, 4, 5
DTYPES = {FLOAT32: "FLOAT", FLOAT16: "HALF", BFLOAT16: "BFLOAT16"}
# The two tensors that each kind of problem reads, and the tensor that it writes.
_ROLES = {
    "forward": (DATA, WEIGHT, OUT),
    "data": (OUT, WEIGHT, DATA),
    "weight": (DATA, OUT, WEIGHT),
}
_MAX_SIZE = 2**31  # elements per array, as engines may count in 32 bits


class Problem(NamedTuple):
    """A convolution, or one of its gradients, that a plan computes; the plan's cache key.

    Attributes:
        kind: What to compute: ``forward``, or the gradient of ``data`` or ``weight``.
        dtype: Dtype of all arrays; sums are float32.
        data: Logical shape of the data, (N, C, *spatial).
        weight: Logical shape of the weight, (filters, channels of a group, *kernel).
        out: Logical shape of the output, (N, filters, *spatial).
        stride: The operator's attribute; empty for all ones.
        dilate: The operator's attribute; empty for all ones.
        pad: The operator's attribute; empty for all zeros.
        last: Whether the channels of all arrays are last in memory.
        has_bias: Whether to add a bias.
        has_addend: Whether to add an array of the output's shape, after the bias.
        activation: Function to apply then, by its name among the activations of
            `gluonish.ops.fused.activation`, and its parameter alpha or beta; None for none.
        aligned: Whether all addresses are multiples of 16 bytes.
        tensor_cores: Whether to allow tensor cores, which round float32.
        limit: Maximum size of the workspace in bytes; None for no limit.
        measured: Whether to choose the engine by time (`gluonish.kernels.cupy.cudnn_trial`).
    """

    kind: str
    dtype: np.dtype[Any]
    data: Shape
    weight: Shape
    out: Shape
    stride: Shape
    dilate: Shape
    pad: Shape
    last: bool
    has_bias: bool
    has_addend: bool
    activation: tuple[str, float] | None
    aligned: bool
    tensor_cores: bool
    limit: int | None
    measured: bool = False

    def build(self, front_end: Any, handle: int) -> Any:
        """Return the graph of the problem, with its plan built; see `cudnn.Problem`."""
        return build(front_end, handle, self)

    def prepare(self, front_end: Any, handle: int) -> Any:
        """Return the graph of the problem before any plan is built; see `cudnn.Problem`."""
        return prepare(front_end, handle, self)


def _dense(dims: Sequence[int], last: bool) -> list[int]:
    """Return the strides, in elements, of a contiguous array."""
    axes = [0, *range(2, len(dims)), 1] if last else range(len(dims))
    strides, step = [0] * len(dims), 1
    for axis in reversed(axes):
        strides[axis] = step
        step *= dims[axis]
    return strides


class _Graph:
    """Builds the frontend's graph of a problem."""

    def __init__(self, front_end: Any, handle: int, problem: Problem) -> None:
        kinds = front_end.data_type
        kind = getattr(kinds, DTYPES[problem.dtype])
        self.raw = front_end.pygraph(
            io_data_type=kind,
            intermediate_data_type=kinds.FLOAT,
            compute_data_type=kinds.FLOAT,
            handle=handle,
        )
        self._problem = problem
        shapes = {DATA: problem.data, WEIGHT: problem.weight, OUT: problem.out}
        self._dims = {number: self._logical(shape) for number, shape in shapes.items()}

    def _logical(self, shape: Shape) -> list[int]:
        n, c, *spatial = shape
        return [n, c, *([1] if len(spatial) == 1 else []), *spatial]

    def _along(self, values: Shape, fill: int) -> list[int]:
        """Return an attribute's values for each of cuDNN's spatial axes."""
        rank = len(self._problem.data) - 2
        return [*([fill] if rank == 1 else []), *(values or (fill,) * rank)]

    def _read(self, number: int, dims: list[int]) -> Any:
        strides = _dense(dims, self._problem.last)
        tensor = self.raw._make_tensor(dim=dims, stride=strides, uid=number, name=f"t{number}")
        return self._aligned(tensor)

    def _aligned(self, tensor: Any) -> Any:
        aligned = self._problem.aligned
        return tensor if aligned else tensor.set_alignment(self._problem.dtype.itemsize)

    def _set_layout(self, tensor: Any, number: int) -> Any:
        """Set the extents and strides of a result, which cuDNN cannot infer for gradients."""
        dims = self._dims[number]
        return tensor.set_dim(dims).set_stride(_dense(dims, self._problem.last))

    def fill(self) -> None:
        """Add the convolution, and the bias if the problem has one."""
        problem = self._problem
        first, second, result = _ROLES[problem.kind]
        a, b = (self._read(number, self._dims[number]) for number in (first, second))
        window = {
            "padding": self._along(problem.pad, 0),
            "stride": self._along(problem.stride, 1),
            "dilation": self._along(problem.dilate, 1),
        }
        if problem.kind == "forward":
            out = self.raw.conv_fprop(image=a, weight=b, **window)
        elif problem.kind == "data":
            out = self.raw.conv_dgrad(loss=a, filter=b, **window)
        else:
            out = self.raw.conv_wgrad(image=a, loss=b, **window)
        out = self._with_epilogue(out)
        self._aligned(self._set_layout(out.set_output(True).set_uid(result), result))

    def _with_epilogue(self, out: Any) -> Any:
        """Return the result of the convolution after bias, addend and activation."""
        problem, dims = self._problem, self._dims[OUT]
        if problem.has_bias:
            bias = self._read(BIAS, [1, dims[1], *[1] * (len(dims) - 2)])
            out = self.raw.bias(input=self._set_layout(out, OUT), bias=bias)
        if problem.has_addend:
            out = self.raw.add(a=self._set_layout(out, OUT), b=self._read(ADDEND, dims))
        if problem.activation is not None:
            name, parameter = problem.activation
            apply = _ACTIVATIONS[name]
            out = apply(self.raw, self._set_layout(out, OUT), parameter)
        return out


# Functions that the frontend has as nodes, given their parameter.
_ACTIVATIONS: Mapping[str, Callable[[Any, Any, float], Any]] = {
    "relu": lambda raw, x, _: raw.relu(input=x),
    "clip": lambda raw, x, upper: raw.relu(input=x, upper_clip=upper),  # from 0
    "leaky": lambda raw, x, slope: raw.relu(input=x, negative_slope=slope),
    "sigmoid": lambda raw, x, _: raw.sigmoid(input=x),
    "tanh": lambda raw, x, _: raw.tanh(input=x),
    "swish": lambda raw, x, factor: raw.swish(input=x, swish_beta=factor),
}


FUNCTIONS = tuple(_ACTIVATIONS)


def activation_of(name: str, alpha: float, beta: float) -> tuple[str, float] | None:
    """Return the entry of a `Problem` for an activation; None if the frontend has no node."""
    if name == "clip":
        return ("clip", beta) if alpha == 0 else None
    return (name, alpha) if name in _ACTIVATIONS else None


def build(front_end: Any, handle: int, problem: Problem) -> Any:
    """Return the graph of a problem, with the plan of the heuristics' first engine built.

    Raises:
        Exception: As in `prepare`.
    """
    graph = prepare(front_end, handle, problem)
    graph.build_plans()
    return graph


def prepare(front_end: Any, handle: int, problem: Problem) -> Any:
    """Return the graph of a problem, with the engines that it may have.

    Args:
        handle: cuDNN's handle, for the current device.

    Raises:
        Exception: ``front_end.cudnnGraphNotSupportedError`` if cuDNN has no engine; a RuntimeError
            or ValueError for earlier failures.
    """
    if any(math.prod(shape) >= _MAX_SIZE for shape in (problem.data, problem.weight, problem.out)):
        raise ValueError(f"expected arrays of fewer than {_MAX_SIZE} elements")
    made = _Graph(front_end, handle, problem)
    made.fill()
    graph, modes = made.raw, front_end.heur_mode
    graph.validate()
    graph.build_operation_graph()
    graph.create_execution_plans([modes.A, modes.FALLBACK])
    graph.deselect_numeric_notes(_excluded(front_end.numerical_note, problem))
    if problem.limit is not None:
        graph.deselect_workspace_greater_than(problem.limit)
    graph.check_support()
    return graph


def _excluded(notes: Any, problem: Problem) -> list[Any]:
    """Return the numerical notes of engines that the plan must not use."""
    found = [notes.NONDETERMINISTIC, notes.REDUCED_PRECISION_REDUCTION]
    if not problem.tensor_cores:
        found += [notes.TENSOR_CORE, notes.DOWN_CONVERT_INPUTS]
    return found
