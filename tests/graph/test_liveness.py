from hypothesis import given

from gluonish.graph.liveness import peak_nbytes, planner_steps
from gluonish.graph.memory_plan import Step, plan_memory
from tests.graph.builders import call, graph, inputs
from tests.graph.test_memory_plan import programs


def test_a_value_lives_from_the_step_that_makes_it_to_its_last_reader() -> None:
    steps = [Step((), (0,)), Step((), (1,)), Step((0,), (2,)), Step((1, 2), ())]
    assert peak_nbytes(steps, {0: 1, 1: 10, 2: 100}) == 111
    assert peak_nbytes([*steps, Step((), (3,))], {0: 1, 1: 10, 2: 100, 3: 50}) == 111


def test_an_in_place_step_needs_no_room_for_its_result() -> None:
    steps = [Step((), (0,)), Step((0,), (1,), in_place=True), Step((1,), ())]
    assert peak_nbytes(steps, {0: 8, 1: 8}) == 8


def test_a_source_lives_as_long_as_its_alias() -> None:
    steps = [Step((), (0,)), Step((0,), (1,), alias=True), Step((), (2,)), Step((1, 2), ())]
    assert peak_nbytes(steps, {0: 8, 1: 8, 2: 8}) == 16


def test_other_shapes_of_what_has_memory_of_its_own_need_none() -> None:
    (a,) = inputs((2, 3))
    flat = call("Reshape", a, shape=(-1,))
    made = graph([a], call("exp", flat))
    nodes = [node for node in made.nodes if node.op]
    _, sizes = planner_steps(nodes, {value.key for value in made.outputs})
    assert sizes == {}


def test_shapes_of_planned_values_are_aliases() -> None:
    (a,) = inputs((2, 3))
    made = graph([a], call("exp", call("Reshape", call("sin", a), shape=(-1,))))
    steps, sizes = planner_steps([node for node in made.nodes if node.op], set())
    assert [step.alias for step in steps] == [False, True, False]
    assert peak_nbytes(steps, sizes) == 2 * 3 * 4


@given(programs())
def test_no_plan_of_plain_steps_needs_less(program: tuple[list[Step], dict[int, int]]) -> None:
    steps, sizes = program
    plain = [Step(step.reads, step.writes) for step in steps]
    assert peak_nbytes(plain, sizes) <= plan_memory(plain, sizes).nbytes
