"""Generation: texts of transformers, batches, caches, streams and plans."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.model_zoo import from_pretrained
from gluonish.model_zoo.generation.batching import BatchGenerator
from gluonish.model_zoo.generation.cache import Cache
from gluonish.model_zoo.generation.options import options_of
from gluonish.model_zoo.generation.processors import probabilities, processors_of
from tests.golden.generation_cases import DRAWS, NETWORKS, NEW_TOKENS, OPTIONS, PROMPT

GOLDEN = Path(__file__).parents[1] / "golden"
EXPECTED = json.loads((GOLDEN / "generation.json").read_text())
PROMPTS = [PROMPT, [5, 3, 5], [7], list(range(20))]


def network(name: str = "llama") -> Any:
    return _network(name, mx.current_context())


@cache
def _network(name: str, ctx: mx.Context) -> Any:
    net = from_pretrained(GOLDEN / "text_networks" / name, ctx, dtype="float32")
    net.generation_config = {}
    return net


@pytest.fixture(autouse=True)
def _on_new_devices() -> None:
    """Forget networks on GPUs, which tests on the double of CuPy have for themselves."""
    if mx.current_context().device_type == "gpu":
        _network.cache_clear()


@pytest.mark.parametrize("case", OPTIONS)
@pytest.mark.parametrize("name", NETWORKS)
def test_texts_are_those_of_transformers(name: str, case: str) -> None:
    found = network(name).generate([PROMPT], NEW_TOKENS, **OPTIONS[case])
    if OPTIONS[case].get("num_return_sequences", 1) == 1:
        assert len(found) == 1
    assert found == EXPECTED["texts"][name][case]


@pytest.mark.parametrize("case", DRAWS)
def test_probabilities_are_those_of_transformers(case: str) -> None:
    options = options_of({}, {"do_sample": True, "top_k": 0, **DRAWS[case]})
    scores = np.array(EXPECTED["draws"]["scores"], np.float32)
    for process in processors_of(options, 1, 9, ()):
        scores = process(scores, [1])
    np.testing.assert_allclose(probabilities(scores), EXPECTED["draws"][case], rtol=1e-5)


@pytest.mark.parametrize("name", NETWORKS)
def test_rows_of_a_batch_get_the_tokens_that_they_get_alone(name: str) -> None:
    net = network(name)
    whole = [net.generate(prompt, NEW_TOKENS) for prompt in PROMPTS]
    stops = {"eos_token_id": [whole[0][3], whole[1][6]]}
    alone = [net.generate(prompt, NEW_TOKENS, **stops) for prompt in PROMPTS]
    assert net.generate(PROMPTS, NEW_TOKENS, **stops) == alone
    assert len({len(row) for row in alone}) > 1  # some rows end before others


def test_draws_are_equal_for_equal_seeds_and_follow_the_probabilities() -> None:
    net = network()
    given: dict[str, Any] = {"do_sample": True, "temperature": 0.8, "num_return_sequences": 400}
    found = net.generate(PROMPT, 1, seed=3, **given)
    assert found == net.generate(PROMPT, 1, seed=3, **given)
    assert found != net.generate(PROMPT, 1, seed=4, **given)
    scores = net(mx.nd.array([PROMPT], dtype="int32"))[0, -1].asnumpy() / 0.8
    scores[scores < np.sort(scores)[-50 if scores.size >= 50 else 0]] = -np.inf
    expected = probabilities(scores)
    counts = np.bincount([token for (token,) in found], minlength=scores.size)
    likely = expected > 0.05
    assert likely.any()
    deviation = np.sqrt(expected * (1 - expected) / 400)
    assert (abs(counts / 400 - expected)[likely] < 4 * deviation[likely]).all()


def test_draws_without_a_seed_follow_the_seed_of_random_numbers() -> None:
    found = []
    for seed in (5, 5, 6):
        mx.random.seed(seed)
        found.append(network().generate(PROMPT, 8, do_sample=True, temperature=2.0))
    assert found[0] == found[1] != found[2]


def test_steps_and_prompts_of_a_length_share_one_plan() -> None:
    net = from_pretrained(GOLDEN / "text_networks" / "llama", dtype="float32")
    net.generate(PROMPT, 4)
    assert net.runner.num_plans == 2  # one for the prompt's piece, one for steps
    graphs = net.runner.num_graphs
    for prompt in PROMPTS[:3]:
        net.generate(prompt, 9)
    assert net.runner.num_plans == 2
    assert net.runner.num_graphs == graphs
    assert not net._active  # generation leaves the network as it is


def test_a_cache_goes_on_where_it_ended_and_common_beginnings_are_not_computed() -> None:
    net = network()
    held = net.new_cache()
    text = net.generate(PROMPT, 4, cache=held)
    longer = [*PROMPT, *text, 9, 8]
    want = net.generate(longer, 5)
    read: list[int] = []
    run = net.runner._run

    def counted(cache: Any, tokens: Any, places: Any, piece: int, last: Any) -> Any:
        read.append(int(last[0].asscalar()) + 1)
        return run(cache, tokens, places, piece, last)

    net.runner._run = counted
    try:
        assert net.generate(longer, 5, cache=held) == want
    finally:
        del net.runner._run
    assert sum(read) == 3 + 4  # the last token of the text, two new ones, and four steps
    other = held.copy()
    assert net.generate([*PROMPT, 2], 5, cache=held) == net.generate([*PROMPT, 2], 5)
    assert net.generate(longer, 5, cache=other) == want


def test_caches_are_saved_loaded_cut_and_refused(tmp_path: Path) -> None:
    net = network()
    held = net.new_cache()
    net.generate(PROMPT, 4, cache=held)
    path = tmp_path / "prompt.safetensors"
    held.save(path)
    again = Cache.load(path)
    assert again.tokens == held.tokens
    assert again.nbytes < held.nbytes
    longer = [*PROMPT, 7, 7]
    assert net.generate(longer, 5, cache=again) == net.generate(longer, 5)
    assert held.cut(3).tokens == [PROMPT[:3]]
    assert net.generate(PROMPT, 5, cache=held) == net.generate(PROMPT, 5)
    with pytest.raises(mx.base.MXNetError, match="cache of 2 rows, got one of 1"):
        net.generate(PROMPTS[:2], 2, cache=held)
    mx.nd.save(str(path), {"0.keys": mx.nd.ones((1, 2, 3, 4))})
    with pytest.raises(mx.base.MXNetError, match=r"a file of Cache\.save"):
        Cache.load(path)


def test_long_prompts_take_several_pieces_up_to_the_last_position() -> None:
    net = mx.model_zoo.text.CausalLM(
        mx.model_zoo.text.GPT2(32, units=8, num_layers=1, num_heads=2, max_length=700, dropout=0.0)
    )
    mx.random.seed(1)
    net.initialize(mx.init.Normal(0.5))
    tokens = (np.arange(690) * 7 % 31).tolist()
    want = []
    row = list(tokens)
    for _ in range(10):
        row.append(int(net(mx.nd.array([row], dtype="int32"))[0, -1].argmax().asscalar()))
        want.append(row[-1])
    assert net.generate(tokens, 100) == want
    held = net.new_cache()
    net.generate(tokens[:300], 1, cache=held)
    assert net.generate(tokens, 100, cache=held) == want


class Letters:
    """A tokenizer of the letters a to z."""

    def encode(self, text: str) -> list[int]:
        return [ord(letter) - 97 for letter in text]

    def decode(self, tokens: list[int]) -> str:
        return "".join(chr(97 + token) if token < 26 else "\ufffd" for token in tokens)


def test_texts_streams_and_callbacks() -> None:
    net = from_pretrained(GOLDEN / "text_networks" / "llama", dtype="float32")
    net.generation_config = {}
    net.tokenizer = Letters()
    tokens = net.generate(Letters().encode("dbe"), 8)
    text = Letters().decode(tokens)
    assert net.generate("dbe", 8) == text
    assert net.generate(["dbe", "aa"], 8) == [text, net.generate("aa", 8)]
    assert "".join(net.stream("dbe", 8)) == text
    assert list(net.stream([3, 1, 4], 8)) == net.generate([3, 1, 4], 8)
    stop = text[2:4]
    assert net.generate("dbe", 8, stop_strings=stop) == text[: text.index(stop)]
    assert "".join(net.stream("dbe", 8, stop_strings=[stop])) == text[: text.index(stop)]
    seen: list[tuple[int, int]] = []
    net.generate("dbe", 8, callback=lambda row, token: seen.append((row, token)))
    assert seen == [(0, token) for token in tokens]


def test_processors_of_the_user_come_before_drawing() -> None:
    def only_nine(scores: Any, tokens: Any) -> Any:
        return np.where(np.arange(scores.size) == 9, scores, -np.inf)

    assert network().generate(PROMPT, 3, logits_processor=[only_nine]) == [9, 9, 9]


@pytest.mark.parametrize(
    ("prompt", "options", "message"),
    [
        ([], {}, "prompt 0 of at least one token"),
        ([1, 40], {}, r"tokens of prompt 0 from 0 to 31, got 40"),
        ([1, -1], {}, r"tokens of prompt 0 from 0 to 31, got -1"),
        ([1] * 33, {}, "at most 32 tokens, which are the positions of CausalLM, got 33"),
        ([1] * 32, {}, "leaves room for a token"),
        ("text", {}, "tokenizer for a prompt that is text"),
        (5, {}, "prompts as text, tokens, or a list"),
        ([1], {"top_p": 0.0}, "top_p above 0"),
        ([1], {"top_p": 1.5}, "top_p from 0"),
        ([1], {"temperature": -1.0}, "temperature from 0"),
        ([1], {"temperature": float("nan")}, "temperature from 0"),
        ([1], {"do_sample": True, "num_beams": 2}, "num_beams of 1 with do_sample"),
        ([1], {"num_return_sequences": 2}, "num_return_sequences of at most num_beams 1"),
        ([1], {"max_new_tokens": 0}, "max_new_tokens from 1"),
        ([1], {"max_new_tokens": 2.5}, "max_new_tokens of type int"),
        ([1], {"top_q": 2}, "expected options among"),
        ([1], {"stop_strings": [""]}, "stop_strings of texts that are not empty"),
        ([1], {"early_stopping": "now"}, "early_stopping of True, False or 'never'"),
        ([1], {"eos_token_id": ["a"]}, "eos_token_id of type int"),
    ],
)
def test_bad_input_is_refused(prompt: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(mx.base.MXNetError, match=message):
        network().generate(prompt, **options)


@pytest.mark.parametrize("name", NETWORKS)
def test_texts_in_changing_batches_are_those_that_they_are_alone(name: str) -> None:
    net = network(name)
    given: dict[str, Any] = {"max_new_tokens": 7, "eos_token_id": [10, 25]}
    prompts = [*PROMPTS, [2, 9, 9], [30, 1]]
    batch = BatchGenerator(net, max_batch=3, **given)
    found: dict[int, list[int]] = {}
    steps = 0
    while batch.is_busy or len(found) < len(prompts):
        if len(found) < len(prompts):  # a new one in each of the first steps
            found[batch.insert(prompts[len(found)])] = []
        new = batch.step()
        assert len(new) <= 3
        for number, token, is_last in new:
            found[number].append(token)
            assert is_last == (len(found[number]) == 7 or token in (10, 25))
        steps += 1
    assert list(found.values()) == [net.generate(prompt, **given) for prompt in prompts]
    assert steps < sum(map(len, found.values()))
    assert batch.step() == []


def test_drawn_texts_in_a_batch_are_those_of_their_seeds() -> None:
    net = network()
    batch = BatchGenerator(net, max_batch=2, max_new_tokens=5, do_sample=True)
    found: dict[int, list[int]] = {batch.insert(PROMPT, seed=seed): [] for seed in (1, 2, 3)}
    while batch.is_busy:
        for number, token, _ in batch.step():
            found[number].append(token)
    wanted = [net.generate(PROMPT, 5, do_sample=True, seed=seed) for seed in (1, 2, 3)]
    assert list(found.values()) == wanted


@pytest.mark.parametrize("name", NETWORKS)
def test_guesses_change_the_number_of_steps_and_no_token(name: str) -> None:
    net, small = network(name), network("llama")
    options: list[dict[str, Any]] = [{}, {"repetition_penalty": 1.3}, {"eos_token_id": [10, 25]}]
    for prompt in PROMPTS:
        for given in options:
            want = net.generate(prompt, NEW_TOKENS, **given)
            assert net.generate(prompt, NEW_TOKENS, prompt_lookup=True, **given) == want
            assert net.generate(prompt, NEW_TOKENS, assistant_model=small, **given) == want


def test_right_guesses_save_steps() -> None:
    net = network()
    calls: list[int] = []
    scores = net.checker.scores

    def counted(cache: Any, tokens: Any) -> Any:
        calls.append(len(tokens))
        return scores(cache, tokens)

    net.checker.scores = counted
    try:
        found = net.generate(PROMPT, 17, assistant_model=net)
    finally:
        del net.checker.scores
    assert found == net.generate(PROMPT, 17)
    assert calls == [8, 8]  # the prompt gives the first token, each check eight more


def test_what_guesses_cannot_do_is_refused() -> None:
    net = network()
    for options, message in (
        ({"prompt_lookup": True, "do_sample": True}, "without do_sample"),
        ({"prompt_lookup": True, "assistant_model": net}, "got both"),
        ({"prompt_lookup": True, "num_beams": 2}, "with num_beams 2: beams change"),
        ({"callback": print, "num_beams": 2}, "no callback, assistant_model and prompt_lookup"),
    ):
        with pytest.raises(mx.base.MXNetError, match=message):
            net.generate(PROMPT, 2, **options)


def _unchanged(scores: Any, tokens: Any) -> Any:
    return scores


@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_steps_that_run_ahead_of_the_host_give_the_same_texts(name: str) -> None:
    net = network(name)
    prompts = PROMPTS[:3]
    whole = [net.generate(prompt, NEW_TOKENS) for prompt in prompts]
    stops = {"eos_token_id": [whole[0][3], whole[1][6]]}
    for options in ({}, stops):
        # A processor needs the scores on the host, so that no step is started before.
        want = net.generate(prompts, NEW_TOKENS, logits_processor=[_unchanged], **options)
        held = net.new_cache(len(prompts))
        assert net.generate(prompts, NEW_TOKENS, cache=held, **options) == want
        rows = [[*prompt, *text[:-1]] for prompt, text in zip(prompts, want, strict=True)]
        for row, one in zip(rows, held.tokens, strict=True):
            assert one[: len(row)] == row[: len(one)]
        longer = [[*prompt, *text, 4] for prompt, text in zip(prompts, want, strict=True)]
        assert net.generate(longer, 3, cache=held) == net.generate(longer, 3)


def test_the_next_text_gets_the_memory_of_the_last_whatever_is_in_it() -> None:
    net = network()
    first = net.generate(PROMPT, 4)
    if net.runner.context().device_type != "cpu":  # there the pool of CuPy does it
        assert net.runner._spare is None
        return
    spare = net.runner._spare[1]
    for layer in spare._layers:
        for array in layer:
            array[:] = np.nan
    assert net.generate(PROMPT, 4) == first
    assert net.runner._spare[1] is spare
    assert net.generate(PROMPT, 4, cache_dtype="int8")
    assert net.runner._spare[1].dtype == np.int8
    assert net.generate(PROMPT, 4) == first
    assert net.runner._spare[1].dtype == np.float32
