"""LogMel: features of speech, and text of it."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.model_zoo import from_pretrained
from gluonish.model_zoo.speech import LogMel
from tests.golden.generation_cases import SPEECH_CONFIG
from tests.golden.log_mel_cases import SMALL, STEP, speech

GOLDEN = Path(__file__).parents[2] / "golden"
WHISPER = GOLDEN / "text_networks" / "whisper"


def expected(case: str) -> Any:
    with np.load(GOLDEN / "log_mel.npz") as file:
        return file[case]


@pytest.mark.parametrize("mels", [80, 128])
def test_features_are_those_of_transformers(mels: int) -> None:
    made = LogMel(mels)(speech(70_000))
    assert made.shape == (mels, 3000)
    assert made.dtype == np.float32
    np.testing.assert_allclose(made[:, ::STEP], expected(f"mels {mels}"), rtol=0, atol=1e-6)


def test_settings_of_a_folder_are_taken(tmp_path: Path) -> None:
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(SMALL))
    log_mel = LogMel.from_pretrained(tmp_path)
    np.testing.assert_allclose(log_mel(speech(6000)), expected("small"), rtol=0, atol=1e-6)
    both = log_mel([speech(6000), mx.nd.array(speech(500))])
    assert (both[0] == log_mel(speech(6000))).all()
    assert both.shape == (2, 5, 100)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"dither": 0.1}, "'dither' to be 0.0"),
        ({"padding_side": "left"}, "'padding_side' to be 'right'"),
        ({"feature_extractor_type": "Wav2Vec2FeatureExtractor"}, "'feature_extractor_type' to be"),
        ({"hop_length": "160"}, "'hop_length' of type int"),
        ({"hop_length": 0}, "'hop_length' from 1"),
        ({"n_fft": 1 << 20}, "'n_fft' from 1 to 65536"),
        ({"volume": 2}, "got volume=2; a setting that is not understood"),
        ({"feature_size": 500}, "fewer bands than 500, or a longer window than 400"),
        ({"n_samples": 100}, "more than 200 num_samples, got 100"),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, Any], message: str, tmp_path: Path) -> None:
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(settings))
    with pytest.raises(mx.base.MXNetError, match=message):
        LogMel.from_pretrained(tmp_path)


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        ([], "1 to 480000 samples, which are 30 s, got 0"),
        (np.zeros(0, np.float32), "1 to 480000 samples, which are 30 s, got 0"),
        (
            np.zeros(496000, np.float32),
            "1 to 480000 samples, which are 30 s, got 496000, which are 31 s; split the speech, "
            "best where it is silent, and pass a list of the pieces",
        ),
        (np.zeros((2, 9), np.float32), r"floating samples of one channel, \(T,\)"),
        (np.zeros(9, np.int16), "floating samples of one channel"),
        (np.array([0.0, np.nan]), "finite samples, got others"),
        ("speech.wav", "floating samples of one channel"),
    ],
)
def test_bad_speech_is_refused(samples: Any, message: str) -> None:
    with pytest.raises(mx.base.MXNetError, match=f"LogMel: expected {message}"):
        LogMel()(samples)


class Letters:
    """A tokenizer of the letters a to z, and signs."""

    def decode(self, tokens: list[int]) -> str:
        return "".join(chr(97 + token) for token in tokens)


def test_speech_becomes_text(tmp_path: Path) -> None:
    folder = tmp_path / "whisper"
    shutil.copytree(WHISPER, folder)
    settings = {"feature_size": 5, "sampling_rate": 1200, "hop_length": 100, "chunk_length": 1}
    file = folder / "preprocessor_config.json"
    file.write_text(json.dumps(settings))
    with pytest.raises(mx.base.MXNetError, match="a band has no frequency"):
        from_pretrained(folder, dtype="float32").transcribe(speech(900))
    file.write_text(json.dumps({**settings, "sampling_rate": 19200, "hop_length": 1600}))
    net = from_pretrained(folder, dtype="float32")
    net.generation_config = dict(SPEECH_CONFIG)
    with pytest.raises(mx.base.MXNetError, match="transcribe: expected a network with tokenizer"):
        net.transcribe(speech(9000))
    net.tokenizer = Letters()
    features = [net.log_mel(speech(count)) for count in (9000, 19200)]
    want = [Letters().decode(net.generate(one, 6, language="en")) for one in features]
    assert net.transcribe(speech(9000), 6, language="en") == want[0]
    assert net.transcribe([speech(9000), speech(19200)], 6, language="en") == want
    with pytest.raises(mx.base.MXNetError, match=r"log_mel: expected mel features \(N, 5, 12\)"):
        net.log_mel = LogMel()
    with pytest.raises(mx.base.MXNetError, match="num_return_sequences of 1, got 2"):
        net.transcribe(speech(9000), 6, num_beams=2, num_return_sequences=2)
    plain = from_pretrained(WHISPER, dtype="float32")
    assert plain.log_mel is None
    with pytest.raises(mx.base.MXNetError, match="transcribe: expected a network with log_mel"):
        plain.transcribe(speech(9000))
