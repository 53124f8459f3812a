"""_contrib_quantized_rnn: recurrent layers on 8-bit data."""

from types import ModuleType
from typing import Any

from gluonish.core.dtype import FLOAT32, UINT8
from gluonish.core.errors import OperatorError
from gluonish.core.spec import PartialSpec, Spec
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.quantization.ranges import check_ranges
from gluonish.ops.recurrent.rnn import RNN
from gluonish.ops.registry import Attrs, Operator, register

_NAME = "_contrib_quantized_rnn"
_INPUTS = ("data", "parameters", "state", "state_cell", "data_scale", "data_shift")


def _active_inputs(attrs: Attrs) -> tuple[str, ...]:
    return tuple(name for name in _INPUTS if name != "state_cell" or attrs["mode"] == "lstm")


def _infer(data: Spec, *rest: Spec, **attrs: Any) -> tuple[Spec, ...]:
    *arrays, scale, shift = rest
    if data.dtype != UINT8 or len(rest) != len(_active_inputs(attrs)) - 1:
        raise OperatorError(
            f"{_NAME}: expected uint8 data and {', '.join(_active_inputs(attrs)[1:])}, got {data} "
            f"and {len(rest)} arrays"
        )
    if attrs["use_sequence_length"]:
        raise OperatorError(f"{_NAME}: expected use_sequence_length to be False, got True")
    check_ranges(_NAME, scale, shift)
    try:
        found = RNN.infer(Spec(data.shape, FLOAT32), *arrays, **attrs)
    except OperatorError as error:
        raise OperatorError(f"{_NAME}: {error}") from error
    return found[: _count(attrs)]


def _count(attrs: Attrs) -> int:
    if not attrs["state_outputs"]:
        return 1
    return 3 if attrs["mode"] == "lstm" else 2


def _kernel(xp: ModuleType, out: Any, data: Any, *rest: Any, **attrs: Any) -> None:
    *arrays, scale, shift = rest
    real = (data - shift.reshape(-1)[0]) / scale.reshape(-1)[0]
    inputs = [real.astype(FLOAT32), *arrays]
    specs = RNN.infer(*(Spec(x.shape, FLOAT32) for x in inputs), **attrs)
    hidden = [xp.empty(*spec) for spec in specs[len(out) :]]
    RNN.kernel(xp, (*out, *hidden), *inputs, train=False, key=(0, 0), **attrs)


def _complete(inputs: list[PartialSpec], outputs: list[PartialSpec], _attrs: Attrs) -> None:
    inputs[0] = PartialSpec(inputs[0].shape, inputs[0].dtype or UINT8)
    for specs, first in ((inputs, 1), (outputs, 0)):
        for i in range(first, len(specs)):
            specs[i] = PartialSpec(specs[i].shape, specs[i].dtype or FLOAT32)


QUANTIZED_RNN = register(
    Operator(
        _NAME,
        _infer,
        _kernel,
        None,
        doc=(
            "Apply recurrent layers to data from _contrib_quantize_asym, with its scale and\n"
            "shift.\n\n"
            "Parameters, states and results are float32, and so are the sums; attributes are as\n"
            "in RNN.\n\n"
            "Shapes: as in RNN; data_scale and data_shift (1,)."
        ),
        inputs=_INPUTS,
        active_inputs=_active_inputs,
        schema=RNN.schema,
        outputs=_count,
        output_names=("output", "state_output", "statecell_output"),
        execution=Execution(heavy=True),
        shapes=ShapeFacts(complete=_complete),
    )
)
