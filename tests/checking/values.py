"""ArrayValue: a NumPy array that operators apply to directly, without engine, tape or graph."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.core.spec import Spec
from gluonish.ops.elementwise.arithmetic import Arithmetic
from gluonish.ops.kernel import Kernel
from gluonish.ops.registry import Attrs, Operator, apply, find_operator

# What an operator that draws numbers gets here: always the same, so that results repeat.
KEY = (20240229, 0)


def spec_of(array: Any) -> Spec:
    """Return the shape and dtype of an array."""
    return Spec(tuple(array.shape), array.dtype)


def runtime_attrs(op: Operator, attrs: Attrs, train: bool = True) -> dict[str, Any]:
    """Return attributes with the training mode and the random key that a call adds."""
    extended = dict(attrs)
    if op.train_dependent:
        extended["train"] = train
    if op.draws(attrs):
        extended["key"] = KEY
    return extended


def run_kernel(
    op: Operator, kernel: Kernel, inputs: Sequence[Any], attrs: Attrs, runtime: Attrs
) -> list[Any]:
    """Infer, allocate and fill all outputs.

    The outputs start as bytes that read as NaN in floats, so that a kernel that leaves elements
    out shows.
    """
    specs = op.infer(*[spec_of(x) for x in inputs], **attrs)
    if op.measure is not None:
        shapes = op.measure(np, *inputs, **runtime)
        specs = tuple(Spec(tuple(s), spec.dtype) for s, spec in zip(shapes, specs, strict=True))
    outputs = [np.empty(spec.shape, spec.dtype) for spec in specs]
    for out in outputs:
        out.reshape(-1).view(np.uint8)[...] = 0xFF
    with np.errstate(all="ignore"):
        kernel(np, outputs[0] if op.single else tuple(outputs), *inputs, **runtime)
    return outputs


class ArrayValue(Arithmetic):
    """A NumPy array that every operator runs on at once with its reference kernel.

    Args:
        array: The values.
    """

    __slots__ = ("array",)

    def __init__(self, array: Any) -> None:
        self.array = np.asarray(array)

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents."""
        shape: tuple[int, ...] = self.array.shape
        return shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The element type."""
        dtype: np.dtype[Any] = self.array.dtype
        return dtype

    def __repr__(self) -> str:
        return f"ArrayValue({self.array!r})"

    @staticmethod
    def __apply__(op: Operator, inputs: Sequence[Any], attrs: Attrs) -> Any:
        """Run the reference kernel: one value, or a list where the operator shows several."""
        for x in inputs:
            if type(x) is not ArrayValue:  # a traced value among constants takes the call over
                return type(x).__apply__(op, inputs, attrs)
        plain = {name: value for name, value in attrs.items() if name not in ("train", "key")}
        arrays = [x.array for x in inputs]
        outputs = run_kernel(op, op.kernel, arrays, plain, runtime_attrs(op, plain))
        shown = [ArrayValue(out) for out in outputs[: op.num_visible(plain)]]
        return shown[0] if len(shown) == 1 else shown


def run_operator(name: str, *arrays: Any, **attrs: Any) -> Any:
    """Run an operator's reference kernel on arrays, with attributes as a user writes them.

    Args:
        name: Registry name or alias.
        *arrays: NumPy arrays; those that the operator overwrites are overwritten.
        **attrs: Attributes; the number of inputs of a variadic operator is filled in.

    Returns:
        The visible output, or a list where there are several.

    Raises:
        OperatorError: as the operator's inference says.
    """
    op = find_operator(name)
    if op.variadic is not None:
        attrs.setdefault(op.variadic, len(arrays))
    parsed = op.schema.parse(op.name, attrs)
    if not arrays:
        outputs = run_kernel(op, op.kernel, (), parsed, runtime_attrs(op, parsed))
        return outputs[0]
    result = apply(op, [ArrayValue(x) for x in arrays], parsed)
    return [y.array for y in result] if isinstance(result, list) else result.array
