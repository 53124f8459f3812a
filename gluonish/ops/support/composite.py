"""Gradients of composite operators, by differentiating the composition.

The second derivative of batch normalization would take a page of algebra. Instead, the operator's
result is rewritten with differentiable operators, and `composite_gradient` turns that function into
a gradient rule: it traces the function and backpropagates through the trace.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from gluonish.core.errors import AutogradError
from gluonish.core.order import post_order
from gluonish.ops.elementwise.arithmetic import Arithmetic
from gluonish.ops.registry import Attrs, Operator, apply


def evaluate(entry: Any) -> Any:
    """Evaluate an entry of a gradient rule: a value, None, or a function that computes it."""
    return entry() if callable(entry) else entry


def input_gradients(
    op: Operator,
    grads: Sequence[Any],
    inputs: Sequence[Any],
    outputs: Sequence[Any],
    attrs: Attrs,
    requires_grad: Iterable[bool],
) -> list[Any]:
    """Call an operator's gradient rule and evaluate the requested entries.

    Args:
        grads: Gradient of every output, or None; at least one is not None unless the operator
            ignores head gradients.
        inputs: The operator's inputs.
        outputs: All of the operator's outputs; may be empty unless the rule uses them.
        requires_grad: For each input, whether its gradient is needed.

    Returns:
        One gradient or None for each input.

    Raises:
        AutogradError: The operator has no gradient.
    """
    if op.gradient is None:
        raise AutogradError(
            f"{op.name}: expected a differentiable operator, got one without gradient"
        )
    g = grads[0] if op.single else tuple(grads)
    values = (*inputs, *outputs) if op.gradient_uses_output else inputs
    entries = op.gradient(g, *values, **attrs)
    return [evaluate(e) if want else None for e, want in zip(entries, requires_grad, strict=True)]


class _Step:
    """One traced operator call."""

    __slots__ = ("attrs", "inputs", "op", "outputs")

    def __init__(self, op: Operator, attrs: Attrs, inputs: Sequence[Any]) -> None:
        self.op = op
        self.attrs = attrs
        self.inputs = inputs
        self.outputs: list[_Traced] = []


class _Traced(Arithmetic):
    """A value, with the traced call that produced it."""

    __slots__ = ("index", "step", "value")

    def __init__(self, value: Any, step: _Step | None = None, index: int = 0) -> None:
        self.value = value
        self.step = step
        self.index = index

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the value."""
        shape: tuple[int, ...] = self.value.shape
        return shape

    @property
    def dtype(self) -> Any:
        """Element type of the value."""
        return self.value.dtype

    @staticmethod
    def __apply__(op: Operator, inputs: Sequence[Any], attrs: Attrs) -> Any:
        step = _Step(op, attrs, inputs)
        result = apply(op, [x.value if type(x) is _Traced else x for x in inputs], attrs)
        results = result if isinstance(result, list) else [result]
        step.outputs = [_Traced(value, step, i) for i, value in enumerate(results)]
        return step.outputs if isinstance(result, list) else step.outputs[0]


def composite_gradient(function: Callable[..., Any]) -> Callable[..., tuple[Any, ...]]:
    """Return the gradient rule of an operator that is equivalent to ``function``.

    Args:
        function: ``function(*inputs, **attrs)``, composed of operators whose outputs are all
            visible; returns a value, or a tuple of values in the order of the operator's outputs.

    Returns:
        A rule for `Operator.gradient`, with an entry for each input.
    """

    def gradient(g: Any, *inputs: Any, **attrs: Any) -> tuple[Any, ...]:
        leaves = [_Traced(value) for value in inputs]
        outputs = function(*leaves, **attrs)
        if not isinstance(outputs, tuple):
            outputs, g = (outputs,), (g,)
        grads = {id(out): [h] for out, h in zip(outputs, g, strict=False) if h is not None}
        made_by = [out.step for out in outputs if out.step is not None]
        _walk_back(post_order(made_by, _steps_before), grads)
        return tuple(_total(grads, leaf) for leaf in leaves)

    return gradient


def _steps_before(step: _Step) -> list[_Step]:
    """Return the calls that produced a call's inputs."""
    return [x.step for x in step.inputs if type(x) is _Traced and x.step is not None]


def _walk_back(order: Sequence[_Step], grads: dict[int, list[Any]]) -> None:
    for step in reversed(order):
        heads = [_total(grads, out) for out in step.outputs]
        if all(head is None for head in heads):
            continue
        inputs = [x.value if type(x) is _Traced else x for x in step.inputs]
        outputs = [out.value for out in step.outputs]
        requires_grad = [type(x) is _Traced for x in step.inputs]
        found = input_gradients(step.op, heads, inputs, outputs, step.attrs, requires_grad)
        for x, gradient in zip(step.inputs, found, strict=True):
            if gradient is not None:
                grads.setdefault(id(x), []).append(gradient)


def _total(grads: Mapping[int, Sequence[Any]], value: _Traced) -> Any:
    parts = grads.get(id(value))
    if not parts:
        return None
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total
