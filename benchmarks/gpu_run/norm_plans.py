"""Plans of cuDNN's front end for normalization and attention: does cuDNN have them, how fast.

Statistics and scales are float32; epsilon and momentum are numbers of the host's memory. Numbers of
tensors count from 1 in the order in which they are made; outputs follow the inputs.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.gpu_run.cudnn_plans import Plan, strides_of

Shape = tuple[int, ...]


class _Builder:
    """Adds tensors to a plan, and remembers what memory they need.

    Attributes:
        sizes: Elements of each tensor on the device, and whether it is float32, by number.
        numbers: Numbers of the host's memory, by tensor.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._count = 0
        self.sizes: dict[int, tuple[int, bool]] = {}
        self.numbers: dict[int, Any] = {}

    def data(self, dims: Shape, strides: Sequence[int]) -> Any:
        """Return a tensor of the plan's type."""
        return self._plan.tensor(self._next(dims, False), dims, strides)

    def single(self, dims: Shape) -> Any:
        """Return a dense tensor of float32."""
        kind = self._plan.frontend.data_type.FLOAT
        number = self._next(dims, True)
        return self._plan.tensor(number, dims, strides_of(dims, "NHWC"), data_type=kind)

    def number(self, value: float) -> Any:
        """Return a number that goes by value."""
        kind = self._plan.frontend.data_type.FLOAT
        self._count += 1
        self.numbers[self._count] = np.full(1, value, np.float32)
        return self._plan.tensor(
            self._count, (1, 1, 1, 1), (1, 1, 1, 1), data_type=kind, is_pass_by_value=True
        )

    def outputs(self, made: Sequence[Any], dims: Sequence[Shape], singles: Sequence[bool]) -> None:
        """Make tensors outputs."""
        kind = self._plan.frontend.data_type.FLOAT
        for tensor, extents, single in zip(made, dims, singles, strict=True):
            tensor.set_output(True).set_uid(self._next(extents, single))
            if single:
                tensor._set_data_type(kind)

    def laid(self, tensor: Any, dims: Shape, strides: Sequence[int]) -> None:
        """Say how an output lies in memory."""
        tensor.set_dim(list(dims)).set_stride(list(strides))

    def _next(self, dims: Shape, single: bool) -> int:
        self._count += 1
        self.sizes[self._count] = (int(np.prod(dims)), single)
        return self._count


def _batch_norm(plan: Plan, build: _Builder, dims: Shape, backward: bool) -> None:
    strides, channels = strides_of(dims, "NHWC"), (1, dims[1], 1, 1)
    if backward:
        grad, x = build.data(dims, strides), build.data(dims, strides)
        scale, mean, inverse = (build.single(channels) for _ in range(3))
        made = plan.graph.batchnorm_backward(
            grad=grad, input=x, scale=scale, mean=mean, inv_variance=inverse
        )
        build.outputs(made, [dims, channels, channels], [False, True, True])
        return
    x = build.data(dims, strides)
    scale, bias, mean, variance = (build.single(channels) for _ in range(4))
    made = plan.graph.batchnorm(
        input=x,
        scale=scale,
        bias=bias,
        in_running_mean=mean,
        in_running_var=variance,
        epsilon=build.number(1e-5),
        momentum=build.number(0.1),
    )
    build.outputs(made, [dims, *[channels] * 4], [False, *[True] * 4])


def _layer_norm(plan: Plan, build: _Builder, dims: Shape, backward: bool) -> None:
    strides, rows, columns = strides_of(dims, "NHWC"), (dims[0], 1, 1, 1), (1, dims[1], 1, 1)
    if backward:
        grad, x = build.data(dims, strides), build.data(dims, strides)
        scale, mean, inverse = build.single(columns), build.single(rows), build.single(rows)
        made = plan.graph.layernorm_backward(
            grad=grad, input=x, scale=scale, mean=mean, inv_variance=inverse
        )
        build.outputs(made, [dims, columns, columns], [False, True, True])
        return
    x, scale, bias = build.data(dims, strides), build.single(columns), build.single(columns)
    made = plan.graph.layernorm(
        norm_forward_phase=plan.frontend.norm_forward_phase.TRAINING,
        input=x,
        scale=scale,
        bias=bias,
        epsilon=build.number(1e-5),
    )
    build.outputs(made, [dims, rows, rows], [False, True, True])


def _attention(plan: Plan, build: _Builder, dims: Shape, backward: bool) -> None:
    batch, heads, length, units = dims
    strides = [heads * length * units, length * units, units, 1]
    statistics, scale = (batch, heads, length, 1), float(units) ** -0.5
    q, k, v = (build.data(dims, strides) for _ in range(3))
    if backward:
        o, grad = build.data(dims, strides), build.data(dims, strides)
        kind = plan.frontend.data_type.FLOAT
        number = build._next(statistics, True)
        rows = [heads * length, length, 1, 1]
        stats = plan.tensor(number, statistics, rows, data_type=kind)
        made = plan.graph.sdpa_backward(q=q, k=k, v=v, o=o, dO=grad, stats=stats, attn_scale=scale)
        build.outputs(made, [dims] * 3, [False] * 3)
        for tensor in made:
            build.laid(tensor, dims, strides)
        return
    made = plan.graph.sdpa(q=q, k=k, v=v, attn_scale=scale, generate_stats=True)
    build.outputs(made, [dims, statistics], [False, True])
    build.laid(made[0], dims, strides)
    build.laid(made[1], statistics, [heads * length, length, 1, 1])


KINDS: dict[str, Callable[[Plan, _Builder, Shape, bool], None]] = {
    "batch norm": _batch_norm,
    "layer norm": _layer_norm,
    "attention": _attention,
}


def add_operation(plan: Plan, kind: str, dims: Shape, *, backward: bool) -> _Builder:
    """Add an operation to a plan.

    Args:
        plan: A new one.
        kind: A key of `KINDS`.
        dims: Of its data: (N, C, H, W); (rows, columns, 1, 1); (N, heads, T, units).
        backward: Whether it is the gradient.

    Returns:
        What memory its tensors need.
    """
    builder = _Builder(plan)
    KINDS[kind](plan, builder, dims, backward)
    return builder
