"""The graph of a HybridBlock as back ends of the user's take it, one after another."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from gluonish.core.loading import load
from gluonish.core.spec import PartialSpec
from gluonish.gluon.block.tracing import Traced
from gluonish.gluon.parameter import Parameter
from gluonish.graph.ir import Value
from gluonish.ndarray import NDArray
from gluonish.symbol import Symbol
from gluonish.symbol.subgraph import backend_of_environment

if TYPE_CHECKING:
    from gluonish.gluon.block.hybrid_block import HybridBlock

__all__ = ["partitioned_outputs"]

# The value, an array and its version, that a back end gave each parameter it added.
_given: WeakKeyDictionary[Parameter, tuple[NDArray, int]] = WeakKeyDictionary()


def _value_of(parameter: Parameter) -> tuple[NDArray, int]:
    """Return the array on the first device, and how often it was written."""
    array = parameter.list_data()[0]
    return array, array._var.version


def _is_as_given(parameter: Parameter) -> bool:
    array, version = _value_of(parameter)
    given, given_version = _given[parameter]
    return array is given and version == given_version


def partitioned_outputs(
    block: "HybridBlock",
    traced: Traced,
    arrays: Sequence[NDArray],
    backends: Sequence[tuple[str, Mapping[str, Any]]],
) -> Sequence[Value] | None:
    """Return the outputs of a traced call after all back ends; None if there are none.

    Args:
        block: The block; parameters that back ends add become its own, and can be trained. At
            every trace they get the back end's values, but those that were written since then,
            by a Trainer say, or when they were loaded.
        traced: The call.
        arrays: Its arrays; parameters have values where they do.
        backends: Registered names and options. Without any, ``MXNET_SUBGRAPH_BACKEND`` may name
            one.

    Raises:
        ConfigError: It names one that is not registered.
        GraphError: A back end fails, or gives what does not fit.
    """
    if not backends:
        name = backend_of_environment()
        if name is None:
            return None
        backends = ((name, {}),)
    what, context = f"{block.name}.optimize_for", arrays[0].context
    contexts = block.collect_params().list_ctx() or [context]
    outputs = traced.outputs
    data = {node.name: x for node, x in zip(traced.data, arrays, strict=True)}

    def add(name: str, array: NDArray) -> str:
        parameter = block.params.get(
            name, shape=array.shape, dtype=array.dtype, init="zeros", differentiable=True
        )
        if parameter._arrays is None:
            parameter.initialize(ctx=contexts)
        elif parameter not in _given or not _is_as_given(parameter):
            return parameter.name
        parameter.set_data(array)
        _given[parameter] = _value_of(parameter)
        return parameter.name

    partition = load("gluonish.symbol.partition").partition
    for name, options in backends:
        parameters = {p.name: p for p in block.collect_params().values()}
        wanted = [node.name for node in Symbol(outputs)._variables() if node.name in parameters]
        values = {key: parameters[key].data(context) for key in wanted}
        known = {
            key: PartialSpec(x._spec.shape, x._spec.dtype) for key, x in {**values, **data}.items()
        }
        outputs = partition(what, outputs, name, options, known, values, add)
    return outputs
