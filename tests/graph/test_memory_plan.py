from hypothesis import given
from hypothesis import strategies as st

from gluonish.graph.liveness import peak_nbytes
from gluonish.graph.memory_plan import ALIGNMENT, MemoryPlan, Step, plan_memory


def _padded(nbytes: int) -> int:
    return -(-nbytes // ALIGNMENT) * ALIGNMENT


def test_values_that_never_live_together_share_memory() -> None:
    steps = [Step((), (0,)), Step((0,), (1,)), Step((1,), (2,)), Step((2,), ())]
    plan = plan_memory(steps, {0: 100, 1: 100, 2: 100})
    assert plan.slots[2].offset == plan.slots[0].offset
    assert plan.nbytes == 2 * _padded(100)


def test_an_elementwise_step_writes_over_an_input_that_dies_with_it() -> None:
    steps = [Step((), (0,)), Step((0,), (1,), in_place=True), Step((1,), ())]
    assert plan_memory(steps, {0: 100, 1: 100}).nbytes == _padded(100)
    assert plan_memory(steps, {0: 100, 1: 100}, in_place=False).nbytes == 2 * _padded(100)


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


@given(programs(), st.sampled_from([0, 1, 2, 16]), st.booleans())
def test_live_values_never_overlap(
    program: tuple[list[Step], dict[int, int]], match_range: int, in_place: bool
) -> None:
    steps, sizes = program
    plan = plan_memory(steps, sizes, match_range=match_range, in_place=in_place)
    last = _last_uses(steps)
    # Whose elements lie in each byte range, followed step by step as a run would.
    holds: dict[int, int] = {}  # value -> the value whose elements it shares (itself or a source)
    for i, step in enumerate(steps):
        for value in (v for v in step.writes if v in sizes):
            shares = holds[step.reads[0]] if step.alias else value
            slot = plan.slots[value]
            for other, owner in holds.items():
                apart = (
                    slot.offset + slot.nbytes <= plan.slots[other].offset
                    or plan.slots[other].offset + plan.slots[other].nbytes <= slot.offset
                )
                dying_input = other in step.reads and last[other] == i
                allowed = owner == shares or (step.in_place and in_place and dying_input)
                assert apart or allowed
            holds[value] = shares
        holds = {value: owner for value, owner in holds.items() if last[value] > i}


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
    assert plan.nbytes <= sum(map(_padded, sizes.values()))
