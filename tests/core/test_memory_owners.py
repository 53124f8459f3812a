"""Who holds memory is found among all that is alive, each array once."""

import gc
from collections import Counter
from typing import Any

import numpy as np
import pytest

from gluonish import autograd, nd
from gluonish.core import memory_owners
from gluonish.core.context import cpu, gpu
from gluonish.core.memory_owners import MemoryOwner, Rank, memory_by_owner, register_memory_owner
from gluonish.gluon.nn import Dense


class Owner:
    """Holds arrays of the test."""

    def __init__(self, name: str, *arrays: Any) -> None:
        self.name = name
        self.arrays = arrays


class Handle:
    """Another kind."""

    def __init__(self, name: str, *arrays: Any) -> None:
        self.name = name
        self.arrays = arrays


class Unfinished(Owner):
    """One whose attributes another thread has yet to set."""

    def __init__(self) -> None:
        pass


def described(owner: Any) -> list[MemoryOwner]:
    return [MemoryOwner(cpu(7), owner.name, owner.arrays)]


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no kinds be known but those of the test."""
    monkeypatch.setattr(memory_owners, "_describers", {rank: {} for rank in Rank})


def found() -> dict[str, tuple[int, int]]:
    return {name: (nbytes, arrays) for _, name, nbytes, arrays in memory_by_owner(cpu(7))}


def test_sums_go_by_name_the_largest_first(alone: None) -> None:
    register_memory_owner(Owner, described)
    alive = [Owner("small", np.zeros(1)), *(Owner("large", np.zeros(5)) for _ in range(2))]
    assert [h.name for h in memory_by_owner(cpu(7))] == ["large", "small"]
    assert found() == {"small": (8, 1), "large": (80, 2)}
    del alive


def test_views_count_once_and_as_the_whole(alone: None) -> None:
    register_memory_owner(Owner, described)
    whole = np.zeros(10)
    alive = Owner("views", whole[:2], whole[3:].reshape(7, 1), whole)
    assert found() == {"views": (80, 1)}
    del alive


def test_owner_comes_before_whoever_else_has_the_array(alone: None) -> None:
    register_memory_owner(Handle, described, Rank.ARRAY)
    register_memory_owner(Owner, described)
    array = np.zeros(4)
    alive = [Handle("handle", array, np.zeros(2)), Owner("owner", array)]
    assert found() == {"owner": (32, 1), "handle": (16, 1)}
    del alive


def test_what_is_half_made_or_gone_is_left_out(alone: None) -> None:
    register_memory_owner(Owner, described)
    alive = Unfinished()
    Owner("gone", np.zeros(4))
    assert found() == {}
    del alive


def _held() -> Counter[str]:
    gc.collect()
    return Counter({h.name: h.nbytes for h in memory_by_owner(cpu())})


def test_parameters_gradients_and_arrays_are_told_apart() -> None:
    before = _held()
    layer = Dense(3, in_units=50, prefix="told_")
    layer.initialize(ctx=cpu(1))
    x = nd.ones((7, 50))
    x.wait_to_read()
    new = _held() - before
    assert (new["parameters"], new["gradients"]) == (612, 612)
    assert new["arrays float32(7, 50)"] == 1400
    layer.hybridize(static_alloc=True)
    with autograd.record():
        y = layer(x.copyto(cpu(1))).exp()
    y.backward()
    nd.waitall()
    new = _held() - before
    assert (new["parameters"], new["gradients"]) == (612, 612)
    del layer, x, y
    assert not (_held() - before).keys() & {"parameters", "gradients", "arrays float32(7, 50)"}


def test_gpus_are_apart_from_the_host(alone: None) -> None:
    register_memory_owner(Owner, lambda owner: [MemoryOwner(gpu(1), owner.name, owner.arrays)])
    alive = Owner("there", np.zeros(1))
    assert [memory_by_owner(context) for context in (gpu(0), cpu(1))] == [[], []]
    assert [h.name for h in memory_by_owner(gpu(1))] == ["there"]
    del alive
