"""Language networks of transformers' folders: scores, gradients, text, and folders both ways."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import ml_dtypes  # noqa: F401  # NumPy reads bfloat16
import numpy as np
import pytest

import gluonish as mx
from gluonish.model_zoo import from_pretrained, save_pretrained
from gluonish.model_zoo.pretrained.families import body_of, family_of
from gluonish.ndarray.array_file import read_arrays
from tests.golden.text_network_cases import TOKENS

FOLDERS = Path(__file__).parents[2] / "golden" / "text_networks"
CASES = sorted(path.name for path in FOLDERS.iterdir())
LANGUAGE_MODELS = [
    case
    for case in CASES
    if json.loads((FOLDERS / case / "config.json").read_text())["architectures"][0].endswith(
        ("ForCausalLM", "LMHeadModel")
    )
]

# Settings without an effect on networks of this size, or that others replace.
UNUSED = {
    "_sliding_window_pattern",
    "classifier_dropout",
    "decoder_sparse_step",
    "max_window_layers",
    "num_local_experts",
    "original_max_position_embeddings",
    "pretraining_tp",
    "router_aux_loss_coef",
    "summary_first_dropout",
    "summary_proj_to_labels",
    "summary_type",
    "summary_use_proj",
    "transformers_version",
}
OF_HEADS = {"tie_word_embeddings"}


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


def tokens(rows: Any = TOKENS) -> mx.nd.NDArray:
    return mx.nd.array(rows, dtype="int32")


def close(found: Any, want: Any, bound: float, what: str = "") -> None:
    found = found.asnumpy() if isinstance(found, mx.nd.NDArray) else np.asarray(found)
    assert found.shape == want.shape, what
    apart = np.abs(found.astype(np.float64) - want).max() / max(np.abs(want).max(), 1e-30)
    assert apart < bound, f"{what}: {apart}"


@pytest.mark.parametrize("case", CASES)
def test_outputs_are_those_of_transformers(case: str) -> None:
    net, want = network(case), expected(case)
    for hybridized in (False, True):
        net.hybridize(hybridized)
        close(net(tokens()), want["output"], 2e-5)
        close(body_of(net)(tokens()), want["features"], 2e-5)


@pytest.mark.parametrize("case", CASES)
def test_gradients_are_those_of_transformers(case: str) -> None:
    net, want = network(case), expected(case)
    net.hybridize()
    output = net(tokens())
    pattern = np.cos(np.arange(output.size)).reshape(output.shape)
    with mx.autograd.record(train_mode=False):
        loss = (net(tokens()) * mx.nd.array(pattern)).sum()
    loss.backward()
    prefix = "" if body_of(net) is net else family_of(net).prefix
    found = family_of(net).table(net, prefix).gradients()
    assert {f"gradient {name}" for name in found} == {k for k in want if k[:9] == "gradient "}
    for name, gradient in found.items():
        gradient = gradient.astype(np.float64)
        product = (gradient * np.cos(np.arange(gradient.size)).reshape(gradient.shape)).sum()
        close([product, np.linalg.norm(gradient)], want[f"gradient {name}"], 1e-4, name)


@pytest.mark.parametrize("case", CASES)
def test_saved_folders_have_the_same_settings_and_weights(case: str, tmp_path: Path) -> None:
    net = from_pretrained(FOLDERS / case)
    save_pretrained(net, tmp_path)
    was, now = (
        json.loads((folder / "config.json").read_text()) for folder in (FOLDERS / case, tmp_path)
    )
    for name, value in now.items():
        assert was.get(name, value) == value, name
    unused = UNUSED if family_of(net).head(now["architectures"][0]) else {*UNUSED, *OF_HEADS}
    assert {name for name, value in was.items() if name not in now and value} <= unused
    files = [read_arrays(folder / "model.safetensors") for folder in (FOLDERS / case, tmp_path)]
    (first, second) = (dict(zip(file.names, file.arrays, strict=True)) for file in files)
    assert first.keys() == second.keys()
    for name, record in first.items():
        assert record.values.tobytes() == second[name].values.tobytes(), name
    again = from_pretrained(tmp_path)
    assert again(tokens()).asnumpy().tobytes() == net(tokens()).asnumpy().tobytes()


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


@pytest.mark.parametrize("case", CASES)
def test_a_padded_row_has_the_features_that_it_has_alone(case: str) -> None:
    body = body_of(network(case))
    lengths = mx.nd.array([5, 8], dtype="int32")
    both = body(tokens(), None, lengths)
    close(both[0, :5], body(tokens([TOKENS[0][:5]]))[0].asnumpy(), 1e-5)
    close(both[1], body(tokens([TOKENS[1]]))[0].asnumpy(), 1e-5)
