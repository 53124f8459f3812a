import threading

import pytest

from gluonish.core import random_state
from gluonish.core.context import cpu
from gluonish.core.errors import GluonishError
from gluonish.core.random_state import next_key, seed


def test_keys_never_repeat_and_restart_with_the_seed() -> None:
    seed(5)
    first = [next_key(cpu(0)) for _ in range(3)]
    assert len(set(first)) == 3
    seed(5)
    assert [next_key(cpu(0)) for _ in range(3)] == first


def test_reserved_counters_are_skipped() -> None:
    seed(5)
    start, counter = next_key(cpu(0), count=10)
    assert next_key(cpu(0)) == (start, counter + 10)


def test_devices_have_keys_of_their_own() -> None:
    seed(5)
    assert next_key(cpu(0))[0] != next_key(cpu(1))[0]


def test_device_seeded_alone_does_not_touch_others() -> None:
    seed(5)
    expected = next_key(cpu(0))[0], next_key(cpu(0))
    seed(5)
    next_key(cpu(0))
    seed(9, cpu(1))
    assert next_key(cpu(0)) == expected[1]
    assert next_key(cpu(1)) == (9, 0)


def test_any_int_is_a_seed() -> None:
    for value in (-1, 2**70):
        seed(value)
        assert 0 <= next_key(cpu(0))[0] < 2**64


def test_threads_get_different_keys() -> None:
    seed(5)
    keys: list[tuple[int, int]] = []
    threads = [
        threading.Thread(target=lambda: keys.extend(next_key(cpu(0)) for _ in range(500)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert len(set(keys)) == 2000


def test_a_journal_repeats_keys() -> None:
    journal, inner = random_state.KeyJournal(), random_state.KeyJournal()
    inner_again = random_state.KeyJournal()
    with journal.recording():
        first: list[object] = [random_state.next_key(cpu()), random_state.next_key(cpu(1), 3)]
        with inner.recording():
            first.append(random_state.next_key(cpu()))
        with random_state.NewKeys():
            other = random_state.next_key(cpu())
    assert other not in first
    for _ in range(2):
        with journal.replaying():
            again = [random_state.next_key(cpu()), random_state.next_key(cpu(1), 3)]
            with inner_again.recording():
                again.append(random_state.next_key(cpu()))
            with pytest.raises(GluonishError, match="expected no more keys"):
                random_state.next_key(cpu())
        assert again == first
    with inner.replaying():
        assert random_state.next_key(cpu()) == first[2]
    with journal.replaying(), pytest.raises(GluonishError, match=r"expected 1 keys of cpu\(0\)"):
        random_state.next_key(cpu(), 2)
    assert random_state.next_key(cpu()) not in [*first, other]
