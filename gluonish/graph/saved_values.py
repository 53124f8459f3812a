"""The choice of forward values to save for the backward pass, and to compute again."""

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from gluonish.graph.gradient import Joint, overwritten
from gluonish.graph.ir import Value
from gluonish.graph.max_flow import UNLIMITED, FlowNetwork
from gluonish.graph.recompute import Effort, Recipe, recipe_of

Key = tuple[int, int]

# Values below this share of the bytes that the backward pass reads are not worth a copy.
_NEGLIGIBLE = 5000
# Bytes from which one pass over memory is spent even without effort: a pass over 100 MB takes about
# a thousandth of the training step of a network with such values.
_BULKY = 64 << 20


class SavedChoice(NamedTuple):
    """A choice of values to save.

    Attributes:
        saved: Saved values, by key.
        recomputed: Recipes of the others, by key, and of values that only these recipes read.
    """

    saved: dict[Key, Value]
    recomputed: dict[Key, Recipe]


def cheapest_choice(joint: Joint, effort: Effort, checkpoints: Collection[Key] = ()) -> SavedChoice:
    """Return the choice that saves the fewest bytes and, of several, recomputes the least.

    Args:
        joint: Both passes. Its outputs need not be saved.
        effort: The most effort for a copy.
        checkpoints: Keys of values that are not computed again.
    """
    delivered = {value.key for value in joint.outputs}
    read = [value for value in joint.read.values() if value.key not in delivered]
    final = {value.key for value in joint.gradients}.union(checkpoints)
    mutable = overwritten(joint.forward)
    least = sum(value.spec.nbytes for value in read) // _NEGLIGIBLE

    def recipe(value: Value) -> Recipe | None:
        if value.key in final:
            return None
        if effort == Effort.NOTHING and value.spec.nbytes >= _BULKY:
            found = recipe_of(value, Effort.LITTLE, mutable)
            return found if found is not None and _is_one_pass(found) else None
        return recipe_of(value, effort if value.spec.nbytes >= least else Effort.NOTHING, mutable)

    recipes = _recipes(read, recipe, delivered)
    # Each value is two nodes, and an edge between them that costs its bytes; a value that can be
    # recomputed is reached from its sources at no cost. The minimum cut is the values to save.
    network = FlowNetwork()
    source, sink = network.add_node(), network.add_node()
    entries = {key: (network.add_node(), network.add_node()) for key in recipes}
    for key, (value, found) in recipes.items():
        start, end = entries[key]
        network.add_edge(start, end, value.spec.nbytes)
        if found is None:
            network.add_edge(source, start, UNLIMITED)
            continue
        for other in found.sources:
            if other.key in entries:
                network.add_edge(entries[other.key][1], start, UNLIMITED)
    for value in read:
        network.add_edge(entries[value.key][1], sink, UNLIMITED)
    behind = network.sink_side(source, sink)
    choice = SavedChoice({}, {})
    for key, (value, found) in recipes.items():
        start, end = entries[key]
        if start in behind and found is not None:
            choice.recomputed[key] = found
        elif end in behind:
            choice.saved[key] = value
    return choice


def _is_one_pass(recipe: Recipe) -> bool:
    """Whether at most one large value is read; then a chain of such recipes is one kernel."""
    return sum(source.spec.nbytes >= _BULKY for source in recipe.sources) <= 1


def _recipes(
    read: Sequence[Value], recipe: Callable[[Value], Recipe | None], delivered: Collection[Key]
) -> dict[Key, tuple[Value, Recipe | None]]:
    """Return the recipes of some values and of their sources; None for a value without recipe."""
    found: dict[Key, tuple[Value, Recipe | None]] = {}
    waiting = list(read)
    while waiting:
        value = waiting.pop()
        if value.key in found:
            continue
        way = recipe(value)
        found[value.key] = (value, way)
        if way is not None:
            waiting += [v for v in way.sources if v.node.op is not None and v.key not in delivered]
    return found
