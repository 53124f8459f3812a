"""SymbolBlock: a Block of a composed or loaded graph."""

import os
from collections.abc import Sequence
from typing import Any, ClassVar

import gluonish.symbol as sym
from gluonish.core.errors import ArgumentError, ArgumentTypeError, DeferredInitializationError
from gluonish.core.mxnet_rules import follows_mxnet2
from gluonish.gluon.block.arguments import check_one_kind
from gluonish.gluon.block.files import values_by_name, write_model
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.block.tracing import set_deferred_shapes
from gluonish.gluon.parameter import ParameterDict
from gluonish.graph.pytree import flatten, from_numbers, numbered, regroup
from gluonish.graph.rewrite import replay
from gluonish.graph.traced_array import as_traced, value_of
from gluonish.ndarray import NDArray, recording
from gluonish.symbol import Group, Symbol
from gluonish.symbol.shapes import declared, to_public


class SymbolBlock(HybridBlock):
    """A network built from a Symbol; all variables except the inputs become parameters.

    Args:
        outputs: Symbol of the outputs, or a list of Symbols.
        inputs: The variables that are inputs: one, or a list.
        params: ParameterDict to share parameters with; missing ones are created.

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

    has_hybrid_forward: ClassVar[bool] = True  # its graph is composed from Symbols

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
        out_format = len(self._symbol) if len(self._symbol) > 1 else 0
        self._formats: tuple[Any, Any] = ([0] * len(listed), out_format)
        self._is_nested = False

    def _register_parameters(self) -> None:
        """Create parameters for all variables but inputs: arguments first, then auxiliary states.

        As in MXNet, arguments are filled by the initializer of `initialize`, and initializers of
        variables or operators are ignored; auxiliary states have their operators' initial values.
        Shared parameters stay unchanged, also their ``grad_req``.

        Files of `save_parameters` omit the common prefix of the names.
        """
        auxiliary = set(self._symbol.list_auxiliary_states())
        for node in sorted(self._symbol._variables(), key=lambda node: node.name in auxiliary):
            if node.name in self._input_names:
                continue
            spec = declared(node)
            arguments: dict[str, Any] = {
                "shape": to_public(spec.shape),
                "dtype": None if spec.dtype is None else spec.dtype.type,
                "allow_deferred_init": True,
            }
            if node.name in auxiliary and self.params._find(node.name) is None:
                arguments |= {"init": node.extra.get("__init__"), "grad_req": "null"}
            self.params.get(node.name, **arguments)
        names = list(self.params.keys())
        common = os.path.commonprefix(names)  # noqa: RUF071  # by character
        if follows_mxnet2() or common in names:
            common = ""
        self._reg_params.update({name[len(common) :]: p for name, p in self.params.items()})

    @staticmethod
    def imports(
        symbol_file: str | os.PathLike[str],
        input_names: str | Sequence[str],
        param_file: str | os.PathLike[str] | None = None,
        ctx: Any = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
        device: Any = None,
    ) -> "SymbolBlock":
        """Load a network exported by `HybridBlock.export`, here or in MXNet.

        Args:
            symbol_file: The ``-symbol.json`` file.
            input_names: Name of the input variable, or a list of names.
            param_file: The parameters, in any format that `nd.load` supports; None to call
                `initialize` afterwards.
            ctx: Device or devices of the parameters; the CPU by default.
            allow_missing: Whether the file may lack some of the parameters.
            ignore_extra: Whether to ignore arrays without a parameter; if False, they raise an
                error.
            device: ``ctx`` under the name it has in MXNet 2.0.

        Raises:
            FileFormatError: A file is damaged or of another format.
            ParameterError: A parameter is missing, or an input is not among ``input_names``.
            ArgumentError: An input name is not a variable of the graph, or the file has arrays that
                match no parameter.
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
                param_file,
                device if ctx is None else ctx,
                allow_missing,
                ignore_extra,
                cast_dtype=True,
                dtype_source="saved",
            )
        return block

    def __repr__(self) -> str:
        return (
            f"SymbolBlock(\n{self._symbol!r} : {len(self._input_names)} -> {len(self._symbol)}\n)"
        )

    @property
    def _in_format(self) -> Any:
        """The format of the arguments in MXNet's encoding; may be set."""
        return self._formats[0]

    @_in_format.setter
    def _in_format(self, fmt: Any) -> None:
        self._formats, self._is_nested = (fmt, self._formats[1]), True

    @property
    def _out_format(self) -> Any:
        """The format of the results in MXNet's encoding; may be set."""
        return self._formats[1]

    @_out_format.setter
    def _out_format(self, fmt: Any) -> None:
        self._formats, self._is_nested = (self._formats[0], fmt), True

    def _call_graph(self, *args: Any, **kwargs: Any) -> Any:
        """Run the graph of a call in the formats set by a program, if any.

        Raises:
            ArgumentError: The arguments have another format.
        """
        if not self._is_nested or kwargs:
            return super()._call_graph(*args, **kwargs)
        arrays, pytree = flatten(args, lambda x: isinstance(x, NDArray))
        actual, (in_format, out_format) = numbered(pytree), self._formats
        if actual != in_format:
            raise ArgumentError(f"{self.name}: expected arrays nested as {in_format}, got {actual}")
        outputs = super()._call_graph(*arrays)
        leaves = outputs if isinstance(outputs, list | tuple) else [outputs]
        return regroup(leaves, from_numbers(out_format))

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
        """Return a call's arguments by input name."""
        if len(args) != len(self._input_names):
            raise ArgumentError(
                f"{self.name}: expected {len(self._input_names)} inputs, {self._input_names}, got "
                f"{len(args)}"
            )
        return dict(zip(self._input_names, args, strict=True))

    def _replay(self, args: Sequence[NDArray]) -> Any:
        """Append the graph to the trace of a larger graph."""
        inputs = self._named(args)
        try:
            values: dict[str, Any] = {name: p.data() for name, p in self.params.items()}
        except DeferredInitializationError:
            set_deferred_shapes(self, args, self.params.values())
            values = {name: p.data() for name, p in self.params.items()}
        graph_values = {name: value_of(x) for name, x in (values | inputs).items()}
        outputs = as_traced(replay(self._symbol._values, graph_values), fixed=True)
        return outputs[0] if len(outputs) == 1 else outputs

    def hybrid_forward(self, F: Any, x: Any, *args: Any, **kwargs: Any) -> Any:  # Gluon's name
        """Return the graph with its input variables replaced by Symbols.

        Args:
            F: ``mx.sym``.
            x: First input.
            *args: The other inputs.
            **kwargs: The parameters' variables by name.

        Raises:
            ArgumentTypeError: The inputs are not Symbols.
            ArgumentError: The number of inputs is wrong.
        """
        inputs = [x, *args]
        if any(not isinstance(symbol, Symbol) for symbol in inputs):
            raise ArgumentTypeError(f"SymbolBlock: expected Symbols, got {inputs!r}")
        composed = type(x)(self._symbol(**self._named(inputs), **kwargs)._values)
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
        self, path: str | os.PathLike[str] | None, epoch: int = 0, remove_amp_cast: bool = True
    ) -> Any:
        """Write the graph and the parameters; see `HybridBlock.export`. No call is needed.

        Raises:
            ParameterError: A parameter has no value yet.
        """
        values = values_by_name(dict(self.params.items()), self._symbol.list_auxiliary_states())
        what = f"{self.name}.export"
        if path is None:
            return self._symbol, values
        return write_model(what, self._symbol, values, path, epoch, remove_amp_cast)


def _symbols(what: str, symbols: Symbol | Sequence[Symbol]) -> list[Symbol]:
    """Return one Symbol, or several, as a list."""
    listed: list[Any] = list(symbols) if isinstance(symbols, Symbol | list | tuple) else [symbols]
    for symbol in listed:
        if not isinstance(symbol, Symbol):
            raise ArgumentTypeError(
                f"SymbolBlock: expected {what} to be Symbols, got {type(symbol).__name__}"
            )
    return listed
