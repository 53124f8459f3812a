"""Engines that are shut down after the test, whatever happened in it."""

import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import gluonish_engine

THREADED = ("ThreadedEngine", "ThreadedEnginePerDevice")
KINDS = ("NaiveEngine", *THREADED)


@pytest.fixture
def make_engine() -> Iterator[Callable[..., gluonish_engine.Engine]]:
    engines = []

    def make(kind: str = "ThreadedEnginePerDevice", **options: Any) -> gluonish_engine.Engine:
        engines.append(gluonish_engine.create_engine(kind, **options))
        return engines[-1]

    yield make
    for engine in engines:
        engine.shutdown(timeout_s=20)


@pytest.fixture(params=KINDS)
def engine(request: pytest.FixtureRequest, make_engine: Any) -> gluonish_engine.Engine:
    return make_engine(request.param)


@pytest.fixture(params=THREADED)
def threaded(request: pytest.FixtureRequest, make_engine: Any) -> gluonish_engine.Engine:
    return make_engine(request.param)


@pytest.fixture
def eager_switching() -> Iterator[None]:
    """Let Python change threads a thousand times as often, so that races have their chance."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(5e-6)
    yield
    sys.setswitchinterval(before)
