"""``gluonish zoo``: its output and exit status."""

import argparse
import hashlib
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gluonish.core.config import MXNET_GLUON_REPO, MXNET_HOME
from gluonish.core.errors import ArgumentError, DownloadError, NotSupportedError
from gluonish.model_zoo.model_store import WEIGHT_HASHES
from gluonish.model_zoo.registry import get_model, model_names
from gluonish.model_zoo.vision import resnet
from gluonish.ndarray import array, load
from gluonish.tools import zoo
from tests.golden.foreign_values import values
from tests.model_zoo.foreign.checkpoints import write_safetensors

NAME = "squeezenet1.1"
FOLDER = Path(__file__).parents[1] / "golden"
DATA = (FOLDER / "cnn.params").read_bytes()  # which MXNet wrote
SHA1 = hashlib.sha1(DATA).hexdigest()
MEMBER = f"{NAME}-{SHA1[:8]}.params"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(WEIGHT_HASHES, NAME, SHA1)  # type: ignore[arg-type]  # a dict underneath
    monkeypatch.setenv("COLUMNS", "300")
    with MXNET_HOME.override(str(tmp_path / "home")):
        (tmp_path / "home" / "models").mkdir(parents=True)
        yield tmp_path / "home" / "models"


def run(*words: str) -> int:
    parser = argparse.ArgumentParser()
    zoo.add_parser(parser.add_subparsers())
    arguments = parser.parse_args(["zoo", *words])
    status: int = arguments.run(arguments)
    return status


def row(output: str, name: str) -> list[str]:
    (line,) = [line for line in output.splitlines() if line.split()[:1] == [name]]
    return line.split()


def test_list_has_every_network_with_its_size(home: Path, capsys: Any) -> None:
    (home / MEMBER).write_bytes(DATA)
    assert run("list") == 0
    output = capsys.readouterr().out
    for name in model_names("mxnet"):
        assert row(output, name)[3] == WEIGHT_HASHES.get(name, "-")[:8]
    # Of the papers: AlexNet 61 million parameters, VGG-16 138 million.
    assert row(output, "alexnet") == ["alexnet", "61100840", "244.4", "44335d1f", "no"]
    assert row(output, "vgg16")[1] == "138357544"
    assert row(output, "inception_bn")[3:] == ["-", "-"]
    assert row(output, NAME)[4] == "yes"
    assert output.splitlines()[-1] == f"weights are in {home}"


def test_list_of_timm_has_vision_transformers_with_their_sizes(home: Path, capsys: Any) -> None:
    assert run("list", "--timm") == 0
    output = capsys.readouterr().out
    names = {line.split()[0] for line in output.splitlines()[1:-1]}
    assert set(model_names("timm")) < names
    # Of torchvision's documentation, and of DINOv2's without the mask token of 768.
    assert row(output, "vit_base_patch16_224")[1:] == ["86567656", "346.3", "-", "-"]
    assert row(output, "vit_base_patch14_dinov2")[1] == str(86580480 - 768)
    assert row(output, "deit_tiny_distilled_patch16_224")[1][:2] == "59"
    assert not {name for name in names if name.startswith(("clip", "siglip"))}
    assert "resnet50_v1" not in names


def test_fetch_puts_weights_into_the_folder(
    home: Path, tmp_path: Path, capsys: Any, zip_of: Any
) -> None:
    archive = tmp_path / "mirror" / "gluon" / "models" / f"{NAME}-{SHA1[:8]}.zip"
    archive.parent.mkdir(parents=True)
    archive.write_bytes(zip_of(**{MEMBER: DATA}))
    with MXNET_GLUON_REPO.override(str(tmp_path / "mirror")):
        assert run("fetch", NAME.upper()) == 0
        assert run("fetch", "--root", str(tmp_path / "other"), NAME) == 0
    assert capsys.readouterr().out.splitlines() == [
        str(home / MEMBER),
        str(tmp_path / "other" / MEMBER),
    ]
    assert (home / MEMBER).read_bytes() == DATA


def test_fetch_without_a_repository_tells_what_to_do(tmp_path: Path) -> None:
    with (
        MXNET_GLUON_REPO.override(str(tmp_path / "none")),
        pytest.raises(DownloadError, match=f"put {MEMBER} with the SHA-1 {SHA1} into"),
    ):
        run("fetch", NAME)


@pytest.mark.parametrize("command", ["fetch", "verify"])
def test_networks_without_weights_are_refused(command: str) -> None:
    with pytest.raises(ArgumentError, match=r"got 'alexnett' \(nearest: 'alexnet'"):
        run(command, "alexnett")
    with pytest.raises(ArgumentError, match="got 'inception_bn'"):
        run(command, "inception_bn")


def test_verify_tells_good_files_from_damaged_ones(home: Path, capsys: Any) -> None:
    (home / MEMBER).write_bytes(DATA)
    (home / "mine.params").write_bytes(b"x")
    own = f"resnet18_v1-{hashlib.sha1(b'x').hexdigest()[:8]}.params"
    (home / own).write_bytes(b"x")
    assert run("verify") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        f"unknown  {home / 'mine.params'}",
        f"ok       {home / own}",
        f"ok       {home / MEMBER}",
    ]
    (home / MEMBER).write_bytes(DATA[:-1])
    assert run("verify") == 1
    assert f"damaged  {home / MEMBER}" in capsys.readouterr().out


def test_verify_of_a_missing_network_fails(home: Path, capsys: Any) -> None:
    assert run("verify", NAME) == 1
    assert capsys.readouterr().out == f"missing  {home / MEMBER}\n"


def test_verify_of_an_empty_folder_says_so(tmp_path: Path, capsys: Any) -> None:
    assert run("verify", "--root", str(tmp_path / "none")) == 0
    assert capsys.readouterr().out == f"no weights in {tmp_path / 'none'}\n"


def test_info_of_a_network(home: Path, capsys: Any) -> None:
    with MXNET_GLUON_REPO.override("https://example.org/mirror/"):
        assert run("info", "ResNet18_v1") == 0
        lines = capsys.readouterr().out.splitlines()
    sha1 = WEIGHT_HASHES["resnet18_v1"]
    assert lines == [
        "parameters: 11699112",
        "arrays: 102",
        "bytes: 46796448",
        f"sha1: {sha1}",
        f"source: https://example.org/mirror/gluon/models/resnet18_v1-{sha1[:8]}.zip",
        f"cached: no; expected at {home / f'resnet18_v1-{sha1[:8]}.params'}",
        "other source: https://download.pytorch.org/models/resnet18-f37072fd.pth (torchvision), "
        "with other values",
        "cached from it: no",
    ]
    assert run("info", "inception_bn") == 0
    assert "published: no weights" in capsys.readouterr().out


def test_info_of_a_file_of_parameters(capsys: Any) -> None:
    assert run("info", "--arrays", str(FOLDER / "cnn.params")) == 0
    output = capsys.readouterr().out
    arrays = load(FOLDER / "cnn.params")
    assert isinstance(arrays, dict)
    assert f"parameters: {sum(math.prod(a.shape) for a in arrays.values())}\n" in output
    assert f"sha1: {SHA1}\n" in output
    assert "format: .params\n" in output
    for name, values_ in arrays.items():
        assert row(output, name)[1:] == ["x".join(map(str, values_.shape)), "float32"]


def test_info_of_a_checkpoint(capsys: Any) -> None:
    assert run("info", str(FOLDER / "foreign" / "training.pth")) == 0
    output = capsys.readouterr().out
    assert "arrays: 1\n" in output
    assert "format: PyTorch zip\n" in output
    assert "note: used the entry 'state_dict_ema'" in output


def test_info_of_nothing_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"a network or a file, got 'alexnex' \(nearest: 'alex"):
        run("info", "alexnex")


@pytest.fixture
def checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkpoint of a ResNet-18 with one unit and few channels."""
    monkeypatch.setitem(resnet.resnet_spec, 18, ("basic_block", [1], [4, 4]))
    shapes = {
        "conv1.weight": (4, 3, 7, 7),
        "fc.weight": (3, 4),
        "fc.bias": (3,),
        **{f"layer1.0.conv{index}.weight": (4, 4, 3, 3) for index in (1, 2)},
        **{
            f"{norm}.{part}": (4,)
            for norm in ("bn1", "layer1.0.bn1", "layer1.0.bn2")
            for part in ("weight", "bias", "running_mean", "running_var")
        },
    }
    state = {name: values(name, shape) for name, shape in shapes.items()}
    return write_safetensors(tmp_path / "x.safetensors", state)


def test_import_writes_what_load_parameters_takes(
    checkpoint: Path, tmp_path: Path, capsys: Any
) -> None:
    target = tmp_path / "y.params"
    words = ("--network", "ResNet18_v1", "--output", str(target))
    assert run("import", str(checkpoint), *words) == 0
    output = capsys.readouterr().out.splitlines()
    sha1 = hashlib.sha1(target.read_bytes()).hexdigest()
    assert output[0] == f"{target}: 939 parameters in 17 arrays, SHA-1 {sha1}"
    assert output[1] == f"from: {checkpoint} (safetensors, names of torchvision or timm)"
    assert output[2].startswith("input: RGB")
    assert "get_model('resnet18_v1', classes=3); net.load_parameters(" in output[-1]
    net = get_model("resnet18_v1", classes=3)
    net.load_parameters(target)
    assert np.isfinite(net(array(np.ones((1, 3, 32, 32)))).asnumpy()).all()


def test_import_names_the_file_by_its_hash(checkpoint: Path, home: Path, capsys: Any) -> None:
    words = ("--network", "resnet18_v1", "--output", str(home))
    assert run("import", str(checkpoint), *words) == 0
    (path,) = home.iterdir()
    assert path.name == f"resnet18_v1-{hashlib.sha1(path.read_bytes()).hexdigest()[:8]}.params"
    assert run("verify") == 0
    assert f"ok       {path}" in capsys.readouterr().out


def test_import_hands_on_its_options(checkpoint: Path, tmp_path: Path, capsys: Any) -> None:
    words = ("--network", "resnet18_v1", "--output", str(tmp_path), "--epsilon", "0.001")
    assert run("import", str(checkpoint), *words, "--ignore-extra", "--allow-inexact") == 0
    assert "note: folded the epsilon 0.001 (here 1e-05) into variances" in capsys.readouterr().out


def test_import_of_another_network_leaves_nothing(checkpoint: Path, tmp_path: Path) -> None:
    target = tmp_path / "y.params"
    with pytest.raises(NotSupportedError, match=r"such as 'features\.0'"):
        run("import", str(checkpoint), "--network", "alexnet", "--output", str(target))
    assert not target.exists()
