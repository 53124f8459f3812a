"""``--json``: one value on standard output, with the fields that docs/commands.md promises."""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.config import MXNET_HOME
from gluonish.gluon import nn
from gluonish.model_zoo.model_store import WEIGHT_HASHES
from gluonish.model_zoo.vision import resnet
from gluonish.recordio import MXIndexedRecordIO, pack_img
from gluonish.tools import cli, docs
from gluonish.tools.json_output import plain, stdout_to_stderr
from tests.model_zoo.foreign.checkpoints import write_safetensors
from tests.tools.text_folders import encoder_folder, language_folder

ROOT = Path(__file__).resolve().parents[2]
NUMBERS = np.random.default_rng(4)


def documented() -> dict[str, str]:
    """The cell of fields of each command in the section on JSON."""
    page = (ROOT / "docs" / "commands.md").read_text("utf-8")
    section = page.partition("\n## JSON\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([^`]+)` \| (.+) \|$", section, re.MULTILINE)
    return dict(rows)


def fields(cell: str) -> set[str]:
    """The names at the top of a cell, without those in parentheses and behind a semicolon."""
    without = re.sub(r"\([^()]*(\([^()]*\)[^()]*)*\)", "", cell)
    return set(re.findall(r"`(\w+)`", without.partition("; with")[0]))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    with MXNET_HOME.override(str(tmp_path / "home")):
        (tmp_path / "home" / "models").mkdir(parents=True)
        yield tmp_path / "home"


@pytest.fixture
def network(folder: Path) -> tuple[str, str]:
    net = nn.HybridSequential()
    net.add(nn.Conv2D(4, 3, activation="relu"), nn.MaxPool2D(2), nn.Dense(5))
    net.initialize(mx.init.Xavier(magnitude=2))
    net.hybridize()
    images = NUMBERS.uniform(-1, 1, (6, 3, 8, 8)).astype(np.float32)
    net(mx.nd.array(images))
    np.save(folder / "data.npy", images)
    symbol, params = net.export(str(folder / "net"))
    return symbol, params


@pytest.fixture
def records(folder: Path) -> str:
    written = MXIndexedRecordIO(str(folder / "x.idx"), str(folder / "x.rec"), "w")
    for key in range(3):
        image = NUMBERS.integers(0, 255, (8, 8, 3)).astype(np.uint8)
        written.write_idx(key, pack_img((0, float(key % 2), key, 0), image, 9, ".png"))
    written.close()
    return str(folder / "x.rec")


Run = Callable[..., Any]


@pytest.fixture
def report(capfd: pytest.CaptureFixture[str]) -> Run:
    """Runs a command, and returns what it prints as JSON."""

    def run(*words: str, status: int = 0) -> Any:
        capfd.readouterr()
        assert cli.main(list(words)) == status
        return json.loads(capfd.readouterr().out)

    return run


def expect(command: str, found: Any) -> None:
    """Compare the fields of an object, or of the objects of a list, with the documented ones."""
    for entry in found if isinstance(found, list) else [found]:
        assert set(entry) == fields(documented()[command]), command


def test_every_command_with_the_option_is_documented() -> None:
    found = set()

    def walk(parser: argparse.ArgumentParser, path: str) -> None:
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                for name, child in action.choices.items():
                    walk(child, f"{path} {name}".strip())
            elif "--json" in action.option_strings:
                found.add(path)

    walk(cli.make_parser(), "")
    assert found == {command.partition(" --")[0] for command in documented()}
    silent = {"chat", "completion", "launch", "run"}  # which report nothing
    top = {command.split()[0] for command in found}
    (action,) = (x for x in cli.make_parser()._actions if isinstance(x, argparse._SubParsersAction))
    assert top | silent == set(action.choices)


def test_commands_that_inspect(report: Run, folder: Path) -> None:
    (folder / "old.py").write_text("import mxnet as mx\nmx.nd.nothing_of_this_name()\n")
    found = report("check", "old.py", "--json", status=1)
    expect("check", found)
    assert found["missing"] == 1
    assert set(found["findings"][0]) == {"file", "line", "kind", "text"}
    found = report("where", "softmax", "Dense", "--json")["found"]
    assert {key for entry in found for key in entry} < set(
        re.findall(r"`(\w+)`", documented()["where"])
    )
    assert found[1]["defined"].startswith("gluonish/gluon/nn/")
    expect("env", report("env", "--json"))
    expect("env --check", report("env", "--check", "--json", "MXNET_HOME"))


def test_doctor(report: Run) -> None:
    found = report("doctor", "--json")
    expect("doctor", found)
    assert {entry["state"] for entry in found} <= {"found", "missing", "broken"}


def test_files_of_arrays_and_networks(report: Run, network: tuple[str, str]) -> None:
    _, params = network
    found = report("convert", params, "net.safetensors", "--json")
    expect("convert", found)
    assert found["target"]["arrays"] == 4
    expect(
        "quantize convert",
        report(
            "quantize",
            "convert",
            *network,
            "--data",
            "data.npy",
            "--mode",
            "naive",
            "--output",
            "small",
            "--json",
        ),
    )
    found = report(
        *("quantize", "report", *network, "--data", "data.npy", "--json"),
        *("--quantized", "small-symbol.json", "small-0000.params"),
    )
    expect("quantize report", found)
    assert "signal_to_noise_db" in found["layers"][0]


def test_onnx(report: Run, network: tuple[str, str]) -> None:
    pytest.importorskip("onnx")
    expect(
        "onnx export",
        report("onnx", "export", *network, "-s", "2,3,8,8", "-o", "net.onnx", "--json"),
    )
    found = report("onnx", "check", "net.onnx", "--json")
    expect("onnx check", found)
    assert found["inputs"] == [{"name": "data", "dtype": "float32", "shape": [2, 3, 8, 8]}]
    compared = report("onnx", "check", "net.onnx", "--against", *network, "--json")["compared"]
    assert max(compared.values()) < 1e-4
    expect("onnx import", report("onnx", "import", "net.onnx", "-o", "back", "--json"))


def test_record_files(report: Run, records: str, folder: Path) -> None:
    found = report("rec", records, "--json")
    expect("rec", found)
    assert found["records"] == 3
    assert len(report("rec", records, "--list", "--json")["listed"]) == 3
    expect("rec --extract", report("rec", records, "--extract", "1", "one.png", "--json"))
    expect("rec --rebuild-index", report("rec", records, "--rebuild-index", "--json"))
    (folder / "photos").mkdir()
    shutil.copy("one.png", folder / "photos" / "one.png")
    expect("im2rec --list", report("im2rec", "p", "photos", "--list", "--json"))
    found = report("im2rec", "p", "photos", "--json")
    expect("im2rec", found)
    assert found["files"][0]["records"] == 1


def test_measurements(report: Run) -> None:
    small = ("--network", "mobilenet0.25", "--image-shape", "3,64,64", "--num-batches", "1")
    found = report("bandwidth", *small, "--json")
    expect("bandwidth", found)
    assert set(found["batches"][0]) == {"seconds", "gigabytes_per_s", "error"}
    few = ("--networks", "squeezenet1.1", "--batch-sizes", "1")
    found = report("score", *few, "--seconds", "0.01", "--json")
    expect("score", found)
    assert found["cells"][0]["images_per_s"] > 0
    expect("warm", report("warm", *few, "--mode", "inference", "--json"))


def test_sweep(report: Run) -> None:
    options = ("--output", "out", "--param", "lr=0.1", "--trials", "1", "--json")
    found = report("sweep", *options, "--", "--dataset", "digits", "--num-epochs", "1")
    expect("sweep", found)
    assert found["best"] == 0
    assert found["trials"][0]["setting"] == {"lr": 0.1}


def test_training(report: Run, capfd: pytest.CaptureFixture[str]) -> None:
    digits = ("--dataset", "digits", "--network", "mlp", "--num-epochs", "1", "--json")
    found = report("train", *digits, "--model-prefix", "out")
    expect("train", found)
    assert found["epochs"][0]["training"]["accuracy"] > 0.1
    assert Path(found["parameters"]).is_file()
    assert Path(found["curves"]).is_file()
    expect("train --write-recipe", report("train", *digits, "--write-recipe", "all.yaml"))
    expect("train --test-io 1", report("train", *digits, "--test-io", "1"))
    quick = ("--num-examples", "256", "--batch-size", "64", "--image-shape", "3,8,8")
    expect(
        "train --benchmark 1",
        report(
            "train", "--network", "mlp", "--benchmark", "1", "--num-epochs", "1", *quick, "--json"
        ),
    )


def test_demo(report: Run) -> None:
    found = report("demo", "--epochs", "1", "--json", status=1)
    expect("demo", found)
    assert all(Path(file).is_file() for file in found["files"])
    assert len(found["loss"]) == len(found["test_accuracy"]) == 1


def test_profile_sends_the_output_of_the_script_to_standard_error(folder: Path) -> None:
    program = (
        "import gluonish as mx\nprint('from the script')\n(mx.nd.ones((2, 2)) + 1).asnumpy()\n"
    )
    (folder / "p.py").write_text(program)
    command = [sys.executable, "-m", "gluonish", "profile", "--json", "p.py"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    found = json.loads(done.stdout)
    expect("profile", found)
    assert found["status"] == 0
    assert "from the script" in done.stderr
    assert all(Path(file).is_file() for file in found["files"])


def test_text(report: Run, tmp_path: Path) -> None:
    model = str(language_folder(tmp_path / "language"))
    found = report("generate", "a b", "--model", model, "--max-new-tokens", "3", "--json")
    expect("generate", found)
    assert found["text_tokens"] == 3
    encoder = str(encoder_folder(tmp_path / "encoder"))
    found = report("embed", "a", "b", "--model", encoder, "-o", "v.npy", "--quiet", "--json")
    expect("embed", found)
    assert found["texts"] == len(np.load("v.npy")) == 2


def test_zoo(
    report: Run,
    network: tuple[str, str],
    folder: Path,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(resnet.resnet_spec, 18, ("basic_block", [1], [4, 4]))
    found = report("zoo", "info", network[1], "--arrays", "--json")
    assert {"parameters", "arrays", "bytes", "format", "sha1", "listed"} == set(found)
    assert fields(documented()["zoo info"]) >= set(found) - {"listed"}
    data = Path(network[1]).read_bytes()
    sha1 = hashlib.sha1(data).hexdigest()
    name = "squeezenet1.1"
    monkeypatch.setitem(WEIGHT_HASHES, name, sha1)  # type: ignore[arg-type]  # a dict underneath
    (home / "models" / f"{name}-{sha1[:8]}.params").write_bytes(data)
    expect("zoo fetch", report("zoo", "fetch", name, "--json"))
    found = report("zoo", "verify", "--json")
    expect("zoo verify", found)
    assert found["files"][0]["state"] == "ok"
    shapes = {"conv1.weight": (4, 3, 7, 7), "fc.weight": (3, 4), "fc.bias": (3,)}
    shapes |= {f"layer1.0.conv{index}.weight": (4, 4, 3, 3) for index in (1, 2)}
    for norm in ("bn1", "layer1.0.bn1", "layer1.0.bn2"):
        for part in ("weight", "bias", "running_mean", "running_var"):
            shapes[f"{norm}.{part}"] = (4,)
    state = {key: np.ones(shape, np.float32) for key, shape in shapes.items()}
    path = str(write_safetensors(folder / "x.safetensors", state))
    expect("zoo import", report("zoo", "import", path, "--network", "resnet18_v1", "--json"))


def test_zoo_list(report: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gluonish.tools.zoo.cache.model_names", lambda _: ["alexnet"])
    found = report("zoo", "list", "--json")
    expect("zoo list", found)
    sizes = {network["name"]: network["parameters"] for network in found["networks"]}
    assert sizes["alexnet"] == 61100840  # of MXNet's documentation


def test_docs(report: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def build(output: Path, *, strict: bool, jobs: int) -> int:
        subprocess.run([sys.executable, "-c", "print('from Sphinx')"], check=True)
        return 0

    monkeypatch.setattr(docs, "_NEEDED", ())
    monkeypatch.setattr(docs, "build", build)
    expect("docs", report("docs", "--no-open", "--json"))


def test_an_error_leaves_standard_output_empty(capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["where", "no_such_operator", "--json"]) == 1
    captured = capfd.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("gluonish: where: expected")


def test_values_become_what_json_has() -> None:
    value = {"a": (np.float32(0.5), float("nan"), float("inf")), 1: Path("x") / "y"}
    assert plain(value) == {"a": [0.5, None, None], "1": str(Path("x") / "y")}


def test_standard_output_comes_back(capfd: pytest.CaptureFixture[str]) -> None:
    with stdout_to_stderr():
        os.system("echo inside")
    os.system("echo after")
    captured = capfd.readouterr()
    assert (captured.out, captured.err) == ("after\n", "inside\n")
