"""Symbol.optimize_for and get_backend_symbol: a graph partitioned for a back end.

Planning partitions every graph for oneDNN, so that its names have no effect here. A user's back
end, a `SubgraphBackend`, receives its subgraphs here.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gluonish.core.dtype import normalize_dtype
from gluonish.core.errors import ArgumentError, NotSupportedError
from gluonish.core.loading import load
from gluonish.core.spec import PartialSpec
from gluonish.graph.ir import Value
from gluonish.ndarray.ndarray import NDArray
from gluonish.symbol.shapes import from_public, known_specs
from gluonish.symbol.subgraph import BUILT_IN, backend_of_environment, find_backend, known_names
from gluonish.symbol.symbol import Symbol

_LOG = logging.getLogger("gluonish")


def get_backend_symbol(self: Symbol, backend: str) -> Symbol:
    """Return the graph, partitioned by a back end without known shapes or values.

    Args:
        self: The graph.
        backend: Name of a registered back end.

    Raises:
        ArgumentError: There is no such back end.
        GraphError: A user's back end fails.
    """
    if backend not in BUILT_IN and find_backend(backend) is None:
        raise ArgumentError(
            f"get_backend_symbol: expected a backend among {known_names()}, got {backend!r}"
        )
    return optimize_for(self, backend, skip_infer=True)


def optimize_for(
    self: Symbol,
    backend: str,
    args: Any = None,
    aux: Any = None,
    ctx: Any = None,
    shape_dict: Any = None,
    type_dict: Any = None,
    stype_dict: Any = None,
    skip_infer: bool = False,
    **kwargs: Any,
) -> Symbol:
    """Return the graph with subgraphs replaced by a back end; an unknown one is logged and ignored.

    Args:
        self: The graph.
        backend: Name of the back end: a `SubgraphBackend` registered with `register_backend`, or
            a built-in one, which leaves the graph unchanged.
        args: Arrays by name, or in the order of `list_arguments`. Their shapes and dtypes are used,
            the back end can read them, and parameters that it adds are put into the dict.
        aux: Auxiliary states by name, or in the order of `list_auxiliary_states`.
        ctx: Has no effect: a graph gets its device when it is bound.
        shape_dict: Shapes by variable name.
        type_dict: Dtypes by variable name.
        stype_dict: Has no effect: back ends do not receive storage types.
        skip_infer: Whether to skip shape inference, so that the back end gets no shapes.
        **kwargs: Options of the back end.

    Raises:
        ArgumentError: The back end does not accept the options.
        GraphError: The back end fails, or its replacement does not fit.
        OperatorError: The shapes contradict each other.
    """
    if find_backend(backend) is None:
        if backend not in BUILT_IN:
            _LOG.warning(
                "optimize_for: expected a backend among %s, got %r; the graph stays as it is",
                *(known_names(), backend),
            )
        return type(self)(self._values)
    arrays = {
        **_by_name("args", args, self.list_arguments()),
        **_by_name("aux", aux, self.list_auxiliary_states()),
    }
    specs = {name: PartialSpec(x._spec.shape, x._spec.dtype) for name, x in arrays.items()}
    for name, shape in (shape_dict or {}).items():
        specs[name] = PartialSpec(from_public(shape), specs.get(name, PartialSpec()).dtype)
    for name, dtype in (type_dict or {}).items():
        shape = specs.get(name, PartialSpec()).shape
        specs[name] = PartialSpec(shape, normalize_dtype(dtype))
    known = None if skip_infer else known_specs(self, specs)
    add = _adder("optimize_for", args)
    partition = load("gluonish.symbol.partition").partition
    values = partition("optimize_for", self._values, backend, kwargs, known, arrays, add)
    return type(self)(values)


def partitioned_for_environment(symbol: Symbol, arrays: Mapping[str, NDArray]) -> Sequence[Value]:
    """Return a graph's outputs, transformed by the back end ``MXNET_SUBGRAPH_BACKEND`` if set.

    Args:
        symbol: The graph.
        arrays: Arrays that the variables are bound to, by name.

    Raises:
        ConfigError: The environment variable names a back end that is not registered.
        GraphError: The back end fails, or its replacement does not fit.
    """
    backend = backend_of_environment()
    if backend is None:
        return symbol._values
    known = {name: PartialSpec(x._spec.shape, x._spec.dtype) for name, x in arrays.items()}
    partition = load("gluonish.symbol.partition").partition
    found: Sequence[Value] = partition(
        "bind", symbol._values, backend, {}, known, arrays, _adder("bind", None)
    )
    return found


def _by_name(argument: str, arrays: Any, names: Sequence[str]) -> dict[str, NDArray]:
    if arrays is None:
        return {}
    if not isinstance(arrays, Mapping):
        if len(arrays) != len(names):
            raise ArgumentError(
                f"optimize_for: expected {len(names)} arrays in {argument}, got {len(arrays)}"
            )
        arrays = dict(zip(names, arrays, strict=True))
    return {name: x for name, x in arrays.items() if isinstance(x, NDArray)}


def _adder(function: str, args: Any) -> Callable[[str, NDArray], str]:
    """Return a function that adds new parameters to the caller's dict of arrays."""

    def add(name: str, array: NDArray) -> str:
        if not isinstance(args, dict):
            raise NotSupportedError(
                f"{function}: expected args as a dict, which gets the parameter {name!r} that the "
                f"backend adds, got {type(args).__name__}"
            )
        args[name] = array
        return name

    return add
