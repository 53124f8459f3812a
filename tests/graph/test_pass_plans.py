from gluonish.core.context import cpu
from gluonish.core.device import device_of
from gluonish.graph.pass_plans import PassOptions, PassPlans, plan_passes
from tests.graph.builders import call, inputs


def _plans(*, requires_grad: bool) -> PassPlans:
    x, weight = inputs((2, 3), (4, 3))
    y = call("softmax", call("FullyConnected", x, weight, num_hidden=4, no_bias=True))
    return plan_passes(
        [x.node, weight.node],
        [call("softmax", y)],
        [x.spec, weight.spec],
        device_of(cpu()),
        training=requires_grad,
        requires_grad=[False, True] if requires_grad else [],
        options=PassOptions((100, 100), 1),
    )


def test_without_gradients_there_is_no_backward_pass_and_no_state() -> None:
    plans = _plans(requires_grad=False)
    assert plans.backward is None
    assert plans.saved.nbytes == 0
    assert list(plans.forward.constant_inputs) in ([], [1])


def test_saved_values_have_the_same_slots_in_both_passes() -> None:
    plans = _plans(requires_grad=True)
    assert [value.node.op.name for value in plans.partition.saved] == ["softmax"]
    text = str(plans)
    assert "\nstate of 64 bytes\nbackward: 1 segments\n" in text
    assert "state[0:32] = softmax" in text


def test_parameters_and_their_gradients_keep_their_arrays() -> None:
    plans = _plans(requires_grad=True)
    assert plans.backward is not None
    assert plans.grad_inputs == [1]
    assert plans.partition.gradient_positions == [1]
