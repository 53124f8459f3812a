"""Every run of tests/golden/estimator_runs.py gives what MXNet 1.9.1 gives."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.gluon.contrib import estimator
from tests.golden.estimator_runs import run

GOLDEN = Path(__file__).parents[3] / "golden" / "estimator.json"
WANTED: dict[str, Any] = json.loads(GOLDEN.read_text("utf-8"))


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    result = run(mx, estimator, tmp_path_factory.mktemp("estimator"))
    plain: dict[str, Any] = json.loads(json.dumps(result))
    return plain


def same(found: Any, wanted: Any, where: str) -> None:
    """Compare lists and dicts; MXNet's log_softmax is off by 3e-6, which momentum enlarges."""
    if isinstance(wanted, dict):
        assert sorted(found) == sorted(wanted), where
        for name, value in wanted.items():
            same(found[name], value, f"{where}.{name}")
    elif isinstance(wanted, list):
        assert len(found) == len(wanted), f"{where}: {found} and {wanted}"
        for i, (a, b) in enumerate(zip(found, wanted, strict=True)):
            same(a, b, f"{where}[{i}]")
    elif isinstance(wanted, float):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5, err_msg=where)
    else:
        assert found == wanted, where


@pytest.mark.parametrize("name", WANTED)
def test_run_gives_what_mxnet_gives(name: str, found: dict[str, Any]) -> None:
    same(found[name], WANTED[name], name)
