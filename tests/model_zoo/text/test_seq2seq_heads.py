"""Encoder-decoders that classify and find answers: padding, ends of texts, folders of new heads."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentError, ParameterError
from gluonish.model_zoo import from_pretrained, save_pretrained
from gluonish.model_zoo.text import (
    BART,
    T5,
    Llama,
    Seq2SeqQuestionAnswering,
    Seq2SeqSequenceClassifier,
)

FOLDERS = Path(__file__).parents[2] / "golden" / "text_networks"
TEXTS = ([5, 3, 8, 9, 2], [7, 2], [4, 1, 6, 2])
PAD = 1


def tokens(*rows: list[int]) -> mx.nd.NDArray:
    return mx.nd.array(rows, dtype="int32")


def padded() -> tuple[mx.nd.NDArray, mx.nd.NDArray]:
    rows = [text + [PAD] * (6 - len(text)) for text in TEXTS]
    return tokens(*rows), mx.nd.array([len(text) for text in TEXTS], dtype="int32")


def body(**kwargs: Any) -> BART:
    return BART(32, 8, *(1, 2, 16), *(1, 2, 16), max_length=9, **kwargs)


@pytest.mark.parametrize("case", ["bart_classes", "bart_answers"])
@pytest.mark.parametrize("hybridized", [False, True])
def test_a_padded_batch_gives_the_scores_that_each_text_has_alone(
    case: str, hybridized: bool
) -> None:
    net = from_pretrained(FOLDERS / case, dtype="float32")
    alone = [net(tokens(text)).asnumpy()[0] for text in TEXTS]
    net.hybridize(hybridized)
    for _ in range(2):
        for found, want, text in zip(net(*padded()).asnumpy(), alone, TEXTS, strict=True):
            found = found if case == "bart_classes" else found[: len(text)]
            np.testing.assert_allclose(found, want, rtol=1e-5, atol=1e-5)


def test_the_last_of_several_ends_counts() -> None:
    net = from_pretrained(FOLDERS / "bart_classes", dtype="float32")
    twice = tokens([5, 2, 3, 2, 1])
    want = net.output(net.hidden(net.body(twice, tokens([0, 5, 2, 3, 2]))[:, 3]))
    np.testing.assert_allclose(net(twice).asnumpy(), want.asnumpy(), rtol=1e-5, atol=1e-5)


def test_a_text_without_an_end_is_refused() -> None:
    net = from_pretrained(FOLDERS / "bart_classes", dtype="float32")
    with pytest.raises(ArgumentError, match="end with eos_token_id 2, got none in row 1"):
        net(tokens([1, 2, 3], [1, 3, 3]))


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        (Seq2SeqSequenceClassifier, {"eos_token_id": 32}, "eos_token_id from 0 to 31, got 32"),
        (Seq2SeqSequenceClassifier, {"eos_token_id": None}, "eos_token_id from 0 to 31, got None"),
        (Seq2SeqSequenceClassifier, {"classes": 0}, "classes"),
        (Seq2SeqSequenceClassifier, {"dropout": 1.5}, "dropout"),
        (Seq2SeqQuestionAnswering, {"decoder_start_token_id": -1}, "decoder_start_token_id from 0"),
        (Seq2SeqQuestionAnswering, {"decoder_start_token_id": True}, "decoder_start_token_id from"),
    ],
)
def test_arguments_out_of_range_are_refused(kind: Any, options: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=f"{kind.__name__}.*{message}"):
        kind(body(), **options)


def test_a_body_without_an_encoder_is_refused() -> None:
    llama = Llama(32, units=8, hidden_units=16, num_layers=1, num_heads=2)
    with pytest.raises(ArgumentError, match="expected a body such as BART, got Llama"):
        Seq2SeqQuestionAnswering(llama)


def test_a_new_head_on_a_body_is_saved_with_its_classes(tmp_path: Path) -> None:
    net = from_pretrained(
        FOLDERS / "bart",
        dtype="float32",
        architecture="BartForSequenceClassification",
        initializer=mx.init.Normal(0.1),
        classes=("ham", "spam"),
    )
    save_pretrained(net, tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    assert config["architectures"] == ["BartForSequenceClassification"]
    assert config["id2label"] == {"0": "ham", "1": "spam"}
    again = from_pretrained(tmp_path)
    assert again.classes == ("ham", "spam")
    np.testing.assert_array_equal(again(*padded()).asnumpy(), net(*padded()).asnumpy())


def test_two_classes_without_names_are_written_where_files_mean_three(tmp_path: Path) -> None:
    net = Seq2SeqSequenceClassifier(body())
    net.initialize()
    save_pretrained(net, tmp_path)
    assert len(json.loads((tmp_path / "config.json").read_text())["id2label"]) == 2
    assert from_pretrained(tmp_path)(tokens([5, 2])).shape == (1, 2)


def test_a_head_of_a_decoder_is_read_without_its_prefix_and_left_out() -> None:
    net = from_pretrained(FOLDERS / "llama_answers", dtype="float32", architecture="LlamaModel")
    whole = from_pretrained(FOLDERS / "llama_answers", dtype="float32")
    rows = tokens([3, 1, 4])
    np.testing.assert_array_equal(net(rows).asnumpy(), whole.body(rows).asnumpy())
    with pytest.raises(ParameterError, match="head"):
        from_pretrained(FOLDERS / "llama_answers", architecture="LlamaForCausalLM")
    new = from_pretrained(
        FOLDERS / "llama",
        dtype="float32",
        architecture="LlamaForQuestionAnswering",
        initializer=mx.init.Normal(0.1),
    )
    assert new(rows).shape == (1, 3, 2)


def test_a_t5_has_no_such_heads_in_files() -> None:
    sizes: dict[str, Any] = {"units": 8, "hidden_units": 16, "num_heads": 2, "head_units": 4}
    net = Seq2SeqQuestionAnswering(T5(32, num_layers=1, **sizes))
    net.initialize()
    assert net(*padded()).shape == (3, 6, 2)
