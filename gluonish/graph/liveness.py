"""Peak memory of a sequence of operators, a lower bound for any memory plan."""

from collections.abc import Collection, Sequence

from gluonish.graph.ir import Node, Value
from gluonish.graph.memory_plan import Step

Key = tuple[int, int]


def planner_steps(
    nodes: Sequence[Node], external: Collection[Key], saved: Sequence[Value] = ()
) -> tuple[list[Step], dict[int, int]]:
    """Return the nodes as steps of the memory planner, and the bytes of each planned value.

    Args:
        nodes: Operators in execution order.
        external: Keys of values that are not in the planned memory.
        saved: Planned values that other nodes compute or read; they get the first numbers.
    """
    numbers = {value.key: i for i, value in enumerate(saved)}
    sizes = {i: value.spec.nbytes for i, value in enumerate(saved)}
    steps = []
    for node in nodes:
        op = node.op
        assert op is not None
        reads = tuple(_number(numbers, v) for v in node.inputs if v.node.array is None)
        writes = tuple(_number(numbers, Value(node, i)) for i in range(node.num_outputs))
        # A reshape of an external value needs no memory.
        free_view = op.identity and op.single and bool(reads) and reads[0] not in sizes
        for i, number in enumerate(writes):
            if (id(node), i) not in external and not free_view:
                sizes[number] = node.specs[i].nbytes
        alias = op.identity and op.single and bool(reads) and reads[0] in sizes
        in_place = op.elementwise and op.single
        steps.append(Step(reads, writes, in_place=in_place, alias=alias and writes[0] in sizes))
    return steps, sizes


def _number(numbers: dict[Key, int], value: Value) -> int:
    return numbers.setdefault(value.key, len(numbers))


def peak_nbytes(steps: Sequence[Step], sizes: dict[int, int]) -> int:
    """Return the most bytes that live at once, if steps write in place where possible."""
    owners: dict[int, int] = {}  # value that owns the memory of each alias
    for step in steps:
        if step.alias:
            owners[step.writes[0]] = owners.get(step.reads[0], step.reads[0])
    last: dict[int, int] = {}
    for i, step in enumerate(steps):
        for value in (*step.writes, *step.reads):
            last[owners.get(value, value)] = i
    live = peak = 0
    for i, step in enumerate(steps):
        made = sum(sizes.get(v, 0) for v in step.writes if v not in owners)
        touched = {owners.get(v, v) for v in (*step.reads, *step.writes)}
        ended = [v for v in touched if last[v] == i]
        taken_over = step.in_place and any(
            v not in step.writes and sizes.get(v) == made for v in ended
        )
        peak = max(peak, live + (0 if taken_over else made))
        live += made - sum(sizes.get(v, 0) for v in ended)
    return peak
