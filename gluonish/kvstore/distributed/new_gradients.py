"""NewGradients: the new gradients of a rank in a step, so that ranks agree on what they sum.

Ranks may use different layers in a step. All ranks sum a gradient that is new on any rank. A rank
whose gradients are all new knows the result without communication, so that the usual step does not
wait. A rank with stale gradients starts a separate rendezvous; the others arrive there with their
next operation, and all ranks detect the difference and exchange their new gradients.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

from gluonish.core.errors import DistributedError


class NewGradients(NamedTuple):
    """The new gradients of a rank in a step.

    Attributes:
        names: Dict from key to name of all parameters with gradients.
        new: Keys of parameters with a new gradient; None for all.
        scale: Factor of the gradients.
    """

    names: Mapping[Hashable, str]
    new: frozenset[Hashable] | None = None
    scale: float = 1.0

    def keys(self) -> frozenset[Hashable]:
        """Return the keys of parameters with a new gradient."""
        return frozenset(self.names) if self.new is None else self.new

    def text(self) -> str:
        """Return a text that is equal on ranks with equal gradients."""
        lists = (self.names, self.keys())
        return "\n".join(
            ["the exchange of which gradients are new", *(repr(sorted(x, key=repr)) for x in lists)]
        )


def new_on_any_rank(by_rank: Sequence[NewGradients | None]) -> NewGradients | None:
    """Return the gradients that are new on any rank.

    Return None if all gradients are new on all ranks, or if a rank is not in a step.

    Args:
        by_rank: The new gradients of each rank; None for a rank that is not in a step.

    Raises:
        DistributedError: Parameters have gradients on some of the ranks only.
    """
    ranks = [gradients for gradients in by_rank if gradients is not None]
    if len(ranks) < len(by_rank):
        return None
    for key, name in {k: v for x in reversed(ranks) for k, v in x.names.items()}.items():
        without = [str(rank) for rank, x in enumerate(ranks) if key not in x.names]
        if without:
            raise DistributedError(
                "Trainer: expected the same parameters with gradients on all ranks, got none of "
                f"{name}, or grad_req 'null', on rank{'s' * (len(without) > 1)} "
                f"{', '.join(without)}; set the same grad_req on all ranks"
            )
    if all(x.new is None for x in ranks):
        return None
    new = frozenset().union(*(x.keys() for x in ranks))
    scales = (x.scale for x in ranks if x.keys())
    return ranks[0]._replace(new=new, scale=next(scales, ranks[0].scale))
