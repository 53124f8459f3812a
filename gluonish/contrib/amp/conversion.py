"""Conversion of networks and Symbols to mixed precision.

In MXNet 2.0, ``target_dtype`` follows arguments with the dtypes of inputs: dicts from names to
dtypes, or example arrays. A dtype is neither, so the type of that argument selects the signature.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from gluonish.core.dtype import DTYPE_FLAGS, FLOAT32, dtype_from_flag, is_floating, normalize_dtype
from gluonish.core.errors import ArgumentError, ArgumentTypeError, GraphError
from gluonish.core.spec import PartialSpec
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.block.newest_graph import example_symbols
from gluonish.gluon.block.symbol_block import SymbolBlock
from gluonish.gluon.mixed_precision.operator_lists import Conditional, half_dtype, policy_of
from gluonish.graph.inference import Inference
from gluonish.graph.interpreter import output_suffix
from gluonish.graph.ir import Node, Value, topological_order
from gluonish.graph.pytree import flatten
from gluonish.ndarray import NDArray
from gluonish.ops.autocast import Policy
from gluonish.ops.registry import find_operator
from gluonish.symbol import Group, Symbol


def graph_of(
    block: HybridBlock, example: Any
) -> tuple[list[Symbol], Symbol, dict[str, np.dtype[Any]] | None]:
    """Return the input Symbols of a block's graph, its outputs, and the inputs' dtypes by name.

    Args:
        block: The block.
        example: Arguments to call the block with: an array, or a list or tuple of arrays; None
            uses the cached graph.

    Raises:
        GraphError: There is no cached graph, or the block cannot be traced.
    """
    args = () if example is None else example if isinstance(example, list | tuple) else (example,)
    if isinstance(block, SymbolBlock):
        arrays, _ = flatten(tuple(args), lambda x: isinstance(x, NDArray))
        dtypes = {n: x._spec.dtype for n, x in zip(block._input_names, arrays, strict=False)}
        inputs = [_variable_of(name, block) for name in block._input_names]
        return inputs, block._symbol, dtypes
    if example is not None:
        block(*args)  # infers the shapes of parameters
        return example_symbols(block, args)
    found = block._cached_graph
    if not found:
        raise GraphError(
            f"convert_hybrid_block: expected {block.name} to be hybridized and called once, so "
            "that it has a graph, got none; call hybridize() and then the block on an input"
        )
    return *found, None


def _variable_of(name: str, block: SymbolBlock) -> Symbol:
    found: Symbol = block._symbol.get_internals()[name]
    return found


R = TypeVar("R")

# The last arguments of MXNet 2.0's signatures.
NEWER_TRAILING = (
    *("target_dtype", "target_dtype_ops", "fp32_ops", "conditional_fp32_ops"),
    "excluded_sym_names",
)
_RENAMED = {"cast_params_offline": "cast_optional_params", "device": "ctx"}


def is_dtype_dict(value: Any) -> bool:
    """Whether a value is a dict of dtypes."""
    return isinstance(value, Mapping)


def is_example(value: Any) -> bool:
    """Whether a value is an array, or a list or tuple of arrays."""
    return isinstance(value, NDArray | list | tuple)


def both_signatures(
    newer: Sequence[str], is_newer: Callable[[Any], bool], at: int
) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Return a decorator that makes a function with MXNet 1.9's signature accept MXNet 2.0's, too.

    Args:
        newer: Names of the positional arguments in MXNet 2.0.
        is_newer: Decides from the argument at index ``at`` whether the call uses MXNet 2.0's order.
        at: Index of the first positional argument whose type differs between the versions.
    """

    def decorate(function: Callable[..., R]) -> Callable[..., R]:
        what = function.__name__

        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> R:
            if len(args) > at and is_newer(args[at]):
                if len(args) > len(newer):
                    raise ArgumentTypeError(
                        f"{what}: expected at most {len(newer)} arguments, {', '.join(newer)}, "
                        f"got {len(args)}"
                    )
                kwargs = _merged(what, dict(zip(newer, args, strict=False)), kwargs)
                args = ()
            for name in _RENAMED.keys() & kwargs.keys():
                kwargs = _merged(what, kwargs, {_RENAMED[name]: kwargs.pop(name)})
            return function(*args, **kwargs)

        shown = inspect.signature(function)
        last = [
            inspect.Parameter(old, inspect.Parameter.KEYWORD_ONLY, default=None)
            for old, new in _RENAMED.items()
            if new in shown.parameters and old in newer
        ]
        call.__signature__ = shown.replace(  # type: ignore[attr-defined]  # with 2.0's names
            parameters=[*shown.parameters.values(), *last]
        )
        return call

    return decorate


def _merged(what: str, first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Merge two dicts of arguments; raise an error if both contain the same name."""
    twice = first.keys() & second.keys()
    if twice:
        raise ArgumentError(f"{what}: expected one value for {min(twice)}, got two")
    return {**first, **second}


Arrays = Mapping[str, NDArray]


@both_signatures(
    ("sym", "input_dtypes", "param_dtypes", *NEWER_TRAILING, "cast_params_offline"),
    is_dtype_dict,
    1,
)
def convert_symbol(
    sym: Symbol,
    target_dtype: Any = "float16",
    target_dtype_ops: Iterable[str] | None = None,
    fp32_ops: Iterable[str] | None = None,
    conditional_fp32_ops: Iterable[Conditional] | None = None,
    excluded_sym_names: Iterable[str] | None = None,
    data_names: Iterable[str] | None = None,
    cast_optional_params: bool = False,
    *,
    input_dtypes: Mapping[str, Any] | None = None,
    param_dtypes: Mapping[str, Any] | None = None,
) -> Symbol:
    """Return a graph with the casts that mixed precision needs; its outputs are float32.

    No value is cast to the same dtype twice. Variables are float32 unless they declare a dtype.
    MXNet 2.0's order of arguments is accepted, too: ``sym, input_dtypes, param_dtypes,
    target_dtype``, then the lists and ``cast_params_offline``.

    Args:
        sym: The graph, a Symbol.
        target_dtype: 16-bit dtype: ``"float16"`` or ``"bfloat16"``.
        target_dtype_ops: Names of the operators that compute in ``target_dtype``; by default
            `list_lp16_ops`.
        fp32_ops: Names of the operators that compute in float32; by default `list_fp32_ops`.
        conditional_fp32_ops: Tuples (operator, attribute, values): with these values the operator
            computes in float32; by default `list_conditional_fp32_ops`.
        excluded_sym_names: Names of nodes that compute in float32 in any case.
        data_names: Names of the variables that are inputs; all others are then parameters, whose
            dtype is stored as an attribute.
        cast_optional_params: Whether a parameter that is only used in ``target_dtype`` is stored in
            it, instead of being cast in the graph. MXNet 2.0 calls it ``cast_params_offline``.
        input_dtypes: Dtypes of inputs by name; the graph's variables then declare them.
        param_dtypes: Dtypes of parameters by name; without ``data_names``, these variables are the
            parameters.

    Raises:
        ArgumentTypeError: ``sym`` is not a Symbol, or an argument is not a list.
        ArgumentError: ``target_dtype`` is neither, or a name is not an operator or is in two lists.
    """
    if not isinstance(sym, Symbol):
        raise ArgumentTypeError(f"convert_symbol: expected a Symbol, got {type(sym).__name__}")
    policy = policy_of(
        "convert_symbol", target_dtype, target_dtype_ops, conditional_fp32_ops, fp32_ops
    )
    parameters: set[str] = set()
    if data_names is not None:
        parameters = set(sym.list_inputs()) - set(data_names)
    elif param_dtypes is not None:
        parameters = set(param_dtypes)
    dtypes = {
        name: normalize_dtype(dtype)
        for name, dtype in {**(param_dtypes or {}), **(input_dtypes or {})}.items()
    }
    conversion = _Conversion(policy, set(excluded_sym_names or ()), parameters, dtypes)
    values = conversion.convert(sym._values, in_dtype=cast_optional_params)
    heads = [type(sym)([value]) for value in values]
    return heads[0] if len(heads) == 1 else Group(heads)


class _Conversion:
    """Converts one graph to mixed precision.

    Args:
        policy: Dtypes of operators.
        excluded: Names of nodes that compute in float32.
        parameters: Names of variables that are weights.
        declared: Dtypes of variables by name, which override those in the graph.
    """

    def __init__(
        self,
        policy: Policy,
        excluded: set[str],
        parameters: set[str],
        declared: Mapping[str, np.dtype[Any]],
    ) -> None:
        self._policy = policy
        self._excluded = excluded
        self._parameters = parameters
        self._declared = declared
        self._made: dict[tuple[int, int], Value] = {}
        self._dtypes: dict[tuple[int, int], np.dtype[Any] | None] = {}
        self._casts: dict[tuple[tuple[int, int], np.dtype[Any]], Value] = {}
        self._direct: set[int] = set()  # new variables that are read without a cast

    def convert(self, outputs: Sequence[Value], *, in_dtype: bool) -> list[Value]:
        """Return the outputs of the new graph.

        Args:
            outputs: Outputs of the old graph.
            in_dtype: Whether to store a parameter in the policy's 16-bit dtype if every operator
                reads it in that dtype.
        """
        for node in topological_order(outputs):
            if node.op is None:
                self._variable(node)
            else:
                self._operator(node)
        heads = [self._made[value.key] for value in outputs]
        self._direct.update(id(head.node) for head in heads)
        heads = [
            self._cast(head, FLOAT32) if self._dtypes[head.key] == self._policy.dtype else head
            for head in heads
        ]
        if self._parameters:
            heads = self._with_dtypes(heads, in_dtype=in_dtype)
        return heads

    def _variable(self, node: Node) -> None:
        extra = node.extra
        if node.array is None and node.name in self._declared:
            flag = str(DTYPE_FLAGS[self._declared[node.name]])
            if flag != extra.get("__dtype__", str(DTYPE_FLAGS[FLOAT32])):
                extra = {**extra, "__dtype__": flag}
        copy = Node(None, node.name, extra=extra, array=node.array)
        value = Value(copy)
        self._made[id(node), 0] = value
        declared = extra.get("__dtype__")
        dtype = FLOAT32 if declared is None else dtype_from_flag(int(declared))
        self._dtypes[value.key] = dtype if node.array is None else node.array._spec.dtype

    def _operator(self, node: Node) -> None:
        assert node.op is not None
        inputs = [self._made[value.key] for value in node.inputs]
        dtypes = [self._dtypes[value.key] for value in inputs]
        targets = self._policy.target_dtypes(node.op, node.attrs, dtypes)
        if node.name in self._excluded:
            targets = [FLOAT32 if dtype == self._policy.dtype else None for dtype in dtypes]
        cast = []
        for value, dtype in zip(inputs, targets, strict=True):
            if dtype is None:
                self._direct.add(id(value.node))
            cast.append(value if dtype is None else self._cast(value, dtype))
        copy = Node(node.op, node.name, cast, node.attrs, extra=node.extra, given=node.given)
        found = self._inferred(copy)
        for i, dtype in enumerate(found):
            self._made[id(node), i] = value = Value(copy, i)
            self._dtypes[value.key] = dtype

    def _inferred(self, node: Node) -> list[np.dtype[Any] | None]:
        """Return the dtypes of a new node's outputs."""
        assert node.op is not None
        inputs = [Node(None, f"{i}") for i in range(len(node.inputs))]
        known = {
            own.name: PartialSpec(None, self._dtypes[value.key])
            for own, value in zip(inputs, node.inputs, strict=True)
        }
        alone = Node(node.op, node.name, [Value(own) for own in inputs], node.attrs)
        inference = Inference([*inputs, alone], known)
        inference.run()
        return [inference.spec(Value(alone, i)).dtype for i in range(node.num_outputs)]

    def _cast(self, value: Value, dtype: np.dtype[Any]) -> Value:
        """Return a value cast to a dtype; all uses of the cast share one node."""
        before = self._dtypes[value.key]
        found = self._casts.get((value.key, dtype))
        if found is None:
            name = f"{_output_name(value)}_amp_cast_{dtype.name}"
            node = Node(
                find_operator("amp_cast"),
                name,
                [value],
                {"dtype": dtype},
                given={"dtype": dtype.name},
            )
            found = self._casts[value.key, dtype] = Value(node)
            self._dtypes[found.key] = dtype if before is None or is_floating(before) else before
        return found

    def _with_dtypes(self, heads: Sequence[Value], *, in_dtype: bool) -> list[Value]:
        """Return the outputs after storing each parameter's dtype, without redundant casts."""
        replaced: dict[tuple[int, int], Value] = {}
        low = self._policy.dtype
        for node in topological_order(heads):
            if node.op is None:
                if node.name in self._parameters and node.array is None:
                    both = {dtype for key, dtype in self._casts if key == (id(node), 0)}
                    narrow = in_dtype and id(node) not in self._direct and both == {low}
                    dtype = low if narrow else self._dtypes[id(node), 0] or FLOAT32
                    extra = {**node.extra, "__dtype__": str(DTYPE_FLAGS[dtype])}
                    replaced[id(node), 0] = own = Value(Node(None, node.name, extra=extra))
                    if narrow:
                        replaced[self._casts[(id(node), 0), low].key] = own
                continue
            if (id(node), 0) in replaced:
                continue
            inputs = [replaced.get(value.key, value) for value in node.inputs]
            copy = Node(node.op, node.name, inputs, node.attrs, extra=node.extra, given=node.given)
            for i in range(node.num_outputs):
                replaced[id(node), i] = Value(copy, i)
        return [replaced.get(head.key, head) for head in heads]


def _output_name(value: Value) -> str:
    """Return the name that a value has as an output of a Symbol."""
    node = value.node
    if node.op is None:
        return node.name
    return f"{node.name}_{output_suffix(node.op, node.attrs, value.index)}"


@both_signatures(
    ("sym", "arg_params", "aux_params", "input_dtypes", *NEWER_TRAILING, "cast_params_offline"),
    is_dtype_dict,
    3,
)
def convert_model(
    sym: Symbol,
    arg_params: Arrays,
    aux_params: Arrays,
    target_dtype: Any = "float16",
    target_dtype_ops: Iterable[str] | None = None,
    fp32_ops: Iterable[str] | None = None,
    conditional_fp32_ops: Iterable[Conditional] | None = None,
    excluded_sym_names: Iterable[str] | None = None,
    cast_optional_params: bool = False,
    *,
    input_dtypes: Mapping[str, Any] | None = None,
) -> tuple[Symbol, dict[str, NDArray], dict[str, NDArray]]:
    """Return a model in mixed precision: the graph, its parameters and its auxiliary states.

    MXNet 2.0's order of arguments is accepted, too: there ``input_dtypes`` precedes
    ``target_dtype``, and ``cast_optional_params`` is ``cast_params_offline``.

    Args:
        sym: The graph, a Symbol.
        arg_params: Parameters by name.
        aux_params: Auxiliary states by name.
        target_dtype: See `convert_symbol`.
        target_dtype_ops: See `convert_symbol`.
        fp32_ops: See `convert_symbol`.
        conditional_fp32_ops: See `convert_symbol`.
        excluded_sym_names: See `convert_symbol`.
        cast_optional_params: See `convert_symbol`; the parameters themselves are cast, too.
        input_dtypes: See `convert_symbol`.

    Raises:
        ArgumentTypeError: ``sym`` is not a Symbol, the parameters are not a dict, or an argument is
            not a list.
        ArgumentError: As for `convert_symbol`.
    """
    if not isinstance(sym, Symbol):
        raise ArgumentTypeError(f"convert_model: expected a Symbol, got {type(sym).__name__}")
    for name, arrays in (("arg_params", arg_params), ("aux_params", aux_params)):
        if not isinstance(arrays, Mapping):
            raise ArgumentTypeError(
                f"convert_model: expected {name} to be a dict of arrays, got "
                f"{type(arrays).__name__}"
            )
    converted = convert_symbol(
        sym,
        target_dtype,
        target_dtype_ops,
        fp32_ops,
        conditional_fp32_ops,
        excluded_sym_names,
        [name for name in sym.list_inputs() if name not in arg_params and name not in aux_params],
        cast_optional_params,
        input_dtypes=input_dtypes,
    )
    dtypes = _narrow(converted, half_dtype("convert_model", target_dtype))
    return converted, _cast_arrays(arg_params, dtypes), _cast_arrays(aux_params, dtypes)


def _narrow(sym: Symbol, dtype: np.dtype[Any]) -> dict[str, np.dtype[Any]]:
    """Return the dtype of each variable that is stored in 16 bits, by name."""
    flag = str(DTYPE_FLAGS[dtype])
    declared = {node.name: node.extra.get("__dtype__") for node in sym._variables()}
    return {name: dtype for name, found in declared.items() if found == flag}


def _cast_arrays(arrays: Arrays, dtypes: Mapping[str, np.dtype[Any]]) -> dict[str, NDArray]:
    return {
        name: array.astype(dtypes[name]) if name in dtypes else array
        for name, array in arrays.items()
    }


@both_signatures(
    ("block", "data_example", *NEWER_TRAILING, "device", "cast_params_offline"), is_example, 1
)
def convert_hybrid_block(
    block: HybridBlock,
    target_dtype: Any = "float16",
    target_dtype_ops: Iterable[str] | None = None,
    fp32_ops: Iterable[str] | None = None,
    conditional_fp32_ops: Iterable[Conditional] | None = None,
    excluded_sym_names: Iterable[str] | None = None,
    ctx: Any = None,
    cast_optional_params: bool = False,
    *,
    data_example: Any = None,
) -> SymbolBlock:
    """Return a network in mixed precision as a SymbolBlock, with its own copies of the parameters.

    MXNet 2.0's order of arguments is accepted, too: there ``data_example`` precedes
    ``target_dtype``, ``ctx`` is ``device`` and ``cast_optional_params`` is ``cast_params_offline``.

    Args:
        block: The network, hybridized and called once; with ``data_example`` only initialized.
        target_dtype: See `convert_symbol`.
        target_dtype_ops: See `convert_symbol`.
        fp32_ops: See `convert_symbol`.
        conditional_fp32_ops: See `convert_symbol`.
        excluded_sym_names: See `convert_symbol`.
        ctx: Device or devices of the parameters; None for the devices of ``block``.
        cast_optional_params: See `convert_symbol`.
        data_example: Arguments of a call: an array, or a list or tuple. The network is called with
            them once; its cached graphs are unchanged.

    Raises:
        ArgumentTypeError: ``block`` is not a HybridBlock, or an argument is not a list.
        ArgumentError: As for `convert_symbol`.
        GraphError: The block has no graph yet, or cannot be traced.
    """
    if not isinstance(block, HybridBlock):
        raise ArgumentTypeError(
            f"convert_hybrid_block: expected a HybridBlock, got {type(block).__name__}"
        )
    inputs, outputs, dtypes = graph_of(block, data_example)
    parameters = {p._full_name: p for p in block.collect_params().values()}
    auxiliary = set(outputs.list_auxiliary_states())
    values = {name: p._reduce() for name, p in parameters.items() if p.shape is not None}
    converted, args, auxs = convert_model(
        outputs,
        {name: x for name, x in values.items() if name not in auxiliary},
        {name: x for name, x in values.items() if name in auxiliary},
        target_dtype,
        target_dtype_ops,
        fp32_ops,
        conditional_fp32_ops,
        excluded_sym_names,
        cast_optional_params,
        input_dtypes=dtypes,
    )
    result = SymbolBlock(converted, inputs)
    devices = ctx
    for name, own in result.collect_params().items():
        if devices is None:
            devices = parameters[name].list_ctx()
        array = args[name] if name in args else auxs[name]
        own._load_init(array, devices, cast_dtype=True, dtype_source="saved")
        own.grad_req = parameters[name].grad_req
    return result
