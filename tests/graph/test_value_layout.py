from typing import Any

import numpy as np

from gluonish.core.config import MXNET_EXEC_ENABLE_INPLACE, NNVM_EXEC_MATCH_RANGE
from gluonish.core.context import cpu
from gluonish.core.device import device_of
from gluonish.graph.executable import StaticValues
from gluonish.graph.instructions import ViewInstruction
from gluonish.graph.ir import Value, topological_order
from gluonish.graph.state import StateUse
from gluonish.graph.value_layout import ValueLayout, plan_layout
from tests.graph.builders import call, inputs


def _layout(externals: list[Value], outputs: list[Value]) -> ValueLayout:
    nodes = [node for node in topological_order(outputs) if node.op is not None]
    return plan_layout(nodes, externals, outputs, device_of(cpu()))


def _views(layout: ValueLayout, arena: Any = None, state: Any = None) -> list[Any]:
    return StaticValues(layout, device_of(cpu())).views(arena, state)


def _chain(length: int) -> tuple[Value, Value]:
    (a,) = inputs((64,))
    y = a
    for _ in range(length):
        y = call("sin", y)
    return a, y


def test_values_in_a_chain_of_elementwise_steps_share_one_block() -> None:
    a, y = _chain(5)
    assert _layout([a], [y]).arena_nbytes == 256


def test_without_in_place_a_chain_alternates_between_two_blocks() -> None:
    a, y = _chain(5)
    with MXNET_EXEC_ENABLE_INPLACE.override(False):
        assert _layout([a], [y]).arena_nbytes == 2 * 256


def test_a_match_range_of_0_gives_every_value_its_own_block() -> None:
    a, y = _chain(5)
    with NNVM_EXEC_MATCH_RANGE.override(0), MXNET_EXEC_ENABLE_INPLACE.override(False):
        assert _layout([a], [y]).arena_nbytes == 4 * 256


def test_what_is_given_and_delivered_lies_outside_the_arena() -> None:
    a, y = _chain(1)
    layout = _layout([a], [y])
    assert layout.arena_nbytes == 0
    assert _views(layout) == []
    assert (list(layout.instructions[0].reads), list(layout.instructions[0].writes)) == ([0], [1])


def test_another_shape_of_an_input_is_a_view() -> None:
    (a,) = inputs((2, 3))
    y = call("sin", call("Reshape", a, shape=(3, 2)))
    layout = _layout([a], [y])
    assert isinstance(layout.instructions[0], ViewInstruction)
    assert layout.arena_nbytes == 0
    given = np.zeros((2, 3), np.float32)
    values = [
        given,
        np.zeros((3, 2), np.float32),
        *_views(layout),
    ]
    layout.instructions[0].run(np, values, (0, 0))
    assert np.shares_memory(values[layout.instructions[0].writes[0]], given)


def test_another_shape_inside_the_arena_takes_no_step() -> None:
    (a,) = inputs((2, 3))
    y = call("softmax", call("Reshape", call("sin", a), shape=(3, 2)))
    assert len(_layout([a], [y]).instructions) == 2


def test_another_shape_of_an_input_that_is_delivered_is_copied() -> None:
    (a,) = inputs((2, 3))
    layout = _layout([a], [call("Reshape", a, shape=(3, 2))])
    assert not isinstance(layout.instructions[0], ViewInstruction)


def test_an_output_delivered_several_times_has_a_place_for_each() -> None:
    (a,) = inputs((2,))
    y = call("sin", a)
    layout = _layout([a], [y, y, y, a])
    assert layout.copies == [(1, 2), (1, 3), (0, 4)]
    assert _views(layout) == []


def test_what_a_step_overwrites_is_told() -> None:
    x, *rest = inputs((4, 3), (3,), (3,), (3,), (3,))
    layout = _layout([x, *rest], [call("BatchNorm", x, *rest, train=True)])
    assert layout.mutated == [3, 4]


def test_random_keys_are_counted() -> None:
    (a,) = inputs((2,))
    y = call("Dropout", call("Dropout", a, train=True), train=True)
    assert _layout([a], [y]).random_count == 2


def _kept_layout(
    externals: list[Value], outputs: list[Value], state: StateUse, *more: Value
) -> ValueLayout:
    nodes = [node for node in topological_order([*outputs, *more]) if node.op is not None]
    return plan_layout(nodes, externals, outputs, device_of(cpu()), state=state)


def test_what_is_kept_is_made_in_the_state() -> None:
    a, y = _chain(1)
    layout = _kept_layout([a], [], StateUse([y], [64], filled=False, lasting=True), y)
    state = np.zeros(64 + 256, np.uint8)
    values = [
        np.ones(64, np.float32),
        *_views(layout, np.empty(0, np.uint8), state),
    ]
    for step in layout.instructions:
        step.run(np, values, (0, 0))
    assert layout.arena_nbytes == 0
    np.testing.assert_allclose(state[64:].view(np.float32), np.sin(np.ones(64)), rtol=1e-6)
    assert not state[:64].any()


def test_what_is_kept_though_no_step_makes_it_is_copied() -> None:
    a, y = _chain(1)
    layout = _kept_layout(
        [a], [], StateUse([a, y, y], [0, 256, 512], filled=False, lasting=True), y
    )
    assert layout.copies == [(0, 1), (2, 3)]
    static = _views(layout, np.empty(0, np.uint8), np.empty(768, np.uint8))
    assert [array.nbytes for array in static] == [256, 256, 256]


def test_what_is_given_in_the_state_and_delivered_is_not_overwritten() -> None:
    a, y = _chain(3)
    state = StateUse([a], [0], filled=True, lasting=False)
    assert _kept_layout([], [y], state).arena_nbytes == 0
    layout = _kept_layout([], [y, a], state)
    assert layout.copies == [(2, 1)]
    assert layout.arena_nbytes == 256


def test_a_layout_prints_its_instructions_and_their_memory() -> None:
    (a,) = inputs((2, 3))
    b = call("sin", call("Reshape", a, shape=(3, 2)))
    layout = _layout([a], [call("softmax", b), b])
    assert str(layout).splitlines() == [
        "3 arguments, arena of 0 bytes",
        "%3 = view(%0)",
        "%2 = sin(%3)",
        "%1 = softmax(%2)",
    ]


def test_a_layout_prints_slots_of_the_state_and_copies() -> None:
    a, y = _chain(2)
    use = StateUse([y, a], [0, 256], filled=False, lasting=True)
    assert str(_kept_layout([a], [], use, y)).splitlines() == [
        "1 arguments, arena of 0 bytes",
        "%3 state[0:256] = sin(%0)",
        "%1 state[0:256] = sin(%3)",
        "%2 = copy %0",
    ]


def test_a_layout_prints_its_prologue() -> None:
    a, b = inputs((4,), (4,))
    y = call("broadcast_mul", call("softmax", b), a)
    nodes = [node for node in topological_order([y]) if node.op is not None]
    layout = plan_layout(nodes, [a, b], [y], device_of(cpu()), constant_inputs=[1])
    assert str(layout).splitlines() == [
        "3 arguments, arena of 0 bytes",
        "prologue %3 shared = softmax(%1)",
        "%2 = broadcast_mul(%3, %0)",
    ]
