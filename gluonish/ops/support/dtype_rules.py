"""Which inputs and outputs of an operator have one dtype, for inference where shapes are unknown.

Of an operator that says nothing all inputs and outputs are alike: `complete_alike`. The others,
whose indices or lengths may be of any dtype or whose outputs are of a dtype that an attribute
names, have a rule of `dtype_rule`.
"""

from collections.abc import Callable, Sequence

from gluonish.core.dtype import normalize_dtype
from gluonish.core.spec import PartialSpec
from gluonish.ops.registry import Attrs

Complete = Callable[[list[PartialSpec], list[PartialSpec], Attrs], None]


def complete_alike(inputs: list[PartialSpec], outputs: list[PartialSpec], _attrs: Attrs) -> None:
    """Fill in the dtype that all known inputs and outputs have; leave those that disagree."""
    _join(inputs, range(len(inputs)), outputs)


def dtype_rule(*alike: int) -> Complete:
    """Return the rule that the inputs at some positions are like the outputs, others of any dtype.

    Args:
        *alike: Positions.
    """

    def complete(inputs: list[PartialSpec], outputs: list[PartialSpec], _attrs: Attrs) -> None:
        _join(inputs, alike, outputs)

    return complete


def named_dtype(_inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    """Give the first output the dtype that the attribute ``dtype`` names."""
    outputs[0] = PartialSpec(outputs[0].shape, normalize_dtype(attrs["dtype"]))


def _join(inputs: list[PartialSpec], positions: Sequence[int], outputs: list[PartialSpec]) -> None:
    known = {
        spec.dtype for spec in (*(inputs[i] for i in positions), *outputs) if spec.dtype is not None
    }
    if len(known) != 1:
        return
    (dtype,) = known
    for i in positions:
        inputs[i] = PartialSpec(inputs[i].shape, dtype)
    outputs[:] = [PartialSpec(spec.shape, dtype) for spec in outputs]
