"""Convolution and FullyConnected with a fused addend and activation."""

from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Attribute, Schema, boolean
from gluonish.core.spec import PartialSpec, Spec
from gluonish.ops.facts import Execution, Gradient, ShapeFacts
from gluonish.ops.fused.activation import ATTRIBUTES, Finish, finish, finished, finished_gradient
from gluonish.ops.nn.convolution import CONVOLUTION
from gluonish.ops.nn.dense import FULLY_CONNECTED
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.support.composite import composite_gradient


def register_fused(base: Operator, name: str, doc: str, **extra: Attribute) -> Operator:
    """Register ``activation(base(data, weight, bias) + addend)``.

    Args:
        base: An operator with inputs data, weight and, unless ``no_bias``, bias, and one output.
        extra: Further attributes, which do not affect the result.

    Returns:
        An operator with the inputs and attributes of ``base``, `ATTRIBUTES` and ``extra``; with
        ``with_sum``, the last input is addend.
    """
    fused = _Fused(base, name)
    return register(
        Operator(
            name,
            fused.infer,
            fused.kernel,
            Gradient(fused.gradient, uses_output=True),
            doc=doc,
            inputs=(*base.inputs, "addend"),
            active_inputs=fused.active_inputs,
            schema=Schema(**base.schema.attributes, **ATTRIBUTES, **extra),
            shapes=ShapeFacts(complete=fused.complete),
            execution=Execution(
                overwrites=lambda attrs: (
                    len(base.input_names(attrs)) if attrs["with_sum"] else None
                ),
                heavy=base.heavy,
            ),
        )
    )


class _Fused:
    """Inference, kernel and gradient of a fused operator, derived from its base operator."""

    __slots__ = ("_composed_gradient", "base", "name")

    def __init__(self, base: Operator, name: str) -> None:
        self.base = base
        self.name = name
        self._composed_gradient = composite_gradient(self._composed)

    def _split(self, inputs: Any, attrs: Attrs) -> tuple[Any, Any, dict[str, Any], Finish]:
        """Return the base's inputs, the addend or None, the base's attributes, and the epilogue."""
        epilogue = Finish(*(attrs[name] for name in Finish._fields))
        plain = {name: attrs[name] for name in self.base.schema.attributes}
        if epilogue.with_sum:
            return inputs[:-1], inputs[-1], plain, epilogue
        return inputs, None, plain, epilogue

    def active_inputs(self, attrs: Attrs) -> tuple[str, ...]:
        names = self.base.input_names(attrs)
        return (*names, "addend") if attrs["with_sum"] else names

    def infer(self, *inputs: Spec, **attrs: Any) -> tuple[Spec, ...]:
        specs, addend, plain, _ = self._split(inputs, attrs)
        outputs = self.base.infer(*specs, **plain)
        if addend is not None and addend != outputs[0]:
            raise OperatorError(f"{self.name}: expected addend {outputs[0]}, got {addend}")
        return outputs

    def kernel(self, xp: ModuleType, out: Any, *inputs: Any, **attrs: Any) -> None:
        arrays, addend, plain, epilogue = self._split(inputs, attrs)
        # out may alias the addend.
        result = out if addend is None else xp.empty(out.shape, out.dtype)
        self.base.kernel(xp, result, *arrays, **plain)
        finish(xp, out, result, addend, epilogue)

    def _composed(self, *inputs: Any, **attrs: Any) -> Any:
        values, addend, plain, epilogue = self._split(inputs, attrs)
        return finished(apply(self.base, values, plain), addend, epilogue)

    def gradient(self, g: V, *values: Any, **attrs: Any) -> tuple[Any, ...]:
        *inputs, out = values
        arrays, _, plain, epilogue = self._split(inputs, attrs)
        inner = finished_gradient(g, out, epilogue)
        if inner is None:
            return self._composed_gradient(g, *inputs, **attrs)
        assert self.base.gradient is not None
        found = tuple(self.base.gradient(inner, *arrays, **plain))
        return (*found, inner) if epilogue.with_sum else found

    def complete(self, inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
        known, addend, plain, _ = self._split(inputs, attrs)
        assert self.base.complete is not None
        known = list(known)
        self.base.complete(known, outputs, plain)
        inputs[: len(known)] = known
        if addend is not None:
            inputs[-1] = outputs[0]


FUSED_CONVOLUTION = register_fused(
    CONVOLUTION,
    "_fused_convolution",
    "activation(Convolution(data, weight, bias) + addend).\n\n"
    "Inputs and attributes of Convolution; with with_sum, addend has the shape of the output,\n"
    "which may alias it. alpha and beta are parameters of the activation: the slope of leaky\n"
    "and elu, the bounds of clip, the factor in swish.",
)


FUSED_DENSE = register_fused(
    FULLY_CONNECTED,
    "_fused_dense",
    (
        "activation(FullyConnected(data, weight, bias) + addend).\n\n"
        "Inputs and attributes of FullyConnected; with with_sum, addend has the shape of the\n"
        "output, which may alias it. alpha and beta are parameters of the activation: the\n"
        "slope of leaky and elu, the bounds of clip, the factor in swish. packed: whether the\n"
        "weight rarely changes, so that a kernel may pack it in advance."
    ),
    packed=boolean(False),
)
