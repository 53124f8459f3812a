"""Mirroring: the backward pass computes forward values again instead of reading saved ones.

References:
    T. Chen, B. Xu, C. Zhang, C. Guestrin, Training Deep Nets with Sublinear Memory Cost, 2016.
"""

from bisect import bisect_left
from itertools import accumulate

from gluonish.graph.gradient import Joint
from gluonish.graph.ir import Graph, Node, Value, topological_order
from gluonish.graph.liveness import peak_nbytes, planner_steps
from gluonish.graph.memory_plan import Step
from gluonish.graph.saved_values import Effort, SavedChoice, cheapest_choice
from gluonish.graph.schedule import low_memory_order

Key = tuple[int, int]

# Numbers of segments to try, each of which saves the values that cross its ends; the search stops
# after some numbers in a row without improvement.
_SEGMENTS = (2, 3, 4, 6, 8, 11, 16, 24, 32, 48)
_PATIENCE = 3


def mirror(joint: Joint, effort: Effort) -> Joint:
    """Compute forward values again in the backward pass where that saves memory.

    Requires: specs on every value, training mode on every node that depends on it. Common
    subexpressions are not eliminated afterwards: that would join the copies with their originals.
    Ensures: the same outputs and gradients, within round-off; every copy runs after the forward
    pass. The peak memory of the backward pass, saved values included, does not grow; nor, at the
    same peak, do the saved values. Without effort, copies are reshapes only.
    """
    unlimited = cheapest_choice(joint, effort)
    if not unlimited.recomputed:
        return joint
    best = _rewritten(joint, unlimited)
    if effort == Effort.NOTHING:
        return best
    least, failures = _nbytes(best), 0
    for count in _SEGMENTS:
        choice = cheapest_choice(joint, effort, _checkpoints(joint, unlimited, count))
        candidate = _rewritten(joint, choice)
        nbytes = _nbytes(candidate)
        failures += 1
        if nbytes < least:
            best, least, failures = candidate, nbytes, 0
        if failures == _PATIENCE:
            break
    return best if least < _nbytes(joint) else joint


def ordered_backward(joint: Joint) -> list[Node]:
    """Return the backward operators in an order that needs little memory."""
    return low_memory_order(joint.backward, joint.heads, joint.gradients)


def _nbytes(joint: Joint) -> tuple[int, int]:
    """Return the peak memory of the backward pass, and the saved bytes, as a pair to compare.

    A saved value lives until its last reader.
    """
    delivered = {value.key for value in (*joint.outputs, *joint.gradients)}
    saved = [value for key, value in joint.read.items() if key not in delivered]
    steps, sizes = planner_steps(ordered_backward(joint), delivered, saved)
    peak = peak_nbytes([Step((), tuple(range(len(saved)))), *steps], sizes)
    return peak, sum(value.spec.nbytes for value in saved)


def _rewritten(joint: Joint, choice: SavedChoice) -> Joint:
    """Return both passes, where the backward pass reads copies of values that are not saved."""
    made: dict[Key, Value] = {}

    def copied(value: Value) -> Value:
        """Return the value that replaces a forward value in the backward pass."""
        waiting = [value]
        while waiting:
            current = waiting[-1]
            recipe = None if current.key in made else choice.recomputed.get(current.key)
            if recipe is None:
                made.setdefault(current.key, current)
                waiting.pop()
                continue
            missing = [source for source in recipe.sources if source.key not in made]
            if missing:
                waiting += missing
            else:
                copy = recipe.make([made[v.key] for v in recipe.sources])
                made[current.key] = copy
                if copy.node.op is current.node.op:  # it has the other outputs, too
                    for i in range(copy.node.num_outputs):
                        key = (id(current.node), i)
                        if key in choice.recomputed:
                            made.setdefault(key, Value(copy.node, i))
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


def _checkpoints(joint: Joint, unlimited: SavedChoice, count: int) -> set[Key]:
    """Return the values that cross the ends of ``count`` segments with similar recomputed bytes.

    Args:
        joint: Both passes.
        unlimited: The choice without checkpoints.
        count: Number of segments, at least 2.
    """
    sizes, crossing = _crossing(joint, unlimited)
    costs = [sum(nbytes for _, nbytes in values) for values in crossing]
    done = list(accumulate(sizes))
    length = done[-1] / count
    found: set[Key] = set()
    for segment in range(1, count):
        # The segment ends where the fewest bytes cross, within a quarter segment of an even split.
        low, high = (bisect_left(done, (segment + side) * length) for side in (-0.25, 0.25))
        if low < high:
            end = min(range(low, high), key=costs.__getitem__)
            found.update(key for key, _ in crossing[end])
    return found


def _crossing(
    joint: Joint, unlimited: SavedChoice
) -> tuple[list[int], list[list[tuple[Key, int]]]]:
    """Return the recomputed bytes of each forward operator, and the values read after it.

    The values come with their sizes. Only recomputed values, read by recipes, are included.
    """
    positions = {id(node): i for i, node in enumerate(joint.forward)}
    last: dict[Key, int] = {}
    for key, recipe in unlimited.recomputed.items():
        for source in recipe.sources:
            last[source.key] = max(last.get(source.key, 0), positions[key[0]])
    live: dict[Key, int] = {}
    sizes, crossing = [], []
    for i, node in enumerate(joint.forward):
        made = {(id(node), j): spec.nbytes for j, spec in enumerate(node.specs)}
        made = {key: nbytes for key, nbytes in made.items() if key in unlimited.recomputed}
        live |= made
        live = {key: nbytes for key, nbytes in live.items() if last.get(key, i) > i}
        sizes.append(sum(made.values()))
        crossing.append(list(live.items()))
    return sizes, crossing
