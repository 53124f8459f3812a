"""DataLoader.state_dict: another loader continues a pass with the same batches."""

import json
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentError
from gluonish.core.generator_states import generator_states, plain_states, restore_generators
from gluonish.gluon.data import (
    ArrayDataset,
    DataLoader,
    IterableDataset,
    SplitSampler,
    WeightedRandomSampler,
    get_worker_info,
)

COUNT, SIZE = 23, 4


def jitter(x: Any) -> Any:
    """Add numbers from three generators to a sample."""
    return x + random.random() + drawn() + mx.nd.random.uniform().asnumpy()[0]


def drawn() -> float:
    return float(np.random.rand())  # noqa: NPY002  # the global generator is what is tested


class Jittered(IterableDataset):
    def __iter__(self) -> Iterator[Any]:
        info = get_worker_info()
        first, step = (0, 1) if info is None else (info.id, info.num_workers)
        seed = 0 if info is None else info.seed
        return (jitter(np.float64(i)) + seed for i in range(first, COUNT, step))


def loader(kind: str, **options: Any) -> DataLoader:
    if kind == "stream":
        return DataLoader(Jittered(), SIZE, **options)
    values = np.arange(COUNT, dtype="float64")
    dataset = ArrayDataset(values).transform(jitter, lazy=True)
    if kind == "split":
        sampler: Any = SplitSampler(COUNT, 2, 1, shuffle=True, seed=3)
        return DataLoader(dataset, SIZE, sampler=sampler, **options)
    if kind == "weighted":
        sampler = WeightedRandomSampler(np.arange(COUNT) + 1, COUNT)
        return DataLoader(dataset, SIZE, sampler=sampler, last_batch="rollover", **options)
    return DataLoader(dataset, SIZE, shuffle=kind == "shuffled", **options)


def batches(made: DataLoader) -> Iterator[list[float]]:
    """Yield the batches of one pass as lists; a step of training draws numbers after each."""
    for batch in made:
        drawn()
        yield batch.asnumpy().tolist()


def seed() -> None:
    mx.random.seed_everything(5)


@pytest.mark.parametrize("taken", [1, 3])
@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("shuffled", {}),
        ("split", {}),
        ("weighted", {}),
        ("stream", {}),
        ("shuffled", {"num_workers": 2}),
        ("weighted", {"num_workers": 2}),
        ("split", {"num_workers": 1, "persistent_workers": False}),
        ("stream", {"num_workers": 2}),
        ("shuffled", {"num_workers": 2, "auto_reload": True}),
    ],
)
def test_a_pass_continues_with_the_same_batches(
    kind: str, options: dict[str, Any], taken: int
) -> None:
    seed()
    made = loader(kind, **options)
    first = list(batches(made))
    running = batches(made)
    second = [next(running) for _ in range(taken)]
    # As of a training run that is killed here, in a file.
    state = json.loads(json.dumps([made.state_dict(), plain_states(generator_states())]))
    second += running
    third = list(batches(made))
    assert first != second

    seed()
    again = loader(kind, **options)
    again.load_state_dict(state[0])
    restore_generators(state[1])
    assert list(batches(again)) == second[taken:]
    assert list(batches(again)) == third


@pytest.mark.parametrize(
    "options", [{}, {"num_workers": 1}, {"num_workers": 1, "auto_reload": True}]
)
def test_the_state_after_a_pass_is_the_begin_of_the_next(options: dict[str, Any]) -> None:
    seed()
    made = loader("weighted", **options)
    list(batches(made))
    state = json.loads(json.dumps([made.state_dict(), plain_states(generator_states())]))
    second = list(batches(made))
    again = loader("weighted", **options)
    again.load_state_dict(state[0])
    restore_generators(state[1])
    assert list(batches(again)) == second


def test_samples_before_the_position_are_not_loaded() -> None:
    loaded = []

    class Recorded:
        def __len__(self) -> int:
            return COUNT

        def __getitem__(self, index: int) -> float:
            loaded.append(index)
            return float(index)

    made = DataLoader(Recorded(), SIZE)
    running = iter(made)
    next(running)
    again = DataLoader(Recorded(), SIZE)
    again.load_state_dict(made.state_dict())
    loaded.clear()
    assert len(list(again)) == len(made) - 1
    assert loaded == list(range(SIZE, COUNT))


def test_a_pass_within_another_leaves_its_position() -> None:
    made = loader("plain")
    running = iter(made)
    next(running)
    list(made)
    assert made.state_dict()["pass"]["batches"] == 1


def test_a_state_of_something_else_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"expected a result of state_dict, got {'epoch': 1}"):
        loader("plain").load_state_dict({"epoch": 1})
    with pytest.raises(ArgumentError, match=r"expected a result of state_dict, got"):
        loader("plain").load_state_dict({"passes": 1, "sampler": None, "pass": "a"})
