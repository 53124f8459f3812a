"""States of all random generators of a program: Python's, NumPy's global one, and gluonish's.

States are plain lists and numbers, which JSON can hold.
"""

import random
from collections.abc import Mapping
from typing import Any

import numpy as np

from gluonish.core import random_state

States = Mapping[str, Any]


def generator_states() -> dict[str, Any]:
    """Return the states of the generators of this process; nothing is drawn."""
    numpy = np.random.get_state(legacy=False)  # noqa: NPY002  # programs use this generator
    return {"python": random.getstate(), "numpy": numpy, "gluonish": random_state.states()}


def plain_states(states: States) -> dict[str, Any]:
    """Return states of `generator_states` as lists and numbers."""
    version, numbers, gauss = states["python"]
    numpy = dict(states["numpy"])
    numpy["state"] = {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in numpy["state"].items()
    }
    common, devices = states["gluonish"]
    return {
        "python": [version, list(numbers), gauss],
        "numpy": numpy,
        "gluonish": [common, [list(device) for device in devices]],
    }


def restore_generators(states: States) -> None:
    """Set the generators to states of `generator_states` or `plain_states`."""
    version, numbers, gauss = states["python"]
    random.setstate((version, tuple(numbers), gauss))
    numpy = dict(states["numpy"])
    key = numpy["state"].get("key")
    if key is not None:
        numpy["state"] = {**numpy["state"], "key": np.asarray(key, dtype=np.uint32)}
    np.random.set_state(numpy)  # noqa: NPY002  # as above
    common, devices = states["gluonish"]
    random_state.restore(common, devices)
