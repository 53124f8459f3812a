"""Operators that users write in Python: their base classes, registry, and how they are called.

They run in the engine like any operator, outside of autograd; an exception waits on the outputs.
"""

from collections.abc import Callable, Mapping
from typing import Any, cast

from gluonish.core.errors import ArgumentTypeError, NotSupportedError, OperatorError
from gluonish.ndarray import namespace as nd_namespace
from gluonish.ndarray.eager import invoke
from gluonish.ndarray.ndarray import NDArray
from gluonish.ops.custom import CUSTOM, CustomState
from gluonish.ops.registry import Operator, apply
from gluonish.symbol import Symbol
from gluonish.symbol import namespace as symbol_namespace
from gluonish.symbol.custom_call import attach_runner
from gluonish.symbol.name import stored_attributes
from gluonish.symbol.symbol import new_node

__all__ = ["CustomOp", "CustomOpProp", "operator_symbol", "placed_inputs", "register"]


class CustomOp:
    """Base of operators written in Python: a subclass defines ``forward`` and ``backward``."""

    def forward(
        self, is_train: bool, req: list[str], in_data: Any, out_data: Any, aux: Any
    ) -> None:
        """Compute the outputs; a subclass defines this.

        Args:
            is_train: Whether in training.
            req: For each output ``"write"``, ``"add"`` or ``"null"``.
            in_data: Inputs.
            out_data: Arrays to fill, best by `assign`.
            aux: Auxiliary states.
        """

    def backward(
        self, req: list[str], out_grad: Any, in_data: Any, out_data: Any, in_grad: Any, aux: Any
    ) -> None:
        """Compute the gradients of the inputs; a subclass defines this.

        Args:
            req: For each input ``"write"``, ``"add"`` or ``"null"``.
            out_grad: Gradients of the outputs.
            in_data: Inputs of the forward pass.
            out_data: Outputs of the forward pass.
            in_grad: Arrays to fill, best by `assign`.
            aux: Auxiliary states.
        """

    def assign(self, dst: NDArray, req: str, src: Any) -> None:
        """Write a result as a request says: replace, add, or leave out.

        Args:
            dst: The array to fill.
            req: ``"write"``, ``"inplace"``, ``"add"`` or ``"null"``.
            src: The result.
        """
        if req in ("write", "inplace"):
            dst[:] = src
        elif req == "add":
            dst[:] = dst + src


class CustomOpProp:
    """Base of descriptions of operators written in Python; keyword arguments are settings, as text.

    Args:
        need_top_grad: Whether the gradient depends on that of the outputs; False for a loss.
    """

    def __init__(self, need_top_grad: bool = True) -> None:
        self.need_top_grad_ = need_top_grad

    def infer_shape(self, in_shape: list[Any]) -> tuple[Any, ...]:
        """Return shapes of arguments, outputs and auxiliary states.

        By default all are like the first argument, and there is one output.
        """
        return in_shape, (in_shape[0],) * len(self.list_outputs()), ()

    def infer_type(self, in_type: list[Any]) -> tuple[Any, ...]:
        """Return dtypes of arguments, outputs and auxiliary states: that of the first argument."""
        return (
            in_type,
            [in_type[0]] * len(self.list_outputs()),
            [in_type[0]] * len(self.list_auxiliary_states()),
        )

    def infer_storage_type(self, in_stype: list[str]) -> tuple[list[str], list[str], list[str]]:
        """Return storage types of arguments, outputs and auxiliary states: dense.

        Raises:
            NotSupportedError: for other storage types.
        """
        _check_dense(in_stype)
        return (
            in_stype,
            ["default"] * len(self.list_outputs()),
            ["default"] * len(self.list_auxiliary_states()),
        )

    def infer_storage_type_backward(
        self,
        ograd_stype: list[str],
        in_stype: list[str],
        out_stype: list[str],
        igrad_stype: list[str],
        aux_stype: list[str],
    ) -> tuple[list[str], list[str], list[str], list[str], list[str]]:
        """Return storage types of all that a backward pass reads and writes: dense.

        Raises:
            NotSupportedError: for other storage types.
        """
        for stypes in (ograd_stype, in_stype, out_stype, igrad_stype, aux_stype):
            _check_dense(stypes)
        return ograd_stype, in_stype, out_stype, ["default"] * len(igrad_stype), aux_stype

    def list_outputs(self) -> list[str]:
        """Return the names of the outputs."""
        return ["output"]

    def list_arguments(self) -> list[str]:
        """Return the names of the arguments."""
        return ["data"]

    def list_auxiliary_states(self) -> list[str]:
        """Return the names of the auxiliary states."""
        return []

    def declare_backward_dependency(
        self, out_grad: list[int], in_data: list[int], out_data: list[int]
    ) -> list[int]:
        """Return which of the arrays' numbers the backward pass reads."""
        return [*(out_grad if self.need_top_grad_ else ()), *in_data, *out_data]

    def create_operator(self, ctx: Any, in_shapes: Any, in_dtypes: Any) -> CustomOp:
        """Return the operator object; a subclass defines this."""
        return CustomOp()


def _check_dense(stypes: list[str]) -> None:
    for stype in stypes:
        if stype not in ("default", "undefined"):
            raise NotSupportedError(
                f"CustomOpProp: expected storage type 'default', got {stype!r}; define "
                "infer_storage_type"
            )


_props: dict[str, type[CustomOpProp]] = {}


def register(reg_name: str) -> Callable[[type[CustomOpProp]], type[CustomOpProp]]:
    """Return a decorator that makes a prop known under a name, for ``Custom(op_type=...)``.

    Args:
        reg_name: The name; a later class of the same name takes the place of an earlier one.

    Raises:
        ArgumentTypeError: by the decorator, if the class is no `CustomOpProp`.
    """

    def decorate(prop_cls: type[CustomOpProp]) -> type[CustomOpProp]:
        if not (isinstance(prop_cls, type) and issubclass(prop_cls, CustomOpProp)):
            raise ArgumentTypeError(f"register: expected a CustomOpProp, got {prop_cls!r}")
        _props[reg_name] = prop_cls
        return prop_cls

    return decorate


def _make_prop(op_type: str, options: Mapping[str, str]) -> CustomOpProp:
    prop_cls = _props.get(op_type)
    if prop_cls is None:
        raise OperatorError(
            f"Custom: expected op_type to be registered ({', '.join(_props) or 'none is'}), got "
            f"{op_type!r}; decorate its prop with mx.operator.register"
        )
    try:
        made: CustomOpProp = cast(Any, prop_cls)(**options)
    except TypeError as error:
        raise OperatorError(
            f"Custom({op_type}): expected settings of {prop_cls.__name__}, got "
            f"{dict(options)}: {error}"
        ) from error
    return made


def _custom(
    *args: Any,
    op_type: str | None = None,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: Any = None,
    **kwargs: Any,
) -> Any:
    """Call an operator that was registered with `mx.operator.register`.

    Args:
        *args: Arguments, then auxiliary states.
        op_type: The name it was registered under.
        name: Name of a Symbol's node.
        attr: Attributes of a Symbol's node.
        out: Receives the outputs instead of new arrays.
        **kwargs: Arguments by name, and settings, which the prop gets as text.

    Raises:
        OperatorError: There is no such operator, inputs are missing, or its prop refuses them.
    """
    given = {k: v for k, v in kwargs.items() if hasattr(type(v), "__apply__")}
    options = {k: v for k, v in kwargs.items() if k not in given}
    attrs = CUSTOM.schema.parse("Custom", {"op_type": op_type or "", **options})
    state: CustomState = attrs["state"]
    inputs = placed_inputs(state, args, given)
    if any(isinstance(x, Symbol) for x in inputs) or not any(x is not None for x in inputs):
        return operator_symbol(CUSTOM, inputs, attrs, name, attr)
    _check_complete(state, inputs)
    if isinstance(inputs[0], NDArray) and not inputs[0].is_traced:
        state.context = inputs[0].context
    if out is not None:
        return invoke(CUSTOM, inputs, attrs, out)
    return apply(CUSTOM, inputs, attrs)


def placed_inputs(state: CustomState, args: tuple[Any, ...], given: Mapping[str, Any]) -> list[Any]:
    """Return inputs at their positions, None for those that are left out."""
    names = (*state.arguments, *state.auxiliary)
    if len(args) > len(names):
        raise OperatorError(
            f"{state.name}: expected at most {len(names)} inputs ({', '.join(names)}), got "
            f"{len(args)}"
        )
    placed = dict(zip(names, args, strict=False))
    for name, x in given.items():
        if name not in names or placed.get(name) is not None:
            raise OperatorError(
                f"{state.name}: expected inputs {', '.join(names)} once, got {name}"
            )
        placed[name] = x
    return [placed.get(name) for name in names]


def _check_complete(state: CustomState, inputs: list[Any]) -> None:
    for name, x in zip((*state.arguments, *state.auxiliary), inputs, strict=True):
        if x is None:
            raise OperatorError(f"{state.name}: expected an array for {name}, got none")


def operator_symbol(
    op: Operator,
    inputs: list[Any],
    attrs: Mapping[str, Any],
    name: str | None,
    attr: Mapping[str, str] | None,
) -> Symbol:
    """Return a Symbol of a user's operator; inputs that are None become variables."""
    given = op.schema.to_strings(attrs)
    return new_node(op, inputs, attrs, given, name, stored_attributes(attr), op.name.lower())


for _name in (CUSTOM.name, *CUSTOM.aliases):
    nd_namespace._made[_name] = symbol_namespace._made[_name] = _custom
CustomState.make_prop = staticmethod(_make_prop)
attach_runner()
