"""Pools: blocks that live never overlap, what comes back serves again, the driver loses nothing."""

import threading
import weakref
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluonish_engine import Block, MemoryPool, linear_sizes, power_of_two_sizes

PAGE = 64


class Piece:
    """Bytes of the device from ``start`` on."""

    def __init__(self, start: int, nbytes: int) -> None:
        self.start = start
        self.nbytes = nbytes


class Driver:
    """A device of some bytes: first fit, and it knows when a piece goes."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.calls = 0
        self.lives: dict[int, int] = {}

    @property
    def used(self) -> int:
        return sum(self.lives.values())

    def free_and_total(self) -> tuple[int, int]:
        return self.total - self.used, self.total

    def allocate(self, nbytes: int) -> Piece:
        self.calls += 1
        start = 0
        for other, size in sorted(self.lives.items()):
            if start + nbytes <= other:
                break
            start = other + size
        if start + nbytes > self.total:
            raise MemoryError("full")
        self.lives[start] = nbytes
        piece = Piece(start, nbytes)
        weakref.finalize(piece, self.lives.pop, start)
        return piece


@pytest.mark.parametrize(
    ("asked", "size"), [(1, 64), (64, 64), (65, 128), (960, 960), (961, 2000), (2001, 3000)]
)
def test_naive_sizes_are_pages_and_then_large_multiples(asked: int, size: int) -> None:
    assert linear_sizes(64, 1000)(asked) == size


@pytest.mark.parametrize(
    ("asked", "size"),
    [(1, 128), (100, 128), (129, 256), (1024, 1024), (1025, 2048), (2049, 3072), (3072, 3072)],
)
def test_round_sizes_are_powers_of_two_and_then_linear(asked: int, size: int) -> None:
    assert power_of_two_sizes(100, 10)(asked) == size


def test_block_that_came_back_serves_its_size_and_queue_only() -> None:
    driver = Driver(1 << 20)
    pool = MemoryPool(driver, linear_sizes(PAGE, 1 << 10))
    first = pool.allocate(100, "compute")
    piece = first.raw
    pool.free(first)
    assert pool.allocate(100, "copy").raw is not piece
    assert pool.allocate(10, "compute").raw is not piece
    assert pool.allocate(128, "compute").raw is piece


def test_unpooled_memory_goes_back_when_it_is_given() -> None:
    driver = Driver(1 << 20)
    pool: MemoryPool[Piece] = MemoryPool(driver, None)
    block = pool.allocate(100)
    assert driver.used == 100
    pool.free(block)
    del block
    assert driver.used == 0
    assert pool.statistics()[:3] == (0, 0, 100)


def test_full_device_is_tried_again_after_held_blocks_went_back() -> None:
    driver = Driver(1000)
    pool = MemoryPool(driver, linear_sizes(PAGE, 1 << 10))
    pool.free(pool.allocate(600))
    block = pool.allocate(900)
    assert block.nbytes == 960
    assert pool.statistics().held == 0
    with pytest.raises(MemoryError):
        pool.allocate(100)


def test_reserve_is_left_free_where_held_blocks_are_enough_for_that() -> None:
    driver = Driver(1000)
    pool = MemoryPool(driver, linear_sizes(10, 1 << 10), reserve=0.5)
    pool.free(pool.allocate(300))
    second = pool.allocate(200)  # 500 are free then: no less than half
    assert pool.statistics().held == 300
    third = pool.allocate(100)
    assert pool.statistics().held == 0
    assert driver.used == 300
    fourth = pool.allocate(400)  # nothing to give back: tried anyway
    del second, third, fourth


STRATEGIES: list[Callable[[int], int] | None] = [
    None,
    linear_sizes(PAGE, 1 << 10),
    power_of_two_sizes(PAGE, 9),
]
ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("take"), st.integers(1, 3000), st.sampled_from("ab")),
        st.tuples(st.just("give"), st.integers(0, 50), st.just("")),
        st.tuples(st.just("release"), st.just(0), st.just("")),
    ),
    max_size=60,
)


@given(actions=ACTIONS, sizes=st.sampled_from(STRATEGIES), reserve=st.sampled_from([0.0, 0.3]))
def test_random_programs_never_share_bytes_and_lose_none(
    actions: list[tuple[str, int, str]], sizes: Callable[[int], int] | None, reserve: float
) -> None:
    driver = Driver(1 << 14)
    pool: MemoryPool[Piece] = MemoryPool(driver, sizes, reserve)
    live: list[Block[Piece]] = []
    peak = 0
    for what, number, queue in actions:
        if what == "take":
            try:
                block = pool.allocate(number, queue)
            except MemoryError:
                # Only where it does not fit beside what lives, in pieces as they lie.
                assert pool.statistics().held == 0
                continue
            assert block.nbytes >= number
            assert block.queue == queue
            assert block.raw.nbytes == block.nbytes
            live.append(block)
            del block
        elif what == "give" and live:
            pool.free(live.pop(number % len(live)))
        elif what == "release":
            pool.release()
        spans = sorted((b.raw.start, b.raw.start + b.raw.nbytes) for b in live)
        assert all(end <= start for (_, end), (start, _) in pairwise(spans))
        found = pool.statistics()
        assert found.used == sum(b.nbytes for b in live)
        assert found.reserved == driver.used
        peak = max(peak, found.used)
        assert found.peak_used == peak
        assert found.peak_reserved >= found.reserved
        assert found.allocations <= driver.calls
    while live:
        pool.free(live.pop())
    assert pool.statistics().used == 0
    pool.release()
    assert driver.used == 0


def test_threads_never_get_a_block_that_another_has() -> None:
    pool = MemoryPool(Driver(1 << 22), linear_sizes(PAGE, 1 << 10))
    owners: dict[int, int] = {}
    doubled: list[int] = []

    def work(number: int) -> None:
        for i in range(300):
            block = pool.allocate(64 + 64 * (i % 3))
            start = block.raw.start
            if owners.setdefault(start, number) != number:
                doubled.append(start)
            owners.pop(start, None)
            pool.free(block)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert doubled == []
    assert pool.statistics().used == 0
    assert pool.statistics().allocations <= 12
