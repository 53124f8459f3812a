"""Weights of torchvision where MXNet's repository does not serve, from a server on this machine."""

import hashlib
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gluonish.core.config import MXNET_GLUON_OTHER_SOURCES, MXNET_GLUON_REPO, MXNET_HOME
from gluonish.core.errors import DownloadError, NotSupportedError
from gluonish.gluon.download import OtherSource, http_fetch
from gluonish.model_zoo import get_model, other_weights
from gluonish.model_zoo.foreign.conversion import import_weights, recipes_of
from gluonish.model_zoo.model_store import WEIGHT_HASHES, get_model_file, purge
from gluonish.model_zoo.other_weights import TORCHVISION
from gluonish.tools.cli import main
from tests.gluon_repository import Repository
from tests.model_zoo.foreign.checkpoints import state_of, write_safetensors

NAME, CASE, PATH = "squeezenet1.1", "torchvision squeezenet1_1", "/models/squeezenet1_1.pth"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(http_fetch, "_FIRST_PAUSE_S", 0.001)
    with (
        MXNET_HOME.override(str(tmp_path / "home")),
        MXNET_GLUON_REPO.override(str(tmp_path / "none")),
        MXNET_GLUON_OTHER_SOURCES.override(True),
    ):
        yield tmp_path / "home" / "models"


@pytest.fixture
def state() -> dict[str, Any]:
    state = state_of(CASE)  # its head has few classes
    random = np.random.default_rng(0)
    state["classifier.1.weight"] = random.normal(size=(1000, 512, 1, 1)).astype(np.float32)
    state["classifier.1.bias"] = random.normal(size=1000).astype(np.float32)
    return state


@pytest.fixture
def served(
    repository: Repository, state: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Repository:
    content = write_safetensors(tmp_path / "x.safetensors", state).read_bytes()
    repository.files[PATH] = content
    digits = hashlib.sha256(content).hexdigest()[:8]
    source = OtherSource("torchvision", repository.url + PATH, digits)
    monkeypatch.setitem(TORCHVISION, NAME, source)
    return repository


def warnings(caplog: pytest.LogCaptureFixture) -> str:
    return "\n".join(record.getMessage() for record in caplog.records)


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


@pytest.mark.parametrize("name", sorted(TORCHVISION))
def test_listed_networks_compute_what_torchvision_computes(name: str) -> None:
    recipes = recipes_of(get_model(name), keras=False)
    (recipe,) = (x for x in recipes if "torchvision" in x.origin)
    assert not recipe.obstacle
    assert "as for the networks of the zoo" in recipe.preprocessing
    assert "not as" not in recipe.preprocessing
    assert name in WEIGHT_HASHES


def test_networks_that_compute_otherwise_are_not_listed(tmp_path: Path) -> None:
    for name in ("resnet50_v1", "resnet101_v1", "resnet152_v1"):
        assert all(recipe.obstacle for recipe in recipes_of(get_model(name), keras=False))
        assert name not in TORCHVISION
    path = write_safetensors(tmp_path / "x.safetensors", state_of("torchvision mobilenet_v2"))
    with pytest.raises(NotSupportedError, match=r"the bias 'classifier\.1\.bias'"):
        import_weights("mobilenetv2_1.0", path)
    assert "mobilenetv2_1.0" not in TORCHVISION
    (recipe,) = recipes_of(get_model("inceptionv3"), keras=False)
    assert "not as for the networks of the zoo" in recipe.preprocessing
    assert "inceptionv3" not in TORCHVISION


def test_addresses_are_those_of_torchvision() -> None:
    for source in TORCHVISION.values():
        assert source.url.startswith("https://download.pytorch.org/models/")
        assert source.url.endswith(f"-{source.sha256}.pth")
        assert len(source.sha256) == 8


def test_pretrained_networks_get_the_other_weights_and_a_warning(
    served: Repository, home: Path, state: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "gluonish"):
        net = get_model(NAME, pretrained=True)
    parameters = net._collect_params_with_prefix()
    for ours, theirs in (("features.0", "features.0"), ("output.0", "classifier.1")):
        for role in ("weight", "bias"):
            found = parameters[f"{ours}.{role}"].data().asnumpy()
            np.testing.assert_array_equal(found, state[f"{theirs}.{role}"])
    (name,) = files(home)
    told = warnings(caplog)
    assert f"no weights of {NAME} from MXNet's repository; trying {served.url}{PATH}" in told
    assert f"{name} is from torchvision ({served.url}{PATH}): weights that were trained" in told
    assert "MXNET_GLUON_OTHER_SOURCES=0" in told


def test_they_are_downloaded_once_and_told_each_time(
    served: Repository, home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = get_model_file(NAME)
    sha1 = hashlib.sha1(Path(path).read_bytes()).hexdigest()
    assert Path(path).name == f"{NAME}-torchvision-{sha1[:8]}.params"
    caplog.clear()
    assert get_model_file(NAME) == path
    assert "is from torchvision" in warnings(caplog)
    assert served.count(PATH) == 1
    assert main(["zoo", "verify"]) == 0


def test_damaged_weights_are_downloaded_again(served: Repository, home: Path) -> None:
    path = Path(get_model_file(NAME))
    content = path.read_bytes()
    path.write_bytes(content[:-4])
    assert get_model_file(NAME) == str(path)
    assert path.read_bytes() == content


def test_mxnets_repository_comes_first(
    served: Repository, home: Path, tmp_path: Path, zip_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = b"weights"
    sha1 = hashlib.sha1(content).hexdigest()
    monkeypatch.setitem(WEIGHT_HASHES, NAME, sha1)
    folder = tmp_path / "none" / "gluon" / "models"
    folder.mkdir(parents=True)
    member = f"{NAME}-{sha1[:8]}"
    (folder / f"{member}.zip").write_bytes(zip_of(**{f"{member}.params": content}))
    assert get_model_file(NAME) == str(home / f"{member}.params")
    assert served.asked == []


def test_switched_off_nothing_else_is_asked_or_used(served: Repository, home: Path) -> None:
    get_model_file(NAME)
    served.asked.clear()
    with (
        MXNET_GLUON_OTHER_SOURCES.override(False),
        pytest.raises(DownloadError, match=r"without a network put squeezenet1\.1-33ba") as caught,
    ):
        get_model_file(NAME)
    assert served.asked == []
    assert "other sources" not in str(caught.value)


def test_a_network_without_another_source_has_mxnets_error_alone(home: Path) -> None:
    with pytest.raises(DownloadError, match=r"set MXNET_GLUON_REPO to a mirror") as caught:
        get_model_file("resnet50_v1")
    assert "other sources" not in str(caught.value)


def test_both_errors_are_told(served: Repository, home: Path) -> None:
    del served.files[PATH]
    with pytest.raises(
        DownloadError,
        match=r"expected to copy .*none.*without a network put .*; other sources failed, too: "
        r"torchvision: download: expected to fetch http.*squeezenet1_1\.pth, got 404",
    ):
        get_model_file(NAME)
    assert files(home) == []


def test_another_content_is_refused(served: Repository, home: Path) -> None:
    served.files[PATH] = served.files[PATH][:-1] + b"x"
    with pytest.raises(DownloadError, match=r"a SHA-256 that begins with [0-9a-f]{8}, got "):
        get_model_file(NAME)
    assert files(home) == []


def test_a_file_that_is_no_checkpoint_is_refused(
    served: Repository, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served.files[PATH] = b"<html>moved</html>"
    digits = hashlib.sha256(served.files[PATH]).hexdigest()[:8]
    source = OtherSource("torchvision", served.url + PATH, digits)
    monkeypatch.setitem(TORCHVISION, NAME, source)
    with pytest.raises(
        DownloadError, match=r"other sources failed, too: torchvision: .*expected saf"
    ):
        get_model_file(NAME)
    assert files(home) == []


def test_unfinished_downloads_are_purged(home: Path) -> None:
    home.mkdir(parents=True)
    for name in ("vgg11-torchvision.part", "vgg11-torchvision.part.json", "other.part", "x.json"):
        (home / name).touch()
    assert other_weights.is_leftover("vgg11-torchvision.part")
    purge()
    assert files(home) == ["other.part", "x.json"]


def test_the_command_tells_the_source(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["zoo", "info", "resnet18_v1"]) == 0
    text = capsys.readouterr().out
    assert "other source: https://download.pytorch.org/models/resnet18-f37072fd.pth" in text
