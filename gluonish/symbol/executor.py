"""Executor: a Symbol bound to arrays, which runs forward and backward in place.

A pass is planned once for each mode and pushed to the engine in bulk, as for a hybridized block.
Unlike there, all arrays exist from the start: every call writes outputs and gradients to the same
memory. With sparse arrays, or if a shape depends on values, the graph runs operator by operator,
and its outputs are new arrays.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gluonish.autograd.scopes import GradientMode
from gluonish.autograd.tape import run_backward, store
from gluonish.core.config import MXNET_ELIMINATE_COMMON_EXPR
from gluonish.core.context import Context
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.object_repr import brief, object_repr
from gluonish.graph.dynamic import is_dynamic, run_imperatively
from gluonish.graph.inference import specialize
from gluonish.graph.ir import Graph, Value
from gluonish.graph.memory_figures import memory_figures
from gluonish.graph.partition import split_passes
from gluonish.graph.passes.simplify import eliminate_common_subexpressions
from gluonish.ndarray import recording
from gluonish.ndarray.creation import array, zeros
from gluonish.ndarray.ndarray import NDArray
from gluonish.ndarray.recording import Leaf
from gluonish.numpy.array import as_np_ndarray
from gluonish.ops.facts import zero_gradient
from gluonish.symbol.backend import partitioned_for_environment
from gluonish.symbol.bound_graphs import graph_of, keep_if_small
from gluonish.symbol.composition import debug_str
from gluonish.symbol.execution_report import ExecutionReport, MonitorCallback
from gluonish.symbol.numpy_symbol import NumpySymbol
from gluonish.symbol.placed_graph import CallKeys, PlacedGraph, node_context
from gluonish.symbol.resized import fitted, resized_arrays
from gluonish.symbol.shapes import check_open_shapes, with_found_shapes
from gluonish.symbol.storage import makes_sparse
from gluonish.symbol.symbol import Symbol

Arrays = list[NDArray]


def _needs_no_head(value: Value) -> bool:
    """Whether an operator is a loss, whose gradient needs no head."""
    op, state = value.node.op, value.node.attrs.get("state")
    if op is None or state is None:
        return op is not None and op.ignores_head_gradient
    return not state.prop.need_top_grad_


def _ignores_head(value: Value) -> bool:
    """Whether no gradient flows through an operator, so that its head is ignored."""
    op = value.node.op
    if op is None:
        return False
    return op.gradient in (None, zero_gradient) or value.node.attrs.get("ret_typ") == "indices"


def _holds(memory: NDArray, x: NDArray) -> bool:
    """Whether the memory of one array can hold another array."""
    return memory.context == x.context and memory.dtype == x.dtype and memory.size >= x.size


def _dense(x: NDArray) -> NDArray:
    return x if x.stype == "default" else x.tostype("default")


class Executor:
    """A Symbol bound to an array for each of its variables; created by `Symbol.bind`.

    Args:
        symbol: The Symbol.
        ctx: Device of the nodes without a ``ctx_group``.
        arguments: Arrays in the order of `Symbol.list_arguments`.
        gradients: An array for the gradient of each argument, or None for no gradient.
        requests: How each gradient is stored: ``"write"``, ``"add"`` or ``"null"``.
        auxiliary: Arrays in the order of `Symbol.list_auxiliary_states`.
        group2ctx: Device of each ``ctx_group``.
        graph: Graph and plans of another executor of this Symbol on these devices, to reuse.

    Attributes:
        arg_arrays: List of the arguments.
        grad_arrays: List of their gradients, None for those without.
        aux_arrays: List of the auxiliary states.
        outputs: List of the outputs. Each forward pass overwrites them, or creates new arrays if a
            shape depends on values or storage is sparse.

    Raises:
        OperatorError: The arrays' shapes or dtypes contradict each other.
    """

    def __init__(
        self,
        symbol: Symbol,
        ctx: Context,
        arguments: Sequence[NDArray],
        gradients: Sequence[NDArray | None],
        requests: Sequence[str],
        auxiliary: Sequence[NDArray],
        group2ctx: Mapping[str, Context],
        graph: PlacedGraph | None = None,
    ) -> None:
        self._symbol = symbol
        self._ctx = ctx
        self._group2ctx = group2ctx
        self._requests = list(requests)
        self.arg_arrays = list(arguments)
        self.grad_arrays = list(gradients)
        self.aux_arrays = list(auxiliary)
        self._arg_names = symbol.list_arguments()
        self._aux_names = symbol.list_auxiliary_states()
        self._leaves = {
            name: Leaf(grad, req)
            for name, grad, req in zip(self._arg_names, self.grad_arrays, requests, strict=True)
            if grad is not None and req != "null"
        }
        variables = symbol._variables()
        self._names = [node.name for node in variables]
        named = {**self.arg_dict, **self.aux_dict}
        self._values = partitioned_for_environment(symbol, named)
        if group2ctx:  # the subgraph of one device does not include all readers
            specs = [named[name]._spec for name in self._names]
            found = with_found_shapes(self._values, variables, specs)
            graph, self._values = (graph if found is self._values else None), found
        if graph is None and not group2ctx and self._values is symbol._values:
            graph = graph_of(symbol, ctx)
        self._graph = graph or PlacedGraph(
            variables,
            self._values,
            lambda node: node_context(node, group2ctx, ctx),
            symbol.name or "executor",
        )
        # Outputs whose shapes depend on values are allocated by calls.
        self._dynamic = is_dynamic(self._values)
        held = [*self.arg_arrays, *(x for x in self.grad_arrays if x is not None)]
        # Sparse operators are not planned; with groups of devices they run on dense arrays.
        sparse = makes_sparse(self._values) or any(x.stype != "default" for x in held)
        self._sparse = sparse and not group2ctx
        self.outputs = [] if self._dynamic else self._new_outputs()
        self._dynamic = self._dynamic or self._sparse
        self._monitor: ExecutionReport | None = None
        self._recorded: Arrays | None = None
        self._keys: CallKeys | None = None
        self._trained = True

    def __repr__(self) -> str:
        shapes = {n: x.shape for n, x in zip(self._arg_names, self.arg_arrays, strict=True)}
        return object_repr(self, brief(self._symbol), f"on {self._ctx}", arguments=shapes)

    def _new_outputs(self) -> Arrays:
        specs = tuple([x._spec for x in self._arrays()])
        placed = self._graph
        found = placed.output_specs.get(specs)
        if found is None:
            variables, values = self._symbol._variables(), self._symbol._values
            check_open_shapes("bind", values, variables, specs)
            graph = specialize(variables, values, specs, train=False)
            found = placed.output_specs[specs] = [value.spec for value in graph.outputs]
            keep_if_small(placed, graph)
        contexts = placed.contexts()
        made = [
            zeros(spec.shape, contexts.get(value.key, self._ctx), spec.dtype)
            for value, spec in zip(self._symbol._values, found, strict=True)
        ]
        is_np = isinstance(self._symbol, NumpySymbol)
        return [as_np_ndarray(x) for x in made] if is_np else made

    def _arrays(self) -> Arrays:
        """Return the arrays of all variables in the order of the graph."""
        return self._readable({**self.arg_dict, **self.aux_dict})

    def _readable(self, named: Mapping[str, NDArray]) -> Arrays:
        """Return arrays in the order of the graph; sparse arrays become dense for plans."""
        arrays = [named[name] for name in self._names]
        return arrays if self._sparse else [_dense(x) for x in arrays]

    @property
    def arg_dict(self) -> dict[str, NDArray]:
        """The arguments, NDArrays by name."""
        return dict(zip(self._arg_names, self.arg_arrays, strict=True))

    @property
    def grad_dict(self) -> dict[str, Any]:
        """The gradients by argument name; None for arguments without one."""
        return dict(zip(self._arg_names, self.grad_arrays, strict=True))

    @property
    def aux_dict(self) -> dict[str, NDArray]:
        """The auxiliary states, NDArrays by name."""
        return dict(zip(self._aux_names, self.aux_arrays, strict=True))

    @property
    def output_dict(self) -> dict[str, NDArray]:
        """The outputs, NDArrays by name.

        Raises:
            ArgumentError: Two outputs have the same name.
        """
        names = self._symbol.list_outputs()
        if len(set(names)) < len(names):
            raise ArgumentError(f"output_dict: expected distinct output names, got {names}")
        return dict(zip(names, self.outputs, strict=True))

    def forward(self, is_train: bool = False, **kwargs: Any) -> Arrays:
        """Compute the outputs and return them.

        Args:
            is_train: Whether to run in training mode and record for `backward`.
            **kwargs: New values of arguments by name, NDArrays or NumPy arrays, which are copied.

        Returns:
            The list ``outputs``.

        Raises:
            ArgumentTypeError: A name is not an argument, or a value is not an array.
            ArgumentError: A value's shape differs from that of the argument.
        """
        self._assign(kwargs)
        self._trained = is_train = bool(is_train)
        record = is_train and bool(self._leaves)
        mode = recording.TRAINING * is_train + recording.RECORDING * record
        recorded = self._run(self.outputs, mode, self._arrays())
        if self._dynamic:
            self.outputs = [y.detach() for y in recorded]
        self._recorded = recorded if record else None
        return self.outputs

    def _assign(self, values: Mapping[str, Any]) -> None:
        if not values:
            return
        arguments = self.arg_dict
        for name, value in values.items():
            if name not in arguments:
                raise ArgumentTypeError(
                    f"forward: expected arguments among {self._arg_names}, got {name}"
                )
            if not isinstance(value, NDArray | np.ndarray):
                raise ArgumentTypeError(
                    f"forward: expected {name} to be an NDArray or a NumPy array, got "
                    f"{type(value).__name__}"
                )
            target = arguments[name]
            if value.shape != target.shape:
                raise ArgumentError(
                    f"forward: expected {name} of shape {target.shape}, got {value.shape}"
                )
            if not isinstance(value, NDArray):
                value = array(value, target.context, target.dtype)
            value.detach().copyto(target)

    def _run(
        self, outputs: Arrays, mode: int, arrays: Arrays, keys: CallKeys | None = None
    ) -> Arrays:
        """Compute outputs in a mode, and return them, connected to the tape if the mode records."""
        connected = []
        # A monitor receives all gradients, also those that are not stored.
        reported = self._monitor is not None and mode & recording.RECORDING
        for name, x in zip(self._names, arrays, strict=True):
            if not self._sparse or x.stype == "default":
                x._make_contiguous()
            leaf = self._leaves.get(name)
            if leaf is None and reported:
                leaf = Leaf(x, "null")
            connected.append(x.detach() if leaf is None else x.connected((leaf, 0)))
        before = recording.mode.get()
        try:
            recording.mode.set(mode | before & recording.CHECKED)
            hook = None
            if self._monitor is not None:
                self._monitor.begin()
                hook = self._monitor.forward, self._monitor.monitor_all
            if self._dynamic:
                variables = self._symbol._variables()
                handles = run_imperatively(variables, self._values, connected, hook)
            elif hook is None:
                handles, self._keys = self._graph.fill(connected, outputs, keys)
            else:
                handles = self._graph.monitored(connected, outputs, hook)
        finally:
            recording.mode.set(before)
        return handles

    def backward(self, out_grads: Any = None, is_train: bool = True) -> None:
        """Compute the gradients of the arguments and store them as ``grad_req`` says.

        Call it after `forward`. If that was not in training mode, or `backward` was called already,
        the forward pass is computed again, with the same random numbers.

        Args:
            out_grads: Gradients of the outputs: an array, a list, or a dict by output name; None if
                all outputs are losses.
            is_train: Whether to compute the gradients in training mode.

        Raises:
            ArgumentError: A gradient is missing or has another shape than its output.
        """
        if not self._leaves:
            return
        heads = self._heads(out_grads)
        recorded = self._recorded or self._record_again()
        self._recorded = None
        pairs = [(y, g) for y, g in zip(recorded, heads, strict=True) if y._edge is not None]
        reached = list(self._leaves.values())
        for leaf in reached:
            leaf.updated = False
        if pairs:
            with GradientMode(create_graph=False, train_mode=bool(is_train)):
                run_backward(
                    [y for y, _ in pairs],
                    [g for _, g in pairs],
                    retain_graph=False,
                    observe=None if self._monitor is None else self._monitor.backward,
                )
        for leaf in reached:
            if not leaf.updated and leaf.req == "write":
                store(leaf, None)

    def _record_again(self) -> Arrays:
        """Repeat the last forward pass with the same random numbers, and record it.

        Neither the outputs nor the auxiliary states change.
        """
        train = self._trained
        mode = recording.RECORDING + recording.TRAINING * train
        named = self.arg_dict | {name: x.copy() for name, x in self.aux_dict.items()}
        arrays = self._readable(named)
        scratch = [y.copy() for y in self.outputs]
        return self._run(scratch, mode, arrays, self._keys)

    def _heads(self, out_grads: Any) -> list[NDArray | None]:
        if out_grads is None:
            heads: list[NDArray | None] = [None] * len(self.outputs)
        elif isinstance(out_grads, NDArray):
            heads = [out_grads]
        elif isinstance(out_grads, Mapping):
            heads = [out_grads.get(name) for name in self._symbol.list_outputs()]
        else:
            heads = list(out_grads)[: len(self.outputs)]
        if len(heads) != len(self.outputs):
            raise ArgumentError(
                f"backward: expected {len(self.outputs)} gradients of outputs, got {len(heads)}"
            )
        values = self._symbol._values
        names = self._symbol.list_outputs()
        return [
            self._head(name, value, output, gradient)
            for name, value, output, gradient in zip(
                names, values, self.outputs, heads, strict=True
            )
        ]

    def _head(
        self, name: str, value: Value, output: NDArray, gradient: NDArray | None
    ) -> NDArray | None:
        if _ignores_head(value):
            return None
        is_loss = _needs_no_head(value)
        if gradient is None:
            if not is_loss:
                raise ArgumentError(
                    f"backward: expected out_grads for output {name}, not a loss, got None"
                )
            return None
        if gradient.shape != output.shape and is_loss and not value.node.attrs.get("out_grad"):
            return None  # it computes its own
        if gradient.shape != output.shape:
            raise ArgumentError(
                f"backward: expected a gradient of shape {output.shape} for output {name}, got "
                f"{gradient.shape}"
            )
        moved: NDArray = gradient.detach().as_in_context(output.context)
        return moved if moved.dtype == output.dtype else moved.astype(output.dtype)

    def copy_params_from(
        self,
        arg_params: Mapping[str, NDArray],
        aux_params: Mapping[str, NDArray] | None = None,
        allow_extra_params: bool = False,
    ) -> None:
        """Copy values into the arguments and auxiliary states, converting their dtype.

        Args:
            arg_params: Values of arguments by name.
            aux_params: Values of auxiliary states by name.
            allow_extra_params: Whether to ignore names that the Symbol does not have.

        Raises:
            ArgumentError: The Symbol does not have a name, or a shape differs.
        """
        kinds = (
            ("arguments", self.arg_dict, arg_params),
            ("auxiliary states", self.aux_dict, aux_params or {}),
        )
        for kind, own, given in kinds:
            for name, value in given.items():
                if name in own:
                    value.detach().copyto(own[name])
                elif not allow_extra_params:
                    raise ArgumentError(
                        f"copy_params_from: expected {kind} among {list(own)}, got {name}"
                    )

    def reshape(
        self, partial_shaping: bool = False, allow_up_sizing: bool = False, **kwargs: Any
    ) -> "Executor":
        """Return an executor for other input shapes that shares memory with this one.

        Args:
            partial_shaping: Whether shapes of arguments that are not listed may change, too.
            allow_up_sizing: Whether arrays may grow, which allocates new memory.
            **kwargs: New shapes by argument name.

        Raises:
            ArgumentError: A shape changes or grows without permission, or cannot be inferred.
        """
        arguments, gradients, auxiliary = resized_arrays(
            self._symbol,
            (self.arg_dict, self.grad_dict, self.aux_dict),
            kwargs,
            partial_shaping=partial_shaping,
            allow_up_sizing=allow_up_sizing,
        )
        made = Executor(
            *(self._symbol, self._ctx, arguments, gradients, self._requests, auxiliary),
            self._group2ctx,
            self._graph,
        )
        made._monitor = self._monitor
        made.outputs = [
            fitted(mine, own.shape) if not made._sparse and _holds(mine, own) else own
            for mine, own in zip(self.outputs, made.outputs, strict=False)
        ]
        return made

    def set_monitor_callback(self, callback: MonitorCallback, monitor_all: bool = False) -> None:
        """Call ``callback(name, array)`` with the outputs of every operator, for debugging.

        With a callback, the forward pass runs operator by operator. A backward pass reports the
        gradients of an operator's inputs as ``<name>_backward_output``, numbered if it has several
        inputs.

        Args:
            callback: Function that takes the name of the value and its array.
            monitor_all: Whether to report inputs, too; ``<name>_backward_input0`` .. are the
                gradients of an operator's outputs.
        """
        self._monitor = ExecutionReport(callback, monitor_all, frozenset(self._names))

    def debug_str(self) -> str:
        """Return the graph as text, and the planned memory of a pass in MB.

        The memory includes outputs, values that the forward pass saves for the backward pass, and
        intermediate values, but not the arguments and their gradients.
        """
        variables = self._symbol._variables()
        arrays = {**self.arg_dict, **self.aux_dict}
        specs = [arrays[name]._spec for name in self._names]
        grad_inputs = [i for i, name in enumerate(self._names) if name in self._leaves]
        nbytes = sum(y._spec.nbytes for y in self.outputs)
        if not self._dynamic:
            graph = specialize(variables, self._values, specs, train=bool(grad_inputs))
            nbytes += memory_figures(split_passes(graph, grad_inputs)).planned
        return f"{debug_str(self._symbol)}Total {nbytes >> 20} MB allocated\n"

    def get_optimized_symbol(self) -> Symbol:
        """Return the graph that runs, without common subexpressions.

        ``MXNET_ELIMINATE_COMMON_EXPR=0`` and ``group2ctx`` keep them. Replacements by a user's back
        end that ``MXNET_SUBGRAPH_BACKEND`` names are included.
        """
        if self._group2ctx or not MXNET_ELIMINATE_COMMON_EXPR.value:
            return Symbol(self._values)
        graph = Graph(self._symbol._variables(), self._values)
        return Symbol(eliminate_common_subexpressions(graph).outputs)
