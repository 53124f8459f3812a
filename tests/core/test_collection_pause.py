"""Pauses of the garbage collector end with the work, whatever happens in it."""

import gc
import os
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from gluonish.core.collection_pause import PAUSED, CollectionPause

OWN = 777


@pytest.fixture(autouse=True)
def _own_threshold() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(OWN)
    yield
    gc.set_threshold(*before)


def threshold() -> int:
    return gc.get_threshold()[0]


def test_the_youngest_generation_may_grow_inside() -> None:
    with CollectionPause():
        assert threshold() == PAUSED
    assert threshold() == OWN


def test_the_collector_is_not_switched_off() -> None:
    with CollectionPause():
        assert gc.isenabled()
        assert gc.get_threshold()[1:] != (0, 0)


def test_the_outermost_pause_ends_it() -> None:
    with CollectionPause():
        with CollectionPause():
            pass
        assert threshold() == PAUSED
    assert threshold() == OWN


def test_an_error_ends_it() -> None:
    with pytest.raises(KeyError), CollectionPause():
        raise KeyError
    assert threshold() == OWN


def test_a_pause_whose_end_was_interrupted_ends_with_its_scope() -> None:
    scope = CollectionPause()
    scope.__enter__()  # an interrupt comes before `__exit__`
    assert threshold() == PAUSED
    del scope
    assert threshold() == OWN


def test_a_threshold_set_inside_stays() -> None:
    with CollectionPause():
        gc.set_threshold(555)
    assert threshold() == 555


@pytest.mark.parametrize("own", [0, PAUSED + 1])
def test_a_program_that_collects_less_is_left_alone(own: int) -> None:
    gc.set_threshold(own)
    with CollectionPause():
        assert threshold() == own
    assert threshold() == own


def test_pauses_of_threads_overlap() -> None:
    inside, leave = threading.Event(), threading.Event()

    def work() -> None:
        with CollectionPause():
            inside.set()
            leave.wait(10)

    thread = threading.Thread(target=work)
    with CollectionPause():
        thread.start()
        assert inside.wait(10)
    assert threshold() == PAUSED
    leave.set()
    thread.join(10)
    assert threshold() == OWN


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_collects_as_before() -> None:
    with CollectionPause():
        child = os.fork()
        if not child:
            os._exit(0 if threshold() == OWN else 1)
        _, status = os.waitpid(child, 0)
    assert status == 0


@pytest.mark.parametrize("breaks", [False, True])
def test_import_collects_nothing_and_leaves_the_thresholds(breaks: bool) -> None:
    program = f"""
import gc, sys
before, runs = gc.get_threshold(), []
gc.callbacks.append(lambda phase, info: runs.append(phase))
if {breaks}:
    sys.modules["gluonish.gluon.block.tracing"] = None
    sys.modules["gluonish.symbol"] = None
import numpy
runs.clear()
try:
    import gluonish
    broken = False
except ImportError:
    broken = True
print(broken, gc.get_threshold() == before, len(runs) // 2)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    broken, restored, collections = done.stdout.split()
    assert broken == str(breaks)
    assert restored == "True"
    assert int(collections) < 20, "112 without the pause"
