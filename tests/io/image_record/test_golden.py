"""Batches of image records as MXNet 1.9.1 makes them, where nothing is random."""

import json
from pathlib import Path

import numpy as np
import pytest

from gluonish.io import image_record

CASES = json.loads(
    (Path(__file__).resolve().parents[2] / "golden" / "image_record.json").read_text()
)


def named(number):
    case = CASES[number]
    parameters = "-".join(f"{k}={v}" for k, v in case["parameters"].items() if k != "batch_size")
    return f"{number}-{case['iterator']}-{case['record']}-{parameters}".replace(" ", "")


def tolerance(case):
    """How far a pixel may be from MXNet's, and why; relative to a deviation and scale of 1."""
    parameters = case["parameters"]
    if case["record"] == "jpeg":
        return 3  # two versions of libjpeg
    if parameters["data_shape"][0] == 1:
        return 1  # gray of PNG: libpng in OpenCV 3, OpenCV itself in OpenCV 5
    if parameters.get("inter_method") in (2, 4, 9) or parameters.keys() & {"fill_value", "rotate"}:
        return 2  # two versions of OpenCV round products of weights differently
    return 1e-4


def opened(records, case):
    parameters = {
        key: str(records / value) if key.startswith("path") else value
        for key, value in case["parameters"].items()
    }
    iterator = getattr(image_record, case["iterator"])
    return iterator(path_imgrec=records / f"{case['record']}.rec", verbose=False, **parameters)


@pytest.mark.parametrize("number", range(len(CASES)), ids=named)
def test_batches_are_those_of_mxnet(records, stored, number):
    case = CASES[number]
    iterator = opened(records, case)
    for i, labels in enumerate(case["labels"]):
        batches = list(iterator)
        if i < len(case["pads"]):  # those of later passes are reliable in MXNet's first version
            assert [batch.pad for batch in batches] == case["pads"][i]
        for batch, label in zip(batches, labels, strict=True):
            np.testing.assert_allclose(batch.label[0].asnumpy(), label, atol=1e-6)
        if f"data/{number}" in stored:
            expected = stored[f"data/{number}"].astype(np.float32)
            got = batches[0].data[0].asnumpy()
            assert got.dtype.name == case["dtype"]
            np.testing.assert_allclose(got, expected, atol=tolerance(case), rtol=1e-6)
        iterator.reset()


@pytest.mark.parametrize(
    "number", [i for i, case in enumerate(CASES) if "index" in case], ids=named
)
def test_index_holds_the_numbers_of_the_records(records, number):
    iterator = opened(records, CASES[number])
    for expected in CASES[number]["index"]:
        assert [batch.index.tolist() for batch in iterator] == expected
        iterator.reset()
