"""Lookahead: slow weights that follow the weights of another optimizer."""

import copy
from collections.abc import Mapping
from typing import Any

from gluonish.core.errors import ArgumentError, ArgumentTypeError, FileFormatError, OperatorError
from gluonish.core.number_check import as_int, check_numbers
from gluonish.core.object_repr import object_repr
from gluonish.ndarray import NDArray
from gluonish.optimizer.base import Optimizer, State, create, is_half, register
from gluonish.optimizer.rule_optimizer import RuleOptimizer

__all__ = ["Lookahead"]

# Maximum number of weights in one call of an inner optimizer that takes any number of them.
_ANY_NUMBER = 1 << 16
# Settings of Lookahead among those of the inner optimizer in states files.
_NAME, _K, _ALPHA = "lookahead_optimizer", "lookahead_k", "lookahead_alpha"


class _Inner:
    """An attribute of the inner optimizer, under the same name."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        return self if instance is None else getattr(instance.optimizer, self._name)

    def __set__(self, instance: Any, value: Any) -> None:
        setattr(instance.optimizer, self._name, value)


class _AggregateNum(_Inner):
    """The maximum number of weights in one update; 0 for single weights."""

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        inner = instance.optimizer
        if isinstance(inner, RuleOptimizer) and inner.supports_apply and not inner.in_order:
            return inner.group_limit or _ANY_NUMBER
        return inner.aggregate_num


def _inner_attribute(kind: type[_Inner] = _Inner) -> Any:
    """Return a descriptor in the place of an attribute of any type."""
    return kind()


@register
class Lookahead(Optimizer):
    """Lookahead: at every k-th step, go back part of the way that another optimizer took.

    The inner optimizer updates the weights. After each k-th update of a weight
    ``slow += alpha * (weight - slow)``, and then ``weight = slow``. Slow weights begin as the
    weights before the first update.

    The state is a pair of the slow weight, float32 if the inner optimizer has a float32 copy of a
    16-bit weight, and the inner optimizer's state. All other settings and attributes, such as
    ``learning_rate``, ``wd`` and ``lr_scheduler``, are those of the inner optimizer.

    Args:
        optimizer: The inner optimizer, or its name.
        k: Number of updates between two updates of the slow weights, 1 or more.
        alpha: Share of the way that slow weights go, in (0, 1].
        **kwargs: Arguments of a named inner optimizer, such as ``learning_rate`` and ``wd``.

    Attributes:
        optimizer: The inner optimizer.

    Raises:
        ArgumentError: ``k`` or ``alpha`` is out of its range, there is no such optimizer, it is
            another Lookahead, or arguments come with an Optimizer.
        ArgumentTypeError: ``optimizer`` is neither an Optimizer nor a name.

    References:
        M. Zhang et al., "Lookahead Optimizer: k steps forward, 1 step back", 2019.

    Example:
        >>> import gluonish as mx
        >>> net = mx.gluon.nn.Dense(1, in_units=2)
        >>> net.initialize()
        >>> adam = mx.optimizer.Adam(learning_rate=0.01)
        >>> trainer = mx.gluon.Trainer(net.collect_params(), mx.optimizer.Lookahead(adam, k=5))
        >>> trainer.learning_rate
        0.01
    """

    def __init__(
        self, optimizer: str | Optimizer = "sgd", k: int = 5, alpha: float = 0.5, **kwargs: Any
    ) -> None:
        # Without the constructor of the base class, whose attributes are the inner optimizer's.
        self.optimizer = _inner(optimizer, kwargs)
        check_numbers("Lookahead", k=k, alpha=alpha)
        self.k = as_int("Lookahead", "k", k, 1)
        if not 0 < alpha <= 1:
            raise ArgumentError(f"Lookahead: expected alpha in (0, 1], got {alpha}")
        self.alpha = alpha

    rescale_grad = _inner_attribute()
    lr_scheduler = _inner_attribute()
    lr = _inner_attribute()
    wd = _inner_attribute()
    lr_mult = _inner_attribute()
    wd_mult = _inner_attribute()
    clip_gradient = _inner_attribute()
    multi_precision = _inner_attribute()
    idx2name = _inner_attribute()
    sym_info = _inner_attribute()
    param_dict = _inner_attribute()
    allow_np_array = _inner_attribute()
    begin_num_update = _inner_attribute()
    num_update = _inner_attribute()
    _all_index_update_counts = _inner_attribute()
    _index_update_count = _inner_attribute()
    _loaded_counts = _inner_attribute()
    aggregate_num = _inner_attribute(_AggregateNum)

    def __repr__(self) -> str:
        return object_repr(self, repr(self.optimizer), k=self.k, alpha=self.alpha)

    @property
    def sharding(self) -> str:
        """See `Optimizer`; that of the inner optimizer."""
        return self.optimizer.sharding

    @property
    def learning_rate(self) -> float:
        """The current learning rate, without multipliers."""
        return self.optimizer.learning_rate

    def create_state(self, index: Any, weight: NDArray) -> State:
        """Return a copy of the weight, and the inner optimizer's state.

        Args:
            index: Index or name of the weight.
            weight: The weight.

        Raises:
            ArgumentError: The weight is sparse.
        """
        return self._with_slow(weight, weight, self.optimizer.create_state(index, weight))

    def create_state_multi_precision(self, index: Any, weight: NDArray) -> State:
        """Return a slow weight, and the inner optimizer's state with a float32 copy if it has one.

        Args:
            index: Index or name of the weight.
            weight: The weight.

        Raises:
            ArgumentError: The weight is sparse.
        """
        state = self.optimizer.create_state_multi_precision(index, weight)
        return self._with_slow(weight, self._precise(weight, state), state)

    def _with_slow(self, weight: NDArray, precise: NDArray, state: State) -> State:
        if weight.stype != "default":
            raise ArgumentError(f"Lookahead: expected a dense weight, got one of {weight.stype}")
        return precise.copy(), state

    def _precise(self, weight: NDArray, state: State) -> NDArray:
        """Return the float32 copy in a state of the inner optimizer, or else the weight."""
        if not (self.multi_precision and is_half(weight)):
            return weight
        return self.optimizer._master_and_state(state)[0]

    def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """Update one weight, or each of a list, by the inner optimizer, and perhaps go back.

        Args:
            index: Index or name of the weight.
            weight: The weight.
            grad: Its gradient.
            state: Its state from `create_state`.
        """
        self._run(self.optimizer.update, index, weight, grad, state, mixed=False)

    def update_multi_precision(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """Update weights like `update`, in float32 where a state has a float32 copy.

        Args:
            index: Index or name of the weight.
            weight: The weight.
            grad: Its gradient.
            state: Its state from `create_state_multi_precision`.
        """
        method = self.optimizer.update_multi_precision
        self._run(method, index, weight, grad, state, mixed=True)

    def _run(self, method: Any, *item: Any, mixed: bool) -> None:
        several = isinstance(item[0], list | tuple)
        indices, weights, grads, states = item if several else ([x] for x in item)
        slow, inner = [], []
        for state in states:
            if not (isinstance(state, list | tuple) and len(state) == 2 and state[0] is not None):
                raise OperatorError(
                    "Lookahead: expected a pair of slow weight and state, got a state of "
                    f"{type(self.optimizer).__name__}"
                )
            slow.append(state[0])
            inner.append(state[1])
        before = [self._index_update_count.get(i) for i in indices]
        if several:
            method(indices, weights, grads, inner)
        else:
            method(indices[0], weights[0], grads[0], inner[0])
        for i, count, *arrays in zip(indices, before, slow, weights, inner, strict=True):
            if self._index_update_count.get(i) == count:  # an optimizer that does not count
                self._update_count(i)
            if self._index_update_count[i] % self.k == 0:
                self._go_back(*arrays, mixed=mixed)

    def _go_back(self, slow: NDArray, weight: NDArray, inner: State, *, mixed: bool) -> None:
        """Move a slow weight towards the weight, and set the weight to it."""
        precise = self._precise(weight, inner) if mixed else weight
        slow += (precise - slow) * self.alpha
        slow.copyto(precise)
        if precise is not weight:
            slow.copyto(weight)

    def set_lr_mult(self, args_lr_mult: Mapping[Any, float]) -> None:
        """Set multipliers of the learning rate; see `Optimizer.set_lr_mult`.

        Args:
            args_lr_mult: Dict from index or name to factor.
        """
        self.optimizer.set_lr_mult(args_lr_mult)

    def set_wd_mult(self, args_wd_mult: Mapping[Any, float]) -> None:
        """Set multipliers of the weight decay; see `Optimizer.set_wd_mult`.

        Args:
            args_wd_mult: Dict from index or name to factor.
        """
        self.optimizer.set_wd_mult(args_wd_mult)

    def _set_current_context(self, device_id: int) -> None:
        self.optimizer._set_current_context(device_id)

    def _progress(self) -> dict[str, Any]:
        return self.optimizer._progress()

    def _resume(self, progress: Mapping[str, Any]) -> None:
        self.optimizer._resume(progress)

    def _update_count(self, index: Any) -> None:
        self.optimizer._update_count(index)

    def __copy__(self) -> "Lookahead":
        """Return a copy with a copy of the inner optimizer."""
        found = object.__new__(type(self))
        vars(found).update(vars(self), optimizer=copy.copy(self.optimizer))
        return found

    def __getstate__(self) -> dict[str, Any]:
        """Return the inner optimizer's settings, and those of Lookahead under names of their own.

        Raises:
            ArgumentError: The inner optimizer was not registered, so that it could not be loaded.
        """
        name = type(self.optimizer).__name__
        if Optimizer.opt_registry.get(name.lower()) is not type(self.optimizer):
            raise ArgumentError(
                f"Lookahead: expected a registered optimizer to save, got {name}; decorate its "
                "class with mx.optimizer.register"
            )
        own = {_NAME: name, _K: self.k, _ALPHA: self.alpha}
        return self.optimizer.__getstate__() | own

    def __setstate__(self, state: dict[str, Any]) -> None:
        settings = dict(state)
        try:
            name, k, alpha = (settings.pop(key) for key in (_NAME, _K, _ALPHA))
        except KeyError as error:
            raise FileFormatError(f"states: expected {error} of Lookahead, got none") from error
        if not isinstance(name, str) or name.lower() not in Optimizer.opt_registry:
            raise FileFormatError(f"states: expected a known inner optimizer, got {name!r:.40}")
        current = vars(self).get("optimizer")
        same = type(current) is Optimizer.opt_registry[name.lower()]
        inner = current if same else create(name)
        hidden = [key for key in settings if callable(getattr(type(inner), key, None))]
        if hidden:
            raise FileFormatError(f"states: expected settings of {name}, got {hidden[0]}")
        assert isinstance(inner, Optimizer)
        inner.__setstate__(settings)
        self.optimizer, self.k, self.alpha = inner, k, alpha


def _inner(optimizer: str | Optimizer, kwargs: Mapping[str, Any]) -> Optimizer:
    """Return the inner optimizer of given arguments."""
    if isinstance(optimizer, str):
        optimizer = create(optimizer, **kwargs)
    elif not isinstance(optimizer, Optimizer):
        raise ArgumentTypeError(
            f"Lookahead: expected an Optimizer or its name, got {type(optimizer).__name__}"
        )
    elif set(kwargs) - {"param_dict"}:
        raise ArgumentError(
            "Lookahead: expected no arguments besides an Optimizer, got "
            f"{', '.join(kwargs)}; pass them to the Optimizer"
        )
    else:
        optimizer.param_dict = kwargs.get("param_dict", optimizer.param_dict)
    if isinstance(optimizer, Lookahead):
        raise ArgumentError("Lookahead: expected another optimizer, got a Lookahead")
    return optimizer
