from typing import Any

import pytest

import gluonish as mx
from gluonish.core.config import MXNET_OPTIMIZER_AGGREGATION_SIZE
from gluonish.gluon import nn
from gluonish.gluon.trainer import Trainer
from gluonish.graph.executable import Executable
from gluonish.optimizer.weight_update import WeightUpdate
from gluonish.profiler.operators import _external_slots
from gluonish.profiler.recorder import recorder
from gluonish.profiler.state import recording


class Step:
    def __init__(self, reads: list[int], writes: list[int]) -> None:
        self.reads = reads
        self.writes = writes


def test_a_segment_reads_what_it_did_not_make_and_writes_what_it_leaves() -> None:
    steps: Any = [Step([0, 1], [5]), Step([5, 2], [6]), Step([6], [3]), Step([0], [4])]
    assert _external_slots(steps) == ([0, 1, 2], [3, 4])
    assert _external_slots([]) == ([], [])


def hybrid() -> nn.HybridBlock:
    net = nn.HybridSequential(prefix="net_")
    net.add(nn.Dense(4, in_units=3, prefix="a_"), nn.Dense(2, in_units=4, prefix="b_"))
    net.initialize()
    net.hybridize()
    return net


def test_operators_of_a_call_made_before_the_start_are_there() -> None:
    net, x = hybrid(), mx.nd.ones((5, 3))
    for _ in range(3):
        net(x).wait_to_read()  # by now a call only repeats the one before
    with recording():
        net(x).wait_to_read()
        (job,) = [job for job in recorder.jobs() if job.name == "net"]
    assert job.steps is not None
    assert [step.outputs[0].shape for step in job.steps] == [(5, 4), (5, 2)]
    assert {(4, 3), (2, 4)} <= {x.shape for x in job.inputs}
    assert [x.shape for x in job.outputs] == [(5, 2)]


def test_step_that_fails_is_the_last_and_its_error_goes_on() -> None:
    x = mx.sym.Variable("x")
    executor = mx.sym.Custom(x, op_type="fails_when_profiled").bind(
        mx.cpu(), {"x": mx.nd.ones((2,))}
    )
    with recording():
        with pytest.raises(mx.MXNetError, match="on purpose"):
            executor.forward()[0].asnumpy()
        failed = [job for job in recorder.jobs() if "on purpose" in job.error]
    assert failed


@mx.operator.register("fails_when_profiled")
class FailsProp(mx.operator.CustomOpProp):
    def create_operator(self, ctx: Any, in_shapes: Any, in_dtypes: Any) -> Any:
        class Fails(mx.operator.CustomOp):
            def forward(self, **arguments: Any) -> None:
                raise ValueError("on purpose")

        return Fails()


@pytest.mark.parametrize(("size", "calls"), [(1, 4), (2, 2), (4, 1)])
def test_aggregated_updates_are_seen_with_their_arrays(size: int, calls: int) -> None:
    with MXNET_OPTIMIZER_AGGREGATION_SIZE.override(size):
        net = hybrid()
        trainer = Trainer(net.collect_params(), "sgd", {"momentum": 0.9}, update_on_kvstore=False)
        x = mx.nd.ones((5, 3))
        with recording():
            with mx.autograd.record():
                loss = net(x).sum()
            loss.backward()
            trainer.step(5)
            mx.nd.waitall()
            updates = [job for job in recorder.jobs() if "sgd_mom" in job.name]
    assert len(updates) == calls
    written = sorted(x.shape for job in updates for x in job.outputs)
    assert written == sorted([(4, 3), (4,), (2, 4), (2,)] * 2)  # weights and momenta
    assert sum(len(job.inputs) for job in updates) == 12  # and gradients


def test_classes_are_their_own_again_at_the_end() -> None:
    before = Executable._run, WeightUpdate.push
    with recording():
        assert Executable._run is not before[0]
        assert WeightUpdate.push is not before[1]
    assert (Executable._run, WeightUpdate.push) == before
