"""_rnn_param_concat: concatenate the flat parameters of recurrent layers for RNN."""

from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, integer
from gluonish.core.spec import UNKNOWN, PartialSpec, Spec, merge_dtypes, merge_shapes
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.registry import Attrs, Operator, register
from gluonish.ops.shape.concat import CONCAT


def _complete(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    """Infer unknown lengths from the others and the total.

    A bidirectional layer has two unknown lengths, those of the input weights, which are equal.
    """
    dtype = None
    for spec in (*inputs, *outputs):
        dtype = merge_dtypes(dtype, spec.dtype, "_rnn_param_concat")
    inputs[:] = [PartialSpec(spec.shape, dtype) for spec in inputs]
    outputs[0] = PartialSpec(outputs[0].shape, dtype)
    total = UNKNOWN if outputs[0].shape is None else outputs[0].shape[0]
    lengths = [UNKNOWN if spec.shape is None else spec.shape[0] for spec in inputs]
    missing = [i for i, length in enumerate(lengths) if length == UNKNOWN]
    known = sum(length for length in lengths if length != UNKNOWN)
    if not missing:
        whole = merge_shapes((known,), outputs[0].shape, "_rnn_param_concat output")
        outputs[0] = PartialSpec(whole, dtype)
    elif total >= known and (total - known) % len(missing) == 0:
        for i in missing:
            inputs[i] = PartialSpec(((total - known) // len(missing),), dtype)


def _infer(*arrays: Spec, **attrs: Any) -> tuple[Spec, ...]:
    try:
        return CONCAT.infer(*arrays, **attrs)
    except OperatorError as error:
        raise OperatorError(f"_rnn_param_concat: {str(error).partition(': ')[2]}") from error


RNN_PARAM_CONCAT = register(
    Operator(
        "_rnn_param_concat",
        _infer,
        CONCAT.kernel,
        CONCAT.gradient,
        doc=("Join vectors; dim must be 0.\n\nShapes: arrays (n_i,), output (sum of n_i,)."),
        inputs=("data",),
        schema=Schema(num_args=integer(low=1), dim=integer(1)),
        aliases=("_npi_rnn_param_concat",),
        variadic="num_args",
        shapes=ShapeFacts(complete=_complete),
        execution=Execution(copies_only=True),
    )
)
