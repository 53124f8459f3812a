"""Parameters do what MXNet's do."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

import gluonish as mx
from gluonish.core.errors import GluonishError

FOLDER = Path(__file__).parents[2] / "golden"
EXPECTED: dict[str, Any] = json.loads((FOLDER / "parameter.json").read_text())


def load_cases() -> Any:
    spec = importlib.util.spec_from_file_location("parameter_cases", FOLDER / "parameter_cases.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CASES = load_cases()


def test_every_case_was_recorded() -> None:
    assert set(CASES.CASES) == set(EXPECTED)


@pytest.mark.parametrize("name", sorted(CASES.CASES))
def test_parameter_does_what_mxnets_does(name: str) -> None:
    assert CASES.outcome(CASES.CASES[name], mx, GluonishError) == EXPECTED[name]
