"""The split of a stream of shards over processes and workers, and its order."""

from collections import Counter
from collections.abc import Iterator
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest

from gluonish.core.errors import ArgumentError, ArgumentTypeError, FileFormatError
from gluonish.gluon.data import DataLoader
from gluonish.gluon.data.shards.order import Part, ShardStream, shuffled

DEFAULTS: dict[str, Any] = {
    "shuffle": False,
    "buffer_size": 5,
    "seed": 0,
    "num_parts": 1,
    "part_index": 0,
    "samples_per_epoch": None,
    "equal_parts": True,
    "epoch": 0,
}


class Numbers(ShardStream):
    """Shard s has the samples 100 s, 100 s + 1, ..., ``sizes[s]`` of them."""

    def __init__(self, sizes: list[int], **arguments: Any) -> None:
        super().__init__([*enumerate(sizes)], **{**DEFAULTS, **arguments})

    def _read(self, shard: Any) -> Iterator[int]:
        number, size = shard
        yield from range(100 * number, 100 * number + size)


def everything(sizes: list[int]) -> list[int]:
    return [100 * s + i for s, size in enumerate(sizes) for i in range(size)]


def loaded(stream: ShardStream, num_workers: int, **arguments: Any) -> list[list[int]]:
    loader = DataLoader(stream, 4, num_workers=num_workers, thread_pool=True, **arguments)
    return [batch.tolist() for batch in loader]


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8])
@pytest.mark.parametrize(("parts", "workers"), [*product((1, 2, 3, 7), (1, 2, 5))])
def test_parts_are_a_partition(count: int, parts: int, workers: int) -> None:
    found: Counter[tuple[int, int]] = Counter()
    for index, worker in product(range(parts), range(workers)):
        part = Part([*range(count)]).split(parts, index).split(workers, worker)
        assert part.stride == 1 or len(part.shards) == 1
        for shard in part.shards:
            found.update((shard, place) for place in range(part.offset, 70, part.stride))
    assert found == Counter(dict.fromkeys(product(range(count), range(70)), 1))


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("sizes", [[3, 4, 5, 6], [20], [7, 0, 9]])
@pytest.mark.parametrize("workers", [0, 1, 3])
def test_a_pass_has_each_sample_once(sizes: list[int], shuffle: bool, workers: int) -> None:
    stream = Numbers(sizes, shuffle=shuffle)
    found = [x for batch in loaded(stream, workers) for x in batch]
    assert sorted(found) == everything(sizes)
    assert (found == everything(sizes)) == (not shuffle and workers < 2)


@pytest.mark.parametrize("workers", [0, 2])
def test_parts_of_processes_have_each_sample_once(workers: int) -> None:
    sizes = [3, 9, 2, 6, 1]
    parts = [
        Numbers(sizes, num_parts=3, part_index=i, equal_parts=False, shuffle=True) for i in range(3)
    ]
    found = [x for part in parts for batch in loaded(part, workers) for x in batch]
    assert sorted(found) == everything(sizes)


@pytest.mark.parametrize("workers", [0, 1, 2, 3])
@pytest.mark.parametrize("wanted", [1, 10, 23])
def test_unequal_parts_give_equally_many_batches(wanted: int, workers: int) -> None:
    sizes = [2, 3, 30, 5]
    counts = []
    for index in range(3):
        stream = Numbers(
            sizes, num_parts=3, part_index=index, samples_per_epoch=wanted, shuffle=True
        )
        loader = DataLoader(stream, 4, num_workers=workers, thread_pool=True)
        batches = [len(batch) for batch in loader]
        assert sum(batches) == wanted == len(stream)
        assert len(batches) == len(loader)
        counts.append(batches)
    assert counts[0] == counts[1] == counts[2]


def test_a_part_that_ends_early_begins_its_shards_again_in_another_order() -> None:
    found = list(Numbers([6], samples_per_epoch=15, shuffle=True))
    assert sorted(found[:6]) == sorted(found[6:12]) == [0, 1, 2, 3, 4, 5]
    assert found[:6] != found[6:12]


def test_processes_without_a_number_of_samples_are_refused() -> None:
    message = "expected samples_per_epoch with num_parts=2, got none: a process whose shards end"
    with pytest.raises(ArgumentError, match=message):
        Numbers([3, 4], num_parts=2)


@pytest.mark.parametrize("workers", [0, 2])
def test_each_pass_has_another_order_which_repeats(workers: int) -> None:
    def passes(**arguments: Any) -> list[list[list[int]]]:
        stream = Numbers([5, 6, 7, 8], shuffle=True, **arguments)
        loader = DataLoader(stream, 4, num_workers=workers, thread_pool=True)
        return [[batch.tolist() for batch in loader] for _ in range(3)]

    first = passes()
    assert first[0] != first[1] != first[2]
    assert passes() == first
    assert passes(epoch=1)[:2] == first[1:]
    assert passes(seed=1)[0] != first[0]


def test_new_workers_in_each_pass_do_not_repeat_it() -> None:
    stream = Numbers([9, 9, 9], shuffle=True)
    usual = DataLoader(stream, 4, num_workers=2, thread_pool=True)
    anew = DataLoader(stream, 4, num_workers=2, thread_pool=True, persistent_workers=False)
    passes = [[[batch.tolist() for batch in x] for _ in range(2)] for x in (usual, anew)]
    assert passes[0] == passes[1]
    assert passes[0][0] != passes[0][1]


def test_passes_without_a_loader_count_by_themselves() -> None:
    stream = Numbers([9, 9], shuffle=True)
    (one, two), loader = (list(stream), list(stream)), DataLoader(stream, 18)
    assert one != two
    assert [next(iter(loader)).tolist() for _ in range(2)] == [one, two]


def test_a_buffer_draws_every_order_equally_often() -> None:
    random = Random(1)
    counts = Counter(tuple(shuffled(range(3), 3, random)) for _ in range(6000))
    assert len(counts) == 6
    assert sum((n - 1000) ** 2 / 1000 for n in counts.values()) < 20.5  # chi2, 5 degrees, p 0.001


def test_a_buffer_moves_no_sample_further_ahead_than_its_size() -> None:
    found = list(shuffled(range(1000), 10, Random(2)))
    assert sorted(found) == list(range(1000))
    assert all(sample - place <= 10 for place, sample in enumerate(found))
    distances = [place - sample for place, sample in enumerate(found)]
    assert 5 < np.std(distances) < 15  # geometric: the size of the buffer


def test_a_worker_without_any_sample_is_an_error_and_no_endless_loop() -> None:
    with pytest.raises(FileFormatError, match="expected samples in 2 shards, got none"):
        list(Numbers([0, 0], samples_per_epoch=3))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"part_index": 1}, "part_index in 0..num_parts - 1 = 0, got 1"),
        ({"num_parts": 0}, "num_parts"),
        ({"samples_per_epoch": 0}, "samples_per_epoch"),
        ({"buffer_size": 0}, "buffer_size"),
        ({"seed": -1}, "seed"),
        ({"epoch": -1}, "epoch"),
    ],
)
def test_numbers_out_of_range_are_refused(arguments: dict[str, int], message: str) -> None:
    with pytest.raises(ArgumentError, match=f"Numbers: expected .*{message}"):
        Numbers([1], **arguments)


@pytest.mark.parametrize("name", ["shuffle", "equal_parts"])
def test_what_is_no_bool_is_refused(name: str) -> None:
    with pytest.raises(ArgumentTypeError, match=f"expected {name} to be a bool, got 1000"):
        Numbers([1], **{name: 1000})


def test_a_stream_of_unknown_length_has_none() -> None:
    stream = Numbers([3])
    with pytest.raises(TypeError, match="expected samples_per_epoch, which tells the length"):
        len(stream)
    assert list(stream) == [0, 1, 2]
    assert repr(stream).startswith("Numbers(1 shards, ")


def test_transforms_are_applied_and_keep_the_split_and_the_length() -> None:
    stream = Numbers([3, 4], samples_per_epoch=9).transform(lambda x: (x, -x))
    stream = stream.transform_first(lambda x: x + 0.5)
    assert len(stream) == 9  # type: ignore[arg-type]  # one with a length
    assert [a + b for a, b in stream] == [0.5] * 9
    first, second = next(iter(DataLoader(stream, 9)))
    assert first.tolist() == [x + 0.5 for x in [0, 1, 2, 100, 101, 102, 103, 0, 1]]
    assert second.tolist() == [-x for x in [0, 1, 2, 100, 101, 102, 103, 0, 1]]
    batches = list(DataLoader(stream, 2, num_workers=2, thread_pool=True))
    assert sum(len(batch[0]) for batch in batches) == 9
