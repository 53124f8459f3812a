from itertools import accumulate
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from gluonish.graph import memory_plan
from gluonish.graph.liveness import peak_nbytes
from gluonish.graph.memory_plan import ALIGNMENT, MemoryPlan, Slot, Step, padded, plan_memory

KeptProgram = tuple[list[Step], dict[int, int], dict[int, int], list[int]]


def test_values_that_never_live_together_share_memory() -> None:
    steps = [Step((), (0,)), Step((0,), (1,)), Step((1,), (2,)), Step((2,), ())]
    plan = plan_memory(steps, {0: 100, 1: 100, 2: 100})
    assert plan.slots[2].offset == plan.slots[0].offset
    assert plan.nbytes == 2 * padded(100)


def test_an_elementwise_step_writes_over_an_input_that_dies_with_it() -> None:
    steps = [Step((), (0,)), Step((0,), (1,), in_place=True), Step((1,), ())]
    assert plan_memory(steps, {0: 100, 1: 100}).nbytes == padded(100)
    assert plan_memory(steps, {0: 100, 1: 100}, in_place=False).nbytes == 2 * padded(100)


def test_an_input_that_is_read_later_is_not_written_over() -> None:
    steps = [Step((), (0,)), Step((0,), (1,), in_place=True), Step((0, 1), ())]
    plan = plan_memory(steps, {0: 100, 1: 100})
    assert plan.slots[0].offset != plan.slots[1].offset


def test_an_alias_lies_on_its_source_while_both_live() -> None:
    steps = [Step((), (0,)), Step((0,), (1,), alias=True), Step((0, 1), ())]
    plan = plan_memory(steps, {0: 100, 1: 100})
    assert plan.slots[0] == plan.slots[1]


def test_a_source_that_an_alias_still_needs_is_not_written_over() -> None:
    steps = [
        Step((), (0,)),
        Step((0,), (1,), alias=True),
        Step((0,), (2,), in_place=True),
        Step((1, 2), ()),
    ]
    plan = plan_memory(steps, {0: 100, 1: 100, 2: 100})
    assert plan.slots[2].offset != plan.slots[1].offset


def test_a_block_outside_the_match_range_is_left_alone() -> None:
    steps = [Step((), (0,)), Step((0,), (1,)), Step((1,), (2,)), Step((2,), ())]
    sizes = {0: 64, 1: 64, 2: 64 * 17}
    assert plan_memory(steps, sizes, match_range=16).nbytes == 64 + 64 + 64 * 17
    assert plan_memory(steps, sizes, match_range=17).nbytes == 64 + 64 * 17


def test_a_match_range_of_0_shares_nothing() -> None:
    steps = [Step((), (0,)), Step((0,), (1,)), Step((1,), (2,)), Step((2,), ())]
    assert plan_memory(steps, {0: 64, 1: 64, 2: 64}, match_range=0).nbytes == 3 * 64


def test_the_free_block_that_fits_best_is_taken() -> None:
    steps = [Step((), (0, 1)), Step((0, 1), (2,)), Step((2,), (3,)), Step((3,), ())]
    plan = plan_memory(steps, {0: 640, 1: 128, 2: 64, 3: 128})
    assert plan.slots[3].offset == plan.slots[1].offset


def test_values_without_a_size_need_no_memory() -> None:
    assert plan_memory([Step((), (0,)), Step((0,), (1,))], {}) == MemoryPlan({}, 0)


def test_empty_values_have_a_place() -> None:
    plan = plan_memory([Step((), (0,)), Step((0,), ())], {0: 0})
    assert plan.slots[0].nbytes == 0
    assert plan.nbytes == 0


def test_values_of_other_sizes_share_the_bytes_of_one_that_died() -> None:
    steps = [
        Step((), (0,)),
        Step((0,), (1, 2)),
        Step((1, 2), (3, 4, 5)),
        Step((3, 4, 5), ()),
    ]
    sizes = {0: 960, 1: 64, 2: 64, 3: 320, 4: 320, 5: 320}
    assert plan_memory(steps, sizes).nbytes == 960 + 2 * 64


def test_a_long_chain_of_sums_is_planned_close_to_what_lives_at_once() -> None:
    steps = [Step((), (0,))]
    sizes = {0: 6400}
    for i in range(1, 60):
        steps.append(Step((i - 1, max(0, i - 7)), (i,)))
        sizes[i] = 640 * (1 + i * 7 % 10)
    assert plan_memory(steps, sizes).nbytes <= 1.2 * peak_nbytes(steps, sizes)


def test_what_dies_in_the_state_makes_room_for_what_comes_later() -> None:
    steps = [Step((0, 1), (2,)), Step((2, 0), (3,)), Step((3,), (4,)), Step((4,), ())]
    plan = plan_memory(
        steps, {0: 256, 1: 64, 2: 64, 3: 64, 4: 256}, state={0: 0, 1: 256}, match_range=1
    )
    assert plan.slots[0] == Slot(0, 256, in_state=True)
    assert plan.slots[2].in_state is False
    assert plan.slots[3] == Slot(256, 64, in_state=True)
    assert plan.slots[4] == Slot(0, 256, in_state=True)
    assert plan.nbytes == 64


def test_what_lasts_in_the_state_is_never_written_over() -> None:
    steps = [Step((0,), (1,), in_place=True), Step((1,), ())]
    sizes = {0: 100, 1: 100}
    kept = plan_memory(steps, sizes, state={0: 0}, lasting=[0])
    assert kept.slots[1] == Slot(0, 100)
    assert kept.nbytes == padded(100)
    assert plan_memory(steps, sizes, state={0: 0}).slots[1] == Slot(0, 100, in_state=True)


def test_room_in_the_state_is_used_before_a_value_is_made_there() -> None:
    steps = [Step((), (0,)), Step((0,), (1,)), Step((1,), (2,)), Step((2,), (3,))]
    plan = plan_memory(steps, {0: 64, 1: 64, 2: 64, 3: 128}, state={3: 0}, lasting=[3])
    assert all(slot.in_state for value, slot in plan.slots.items() if value != 2)
    assert plan.nbytes == 64


def test_a_kept_value_is_computed_in_place_where_its_input_dies() -> None:
    steps = [Step((), (0,)), Step((0,), (1,), in_place=True)]
    plan = plan_memory(steps, {0: 100, 1: 100}, state={1: 128}, lasting=[1])
    assert plan.slots[0] == plan.slots[1] == Slot(128, 100, in_state=True)
    assert plan.nbytes == 0


def test_other_shapes_of_one_value_that_are_kept_apart_are_apart() -> None:
    steps = [Step((), (0,)), Step((0,), (1,), alias=True), Step((0,), (2,), alias=True)]
    sizes = dict.fromkeys(range(3), 64)
    plan = plan_memory(steps, sizes, state={1: 0, 2: 64}, lasting=[1, 2])
    assert plan.slots[1].offset == 0
    assert plan.slots[2].offset == 64


def test_no_buffer_lies_in_state_and_arena() -> None:
    steps = [Step((0,), (1,)), Step((1,), ())]
    plan = plan_memory(steps, {0: 64, 1: 128}, state={0: 0})
    assert plan.slots[1] == Slot(0, 128)
    assert plan.nbytes == 128


def test_a_match_range_of_0_lets_nothing_into_the_state() -> None:
    steps = [Step((0,), (1,)), Step((1,), (2,)), Step((2,), ())]
    plan = plan_memory(steps, dict.fromkeys(range(3), 64), state={0: 0}, match_range=0)
    assert not plan.slots[1].in_state
    assert not plan.slots[2].in_state
    assert plan.nbytes == 2 * 64


@st.composite
def programs(draw: st.DrawFn) -> tuple[list[Step], dict[int, int]]:
    steps: list[Step] = []
    sizes: dict[int, int] = {}
    made: list[int] = []
    for _ in range(draw(st.integers(1, 15))):
        reads = tuple(draw(st.lists(st.sampled_from(made), max_size=3))) if made else ()
        writes = tuple(range(len(made), len(made) + draw(st.integers(1, 2))))
        alias = bool(reads) and len(writes) == 1 and reads[0] in sizes and draw(st.booleans())
        for value in writes:
            if alias:
                sizes[value] = sizes[reads[0]]
            elif draw(st.integers(0, 4)):
                sizes[value] = draw(st.sampled_from([0, 1, 64, 100, 128, 1000, 1024]))
        in_place = not alias and len(writes) == 1 and draw(st.booleans())
        steps.append(Step(reads, writes, in_place=in_place, alias=alias))
        made += writes
    return steps, sizes


def _last_uses(steps: list[Step]) -> dict[int, int]:
    return {v: i for i, step in enumerate(steps) for v in (*step.writes, *step.reads)}


def _overlap(one: Slot, other: Slot) -> bool:
    return (
        one.in_state == other.in_state
        and min(one.nbytes, other.nbytes) > 0
        and one.offset < other.offset + other.nbytes
        and other.offset < one.offset + one.nbytes
    )


@st.composite
def kept_programs(draw: st.DrawFn) -> KeptProgram:
    """Draw a program, and values that are in the state at the start, or are to be at the end."""
    steps, sizes = draw(programs())
    made = [v for step in steps for v in step.writes if v in sizes]
    given = [1000 + i for i in range(draw(st.integers(0, 4)))]
    for value in given:
        sizes[value] = draw(st.sampled_from([0, 1, 64, 100, 1000, 1024]))
        at = draw(st.integers(0, len(steps) - 1))
        step = steps[at]
        steps[at] = Step((*step.reads, value), step.writes, step.in_place, step.alias)
    own = [v for v in made if draw(st.booleans())]
    ends = accumulate((padded(sizes[v]) for v in (*given, *own)), initial=0)
    lasting = [*own, *(v for v in given if draw(st.booleans()))]
    return steps, sizes, dict(zip((*given, *own), ends, strict=False)), lasting


@given(
    kept_programs(), st.sampled_from([0, 1, 2, 16]), st.booleans(), st.sampled_from([1, 3, 8192])
)
def test_live_values_never_overlap(
    program: KeptProgram, match_range: int, in_place: bool, most_packed: int
) -> None:
    steps, sizes, state, lasting = program
    with patch.object(memory_plan, "_MAX_PACKED", most_packed):
        plan = plan_memory(
            steps, sizes, state=state, lasting=lasting, match_range=match_range, in_place=in_place
        )
    last = _last_uses(steps) | dict.fromkeys(lasting, len(steps))
    made = {v for step in steps for v in step.writes}
    # Whose elements lie in each byte range, followed step by step as a run would.
    # value -> the value whose elements it shares (itself or a source)
    holds = {value: value for value in state if value not in made}
    for i, step in enumerate(steps):
        for value in (v for v in step.writes if v in sizes):
            slot = plan.slots[value]
            shares = value
            if step.alias and slot == plan.slots[step.reads[0]]:
                shares = holds[step.reads[0]]
            for other, owner in holds.items():
                dying_input = other in step.reads and last[other] == i
                allowed = owner == shares or (step.in_place and in_place and dying_input)
                assert allowed or not _overlap(slot, plan.slots[other])
            holds[value] = shares
        holds = {value: owner for value, owner in holds.items() if last[value] > i}
    assert {*lasting} <= holds.keys()
    for value, offset in state.items():
        assert plan.slots[value] == Slot(offset, sizes[value], in_state=True)


@given(kept_programs(), st.sampled_from([0, 1, 2, 16]))
def test_every_slot_lies_in_the_state_or_in_the_arena(
    program: KeptProgram, match_range: int
) -> None:
    steps, sizes, state, lasting = program
    plan = plan_memory(steps, sizes, state=state, lasting=lasting, match_range=match_range)
    state_nbytes = sum(padded(sizes[v]) for v in state)
    assert set(plan.slots) == set(sizes)
    for slot in plan.slots.values():
        assert slot.offset + slot.nbytes <= (state_nbytes if slot.in_state else plan.nbytes)
    apart = {v: nbytes for v, nbytes in sizes.items() if v not in state}
    assert plan.nbytes <= sum(map(padded, apart.values()))


@given(programs(), st.sampled_from([0, 1, 2, 16]))
def test_the_arena_holds_every_slot_and_is_never_larger_than_the_sum(
    program: tuple[list[Step], dict[int, int]], match_range: int
) -> None:
    steps, sizes = program
    plan = plan_memory(steps, sizes, match_range=match_range)
    assert set(plan.slots) == set(sizes)
    for value, slot in plan.slots.items():
        assert slot.nbytes == sizes[value]
        assert slot.offset % ALIGNMENT == 0
        assert slot.offset + slot.nbytes <= plan.nbytes
    assert plan.nbytes <= sum(map(padded, sizes.values()))
