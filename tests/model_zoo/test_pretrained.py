"""Pretrained networks, from a folder that looks like the gluon repository."""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gluonish.core.config import MXNET_GLUON_REPO, MXNET_HOME
from gluonish.core.context import cpu
from gluonish.core.errors import DownloadError, ParameterError
from gluonish.gluon import nn
from gluonish.gluon.download import http_fetch
from gluonish.model_zoo import get_model
from gluonish.model_zoo.model_store import WEIGHT_HASHES
from gluonish.model_zoo.vision import resnet
from gluonish.ndarray import array, zeros

NAME = "resnet18_v1"
IMAGES = np.random.default_rng(3).standard_normal((2, 3, 8, 8)).astype(np.float32)
OPTIONS: dict[str, Any] = {"classes": 5, "thumbnail": True}


@pytest.fixture(autouse=True)
def _tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the network small; all else is as published."""
    monkeypatch.setitem(resnet.resnet_spec, 18, ("basic_block", [1, 1], [4, 4, 8]))
    monkeypatch.setattr(http_fetch, "_FIRST_PAUSE_S", 0.001)


@pytest.fixture
def published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, zip_of: Any) -> Any:
    """Publish a network in the folder ``repository`` and return it."""
    net = get_model(NAME, **OPTIONS)
    net.initialize()
    net(array(IMAGES))
    net.save_parameters(tmp_path / "x.params")
    content = (tmp_path / "x.params").read_bytes()
    sha1 = hashlib.sha1(content).hexdigest()
    models = tmp_path / "repository" / "gluon" / "models"
    models.mkdir(parents=True)
    stem = f"{NAME}-{sha1[:8]}"
    (models / f"{stem}.zip").write_bytes(zip_of(**{f"{stem}.params": content}))
    monkeypatch.setitem(WEIGHT_HASHES, NAME, sha1)  # type: ignore[arg-type]  # a dict underneath
    return net


@pytest.mark.parametrize("hybridize", [False, True])
def test_pretrained_network_computes_what_was_published(
    published: Any, tmp_path: Path, hybridize: bool
) -> None:
    with MXNET_GLUON_REPO.override(str(tmp_path / "repository")):
        net = get_model(NAME, pretrained=True, root=tmp_path / "here", **OPTIONS)
    net.hybridize(hybridize)
    found, expected = net(array(IMAGES)).asnumpy(), published(array(IMAGES)).asnumpy()
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)
    assert [path.suffix for path in (tmp_path / "here").glob("resnet*")] == [".params"]


def test_weights_are_kept_in_the_home_for_the_next_time(published: Any, tmp_path: Path) -> None:
    with MXNET_HOME.override(str(tmp_path / "home")):
        with MXNET_GLUON_REPO.override(str(tmp_path / "repository")):
            get_model(NAME, pretrained=True, **OPTIONS)
        with MXNET_GLUON_REPO.override("http://127.0.0.1:9"):
            again = get_model(NAME, pretrained=True, ctx=[cpu(0), cpu(1)], **OPTIONS)
    assert again.collect_params().list_ctx() == [cpu(0), cpu(1)]
    for device in (cpu(0), cpu(1)):
        np.testing.assert_array_equal(
            again(array(IMAGES, device)).asnumpy(), published(array(IMAGES)).asnumpy()
        )


def test_features_may_be_taken_for_another_task(published: Any, tmp_path: Path) -> None:
    with MXNET_GLUON_REPO.override(str(tmp_path / "repository")):
        base = get_model(NAME, pretrained=True, root=tmp_path / "here", **OPTIONS)
    net = nn.HybridSequential()
    net.add(base.features, nn.Dense(2))  # type: ignore[attr-defined]  # a ResNetV1
    net[1].initialize()
    net.hybridize()
    assert net(array(IMAGES)).shape == (2, 2)
    np.testing.assert_allclose(
        base.features(array(IMAGES)).asnumpy(),  # type: ignore[attr-defined]  # a ResNetV1
        published.features(array(IMAGES)).asnumpy(),
        rtol=1e-5,
        atol=1e-7,
    )


def test_other_number_of_classes_is_refused_by_name(published: Any, tmp_path: Path) -> None:
    with (
        MXNET_GLUON_REPO.override(str(tmp_path / "repository")),
        pytest.raises(ParameterError, match=r"dense0_weight: .*\(7, 8\), got \(5, 8\)"),
    ):
        get_model(NAME, pretrained=True, root=tmp_path / "here", classes=7, thumbnail=True)


def test_without_a_network_the_error_says_what_to_do(published: Any, tmp_path: Path) -> None:
    with (
        MXNET_GLUON_REPO.override("http://127.0.0.1:9"),
        pytest.raises(DownloadError) as caught,
    ):
        get_model(NAME, pretrained=True, root=tmp_path / "here", **OPTIONS)
    message = str(caught.value)
    assert f"http://127.0.0.1:9/gluon/models/{NAME}-" in message
    assert f"into {tmp_path / 'here'}" in message
    assert "MXNET_GLUON_REPO" in message


def test_repository_folder_without_the_network_is_told(tmp_path: Path) -> None:
    with (
        MXNET_GLUON_REPO.override(str(tmp_path / "nowhere")),
        pytest.raises(DownloadError, match=r"nowhere/gluon/models/resnet18_v1-a0666292.zip"),
    ):
        get_model(NAME, pretrained=True, root=tmp_path / "here", **OPTIONS)


def test_network_without_pretrained_weights_fetches_nothing(tmp_path: Path) -> None:
    with MXNET_GLUON_REPO.override(str(tmp_path / "nowhere")):
        net = get_model(NAME, **OPTIONS)
    net.initialize()
    assert net(zeros((1, 3, 8, 8))).shape == (1, 5)
