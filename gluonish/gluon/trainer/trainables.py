"""Checks of a Trainer's arguments, and the parameters that it trains.

Looking up arrays dominates a step over hundreds of small parameters, so they are cached until a
parameter's arrays are replaced, or other parameters have new gradients than in the last step.
"""

from collections.abc import Mapping, Sequence
from operator import attrgetter, is_
from typing import Any

from gluonish.core.context import Context
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.number_check import as_float
from gluonish.core.program_lines import warn_at_line
from gluonish.gluon.parameter import Parameter, ParameterDict
from gluonish.gluon.parameter.paths import described
from gluonish.kvstore import KVStoreBase
from gluonish.kvstore.compression import compression_from
from gluonish.ndarray import NDArray
from gluonish.ndarray.recording import Leaf
from gluonish.optimizer import Optimizer
from gluonish.optimizer import create as create_optimizer

_data_of, _edge_of, _is_updated = attrgetter("_arrays"), attrgetter("_edge"), attrgetter("updated")


class Selection:
    """Parameters to update, with their arrays.

    Args:
        members: Pairs of a position in the trainer's list and the parameter there.

    Attributes:
        members: The argument.
        indices: The positions.
        weights: The weights by device.
        gradients: The gradients by device.
    """

    __slots__ = ("_leaves", "gradients", "indices", "members", "weights")

    def __init__(self, members: Sequence[tuple[int, Parameter]]) -> None:
        self.members = tuple(members)
        self.indices = tuple(i for i, _ in members)
        self.weights = tuple(zip(*(param._list_arrays() for _, param in members), strict=True))
        self.gradients = tuple(zip(*(param.list_grad() for _, param in members), strict=True))
        self._leaves = [_leaf_of(array) for arrays in self.weights for array in arrays]

    def mark_used(self) -> None:
        """Mark the gradients as stale."""
        for leaf in self._leaves:
            leaf.updated = False


class Trainables:
    """The parameters of a trainer that have gradients.

    Args:
        params: All parameters of the trainer.

    Attributes:
        remote: Positions of parameters whose gradient is new in another process only.
    """

    __slots__ = (
        "_all",
        "_all_arrays",
        "_arrays",
        "_data",
        "_edges",
        "_leaves",
        "_params",
        "_selected",
        "_version",
        "remote",
    )

    def __init__(self, params: Sequence[Parameter]) -> None:
        self._params = params
        self._version = -1
        self.remote: frozenset[int] = frozenset()
        self._data: list[Any] = []  # each parameter's dict of arrays in the last `_gather`
        self._arrays: list[NDArray] = []
        self._all_arrays: list[NDArray] = []
        self._edges: list[Any] = []
        self._leaves: list[Leaf] = []
        self._all = Selection(())
        # Of the last step: which gradients were new, which were new in other processes only, and
        # the resulting selection.
        self._selected: tuple[list[bool], frozenset[int], Selection] = ([], frozenset(), self._all)

    def all(self) -> Selection:
        """Return all parameters with gradients.

        Raises:
            ParameterError: A parameter is not initialized, or its shape is not known yet.
        """
        # A parameter's dict of arrays is replaced, never mutated. The edge of an array names the
        # leaf of its gradient, or is None.
        version = Parameter.version
        if not (
            (version == self._version or self._is_current())
            and all(map(is_, map(_edge_of, self._all_arrays), self._edges))
        ):
            self._gather()
        self._version = version
        return self._all

    @property
    def last(self) -> Selection:
        """The last result of `all`."""
        return self._all

    def _is_current(self) -> bool:
        """Whether no parameter's arrays were replaced since the last `_gather`."""
        return len(self._data) == len(self._params) and all(
            map(is_, map(_data_of, self._params), self._data)
        )

    def changed(self) -> list[Parameter]:
        """Return the parameters whose arrays were replaced since the last `_gather`."""
        pairs = zip(self._params, self._data, strict=False)  # `_data` is empty at first
        return [param for param, data in pairs if param._arrays is not data]

    def _gather(self) -> None:
        members = [(i, param) for i, param in enumerate(self._params) if param.grad_req != "null"]
        self._all = Selection(members)
        self._data = [param._arrays for param in self._params]
        self._arrays = [array for _, param in members for array in param._list_arrays()]
        self._all_arrays = [x for param in self._params for x in (param._arrays or {}).values()]
        self._edges = [array._edge for array in self._all_arrays]
        self._leaves = [_leaf_of(array) for array in self._arrays]
        self._selected = ([True] * len(self._arrays), frozenset(), self._all)

    def updated(self) -> tuple[Selection, list[NDArray]]:
        """Return the parameters with a new gradient on some device, and weights with a stale one.

        Parameters whose gradient is new in another process only are in both results.

        Raises:
            ParameterError: As `all`.
        """
        everything = self.all()
        pattern = list(map(_is_updated, self._leaves))
        remote = self.remote
        if pattern != self._selected[0] or remote != self._selected[1]:
            devices = len(everything.weights)
            members = [
                member
                for n, member in enumerate(everything.members)
                if member[0] in remote or any(pattern[n * devices : (n + 1) * devices])
            ]
            complete = len(members) == len(everything.members)
            selection = everything if complete else Selection(members)
            self._selected = (pattern, remote, selection)
        if False not in pattern:
            return self._selected[2], []
        stale = [x for x, is_new in zip(self._arrays, pattern, strict=True) if not is_new]
        return self._selected[2], stale

    def mark_used(self, selection: Selection) -> None:
        """Mark the gradients of a selection as stale."""
        selection.mark_used()
        self.remote = frozenset()


def _leaf_of(array: NDArray) -> Leaf:
    """Return the leaf of an array, or else a dummy leaf, whose gradient is never new."""
    leaf = None if array._edge is None else array._edge[0]
    return leaf if isinstance(leaf, Leaf) else Leaf(array, "null")


def _named(optimizer: object) -> str:
    if isinstance(optimizer, type):
        return f"the class {optimizer.__name__}; create it: {optimizer.__name__}()"
    return f"{type(optimizer).__name__} {optimizer!r:.60}; pass 'sgd' or mx.optimizer.SGD()"


def parameter_list(params: Any) -> list[Parameter]:
    """Return the unique parameters to train; those of a dict sorted by name.

    A dict may contain a shared parameter twice, but a list may not.

    Raises:
        ArgumentTypeError: ``params`` is neither a list nor a dict of Parameters.
        ArgumentError: A list contains a parameter twice.
    """
    named = isinstance(params, ParameterDict | Mapping)
    if named:
        params = [params[name] for name in sorted(params.keys())]
    if not isinstance(params, list | tuple):
        raise ArgumentTypeError(
            f"Trainer: expected a list or dict of Parameters, got {type(params).__name__}; pass "
            "net.collect_params()"
        )
    if named and not params:
        warn_at_line(
            "Trainer: expected Parameters to train, got none; layers in a Python list or dict are "
            "no children of a Block: nn.Sequential is a list of layers"
        )
    for param in params:
        if not isinstance(param, Parameter):
            raise ArgumentTypeError(
                f"Trainer: expected Parameters, got {type(param).__name__}; pass "
                "net.collect_params()"
            )
    unique = {id(param): param for param in params}
    if len(unique) < len(params) and not named:
        twice = next(param for i, param in enumerate(params) if any(p is param for p in params[:i]))
        raise ArgumentError(
            f"Trainer: expected each Parameter once, got {described(twice)} twice; pass one "
            "collect_params() of networks that share parameters"
        )
    return list(unique.values())


def common_contexts(params: Sequence[Parameter]) -> list[Context]:
    """Return the devices on which all parameters are, or will be, initialized.

    Raises:
        ArgumentError: Parameters are on different devices.
        ParameterError: A parameter is not initialized.
    """
    contexts: list[Context] | None = None
    for param in params:
        current = param.list_ctx()
        if contexts is not None and current != contexts:
            raise ArgumentError(
                f"Trainer: expected all Parameters on {contexts}, got {param._full_name} on "
                f"{current}; initialize them with one ctx, or call reset_ctx"
            )
        contexts = current
    return contexts or []


def make_optimizer(
    optimizer: str | Optimizer, settings: Mapping[str, Any] | None, params: Sequence[Parameter]
) -> Optimizer:
    """Return the optimizer, with ``param_dict`` set for its multipliers.

    Raises:
        ArgumentTypeError: ``optimizer`` is neither a name nor an Optimizer.
        ArgumentError: There is no such optimizer, or ``settings`` are passed with an Optimizer.
    """
    if settings and not isinstance(settings, Mapping):
        raise ArgumentTypeError(
            f"Trainer: expected optimizer_params as a dict, got {type(settings).__name__}; pass "
            "{'learning_rate': 0.1}"
        )
    param_dict = dict(enumerate(params))
    if isinstance(optimizer, str):
        return create_optimizer(optimizer, param_dict=param_dict, **(settings or {}))
    if not isinstance(optimizer, Optimizer):
        raise ArgumentTypeError(
            f"Trainer: expected an Optimizer or its name, got {_named(optimizer)}"
        )
    if settings:
        raise ArgumentError(
            "Trainer: expected optimizer_params=None, as optimizer is an Optimizer, got "
            f"{dict(settings)}; pass them to the Optimizer"
        )
    optimizer.param_dict = param_dict
    return optimizer


def check_store_arguments(kvstore: Any, compression: Any, update: Any) -> None:
    """Check a Trainer's arguments for its store; the store's name is checked at creation.

    Raises:
        ArgumentTypeError: An argument has the wrong type.
        ArgumentError: There is no such compression.
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


class ZeroBatchError(ArgumentError, ZeroDivisionError):
    """Raised for a batch of no samples; a ZeroDivisionError, too, as in MXNet."""


def check_batch_size(what: str, batch_size: Any) -> float:
    """Return the batch size, a number above 0 or an array of one element, as a float.

    Raises:
        ArgumentTypeError: ``batch_size`` is not a number.
        ArgumentError: ``batch_size`` is not above 0.
    """
    if type(batch_size) is int:
        samples = float(batch_size)
    else:
        samples = as_float(f"Trainer.{what}", "batch_size", batch_size)
    if not samples > 0:
        refusal = ArgumentError if samples else ZeroBatchError
        raise refusal(f"Trainer.{what}: expected batch_size above 0, got {samples:g}")
    return samples


def refuse_update_in_store(what: str, update: bool | None) -> None:
    """Raise an error if the store updates the weights, which the method does not support.

    Raises:
        ArgumentError: The store updates the weights.
    """
    if update:
        raise ArgumentError(
            f"{what}: expected a trainer that updates outside the kvstore, got one with "
            "update_on_kvstore; pass update_on_kvstore=False to Trainer"
        )
