"""Which values of a forward pass are kept for the backward pass, and which are computed again."""

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from gluonish.graph.gradient import Joint, overwritten
from gluonish.graph.ir import Value
from gluonish.graph.max_flow import UNLIMITED, FlowNetwork
from gluonish.graph.recompute import Effort, Recipe, recipe_of

Key = tuple[int, int]

# What is smaller than this share of all that the backward pass reads is not worth a copy.
_NEGLIGIBLE = 5000
# Bytes from which one pass over memory is spent even where nothing else is: 100 MB take about as
# many milliseconds as a thousandth of the step of a network that has such values.
_BULKY = 64 << 20


class Keeping(NamedTuple):
    """A choice of what to keep.

    Attributes:
        kept: What is kept, by key.
        again: How the others are computed again, by key; also those that only lead to them.
    """

    kept: dict[Key, Value]
    again: dict[Key, Recipe]


def cheapest_keeping(joint: Joint, effort: Effort, checkpoints: Collection[Key] = ()) -> Keeping:
    """Return the choice that keeps the fewest bytes and, of several, computes the least again.

    Args:
        joint: Both passes. Its outputs are not kept but there anyway.
        effort: The most that may be spent on a copy.
        checkpoints: Keys of values that are not computed again.
    """
    given = {value.key for value in joint.outputs}
    wanted = [value for value in joint.read.values() if value.key not in given]
    final = {value.key for value in joint.gradients}.union(checkpoints)
    moving = overwritten(joint.forward)
    least = sum(value.spec.nbytes for value in wanted) // _NEGLIGIBLE

    def recipe(value: Value) -> Recipe | None:
        if value.key in final:
            return None
        if effort == Effort.NOTHING and value.spec.nbytes >= _BULKY:
            found = recipe_of(value, Effort.LITTLE, moving)
            return found if found is not None and _is_one_pass(found) else None
        return recipe_of(value, effort if value.spec.nbytes >= least else Effort.NOTHING, moving)

    recipes = _recipes(wanted, recipe, given)
    # Two nodes for each value, and between them an edge that costs its bytes; what can be computed
    # again is reached from its sources at no cost. The cheapest cut is what to keep.
    network = FlowNetwork()
    source, sink = network.add_node(), network.add_node()
    entries = {key: (network.add_node(), network.add_node()) for key in recipes}
    for key, (value, found) in recipes.items():
        entry, leave = entries[key]
        network.add_edge(entry, leave, value.spec.nbytes)
        if found is None:
            network.add_edge(source, entry, UNLIMITED)
            continue
        for other in found.sources:
            if other.key in entries:
                network.add_edge(entries[other.key][1], entry, UNLIMITED)
    for value in wanted:
        network.add_edge(entries[value.key][1], sink, UNLIMITED)
    behind = network.sink_side(source, sink)
    keeping = Keeping({}, {})
    for key, (value, found) in recipes.items():
        entry, leave = entries[key]
        if entry in behind and found is not None:
            keeping.again[key] = found
        elif leave in behind:
            keeping.kept[key] = value
    return keeping


def _is_one_pass(recipe: Recipe) -> bool:
    """Whether one large value is read; then a chain of such recipes is one kernel."""
    return sum(source.spec.nbytes >= _BULKY for source in recipe.sources) <= 1


def _recipes(
    wanted: Sequence[Value], recipe: Callable[[Value], Recipe | None], given: Collection[Key]
) -> dict[Key, tuple[Value, Recipe | None]]:
    """Return the recipes of some values, and of all that they lead to; None where there is none."""
    found: dict[Key, tuple[Value, Recipe | None]] = {}
    waiting = list(wanted)
    while waiting:
        value = waiting.pop()
        if value.key in found:
            continue
        own = recipe(value)
        found[value.key] = (value, own)
        if own is not None:
            waiting += [v for v in own.sources if v.node.op is not None and v.key not in given]
    return found
