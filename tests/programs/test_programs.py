"""Programs as users of MXNet 1.9 write them give what they give under MXNet 1.9.1.

golden.npz holds MXNet's results; tests/golden/make_programs.py wrote it. Each program runs here
imperatively, hybridized, and on the other engines.
"""

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish
from gluonish.engine import use_engine
from gluonish.optimizer import Optimizer
from tests.programs.flat import flatten
from tests.programs.names import program_names

HERE = Path(__file__).resolve().parent
PROGRAMS = program_names()
# MXNet says it too, where a Sequential inside a Block that is not hybrid is hybridized.
pytestmark = pytest.mark.filterwarnings("ignore:All children of this Sequential layer")


OPTIMIZERS = dict(Optimizer.opt_registry)


@pytest.fixture(autouse=True)
def _own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have what programs register once replace ours in programs only."""
    monkeypatch.setattr(Optimizer, "opt_registry", OPTIMIZERS)


def expected_of(program: str) -> dict[str, Any]:
    with np.load(HERE / "golden.npz") as golden:
        keys = [key for key in golden.files if key.startswith(f"{program}/")]
        return {key.split("/", 1)[1]: golden[key] for key in keys}


def check(program: str, *, hybridize: bool) -> None:
    module = importlib.import_module(f"tests.programs.{program}")
    results = flatten(module.run(gluonish, hybridize=hybridize))
    expected = expected_of(program)
    assert sorted(results) == sorted(expected)
    for key, value in expected.items():
        if value.dtype.kind in "fiu":
            message = f"{program}: {key}"
            assert results[key].shape == value.shape, message
            np.testing.assert_allclose(results[key], value, 1e-4, 1e-5, err_msg=message)
        else:
            assert results[key].tolist() == value.tolist(), key


@pytest.mark.parametrize("program", PROGRAMS)
def test_imperative_program_gives_what_mxnet_gives(program: str) -> None:
    check(program, hybridize=False)


@pytest.mark.parametrize("program", PROGRAMS)
def test_hybridized_program_gives_what_mxnet_gives(program: str) -> None:
    check(program, hybridize=True)


@pytest.mark.parametrize("kind", ["NaiveEngine", "ThreadedEngine"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_program_gives_the_same_on_every_engine(program: str, kind: str) -> None:
    with use_engine(kind):
        check(program, hybridize=kind == "NaiveEngine")


def test_golden_numbers_are_those_of_these_programs() -> None:
    with np.load(HERE / "golden.npz") as golden:
        assert sorted({key.split("/", 1)[0] for key in golden.files}) == PROGRAMS
