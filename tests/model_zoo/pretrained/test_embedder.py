"""Embedder: pooling, folders of sentence-transformers, and real weights."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentError, FileFormatError, NotSupportedError
from gluonish.model_zoo import from_pretrained, save_pretrained
from gluonish.model_zoo.text import BERT, Embedder
from tests.model_zoo.weights import minilm

BODY = Path(__file__).parents[2] / "golden" / "text_networks" / "bert_body"
TOKENS = [[3, 1, 4, 1, 5], [9, 2, 6, 0, 0]]
LENGTHS = [5, 3]
_TYPE = "sentence_transformers.models."
_MODULES = [
    {"idx": 0, "name": "0", "path": "", "type": _TYPE + "Transformer"},
    {"idx": 1, "name": "1", "path": "1_Pooling", "type": _TYPE + "Pooling"},
]


def inputs() -> list[Any]:
    tokens, lengths = (mx.nd.array(x, dtype="int32") for x in (TOKENS, LENGTHS))
    return [tokens, None, lengths]


def of_numpy(features: np.ndarray, pooling: str) -> np.ndarray:
    """Return vectors of the features of one text."""
    made = {"mean": features.mean(0), "cls": features[0], "last": features[-1]}
    return made.get(pooling, features.max(0))


@pytest.mark.parametrize("pooling", ["mean", "cls", "last", "max"])
def test_vectors_are_of_the_tokens_of_each_text(pooling: str) -> None:
    body = from_pretrained(BODY, dtype="float32")
    net = Embedder(body, pooling, normalize=False)
    features = body(*inputs())[0].asnumpy().astype(np.float64)
    want = [of_numpy(x[:n], pooling) for x, n in zip(features, LENGTHS, strict=True)]
    for hybridized in (False, True):
        net.hybridize(hybridized)
        np.testing.assert_allclose(net(*inputs()).asnumpy(), want, rtol=2e-5, atol=2e-6)
    whole = Embedder(body, pooling)(inputs()[0]).asnumpy()
    features = body(inputs()[0])[0].asnumpy().astype(np.float64)
    unit = [x / np.linalg.norm(x) for x in (of_numpy(x, pooling) for x in features)]
    np.testing.assert_allclose(whole, unit, rtol=2e-5, atol=2e-6)


def test_a_folder_of_sentence_transformers_goes_both_ways(tmp_path: Path) -> None:
    body = from_pretrained(BODY)
    save_pretrained(Embedder(body, "cls", normalize=True, max_length=9), tmp_path)
    modules = json.loads((tmp_path / "modules.json").read_text())
    assert [(x["path"], x["type"].rsplit(".")[-1]) for x in modules] == [
        ("", "Transformer"),
        ("1_Pooling", "Pooling"),
        ("2_Normalize", "Normalize"),
    ]
    pooling = json.loads((tmp_path / "1_Pooling" / "config.json").read_text())
    assert pooling["word_embedding_dimension"] == 16
    assert [name for name, value in pooling.items() if value is True] == ["pooling_mode_cls_token"]
    net = from_pretrained(tmp_path)
    assert (net.pooling, net.normalize, net.max_length) == ("cls", True, 9)
    assert net.body(inputs()[0])[0].asnumpy().tobytes() == body(inputs()[0])[0].asnumpy().tobytes()
    assert from_pretrained(tmp_path, pooling="mean").pooling == "mean"
    assert isinstance(from_pretrained(tmp_path, architecture="BertModel"), BERT)


def folder_of(path: Path, modules: Any, pooling: Any) -> Path:
    """Write a folder with these modules, and return it."""
    for name in ("config.json", "model.safetensors"):
        shutil.copy(BODY / name, path / name)
    (path / "modules.json").write_text(json.dumps(modules))
    (path / "1_Pooling").mkdir()
    (path / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    return path


@pytest.mark.parametrize(
    ("modules", "pooling", "error", "words"),
    [
        ({}, {}, FileFormatError, "a JSON list of modules"),
        (_MODULES[1:], {}, NotSupportedError, "Transformer and Pooling"),
        ([*_MODULES, {"type": _TYPE + "Dense", "path": "2_Dense"}], {}, NotSupportedError, "Dense"),
        ([{**_MODULES[0], "path": "../other"}], {}, FileFormatError, "'../other'"),
        ([{**_MODULES[0], "path": "/etc"}], {}, FileFormatError, "'/etc'"),
        (_MODULES, {}, NotSupportedError, "expected one pooling .* got none"),
        (_MODULES, {"pooling_mode": "sum"}, NotSupportedError, "'sum'"),
        (_MODULES, {"pooling_mode": "cls", "strange": 1}, NotSupportedError, "strange=1"),
        (
            _MODULES,
            {"pooling_mode": "cls", "word_embedding_dimension": 17},
            FileFormatError,
            "16 features, got 17",
        ),
        (
            _MODULES,
            {"pooling_mode_cls_token": True, "pooling_mode_max_tokens": True},
            NotSupportedError,
            "cls_token, max_tokens",
        ),
    ],
)
def test_a_wrong_folder_is_refused(
    tmp_path: Path, modules: Any, pooling: Any, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        from_pretrained(folder_of(tmp_path, modules, pooling))


def test_a_pooling_without_normalization(tmp_path: Path) -> None:
    net = from_pretrained(folder_of(tmp_path, _MODULES, {"pooling_mode": "lasttoken"}))
    assert (net.pooling, net.normalize, net.max_length) == ("last", False, 32)


def test_an_unknown_pooling_is_refused() -> None:
    with pytest.raises(ArgumentError, match="among mean, cls, last, max, got 'sum'"):
        Embedder(BERT(9, 4, 4, 1, 1), "sum")


SENTENCES = ("A cat is on the mat.", "A kitten is on the rug.", "The stock market fell today.")


@pytest.mark.weights
def test_minilm_finds_what_is_alike() -> None:
    folder = minilm()
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    encoded = tokenizer.encode_batch(list(SENTENCES))
    lengths = mx.nd.array([sum(x.attention_mask) for x in encoded], dtype="int32")
    net = from_pretrained(folder)
    net.hybridize()
    vectors = net(mx.nd.array([x.ids for x in encoded], dtype="int32"), None, lengths)
    alike = mx.nd.dot(vectors, vectors.T).asnumpy()
    assert net.max_length == 256
    assert [round(float(x), 2) for x in alike[0]] == [1.0, 0.65, 0.09]
