"""Texts longer than a network's table of positions: one message, eager and hybridized."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentError, GluonishError, OperatorError
from gluonish.model_zoo.speech import SpeechSeq2SeqLM, Whisper
from gluonish.model_zoo.text import (
    BART,
    BERT,
    ELECTRA,
    GPT2,
    CausalLM,
    DistilBERT,
    MaskedLM,
    RoBERTa,
    Seq2SeqLM,
)
from gluonish.model_zoo.vision.clip import CLIPText
from gluonish.model_zoo.vision.siglip import SigLIPText

MOST = 6
ENCODER: dict[str, Any] = {"units": 8, "hidden_units": 16, "num_layers": 1, "num_heads": 2}
TABLE = (
    f"expected x (N, T, C) with T of at most max_length {MOST}, the number of positions, got a "
    "text of 7; cut or split the text, or make the network with a greater max_length"
)


def tokens(length: int, value: int = 5) -> Any:
    return mx.nd.full((2, length), value, dtype="int32")


def gpt2() -> Any:
    return CausalLM(GPT2(32, 8, 1, 2, max_length=MOST), tied=True)


def bart() -> Any:
    return Seq2SeqLM(BART(32, 8, 1, 2, 16, 1, 2, 16, max_length=MOST), tied=True)


def whisper() -> Any:
    sizes = {"max_source_length": 6, "max_length": MOST}
    return SpeechSeq2SeqLM(Whisper(32, 4, 8, 1, 2, 16, 1, 2, 16, **sizes))


Call = Callable[[Any], Any]
NETWORKS: dict[str, tuple[Callable[[], Any], Call, str]] = {
    "bert": (lambda: BERT(32, max_length=MOST, **ENCODER), lambda net: net(tokens(7)), "position"),
    "masked": (
        lambda: MaskedLM(BERT(32, max_length=MOST, **ENCODER)),
        lambda net: net(tokens(7)),
        "body.position",
    ),
    "distilbert": (
        lambda: DistilBERT(32, max_length=MOST, **ENCODER),
        lambda net: net(tokens(7)),
        "position",
    ),
    "electra": (
        lambda: ELECTRA(32, max_length=MOST, embedding_units=4, **ENCODER),
        lambda net: net(tokens(7)),
        "position",
    ),
    "gpt2": (gpt2, lambda net: net(tokens(7)), "body.positions"),
    "source": (bart, lambda net: net(tokens(7), tokens(3)), "body.encoder.embeddings.positions"),
    "target": (bart, lambda net: net(tokens(3), tokens(7)), "body.decoder.embeddings.positions"),
    "speech": (
        whisper,
        lambda net: net(mx.nd.zeros((2, 4, 12)), tokens(7)),
        "body.decoder.positions",
    ),
    "clip": (
        lambda: CLIPText(32, 8, 16, 1, 2, max_length=MOST),
        lambda net: net(tokens(7)),
        "positions",
    ),
    "siglip": (
        lambda: SigLIPText(32, 8, 16, 1, 2, max_length=MOST),
        lambda net: net(tokens(7)),
        "positions",
    ),
}


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("name", NETWORKS)
def test_the_message_names_the_layer_its_positions_and_the_text(name: str, hybridize: bool) -> None:
    make, call, path = NETWORKS[name]
    net = make()
    net.initialize()
    net.hybridize(hybridize)
    with pytest.raises(OperatorError) as caught:
        call(net)
    text = str(caught.value)
    assert text.startswith("PositionalEmbedding ")
    assert f" ({path}): {TABLE}" in text


@pytest.mark.parametrize("hybridize", [False, True])
def test_roberta_counts_what_is_not_padding(hybridize: bool) -> None:
    net = RoBERTa(32, max_length=MOST, padding=1, **ENCODER)
    net.initialize()
    net.hybridize(hybridize)
    padded = np.full((2, 9), 1)
    padded[:, :6] = 5
    features, _ = net(mx.nd.array(padded, dtype="int32"))
    short, _ = net(tokens(6))
    assert features.shape == (2, 9, 8)
    assert short.shape == (2, 6, 8)
    message = f"expected tokens (N, T) with at most max_length {MOST} besides padding, the number "
    message += "of positions, got a text of 7; cut or split the text"
    if hybridize:
        message = "(position): expected positions from 0 to 5, as max_length is 6, got positions "
        message += "from 0 to 6; cut or split the text"
    with pytest.raises(GluonishError) as caught:
        net(tokens(7))[0].asnumpy()
    assert message in str(caught.value)
    assert "roberta" in str(caught.value)


@pytest.mark.parametrize("make", [gpt2, bart])
def test_generate_refuses_prompts_that_are_too_long(make: Callable[[], Any]) -> None:
    net = make()
    net.initialize()
    message = f"prompt 0 of at most {MOST} tokens, .* got 7; cut or split the text"
    options = {} if make is gpt2 else {"decoder_start_token_id": 1}
    with pytest.raises(ArgumentError, match=message):
        net.generate([5] * 7, 2, **options)


def test_a_step_beyond_the_positions_names_the_layer() -> None:
    net = gpt2()
    net.initialize()
    net.hybridize()
    cache = net.begin_cache(2, 16)
    with pytest.raises(
        GluonishError, match=r"\(body.positions\): expected positions from 0 to 5, .* 0 to 6; cut"
    ):
        net(tokens(7), None, None, cache)[0].asnumpy()
