"""Every metric against what MXNet 1.9.1 gave; tests/golden/metric/make.py wrote it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish.ndarray as nd
from gluonish import metric

CASES = json.loads(
    (Path(__file__).parents[1] / "golden" / "metric" / "metric.json").read_text("utf-8")
)


def ids(case: dict[str, Any]) -> str:
    return f"{case['metric']}-{case['arguments']}"


def host(values: Any) -> np.ndarray:
    return np.array(values, np.float32)


@pytest.mark.parametrize("convert", [nd.array, host])
@pytest.mark.parametrize("case", CASES, ids=ids)
def test_metric_equals_mxnet(case: dict[str, Any], convert: Callable[..., Any]) -> None:
    measured = getattr(metric, case["metric"])(**case["arguments"])
    for i, (labels, preds) in enumerate(case["batches"]):
        if i and i == len(case["batches"]) - 1:
            measured.reset_local()
        measured.update([convert(x) for x in labels], [convert(x) for x in preds])
    name, value = case["get"]
    assert measured.get() == (name, pytest.approx(value, rel=1e-6, abs=1e-7))
    if case["arguments"] == {"average": "micro"} and case["metric"] == "PearsonCorrelation":
        # MXNet gives 0 here, having kept no global sums.
        assert measured.get_global() == measured.get()
    else:
        name, value = case["get_global"]
        assert measured.get_global() == (name, pytest.approx(value, rel=1e-6, abs=1e-7))


@pytest.mark.parametrize("case", CASES, ids=ids)
def test_configuration_is_mxnets(case: dict[str, Any]) -> None:
    config = getattr(metric, case["metric"])(**case["arguments"]).get_config()
    assert config == case["config"]
    assert type(metric.create(json.dumps(config))).__name__ == case["metric"]
