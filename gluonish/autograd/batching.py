"""Rules that apply an operator to a batch of inputs in one call, for `vmap`.

Batched arrays have the batch on axis 0. A rule gets the inputs of an operator, of which some are
batched, with the shapes of one sample; it returns the batched output, or None if it does not cover
the case. Operators without a rule run sample by sample.
"""

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple

from gluonish.core.spec import Shape
from gluonish.graph.traced_array import TracedNumpyArray
from gluonish.ndarray import stack
from gluonish.ndarray.ndarray import NDArray
from gluonish.numpy.array import as_nd_ndarray, as_np_ndarray, ndarray
from gluonish.ops.registry import Attrs, Operator, apply, find_operator


class Operand(NamedTuple):
    """An input of an operator.

    Attributes:
        data: The array, with the batch on axis 0 if ``batched``.
        batched: Whether each sample has values of its own.
        shape: Shape of one sample.
    """

    data: NDArray
    batched: bool
    shape: Shape


class Call(NamedTuple):
    """A call of an operator on a batch.

    Attributes:
        op: The operator.
        attrs: Its attributes in a call on one sample.
        inputs: Its inputs.
        shape: Shape of the first output for one sample.
        samples: Number of samples.
    """

    op: Operator
    attrs: Attrs
    inputs: Sequence[Operand]
    shape: Shape
    samples: int

    def run(self, *arrays: NDArray, **changed: Any) -> Any:
        """Return the operator's result on other arrays, with other attributes."""
        return apply(self.op, arrays, {**self.attrs, **changed})


Rule = Callable[[Call], Any]


def is_numpy(x: object) -> bool:
    """Whether an array is one of `mx.np`, or stands for one in a trace."""
    return isinstance(x, ndarray | TracedNumpyArray)


def in_class(found: NDArray, x: NDArray) -> NDArray:
    """Return an array of `mx.np` in the class of another array."""
    return found if is_numpy(x) else as_nd_ndarray(found)


def reshaped(x: NDArray, shape: Sequence[int]) -> NDArray:
    """Return an array of another shape, where 0 is an extent of 0."""
    flexible: Any = as_np_ndarray(x)
    return in_class(flexible.reshape(tuple(shape)), x)


def repeated(x: NDArray, count: int) -> NDArray:
    """Return ``count`` copies of an array, stacked."""
    found = as_np_ndarray(stack(*[x] * count, axis=0))
    return in_class(found, x)


def batched(x: Operand, count: int) -> NDArray:
    """Return the batch of an operand, copies of it if it is not batched."""
    return x.data if x.batched else repeated(x.data, count)


def _padded(x: Operand, rank: int) -> NDArray:
    """Return an operand with axes of extent 1 between the batch and a sample's axes."""
    ones = (1,) * (rank - len(x.shape))
    batch = x.data.shape[0] if x.batched else 1
    return reshaped(x.data, (batch, *ones, *x.shape))


def _elementwise(call: Call) -> Any:
    """Elementwise operators, with broadcasting where they have it."""
    ranks = {len(x.shape) for x in call.inputs}
    broadcasts = call.op.name.startswith(("broadcast_", "_npi_"))
    if broadcasts and len(call.inputs) > 1:
        return call.run(*(_padded(x, max(ranks)) for x in call.inputs))
    if len({x.shape for x in call.inputs}) > 1:
        return None
    return call.run(*(batched(x, call.samples) for x in call.inputs))


def _only_first(call: Call) -> bool:
    """Whether input 0 alone is batched."""
    return [x.batched for x in call.inputs] == [True] + [False] * (len(call.inputs) - 1)


def _reduction(call: Call) -> Any:
    """Reductions: their axes move by one."""
    if len(call.inputs) != 1:
        return None
    rank, axis = len(call.inputs[0].shape), call.attrs["axis"]
    if axis is None or axis == ():
        axes = tuple(range(rank))
        if not isinstance(call.attrs.get("keepdims"), bool):
            return None
    else:
        axes = tuple(a % rank for a in (axis if isinstance(axis, tuple) else (axis,)))
    if call.attrs.get("exclude"):
        axes = tuple(a for a in range(rank) if a not in axes)
    if not axes:
        return None
    shifted = tuple(a + 1 for a in axes)
    changed: dict[str, Any] = {"exclude": False} if "exclude" in call.attrs else {}
    only = isinstance(axis, int) and not isinstance(axis, bool)
    found = call.run(call.inputs[0].data, axis=shifted[0] if only else shifted, **changed)
    return reshaped(found, (call.samples, *call.shape))  # of `mx.nd`, a sum has the shape (1,)


def _along_axis(call: Call) -> Any:
    """Operators along one axis of their only input."""
    if len(call.inputs) != 1 or not isinstance(axis := call.attrs.get("axis"), int):
        return None
    return call.run(call.inputs[0].data, axis=axis % len(call.inputs[0].shape) + 1)


def _join(call: Call) -> Any:
    """Concatenation and stacking."""
    name = "dim" if "dim" in call.attrs else "axis"
    axis = call.attrs[name]
    if not isinstance(axis, int):
        return None
    return call.run(
        *(batched(x, call.samples) for x in call.inputs), **{name: axis % len(call.shape) + 1}
    )


def _view(call: Call) -> Any:
    """Operators whose output has the elements of input 0 in their order."""
    return reshaped(call.inputs[0].data, (call.samples, *call.shape)) if _only_first(call) else None


def _transpose(call: Call) -> Any:
    rank = len(call.inputs[0].shape)
    axes = call.attrs.get("axes") or tuple(reversed(range(rank)))
    return call.run(call.inputs[0].data, axes=(0, *(a % rank + 1 for a in axes)))


def _slice(call: Call) -> Any:
    begin, end, step = (tuple(call.attrs[name] or ()) for name in ("begin", "end", "step"))
    steps = (1, *(step or (1,) * len(begin)))
    return call.run(call.inputs[0].data, begin=(0, *begin), end=(call.samples, *end), step=steps)


def _samples_first(call: Call) -> Any:
    """Layers whose samples have a batch on axis 0 themselves: both batches become one."""
    if not _only_first(call):
        return None
    shape = call.inputs[0].shape
    data = reshaped(call.inputs[0].data, (call.samples * shape[0], *shape[1:]))
    found = call.run(data, *(x.data for x in call.inputs[1:]))
    return reshaped(found, (call.samples, *call.shape))


def _fully_connected(call: Call) -> Any:
    if call.attrs["flatten"]:
        return _samples_first(call)
    return call.run(*(x.data for x in call.inputs)) if _only_first(call) else None


def _last_axis(call: Call) -> Any:
    """Layers that normalize the last axis."""
    rank = len(call.inputs[0].shape)
    if not _only_first(call) or call.attrs.get("axis", -1) % rank != rank - 1:
        return None
    data = reshaped(call.inputs[0].data, (-1, call.inputs[0].shape[-1]))
    return reshaped(
        call.run(data, *(x.data for x in call.inputs[1:]), axis=-1), (call.samples, *call.shape)
    )


def _lookup(call: Call) -> Any:
    """Rows of a table that all samples share."""
    is_table_first = call.op.name == "take"
    indices = call.inputs[0 if not is_table_first else 1]
    shared = not call.inputs[1 if not is_table_first else 0].batched
    if not (indices.batched and shared and call.attrs.get("axis", 0) == 0):
        return None
    return call.run(*(x.data for x in call.inputs))


def _matmul(call: Call) -> Any:
    """Matrix products of `mx.np`, whose leading axes broadcast."""
    first, second = call.inputs
    a, b = (x.shape for x in call.inputs)
    if not a or not b:
        return None
    first = first._replace(shape=(1, *a)) if len(a) == 1 else first
    second = second._replace(shape=(*b, 1)) if len(b) == 1 else second
    rank = max(len(first.shape), len(second.shape))
    found = call.run(_padded(first, rank), _padded(second, rank))
    return reshaped(found, (call.samples, *call.shape))


def _batch_dot(call: Call) -> Any:
    """Products of matrices one by one: the samples' and their own batches become one."""
    arrays = [
        reshaped(batched(x, call.samples), (call.samples * x.shape[0], *x.shape[1:]))
        for x in call.inputs
    ]
    return reshaped(call.run(*arrays), (call.samples, *call.shape))


def _dot(call: Call) -> Any:
    """Products of vectors and matrices of `mx.nd`."""
    first, second = call.inputs
    a, b = (len(x.shape) for x in call.inputs)
    if not (1 <= a <= 2 and 1 <= b <= 2):
        return None
    flip_a, flip_b = (bool(call.attrs.get(f"transpose_{n}")) for n in "ab")
    if _only_first(call) and not (flip_a and a == 2):
        found = call.run(first.data, second.data, transpose_a=False)
    elif not first.batched and b == 1 and a == 2:
        found = call.run(second.data, first.data, transpose_a=False, transpose_b=not flip_a)
    else:
        left = first if a == 2 else first._replace(shape=(1, *first.shape))
        right = second if b == 2 else second._replace(shape=(*second.shape, 1))
        arrays = [
            reshaped(batched(old, call.samples), (call.samples, *new.shape))
            for old, new in ((first, left), (second, right))
        ]
        flips = dict(call.attrs, transpose_a=flip_a and a == 2, transpose_b=flip_b and b == 2)
        found = apply(find_operator("batch_dot"), arrays, flips)
    return reshaped(found, (call.samples, *call.shape))


_RULES: dict[str, Rule] = {
    **dict.fromkeys(
        (
            *("sum", "mean", "prod", "nansum", "nanprod", "max", "min", "_np_sum", "_np_prod"),
            *("_npi_mean", "_np_max", "_np_min", "_npi_std", "_npi_var", "_np_any", "_np_all"),
        ),
        _reduction,
    ),
    **dict.fromkeys(
        ("softmax", "log_softmax", "softmin", "sort", "argsort", "_np_cumsum", "_npi_cumprod"),
        _along_axis,
    ),
    **dict.fromkeys(("Concat", "stack", "_npi_concatenate", "_npi_stack"), _join),
    **dict.fromkeys(("transpose", "_np_transpose"), _transpose),
    "slice": _slice,
    **dict.fromkeys(("Convolution", "Deconvolution", "Pooling"), _samples_first),
    "FullyConnected": _fully_connected,
    **dict.fromkeys(("LayerNorm", "rms_norm"), _last_axis),
    **dict.fromkeys(("Embedding", "take"), _lookup),
    **dict.fromkeys(("_npi_matmul",), _matmul),
    "dot": _dot,
    "batch_dot": _batch_dot,
    **dict.fromkeys(("where", "_npi_where"), _elementwise),
}


def rule_of(op: Operator) -> Rule | None:
    """Return the rule of an operator, if there is one."""
    if op.name in _RULES:
        return _RULES[op.name]
    if op.identity and op.single:
        return _view
    if op.elementwise and op.single and op.stateless and "axis" not in op.schema.attributes:
        return _elementwise
    return None


def sample(x: Operand, index: int) -> NDArray:
    """Return an operand of one sample."""
    return reshaped(x.data[index], x.shape) if x.batched else x.data


def apply_batched(call: Call) -> list[NDArray]:
    """Return the batched outputs of an operator, in one call if there is a rule, else of a loop."""
    rule = rule_of(call.op) if prod(call.shape) else None
    found = None if rule is None else rule(call)
    if found is not None:
        assert found.shape == (call.samples, *call.shape), call.op.name
        return [found]
    rows = []
    for i in range(call.samples):
        outs = apply(call.op, [sample(x, i) for x in call.inputs], call.attrs)
        rows.append(outs if isinstance(outs, list) else [outs])
    return [stack(*column, axis=0) for column in zip(*rows, strict=True)]
