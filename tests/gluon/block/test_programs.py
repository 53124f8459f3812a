import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gluonish as mx

HERE = Path(__file__).parents[2] / "golden"
GOLDEN = json.loads((HERE / "blocks.json").read_text("utf-8"))


def _programs() -> tuple[Callable[[Any], Any], ...]:
    spec = importlib.util.spec_from_file_location("block_programs", HERE / "block_programs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.PROGRAMS  # type: ignore[no-any-return]  # a module from a file has no types


@pytest.mark.parametrize("program", _programs(), ids=lambda program: str(program.__name__))
def test_a_program_sees_what_it_sees_in_mxnet(program: Callable[[Any], Any]) -> None:
    assert json.loads(json.dumps(program(mx))) == GOLDEN[program.__name__]
