"""Custom: operators that users write in Python.

A *prop* class declares inputs and outputs and infers shapes; its operator object computes. Both
live in a higher layer, `gluonish.operator.custom_op`, which also sets the hooks of `CustomState`.
An operator object may save state from forward to backward, so each node owns one, through a
`CustomState` in its attributes.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any, ClassVar
from weakref import WeakValueDictionary

from gluonish.core.dtype import normalize_dtype
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Attribute, Schema, boolean, text
from gluonish.core.spec import UNKNOWN, PartialSpec, Spec
from gluonish.ops.facts import Execution, Gradient, ShapeFacts
from gluonish.ops.registry import Attrs, Operator, apply, find_operator, register

_numbers = count()
# States of users' live objects, by address.
native_states: WeakValueDictionary[str, "CustomState"] = WeakValueDictionary()


class CustomState:
    """State that a node holds for a user's operator: the prop and the operator objects it creates.

    Args:
        op_type: Registered name of the operator.
        options: The user's settings, as text.
        prop: The operator's prop; None to create an instance of the registered class.

    Attributes:
        make_prop: Creates a prop from a registered name and settings.
        run: ``run(state, xp, phase, train, outputs, inputs)`` calls the operator object's forward
            or backward on raw arrays.
        operators: Operator objects by device, shapes and dtypes.
    """

    make_prop: ClassVar[Callable[[str, Mapping[str, str]], Any]]
    run: ClassVar[Callable[..., None]]

    def __init__(self, op_type: str, options: Mapping[str, str], prop: Any = None) -> None:
        self.op_type = op_type
        self.options = dict(options)
        if prop is None and not hasattr(type(self), "make_prop"):
            raise OperatorError(
                f"Custom: expected op_type to be registered (none is), got {op_type!r}; decorate "
                "its prop with mx.operator.register"
            )
        self.prop = type(self).make_prop(op_type, options) if prop is None else prop
        self.arguments = tuple(self.prop.list_arguments())
        self.auxiliary = tuple(self.prop.list_auxiliary_states())
        self.outputs = tuple(self.prop.list_outputs())
        self.number = next(_numbers)
        self.context: Any = None
        self.operators: dict[Any, Any] = {}

    def __repr__(self) -> str:
        return f"<{self.op_type} {self.number}>"

    @property
    def name(self) -> str:
        """The operator's name in messages."""
        return f"Custom({self.op_type})"

    def shapes(self, supplied: Sequence[list[int]]) -> tuple[list[Any], list[Any], list[Any]]:
        """Return the shapes of arguments, outputs and auxiliary states by the user's rule.

        Raises:
            OperatorError: The rule fails, or returns the wrong number of shapes.
        """
        found = self._call_rule("infer_shape", [list(shape) for shape in supplied])
        return self._three("infer_shape", found)

    def types(self, supplied: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any]]:
        """Return the dtypes of arguments, outputs and auxiliary states by the user's rule.

        Raises:
            OperatorError: As for `shapes`.
        """
        return self._three("infer_type", self._call_rule("infer_type", list(supplied)))

    def _call_rule(self, rule: str, supplied: list[Any]) -> Any:
        try:
            return getattr(self.prop, rule)(supplied)
        except Exception as error:
            raise OperatorError(f"{self.name}: {rule} failed: {error!r}") from error

    def _three(self, rule: str, found: Any) -> tuple[list[Any], list[Any], list[Any]]:
        expected = (len(self.arguments), len(self.outputs), len(self.auxiliary))
        parts = [list(part) for part in found]
        if len(parts) == 2:
            parts.append([])
        counts = tuple(len(part) for part in parts)
        if counts != expected:
            raise OperatorError(
                f"{self.name}: expected {rule} to return lists of {expected} for arguments, "
                f"outputs and auxiliary states, got {counts}"
            )
        return parts[0], parts[1], parts[2]


class _CustomSchema(Schema):
    """Schema that reads op_type, and passes all other attributes to the user's operator as text."""

    __slots__ = ()

    def parse(self, operator: str, supplied: Mapping[str, object]) -> dict[str, Any]:
        options = {k: str(v) for k, v in supplied.items() if k not in ("op_type", "state")}
        op_type = supplied.get("op_type")
        if not op_type:
            raise OperatorError(f"{operator}: expected op_type, got none")
        return {"op_type": str(op_type), "state": CustomState(str(op_type), options)}

    def accepts(self, name: str) -> bool:
        return True

    def to_strings(self, attrs: Mapping[str, Any]) -> dict[str, str]:
        state: CustomState = attrs["state"]
        return {**state.options, "op_type": state.op_type}


class _NativeSchema(Schema):
    """Schema that reads the address of a user's object, valid only in the process that wrote it."""

    __slots__ = ()

    def parse(self, operator: str, supplied: Mapping[str, object]) -> dict[str, Any]:
        state = native_states.get(str(supplied.get("info")))
        if state is None:
            raise OperatorError(
                f"{operator}: expected an operator object of this process, got "
                f"{supplied.get('info')!r}; write it as a CustomOp, which is found by name"
            )
        return {"state": state}

    def to_strings(self, attrs: Mapping[str, Any]) -> dict[str, str]:
        return {**attrs["state"].options}


def _infer(*specs: Spec, state: CustomState, **attrs: Any) -> tuple[Spec, ...]:
    names = _inputs(state)
    if len(specs) != len(names):
        raise OperatorError(
            f"{state.name}: expected {len(names)} inputs ({', '.join(names)}), got {len(specs)}"
        )
    supplied = specs[: len(state.arguments)]
    shapes = state.shapes([list(spec.shape) for spec in supplied])
    types = state.types([spec.dtype.type for spec in supplied])
    shapes_of_inputs = [*shapes[0], *shapes[2]]
    for name, spec, shape in zip(names, specs, shapes_of_inputs, strict=True):
        if tuple(shape) != spec.shape:
            raise OperatorError(
                f"{state.name}: expected {name} of shape {tuple(shape)}, got {spec.shape}"
            )
    return tuple(
        Spec(tuple(int(n) for n in shape), normalize_dtype(dtype))
        for shape, dtype in zip(shapes[1], types[1], strict=True)
    )


def _inputs(state: CustomState) -> tuple[str, ...]:
    return (*state.arguments, *state.auxiliary)


def _complete(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    state: CustomState = attrs["state"]
    count = len(state.arguments)
    arguments = inputs[:count]
    known = [spec.shape is not None and UNKNOWN not in spec.shape for spec in arguments]
    if any(known) or not count:
        supplied = [list(s.shape or ()) if k else [] for s, k in zip(arguments, known, strict=True)]
        try:
            shapes = state.shapes(supplied)
        except OperatorError:  # the rule needs more known shapes
            shapes = ([], [], [])
        for i, shape in enumerate([*shapes[0], *shapes[2]]):
            if shape and all(n > 0 for n in shape):
                inputs[i] = PartialSpec(tuple(map(int, shape)), inputs[i].dtype)
        for i, shape in enumerate(shapes[1]):
            if all(n > 0 for n in shape) and all(known):
                outputs[i] = PartialSpec(tuple(map(int, shape)), outputs[i].dtype)
    first = next((spec.dtype for spec in arguments if spec.dtype is not None), None)
    if first is None:
        return
    try:
        types = state.types([(spec.dtype or first).type for spec in arguments])
    except OperatorError:
        return
    for i, dtype in enumerate([*types[0], *types[2]]):
        if inputs[i].dtype is None:
            inputs[i] = PartialSpec(inputs[i].shape, normalize_dtype(dtype))
    for i, dtype in enumerate(types[1]):
        outputs[i] = PartialSpec(outputs[i].shape, normalize_dtype(dtype))


def _kernel(
    xp: Any, out: Any, *arrays: Any, state: CustomState, train: bool = False, **attrs: Any
) -> None:
    CustomState.run(state, xp, "forward", train, out, arrays)


def _gradient(
    g: Any, *values: Any, state: CustomState, train: bool = False, **attrs: Any
) -> tuple[Any, ...]:
    count = len(values) - len(state.outputs)
    inputs, outputs = values[:count], values[count:]
    heads = [
        apply(find_operator("zeros_like"), (y,), {}) if head is None else head
        for head, y in zip(g, outputs, strict=True)
    ]
    if not state.arguments:
        return (None,) * count
    found = apply(_BACKWARD, (*heads, *inputs, *outputs), {"state": state, "training": train})
    listed = found if isinstance(found, list) else [found]
    return (*listed, *[None] * len(state.auxiliary))


def _outputs(attrs: Attrs) -> int:
    return len(attrs["state"].outputs)


def _mutated(attrs: Attrs) -> tuple[int, ...]:
    state: CustomState = attrs["state"]
    first = len(state.arguments)
    return tuple(range(first, first + len(state.auxiliary)))


def _infer_backward(*specs: Spec, state: CustomState, **attrs: Any) -> tuple[Spec, ...]:
    first = len(state.outputs)
    return specs[first : first + len(state.arguments)]


def _backward_kernel(
    xp: Any, out: Any, *arrays: Any, state: CustomState, training: bool, **attrs: Any
) -> None:
    CustomState.run(state, xp, "backward", training, out, arrays)


def _backward_mutated(attrs: Attrs) -> tuple[int, ...]:
    heads = len(attrs["state"].outputs)
    return tuple(heads + i for i in _mutated(attrs))


def _backward_names(attrs: Attrs) -> tuple[str, ...]:
    state: CustomState = attrs["state"]
    grads = [f"{name}_grad" for name in state.outputs]
    return (*grads, *_inputs(state), *state.outputs)


_BACKWARD = register(
    Operator(
        "_custom_backward",
        _infer_backward,
        _backward_kernel,
        None,
        doc="The gradient of an operator written by the user.",
        active_inputs=_backward_names,
        schema=Schema(training=boolean()),
        outputs=lambda attrs: len(attrs["state"].arguments),
        execution=Execution(mutates=_backward_mutated, heavy=True, live=True),
    )
)


def _operator(name: str, doc: str, schema: Schema, aliases: tuple[str, ...] = ()) -> Operator:
    return Operator(
        name,
        _infer,
        _kernel,
        Gradient(_gradient, uses_output=True, ignores_head_gradient=True),
        doc=doc,
        active_inputs=lambda attrs: _inputs(attrs["state"]) if "state" in attrs else ("data",),
        schema=schema,
        aliases=aliases,
        outputs=_outputs,
        output_names=lambda attrs: attrs["state"].outputs if "state" in attrs else (),
        execution=Execution(mutates=_mutated, train_dependent=True, heavy=True, live=True),
        shapes=ShapeFacts(complete=_complete),
    )


CUSTOM = register(
    _operator(
        "Custom",
        (
            "An operator written in Python and registered with mx.operator.register.\n\n"
            "Shapes: those that infer_shape of the user's CustomOpProp returns."
        ),
        _CustomSchema(op_type=text()),
        ("_npi_Custom",),
    )
)
_POINTER: Attribute = text()
NATIVE = register(
    _operator(
        "_Native",
        (
            "An object of mx.operator.NumpyOp.\n\n"
            "Shapes: those that infer_shape of the object returns."
        ),
        _NativeSchema(info=_POINTER, need_top_grad=boolean(default=True)),
    )
)
NDARRAY_OP = register(
    _operator(
        "_NDArray",
        (
            "An object of mx.operator.NDArrayOp.\n\n"
            "Shapes: those that infer_shape of the object returns."
        ),
        _NativeSchema(info=_POINTER),
    )
)
