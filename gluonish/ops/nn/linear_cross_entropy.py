"""linear_cross_entropy: the loss of a linear classifier, whose scores never exist as a whole.

`cross_entropy` of ``data weight^T + bias``, by slices of rows. A loss of one number (``mean`` or
``sum``) computes the gradients of a slice while its scores are in memory, and backward only scales
them: three products in all, as with whole scores. With ``recompute``, and for a loss of each row,
whose gradient is not known in advance, backward computes the scores again: four products, and
no memory between forward and backward.

References:
    P. Hsu et al., Liger Kernel: Efficient Triton Kernels for LLM Training, 2024.
    E. Wijmans et al., Cut Your Losses in Large-Vocabulary Language Models, 2024.
"""

import math
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.dtype import FLOAT16, FLOAT32, INT64, is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean
from gluonish.core.spec import UNKNOWN, PartialSpec, Spec, merge_shapes
from gluonish.ops.elementwise.cast import cast
from gluonish.ops.facts import Execution, Gradient, ShapeFacts
from gluonish.ops.linalg.matmul import matmul
from gluonish.ops.nn.cross_entropy import (
    LOSS_ATTRIBUTES,
    Rows,
    Terms,
    check_loss,
    composed_loss,
    fill_rows,
    loss_spec,
    reduced,
    slices_of,
)
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.shape.broadcast_to import broadcast_to
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.composite import composite_gradient
from gluonish.ops.support.precision import accumulator, is_narrow, product, widen

_NAME = "linear_cross_entropy"
_BLOCK = 1 << 22  # elements of a product that is added

_SCHEMA = Schema(recompute=boolean(False), use_bias=boolean(False), **LOSS_ATTRIBUTES)
_INPUTS = ("data", "weight", "label", "bias")


def _active(names: tuple[str, ...], attrs: Attrs) -> tuple[str, ...]:
    return names if attrs["use_bias"] else tuple(name for name in names if name != "bias")


def saves_gradients(attrs: Attrs) -> bool:
    """Whether forward computes the gradients."""
    return attrs["reduction"] != "none" and not attrs["recompute"]


def _infer(
    data: Spec, weight: Spec, label: Spec, bias: Spec | None = None, **attrs: Any
) -> tuple[Spec, ...]:
    if not is_floating(data.dtype) or len(data.shape) < 1:
        raise OperatorError(f"{_NAME}: expected floating data (..., features), got {data}")
    if len(weight.shape) != 2 or weight.shape[1] != data.shape[-1] or weight.dtype != data.dtype:
        raise OperatorError(
            f"{_NAME}: expected weight (classes, {data.shape[-1]}) of {data.dtype.name}, like "
            f"data, got {weight.shape} of {weight.dtype.name}"
        )
    if bias is not None and (bias.shape != weight.shape[:1] or bias.dtype != data.dtype):
        raise OperatorError(
            f"{_NAME}: expected bias {weight.shape[:1]} of {data.dtype.name}, got {bias.shape} of "
            f"{bias.dtype.name}"
        )
    check_loss(_NAME, (*data.shape[:-1], weight.shape[0]), label, attrs)
    loss = loss_spec(label, data.dtype, attrs)
    if not saves_gradients(attrs):
        return (loss,)
    saved = [_saved(x) for x in (data, weight, bias) if x is not None]
    return (loss, Spec((1,), INT64), *saved)


def _saved(spec: Spec) -> Spec:
    """Return the spec of a saved gradient: float16 would lose it before a loss scale applies."""
    return Spec(spec.shape, FLOAT32) if spec.dtype == FLOAT16 else spec


def _complete(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    """Infer the weight's features and dtype from the data, and the bias's shape from the weight."""
    data, weight, _label, *rest = inputs
    features = UNKNOWN if data.shape is None else data.shape[-1]
    shape = merge_shapes((UNKNOWN, features), weight.shape, f"{_NAME} weight")
    inputs[1] = PartialSpec(shape, weight.dtype or data.dtype)
    if rest and shape is not None:
        vector = merge_shapes(shape[:1], rest[0].shape, f"{_NAME} bias")
        inputs[3] = PartialSpec(vector, rest[0].dtype or data.dtype)


class Tools(NamedTuple):
    """The functions that compute a slice.

    Attributes:
        product: ``product(xp, out, a, b, add)`` fills ``out`` with ``a b``, or adds it.
        fill: `fill_rows`, or a faster function that does the same.
        narrow: Whether products read gradients of scores in the dtype of 16-bit data.
    """

    product: Callable[[ModuleType, Any, Any, Any, bool], None]
    fill: Callable[..., None]
    narrow: bool


def _product(xp: ModuleType, out: Any, a: Any, b: Any, add: bool) -> None:
    if not add:
        out[...] = product(xp, a, b)
        return
    step = max(1, _BLOCK // max(1, b.shape[1]))
    for begin in range(0, len(a), step):
        out[begin : begin + step] += product(xp, a[begin : begin + step], b)


REFERENCE = Tools(_product, fill_rows, narrow=False)


class Call(NamedTuple):
    """The inputs of a call, as matrices.

    Attributes:
        x: (rows, features).
        weight: (classes, features).
        bias: (classes,), or None.
        rows: The rows' classes and factors.
        terms: The loss's terms.
    """

    x: Any
    weight: Any
    bias: Any
    rows: Rows
    terms: Terms

    @classmethod
    def of(cls, xp: ModuleType, inputs: Sequence[Any], head: Any, attrs: Attrs) -> "Call":
        """Return the matrices of an operator's inputs.

        Args:
            head: Gradient of the loss, or None.
        """
        data, weight, label, *rest = inputs
        dtype = accumulator(data.dtype)
        rows = Rows.of(xp, _NAME, label, len(weight), dtype, attrs)
        if head is not None:
            rows = rows.times(xp, head, attrs)
        x = data.reshape(len(rows.classes), data.shape[-1])
        bias = rest[0] if rest else None
        return cls(x, weight, bias, rows, Terms.of(attrs, len(weight)))


def run_slices(xp: ModuleType, tools: Tools, call: Call, grads: Sequence[Any] | None) -> Any:
    """Return the losses of the rows, and fill the gradients of data, weight and bias."""
    x, weight, bias, rows, terms = call
    dtype = accumulator(x.dtype)
    losses = xp.zeros(len(x), dtype=dtype)
    slices = list(slices_of(len(x), len(weight), dtype.itemsize))
    if not slices and grads:
        for array in grads:
            array[...] = 0
    buffer = xp.empty((slices[0].stop if slices else 0, len(weight)), dtype=dtype)
    narrow = tools.narrow and is_narrow(x.dtype) and grads is not None
    narrowed = xp.empty(buffer.shape, x.dtype) if narrow else buffer
    sums = None if grads is None else _Sums(xp, grads, dtype)
    for part in slices:
        scores, some = buffer[: part.stop - part.start], rows.part(part)
        tools.product(xp, scores, x[part], weight.T, False)
        if bias is not None:
            scores += widen(bias)
        if sums is None:
            tools.fill(xp, scores, some, losses[part], None, terms)
            continue
        of_scores = narrowed[: len(scores)]
        tools.fill(xp, scores, some, losses[part], of_scores, terms)
        sums.add(tools, x[part], weight, part, of_scores)
    if sums is not None:
        sums.store()
    return losses


class _Sums:
    """Gradients that grow slice by slice, in the dtype of sums."""

    def __init__(self, xp: ModuleType, grads: Sequence[Any], dtype: np.dtype[Any]) -> None:
        self._xp = xp
        self._outputs = grads
        direct = [array.dtype == dtype and array.flags.c_contiguous for array in grads]
        self._arrays = [
            array if good else xp.empty(array.shape, dtype)
            for array, good in zip(grads, direct, strict=True)
        ]
        self._first = True

    def add(self, tools: Tools, x: Any, weight: Any, part: slice, of_scores: Any) -> None:
        """Add the gradients of a slice."""
        xp, again = self._xp, not self._first
        self._first = False
        of_data, of_weight, *of_bias = self._arrays
        of_rows = of_data.reshape(-1, x.shape[1])
        tools.product(xp, of_rows[part], of_scores, weight, False)
        tools.product(xp, of_weight, of_scores.T, x, again)
        if of_bias:
            ones = xp.ones((1, len(x)), of_scores.dtype)
            tools.product(xp, of_bias[0].reshape(1, -1), ones, of_scores, again)

    def store(self) -> None:
        """Round the sums to the outputs, unless these are the sums."""
        for output, array in zip(self._outputs, self._arrays, strict=True):
            if array is not output:
                output[...] = array.reshape(output.shape)


def run_forward(
    xp: ModuleType, tools: Tools, outputs: Any, inputs: Sequence[Any], attrs: Attrs, *, train: bool
) -> None:
    """Fill the operator's outputs; the saved gradients in training only."""
    saves = saves_gradients(attrs)
    loss, *saved = outputs
    grads = None
    if saves:
        computed = train or xp is not np  # reading a flag would wait for the GPU
        saved[0][...] = computed
        grads = saved[1:] if computed else None
    losses = run_slices(xp, tools, Call.of(xp, inputs, None, attrs), grads)
    reduced(xp, loss, losses, attrs)


def run_backward(
    xp: ModuleType, tools: Tools, outputs: Any, values: Sequence[Any], attrs: Attrs
) -> None:
    """Fill the gradients of data, weight and bias: saved ones times the head, or computed."""
    grad, *rest = values
    count = 3 + attrs["use_bias"]
    inputs, saved = rest[:count], rest[count:]
    if saved and (xp is not np or saved[0][0]):
        for out, array in zip(outputs, saved[1:], strict=True):
            head = grad.reshape((1,) * array.ndim)
            if is_narrow(out.dtype):
                out[...] = widen(array) * head
            else:
                xp.multiply(array, head, out=out)
        return
    run_slices(xp, tools, Call.of(xp, inputs, grad, attrs), outputs)


def _kernel(xp: ModuleType, outputs: Any, *inputs: Any, train: bool, **attrs: Any) -> None:
    run_forward(xp, REFERENCE, outputs, inputs, attrs, train=train)


def _backward_kernel(xp: ModuleType, outputs: Any, *values: Any, **attrs: Any) -> None:
    run_backward(xp, REFERENCE, outputs, values, attrs)


def _gradient(g: tuple[V | None, ...], *values: V, **attrs: Any) -> Any:
    count = 3 + attrs["use_bias"]
    inputs, saved = values[:count], values[count + 1 :]
    if g[0] is None:
        return (None,) * count
    options = {name: value for name, value in attrs.items() if name != "train"}
    of_data, of_weight, *of_bias = apply(BACKWARD, (g[0], *inputs, *saved), options)
    return (of_data, of_weight, None, *of_bias)


def _heavy(inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: Attrs) -> int:
    data, weight = inputs[:2]
    return (3 if saves_gradients(attrs) else 1) * data.size * weight.shape[0]


def _outputs(attrs: Attrs) -> int:
    return 4 + attrs["use_bias"] if saves_gradients(attrs) else 1


_SAVED = ("saved", "saved_data", "saved_weight", "saved_bias")


LINEAR_CROSS_ENTROPY = register(
    Operator(
        _NAME,
        _infer,
        _kernel,
        Gradient(_gradient, uses_output=True),
        doc=(
            "Cross entropy of the scores data weight^T + bias with the classes in label.\n\n"
            "The scores never exist as a whole: neither forward nor backward needs memory of\n"
            "their size. With mean and sum, forward computes the gradients in training. With\n"
            "recompute, backward computes the scores again instead: the gradient of weight is not\n"
            "held in between, but a step takes a third more time. The other attributes are those\n"
            "of cross_entropy.\n\n"
            "Shapes: data (..., C), weight (V, C), label (...), bias (V,), output like label, or\n"
            "(1,) for mean and sum."
        ),
        inputs=_INPUTS,
        active_inputs=lambda attrs: _active(_INPUTS, attrs),
        optional={"bias": "use_bias"},
        schema=_SCHEMA,
        aliases=("_npx_linear_cross_entropy",),
        outputs=_outputs,
        visible=1,
        output_names=lambda attrs: ("output", *_SAVED)[: _outputs(attrs)],
        shapes=ShapeFacts(complete=_complete),
        execution=Execution(train_dependent=True, heavy=_heavy),
    )
)


def _composed(grad: Any, data: Any, weight: Any, label: Any, *rest: Any, **attrs: Any) -> Any:
    """Compute `_backward_kernel`'s results with operators."""
    bias = rest[:1] if attrs["use_bias"] else ()

    def loss(data: Any, weight: Any, label: Any, *bias: Any) -> Any:
        wide = accumulator(data.dtype)
        *lead, features = data.shape
        rows, classes = math.prod(lead), weight.shape[0]
        x = reshape(cast(data, wide), (rows, features))
        scores = matmul(x, cast(weight, wide), transpose_b=True)
        if bias:
            scores = scores + broadcast_to(reshape(cast(bias[0], wide), (1, classes)), scores.shape)
        return composed_loss(reshape(scores, (*lead, classes)), label, attrs)

    of_data, of_weight, _, *of_bias = composite_gradient(loss)(grad, data, weight, label, *bias)
    return (of_data, of_weight, *of_bias)


_BACKWARD_INPUTS = ("grad", *_INPUTS, *_SAVED)


def _backward_active(attrs: Attrs) -> tuple[str, ...]:
    saved = _SAVED[: 3 + attrs["use_bias"]] if saves_gradients(attrs) else ()
    return ("grad", *_active(_INPUTS, attrs), *saved)


BACKWARD = register(
    Operator(
        "_linear_cross_entropy_backward",
        lambda grad, data, weight, label, *rest, **attrs: (
            data,
            weight,
            *(rest[:1] if attrs["use_bias"] else ()),
        ),
        _backward_kernel,
        composite_gradient(_composed),
        doc="Gradients of linear_cross_entropy's data, weight and bias.",
        inputs=_BACKWARD_INPUTS,
        active_inputs=_backward_active,
        schema=_SCHEMA,
        outputs=lambda attrs: 2 + attrs["use_bias"],
        execution=Execution(
            heavy=lambda inputs, outputs, a: 3 * inputs[1].size * inputs[2].shape[0]
        ),
    )
)
