"""CachedOp: a Symbol as a function of arrays."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.graph.cached_graph import CachedGraph
from gluonish.graph.value_checks import checked_run, named_origins
from gluonish.ndarray import NDArray, recording
from gluonish.symbol.numpy_symbol import NumpySymbol
from gluonish.symbol.symbol import Symbol


def _inline_limit(text: str) -> int:
    if not text.isdecimal():
        raise ArgumentError(
            f"CachedOp: expected inline_limit to be a whole number of at least 0, got {text!r}"
        )
    return int(text)


class CachedOp:
    """A Symbol that is called with arrays; planned once for each signature of the inputs.

    Args:
        sym: The Symbol.
        flags: Options, pairs or a mapping. ``static_alloc`` keeps memory between calls, and
            ``inline_limit`` (2 by default) is that of `HybridBlock.hybridize`; others are accepted
            without effect.
        thread_safe: Accepted; calls from several threads are always allowed.

    Raises:
        ArgumentError: ``inline_limit`` is not a whole number of at least 0.
    """

    def __init__(
        self,
        sym: Symbol,
        flags: Iterable[tuple[str, Any]] | Mapping[str, Any] = (),
        thread_safe: bool = False,
    ) -> None:
        del thread_safe  # it always is
        self._symbol = sym
        options = {key: str(value).lower() for key, value in dict(flags).items()}
        self._names = sym.list_inputs()
        self._is_np_sym = isinstance(sym, NumpySymbol)
        variables = {node.name: node for node in sym._variables()}
        self._graph = CachedGraph(
            [variables[name] for name in self._names],
            sym._values,
            static_alloc=options.get("static_alloc") in ("true", "1"),
            inline_limit=_inline_limit(options.get("inline_limit", "2")),
        )

    @property
    def is_np_sym(self) -> bool:
        """Whether the CachedOp was made from a Symbol of ``mx.sym.np``."""
        return self._is_np_sym

    def get_optimized_symbol(self) -> Symbol:
        """Return the Symbol; optimizations depend on the inputs and happen at the first call."""
        return self._symbol

    def __call__(
        self, *args: NDArray, out: NDArray | list[NDArray] | None = None, **kwargs: Any
    ) -> Any:
        """Compute the outputs.

        Args:
            *args: An array for each input of the Symbol, in the order of `Symbol.list_inputs`.
            out: Array, or list of arrays, to store the outputs in.
            **kwargs: ``default_ctx`` is accepted without effect.

        Returns:
            The output, or a list if there are several.

        Raises:
            ArgumentError: The number of arrays differs from the number of inputs.
        """
        if len(args) != len(self._names):
            raise ArgumentError(
                f"CachedOp: expected {len(self._names)} arrays ({', '.join(self._names)}), got "
                f"{len(args)}"
            )
        if recording.mode.get() & recording.CHECKED:
            results = checked_run(
                self._graph, args, partial(self._graph, args), named_origins("CachedOp")
            )
        else:
            results = self._graph(args)
        if out is not None:
            targets = out if isinstance(out, list | tuple) else [out]
            for result, target in zip(results, targets, strict=True):
                result.copyto(target)
            return out
        return results[0] if len(results) == 1 else results
