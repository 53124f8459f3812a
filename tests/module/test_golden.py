"""Whole programs of the Module API against what MXNet 1.9.1 gives from the same first weights."""

import gzip
import json
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.golden.module_programs import LOADS, PROGRAMS, first_weights, gone_on, mlp

GOLDEN = Path(__file__).parents[1] / "golden"
TOLERANCE = 1e-4
# Where MXNet goes wrong, or reports what nobody asked for: their own tests are below.
APART = ("fixed", "checkpoints", "monitored")


@pytest.fixture(scope="module")
def wanted() -> dict[str, Any]:
    return json.loads(gzip.decompress((GOLDEN / "module.json.gz").read_bytes()))


def run(name: str, mxnet: SimpleNamespace, folder: Path) -> Any:
    with mxnet.name.NameManager(), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return json.loads(json.dumps(PROGRAMS[name](mxnet, folder)))


def differences(found: Any, wanted: Any, path: str = "") -> list[str]:
    """Where two values of JSON differ by more than rounding."""
    if isinstance(wanted, dict) and isinstance(found, dict) and found.keys() == wanted.keys():
        pairs = [(found[key], wanted[key], f"{path}/{key}") for key in wanted]
    elif isinstance(wanted, list) and isinstance(found, list) and len(found) == len(wanted):
        rows = enumerate(zip(found, wanted, strict=True))
        pairs = [(one, other, f"{path}/{i}") for i, (one, other) in rows]
    elif isinstance(wanted, float) and isinstance(found, int | float):
        return [] if abs(found - wanted) <= TOLERANCE else [f"{path}: {found} != {wanted}"]
    else:
        return [] if found == wanted else [f"{path}: {found!r:.80} != {wanted!r:.80}"]
    return [line for pair in pairs for line in differences(*pair)]


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in APART])
def test_a_program_gives_what_mxnet_gives(
    name: str, mxnet: SimpleNamespace, wanted: dict[str, Any], tmp_path: Path
) -> None:
    assert differences(run(name, mxnet, tmp_path), wanted[name]) == []


def test_a_difference_would_be_found(wanted: dict[str, Any]) -> None:
    changed = json.loads(json.dumps(wanted["fit sgd on one"]))
    changed["weights"]["fc2_bias"][1] += 2e-4
    found = differences(changed, wanted["fit sgd on one"])
    assert [line.partition(":")[0] for line in found] == ["/weights/fc2_bias/1"]


@pytest.mark.parametrize("optimizer", ["sgd", "adam", "rmsprop", "nag"])
def test_the_data_show_that_several_devices_equal_one(
    optimizer: str, wanted: dict[str, Any]
) -> None:
    one = wanted[f"fit {optimizer} on one"]
    for devices in ("two", "uneven"):
        assert differences(wanted[f"fit {optimizer} on {devices}"], one) == []


def test_a_bias_is_trained_where_its_weight_is_fixed(
    mxnet: SimpleNamespace, wanted: dict[str, Any], tmp_path: Path
) -> None:
    """MXNet computes no gradient of a layer's bias then, though it is asked for."""
    found = run("fixed", mxnet, tmp_path)
    first = first_weights(mxnet, mlp(mxnet.sym), data=(8, 5))[0]["fc1_bias"].asnumpy().tolist()
    for number, theirs in enumerate(wanted["fixed"][:2]):
        assert differences([round(x, 6) for x in first], theirs.pop("fc1_bias")) == []
        ours = found[number].pop("fc1_bias")
        assert min(abs(x - y) for x, y in zip(ours, first, strict=True)) > 1e-4
    assert differences(found, wanted["fixed"]) == []


def test_training_goes_on_from_files_on_other_devices(
    mxnet: SimpleNamespace, wanted: dict[str, Any], tmp_path: Path
) -> None:
    """MXNet forgets the momentum of two devices' store where one device reads its file."""
    found, theirs = run("checkpoints", mxnet, tmp_path), wanted["checkpoints"]
    saved, _, on_two, reloaded = theirs["weights"]
    assert differences(found["weights"], [saved, on_two, on_two, reloaded]) == []
    assert differences(theirs["weights"][1], on_two) != []
    assert found["files"] == theirs["files"]
    assert found["arrays"] == theirs["arrays"]


@pytest.mark.parametrize("devices", ["one", "two"])
def test_training_goes_on_from_files_of_mxnet(
    devices: str, mxnet: SimpleNamespace, wanted: dict[str, Any]
) -> None:
    settings = {"learning_rate": 0.1, "momentum": 0.9}
    weights = gone_on(mxnet, str(GOLDEN / "module" / "mlp"), 7, devices, settings)
    found = {name: x.asnumpy().astype(float).tolist() for name, x in weights.items()}
    assert differences(found, wanted["checkpoints"]["weights"][2]) == []


def test_a_checkpoint_is_the_file_that_mxnet_writes(mxnet: SimpleNamespace, tmp_path: Path) -> None:
    run("checkpoints", mxnet, tmp_path)
    ours, theirs = (
        mxnet.nd.load(str(folder / "mlp-0007.params")) for folder in (tmp_path, GOLDEN / "module")
    )
    assert list(ours) == list(theirs)
    for name, x in ours.items():
        assert abs(x.asnumpy() - theirs[name].asnumpy()).max() < 1e-5
    sizes = [(path / "mlp-0007.params").stat().st_size for path in (tmp_path, GOLDEN / "module")]
    assert sizes[0] == sizes[1]


def test_a_monitor_reports_what_mxnet_reports(
    mxnet: SimpleNamespace, wanted: dict[str, Any], tmp_path: Path
) -> None:
    """Among them the gradient of the data, which nobody asked for: MXNet leaves it unwritten."""
    ours, theirs = run("monitored", mxnet, tmp_path), wanted["monitored"]
    assert [row[:2] for row in ours] == [row[:2] for row in theirs]
    unwritten = "fc1_backward_output0"
    kept = [[row for row in rows if row[1] != unwritten] for rows in (ours, theirs)]
    assert len(kept[0]) == len(ours) - 2
    assert differences(*kept) == []


def test_loads_of_the_golden_data_are_what_they_say(wanted: dict[str, Any]) -> None:
    for (extent, loads), sizes in zip(LOADS, wanted["sliced"], strict=True):
        assert (sum(sizes), len(sizes)) == (extent, len(loads))
