"""Progress: what the steps of an optimizer change on the host, to go back to an earlier step."""

from collections.abc import Mapping
from typing import Any

from gluonish.lr_scheduler import LRScheduler
from gluonish.optimizer.rule_optimizer import RuleOptimizer

# Attributes that steps change but rates do not depend on, or that contain the progress of devices.
_OTHERS = {"_all_index_update_counts", "_all_own_lrs", "_schedules", "_steps", "rescale_grad"}
_OTHERS |= {"param_dict", "_loaded_counts"}


def _copied(value: Any) -> Any:
    return value.copy() if isinstance(value, dict | list) else value


class Progress:
    """The progress of an optimizer and of its learning rate scheduler, at its creation."""

    __slots__ = ("_scheduler", "_values", "schedule")

    def __init__(self, optimizer: RuleOptimizer) -> None:
        own = vars(optimizer)
        self._values = {name: _copied(own[name]) for name in optimizer.step_state}
        self._scheduler = optimizer.lr_scheduler
        self.schedule = schedule_of(optimizer)

    def restore(self, optimizer: RuleOptimizer) -> None:
        """Set the optimizer back to this progress."""
        own = vars(optimizer)
        for name, value in self._values.items():
            if isinstance(value, dict):  # also in a dict of all devices
                own[name].clear()
                own[name].update(value)
            else:
                own[name] = value
        if self._scheduler is optimizer.lr_scheduler:
            for name, value in self.schedule.items():
                vars(self._scheduler)[name] = _copied(value)


def schedule_of(optimizer: RuleOptimizer) -> dict[str, Any]:
    """Return a copy of the attributes of the optimizer's scheduler."""
    scheduler = optimizer.lr_scheduler
    if not isinstance(scheduler, LRScheduler):
        return {}
    return {name: _copied(value) for name, value in vars(scheduler).items()}


def settings_of(optimizer: RuleOptimizer) -> tuple[Any, ...] | None:
    """Return a copy of what rates depend on besides the progress; None if that is not known."""
    scheduler = optimizer.lr_scheduler
    if scheduler is not None and not isinstance(scheduler, LRScheduler):
        return None
    owners: Mapping[Any, Any] = optimizer.param_dict
    skipped = {*optimizer.step_state, *_OTHERS}
    own = {name: _copied(x) for name, x in vars(optimizer).items() if name not in skipped}
    return own, [(owner.lr_mult, owner.wd_mult) for owner in owners.values()]
