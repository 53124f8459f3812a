"""Symbol.bind and simple_bind: executors of a graph for arrays or shapes."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gluonish.core.context import Context
from gluonish.core.dtype import normalize_dtype
from gluonish.core.errors import ArgumentError, ArgumentTypeError, GraphError
from gluonish.core.loading import load
from gluonish.core.spec import PartialSpec, Spec
from gluonish.graph.inference import infer
from gluonish.graph.ir import Value, topological_order
from gluonish.ndarray.creation import zeros
from gluonish.ndarray.ndarray import NDArray
from gluonish.symbol.resized import fitted
from gluonish.symbol.shapes import from_public, known_specs, to_public
from gluonish.symbol.storage import storage_types
from gluonish.symbol.symbol import Symbol

if TYPE_CHECKING:
    from gluonish.symbol.executor import Executor

Requests = str | Sequence[str] | Mapping[str, str]
Groups = Mapping[str, Context] | None

_REQUESTS = ("null", "write", "add")


def bind(
    self: Symbol,
    ctx: Context,
    args: Sequence[NDArray] | Mapping[str, NDArray],
    args_grad: Sequence[NDArray | None] | Mapping[str, NDArray] | None = None,
    grad_req: Requests = "write",
    aux_states: Sequence[NDArray] | Mapping[str, NDArray] | None = None,
    group2ctx: Groups = None,
    shared_exec: "Executor | None" = None,
) -> "Executor":
    """Bind the graph to arrays, and return an Executor that runs it.

    Args:
        self: The graph.
        ctx: Device to run on.
        args: Arrays of the arguments, in the order of `list_arguments` or by name.
        args_grad: Arrays to store the arguments' gradients in, in the same order or by name; an
            argument without one gets no gradient.
        grad_req: How `Executor.backward` stores gradients: ``"write"`` overwrites, ``"add"``
            accumulates, ``"null"`` skips; one for all, a list, or a dict by name.
        aux_states: Arrays of the auxiliary states, in the order of `list_auxiliary_states` or by
            name.
        group2ctx: Dict from ``ctx_group`` (set by `AttrScope`) to the device of its nodes.
        shared_exec: Has no effect: memory is shared anyway.

    Raises:
        ArgumentTypeError: ``ctx`` is not a Context, or an array is not an NDArray.
        ArgumentError: An array is missing, or ``grad_req`` is unknown.
        OperatorError: The shapes or dtypes contradict each other.

    Example:
        >>> import gluonish as mx
        >>> x = mx.sym.var("x")
        >>> executor = (x * x).bind(mx.cpu(), {"x": mx.nd.array([1, 2])}, {"x": mx.nd.zeros(2)})
        >>> executor.forward(is_train=True)[0].tolist()
        [1.0, 4.0]
        >>> executor.backward(mx.nd.ones(2))
        >>> executor.grad_dict["x"].tolist()
        [2.0, 4.0]
    """
    _check_context(ctx)
    names = self.list_arguments()
    arguments = _listed("args", args, names)
    requests = _requests(grad_req, names)
    gradients: list[NDArray | None] = [None] * len(names)
    if isinstance(args_grad, Mapping):
        gradients = [args_grad.get(name) for name in names]
    elif args_grad is not None:
        gradients = list(args_grad)
        if len(gradients) != len(names):
            raise ArgumentError(
                f"bind: expected args_grad for {len(names)} arguments, got {len(gradients)}"
            )
    for name, x, gradient in zip(names, arguments, gradients, strict=True):
        if gradient is not None and gradient.shape != x.shape:
            raise ArgumentError(
                f"bind: expected a gradient of shape {x.shape} for {name}, got {gradient.shape}"
            )
    states = _listed("aux_states", aux_states or {}, self.list_auxiliary_states())
    made: Executor = load("gluonish.symbol.executor").Executor(
        self, ctx, arguments, gradients, requests, states, dict(group2ctx or {})
    )
    return made


def simple_bind(
    self: Symbol,
    ctx: Context,
    grad_req: Requests = "write",
    type_dict: Mapping[str, Any] | None = None,
    stype_dict: Mapping[str, str] | None = None,
    group2ctx: Groups = None,
    shared_arg_names: Sequence[str] | None = None,
    shared_exec: "Executor | None" = None,
    shared_buffer: dict[str, NDArray] | None = None,
    **kwargs: Any,
) -> "Executor":
    """Bind the graph to new arrays of zeros whose shapes are inferred, and return an Executor.

    Args:
        self: The graph.
        ctx: Device to run on.
        grad_req: How `Executor.backward` stores gradients: ``"write"``, ``"add"`` or ``"null"``;
            one for all, a list, or a dict by name (missing names mean ``"null"``).
        type_dict: Dtypes by argument name.
        stype_dict: Storage types by argument name; they override those that variables declare. A
            gradient is row-sparse if its argument is, or if all operators that read the argument
            have row-sparse gradients (`gluonish.symbol.storage`).
        group2ctx: Dict from ``ctx_group`` (set by `AttrScope`) to the device of its nodes.
        shared_arg_names: Arguments that may share the arrays of ``shared_exec``.
        shared_exec: Executor whose arrays of these arguments, gradients and auxiliary states are
            reused if the shapes are equal.
        shared_buffer: Dict of arrays whose memory is reused for arguments of the same name; new
            arrays are put into it.
        **kwargs: Shapes by argument name, such as ``data=(32, 10)``.

    Raises:
        ArgumentTypeError: ``ctx`` is not a Context.
        ArgumentError: ``grad_req`` is unknown.
        GraphError: A shape cannot be inferred.
        OperatorError: The shapes or dtypes contradict each other.

    Example:
        >>> import gluonish as mx
        >>> net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="fc")
        >>> executor = net.simple_bind(mx.cpu(), data=(2, 5))
        >>> executor.arg_dict["fc_weight"].shape, executor.forward()[0].shape
        ((3, 5), (2, 3))
    """
    _check_context(ctx)
    names, auxiliary = self.list_arguments(), self.list_auxiliary_states()
    requests = _requests(grad_req, names)
    specs = _specs(self, kwargs, type_dict or {})
    storage = storage_types(self, stype_dict or {})
    contexts = _variable_contexts(self, ctx, group2ctx or {})
    shared = {} if shared_exec is None else shared_exec.arg_dict
    reused = {name: shared[name] for name in shared_arg_names or shared if name in shared}

    def argument(name: str) -> NDArray:
        stype = storage[name].array
        return _allocated(name, specs[name], contexts[name], reused, shared_buffer, stype)

    def gradient(name: str, x: NDArray) -> NDArray:
        own = slopes.get(name) if x is reused.get(name) else None
        return zeros(x.shape, x.context, x.dtype, storage[name].gradient) if own is None else own

    arguments = [argument(name) for name in names]
    own = {} if shared_exec is None else shared_exec.aux_dict
    states = [_allocated(name, specs[name], contexts[name], own, None) for name in auxiliary]
    slopes = {} if shared_exec is None else shared_exec.grad_dict
    gradients = [
        None if req == "null" else gradient(name, x)
        for name, x, req in zip(names, arguments, requests, strict=True)
    ]
    made: Executor = load("gluonish.symbol.executor").Executor(
        self, ctx, arguments, gradients, requests, states, dict(group2ctx or {})
    )
    return made


def _check_context(ctx: object) -> None:
    if not isinstance(ctx, Context):
        raise ArgumentTypeError(f"bind: expected ctx to be a Context, got {ctx!r}")


def _listed(
    argument: str, given: Sequence[NDArray] | Mapping[str, NDArray], names: Sequence[str]
) -> list[NDArray]:
    if isinstance(given, Mapping):
        missing = [name for name in names if name not in given]
        if missing:
            raise ArgumentError(f"bind: expected an array in {argument} for {missing[0]}, got none")
        listed = [given[name] for name in names]
    else:
        listed = list(given)
        if len(listed) != len(names):
            raise ArgumentError(
                f"bind: expected {len(names)} arrays in {argument} ({', '.join(names)}), got "
                f"{len(listed)}"
            )
    for name, x in zip(names, listed, strict=True):
        if not isinstance(x, NDArray):
            raise ArgumentTypeError(
                f"bind: expected {name} in {argument} to be an NDArray, got {type(x).__name__}"
            )
    return listed


def _requests(grad_req: Requests, names: Sequence[str]) -> list[str]:
    if isinstance(grad_req, str):
        requests = [grad_req] * len(names)
    elif isinstance(grad_req, Mapping):
        requests = [grad_req.get(name, "null") for name in names]
    else:
        requests = list(grad_req)
    if len(requests) != len(names):
        raise ArgumentError(
            f"bind: expected a grad_req for each of {len(names)} arguments, got {len(requests)}"
        )
    for req in requests:
        if req not in _REQUESTS:
            raise ArgumentError(f"bind: expected grad_req to be one of {_REQUESTS}, got {req!r}")
    return requests


def _specs(symbol: Symbol, shapes: Mapping[str, Any], dtypes: Mapping[str, Any]) -> dict[str, Spec]:
    """Return the specs of all variables; undetermined dtypes are float32."""
    given = {
        name: PartialSpec(
            from_public(shapes.get(name)),
            normalize_dtype(dtypes[name]) if name in dtypes else None,
        )
        for name in symbol.list_inputs()
    }
    found = infer(symbol._values, known_specs(symbol, given))
    specs, unknown = {}, {}
    for node in symbol._variables():
        spec = found.spec(Value(node))
        if spec.shape is None or spec.dtype is None or not spec.known():
            unknown[node.name] = to_public(spec.shape)
        else:
            specs[node.name] = Spec(spec.shape, spec.dtype)
    if unknown:
        raise GraphError(
            f"simple_bind: expected shapes to infer all others, got {dict(shapes)}, which leave "
            f"{unknown}; give the shapes of more arguments"
        )
    return specs


def _variable_contexts(
    symbol: Symbol, default: Context, groups: Mapping[str, Context]
) -> dict[str, Context]:
    """Return the device of each variable: that of its group, or of its first reader."""
    node_context = load("gluonish.symbol.placed_graph").node_context
    found: dict[str, Context] = {}
    for node in topological_order(symbol._values):
        if node.op is None:
            if node.extra.get("__ctx_group__") in groups:
                found[node.name] = node_context(node, groups, default)
            continue
        context = node_context(node, groups, default)
        for value in node.inputs:
            if value.node.op is None:
                found.setdefault(value.node.name, context)
    return {name: found.get(name, default) for name in symbol.list_inputs()}


def _allocated(
    name: str,
    spec: Spec,
    context: Context,
    reused: Mapping[str, NDArray],
    buffer: dict[str, NDArray] | None,
    stype: str = "default",
) -> NDArray:
    """Return the array of an argument: reused, in the buffer's memory, or new."""
    x = reused.get(name)
    if x is not None and (x._spec, x.context, x.stype) == (spec, context, stype):
        return x
    if stype != "default":
        return zeros(spec.shape, context, spec.dtype, stype)
    memory = None if buffer is None else buffer.get(name)
    if memory is not None and _holds(memory, spec, context):
        return fitted(memory, spec.shape)
    made = zeros(spec.shape, context, spec.dtype)
    if buffer is not None:
        buffer[name] = made
    return made


def _holds(array: NDArray, spec: Spec, context: Context) -> bool:
    same = array.context == context and array._spec.dtype == spec.dtype
    return same and array.size >= spec.size
