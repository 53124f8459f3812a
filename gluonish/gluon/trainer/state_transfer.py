"""States of updaters: their files, and those of devices that joined after training began."""

import copy
import os
from collections.abc import Sequence

from gluonish.core.context import Context
from gluonish.core.files import atomic_write, open_to_read
from gluonish.gluon.parameter import Parameter
from gluonish.ndarray import NDArray
from gluonish.optimizer import Optimizer, Updater, get_updater
from gluonish.optimizer.base import State


def copy_states(source: Updater, target: Updater) -> None:
    """Give an updater copies of another's states; they move to their weights' device when used."""
    target.states = {index: _copied(state) for index, state in source.states.items()}
    target.states_synced = dict.fromkeys(target.states, False)


def _copied(state: State) -> State:
    if isinstance(state, NDArray):
        return state.copy()
    if isinstance(state, tuple | list):
        return type(state)(_copied(part) for part in state)
    return copy.copy(state)


def updaters_for(
    optimizer: Optimizer, contexts: list[Context], former: list[Updater]
) -> list[Updater]:
    """Return an updater for each device, with the states that the first one had so far.

    Args:
        optimizer: The optimizer of all.
        contexts: The devices from now on.
        former: The updaters so far; they are used again.
    """
    kept = former[: len(contexts)]
    for updater in kept:
        updater.states_synced = dict.fromkeys(updater.states, False)
    added = [get_updater(optimizer) for _ in contexts[len(kept) :]]
    for updater in added if kept else []:
        copy_states(kept[0], updater)
    return kept + added


def save_updater(
    updaters: Sequence[Updater], optimizer: Optimizer, fname: str | os.PathLike[str]
) -> None:
    """Write the states of the first updater, or none, and the optimizer to a file."""
    first = updaters[0] if updaters else get_updater(optimizer)
    data = first.get_states(dump_optimizer=True)
    with atomic_write(fname) as file:
        file.write(data)


def load_updaters(
    updaters: Sequence[Updater],
    optimizer: Optimizer,
    fname: str | os.PathLike[str],
    params: Sequence[Parameter],
) -> Optimizer:
    """Read states from a file into all updaters, and return the optimizer that they share now.

    Args:
        updaters: One for each device; perhaps none.
        optimizer: The one that they share so far.
        fname: The file.
        params: Whose states they are; what waits for its shape takes any.

    Raises:
        FileFormatError: The file holds no states, or those of other parameters; nothing has changed
            then.
    """
    weights = {i: param._held()[0] for i, param in enumerate(params) if param._arrays is not None}
    with open_to_read(fname, "Trainer.load_states") as file:
        data = file.read()
    loaded = list(updaters) or [get_updater(optimizer)]
    for updater in loaded:
        updater.set_states(data, os.fspath(fname), weights)
        updater.optimizer = loaded[0].optimizer
    return loaded[0].optimizer
