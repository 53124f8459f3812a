"""NewGradients: which gradients of a step are new on a rank, so that ranks agree on what they sum.

Ranks may use different layers in a step. What one of them has a new gradient of is summed by all. A
rank whose gradients are all new need not ask, as the answer is known: that keeps the usual step
free of a wait. A rank that lacks some asks in a meeting of its own, in which the others come with
what they are about to do, and all of them find out by the difference.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

from gluonish.core.errors import DistributedError


class NewGradients(NamedTuple):
    """What a rank has to say of a step.

    Attributes:
        names: Key and name of all parameters that have gradients.
        new: Keys of those with a new gradient; None if it is all of them.
        scale: What the gradients are to be multiplied by.
    """

    names: Mapping[Hashable, str]
    new: frozenset[Hashable] | None = None
    scale: float = 1.0

    def keys(self) -> frozenset[Hashable]:
        """Return the keys of those with a new gradient."""
        return frozenset(self.names) if self.new is None else self.new

    def text(self) -> str:
        """Return a text that is the same on ranks whose answer is the same."""
        lists = (self.names, self.keys())
        return "\n".join(
            ["the exchange of which gradients are new", *(repr(sorted(x, key=repr)) for x in lists)]
        )


def new_on_any_rank(said: Sequence[NewGradients | None]) -> NewGradients | None:
    """Return what is new on some rank; None where no rank asked, or one does not sum.

    Args:
        said: What each rank says, by rank; None of one that does something else than a step.

    Raises:
        DistributedError: Parameters have gradients on some of the ranks only.
    """
    ranks = [each for each in said if each is not None]
    if len(ranks) < len(said):
        return None
    for key, name in {k: v for each in reversed(ranks) for k, v in each.names.items()}.items():
        without = [str(rank) for rank, each in enumerate(ranks) if key not in each.names]
        if without:
            raise DistributedError(
                "Trainer: expected the same parameters with gradients on all ranks, got none of "
                f"{name}, or grad_req 'null', on rank{'s' * (len(without) > 1)} "
                f"{', '.join(without)}; set the same grad_req on all ranks"
            )
    if all(each.new is None for each in ranks):
        return None
    new = frozenset().union(*(each.keys() for each in ranks))
    scales = (each.scale for each in ranks if each.keys())
    return ranks[0]._replace(new=new, scale=next(scales, ranks[0].scale))
