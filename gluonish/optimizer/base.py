"""Optimizer: the base class of optimizers, and their registry by name.

An optimizer has no arrays: states are created by `create_state` and stored in an `Updater`. The
attributes have MXNet's names and contents, as trainer states contain them.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NoReturn, Protocol, TypeVar

from gluonish.core.call_errors import explained
from gluonish.core.dtype import BFLOAT16, FLOAT16, FLOAT32
from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError, nearest
from gluonish.core.mxnet_rules import follows_mxnet2
from gluonish.core.number_check import check_numbers
from gluonish.core.object_repr import arguments_repr
from gluonish.lr_scheduler import LRScheduler
from gluonish.ndarray import NDArray
from gluonish.ndarray.lazy_zeros import lazy_zeros
from gluonish.optimizer.arguments import (
    check_aggregate_num,
    check_arguments,
    check_learning_rate,
    check_scheduler,
    check_settings,
    given,
    override_base_lr,
)
from gluonish.optimizer.counts import Index, UpdateCounts

__all__ = ["Index", "Optimizer", "State", "create", "is_half", "register"]

# Optimizers that MXNet does not have: its programs may register their own of these names.
_UNKNOWN_TO_MXNET = frozenset({"adafactor", "lion", "lookahead", "muon", "radam"})

# None, an NDArray, or tuples of these; see each optimizer's docstring.
State = Any
O = TypeVar("O", bound="type[Optimizer]")  # noqa: E741  # a type variable


class _Multipliers(Protocol):
    """The attributes of a Parameter that an optimizer reads."""

    lr_mult: float
    wd_mult: float


class SchedulerInUseError(ArgumentError, UserWarning):
    """Raised if a learning rate is set despite a scheduler; a UserWarning, too, as in MXNet."""


class ReplacedMethodError(NotSupportedError, DeprecationWarning):
    """Raised by a method that was replaced; a DeprecationWarning, too, as in MXNet."""


class Optimizer(UpdateCounts):
    """Base class of optimizers.

    A subclass defines `create_state` and `update`. `update` first calls `_update_count`, and then
    `_get_lr` and `_get_wd` for the learning rate and weight decay of a weight. A class decorated
    with `register` can be created by name.

    Args:
        rescale_grad: Factor by which gradients are multiplied first; the Trainer sets it to 1 /
            batch size.
        param_idx2name: Dict from index to name, for multipliers by name. Parameters whose name ends
            neither in ``_weight`` nor in ``_gamma`` get no weight decay.
        wd: Weight decay: coefficient of the L2 penalty on weights.
        clip_gradient: Limit of the absolute value of each element of the rescaled gradient; None
            for no limit.
        learning_rate: Learning rate; with a scheduler, its ``base_lr``. None for 0.01 (by the rules
            of MXNet 2.0 that of the optimizer), or the scheduler's ``base_lr``.
        lr_scheduler: LRScheduler, or function from the number of updates to the learning rate.
        sym: A Symbol whose variables may have attributes ``__lr_mult__`` and ``__wd_mult__``.
        begin_num_update: Number of earlier updates.
        multi_precision: Whether 16-bit weights are updated through float32 copies.
        param_dict: Dict from index to Parameter, whose ``lr_mult`` and ``wd_mult`` are used.
        aggregate_num: Maximum number of weights that one operation updates, as in MXNet 2.0; None
            or 0 for ``MXNET_OPTIMIZER_AGGREGATION_SIZE``. It does not change results, and affects
            only optimizers that update several weights at once.
        use_fused_step: Accepted for MXNet 2.0 without effect: steps are fused whenever possible.

    Raises:
        ArgumentTypeError: ``param_idx2name`` is not a dict, or ``aggregate_num`` not an int.
        ArgumentError: ``aggregate_num`` is below 0.
    """

    # Learning rate and aggregate_num by the rules of MXNet 2.0.
    _default_rate2: ClassVar[float | None] = None
    _default_aggregate2: ClassVar[int] = 1
    # Whether `update` calls `step` or `fused_step` of a subclass.
    defines_step: ClassVar[bool] = False
    use_fused_step: bool = True  # an attribute of the instance if False, as files store those
    opt_registry: ClassVar[dict[str, type["Optimizer"]]] = {}

    @explained
    def __init__(
        self,
        rescale_grad: float = 1.0,
        param_idx2name: dict[int, str] | None = None,
        wd: float = 0.0,
        clip_gradient: float | None = None,
        learning_rate: float | None = None,
        lr_scheduler: LRScheduler | Callable[[int], float] | None = None,
        sym: Any = None,
        begin_num_update: int = 0,
        multi_precision: bool = False,
        param_dict: Mapping[int, _Multipliers] | None = None,
        aggregate_num: int | None = None,
        use_fused_step: bool | None = True,
    ) -> None:
        name = type(self).__name__
        check_settings(name, rescale_grad, wd, begin_num_update, clip_gradient, learning_rate)
        check_scheduler(name, lr_scheduler)
        self.rescale_grad = rescale_grad
        self.lr_scheduler = lr_scheduler
        if learning_rate is None and follows_mxnet2():
            learning_rate = self._default_rate2
        if learning_rate is None and lr_scheduler is None:
            learning_rate = 0.01
        self.lr = learning_rate
        if lr_scheduler is not None and learning_rate is not None:
            override_base_lr(lr_scheduler, learning_rate)
        self.wd = wd
        self.lr_mult: dict[Index, float] = {}
        self.wd_mult: dict[Index, float] = {}
        self._start_counts(begin_num_update)
        self.clip_gradient = clip_gradient
        self.multi_precision = multi_precision
        self.aggregate_num = 0
        if use_fused_step is False:
            self.use_fused_step = False
        check_aggregate_num(name, aggregate_num)
        if follows_mxnet2():
            self.aggregate_num = given(aggregate_num, 0, self._default_aggregate2)
        if param_idx2name is not None and not isinstance(param_idx2name, dict):
            raise ArgumentTypeError(
                f"Optimizer: expected a dict param_idx2name, got {type(param_idx2name).__name__}"
            )
        self.idx2name: dict[Any, str] = dict(param_idx2name or {})
        self.sym_info: tuple[Any, ...] = ()
        if sym is not None:
            self.sym_info = (sym.attr_dict(), sym.list_arguments())
        self.param_dict: Mapping[Any, _Multipliers] = param_dict or {}
        self.allow_np_array = False
        self.set_lr_mult({})
        self.set_wd_mult({})

    def __repr__(self) -> str:
        usual = ["use_fused_step"] if self.use_fused_step else []
        if getattr(self, "lazy_update", None) is not follows_mxnet2():  # the default
            usual.append("lazy_update")
        return arguments_repr(
            self, leave_out=("aggregate_num", "param_dict", "param_idx2name", *usual)
        )

    @staticmethod
    def register(klass: O) -> O:
        """Class decorator that registers an optimizer for `create` under its lower-case name.

        Args:
            klass: Subclass of `Optimizer`.

        Returns:
            The class itself.
        """
        name = klass.__name__.lower()
        known = None if name in _UNKNOWN_TO_MXNET else Optimizer.opt_registry.get(name)
        if known is not None and known.__module__ != klass.__module__:
            warnings.warn(
                f"Optimizer: {klass.__module__}.{klass.__name__} replaces"
                f" {known.__module__}.{known.__name__}",
                stacklevel=2,
            )
        Optimizer.opt_registry[name] = klass
        return klass

    @staticmethod
    def create_optimizer(name: str, **kwargs: Any) -> "Optimizer":
        """Create an optimizer by its registered name.

        Args:
            name: The name, in upper or lower case, such as ``"sgd"``.
            **kwargs: Arguments of the optimizer's class.

        Raises:
            ArgumentError: No optimizer has this name, or the optimizer has no such argument.

        Example:
            >>> import gluonish as mx
            >>> mx.optimizer.create("adam", learning_rate=0.01).learning_rate
            0.01
        """
        klass = Optimizer.opt_registry.get(str(name).lower())
        if klass is None:
            raise ArgumentError(
                f"optimizer: expected one of {', '.join(sorted(Optimizer.opt_registry))},"
                f" got {name!r}{nearest(str(name), Optimizer.opt_registry)}"
            )
        check_arguments(klass, kwargs)
        return klass(**kwargs)

    def create_state(self, index: Any, weight: NDArray) -> State:
        """Create the state that `update` needs for a weight, such as momentum; None by default.

        Args:
            index: Index or name of the weight.
            weight: The weight.
        """
        return None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # MXNet 1.9's subclasses define `update`, 2.0's `step` or `fused_step`.
        for base in cls.__mro__:
            if base is Optimizer or "update" in vars(base):
                return
            if "step" in vars(base) or "fused_step" in vars(base):
                cls.defines_step = True
                return

    def step(
        self,
        indices: Sequence[Any],
        weights: Sequence[Any],
        grads: Sequence[Any],
        states: Sequence[Any],
    ) -> None:
        """Update several weights and their states in place.

        A subclass may define this method instead of `update`, which then calls it.

        Args:
            indices: Index or name of each weight.
            weights: The weights.
            grads: Their gradients.
            states: Their states from `create_state`.

        Raises:
            NotSupportedError: The subclass defines neither ``update`` nor ``step``.
        """
        if self.defines_step:
            raise self._undefined("step")
        for item in zip(indices, weights, grads, states, strict=True):
            self.update(*item)

    def fused_step(
        self,
        indices: Sequence[Any],
        weights: Sequence[Any],
        grads: Sequence[Any],
        states: Sequence[Any],
    ) -> None:
        """Update several weights like `step`, in one operation if possible.

        A subclass may define it besides `step`; it is used unless ``use_fused_step`` is False.

        Args:
            indices: Index or name of each weight.
            weights: The weights.
            grads: Their gradients.
            states: Their states from `create_state`.
        """
        self.step(indices, weights, grads, states)

    def _run_step(self, *item: Any) -> None:
        """Call the method that a subclass defines instead of `update`, with lists."""
        lists = item if isinstance(item[0], list | tuple) else [[each] for each in item]
        fused = type(self).fused_step is not Optimizer.fused_step
        method = self.fused_step if fused and self.use_fused_step else self.step
        method(*lists)

    def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """Update a weight and its state in place; defined by a subclass, unless it has `step`.

        With ``aggregate_num`` above 0 all four arguments are lists of at most that length.

        Args:
            index: Index or name of the weight.
            weight: The weight.
            grad: Its gradient.
            state: Its state from `create_state`.

        Raises:
            NotSupportedError: The subclass does not define ``update``.
        """
        if not self.defines_step:
            raise self._undefined("update")
        self._run_step(index, weight, grad, state)

    @property
    def sharding(self) -> str:
        """How processes may shard updates (``shard_optimizer_states`` of a Trainer).

        ``"elements"``: a process can update a slice of a weight; ``"arrays"``: a process updates
        full weights; ``"none"``: each process updates all weights, for example if an optimizer
        stores arrays outside of states.
        """
        return "arrays"

    def _undefined(self, method: str) -> NotSupportedError:
        return NotSupportedError(
            f"{type(self).__name__}: expected a subclass that defines {method}, got none"
        )

    def create_state_multi_precision(self, index: Any, weight: NDArray) -> State:
        """Create a weight's state; ``multi_precision`` adds a float32 copy of a 16-bit weight.

        Args:
            index: Index or name of the weight.
            weight: The weight.

        Returns:
            ``(float32 weight, state)`` if there is a copy, else what `create_state` returns.
        """
        if is_half(weight):
            if self.multi_precision:
                master = weight.astype(FLOAT32)
                return master, self.create_state(index, master)
            warn_of_half(type(self).__name__)
        return self.create_state(index, weight)

    def update_multi_precision(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """Update a weight, in float32 if `create_state_multi_precision` created a copy.

        Args:
            index: Index or name of the weight.
            weight: The weight.
            grad: Its gradient.
            state: Its state from `create_state_multi_precision`.
        """
        several = isinstance(weight, list | tuple)
        if not self.multi_precision or not is_half(weight[0] if several else weight):
            self.update(index, weight, grad, state)
            return
        if several:
            masters, inners = zip(*map(self._master_and_state, state), strict=True)
            wide = [each.astype(FLOAT32) for each in grad]
            self.update(index, list(masters), wide, list(inners))
        else:
            master, inner = self._master_and_state(state)
            masters, weight = (master,), [weight]
            self.update(index, master, grad.astype(FLOAT32), inner)
        for master, each in zip(masters, weight, strict=True):
            master.copyto(each)

    def _master_and_state(self, state: State) -> tuple[NDArray, State]:
        """Return the float32 weight and the state of a result of `create_state_multi_precision`."""
        master, inner = state
        return master, inner

    @property
    def learning_rate(self) -> float:
        """The current learning rate, without multipliers."""
        if self.lr_scheduler is not None:
            return self.lr_scheduler(self.num_update)
        return 0.01 if self.lr is None else self.lr

    def set_learning_rate(self, lr: float) -> None:
        """Set the learning rate.

        Args:
            lr: The learning rate of the next updates.

        Raises:
            SchedulerInUseError: The optimizer has a learning rate scheduler.
        """
        check_numbers("set_learning_rate", lr=lr)
        check_learning_rate("set_learning_rate", lr)
        if self.lr_scheduler is not None:
            raise SchedulerInUseError(
                "set_learning_rate: expected an optimizer without lr_scheduler, got one with"
                f" {type(self.lr_scheduler).__name__}; change the scheduler's base_lr"
            )
        self.lr = lr

    def set_lr_scale(self, args_lrscale: object) -> NoReturn:
        """Removed before MXNet 1.0; use `set_lr_mult`."""
        raise ReplacedMethodError("set_lr_scale: expected set_lr_mult instead, got a call")

    def set_lr_mult(self, args_lr_mult: Mapping[Any, float]) -> None:
        """Set multipliers of the learning rate, by index or name; all others are 1.

        Args:
            args_lr_mult: Dict from index or name to factor. It overrides the attributes of the
                symbol's variables; parameters in ``param_dict`` use their own factors.
        """
        self.lr_mult = self._symbol_multipliers("__lr_mult__")
        self.lr_mult.update(args_lr_mult)

    def set_wd_mult(self, args_wd_mult: Mapping[Any, float]) -> None:
        """Set multipliers of the weight decay, by index or name.

        The default is 0 for names that end neither in ``_weight`` nor in ``_gamma``; by the rules
        of MXNet 2.0 it is 1 for all.

        Args:
            args_wd_mult: Dict from index or name to factor.
        """
        decayed = "" if follows_mxnet2() else ("_weight", "_gamma")
        self.wd_mult = {name: 0.0 for name in self.idx2name.values() if not name.endswith(decayed)}
        self.wd_mult.update(self._symbol_multipliers("__wd_mult__"))
        self.wd_mult.update(args_wd_mult)

    def _symbol_multipliers(self, attribute: str) -> dict[Index, float]:
        if not self.sym_info:
            return {}
        attributes, names = self.sym_info
        return {
            name: float(attributes[name][attribute])
            for name in names
            if attribute in attributes.get(name, {})
        }

    def _get_lr(self, index: Index) -> float:
        return self._get_lrs([index])[0]

    def _get_lrs(self, indices: Sequence[Index]) -> list[float]:
        lr = self.learning_rate
        return [lr * self._multiplier(i, self.lr_mult, "lr_mult") for i in indices]

    def _get_wd(self, index: Index) -> float:
        return self._get_wds([index])[0]

    def _get_wds(self, indices: Sequence[Index]) -> list[float]:
        return [self.wd * self._multiplier(i, self.wd_mult, "wd_mult") for i in indices]

    def _multiplier(self, index: Index, factors: dict[Index, float], attribute: str) -> float:
        if index in self.param_dict:
            factor: float = getattr(self.param_dict[index], attribute)
            return factor
        if index in factors:
            return factors[index]
        return factors.get(self.idx2name[index], 1.0) if index in self.idx2name else 1.0

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes without the Parameters, which are saved with the network."""
        if self._steps is not None:
            self._steps.settle()
        state = dict(vars(self))
        for name in ("param_dict", "_loaded_counts", "_steps"):
            state.pop(name, None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.param_dict = {}


def is_half(weight: NDArray) -> bool:
    """Whether the elements are 16-bit floats."""
    return weight.dtype in (FLOAT16.type, BFLOAT16.type)


def warn_of_half(name: str) -> None:
    """Warn that 16-bit weights are updated without float32 copies."""
    warnings.warn(
        f"{name}: updating 16-bit weights in 16 bits loses accuracy; consider multi_precision=True",
        UserWarning,
        stacklevel=4,
    )


def clip_limit(optimizer: Optimizer) -> float:
    """Return ``clip_gradient`` for update operators: negative for no limit."""
    return -1.0 if optimizer.clip_gradient is None else optimizer.clip_gradient


def zeros_like(weight: NDArray, *, dense: bool = False) -> NDArray:
    """Return zeros like a weight, not recorded by autograd; ``dense`` even for a sparse weight."""
    stype = "default" if dense else weight.stype
    return lazy_zeros(weight.shape, weight.context, weight.dtype, stype, commit=True)


create = Optimizer.create_optimizer
register = Optimizer.register
