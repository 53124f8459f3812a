"""Rows of ``benchmarks.gpu_run`` on a modelled device: one prints as JSON what it would take.

``python -m tests.kernels.cupy.cost_model.rows NAME [--graphs] [--device h200] [--layers N]`` runs
in a process of its own, as contexts are opened for good. It asks the networks of
benchmarks/gpu_run for the row, so that it also works on an older checkout of those
(benchmarks/gpu_run/modelled.py).
"""

import argparse
import json
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from tests.kernels.cupy.cost_model.report import by, figures, kernel_name, typical
from tests.kernels.cupy.cost_model.session import Session

_STEPS = 6  # graphs are captured at the second call, and those of what they leave at the third
_TENSORS, _SIDE = 100, 256
# As in benchmarks.gpu_run.comparisons, which older checkouts have without FP16.
_HALVES = {"AMP": "bfloat16", "FP16": "float16"}


class Row(NamedTuple):
    """A row.

    Attributes:
        kind: ``inference``, ``training``, ``bert`` or ``lstm``.
        batch: Images.
        precision: ``AMP``, ``FP16``, which has a loss scale, or ``TF32``.
        layers: Of BERT; 0 for its own number.
        masked: Whether BERT's keys are masked by lengths.
    """

    kind: str
    batch: int
    precision: str
    layers: int = 0
    masked: bool = False


ROWS = {
    "ResNet-50 training, 64, AMP": Row("training", 64, "AMP"),
    "ResNet-50 training, 64, FP16": Row("training", 64, "FP16"),
    "ResNet-50 training, 64, TF32": Row("training", 64, "TF32"),
    "ResNet-50 inference, 64, AMP": Row("inference", 64, "AMP"),
    "ResNet-50 inference, 1, TF32": Row("inference", 1, "TF32"),
    "BERT-base training, 32 x 128, AMP": Row("bert", 32, "AMP"),
    "BERT-base training, 32 x 128, lengths, AMP": Row("bert", 32, "AMP", masked=True),
    "LSTM 2 x 650 training, TF32": Row("lstm", 20, "TF32"),
}


class _Place:
    """What the benchmarks ask of a place."""

    def __init__(self, mx: Any) -> None:
        self.mx = mx

    def pick(self, real: Any, rehearsed: Any) -> Any:
        """Return the size of a device."""
        return real


def make_step(mx: Any, row: Row) -> Callable[[], Any]:
    """Return the step of a row, on ``gpu(0)``."""
    from benchmarks.gpu_run import bert, lstm, networks
    from benchmarks.gpu_run.comparisons import OurStep, static

    place: Any = _Place(mx)
    if row.kind == "bert":
        sizes = bert.BASE._replace(layers=row.layers or bert.BASE.layers, batch=row.batch)
        if row.masked:
            sizes = sizes._replace(masked=True)
        return bert._our_step(place, sizes, row.precision)[0]
    if row.kind == "lstm":
        return lstm._our_step(place, lstm._SIZES[0], row.precision)
    dtype = _HALVES.get(row.precision, "float32")
    described = networks._described(place)
    net, data, target = networks._ours(place, described, row.batch, dtype)
    if row.kind == "inference":
        return lambda: net(data)
    loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    loss_of.hybridize(**static)
    return OurStep(
        mx, lambda: loss_of(net(data), target), net.collect_params(), ("sgd", networks._SGD),
        row.batch, row.precision,
    )  # fmt: skip


def _operator_step(mx: Any, name: str) -> Callable[[], Any] | None:
    """Return the call of an operator's row; None if there is no such row."""
    from benchmarks.gpu_run.operator_list import OPERATORS
    from benchmarks.gpu_run.operators import _function, _learned

    if name.endswith(f"{_TENSORS} tensors"):
        return _update_step(mx, name.partition(",")[0])
    found = [operator for operator in OPERATORS if operator.name == name]
    if not found:
        return None
    operator = found[0]
    dtype = operator.precision if operator.precision == "bfloat16" else "float32"
    arrays = [mx.nd.zeros(shape, ctx=mx.gpu(0), dtype=dtype) for shape in operator.large]
    function = _function(operator.call, len(arrays), "F")
    if not operator.backward:
        return lambda: function(mx.nd, *arrays)
    for i in _learned(operator, len(arrays)):
        arrays[i].attach_grad()

    def step() -> Any:
        with mx.autograd.record():
            out = function(mx.nd, *arrays)
        out.backward()
        return out

    return step


def _update_step(mx: Any, name: str) -> Callable[[], Any]:
    options = {"learning_rate": 1e-3} | ({"momentum": 0.9} if name == "sgd" else {})
    shape = (_SIDE, _SIDE)
    parameters = [mx.gluon.Parameter(f"p{i}", shape=shape) for i in range(_TENSORS)]
    for parameter in parameters:
        parameter.initialize(mx.init.One(), ctx=mx.gpu(0))
    trainer = mx.gluon.Trainer(parameters, name, options)
    weights = [parameter.data() for parameter in parameters]

    def step() -> None:
        for weight in weights:
            weight._fresh_grad = True  # as backward leaves it
        trainer.step(1)

    return step


def run_row(session: Session, name: str, steps: int = _STEPS, layers: int = 0) -> dict[str, Any]:
    """Take some steps of a row on a session's device, and return what the last one takes.

    Args:
        session: Has the device.
        name: The row's.
        steps: How many.
        layers: Of BERT, other than its own number.
    """
    import gluonish as mx
    from benchmarks.gpu_run.comparisons import our_precision
    from benchmarks.gpu_run.operator_list import OPERATORS

    row = ROWS.get(name)
    plain = {operator.name: operator.precision for operator in OPERATORS}.get(name, "TF32")
    with our_precision(plain if row is None else row.precision):
        step = (
            _operator_step(mx, name) if row is None else make_step(mx, row._replace(layers=layers))
        )
        assert step is not None, f"{name}: no such row"
        for _ in range(steps):
            step()
            session.recorder.end_step("call")
        mx.nd.waitall()
    warm = {"call_us": session.rates.table["host"]["warm_call_us"]} if row is None else {}
    last = typical([s for s in session.steps(warm) if s.name == "call"])
    assert last is not None
    return {**figures(last), "memory": session.memory(), "kernels_by": by(last, kernel_name)}


def main(arguments: list[str]) -> None:
    """Print a row."""
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    parser.add_argument("--graphs", action="store_true")
    parser.add_argument("--device", default="h200")
    parser.add_argument("--layers", type=int, default=0, help="of BERT (default: its own)")
    given = parser.parse_args(arguments)
    from gluonish.core.config import MXNET_ENABLE_CUDA_GRAPHS

    session = Session(given.device)
    session.ends_by_hand = True
    with MXNET_ENABLE_CUDA_GRAPHS.override(given.graphs), session.devices():
        sys.stdout.write(json.dumps(run_row(session, given.name, layers=given.layers)) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
