"""What a Trainer is given, and the parameters that it trains.

A step over hundreds of small parameters costs as much as its look-ups do, so nothing is gathered
anew in a step unless a parameter got other arrays, or gradients came to others than last time.
"""

from collections.abc import Mapping, Sequence
from operator import attrgetter, is_
from typing import Any

from gluonish.core.context import Context
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.number_check import as_float
from gluonish.gluon.parameter import Parameter, ParameterDict
from gluonish.gluon.parameter.places import described
from gluonish.kvstore import KVStoreBase
from gluonish.kvstore.compression import compression_from
from gluonish.ndarray import NDArray
from gluonish.ndarray.recording import Leaf
from gluonish.optimizer import Optimizer
from gluonish.optimizer import create as create_optimizer

_data_of, _link_of, _fresh_of = attrgetter("_arrays"), attrgetter("_link"), attrgetter("fresh")


class Selection:
    """Parameters to update, with their arrays.

    Args:
        members: Position in the trainer's list and parameter.

    Attributes:
        members: As given.
        indices: The positions.
        weights: For each device the weights.
        gradients: For each device the gradients.
    """

    __slots__ = ("_leaves", "gradients", "indices", "members", "weights")

    def __init__(self, members: Sequence[tuple[int, Parameter]]) -> None:
        self.members = tuple(members)
        self.indices = tuple(i for i, _ in members)
        self.weights = tuple(zip(*(param._held() for _, param in members), strict=True))
        self.gradients = tuple(zip(*(param.list_grad() for _, param in members), strict=True))
        self._leaves = [_leaf_of(array) for arrays in self.weights for array in arrays]

    def mark_used(self) -> None:
        """Take note that the gradients were used: they are not new any more."""
        for leaf in self._leaves:
            leaf.fresh = False


class Trainables:
    """The parameters of a trainer that have gradients.

    Args:
        params: All parameters of the trainer.

    Attributes:
        elsewhere: Positions of parameters whose gradient is new in another process only.
    """

    __slots__ = (
        "_all",
        "_arrays",
        "_data",
        "_leaves",
        "_links",
        "_moves",
        "_params",
        "_selected",
        "_watched",
        "elsewhere",
    )

    def __init__(self, params: Sequence[Parameter]) -> None:
        self._params = params
        self._moves = -1
        self.elsewhere: frozenset[int] = frozenset()
        self._data: list[Any] = []  # what each parameter held when the rest was gathered
        self._arrays: list[NDArray] = []
        self._watched: list[NDArray] = []
        self._links: list[Any] = []
        self._leaves: list[Leaf] = []
        self._all = Selection(())
        # Which arrays had new gradients in the last step, what was new elsewhere, and what was
        # selected for it.
        self._selected: tuple[list[bool], frozenset[int], Selection] = ([], frozenset(), self._all)

    def all(self) -> Selection:
        """Return all of them.

        Raises:
            ParameterError: One is not initialized, or waits for its shape.
        """
        # A parameter's dictionary of arrays is replaced, never changed, and the link of an array
        # tells where its gradient goes, or that it has none.
        moves = Parameter.moves
        if not (
            (moves == self._moves or self._holds_the_same())
            and all(map(is_, map(_link_of, self._watched), self._links))
        ):
            self._gather()
        self._moves = moves
        return self._all

    @property
    def known(self) -> Selection:
        """What `all` returned last."""
        return self._all

    def _holds_the_same(self) -> bool:
        """Whether no parameter got other arrays since the last time."""
        return len(self._data) == len(self._params) and all(
            map(is_, map(_data_of, self._params), self._data)
        )

    def changed(self) -> list[Parameter]:
        """Return the parameters that hold other arrays than when these were gathered last."""
        pairs = zip(self._params, self._data, strict=False)  # nothing was gathered at first
        return [param for param, data in pairs if param._arrays is not data]

    def _gather(self) -> None:
        members = [(i, param) for i, param in enumerate(self._params) if param.grad_req != "null"]
        self._all = Selection(members)
        self._data = [param._arrays for param in self._params]
        self._arrays = [array for _, param in members for array in param._held()]
        self._watched = [x for param in self._params for x in (param._arrays or {}).values()]
        self._links = [array._link for array in self._watched]
        self._leaves = [_leaf_of(array) for array in self._arrays]
        self._selected = ([True] * len(self._arrays), frozenset(), self._all)

    def fresh(self) -> tuple[Selection, list[NDArray]]:
        """Return those with a new gradient on some device, and all weights whose gradient is old.

        What is new elsewhere is among both.

        Raises:
            ParameterError: As `all`.
        """
        everything = self.all()
        pattern = list(map(_fresh_of, self._leaves))
        elsewhere = self.elsewhere
        if pattern != self._selected[0] or elsewhere != self._selected[1]:
            devices = len(everything.weights)
            members = [
                member
                for n, member in enumerate(everything.members)
                if member[0] in elsewhere or any(pattern[n * devices : (n + 1) * devices])
            ]
            complete = len(members) == len(everything.members)
            selection = everything if complete else Selection(members)
            self._selected = (pattern, elsewhere, selection)
        if False not in pattern:
            return self._selected[2], []
        stale = [x for x, fresh in zip(self._arrays, pattern, strict=True) if not fresh]
        return self._selected[2], stale

    def mark_used(self, selection: Selection) -> None:
        """Take note that the gradients of some were used: they are not new any more."""
        selection.mark_used()
        self.elsewhere = frozenset()


def _leaf_of(array: NDArray) -> Leaf:
    """Return where a gradient ends; one that is never new where there is no such place."""
    leaf = None if array._link is None else array._link[0]
    return leaf if isinstance(leaf, Leaf) else Leaf(array, "null")


def parameter_list(params: Any) -> list[Parameter]:
    """Return the parameters to train, each once; those of a dict sorted by name.

    A dict of a network's structure may name a shared parameter twice, a list may not.

    Raises:
        ArgumentTypeError: It is neither a list nor a dict of Parameters.
        ArgumentError: A list holds a parameter twice.
    """
    named = isinstance(params, ParameterDict | Mapping)
    if named:
        params = [params[name] for name in sorted(params.keys())]
    if not isinstance(params, list | tuple):
        raise ArgumentTypeError(
            f"Trainer: expected a list or dict of Parameters, got {type(params).__name__}"
        )
    for param in params:
        if not isinstance(param, Parameter):
            raise ArgumentTypeError(f"Trainer: expected Parameters, got {type(param).__name__}")
    unique = {id(param): param for param in params}
    if len(unique) < len(params) and not named:
        twice = next(param for i, param in enumerate(params) if any(p is param for p in params[:i]))
        raise ArgumentError(
            f"Trainer: expected each Parameter once, got {described(twice)} twice; take the "
            "parameters of networks that share some from one collect_params()"
        )
    return list(unique.values())


def common_contexts(params: Sequence[Parameter]) -> list[Context]:
    """Return the devices that all parameters are on, or wait for.

    Raises:
        ArgumentError: They are on different ones.
        ParameterError: One is not initialized.
    """
    contexts: list[Context] | None = None
    for param in params:
        own = param.list_ctx()
        if contexts is not None and own != contexts:
            raise ArgumentError(
                f"Trainer: expected all Parameters on {contexts}, got {param.name} on {own}; "
                "initialize them with one ctx, or call reset_ctx"
            )
        contexts = own
    return contexts or []


def make_optimizer(
    optimizer: str | Optimizer, settings: Mapping[str, Any] | None, params: Sequence[Parameter]
) -> Optimizer:
    """Return the optimizer, with the parameters for its multipliers.

    Raises:
        ArgumentTypeError: It is neither a name nor an Optimizer.
        ArgumentError: There is no such optimizer, or settings come with an Optimizer.
    """
    if settings and not isinstance(settings, Mapping):
        raise ArgumentTypeError(
            f"Trainer: expected optimizer_params as a dict, got {type(settings).__name__}"
        )
    param_dict = dict(enumerate(params))
    if isinstance(optimizer, str):
        return create_optimizer(optimizer, param_dict=param_dict, **(settings or {}))
    if not isinstance(optimizer, Optimizer):
        raise ArgumentTypeError(
            f"Trainer: expected an Optimizer or its name, got {optimizer!r}; make one of a class"
        )
    if settings:
        raise ArgumentError(
            "Trainer: expected optimizer_params None with an Optimizer, got"
            f" {dict(settings)}; give them to the optimizer itself"
        )
    optimizer.param_dict = param_dict
    return optimizer


def check_store_arguments(kvstore: Any, compression: Any, update: Any) -> None:
    """Refuse what is no store, no compression, or no answer to ``update_on_kvstore``.

    Raises:
        ArgumentTypeError: One is of a wrong type.
        ArgumentError: There is no such compression. A store's name is looked at where one is made.
    """
    if kvstore is not None and not isinstance(kvstore, str | KVStoreBase):
        raise ArgumentTypeError(
            f"Trainer: expected a kvstore or its name, got {type(kvstore).__name__}"
        )
    if update is not None and update not in (True, False):
        raise ArgumentTypeError(
            f"Trainer: expected update_on_kvstore None, True or False, got {update!r}"
        )
    if compression is not None and not isinstance(compression, Mapping):
        raise ArgumentTypeError(
            f"Trainer: expected compression_params as a dict, got {type(compression).__name__}"
        )
    custom = isinstance(kvstore, str) and kvstore.lower() in KVStoreBase.kv_registry
    if compression and isinstance(kvstore, str) and not custom:
        compression_from(compression)


def check_batch_size(what: str, batch_size: Any) -> float:
    """Return what gradients are divided by: a number above 0, or an array of one.

    Raises:
        ArgumentTypeError: It is not a number.
        ArgumentError: It is not above 0.
    """
    samples = as_float(f"Trainer.{what}", "batch_size", batch_size)
    if not samples > 0:
        raise ArgumentError(f"Trainer.{what}: expected batch_size above 0, got {samples:g}")
    return samples


def refuse_update_in_store(what: str, update: bool | None) -> None:
    """Refuse to work on weights that the store updates.

    Raises:
        ArgumentError: It does.
    """
    if update:
        raise ArgumentError(
            f"{what}: expected a trainer that updates outside the kvstore, got one with "
            "update_on_kvstore; pass update_on_kvstore=False to Trainer"
        )
