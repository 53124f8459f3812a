"""Generation by networks with an encoder: texts of transformers, batches, plans, and speech."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.model_zoo import from_pretrained, save_pretrained
from tests.golden.generation_cases import (
    FROM_SOURCES,
    NEW_TOKENS,
    PROMPT,
    SOURCE_OPTIONS,
    SPEECH_CONFIG,
    SPEECH_OPTIONS,
)
from tests.golden.text_network_cases import FEATURES

GOLDEN = Path(__file__).parents[1] / "golden"
EXPECTED = json.loads((GOLDEN / "generation.json").read_text())
SOURCES = [PROMPT, [5, 3, 5], [7], list(range(20))]
NO_TIMESTAMPS = SPEECH_CONFIG["no_timestamps_token_id"]


def network(name: str) -> Any:
    return _network(name, mx.current_context())


@cache
def _network(name: str, ctx: mx.Context) -> Any:
    net = from_pretrained(GOLDEN / "text_networks" / name, ctx, dtype="float32")
    net.generation_config = {"decoder_start_token_id": 0}
    if name == "whisper":
        net.generation_config = dict(SPEECH_CONFIG)
    return net


@pytest.fixture(autouse=True)
def _on_new_devices() -> None:
    """Forget networks on GPUs, which tests on the double of CuPy have for themselves."""
    if mx.current_context().device_type == "gpu":
        _network.cache_clear()


@pytest.mark.parametrize("case", SOURCE_OPTIONS)
@pytest.mark.parametrize("name", FROM_SOURCES)
def test_texts_are_those_of_transformers(name: str, case: str) -> None:
    found = network(name).generate([PROMPT], NEW_TOKENS, **SOURCE_OPTIONS[case])
    assert found == EXPECTED["from sources"][name][case]


@pytest.mark.parametrize("name", FROM_SOURCES)
def test_sources_of_a_batch_get_the_tokens_that_they_get_alone(name: str) -> None:
    net = network(name)
    whole = [net.generate(source, NEW_TOKENS) for source in SOURCES]
    stops = {"eos_token_id": whole[3][6]}
    alone = [net.generate(source, NEW_TOKENS, **stops) for source in SOURCES]
    assert net.generate(SOURCES, NEW_TOKENS, **stops) == alone
    assert len({len(row) for row in alone}) > 1  # some rows end before others


@pytest.mark.parametrize("name", FROM_SOURCES)
def test_tokens_are_the_most_probable_ones_without_a_cache(name: str) -> None:
    net = network(name)
    for source in SOURCES:
        row = [0]
        for _ in range(6):
            given = [mx.nd.array([x], dtype="int32") for x in (source, row)]
            row.append(int(net(*given)[0, -1].argmax().asscalar()))
        assert net.generate(source, 6) == row[1:]
        assert list(net.stream(source, 6)) == row[1:]


def test_draws_of_several_texts_share_their_source_and_are_equal_for_equal_seeds() -> None:
    net = network("t5")
    given: dict[str, Any] = {"do_sample": True, "temperature": 1.5, "num_return_sequences": 4}
    found = net.generate(SOURCES[:2], 8, seed=3, **given)
    assert len(found) == 8
    assert found == net.generate(SOURCES[:2], 8, seed=3, **given)
    assert found[:4] == net.generate(SOURCES[0], 8, seed=3, **given)
    assert len(set(map(tuple, found[:4]))) > 1


def test_sources_and_steps_of_a_length_share_one_plan() -> None:
    net = from_pretrained(GOLDEN / "text_networks" / "bart", dtype="float32")
    net.generation_config = {"decoder_start_token_id": 0}
    net.generate(PROMPT, 4)
    assert net.runner.num_plans == 2  # one for the source, one for steps
    graphs = net.runner.num_graphs
    for source in SOURCES[:3]:
        net.generate(source, 9)
    assert net.runner.num_plans == 2
    net.generate(SOURCES[3], 4)  # of more than 16 tokens
    assert net.runner.num_plans == 4
    assert net.runner.num_graphs == graphs
    assert not net._active  # generation leaves the network as it is


def test_the_source_is_computed_once_for_a_call() -> None:
    net = network("t5")
    calls: list[int] = []
    encode = net.runner.encode

    def counted(source: Any, lengths: Any) -> Any:
        calls.append(len(source))
        return encode(source, lengths)

    net.runner.encode = counted
    try:
        net.generate(SOURCES, 5)
        net.generate(PROMPT, 5, num_beams=3)
    finally:
        del net.runner.encode
    assert calls == [len(SOURCES), 1]


def test_beams_of_one_source_share_its_keys_and_values() -> None:
    net = network("t5")
    runner = net.runner
    memory = runner.encode(np.array([PROMPT], np.int32), [len(PROMPT)])
    held = runner.cache_of(memory, 8).take([0, 0, 0])
    assert held.take([2, 0, 0]).memory is held.memory
    two = runner.cache_of(runner.encode(np.array([PROMPT, PROMPT[::-1]], np.int32), [8, 8]), 8)
    turned = two.take([1, 0]).memory
    assert turned is not two.memory
    for now, before in zip(turned.layers, two.memory.layers, strict=True):
        assert (now.keys[0] == before.keys[1]).asnumpy().all()


def test_options_of_older_folders_are_in_config_json(tmp_path: Path) -> None:
    net = from_pretrained(GOLDEN / "text_networks" / "bart", dtype="float32")
    save_pretrained(net, tmp_path)
    (tmp_path / "generation_config.json").unlink()
    config = json.loads((tmp_path / "config.json").read_text())
    config |= {"forced_bos_token_id": 9, "forced_eos_token_id": 5}
    (tmp_path / "config.json").write_text(json.dumps(config))
    found = from_pretrained(tmp_path).generate(PROMPT, NEW_TOKENS, eos_token_id=5, num_beams=3)
    assert found == EXPECTED["from sources"]["bart"]["forced beams"][0]
    (tmp_path / "generation_config.json").write_text('{"decoder_start_token_id": 0}')
    assert from_pretrained(tmp_path).generate(PROMPT, 3)[0] != 9


def test_a_t5_has_scores_of_its_own_if_its_file_has_their_weight(tmp_path: Path) -> None:
    net = network("t5_gated")
    save_pretrained(net, tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    assert not config["tie_word_embeddings"]
    config |= {"tie_word_embeddings": True, "scale_decoder_outputs": False}  # as transformers 5
    (tmp_path / "config.json").write_text(json.dumps(config))
    again = from_pretrained(tmp_path)
    assert again.generate(PROMPT, 8, decoder_start_token_id=0) == net.generate(PROMPT, 8)
    config["scale_decoder_outputs"] = True
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(mx.base.MXNetError, match=r"'lm_head\.weight' equal to 'shared\.weight'"):
        from_pretrained(tmp_path)


def test_an_encoder_alone_is_that_of_a_whole_t5() -> None:
    folder = GOLDEN / "text_networks" / "t5"
    encoder = from_pretrained(folder, dtype="float32", architecture="T5EncoderModel")
    source = mx.nd.array([PROMPT], dtype="int32")
    assert isinstance(encoder, mx.model_zoo.text.T5Encoder)
    assert (encoder(source) == network("t5").encode(source)).asnumpy().all()


@pytest.mark.parametrize("case", SPEECH_OPTIONS)
def test_texts_of_speech_are_those_of_transformers(case: str) -> None:
    net, want = network("whisper"), EXPECTED["speech"][case]
    assert len(want) == len(FEATURES)
    begins = [row.index(NO_TIMESTAMPS) + 1 for row in want]
    texts = [row[begin:] for row, begin in zip(want, begins, strict=True)]
    assert net.generate(mx.nd.array(FEATURES), NEW_TOKENS, **SPEECH_OPTIONS[case]) == texts
    alone = [net.generate(one, NEW_TOKENS, **SPEECH_OPTIONS[case]) for one in np.array(FEATURES)]
    assert alone == texts
    begun = net.generate(FEATURES[0], 12, num_beams=SPEECH_OPTIONS[case].get("num_beams", 1),
                         repetition_penalty=SPEECH_OPTIONS[case].get("repetition_penalty", 1.0),
                         decoder_input_ids=want[0][: begins[0]])  # fmt: skip
    assert begun == texts[0]


def test_first_tokens_of_older_folders_of_speech_are_forced_ones() -> None:
    net = from_pretrained(GOLDEN / "text_networks" / "whisper", dtype="float32")
    config = {
        "decoder_start_token_id": 0,
        "forced_decoder_ids": [[1, None], [2, 23], [3, NO_TIMESTAMPS]],
    }
    net.generation_config = {**SPEECH_CONFIG, **config}
    assert net.generate(FEATURES[0], NEW_TOKENS) == network("whisper").generate(
        FEATURES[0], NEW_TOKENS, language="en"
    )


def test_features_of_another_shape_are_refused() -> None:
    net = network("whisper")
    target = mx.nd.array([[0]], dtype="int32")
    for shape in ((2, 5, 10), (2, 4, 12), (5, 12)):
        wrong = mx.nd.ones(shape)
        message = r"SpeechSeq2SeqLM: expected mel features \(N, 5, 12\), got shape"
        for hybridized in (False, True):
            net.hybridize(hybridized)
            with pytest.raises(mx.base.MXNetError, match=message):
                net(wrong, target)
        with pytest.raises(mx.base.MXNetError, match=r"mel features \(N, 5, 12\), got shape"):
            net.encode(wrong)
    features = [np.ones((2, 5, 10)), np.ones((5, 10)), np.ones((1, 2, 5, 12))]
    for one in features:
        with pytest.raises(mx.base.MXNetError, match=r"generate: expected mel features \(N, 5, 12"):
            net.generate(one)
    message = r"got shape \(1, 5, 24\); split the speech, and pass the features of its pieces as a"
    with pytest.raises(mx.base.MXNetError, match=message):
        net.generate(np.ones((5, 24)))
    prompts: list[Any] = ["text", [], [1, 2], {}, [[[1], [1, 2]]]]
    for prompt in prompts:
        with pytest.raises(mx.base.MXNetError, match="generate: expected mel features"):
            net.generate(prompt)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"lang_to_id": ["en"]}, "lang_to_id of generation_config as tokens by name"),
        ({"task_to_id": {"translate": "24"}}, "task_to_id of generation_config as tokens by name"),
        ({"lang_to_id": {}, "forced_decoder_ids": [[2, 20]]}, "pairs of the places 1, 2"),
        ({"lang_to_id": {}, "forced_decoder_ids": [20]}, "pairs of the places 1, 2"),
        ({"no_timestamps_token_id": 32}, "first tokens of text from 0 to 31, got 32"),
    ],
)
def test_bad_tables_of_speech_are_refused(config: dict[str, Any], message: str) -> None:
    net = from_pretrained(GOLDEN / "text_networks" / "whisper", dtype="float32")
    net.generation_config = {**SPEECH_CONFIG, **config}
    with pytest.raises(mx.base.MXNetError, match=message):
        net.generate(FEATURES[0], 2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"language": "xx"}, "language among those of generation_config, de, en, fr, got 'xx'"),
        ({"task": "sing"}, "task among those of generation_config, transcribe, translate"),
        ({"language": 3}, "language as text, got 3"),
        ({"decoder_input_ids": [40]}, "tokens of decoder_input_ids from 0 to 31, got 40"),
        ({"decoder_input_ids": [1] * 30}, "decoder_input_ids of at most 24 tokens"),
        ({"decoder_input_ids": [1] * 24}, "at most 24 tokens"),
        ({"decoder_input_ids": [1] * 23}, "leaves room for a token, got 24 tokens"),
    ],
)
def test_bad_options_of_speech_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(mx.base.MXNetError, match=message):
        network("whisper").generate(FEATURES[0], **options)


def test_a_network_of_one_language_has_no_choice_of_it() -> None:
    net = from_pretrained(GOLDEN / "text_networks" / "whisper", dtype="float32")
    net.generation_config = {"decoder_start_token_id": 0, "is_multilingual": False}
    assert len(net.generate(FEATURES[0], 3)) == 3
    with pytest.raises(mx.base.MXNetError, match="no language for a network of one language"):
        net.generate(FEATURES[0], 3, language="en")
    net.generation_config["return_timestamps"] = True
    with pytest.raises(mx.base.MXNetError, match="'return_timestamps' of generation_config"):
        net.generate(FEATURES[0], 3)


@pytest.mark.parametrize(
    ("name", "source", "options", "message"),
    [
        ("t5", [], {"bos_token_id": 1}, "prompt 0 of at least one token"),
        ("t5", [[1], []], {}, "prompt 1 of at least one token"),
        ("bart", [1, 40], {}, r"tokens of prompt 0 from 0 to 31, got 40"),
        ("bart", [1, -1], {}, r"tokens of prompt 0 from 0 to 31, got -1"),
        ("bart", [1] * 33, {}, "at most 32 tokens, which are the positions of Seq2SeqLM, got 33"),
        ("bart", [1], {"decoder_input_ids": [1] * 31}, "leaves room for a token, got 32"),
        ("t5", [1], {"forced_bos_token_id": 99}, "forced_bos_token_id from 0 to 31, got 99"),
        ("t5", [1], {"forced_eos_token_id": [1, 32]}, "forced_eos_token_id from 0 to 31, got 32"),
        ("t5", [1], {"decoder_start_token_id": 32}, "decoder_start_token_id from 0 to 31"),
        ("t5", [1], {"min_length": -1}, "min_length from 0"),
        ("t5", [1], {"language": "en"}, "options of Seq2SeqLM, got 'language'"),
        ("t5", [1], {"prompt_lookup": True}, "no assistant_model and prompt_lookup"),
        ("t5", "text", {}, "tokenizer for a prompt that is text"),
        ("llama", [1], {"decoder_start_token_id": 3}, "options of CausalLM, got 'decoder_start"),
    ],
)
def test_bad_input_is_refused(
    name: str, source: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(mx.base.MXNetError, match=message):
        network(name).generate(source, **options)


def refused_by_the_network(row: list[int], message: str) -> None:
    net = network("bart")
    wrong, right = (mx.nd.array([x], dtype="int32") for x in (row, [1, 2]))
    for hybridized in (False, True):
        net.hybridize(hybridized)
        for given in ((wrong, right), (right, wrong)):
            with pytest.raises(mx.base.MXNetError, match=message):
                net(*given).wait_to_read()


def test_words_out_of_the_vocabulary_are_refused_by_the_network() -> None:
    refused_by_the_network([1, 40], "expected ids in data from 0 to 31, got ids from 1 to 40")
    refused_by_the_network([-1], "expected ids in data from 0 to 31, got ids from -1 to -1")


def test_texts_longer_than_the_positions_are_refused_by_the_network() -> None:
    refused_by_the_network([1] * 33, "of at most max_length 32, .* a text of 33; cut or split")


def test_what_needs_a_network_without_an_encoder_is_refused() -> None:
    net = network("t5")
    with pytest.raises(mx.base.MXNetError, match=r"Seq2SeqLM\.new_cache: expected a network with"):
        mx.model_zoo.text.BatchGenerator(net)
    with pytest.raises(mx.base.MXNetError, match="no cache for a network with an encoder"):
        net.generate(PROMPT, 2, cache=network("llama").new_cache())
    net.generation_config = {}
    try:
        with pytest.raises(mx.base.MXNetError, match="expected decoder_start_token_id"):
            net.generate(PROMPT, 2)
    finally:
        net.generation_config = {"decoder_start_token_id": 0}
    with pytest.raises(mx.base.MXNetError, match="length of at most 32, which are the positions"):
        network("bart").begin_cache(mx.nd.ones((1, 3, 16)), 33)
    with pytest.raises(mx.base.MXNetError, match="a body with encoder and decoder, got GPT2"):
        mx.model_zoo.text.Seq2SeqLM(mx.model_zoo.text.GPT2(8, 8, 1, 2))


# Settings and options of published folders: their names and kinds of values.
PUBLISHED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "T5 of 2019": (
        {
            "architectures": ["T5ForConditionalGeneration"], "d_ff": 64, "d_kv": 8, "d_model": 16,
            "decoder_start_token_id": 0, "dropout_rate": 0.1, "eos_token_id": 1,
            "initializer_factor": 1.0, "is_encoder_decoder": True, "layer_norm_epsilon": 1e-6,
            "model_type": "t5", "n_positions": 512, "num_heads": 2, "num_layers": 1,
            "output_past": True, "pad_token_id": 0, "relative_attention_num_buckets": 32,
            "task_specific_params": {"summarization": {"num_beams": 4}}, "vocab_size": 32,
        },
        {"_from_model_config": True, "decoder_start_token_id": 0, "eos_token_id": 1},
    ),
    "T5 of 2022": (
        {
            "architectures": ["T5ForConditionalGeneration"], "d_ff": 64, "d_kv": 8, "d_model": 16,
            "decoder_start_token_id": 0, "dropout_rate": 0.1, "eos_token_id": 1,
            "feed_forward_proj": "gated-gelu", "initializer_factor": 1.0, "vocab_size": 32,
            "dense_act_fn": "gelu_new", "is_gated_act": True, "num_decoder_layers": 2,
            "is_encoder_decoder": True, "layer_norm_epsilon": 1e-6, "model_type": "t5",
            "n_positions": 512, "num_heads": 2, "num_layers": 1, "output_past": True,
            "relative_attention_max_distance": 128, "relative_attention_num_buckets": 32,
            "tie_word_embeddings": False, "torch_dtype": "float32", "use_cache": True,
        },
        {"decoder_start_token_id": 0, "eos_token_id": 1, "transformers_version": "4.27.0"},
    ),
    "BART": (
        {
            "_num_labels": 3, "activation_dropout": 0.0, "activation_function": "gelu",
            "add_bias_logits": False, "add_final_layer_norm": False, "attention_dropout": 0.0,
            "architectures": ["BartForConditionalGeneration"], "bos_token_id": 0,
            "classif_dropout": 0.1, "classifier_dropout": 0.0, "d_model": 16,
            "decoder_attention_heads": 2, "decoder_ffn_dim": 64, "decoder_layerdrop": 0.0,
            "decoder_layers": 1, "decoder_start_token_id": 2, "dropout": 0.1,
            "early_stopping": True, "encoder_attention_heads": 2, "encoder_ffn_dim": 64,
            "encoder_layerdrop": 0.0, "encoder_layers": 1, "eos_token_id": 2,
            "force_bos_token_to_be_generated": True, "forced_bos_token_id": 0,
            "forced_eos_token_id": 2, "gradient_checkpointing": False, "init_std": 0.02,
            "is_encoder_decoder": True, "length_penalty": 2.0, "max_length": 142,
            "max_position_embeddings": 64, "min_length": 5, "model_type": "bart",
            "no_repeat_ngram_size": 3, "normalize_before": False, "normalize_embedding": True,
            "num_beams": 4, "num_hidden_layers": 1, "output_past": True, "pad_token_id": 1,
            "prefix": " ", "scale_embedding": False, "vocab_size": 32,
        },
        {
            "_from_model_config": True, "bos_token_id": 0, "decoder_start_token_id": 2,
            "early_stopping": True, "eos_token_id": 2, "forced_bos_token_id": 0,
            "forced_eos_token_id": 2, "length_penalty": 2.0, "max_length": 14, "min_length": 5,
            "no_repeat_ngram_size": 3, "num_beams": 4, "pad_token_id": 1,
        },
    ),
    "Whisper": (
        {
            "activation_dropout": 0.0, "activation_function": "gelu", "apply_spec_augment": False,
            "architectures": ["WhisperForConditionalGeneration"], "attention_dropout": 0.0,
            "begin_suppress_tokens": [2, 7], "bos_token_id": 2, "classifier_proj_size": 256,
            "d_model": 16, "decoder_attention_heads": 2, "decoder_ffn_dim": 64,
            "decoder_layerdrop": 0.0, "decoder_layers": 1, "decoder_start_token_id": 0,
            "dropout": 0.0, "encoder_attention_heads": 2, "encoder_ffn_dim": 64,
            "encoder_layerdrop": 0.0, "encoder_layers": 1, "eos_token_id": 2,
            "forced_decoder_ids": [[1, 20], [2, 23], [3, 31]], "init_std": 0.02,
            "is_encoder_decoder": True, "mask_feature_length": 10, "mask_time_prob": 0.05,
            "max_length": 24, "max_source_positions": 6, "max_target_positions": 24,
            "median_filter_width": 7, "model_type": "whisper", "num_hidden_layers": 1,
            "num_mel_bins": 5, "pad_token_id": 2, "scale_embedding": False,
            "suppress_tokens": [1, 3], "torch_dtype": "float32", "use_cache": True,
            "use_weighted_layer_sum": False, "vocab_size": 32,
        },
        {
            **SPEECH_CONFIG, "alignment_heads": [[0, 0]],
            "forced_decoder_ids": [[1, None], [2, 23]],
            "max_initial_timestamp_index": 5, "max_length": 24, "pad_token_id": 2,
            "prev_sot_token_id": 29, "return_timestamps": False,
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PUBLISHED)
def test_settings_and_options_of_published_folders_are_understood(
    name: str, tmp_path: Path
) -> None:
    settings, options = PUBLISHED[name]
    body: Any
    if name.startswith("T5"):
        gated, layers = "feed_forward_proj" in settings, settings.get("num_decoder_layers", 1)
        activation = "gelu_tanh" if gated else "relu"
        body = mx.model_zoo.text.T5(
            32, 16, 64, 1, 2, layers, head_units=8, activation=activation, gated=gated
        )
        net: Any = mx.model_zoo.text.Seq2SeqLM(body, tied=not gated, scaled=not gated)
    elif name == "BART":
        body = mx.model_zoo.text.BART(32, 16, *(1, 2, 64), *(1, 2, 64), max_length=64)
        net = mx.model_zoo.text.Seq2SeqLM(body, fixed_bias=True)
    else:
        sizes: dict[str, Any] = {"max_source_length": 6, "max_length": 24}
        body = mx.model_zoo.speech.Whisper(32, 5, 16, *(1, 2, 64), *(1, 2, 64), **sizes)
        net = mx.model_zoo.speech.SpeechSeq2SeqLM(body)
    mx.random.seed(3)
    net.initialize(mx.init.Normal(0.3))
    save_pretrained(net, tmp_path)
    (tmp_path / "config.json").write_text(json.dumps(settings))
    (tmp_path / "generation_config.json").write_text(json.dumps(options))
    found = from_pretrained(tmp_path)
    source = FEATURES[0] if name == "Whisper" else PROMPT
    assert found.generation_config.items() >= options.items()
    net.generation_config = options
    assert found.generate(source) == net.generate(source) != []
    (tmp_path / "generation_config.json").unlink()
    assert from_pretrained(tmp_path).generate(source, 3)
