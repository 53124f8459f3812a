"""preprocessor_config.json: pixels are those of transformers' image processors, both ways."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentError, FileFormatError, NotSupportedError
from gluonish.model_zoo import from_pretrained, get_model, save_pretrained
from gluonish.model_zoo.pretrained.image_resize import AntialiasedResize
from gluonish.model_zoo.pretrained.image_transform import ImageTransform, of_processor, of_timm
from tests.golden.image_processor_cases import PROCESSORS, image

GOLDEN = Path(__file__).parents[2] / "golden"
with np.load(GOLDEN / "image_processors.npz") as _file:
    EXPECTED = dict(_file)
SETTINGS: dict[str, dict[str, Any]] = {
    case: json.loads(str(EXPECTED[f"{case} settings"])) for case in PROCESSORS
}
NAME = "preprocessor_config.json"


def pixels(made: ImageTransform, tall: bool = False) -> np.ndarray[Any, Any]:
    given = image().swapaxes(0, 1) if tall else image()
    return np.asarray(made.block()(mx.nd.array(given, dtype="uint8")).asnumpy())


@pytest.mark.parametrize("case", PROCESSORS)
def test_pixels_are_those_of_transformers(case: str) -> None:
    made = of_processor(SETTINGS[case], NAME)
    for tall in (False, True):
        want = EXPECTED[f"{case} {'tall' if tall else 'wide'}"]
        np.testing.assert_allclose(pixels(made, tall), want, rtol=0, atol=2e-6)


@pytest.mark.parametrize("case", PROCESSORS)
def test_settings_that_are_written_anew_mean_the_same(case: str) -> None:
    made = of_processor(SETTINGS[case], NAME)
    assert of_processor(made.entries(), NAME) == made


def folder_of(network: str, settings: dict[str, Any], to: Path) -> Path:
    """Write a folder of a golden network with settings of an image processor."""
    shutil.copytree(GOLDEN / network, to, dirs_exist_ok=True)
    (to / NAME).write_text(json.dumps(settings))
    return to


@pytest.mark.parametrize(
    ("network", "case"),
    [
        ("vision_networks/vit", "vit"),
        ("vision_networks/deit", "deit"),
        ("vision_networks/dinov2", "dinov2"),
        ("vision_networks/clip", "clip"),
        ("vision_networks/clip_vision", "clip"),
        ("vision_networks/siglip_vision", "siglip"),
        ("image_networks/convnext", "convnext"),
        ("image_networks/swin", "vit"),
        ("image_networks/swin_body", "vit"),
    ],
)
def test_folders_have_the_transform_both_ways(network: str, case: str, tmp_path: Path) -> None:
    net = from_pretrained(folder_of(network, SETTINGS[case], tmp_path / "given"), dtype="float32")
    size = getattr(net, "_image_size", None)
    found = net.transform(mx.nd.array(image(), dtype="uint8"))
    if size is None or size == EXPECTED[f"{case} wide"].shape[1:]:
        np.testing.assert_allclose(found.asnumpy(), EXPECTED[f"{case} wide"], rtol=0, atol=2e-6)
    else:
        assert found.shape == (3, *size)
    save_pretrained(net, tmp_path / "saved")
    written = json.loads((tmp_path / "saved" / NAME).read_text())
    assert (
        of_processor(written, NAME).block()(mx.nd.array(image(), dtype="uint8")).asnumpy().tobytes()
        == found.asnumpy().tobytes()
    )
    again = from_pretrained(tmp_path / "saved")
    assert repr(again.transform) == repr(net.transform)


def test_the_settings_of_a_file_stay_as_they_are(tmp_path: Path) -> None:
    size = {"height": 8, "width": 12}
    given = {**SETTINGS["vit"], "size": size, "do_convert_rgb": None}
    net = from_pretrained(folder_of("image_networks/swin", given, tmp_path / "given"))
    save_pretrained(net, tmp_path / "saved")
    assert json.loads((tmp_path / "saved" / NAME).read_text()) == given


def test_a_network_of_another_size_has_a_transform_to_it(tmp_path: Path) -> None:
    folder = folder_of("vision_networks/vit", SETTINGS["deit"], tmp_path / "given")
    net = from_pretrained(folder, dtype="float32")
    net.set_image_size(48)
    found = net.transform(mx.nd.array(image(), dtype="uint8"))
    assert found.shape == (3, 48, 48)
    save_pretrained(net, tmp_path / "saved")
    settings = json.loads((tmp_path / "saved" / NAME).read_text())
    assert settings["size"] == {"height": 60, "width": 60}  # 20 for 16
    assert settings["crop_size"] == {"height": 48, "width": 48}


def test_networks_without_settings_have_no_transform_and_write_no_file(tmp_path: Path) -> None:
    net = from_pretrained(GOLDEN / "vision_networks" / "vit")
    assert net.transform is None
    save_pretrained(net, tmp_path)
    assert not (tmp_path / NAME).exists()


def test_a_processor_config_with_an_image_processor_is_read(tmp_path: Path) -> None:
    folder = folder_of("vision_networks/clip", {}, tmp_path)
    (folder / NAME).unlink()
    (folder / "processor_config.json").write_text(json.dumps({"image_processor": SETTINGS["clip"]}))
    assert from_pretrained(folder).transform is not None


def test_vision_transformers_of_timm_are_saved_with_their_transform(tmp_path: Path) -> None:
    cfg = {"input_size": [3, 224, 224], "crop_pct": 0.9, "interpolation": "bicubic"}
    cfg |= {"mean": [0.5, 0.4, 0.3], "std": [0.2, 0.25, 0.3]}
    net: Any = get_model("vit_tiny_patch16_224", classes=3, num_layers=1)
    net.initialize()
    net._pretrained_cfg = cfg
    save_pretrained(net, tmp_path)
    written = of_processor(json.loads((tmp_path / NAME).read_text()), NAME)
    assert written == of_timm(cfg, "cfg")
    assert written.resize == 248
    assert repr(from_pretrained(tmp_path).transform) == repr(net.transform)


VIT = SETTINGS["vit"]
BAD: list[tuple[dict[str, Any], Any, str]] = [
    ({"size": 0}, FileFormatError, "'size' with height and width, or shortest_edge, from 1"),
    ({"size": {"longest_edge": 9}}, FileFormatError, "'size' with height and width"),
    ({"size": {"height": 9}}, FileFormatError, "'size' with height and width"),
    ({"size": {"height": 1 << 40, "width": 9}}, FileFormatError, "'size' with height and width"),
    ({"size": {"height": True, "width": 9}}, FileFormatError, "'size' with height and width"),
    ({"size": None}, FileFormatError, "'size' with height and width"),
    ({"image_mean": [0.5]}, FileFormatError, "'image_mean' to be 3 numbers"),
    ({"image_mean": None}, FileFormatError, "'image_mean' to be 3 numbers"),
    ({"image_std": [1, 1, 0]}, FileFormatError, "'image_std' to be 3 numbers from 1e-06"),
    ({"image_std": [1, 1, float("nan")]}, FileFormatError, "'image_std' to be 3 numbers"),
    ({"do_resize": 1}, FileFormatError, "'do_resize' of type bool, got 1"),
    ({"do_rescale": False}, NotSupportedError, "'do_rescale' with 'rescale_factor' 1/255"),
    ({"rescale_factor": 1.0}, NotSupportedError, "'rescale_factor' 1/255, got 1.0"),
    ({"resample": 9}, NotSupportedError, "'resample' from 0 to 5, got 9"),
    ({"resample": "bicubic"}, NotSupportedError, "'resample' from 0 to 5"),
    ({"do_pad": True}, NotSupportedError, "known here, got 'do_pad'"),
    (
        {"do_center_crop": True, "crop_size": {"height": 17, "width": 9}},
        NotSupportedError,
        "'crop_size' within 'size'",
    ),
    ({"do_center_crop": True}, FileFormatError, "'crop_size' with height and width"),
]


@pytest.mark.parametrize(("settings", "error", "message"), BAD)
def test_settings_that_are_not_understood_are_refused(
    settings: dict[str, Any], error: Any, message: str
) -> None:
    with pytest.raises(error, match=f"{NAME}: expected .*{message}"):
        of_processor({**VIT, **settings}, NAME)


def test_a_transform_that_is_not_understood_does_not_stop_the_network(tmp_path: Path) -> None:
    given = {**VIT, "do_pad": True}
    net = from_pretrained(folder_of("vision_networks/vit", given, tmp_path / "given"))
    with pytest.raises(NotSupportedError, match="known here, got 'do_pad'"):
        _ = net.transform
    save_pretrained(net, tmp_path / "saved")
    assert json.loads((tmp_path / "saved" / NAME).read_text()) == given


def test_a_file_that_is_no_object_is_refused(tmp_path: Path) -> None:
    folder = folder_of("vision_networks/vit", {}, tmp_path)
    (folder / NAME).write_text("[1, 2]")
    with pytest.raises(FileFormatError, match=NAME):
        from_pretrained(folder)


@pytest.mark.parametrize("shape", [(4, 5), (0, 5, 3), (2, 4, 5, 3)])
def test_what_is_no_image_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ArgumentError, match="AntialiasedResize: expected an image"):
        AntialiasedResize(4)(mx.nd.zeros(shape, dtype="uint8"))
    with pytest.raises(ArgumentError, match="of uint8, got float32"):
        AntialiasedResize(4)(mx.nd.zeros((4, 4, 3)))


def test_the_shorter_side_of_a_thin_image_decides() -> None:
    for shape, want in (((3, 100, 3), (8, 266, 3)), ((100, 3, 1), (266, 8, 1))):
        assert AntialiasedResize(8)(mx.nd.zeros(shape, dtype="uint8")).shape == want
