"""RankAgreement: the Trainers of a dist_sync store agree on parameters and new gradients.

Ranks may use different layers in a step, as in multi-task training: a gradient that is new on one
rank is summed and applied by all ranks, and a stale one counts as 0. All ranks must train the same
parameters in the same order, as gradients are matched by position.
"""

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

from gluonish.core.errors import DistributedError
from gluonish.gluon.parameter import Parameter
from gluonish.gluon.parameter.arguments import shape_is_known
from gluonish.gluon.parameter.paths import described
from gluonish.gluon.trainer.trainables import Selection, Trainables
from gluonish.kvstore import KVStoreBase
from gluonish.kvstore.distributed.rendezvous import NewGradients
from gluonish.kvstore.sync_store import SyncStore
from gluonish.ndarray import NDArray


class _ParameterInfo(NamedTuple):
    """The properties of a parameter that ranks exchange before its first step."""

    name: str
    described: str
    shape: tuple[int, ...] | None  # None while it is unknown


def rank_agreement(
    store: KVStoreBase | None, first_key: int, params: Sequence[Parameter]
) -> "RankAgreement | None":
    """Return a RankAgreement; None without a ``dist_sync`` store of several ranks."""
    if not isinstance(store, SyncStore) or store.num_workers == 1:
        return None
    return RankAgreement(store, first_key, params)


class RankAgreement:
    """Exchanges information on parameters and gradients between the ranks of a Trainer.

    Args:
        store: The store that connects the ranks.
        first_key: The store's key of the trainer's first parameter.
        params: All parameters of the trainer.
    """

    def __init__(self, store: SyncStore, first_key: int, params: Sequence[Parameter]) -> None:
        self._store = store
        self._first_key = first_key
        self._params = params
        self._known: set[int] = set()  # ids of parameters whose shape all ranks know
        self._all: tuple[Selection, NewGradients] = (Selection(()), NewGradients({}))
        store.set_labels({first_key + i: described(param) for i, param in enumerate(params)})

    def agreed(
        self, trainables: Trainables, updated: Selection, scale: float
    ) -> tuple[Selection, float]:
        """Agree on the parameters with a new gradient on any rank; a stale gradient counts as 0.

        All ranks call this at the beginning of a step. The call waits only if some gradients are
        stale on this rank.

        Args:
            trainables: The trainer's parameters with gradients; their ``remote`` is set.
            updated: The parameters with a new gradient on this rank.
            scale: The factor that gradients are multiplied by.

        Returns:
            The parameters and the factor. If no gradient is new on this rank, the factor is that of
            another rank, as this one did not call `contrib.amp.scale_loss`.
        """
        if trainables.remote:  # left by a failed step
            trainables.remote = frozenset()
            updated, _ = trainables.updated()
        everything, first = trainables.last, self._first_key
        if self._all[0] is not everything or self._all[1].scale != scale:
            names: dict[Hashable, str] = {}
            names.update((first + i, described(param)) for i, param in everything.members)
            self._all = (everything, NewGradients(names, scale=scale))
        mine = self._all[1]
        if updated is everything:
            self._store.new_gradients(mine)
            return everything, scale
        new: frozenset[Hashable] = frozenset(first + i for i in updated.indices)
        found = self._store.new_gradients(mine._replace(new=new))
        missing = (i for i in everything.indices if first + i in found.keys() - new)
        trainables.remote = frozenset(missing)
        return trainables.updated()[0], scale if new else found.scale

    def report_stale(self, stale: NDArray) -> None:
        """Make the other ranks fail instead of waiting; the caller raises an error on this rank.

        Args:
            stale: A weight with a stale gradient.
        """
        position = next(
            i
            for i, param in enumerate(self._params)
            if any(x is stale for x in (param._arrays or {}).values())
        )
        self._store.report_stale(self._first_key + position)

    def any_of(self, mine: bool) -> bool:
        """Return the logical or of a flag over all ranks, which call this together."""
        return any(self._store.gather(mine))

    def agree_on_parameters(self, params: Sequence[Parameter]) -> None:
        """Check that ranks have the same parameters, and adopt shapes known on other ranks.

        Args:
            params: Parameters whose values are about to be broadcast.

        Raises:
            DistributedError: Ranks differ in the parameters, their order or their shapes.
        """
        params = [param for param in params if id(param) not in self._known]
        if not params:
            return
        ranks: list[list[_ParameterInfo]] = self._store.gather(
            [_info_of(param) for param in params]
        )
        _check_order(ranks)
        for param, *infos in zip(params, *ranks, strict=True):
            _check_shapes(infos)
            known = next((info.shape for info in infos if info.shape is not None), None)
            if known is None:
                continue
            if param._deferred_init is not None:
                param.shape = known
                param._finish_deferred_init()
            self._known.add(id(param))


def _info_of(param: Parameter) -> _ParameterInfo:
    unknown = param._deferred_init is not None and not shape_is_known(param.shape)
    return _ParameterInfo(param._full_name, described(param), None if unknown else param.shape)


def _check_order(ranks: Sequence[Sequence[_ParameterInfo]]) -> None:
    """Raise an error if ranks list the parameters in different numbers or orders."""
    names = [[info.name for info in infos] for infos in ranks]
    for rank, (infos, mine) in enumerate(zip(ranks, names, strict=True)):
        if len(mine) != len(names[0]):
            raise DistributedError(
                "Trainer: expected the same parameters on all ranks, got "
                f"{len(names[0])} on rank 0, and {len(mine)} on rank {rank}"
            )
        # Names alone may differ: their counters depend on the blocks that a process has created.
        if mine != names[0] and sorted(mine) == sorted(names[0]):
            i = next(i for i, name in enumerate(mine) if name != names[0][i])
            raise DistributedError(
                "Trainer: expected the parameters in the same order on all ranks, got "
                f"{ranks[0][i].described} on rank 0, and {infos[i].described} on rank {rank}, as "
                f"number {i}; pass a dict, such as net.collect_params(), which is sorted by name"
            )


def _check_shapes(infos: Sequence[_ParameterInfo]) -> None:
    known: dict[Any, int] = {}
    for rank, info in enumerate(infos):
        if info.shape is not None:
            known.setdefault(info.shape, rank)
    if len(known) > 1:
        found = ", and ".join(f"{shape} on rank {rank}" for shape, rank in known.items())
        raise DistributedError(
            f"Trainer: expected one shape on all ranks, got {infos[0].described} of shape {found}"
        )
