"""swiglu and geglu: SiLU or GELU of one array times another one, or of halves of one array.

`GATED` and `GATED_BACKWARD` are the same elementwise functions of separate arrays; fast kernels
apply them to the halves where they are.

References:
    N. Shazeer, GLU Variants Improve Transformer, 2020.
"""

from types import ModuleType
from typing import Any

from gluonish.core.dtype import is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, choice, integer
from gluonish.core.spec import UNKNOWN, PartialSpec, Shape, Spec, merge_dtypes, merge_shapes
from gluonish.ops.elementwise.unary import SIGMOID
from gluonish.ops.facts import Execution, Gradient, ShapeFacts
from gluonish.ops.indexing.slice import SLICE_AXIS
from gluonish.ops.nn.gelu import FORMS, GELU_BACKWARD, gelu, gelu_slope
from gluonish.ops.nn.leaky_relu import LEAKY_RELU
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.shape.concat import CONCAT
from gluonish.ops.support.composite import composite_gradient
from gluonish.ops.support.precision import widen
from gluonish.ops.support.shape_rules import normalize_axis


def form_of(attrs: Attrs) -> str:
    """Return the form, among `gluonish.ops.nn.gelu.FORMS`, of a public operator."""
    form: str = attrs.get("approximation", "silu")
    return form


def halves(array: Any, axis: int) -> tuple[Any, Any]:
    """Return views of the two halves of an array."""
    axis %= array.ndim
    half = array.shape[axis] // 2
    head = (slice(None),) * axis
    return array[(*head, slice(half))], array[(*head, slice(half, None))]


def _gated_kernel(xp: ModuleType, out: Any, gate: Any, value: Any, *, form: str) -> None:
    out[...] = gelu(xp, widen(gate), form) * widen(value)


def _gated_back(
    xp: ModuleType, outputs: tuple[Any, Any], grad: Any, gate: Any, value: Any, *, form: str
) -> None:
    of_gate, of_value = outputs
    grad, gate = widen(grad), widen(gate)
    of_gate[...] = grad * gelu_slope(xp, gate, form) * widen(value)
    of_value[...] = grad * gelu(xp, gate, form)


def _function(x: Any, form: str) -> Any:
    """Return the gate's function, with operators."""
    if form == "silu":
        return SIGMOID(x) * x
    return apply(LEAKY_RELU, (x,), {**LEAKY_RELU.schema.defaults, "act_type": f"gelu_{form}"})


def _composed(grad: Any, gate: Any, value: Any, *, form: str) -> tuple[Any, Any]:
    """Compute the gradients with operators."""
    of_gate = apply(GELU_BACKWARD, (grad * value, gate), {"form": form})
    return of_gate, grad * _function(gate, form)


def _gated_gradient(g: V, gate: V, value: V, *, form: str) -> Any:
    return tuple(apply(GATED_BACKWARD, (g, gate, value), {"form": form}))


_FORM = Schema(form=choice(*FORMS, default="silu"))

GATED = register(
    Operator(
        "_gated",
        lambda gate, _value, **_: (gate,),
        _gated_kernel,
        _gated_gradient,
        doc="A function of gate, by form, times value.",
        inputs=("gate", "value"),
        schema=_FORM,
        execution=Execution(elementwise=True, several_passes=True),
    )
)

GATED_BACKWARD = register(
    Operator(
        "_gated_backward",
        lambda _grad, gate, value, **_: (gate, value),
        _gated_back,
        composite_gradient(_composed),
        doc="Gradients of _gated's gate and value.",
        inputs=("grad", "gate", "value"),
        schema=_FORM,
        outputs=2,
        output_names=("gate", "value"),
        execution=Execution(elementwise=True, several_passes=True),
    )
)


def _half_shape(name: str, shape: Shape, axis: int) -> Shape:
    axis = normalize_axis(name, axis, len(shape))
    extent = shape[axis]
    if extent == UNKNOWN:
        return shape
    if extent % 2:
        raise OperatorError(
            f"{name}: expected data whose axis {axis} has two halves, gate and value, got shape "
            f"{shape}"
        )
    return (*shape[:axis], extent // 2, *shape[axis + 1 :])


def _kernel(
    xp: ModuleType, out: Any, data: Any, *value: Any, axis: int, use_value: bool, **attrs: Any
) -> None:
    pair = (data, *value) if use_value else halves(data, axis)
    _gated_kernel(xp, out, *pair, form=form_of(attrs))


def _gradient(g: V, *inputs: V, axis: int, use_value: bool, **attrs: Any) -> Any:
    form = form_of(attrs)
    if use_value:
        return tuple(apply(GATED_BACKWARD, (g, *inputs), {"form": form}))
    return (apply(HALVES_BACKWARD, (g, *inputs), {"form": form, "axis": axis}),)


def _operator(name: str, formula: str, schema: Schema) -> Operator:
    """Register a public operator.

    Args:
        formula: The function of gate, for the docstring.
    """

    def infer(data: Spec, *value: Spec, axis: int, use_value: bool, **_: object) -> tuple[Spec]:
        if not is_floating(data.dtype):
            raise OperatorError(f"{name}: expected floating data, got {data.dtype.name}")
        if not use_value:
            return (Spec(_half_shape(name, data.shape, axis), data.dtype),)
        if value[0] != data:
            raise OperatorError(f"{name}: expected value {data}, like data, got {value[0]}")
        return (data,)

    def complete(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
        dtype = None
        for spec in (*inputs, *outputs):
            dtype = merge_dtypes(dtype, spec.dtype, name)
        shape = inputs[0].shape
        if attrs["use_value"]:
            for spec in (inputs[1], outputs[0]):
                shape = merge_shapes(shape, spec.shape, name)
            inputs[:] = [PartialSpec(shape, dtype)] * 2
            outputs[0] = inputs[0]
            return
        inputs[0] = PartialSpec(shape, dtype)
        made = None if shape is None else _half_shape(name, shape, attrs["axis"])
        outputs[0] = PartialSpec(merge_shapes(made, outputs[0].shape, name), dtype)

    return register(
        Operator(
            name,
            infer,
            _kernel,
            Gradient(_gradient),
            doc=(
                f"{formula} times value, elementwise.\n\n"
                "gate is data, and value the second input. Without value, data holds both, as one\n"
                "dense layer computes them: gate is the first half along axis.\n\n"
                "Shapes: data and value any; output that of data, with half of axis without value."
            ),
            inputs=("data", "value"),
            active_inputs=lambda attrs: ("data", "value")[: 1 + attrs["use_value"]],
            optional={"value": "use_value"},
            schema=schema,
            aliases=(f"_npx_{name}",),
            shapes=ShapeFacts(complete=complete),
            execution=Execution(several_passes=True),
        )
    )


SWIGLU = _operator(
    "swiglu",
    "gate * sigmoid(gate)",
    Schema(axis=integer(-1), use_value=boolean(False)),
)
GEGLU = _operator(
    "geglu",
    "GELU of gate, or an approximation of it,",
    Schema(
        approximation=choice("erf", "tanh", "sigmoid", default="erf"),
        axis=integer(-1),
        use_value=boolean(False),
    ),
)


def _halves_kernel(xp: ModuleType, out: Any, grad: Any, data: Any, *, axis: int, form: str) -> None:
    _gated_back(xp, halves(out, axis), grad, *halves(data, axis), form=form)


def _halves_composed(grad: Any, data: Any, *, axis: int, form: str) -> Any:
    half = data.shape[axis] // 2
    pair = [
        apply(SLICE_AXIS, (data,), {"axis": axis, "begin": begin, "end": begin + half})
        for begin in (0, half)
    ]
    return apply(CONCAT, _composed(grad, *pair, form=form), {"dim": axis, "num_args": 2})


HALVES_BACKWARD = register(
    Operator(
        "_gated_halves_backward",
        lambda _grad, data, **_: (data,),
        _halves_kernel,
        composite_gradient(_halves_composed),
        doc="Gradient of the data of swiglu and geglu that holds gate and value.",
        inputs=("grad", "data"),
        schema=Schema(axis=integer(-1), form=choice(*FORMS, default="silu")),
        execution=Execution(several_passes=True),
    )
)
