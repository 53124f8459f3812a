"""Custom operators in Python: base classes, registry and calls.

The engine runs custom operators like any operator, without recording by autograd. If an operator
raises an exception, waiting for its outputs raises it again.
"""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, cast

from gluonish.core.context import current_context
from gluonish.core.errors import ArgumentTypeError, NotSupportedError, OperatorError
from gluonish.core.object_repr import default_repr
from gluonish.ndarray import namespace as nd_namespace
from gluonish.ndarray.eager import invoke, source
from gluonish.ndarray.ndarray import NDArray
from gluonish.ops.custom import CUSTOM, CustomState
from gluonish.ops.registry import Operator, apply
from gluonish.symbol import Symbol
from gluonish.symbol import namespace as symbol_namespace
from gluonish.symbol.name import stored_attributes
from gluonish.symbol.subgraph_call import attach_runner
from gluonish.symbol.symbol import new_node


class CustomOp:
    """Base class of operators written in Python; subclasses define `forward` and `backward`.

    A subclass of `CustomOpProp`, registered under a name, describes the operator and creates it.

    Example:
        >>> import gluonish as mx
        >>> class Square(mx.operator.CustomOp):
        ...     def forward(self, is_train, req, in_data, out_data, aux):
        ...         self.assign(out_data[0], req[0], in_data[0] ** 2)
        ...
        ...     def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        ...         self.assign(in_grad[0], req[0], 2 * in_data[0] * out_grad[0])
        >>> @mx.operator.register("square_example")
        ... class SquareProp(mx.operator.CustomOpProp):
        ...     def create_operator(self, ctx, in_shapes, in_dtypes):
        ...         return Square()
        >>> mx.nd.Custom(mx.nd.array([1, 2, 3]), op_type="square_example").tolist()
        [1.0, 4.0, 9.0]
    """

    __repr__ = default_repr

    def forward(
        self, is_train: bool, req: list[str], in_data: Any, out_data: Any, aux: Any
    ) -> None:
        """Compute the outputs; subclasses define this.

        Args:
            is_train: Whether the call is in training mode.
            req: How to store each output: ``"write"``, ``"add"`` or ``"null"``; see
                `assign`.
            in_data: List of the inputs, NDArrays.
            out_data: List of the NDArrays to fill, with `assign`.
            aux: List of the auxiliary states, NDArrays, which may be changed.
        """

    def backward(
        self, req: list[str], out_grad: Any, in_data: Any, out_data: Any, in_grad: Any, aux: Any
    ) -> None:
        """Compute the gradients of the inputs; subclasses define this.

        Args:
            req: How to store the gradient of each input: ``"write"``, ``"add"`` or ``"null"``.
            out_grad: List of the gradients with respect to the outputs, NDArrays.
            in_data: List of the inputs of the forward pass.
            out_data: List of the outputs of the forward pass.
            in_grad: List of the NDArrays to fill with the inputs' gradients, with `assign`.
            aux: List of the auxiliary states, NDArrays.
        """

    def assign(self, dst: NDArray, req: str, src: Any) -> None:
        """Store a result as requested: overwrite, add, or skip.

        Args:
            dst: NDArray to store into.
            req: ``"write"`` or ``"inplace"`` overwrites, ``"add"`` adds, ``"null"`` does nothing.
            src: The result.
        """
        if req in ("write", "inplace"):
            dst[:] = src
        elif req == "add":
            dst[:] = dst + src


class CustomOpProp:
    """Base class that describes an operator written in Python; see `CustomOp` for an example.

    Keyword arguments of ``Custom(..., op_type=name)`` are passed to the subclass's constructor, as
    strings.

    Args:
        need_top_grad: Whether the backward pass needs the gradients of the outputs; False for an
            operator that is a loss itself.
    """

    __repr__ = default_repr

    def __init__(self, need_top_grad: bool = True) -> None:
        self.need_top_grad_ = need_top_grad

    def infer_shape(self, in_shape: list[Any]) -> tuple[Any, ...]:
        """Return the shapes of inputs, outputs and auxiliary states, three lists.

        By default the inputs keep their shapes, every output has the shape of the first input, and
        there are no auxiliary states.

        Args:
            in_shape: List of the inputs' shapes.
        """
        return in_shape, (in_shape[0],) * len(self.list_outputs()), ()

    def infer_type(self, in_type: list[Any]) -> tuple[Any, ...]:
        """Return the dtypes of inputs, outputs and auxiliary states, three lists.

        By default outputs and auxiliary states have the dtype of the first input.

        Args:
            in_type: List of the inputs' dtypes.
        """
        return (
            in_type,
            [in_type[0]] * len(self.list_outputs()),
            [in_type[0]] * len(self.list_auxiliary_states()),
        )

    def infer_storage_type(self, in_stype: list[str]) -> tuple[list[str], list[str], list[str]]:
        """Return the storage types of inputs, outputs and auxiliary states; by default all dense.

        Args:
            in_stype: List of the inputs' storage types, such as ``"default"`` (dense).

        Raises:
            NotSupportedError: An input is sparse; a subclass for sparse inputs overrides this.
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
        """Return the storage types of all arrays of a backward pass; by default all dense.

        Args:
            ograd_stype: List of the storage types of the outputs' gradients.
            in_stype: List of the inputs' storage types.
            out_stype: List of the outputs' storage types.
            igrad_stype: List of the storage types of the inputs' gradients.
            aux_stype: List of the auxiliary states' storage types.

        Returns:
            The storage types in the same five groups.

        Raises:
            NotSupportedError: An array is sparse; a subclass for sparse arrays overrides this.
        """
        for stypes in (ograd_stype, in_stype, out_stype, igrad_stype, aux_stype):
            _check_dense(stypes)
        return ograd_stype, in_stype, out_stype, ["default"] * len(igrad_stype), aux_stype

    def list_outputs(self) -> list[str]:
        """Return the names of the outputs, by default ``["output"]``."""
        return ["output"]

    def list_arguments(self) -> list[str]:
        """Return the names of the inputs, by default ``["data"]``."""
        return ["data"]

    def list_auxiliary_states(self) -> list[str]:
        """Return the names of the auxiliary states, by default none."""
        return []

    def declare_backward_dependency(
        self, out_grad: list[int], in_data: list[int], out_data: list[int]
    ) -> list[int]:
        """Return the ids of the arrays that the backward pass reads, by default all of them.

        Without ``need_top_grad`` the gradients of the outputs are left out.

        Args:
            out_grad: Ids of the outputs' gradients.
            in_data: Ids of the inputs.
            out_data: Ids of the outputs.
        """
        return [*(out_grad if self.need_top_grad_ else ()), *in_data, *out_data]

    def create_operator(self, ctx: Any, in_shapes: Any, in_dtypes: Any) -> CustomOp:
        """Return the `CustomOp` that computes; subclasses define this.

        Args:
            ctx: Device that the operator will run on.
            in_shapes: List of the inputs' shapes.
            in_dtypes: List of the inputs' dtypes.
        """
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
    """Return a class decorator that registers a `CustomOpProp` for ``Custom(op_type=reg_name)``.

    Args:
        reg_name: Name of the operator; a later class with the same name replaces an earlier one.

    Raises:
        ArgumentTypeError: From the decorator: the class is not a subclass of `CustomOpProp`.
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
        *args: Inputs, then auxiliary states.
        op_type: Name under which the operator was registered.
        name: Name of a Symbol's node.
        attr: Attributes of a Symbol's node.
        out: Receives the outputs instead of new arrays.
        **kwargs: Inputs by name, and settings, passed to the `CustomOpProp` as text.

    Raises:
        OperatorError: There is no such operator, or inputs are missing or rejected by it.
    """
    named = {k: v for k, v in kwargs.items() if hasattr(type(v), "__apply__")}
    options = {k: v for k, v in kwargs.items() if k not in named}
    attrs = CUSTOM.schema.parse("Custom", {"op_type": op_type or "", **options})
    state: CustomState = attrs["state"]
    inputs = ordered_inputs(state, args, named)
    if any(isinstance(x, Symbol) for x in inputs) or not any(x is not None for x in inputs):
        return operator_symbol(CUSTOM, inputs, attrs, name, attr)
    _check_complete(state, inputs)
    if isinstance(inputs[0], NDArray) and not inputs[0].is_traced:
        state.context = inputs[0].context
    if out is not None:
        return invoke(CUSTOM, inputs, attrs, out)
    return apply(CUSTOM, inputs, attrs)


def ordered_inputs(
    state: CustomState, args: tuple[Any, ...], named: Mapping[str, Any]
) -> list[Any]:
    """Return inputs in the order of the operator's arguments; None for missing ones.

    Args:
        state: The operator.
        args: Inputs passed by position.
        named: Inputs passed by name.
    """
    names = (*state.arguments, *state.auxiliary)
    if len(args) > len(names):
        raise OperatorError(
            f"{state.name}: expected at most {len(names)} inputs ({', '.join(names)}), got "
            f"{len(args)}"
        )
    ordered = dict(zip(names, args, strict=False))
    for name, x in named.items():
        if name not in names or ordered.get(name) is not None:
            raise OperatorError(
                f"{state.name}: expected each of the inputs {', '.join(names)} at most once, got "
                f"{name}" + (" twice" if name in names else "")
            )
        ordered[name] = x
    return [ordered.get(name) for name in names]


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
    """Return the Symbol of a user's operator; inputs that are None become variables.

    Args:
        op: The operator.
        inputs: Its inputs, Symbols or None.
        attrs: Its parameters.
        name: Name of the node; None for an automatic name.
        attr: Additional attributes of the node.
    """
    texts = op.schema.to_strings(attrs)
    return new_node(op, inputs, attrs, texts, name, stored_attributes(attr), op.name.lower())


@wraps(_custom)
def _imperative_custom(
    *args: Any, op_type: str | None = None, out: Any = None, **kwargs: Any
) -> Any:
    if not args and not any(hasattr(type(value), "__apply__") for value in kwargs.values()):
        options = {k: v for k, v in kwargs.items() if k not in ("name", "attr")}
        attrs = CUSTOM.schema.parse("Custom", {"op_type": op_type or "", **options})
        state: CustomState = attrs["state"]
        if not (state.arguments or state.auxiliary):
            first = out[0] if isinstance(out, list | tuple) else out
            state.context = current_context() if first is None else first.context
            return source(CUSTOM, attrs, state.context, out)
    return _custom(*args, op_type=op_type, out=out, **kwargs)


for _name in (CUSTOM.name, *CUSTOM.aliases):
    nd_namespace._made[_name] = _imperative_custom
    symbol_namespace._made[_name] = _custom
CustomState.make_prop = staticmethod(_make_prop)
attach_runner()
