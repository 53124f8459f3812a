"""HybridBlock: a Block that can be traced into a graph, which is planned once and then run.

Two styles are supported: ``hybrid_forward(F, x, **params)`` of MXNet 1.x, where ``F`` is the
``nd`` or the ``sym`` namespace, and ``forward(x)`` of 2.0, which is traced by running it on arrays
without values, or runs as Python if `follows_mxnet1`. `hybrid_graph` implements both.
"""

import os
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import gluonish.ndarray as nd
import gluonish.symbol as sym
from gluonish.core.collection_pause import CollectionPause
from gluonish.core.errors import (
    DeferredInitializationError,
    NotSupportedError,
    OperatorError,
)
from gluonish.core.mxnet_rules import follows_mxnet1
from gluonish.core.timeout_lock import TimeoutLock
from gluonish.core.tracebacks import shorten
from gluonish.core.versions import Basis, Version
from gluonish.gluon.block import mxnet_attributes
from gluonish.gluon.block.arguments import (
    by_position,
    check_one_kind,
    no_arrays_error,
    pack_arguments,
    unhashable_error,
)
from gluonish.gluon.block.block import Block
from gluonish.gluon.block.block_errors import (
    binding_error,
    child_error,
    explain_call,
    input_error,
    refuse_assigned_data,
    refuse_unconstructed,
)
from gluonish.gluon.block.checkpointing import call_checkpointed, holds_checkpoints
from gluonish.gluon.block.checkpointing import state as checkpoints
from gluonish.gluon.block.hooks import warn_of_hooks
from gluonish.gluon.block.hybrid_graph import Graph, HybridGraph, ImperativeCall, graph_of_call
from gluonish.gluon.block.newest_graph import InferredGraph, describe, export_graph
from gluonish.gluon.block.options import HybridOptions, checked_options
from gluonish.gluon.block.tracing import (
    Reads,
    Traced,
    forward_with_shapes,
    infer_parameters,
    is_symbolic,
    set_deferred_shapes,
)
from gluonish.gluon.parameter.paths import locate
from gluonish.graph.pytree import flatten
from gluonish.ndarray import NDArray, recording
from gluonish.ndarray.recording import tracer
from gluonish.ops import autocast
from gluonish.symbol import NumpySymbol, Symbol
from gluonish.symbol.refusals import HybridForward

_MAX_GRAPHS = 32  # maximum number of cached graphs of a 2.0 style block, one for each signature
# Warn if this many graphs in a row were dropped within this many seconds of their trace.
_MANY, _SOON_S = 16, 1.0
_CALLER = 6  # stack level of the block's caller in the warning
_ONE_ARRAY = (tuple, (None,))  # pytree of a call with one array


def _is_array(value: Any) -> bool:
    return isinstance(value, NDArray | Symbol)


class HybridBlock(Block):
    """Base class of layers and networks that can be hybridized: run as a compiled graph.

    A subclass defines ``hybrid_forward(self, F, x, *args, **params)``, which receives the block's
    parameters by name and computes with functions of ``F`` only, or ``forward(self, x, *args)``
    with any functions of its arguments::

        class Net(HybridBlock):
            def __init__(self, **kwargs):
                super().__init__(**kwargs)
                with self.name_scope():
                    self.hidden = nn.Dense(20)
                    self.output = nn.Dense(10)

            def hybrid_forward(self, F, x):
                return self.output(F.relu(self.hidden(x)))

    Args:
        prefix: As of `Block`.
        params: As of `Block`.

    Example:
        >>> import gluonish as mx
        >>> class Scaled(mx.gluon.HybridBlock):
        ...     def hybrid_forward(self, F, x):
        ...         return 2 * F.relu(x)
        >>> net = Scaled()
        >>> net.hybridize()
        >>> net(mx.nd.array([-1, 3])).tolist()
        [0.0, 6.0]
    """

    # Whether the class computes in hybrid_forward, in the style of MXNet 1.x.
    has_hybrid_forward: ClassVar[bool] = True

    _checked: int = -1  # `Version.newest` when the graphs were last validated
    _dropped: int = 0  # graphs dropped in a row, each soon after its trace

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "has_hybrid_forward" not in cls.__dict__:
            owner = next(base for base in cls.__mro__ if "forward" in vars(base))
            if owner is cls:
                cls.has_hybrid_forward = cls.forward is HybridBlock.forward
            else:
                cls.has_hybrid_forward = getattr(owner, "has_hybrid_forward", False)

    def __init__(self, prefix: str | None = None, params: Any = None) -> None:
        super().__init__(prefix, params)
        self._active = False
        self._options = HybridOptions()
        self._graphs: dict[Any, Graph] = {}
        self._untraceable: str | None = None  # why no call can be traced
        self._is_symbolic: bool | None = None
        # The graph of `infer_shape` or `infer_type`.
        self._inferred: tuple[Traced, Basis] | None = None
        self._trace_lock = TimeoutLock()
        self._op_hook: tuple[Callable[..., Any], bool] | None = None

    def __getstate__(self) -> dict[str, Any]:
        state = {**self.__dict__, "_graphs": {}, "_inferred": None}
        del state["_trace_lock"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__({**state, "_trace_lock": TimeoutLock()})

    def register_child(self, block: Block, name: str | None = None) -> None:
        """Add a HybridBlock as a child of this one; assigning it to an attribute does the same.

        Args:
            block: The child.
            name: Its name in attribute paths; by default its index among the children.

        Raises:
            ArgumentTypeError: ``block`` is not a HybridBlock.
        """
        if not isinstance(block, HybridBlock):
            raise child_error(self, block, "HybridBlock")
        super().register_child(block, name)

    def hybridize(
        self,
        active: bool = True,
        backend: str | None = None,
        clear: bool = True,
        static_alloc: bool = False,
        static_shape: bool = False,
        inline_limit: int = 2,
        forward_bulk_size: int | None = None,
        backward_bulk_size: int | None = None,
        **kwargs: Any,
    ) -> None:
        """Switch graph execution on or off: the next call traces the block and plans its graph.

        A later call traces again if this block or one in it has changed: its children, parameters,
        their dtypes, or an attribute that was read in the trace (when the package is imported as
        ``mxnet``, graphs keep old attribute values, as in MXNet). Changes inside lists, dicts and
        other objects, of classes, of global names and of functions have no effect until the next
        `hybridize`. A value that differs in each call should be an input: tracing is slow, and
        frequent tracing raises a warning.

        Args:
            active: True for on, False for off.
            backend: Name of a back end registered with `mx.sym.register_backend`, which may replace
                subgraphs; it runs after earlier back ends unless ``clear``. None, ``"MKLDNN"`` and
                ``"ONEDNN"`` change nothing: oneDNN is used wherever it supports an operator.
            clear: Whether to drop the graphs traced so far.
            static_alloc: Whether to keep all memory of the graph between calls; without it, all
                networks together cache at most 64 MB.
            static_shape: Whether a GPU repeats launches as CUDA graphs, unless
                ``MXNET_ENABLE_CUDA_GRAPHS=0``; needs ``static_alloc``.
            inline_limit: `autograd.get_symbol` shows a call of a graph with more operators, or with
                ``static_alloc``, as one ``_CachedOp`` node; files always contain the operators.
            forward_bulk_size: Maximum number of operators in one engine operation of the forward
                pass; None or 0 for the value of ``MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD``.
            backward_bulk_size: The same for the backward pass.
            **kwargs: Options of ``backend``, without effect if there is none. With
                ``partition_if_dynamic=False`` it skips graphs whose shapes depend on values.

        Raises:
            ArgumentError: ``static_shape`` without ``static_alloc``, or a negative number.
            ArgumentTypeError: A flag is not a bool, a number not an int, or an option misspelt.
            NotSupportedError: The back end is not registered.
            GraphError: In the next call, if the back end fails or returns an invalid graph.

        Warns:
            UserWarning: Forward hooks are registered; they are not called when this block runs as
                part of a larger graph.
        """
        flags: dict[str, Any] = {
            "active": active,
            "static_alloc": static_alloc,
            "static_shape": static_shape,
            "inline_limit": inline_limit,
            "forward_bulk_size": forward_bulk_size,
            "backward_bulk_size": backward_bulk_size,
        }
        options = checked_options(f"{self.name}.hybridize", flags, backend, kwargs)
        if active and self._hooks:
            warn_of_hooks(self.name)
        earlier = () if clear else self._options.backends
        self._active = bool(active)
        self._options = options._replace(backends=(*earlier, *options.backends))
        self._untraceable = None
        if clear or options.backends:
            self._clear_cached_op()
        super().hybridize(clear=clear, **flags)

    def optimize_for(
        self,
        x: NDArray,
        *args: Any,
        backend: str | None = None,
        clear: bool = False,
        static_alloc: bool = False,
        static_shape: bool = False,
        inline_limit: int = 2,
        forward_bulk_size: int | None = None,
        backward_bulk_size: int | None = None,
        **kwargs: Any,
    ) -> None:
        """Hybridize with a back end, and run once on example inputs to trace and plan the graph.

        ``x`` and ``*args`` are example inputs. The options are those of `hybridize`. Unless
        ``clear``, the graphs and back ends of earlier calls stay, and this back end receives their
        result.
        """
        flags = (static_alloc, static_shape, inline_limit, forward_bulk_size, backward_bulk_size)
        self.hybridize(True, backend, clear, *flags, **kwargs)
        self(x, *args)

    def _clear_cached_op(self) -> None:
        """Drop this block's graphs, and invalidate the graphs of enclosing blocks."""
        if "_graphs" in self.__dict__:
            self._drop_graphs()
            self._version.change()

    def _drop_graphs(self) -> None:
        self._graphs = {}
        self._is_symbolic = self._inferred = None

    def _forget_changed(self) -> None:
        """Drop the graphs if a block that they depend on has changed since the trace."""
        newest = Version.newest  # read before the checks, as blocks may change meanwhile
        bases = [graph.basis for graph in self._graphs.values()]
        if self._inferred is not None:
            bases.append(self._inferred[1])
        if not bases:
            self._is_symbolic = None
        elif not all(basis.holds() for basis in bases):
            self._warn_of_many(bases[-1])
            self._drop_graphs()
            self._untraceable = None
        self._checked = newest

    def _warn_of_many(self, basis: Basis) -> None:
        """Warn once if many graphs in a row were dropped soon after their trace."""
        name = basis.changed()
        soon = name is not None and time.monotonic() - basis.made_s < _SOON_S
        self._dropped = self._dropped + 1 if soon else 0
        if self._dropped == _MANY:
            warnings.warn(
                f"{self.name}: hybridized, but traced {_MANY} times in a row because the attribute "
                f"{name!r} was set between calls; tracing takes much longer than a call: make it "
                "an input of the block, or a Constant parameter and set its data",
                UserWarning,
                stacklevel=_CALLER,
            )

    def _newest_graph(self) -> Graph | InferredGraph | None:
        """Return the last traced graph, or else that of `infer_shape` or `infer_type`, or None."""
        self._forget_changed()
        graph = next(reversed(self._graphs.values()), None)
        if graph is None and self._inferred is not None:
            return InferredGraph(self, self._inferred[0])
        return graph

    def cast(self, dtype: Any) -> None:
        """Convert all parameters to another element type, in which the block then computes.

        Args:
            dtype: The new element type, such as ``"float16"``.
        """
        self._clear_cached_op()
        super().cast(dtype)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the outputs, as a graph if hybridized, with hooks before and after.

        Args:
            *args: Arguments of `hybrid_forward` without ``F``, or of `forward`.
            **kwargs: Arguments by keyword.

        Raises:
            ArgumentTypeError: Neither `forward` nor `hybrid_forward` has such an argument.
        """
        try:
            if kwargs:
                args, kwargs = by_position(self, args, kwargs)
            if self._hooks or (checkpoints.used and recording.mode.get() & recording.RECORDING):
                forward = self._call_graph if self._active else self._call_forward
                if self._checkpointed and recording.mode.get() & recording.RECORDING:
                    forward = partial(call_checkpointed, self, forward)
                return self._hooks.around(self, args, forward, kwargs)
            if not self._active:
                return self._call_forward(*args, **kwargs)
            if len(args) == 1 and isinstance(args[0], NDArray) and not (kwargs or tracer.get()):
                graph = self._graphs.get(_ONE_ARRAY)  # fast path of `_call_graph`
                no_autocast = autocast.here.get() is None and autocast.state.policy is None
                if (
                    graph is not None
                    and graph.basis.checked == Version.newest  # nothing changed since the trace
                    and no_autocast
                    and args[0].stype == "default"
                ):
                    return graph.run(args, self._op_hook)
            return self._call_graph(*args, **kwargs)
        except Exception as error:
            refuse_unconstructed(self)
            if not args and isinstance(error, TypeError) and self.has_hybrid_forward:
                raise binding_error(self, self._reg_params, self.hybrid_forward, 0) from None
            explain_call(self, error, len(args))
            shorten(error, sys._getframe(1))
            raise

    def _call_graph(self, *args: Any, **kwargs: Any) -> Any:
        """Run the graph of a call, tracing the call first if needed."""
        if not self.has_hybrid_forward and follows_mxnet1():
            return self._call_forward(*args, **kwargs)
        if checkpoints.used and self._is_divided():
            return self._call_forward(*args, **kwargs)
        graph, arrays = self._graph_of(*args, **kwargs)
        if graph is None:  # part of a larger graph
            return self._call_forward(*args, **kwargs)
        return graph.run(arrays, self._op_hook)

    def _is_divided(self) -> bool:
        """Whether a call runs the Blocks in this one by one, since some are checkpointed."""
        is_recorded = bool(recording.mode.get() & recording.RECORDING)
        return is_recorded and tracer.get() is None and holds_checkpoints(self)

    def _clear_graphs(self) -> None:
        self._clear_cached_op()

    def _graph_of(self, *args: Any, **kwargs: Any) -> tuple[Graph | None, list[Any]]:
        """Return the graph of a call (None inside a larger graph), and the call's arrays."""
        arrays: list[Any]
        pytree: Any
        if len(args) == 1 and isinstance(args[0], NDArray) and not kwargs:
            arrays, pytree = [args[0]], _ONE_ARRAY
        else:
            arrays, pytree = flatten(pack_arguments(args, kwargs), _is_array)
        for x in arrays:
            if not isinstance(x, NDArray) or tracer.get() is not None:  # part of a larger graph
                return None, arrays
            if x.stype != "default":
                return ImperativeCall(self, pytree, "graphs do not support sparse arrays"), arrays
        if not arrays:
            raise no_arrays_error(self, args, kwargs)
        if self._checked != Version.newest:
            self._forget_changed()
        key = pytree
        if self._is_symbolic is None:
            self._is_symbolic = is_symbolic(self)
        if not self._is_symbolic:
            # A 2.0 style `forward` may depend on shapes and on the mode.
            signature = tuple([(type(x), x._spec) for x in arrays])
            key = pytree, signature, recording.mode.get() & ~recording.OBSERVED
        if autocast.state.used and (policy := autocast.current()) is not None:
            key = key, policy  # casts are nodes of the graph
        try:
            graph = self._graphs.get(key)
        except TypeError:
            raise unhashable_error(self, args, kwargs) from None
        if graph is None:
            with CollectionPause():
                graph = self._trace(key, pytree, arrays)
        return graph, arrays

    def _graph_options(self) -> HybridOptions:
        """Return the options of a graph; those of checkpointed Blocks keep no memory."""
        if not self._checkpoint_depth:
            return self._options
        return self._options._replace(static_alloc=False, static_shape=False)

    def _trace(self, key: Any, pytree: Any, arrays: list[NDArray]) -> Graph:
        with self._trace_lock:
            graph = self._graphs.get(key)
            if graph is None:
                with Reads() as found:
                    graph = graph_of_call(self, pytree, arrays, self._graph_options())
                graph.basis = found.basis(graph.parameters)
                if len(self._graphs) >= _MAX_GRAPHS:
                    self._graphs.pop(next(iter(tuple(self._graphs))), None)
                self._graphs[key] = graph
            return graph

    def _call_forward(self, *args: Any, **kwargs: Any) -> Any:
        """Run ``forward`` on its arguments' device, or in a trace."""
        try:
            if self.has_hybrid_forward:
                return self.forward(*args, **kwargs)
            first = next(iter(flatten(pack_arguments(args, kwargs), _is_array)[0]), None)
            if not isinstance(first, NDArray) or first.is_traced:
                with self.name_scope():
                    return forward_with_shapes(self, args, kwargs)
            with first.context:  # so that Parameter.data() returns the array on this device
                return forward_with_shapes(self, args, kwargs)
        except OperatorError as error:
            if not error.located:
                locate(error, self)
                self._explain(error, args)
            raise

    def _explain(self, error: OperatorError, args: Sequence[Any]) -> None:
        """Add what the class knows to the message of an operator's error in its call."""

    def _refuse_inputs(self, args: Sequence[Any]) -> None:
        """Raise an error that names an input of a wrong type, after a call with it failed."""

    if not TYPE_CHECKING:  # type checkers see Block.forward, so that a subclass may name its inputs

        def forward(self, x: Any, *args: Any) -> Any:
            """Call ``hybrid_forward``: imperatively on NDArrays, as part of a graph on Symbols.

            Args:
                x: First input, NDArray or Symbol.
                *args: The other inputs.
            """
            return self._by_hybrid_forward(x, *args)

    def _by_hybrid_forward(self, x: Any, *args: Any) -> Any:
        """Call ``hybrid_forward`` with the parameters as keyword arguments."""
        first = x if _is_array(x) else next(iter(flatten((x, *args), _is_array)[0]), None)
        if first is None:
            raise input_error(self, x)
        kind = type(first)
        for other in (x, *args) if args else (x,):
            if type(other) is not kind:
                check_one_kind(self, first, (x, *args))
                break
        is_graph = self._active and self.has_hybrid_forward and isinstance(first, NDArray)
        if is_graph and not (checkpoints.used and self._is_divided()):
            graph, inputs = self._graph_of(x, *args)  # a direct call of `forward` uses the graph
            if isinstance(graph, HybridGraph):
                return graph.run(inputs, self._op_hook)
        try:
            if isinstance(first, Symbol):
                values = {name: parameter.var() for name, parameter in self._reg_params.items()}
                if isinstance(first, NumpySymbol):
                    values = {name: value.as_np_ndarray() for name, value in values.items()}
                with self.name_scope(), HybridForward():
                    return self.hybrid_forward(sym, x, *args, **values)
            try:
                arrays = {name: p.data(first.context) for name, p in self._reg_params.items()}
            except DeferredInitializationError:
                # An overriding `forward` may have called this method with other arguments.
                base = None if self.has_hybrid_forward else partial(HybridBlock.forward, self)
                set_deferred_shapes(self, (x, *args), self.collect_params().values(), base)
                arrays = {name: p.data(first.context) for name, p in self._reg_params.items()}
            if first.is_traced:
                with self.name_scope():
                    return self.hybrid_forward(nd, x, *args, **arrays)
            return self.hybrid_forward(nd, x, *args, **arrays)
        except TypeError as error:
            refuse_assigned_data(self._reg_params)
            trace = error.__traceback__
            if trace is None or trace.tb_next is not None:
                self._refuse_inputs((x, *args))
                raise
            function = self.hybrid_forward
            raise binding_error(self, self._reg_params, function, 1 + len(args)) from None

    def hybrid_forward(self, F: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        """Compute the outputs; defined by a subclass (or else ``forward``).

        Args:
            F: The namespace of functions to compute with, ``nd`` or ``sym``.
            x: First input.
            *args: The other inputs.
            **kwargs: This block's parameters by attribute name.

        Raises:
            NotSupportedError: The class does not define ``hybrid_forward``.
        """
        raise NotSupportedError(
            f"{type(self).__name__}: expected a class that defines hybrid_forward(self, F, x, ...) "
            "or forward(self, x, ...), got one that defines neither"
        )

    def infer_shape(self, *args: Any) -> None:
        """Infer unknown parameter shapes from example inputs; `export` then works without a call.

        Args:
            *args: The arguments of a call.

        Raises:
            OperatorError: An operator does not support the shapes.
            ParameterError: A shape remains unknown.
        """
        self._infer(args, shapes=True)

    def infer_type(self, *args: Any) -> None:
        """Infer the dtypes of parameters from example inputs.

        Args:
            *args: The arguments of a call.
        """
        self._infer(args, shapes=False)

    def _infer(self, args: tuple[Any, ...], *, shapes: bool) -> None:
        """Infer shapes or dtypes, and record the versions that the inferred graph depends on."""
        with Reads() as found:
            traced = infer_parameters(self, args, shapes=shapes)
        self._inferred = None if traced is None else (traced, found.basis())

    def export(
        self, path: str | os.PathLike[str] | None, epoch: int = 0, remove_amp_cast: bool = True
    ) -> Any:
        """Export graph and parameters for `SymbolBlock.imports`, Module or MXNet.

        Args:
            path: Path prefix: the files are ``path-symbol.json`` and ``path-0000.params``. The
                extension ``.safetensors`` or ``.npz`` selects the format of the parameters:
                ``net.safetensors`` gives ``net-symbol.json`` and ``net-0000.safetensors``. None to
                write nothing, and return what the files would hold.
            epoch: Number in the name of the parameter file, in four digits.
            remove_amp_cast: Whether to remove the casts of mixed precision from the graph.

        Returns:
            The names of both files; the graph as a Symbol and a dict of arrays if ``path`` is None.

        Raises:
            GraphError: There is no graph; hybridize the block and call it once first.
            ArgumentTypeError: ``path`` is not a path, or ``epoch`` not a number.
            MissingFileError: The folder does not exist.
        """
        return export_graph(self, self._newest_graph(), path, epoch, remove_amp_cast)

    def _describe_graph(self) -> dict[str, Any]:
        return describe(self._newest_graph())

    def _rehybridize(self) -> None:
        self._active = True
        self._clear_cached_op()

    def register_op_hook(self, callback: Callable[..., Any], monitor_all: bool = False) -> None:
        """Call a function with the output of every operator in the hybridized block, for debugging.

        While a hook is registered, graphs run operator by operator.

        Args:
            callback: Called with the output's name, the operator's name, and the array.
            monitor_all: Whether to report the operators' inputs as well.
        """
        self._op_hook = (callback, monitor_all)
        super().register_op_hook(callback, monitor_all)

    # Private names of MXNet that programs use.
    _cached_graph = property(mxnet_attributes.cached_graph)
    _cached_op = property(mxnet_attributes.cached_op)
    _flags = property(mxnet_attributes.flags)
    _in_format = property(mxnet_attributes.in_format)
    _out_format = property(mxnet_attributes.out_format)
    _deferred_infer_shape = mxnet_attributes.deferred_infer_shape
    _get_graph = mxnet_attributes.get_graph
    _build_cache = mxnet_attributes.build_cache
    _call_cached_op = mxnet_attributes.call_cached_op
