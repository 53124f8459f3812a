"""Whether a Trainer skips a step because gradients overflowed: the same in all processes."""

from collections.abc import Sequence
from typing import Any

from gluonish.kvstore.sync_store import SyncStore
from gluonish.parameter import Parameter
from gluonish.trainer.gradients import LossScaler
from gluonish.trainer.trainables import Selection

__all__ = ["overflows"]


def overflows(
    scaler: LossScaler | None,
    params: Sequence[Parameter],
    selection: Selection,
    store: Any,
    updates_in_store: bool,
) -> bool:
    """Ask a loss scaler whether gradients overflow; they count as used then.

    Args:
        scaler: The scaler; None for one that finds nothing.
        params: All parameters of the Trainer.
        selection: Those with a new gradient.
        store: The Trainer's store, or None.
        updates_in_store: Whether the store updates the weights, so that gradients are not summed
            yet.
    """
    if scaler is None:
        return False
    if "dist" not in getattr(store, "type", ""):
        # A stale gradient may be what overflowed in an earlier step.
        found = scaler.has_overflow([param for _, param in selection.members])
    elif not updates_in_store or not isinstance(store, SyncStore):
        # All, for the processes may differ in what is new.
        found = scaler.has_overflow(params)
    else:
        together: Any = scaler  # that of `contrib.amp` can be told what others found
        found = together.has_overflow(params, lambda here: any(store.gather(here)))
    if found:
        selection.mark_used()
    return found
