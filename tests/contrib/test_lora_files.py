"""contrib.lora on files that peft wrote (golden data), and ours in peft's form."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gluonish import gluon, nd
from gluonish.contrib import lora
from gluonish.core.errors import FileFormatError, NotSupportedError
from gluonish.gluon import nn
from gluonish.gluon.block.block_paths import blocks_by_path
from tests.contrib.lora_for_peft import GOLDEN, Llama, tokens_and_output

ADAPTERS = {
    "plain": ["q_proj", "v_proj", "down_proj"],
    "rslora": ["o_proj"],
    "pattern": r".*\.1\..*(gate|up)_proj|lm_head",
}


def close(found: Any, wanted: np.ndarray[Any, Any]) -> None:
    scale = np.abs(wanted).max()
    np.testing.assert_allclose(found.asnumpy(), wanted, rtol=0, atol=1e-5 * scale)


def test_the_network_is_that_of_transformers() -> None:
    tokens, output = tokens_and_output()
    close(Llama()(tokens), output)


@pytest.mark.parametrize("hybridized", [False, True])
@pytest.mark.parametrize("name", ADAPTERS)
def test_adapters_of_peft_compute_what_they_do_there(name: str, hybridized: bool) -> None:
    net = Llama()
    if hybridized:
        net.hybridize()
    tokens, before = tokens_and_output()
    paths = lora.load(net, GOLDEN / name)
    wanted = np.load(GOLDEN / name / "output.npy")
    assert np.abs(wanted - before).max() > 0.1 * np.abs(before).max()
    close(net(tokens), wanted)
    assert lora.merge(net) == sorted(paths, key=list(dict(blocks_by_path(net))).index)
    close(net(tokens), wanted)


@pytest.mark.parametrize("hybridized", [False, True])
def test_the_scale_is_that_of_the_file(hybridized: bool) -> None:
    """Also of layers that had an adapter of another scale, and a graph."""
    net = Llama()
    tokens, before = tokens_and_output()
    lora.apply(net, ["q_proj", "v_proj", "down_proj"], 4, 1.0, dropout=0.5, use_rslora=True)
    if hybridized:
        net.hybridize()
    close(net(tokens), before)
    lora.load(net, GOLDEN / "plain")
    wanted = np.load(GOLDEN / "plain" / "output.npy")
    close(net(tokens), wanted)


@pytest.mark.parametrize("name", ADAPTERS)
def test_ours_have_the_names_and_numbers_of_peft(name: str, tmp_path: Path) -> None:
    net = Llama()
    lora.load(net, GOLDEN / name)
    lora.save(net, tmp_path)
    ours: Any = nd.load(str(tmp_path / "adapter_model.safetensors"))
    theirs: Any = nd.load(str(GOLDEN / name / "adapter_model.safetensors"))
    assert ours.keys() == theirs.keys()
    for key, value in theirs.items():
        np.testing.assert_array_equal(ours[key].asnumpy(), value.asnumpy())
    found, wanted = (
        json.loads((folder / "adapter_config.json").read_text())
        for folder in (tmp_path, GOLDEN / name)
    )
    for key in found.keys() - {"target_modules", "base_model_name_or_path", "task_type"}:
        assert found[key] == wanted[key], key


@pytest.mark.parametrize("name", ADAPTERS)
def test_targets_are_those_of_peft(name: str) -> None:
    net = Llama()
    config = json.loads((GOLDEN / name / "adapter_config.json").read_text())
    targets = config["target_modules"]
    assert sorted(targets) == sorted(ADAPTERS[name]) if isinstance(targets, list) else True
    file: Any = nd.load(str(GOLDEN / name / "adapter_model.safetensors"))
    paths = {key.removeprefix("base_model.model.").rpartition(".lora_")[0] for key in file}
    assert set(lora.apply(net, targets, 2)) == paths


def test_a_list_that_would_match_more_layers_is_saved_as_a_pattern(tmp_path: Path) -> None:
    inner = nn.HybridSequential()
    inner.add(nn.Dense(2, in_units=2), nn.Dense(2, in_units=2))
    net = nn.HybridSequential()
    net.add(nn.Dense(2, in_units=2), inner)
    net.initialize()
    assert lora.apply(net, "0") == ["0"]
    lora.save(net, tmp_path)
    config = json.loads((tmp_path / "adapter_config.json").read_text())
    assert config["target_modules"] == "0"  # as a list it would match 1.0, too


class _Feed(gluon.HybridBlock):
    """One layer of GPT-2's attention block, under its name there."""

    def __init__(self) -> None:
        super().__init__()
        self.c_attn = nn.Dense(24, flatten=False, in_units=8)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return self.c_attn(x)


def test_adapters_of_transposed_layers() -> None:
    """GPT-2's Conv1D stores its own weight the other way round, and its adapters as Dense does."""
    file: Any = nd.load(str(GOLDEN / "gpt2" / "adapter_model.safetensors"))
    down, up = (
        file[f"base_model.model.transformer.h.0.attn.c_attn.lora_{word}.weight"].asnumpy()
        for word in "AB"
    )
    net = nn.HybridSequential()
    outer, stack = gluon.HybridBlock(), nn.HybridSequential()
    layer = gluon.HybridBlock()
    layer.attn = _Feed()  # type: ignore[attr-defined]
    stack.add(layer)
    outer.h = stack  # type: ignore[attr-defined]
    net.transformer = outer  # type: ignore[attr-defined]
    feed: Any = layer.attn  # type: ignore[attr-defined]
    with np.load(GOLDEN / "gpt2.npz") as arrays:
        weight, bias = (
            arrays[f"transformer.h.0.attn.c_attn.{kind}"] for kind in ("weight", "bias")
        )
    net.initialize()
    feed.c_attn.weight.set_data(nd.array(weight.T))
    feed.c_attn.bias.set_data(nd.array(bias))
    assert lora.load(net, GOLDEN / "gpt2") == ["transformer.h.0.attn.c_attn"]
    x = np.random.default_rng(0).standard_normal((2, 3, 8))
    wanted = x @ weight + bias + 2.5 * (x @ down.T) @ up.T
    close(feed(nd.array(x)), wanted)


@pytest.mark.parametrize(
    "option",
    [
        {"modules_to_save": ["lm_head"]},
        {"bias": "all"},
        {"bias": "lora_only"},
        {"use_dora": True},
        {"lora_bias": True},
        {"rank_pattern": {"q_proj": 8}},
        {"alpha_pattern": {"q_proj": 8}},
        {"init_lora_weights": "pissa_niter_4"},
        {"layer_replication": [[0, 2]]},
        {"target_parameters": ["experts.weight"]},
        {"trainable_token_indices": [1]},
    ],
)
def test_what_dense_layers_do_not_compute_is_refused_by_name(option: Any, tmp_path: Path) -> None:
    config = json.loads((GOLDEN / "plain" / "adapter_config.json").read_text())
    (tmp_path / "adapter_config.json").write_text(json.dumps({**config, **option}))
    ((name, value),) = option.items()
    with pytest.raises(NotSupportedError, match=f"expected {name} .*got ") as found:
        lora.load(Llama(), tmp_path)
    assert str(found.value).endswith(f"got {value!r}")


def test_weights_of_embeddings_in_the_file_are_refused(tmp_path: Path) -> None:
    text = (GOLDEN / "plain" / "adapter_config.json").read_text()
    (tmp_path / "adapter_config.json").write_text(text)
    key = "base_model.model.lm_head.base_layer.weight"
    nd.save(str(tmp_path / "adapter_model.safetensors"), {key: nd.ones((32, 16))})
    with pytest.raises(FileFormatError, match=f"got {key}; in peft, save with save_embedding"):
        lora.load(Llama(), tmp_path)
