"""Every call of tests/golden/text_calls.py gives what MXNet 1.9.1 gives."""

import json
from pathlib import Path
from typing import Any

import pytest

import gluonish as mx
from gluonish.contrib import text
from tests.golden.text_calls import run

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "contrib_text.json").read_text())


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    results: dict[str, Any] = json.loads(json.dumps(run(mx, text, tmp_path_factory.mktemp("a"))))
    return results


@pytest.mark.parametrize("name", GOLDEN)
def test_result_is_that_of_mxnet(found: dict[str, Any], name: str) -> None:
    assert found[name] == GOLDEN[name]
