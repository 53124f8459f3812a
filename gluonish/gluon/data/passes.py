"""Passes over the data of a DataLoader: where one began, so that it can be continued.

A pass follows from the states of the random generators at its beginning, from the state of its
sampler, and from its number.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from gluonish.core.generator_states import generator_states, plain_states, restore_generators
from gluonish.core.object_repr import default_repr
from gluonish.gluon.data.sampler import sampler_state


class Pass:
    """A pass that runs: the states at its beginning, and the number of batches taken.

    Args:
        number: Number of the pass, from 1.
        sampler: The sampler of its batches, which has not begun.
        batches: Number of batches that were taken before.
    """

    __repr__ = default_repr

    __slots__ = ("_generators", "_sampler", "batches", "number")

    def __init__(self, number: int, sampler: object, batches: int) -> None:
        self.number = number
        self.batches = batches
        self._generators = generator_states()
        self._sampler = sampler_state(sampler)

    def state(self) -> dict[str, Any]:
        """Return the pass in a form for JSON."""
        return {
            "number": self.number,
            "batches": self.batches,
            "generators": plain_states(self._generators),
            "sampler": self._sampler,
        }


@contextmanager
def at_begin_of(state: Mapping[str, Any]) -> Iterator[None]:
    """Scope in which the random generators are as at the beginning of a pass."""
    before = generator_states()
    restore_generators(state["generators"])
    try:
        yield
    finally:
        restore_generators(before)
