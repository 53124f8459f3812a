"""SymbolBlock: a Block around a graph that was composed or loaded."""

import os
from collections.abc import Sequence
from typing import Any

import gluonish.symbol as sym
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.graph.ir import Value
from gluonish.graph.rewrite import replay
from gluonish.hybrid_block import HybridBlock
from gluonish.ndarray import NDArray, recording
from gluonish.parameter import ParameterDict
from gluonish.symbol import Group, Symbol
from gluonish.symbol.shapes import declared, to_public

__all__ = ["SymbolBlock"]


class SymbolBlock(HybridBlock):
    """A network made from Symbols: outputs over inputs, everything else is a parameter.

    Args:
        outputs: The outputs, a Symbol or a list of them.
        inputs: The inputs, variables, one or a list of them.
        params: Parameters to take; those that are missing are made.

    Raises:
        ArgumentError: if an input is not a variable.
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
        if isinstance(outputs, list | tuple):
            outputs = outputs[0] if len(outputs) == 1 else Group(outputs)
        listed = [inputs] if isinstance(inputs, Symbol) and len(inputs) == 1 else list(inputs)
        for symbol in listed:
            if len(symbol) != 1 or symbol._values[0].node.op is not None:
                raise ArgumentError(f"SymbolBlock: expected inputs to be variables, got {symbol!r}")
        self._symbol: Symbol = outputs  # type: ignore[assignment]  # a sequence was grouped above
        self._input_names = [str(symbol.name) for symbol in listed]
        self._register_parameters()
        self._active = True

    def _register_parameters(self) -> None:
        """Make parameters for what is no input: the arguments first, then auxiliary states."""
        auxiliary = set(self._symbol.list_auxiliary_states())
        for node in sorted(self._symbol._variables(), key=lambda node: node.name in auxiliary):
            if node.name in self._input_names:
                continue
            said = declared(node)
            kept = self.params.get(
                node.name,
                shape=to_public(said.shape),
                dtype=None if said.dtype is None else said.dtype.type,
                init=node.extra.get("__init__"),
                grad_req="null" if node.name in auxiliary else "write",
                allow_deferred_init=True,
            )
            self._reg_params[node.name] = kept

    @staticmethod
    def imports(
        symbol_file: str | os.PathLike[str],
        input_names: str | Sequence[str],
        param_file: str | os.PathLike[str] | None = None,
        ctx: Any = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
    ) -> "SymbolBlock":
        """Return the network in the files of `HybridBlock.export`, also of those that MXNet wrote.

        Args:
            symbol_file: The ``-symbol.json`` file.
            input_names: Names of the data variables.
            param_file: The ``.params`` file; without one the parameters wait for `initialize`.
            ctx: Device or devices of the parameters; the CPU by default.
            allow_missing: Whether the file may lack parameters.
            ignore_extra: Whether the file may have others.

        Raises:
            FileFormatError: if a file is damaged or of another kind.
            ParameterError: if a parameter is missing.
            ArgumentError: if an input name is not a variable of the graph.
        """
        symbol = sym.load(symbol_file)
        names = [input_names] if isinstance(input_names, str) else list(input_names)
        variables = symbol.list_inputs()
        for name in names:
            if name not in variables:
                raise ArgumentError(
                    f"SymbolBlock.imports: expected input names among {variables}, got {name!r}"
                )
        block = SymbolBlock(symbol, [sym.var(name) for name in names])
        if param_file is not None:
            block.collect_params().load(
                param_file,
                ctx=ctx,
                allow_missing=allow_missing,
                ignore_extra=ignore_extra,
                cast_dtype=True,
                dtype_source="saved",
            )
        return block

    def __repr__(self) -> str:
        return (
            f"SymbolBlock(\n{self._symbol!r} : {len(self._input_names)} -> {len(self._symbol)}\n)"
        )

    def forward(self, x: Any, *args: Any) -> Any:
        """Compute the outputs, on arrays or as part of a larger graph."""
        if isinstance(x, Symbol):
            return super().forward(x, *args)
        if recording.tracer.get() is not None:
            return self._replay((x, *args))
        return self._call_graph(x, *args)

    def _replay(self, args: Sequence[Value | NDArray]) -> Any:
        """Append the graph to the trace of a larger one."""
        given = dict(zip(self._input_names, args, strict=True))
        values: dict[str, Any] = {name: p.data() for name, p in self._reg_params.items()}
        outputs = replay(self._symbol._values, values | given)
        return outputs[0] if len(outputs) == 1 else outputs

    def hybrid_forward(self, F: Any, x: Any, *args: Any, **kwargs: Any) -> Any:  # Gluon's name
        """Return the graph with the inputs in place of its data variables.

        Raises:
            ArgumentTypeError: if the inputs are not Symbols.
        """
        given = [x, *args]
        if any(not isinstance(symbol, Symbol) for symbol in given):
            raise ArgumentTypeError(f"SymbolBlock: expected Symbols, got {given!r}")
        composed = self._symbol(**dict(zip(self._input_names, given, strict=True)), **kwargs)
        return composed if len(composed) == 1 else list(composed)

    def hybridize(self, active: bool = True, *args: Any, **kwargs: Any) -> None:
        """Take the options of `HybridBlock.hybridize`; a SymbolBlock always runs as a graph."""
        super().hybridize(True, *args, **kwargs)

    def reset_ctx(self, ctx: Any) -> None:
        """Move the parameters to other devices."""
        self.collect_params().reset_ctx(ctx)
