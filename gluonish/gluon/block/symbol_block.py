"""SymbolBlock: a Block around a graph that was composed or loaded."""

import os
from collections.abc import Sequence
from typing import Any

import gluonish.symbol as sym
from gluonish.core.errors import ArgumentError, ArgumentTypeError, DeferredInitializationError
from gluonish.gluon.block.arguments import check_one_kind
from gluonish.gluon.block.export_files import values_by_name, write_model
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.block.tracing import set_deferred_shapes
from gluonish.gluon.parameter import ParameterDict
from gluonish.graph.pytree import flatten, from_numbers, numbered, regroup
from gluonish.graph.rewrite import replay
from gluonish.graph.traced_array import shown, value_of
from gluonish.ndarray import NDArray, recording
from gluonish.symbol import Group, Symbol
from gluonish.symbol.shapes import declared, to_public


class SymbolBlock(HybridBlock):
    """A network built from a Symbol; all variables except the inputs become parameters.

    Args:
        outputs: Symbol of the outputs, or a list of Symbols.
        inputs: The variables that are inputs: one, or a list.
        params: ParameterDict to take parameters from; missing ones are created.

    Raises:
        ArgumentError: An input is not a variable.
        ArgumentTypeError: An input or output is not a Symbol.

    Example:
        >>> import gluonish as mx
        >>> data = mx.sym.var("data")
        >>> net = mx.gluon.SymbolBlock(mx.sym.relu(data), data)
        >>> net(mx.nd.array([-1, 3])).tolist()
        [0.0, 3.0]
    """

    has_hybrid_forward = True  # its graph is composed from Symbols

    def __init__(
        self,
        outputs: Symbol | Sequence[Symbol],
        inputs: Symbol | Sequence[Symbol],
        params: ParameterDict | None = None,
    ) -> None:
        super().__init__(prefix=None, params=None)
        self._prefix, self._params = "", ParameterDict("", params)
        listed = _symbols("inputs", inputs)
        for symbol in listed:
            if len(symbol) != 1 or symbol._values[0].node.op is not None:
                raise ArgumentError(f"SymbolBlock: expected inputs to be variables, got {symbol!r}")
        heads = [outputs] if isinstance(outputs, Symbol) else _symbols("outputs", outputs)
        self._symbol: Symbol = heads[0] if len(heads) == 1 else Group(heads)
        self._input_names = [str(symbol.name) for symbol in listed]
        self._register_parameters()
        self._active = True
        outputs_form = len(self._symbol) if len(self._symbol) > 1 else 0
        self._formats: tuple[Any, Any] = ([0] * len(listed), outputs_form)
        self._is_nested = False

    def _register_parameters(self) -> None:
        """Make parameters for what is no input: the arguments first, then auxiliary states.

        As in MXNet, all arguments are made by the initializer of `initialize`, whatever variables
        or operators say of it; auxiliary states start as their operators want them. Parameters that
        are shared stay as they are, fixed ones fixed.

        In files of `save_parameters` they lack what all their names begin with.
        """
        auxiliary = set(self._symbol.list_auxiliary_states())
        for node in sorted(self._symbol._variables(), key=lambda node: node.name in auxiliary):
            if node.name in self._input_names:
                continue
            said = declared(node)
            asked: dict[str, Any] = {
                "shape": to_public(said.shape),
                "dtype": None if said.dtype is None else said.dtype.type,
                "allow_deferred_init": True,
            }
            if node.name in auxiliary and self.params._find(node.name) is None:
                asked |= {"init": node.extra.get("__init__"), "grad_req": "null"}
            self.params.get(node.name, **asked)
        common = os.path.commonprefix(list(self.params.keys()))  # noqa: RUF071  # letters are meant
        self._reg_params.update({name[len(common) :]: p for name, p in self.params.items()})

    @staticmethod
    def imports(
        symbol_file: str | os.PathLike[str],
        input_names: str | Sequence[str],
        param_file: str | os.PathLike[str] | None = None,
        ctx: Any = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
    ) -> "SymbolBlock":
        """Load a network that `HybridBlock.export` wrote, here or in MXNet.

        Args:
            symbol_file: The ``-symbol.json`` file.
            input_names: Name of the input variable, or a list of names.
            param_file: The parameters, in any format that `nd.load` knows; None leaves them to
                `initialize`.
            ctx: Device or devices of the parameters; the CPU by default.
            allow_missing: Whether the file may lack some of the parameters.
            ignore_extra: Whether arrays that the Block has no parameter for are ignored; if not,
                that is an error.

        Raises:
            FileFormatError: A file is damaged or of another kind.
            ParameterError: A parameter is missing, or an input is not among ``input_names``.
            ArgumentError: An input name is not a variable of the graph, or the file has arrays that
                no parameter matches.
        """
        symbol = sym.load(symbol_file)
        names = [input_names] if isinstance(input_names, str) else list(input_names)
        variables = symbol.list_inputs()
        for name in names:
            if not isinstance(name, str):
                raise ArgumentTypeError(
                    f"SymbolBlock.imports: expected input names as str, got {type(name).__name__}"
                )
            if name not in variables:
                raise ArgumentError(
                    f"SymbolBlock.imports: expected input names among {variables}, got {name!r}"
                )
        block = SymbolBlock(symbol, [sym.var(name) for name in names])
        if param_file is not None:
            block.load_parameters(
                param_file, ctx, allow_missing, ignore_extra, cast_dtype=True, dtype_source="saved"
            )
        return block

    def __repr__(self) -> str:
        return (
            f"SymbolBlock(\n{self._symbol!r} : {len(self._input_names)} -> {len(self._symbol)}\n)"
        )

    @property
    def _in_format(self) -> Any:
        """How arrays are nested in arguments, as MXNet writes it; programs set it."""
        return self._formats[0]

    @_in_format.setter
    def _in_format(self, form: Any) -> None:
        self._formats, self._is_nested = (form, self._formats[1]), True

    @property
    def _out_format(self) -> Any:
        """How arrays are nested in results, as MXNet writes it; programs set it."""
        return self._formats[1]

    @_out_format.setter
    def _out_format(self, form: Any) -> None:
        self._formats, self._is_nested = (self._formats[0], form), True

    def _call_graph(self, *args: Any, **kwargs: Any) -> Any:
        """Run the graph of a call, in the nested lists that a program has set.

        Raises:
            ArgumentError: The arguments are nested otherwise.
        """
        if not self._is_nested or kwargs:
            return super()._call_graph(*args, **kwargs)
        arrays, structure = flatten(args, lambda x: isinstance(x, NDArray))
        given, (expected, form) = numbered(structure), self._formats
        if given != expected:
            raise ArgumentError(f"{self.name}: expected arrays nested as {expected}, got {given}")
        found = super()._call_graph(*arrays)
        return regroup(found if isinstance(found, list | tuple) else [found], from_numbers(form))

    def forward(self, x: Any, *args: Any) -> Any:
        """Compute the outputs on arrays, or add the graph to a larger one.

        Args:
            x: First input.
            *args: The other inputs.
        """
        if isinstance(x, Symbol):
            kind = type(x)
            values = {name: kind(p.var()._values) for name, p in self.params.items()}
            return self.hybrid_forward(sym, x, *args, **values)
        if not isinstance(x, NDArray):
            raise ArgumentTypeError(
                f"{self.name}: expected {len(self._input_names)} arrays, one for each of "
                f"{self._input_names}, got {type(x).__name__}"
            )
        check_one_kind(self, x, args)
        if recording.tracer.get() is not None:
            return self._replay((x, *args))
        return self._call_graph(x, *args)

    def _named(self, args: Sequence[Any]) -> dict[str, Any]:
        """Return a call's arguments by the names of the inputs."""
        if len(args) != len(self._input_names):
            raise ArgumentError(
                f"{self.name}: expected {len(self._input_names)} inputs, {self._input_names}, got "
                f"{len(args)}"
            )
        return dict(zip(self._input_names, args, strict=True))

    def _replay(self, args: Sequence[NDArray]) -> Any:
        """Append the graph to the trace of a larger one."""
        given = self._named(args)
        try:
            values: dict[str, Any] = {name: p.data() for name, p in self.params.items()}
        except DeferredInitializationError:
            set_deferred_shapes(self, args, self.params.values())
            values = {name: p.data() for name, p in self.params.items()}
        graph_values = {name: value_of(x) for name, x in (values | given).items()}
        outputs = shown(replay(self._symbol._values, graph_values), fixed=True)
        return outputs[0] if len(outputs) == 1 else outputs

    def hybrid_forward(self, F: Any, x: Any, *args: Any, **kwargs: Any) -> Any:  # Gluon's name
        """Return the graph with the given Symbols in place of its input variables.

        Args:
            F: ``mx.sym``.
            x: First input.
            *args: The other inputs.
            **kwargs: The parameters, which are not used.

        Raises:
            ArgumentTypeError: The inputs are not Symbols.
            ArgumentError: There are more or fewer inputs than the graph has.
        """
        given = [x, *args]
        if any(not isinstance(symbol, Symbol) for symbol in given):
            raise ArgumentTypeError(f"SymbolBlock: expected Symbols, got {given!r}")
        composed = type(x)(self._symbol(**self._named(given), **kwargs)._values)
        return composed if len(composed) == 1 else list(composed)

    def hybridize(self, active: bool = True, *args: Any, **kwargs: Any) -> None:
        """Set the options of `HybridBlock.hybridize`; a SymbolBlock always runs as a graph.

        Args:
            active: Has no effect.
            *args: As for `HybridBlock.hybridize`.
            **kwargs: As for `HybridBlock.hybridize`.
        """
        super().hybridize(True, *args, **kwargs)

    def export(
        self, path: str | os.PathLike[str], epoch: int = 0, remove_amp_cast: bool = True
    ) -> tuple[str, str]:
        """Write the graph and the parameters; see `HybridBlock.export`. No call is needed.

        Raises:
            ParameterError: A parameter has no value yet.
        """
        values = values_by_name(dict(self.params.items()), self._symbol.list_auxiliary_states())
        what = f"{self.name}.export"
        return write_model(what, self._symbol, values, path, epoch, remove_amp_cast)

    def reset_ctx(self, ctx: Any) -> None:
        """Move the parameters to other devices.

        Args:
            ctx: The device, or a list of devices.
        """
        self.collect_params().reset_ctx(ctx)


def _symbols(what: str, given: Symbol | Sequence[Symbol]) -> list[Symbol]:
    """Return one Symbol, or several, as a list."""
    listed: list[Any] = list(given) if isinstance(given, Symbol | list | tuple) else [given]
    for symbol in listed:
        if not isinstance(symbol, Symbol):
            raise ArgumentTypeError(
                f"SymbolBlock: expected {what} to be Symbols, got {type(symbol).__name__}"
            )
    return listed
