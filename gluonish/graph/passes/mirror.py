"""Mirroring: values of the forward pass are computed again in the backward pass, not kept.

References:
    T. Chen, B. Xu, C. Zhang, C. Guestrin, Training Deep Nets with Sublinear Memory Cost, 2016.
"""

from bisect import bisect_left
from itertools import accumulate

from gluonish.graph.gradient import Joint
from gluonish.graph.ir import Graph, Node, Value, topological_order
from gluonish.graph.kept import Keeping, cheapest_keeping
from gluonish.graph.liveness import peak_nbytes, planner_steps
from gluonish.graph.memory_plan import Step
from gluonish.graph.recompute import Effort
from gluonish.graph.schedule import low_memory_order

Key = tuple[int, int]

# How many segments are tried, each of which keeps what crosses its ends; after some in a row that
# are no better than fewer, more are not.
_SEGMENTS = (2, 3, 4, 6, 8, 11, 16, 24, 32, 48)
_PATIENCE = 3


def mirror(joint: Joint, effort: Effort) -> Joint:
    """Compute forward values again in the backward pass where that saves memory.

    Requires: specs on every value, training mode on every node that depends on it. No common
    subexpressions are looked for afterwards: they would join the copies with what they copy.
    Ensures: the same outputs and gradients, within round-off; every copy runs behind the forward
    pass. The most that lives in the backward pass, what is kept included, is no more than before,
    nor is what is kept where that is the same. At no effort, copies are other shapes only.
    """
    whole = cheapest_keeping(joint, effort)
    if not whole.again:
        return joint
    best = _rewritten(joint, whole)
    if effort == Effort.NOTHING:
        return best
    least, failures = _nbytes(best), 0
    for count in _SEGMENTS:
        keeping = cheapest_keeping(joint, effort, _checkpoints(joint, whole, count))
        candidate = _rewritten(joint, keeping)
        nbytes = _nbytes(candidate)
        failures += 1
        if nbytes < least:
            best, least, failures = candidate, nbytes, 0
        if failures == _PATIENCE:
            break
    return best if least < _nbytes(joint) else joint


def ordered_backward(joint: Joint) -> list[Node]:
    """Return the backward operators in an order in which little lives at once."""
    return low_memory_order(joint.backward, joint.heads, joint.gradients)


def _nbytes(joint: Joint) -> tuple[int, int]:
    """Return the most that lives in the backward pass, and what of it is kept, to be compared.

    What is kept lives to its last reader.
    """
    given = {value.key for value in (*joint.outputs, *joint.gradients)}
    kept = [value for key, value in joint.read.items() if key not in given]
    steps, sizes = planner_steps(ordered_backward(joint), given, kept)
    peak = peak_nbytes([Step((), tuple(range(len(kept)))), *steps], sizes)
    return peak, sum(value.spec.nbytes for value in kept)


def _rewritten(joint: Joint, keeping: Keeping) -> Joint:
    """Return both passes, the backward one reading copies of what is not kept."""
    made: dict[Key, Value] = {}

    def copied(value: Value) -> Value:
        """Return what the backward pass reads for a forward value; without recursion."""
        waiting = [value]
        while waiting:
            current = waiting[-1]
            recipe = None if current.key in made else keeping.again.get(current.key)
            if recipe is None:
                made.setdefault(current.key, current)
                waiting.pop()
                continue
            missing = [source for source in recipe.sources if source.key not in made]
            if missing:
                waiting += missing
            else:
                made[current.key] = recipe.make([made[v.key] for v in recipe.sources])
                waiting.pop()
        return made[value.key]

    for node in joint.backward:
        inputs = [copied(value) for value in node.inputs]
        new = Node(node.op, node.name, inputs, node.attrs, node.specs, node.extra)
        made |= {(id(node), i): Value(new, i) for i in range(node.num_outputs)}
    gradients = [made.get(value.key, value) for value in joint.gradients]
    nodes = [*joint.graph.inputs, *joint.forward]
    known = {id(node) for node in nodes}
    outputs = [*joint.outputs, *gradients]
    nodes += [node for node in topological_order(outputs) if id(node) not in known]
    graph = Graph(joint.graph.inputs, outputs, nodes)
    return Joint(graph, len(joint.inputs), len(joint.outputs))


def _checkpoints(joint: Joint, whole: Keeping, count: int) -> set[Key]:
    """Return what crosses the ends of ``count`` segments with about equal bytes to recompute.

    Args:
        joint: Both passes.
        whole: What is kept without checkpoints.
        count: How many segments, at least 2.
    """
    sizes, crossing = _crossing(joint, whole)
    costs = [sum(nbytes for _, nbytes in values) for values in crossing]
    done = list(accumulate(sizes))
    length = done[-1] / count
    found: set[Key] = set()
    for segment in range(1, count):
        # Of the ends in the middle half between two neighbours, the one that fewest bytes cross.
        low, high = (bisect_left(done, (segment + side) * length) for side in (-0.25, 0.25))
        if low < high:
            end = min(range(low, high), key=costs.__getitem__)
            found.update(key for key, _ in crossing[end])
    return found


def _crossing(joint: Joint, whole: Keeping) -> tuple[list[int], list[list[tuple[Key, int]]]]:
    """Return bytes that each forward operator makes, and what is read behind it, with its bytes.

    Both of what is computed again, and as its recipes read it.
    """
    positions = {id(node): i for i, node in enumerate(joint.forward)}
    last: dict[Key, int] = {}
    for key, recipe in whole.again.items():
        for source in recipe.sources:
            last[source.key] = max(last.get(source.key, 0), positions[key[0]])
    live: dict[Key, int] = {}
    sizes, crossing = [], []
    for i, node in enumerate(joint.forward):
        own = {(id(node), j): spec.nbytes for j, spec in enumerate(node.specs)}
        own = {key: nbytes for key, nbytes in own.items() if key in whole.again}
        live |= own
        live = {key: nbytes for key, nbytes in live.items() if last.get(key, i) > i}
        sizes.append(sum(own.values()))
        crossing.append(list(live.items()))
    return sizes, crossing
