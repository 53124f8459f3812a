"""Language networks of transformers' folders: scores, gradients, text, and folders both ways."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import ml_dtypes  # noqa: F401  # NumPy reads bfloat16
import numpy as np
import pytest

import gluonish as mx
from gluonish.core.file_map import AnonymousMap, memory_of
from gluonish.core.operating_system import LINUX
from gluonish.model_zoo import from_pretrained, save_pretrained
from gluonish.model_zoo.pretrained.families import body_of, family_of
from gluonish.model_zoo.text import GPT2, CausalLM
from gluonish.ndarray.array_file import read_arrays
from tests.golden.text_network_cases import BART_HEADS, DEAD, TOKENS, inputs

FOLDERS = Path(__file__).parents[2] / "golden" / "text_networks"
CASES = sorted(path.name for path in FOLDERS.iterdir())
CONFIGS = {case: json.loads((FOLDERS / case / "config.json").read_text()) for case in CASES}
LANGUAGE_MODELS = [
    case
    for case, config in CONFIGS.items()
    if config["architectures"][0].endswith(("ForCausalLM", "LMHeadModel"))
]

# Settings without an effect on networks of this size, or that others replace.
UNUSED = {
    "_sliding_window_pattern",
    "decoder_sparse_step",
    "classifier_proj_size",
    "global_attn_every_n_layers",
    "init_std",
    "mask_feature_length",
    "mask_time_length",
    "mask_time_min_masks",
    "mask_time_prob",
    "median_filter_width",
    "num_decoder_layers",
    "initializer_cutoff_factor",
    "max_window_layers",
    "num_local_experts",
    "original_max_position_embeddings",
    "pretraining_tp",
    "router_aux_loss_coef",
    "sinusoidal_pos_embds",
    "sparse_pred_ignore_index",
    "summary_activation",
    "summary_first_dropout",
    "summary_last_dropout",
    "summary_proj_to_labels",
    "summary_type",
    "summary_use_proj",
    "transformers_version",
}
OF_HEADS = {
    "classifier_activation",
    "classifier_dropout",
    "classifier_pooling",
    "decoder_bias",
    "final_logit_softcapping",
    "qa_dropout",
    "scale_decoder_outputs",
    "seq_classif_dropout",
    "tie_word_embeddings",
}


def network(case: str) -> Any:
    """Return the network of a folder on the current device."""
    return _network(case, mx.current_context())


@cache
def _network(case: str, ctx: mx.Context) -> Any:
    return from_pretrained(FOLDERS / case, ctx, dtype="float32")


@pytest.fixture(autouse=True)
def _on_new_devices() -> None:
    """Forget networks on GPUs, which tests on the double of CuPy have for themselves."""
    if mx.current_context().device_type == "gpu":
        _network.cache_clear()


@cache
def expected(case: str) -> dict[str, Any]:
    """Return what transformers computed in float64."""
    with np.load(FOLDERS / case / "expected.npz") as file:
        return dict(file)


def given(case: str, dtype: str = "float32") -> list[Any]:
    """Return the inputs of a network, whose features are of its dtype."""
    rows = inputs(CONFIGS[case])
    dtypes = {"input_features": dtype}
    return [
        None if row is None else mx.nd.array(row, dtype=dtypes.get(name, "int32"))
        for name, row in rows.items()
    ]


def given_to_body(case: str) -> list[Any]:
    """Return the inputs of a network's body."""
    if not reads_one_text(case):
        return given(case)
    source, lengths = given(case)
    start = mx.nd.full((2, 1), CONFIGS[case]["decoder_start_token_id"], dtype="int32")
    return [source, mx.nd.concat(start, source[:, :-1], dim=1), lengths]


def joined(made: Any) -> mx.nd.NDArray:
    """Return an output; several as one vector."""
    if isinstance(made, mx.nd.NDArray):
        return made
    return mx.nd.concat(*(x.reshape(-1) for x in made), dim=0)


def first(made: Any) -> mx.nd.NDArray:
    return made if isinstance(made, mx.nd.NDArray) else made[0]


def reads_a_source(case: str) -> bool:
    return bool(CONFIGS[case].get("is_encoder_decoder"))


def reads_one_text(case: str) -> bool:
    """Return whether a network's encoder and decoder read the same text."""
    return CONFIGS[case]["architectures"][0] in BART_HEADS


def tokens(rows: Any = TOKENS) -> mx.nd.NDArray:
    return mx.nd.array(rows, dtype="int32")


def close(found: Any, want: Any, bound: float, what: str = "", scale: float = 1e-30) -> None:
    found = found.asnumpy() if isinstance(found, mx.nd.NDArray) else np.asarray(found)
    assert found.shape == want.shape, what
    apart = np.abs(found.astype(np.float64) - want).max() / max(np.abs(want).max(), scale)
    assert apart < bound, f"{what}: {apart}"


@pytest.mark.parametrize("case", CASES)
def test_outputs_are_those_of_transformers(case: str) -> None:
    net, want = network(case), expected(case)
    for hybridized in (False, True):
        net.hybridize(hybridized)
        close(joined(net(*given(case))), want["output"], 2e-5)
        close(first(body_of(net)(*given_to_body(case))), want["features"], 2e-5)


@pytest.mark.parametrize("case", CASES)
def test_gradients_are_those_of_transformers(case: str) -> None:
    net, want = network(case), expected(case)
    net.hybridize()
    output = joined(net(*given(case)))
    pattern = np.cos(np.arange(output.size)).reshape(output.shape)
    with mx.autograd.record(train_mode=False):
        loss = (joined(net(*given(case))) * mx.nd.array(pattern)).sum()
    loss.backward()
    family = family_of(net)
    found = family.table(net, family.prefix_of(net)).gradients()
    assert {f"gradient {name}" for name in found} == {k for k in want if k[:9] == "gradient "}
    # That of a key's bias is zero, as it adds the same to all scores of a query.
    scale = 1e-2 * max(want[f"gradient {name}"][1] for name in found)
    for name, gradient in found.items():
        gradient = gradient.astype(np.float64)
        product = (gradient * np.cos(np.arange(gradient.size)).reshape(gradient.shape)).sum()
        close([product, np.linalg.norm(gradient)], want[f"gradient {name}"], 1e-4, name, scale)


@pytest.mark.parametrize("case", CASES)
def test_saved_folders_have_the_same_settings_and_weights(case: str, tmp_path: Path) -> None:
    net = from_pretrained(FOLDERS / case)
    save_pretrained(net, tmp_path)
    was, now = (
        json.loads((folder / "config.json").read_text()) for folder in (FOLDERS / case, tmp_path)
    )
    for name, value in now.items():
        assert was.get(name, value) == value, name
    head = family_of(net).head(now["architectures"][0])
    taken = {name for setting in (head.settings if head else ()) for name in setting.names}
    unused = UNUSED | OF_HEADS - taken
    assert {name for name, value in was.items() if name not in now and value} <= unused
    files = [read_arrays(folder / "model.safetensors") for folder in (FOLDERS / case, tmp_path)]
    (before, after) = (dict(zip(file.names, file.arrays, strict=True)) for file in files)
    assert before.keys() - after.keys() <= DEAD
    for name, record in after.items():
        assert record.values.tobytes() == before[name].values.tobytes(), name
    nets = (net, from_pretrained(tmp_path))
    values = [joined(x(*given(case, "bfloat16"))).asnumpy().tobytes() for x in nets]
    assert values[0] == values[1]


@pytest.mark.parametrize("windows", [3, None, (None, 3)])
def test_a_saved_gemma_has_the_windows_of_its_layers(windows: Any, tmp_path: Path) -> None:
    net = from_pretrained(FOLDERS / "gemma2", windows=windows)
    save_pretrained(net, tmp_path)
    types = json.loads((tmp_path / "config.json").read_text())["layer_types"]
    each = windows if isinstance(windows, tuple) else (windows, windows)
    assert types == ["full_attention" if x is None else "sliding_attention" for x in each]
    assert from_pretrained(tmp_path).body.windows == each


def greedy(net: Any, prompt: Any, steps: int, length: int = 32) -> list[int]:
    """Return the most probable tokens, computed with a cache, the prompt in two parts."""
    cache = net.begin_cache(1, length)
    found: list[int] = []
    for rows in ([prompt[:3]], [prompt[3:]], *[None] * steps):
        part = tokens([found[-1:]] if rows is None else rows)
        scores = net(part, None, None, cache)
        cache[0].position[:] += part.shape[1]
        found.append(int(scores[0, -1].argmax().asscalar()))
    return found[1:-1]


@pytest.mark.parametrize("case", LANGUAGE_MODELS)
def test_tokens_with_a_cache_are_those_of_transformers_without(case: str) -> None:
    net = network(case)
    net.hybridize()
    want = expected(case)["greedy"].tolist()
    assert greedy(net, TOKENS[0], len(want)) == want


@pytest.mark.parametrize("case", [case for case in CASES if not reads_a_source(case)])
def test_a_padded_row_has_the_features_that_it_has_alone(case: str) -> None:
    body = body_of(network(case))
    lengths = mx.nd.array([5, 8], dtype="int32")
    both = first(body(tokens(), None, lengths))
    close(both[0, :5], first(body(tokens([TOKENS[0][:5]])))[0].asnumpy(), 1e-5)
    close(both[1], first(body(tokens([TOKENS[1]])))[0].asnumpy(), 1e-5)


@pytest.mark.parametrize("case", ["bart", "bart_untied", "bart_body", "t5", "t5_body", "t5_gated"])
def test_a_padded_source_gives_the_scores_that_it_gives_alone(case: str) -> None:
    net = network(case)
    source, target, _ = given(case)
    both = net(source, target, mx.nd.array([5, 8], dtype="int32"))
    close(both[:1], net(source[:1, :5], target[:1]).asnumpy(), 1e-5)
    close(both[1:], net(source[1:], target[1:]).asnumpy(), 1e-5)


@pytest.mark.parametrize(
    "case", [case for case in CASES if reads_a_source(case) and not reads_one_text(case)]
)
def test_a_decoder_with_a_cache_gives_what_it_gives_without(case: str) -> None:
    net = network(case)
    source, target, *lengths = given(case)
    want = net(source, target, *lengths).asnumpy()
    for hybridized in (False, True):
        net.hybridize(hybridized)
        cache = net.begin_cache(net.encode(source, *lengths), 12, *lengths)
        for begin, end in ((0, 3), (3, 4), (4, 6)):
            close(net.decode(target[:, begin:end], cache), want[:, begin:end], 1e-5)
            cache.layers[0][0].position[:] += end - begin


@pytest.mark.skipif(not LINUX, reason="memory is mapped on Linux only")
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_matrices_of_the_other_order_or_dtype_are_in_memory_of_large_pages(
    dtype: str, tmp_path: Path
) -> None:
    net = CausalLM(GPT2(vocab_size=97, units=64, num_layers=1, num_heads=2, max_length=16))
    net.initialize(mx.init.Normal(0.05))
    save_pretrained(net, tmp_path)
    parameters = net._collect_params_with_prefix()
    for name, found in from_pretrained(tmp_path, dtype=dtype)._collect_params_with_prefix().items():
        values = parameters[name].data().astype(dtype).asnumpy()
        assert found.data().asnumpy().tobytes() == values.tobytes(), name
        if values.nbytes >= 4096:
            assert isinstance(memory_of(found.data()._data), AnonymousMap), name
