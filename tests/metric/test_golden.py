"""Every metric against what MXNet 1.9.1 gave; tests/golden/metric/make.py wrote it."""

import json
from pathlib import Path
from typing import Any

import pytest

import gluonish.ndarray as nd
from gluonish import metric

CASES = json.loads(
    (Path(__file__).parents[1] / "golden" / "metric" / "metric.json").read_text("utf-8")
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['metric']}-{case['arguments']}")
def test_metric_equals_mxnet(case: dict[str, Any]) -> None:
    measured = getattr(metric, case["metric"])(**case["arguments"])
    assert measured.get_config() == case["config"]
    assert str(measured) == case["text"].replace("nan", "nan")
    for i, (labels, preds) in enumerate(case["batches"]):
        if i and i == len(case["batches"]) - 1:
            measured.reset_local()
        measured.update([nd.array(x) for x in labels], [nd.array(x) for x in preds])
    assert measured.get() == (case["get"][0], pytest.approx(case["get"][1], rel=1e-6, abs=1e-7))
    if case["arguments"] == {"average": "micro"} and case["metric"] == "PearsonCorrelation":
        # MXNet gives 0 here, having kept no global sums.
        assert measured.get_global() == measured.get()
    else:
        name, value = case["get_global"]
        assert measured.get_global() == (name, pytest.approx(value, rel=1e-6, abs=1e-7))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['metric']}-{case['arguments']}")
def test_numpy_arrays_and_configurations_serve_too(case: dict[str, Any]) -> None:
    config = json.dumps(case["config"])
    if case["metric"] == "TopKAccuracy":
        config = json.dumps({**case["config"], "name": case["arguments"].get("name", "k")})
    measured = metric.create(config)
    other = getattr(metric, case["metric"])(**{**case["arguments"], "name": measured.name[:-2]})
    if case["arguments"].get("average") == "micro" or "axis" in case["arguments"]:
        return
    for labels, preds in case["batches"]:
        measured.update(
            [nd.array(x).asnumpy() for x in labels], [nd.array(x).asnumpy() for x in preds]
        )
        other.update([nd.array(x) for x in labels], [nd.array(x) for x in preds])
    assert measured.get()[1] == pytest.approx(other.get()[1])
