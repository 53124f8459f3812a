"""States of updaters: copies for devices added after training began, and files."""

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
    """Copy states between updaters; they move to their weights' device at the next update."""
    target.states = {index: _copied(state) for index, state in source.states.items()}
    target.states_synced = dict.fromkeys(target.states, False)


def _copied(state: State) -> State:
    if isinstance(state, NDArray):
        return state.copy()
    if isinstance(state, tuple | list):
        return type(state)(_copied(x) for x in state)
    return copy.copy(state)


def updaters_for(
    optimizer: Optimizer, contexts: list[Context], former: list[Updater]
) -> list[Updater]:
    """Return an updater for each device: former ones are reused, and new ones copy the states."""
    reused = former[: len(contexts)]
    for updater in reused:
        updater.states_synced = dict.fromkeys(updater.states, False)
    added = [get_updater(optimizer) for _ in contexts[len(reused) :]]
    for updater in added if reused else []:
        copy_states(reused[0], updater)
    return reused + added


def save_updater(
    updaters: Sequence[Updater], optimizer: Optimizer, fname: str | os.PathLike[str]
) -> None:
    """Write the optimizer and the states of the first updater, if any, to a file."""
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
    """Load states from a file into all updaters, and return their new common optimizer.

    Args:
        updaters: One for each device; may be empty.
        optimizer: Their current optimizer.
        fname: The file.
        params: The parameters; the shapes of initialized ones are checked.

    Raises:
        FileFormatError: The file holds no states, or those of other parameters; nothing was
            changed.
    """
    weights = {
        i: param._list_arrays()[0] for i, param in enumerate(params) if param._arrays is not None
    }
    with open_to_read(fname, "Trainer.load_states") as file:
        data = file.read()
    loaded = list(updaters) or [get_updater(optimizer)]
    for updater in loaded:
        updater.set_states(data, os.fspath(fname), weights)
        updater.optimizer = loaded[0].optimizer
    return loaded[0].optimizer
