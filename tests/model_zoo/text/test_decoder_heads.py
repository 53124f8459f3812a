"""Decoders that classify: which token is the last one, padding, and folders of new heads."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentError, FileFormatError, OperatorError
from gluonish.gluon import HybridBlock
from gluonish.model_zoo import from_pretrained, save_pretrained
from gluonish.model_zoo.text import CausalSequenceClassifier, CausalTokenClassifier, Llama

FOLDERS = Path(__file__).parents[2] / "golden" / "text_networks"
TEXTS = ([5, 3, 8, 9], [7, 2], [4, 1, 6])
PAD = 30


def network(pad_token_id: int | None = PAD, case: str = "llama_classes") -> Any:
    return from_pretrained(FOLDERS / case, dtype="float32", pad_token_id=pad_token_id)


def tokens(*rows: list[int]) -> mx.nd.NDArray:
    return mx.nd.array(rows, dtype="int32")


def padded(left: bool = False) -> mx.nd.NDArray:
    rows = []
    for text in TEXTS:
        padding = [PAD] * (5 - len(text))
        rows.append(padding + text if left else text + padding)
    return tokens(*rows)


def alone() -> np.ndarray[Any, Any]:
    """Return the scores of each text by itself, of a network that knows no padding."""
    net = network(None)
    return np.concatenate([net(tokens(text)).asnumpy() for text in TEXTS])


@pytest.mark.parametrize("hybridized", [False, True])
def test_a_padded_batch_gives_the_scores_that_each_text_has_alone(hybridized: bool) -> None:
    net = network()
    net.hybridize(hybridized)
    for _ in range(2):
        np.testing.assert_allclose(net(padded()).asnumpy(), alone(), rtol=1e-5, atol=1e-5)


def test_valid_lengths_say_where_texts_end_without_a_token_of_padding() -> None:
    lengths = mx.nd.array([len(text) for text in TEXTS], dtype="int32")
    for net in (network(None), network(5)):  # of another token, which comes second to lengths
        net.hybridize()
        found = net(padded(), None, lengths).asnumpy()
        np.testing.assert_allclose(found, alone(), rtol=1e-5, atol=1e-5)


def test_texts_may_be_padded_on_the_left_with_a_mask_of_keys() -> None:
    rows = padded(left=True)
    mask = mx.nd.array(rows.asnumpy()[:, None, None] != PAD, dtype="bool")
    found = network()(rows, mask).asnumpy()
    np.testing.assert_allclose(found, alone(), rtol=1e-4, atol=1e-4)


def test_a_text_of_padding_alone_is_its_first_token() -> None:
    rows = tokens([PAD, PAD, PAD], TEXTS[2])
    want = network(None)(tokens([PAD])).asnumpy()
    np.testing.assert_allclose(network()(rows).asnumpy()[:1], want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("hybridized", [False, True])
def test_a_batch_whose_texts_end_anywhere_is_refused(hybridized: bool) -> None:
    net = network(None)
    net.hybridize(hybridized)
    message = (
        r"CausalSequenceClassifier: expected pad_token_id or valid_length for a batch, to find the "
        r"last token of each text, got tokens \(3, 5\) and neither; name the token"
    )
    with pytest.raises(ArgumentError, match=message):
        net(padded())


def test_such_a_batch_is_refused_inside_of_a_hybridized_network_too() -> None:
    class Outer(HybridBlock):  # type: ignore[misc]  # of a class without types
        def __init__(self, inner: Any) -> None:
            super().__init__()
            self.inner = inner

        def hybrid_forward(self, F: Any, rows: Any) -> Any:
            return self.inner(rows) * 1

    net = Outer(network(None))
    net.hybridize()
    with pytest.raises(OperatorError, match="SequenceLast"):
        net(padded()).wait_to_read()


@pytest.mark.parametrize("pad_token_id", ["0", True, 0.0])
def test_a_token_of_padding_is_a_whole_number(pad_token_id: Any) -> None:
    body = Llama(32, units=8, hidden_units=16, num_layers=1, num_heads=2)
    with pytest.raises(ArgumentError, match="expected pad_token_id as int or None, got"):
        CausalSequenceClassifier(body, 2, pad_token_id)


@pytest.mark.parametrize("head", [CausalSequenceClassifier, CausalTokenClassifier])
def test_a_head_needs_a_body_with_an_embedding(head: Any) -> None:
    with pytest.raises(ArgumentError, match=f"{head.__name__}: expected a body such as"):
        head(mx.gluon.nn.Dense(3))


def test_a_changed_token_of_padding_is_in_the_saved_folder(tmp_path: Path) -> None:
    save_pretrained(network(9), tmp_path)
    assert json.loads((tmp_path / "config.json").read_text())["pad_token_id"] == 9
    assert from_pretrained(tmp_path).pad_token_id == 9


@pytest.mark.parametrize(
    ("case", "pad_token_id"), [("llama", None), ("gemma2", 0), ("phi3", 32000), ("gpt2", None)]
)
def test_a_family_has_its_usual_token_of_padding(
    case: str, pad_token_id: int | None, tmp_path: Path
) -> None:
    source = FOLDERS / f"{case}_classes"
    config = json.loads((source / "config.json").read_text())
    del config["pad_token_id"]
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "model.safetensors").write_bytes((source / "model.safetensors").read_bytes())
    assert from_pretrained(tmp_path).pad_token_id == pad_token_id


def test_a_token_of_padding_in_a_file_is_a_whole_number(tmp_path: Path) -> None:
    config = json.loads((FOLDERS / "llama_classes" / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "pad_token_id": "6"}))
    with pytest.raises(FileFormatError, match=r"expected 'pad_token_id' of type int \| None"):
        from_pretrained(tmp_path)


@pytest.mark.parametrize(
    ("case", "architecture", "shape"),
    [
        ("llama", "LlamaForSequenceClassification", (2, 3)),
        ("gpt2", "GPT2ForTokenClassification", (2, 3, 3)),
        ("mixtral", "MixtralForSequenceClassification", (2, 3)),
    ],
)
def test_a_language_model_gets_a_new_head_that_is_saved_with_its_names(
    case: str, architecture: str, shape: tuple[int, ...], tmp_path: Path
) -> None:
    names = ("ham", "spam", "eggs")
    changes: Any = {"pad_token_id": 0} if len(shape) == 2 else {}
    net = from_pretrained(
        FOLDERS / case,
        dtype="float32",
        architecture=architecture,
        initializer=mx.init.Normal(1),
        classes=names,
        **changes,
    )
    rows = tokens([1, 2, 0], [3, 4, 5])
    assert net(rows).shape == shape
    save_pretrained(net, tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    assert config["architectures"] == [architecture]
    assert config["id2label"] == {"0": "ham", "1": "spam", "2": "eggs"}
    again = from_pretrained(tmp_path)
    assert again.classes == names
    assert again(rows).asnumpy().tobytes() == net(rows).asnumpy().tobytes()
