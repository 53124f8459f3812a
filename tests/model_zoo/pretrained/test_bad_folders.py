"""What from_pretrained and save_pretrained say of folders and networks that they refuse."""

import json
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.model_zoo import from_pretrained, save_pretrained
from gluonish.model_zoo.text import CausalLM, Llama

LLAMA = Path(__file__).parents[2] / "golden" / "text_networks" / "llama"
WEIGHTS = "model.safetensors"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(LLAMA, tmp_path / "llama")
    return tmp_path / "llama"


def change(folder: Path, **settings: Any) -> None:
    path = folder / "config.json"
    content = json.loads(path.read_text()) | settings
    path.write_text(json.dumps({k: v for k, v in content.items() if v != "left out"}))


def refused(folder: Path, message: str, **options: Any) -> None:
    with pytest.raises(mx.base.MXNetError, match=message):
        from_pretrained(folder, **options)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model_type": "lama"}, r"'model_type' among .* got 'lama'.*nearest.*llama"),
        ({"model_type": 5}, "'model_type' among .* got 5"),
        ({"model_type": "left out"}, "'model_type' among .* got None"),
        ({"architectures": ["LlamaForCausalML"]}, "architecture of llama among .*ForCausalLM"),
        ({"architectures": []}, "'architectures' with the name of one network"),
        ({"hidden_size": "left out"}, r"the setting 'hidden_size', got none"),
        ({"hidden_size": "16"}, "'hidden_size' of type int, got '16'"),
        ({"hidden_size": True}, "'hidden_size' of type int, got True"),
        ({"hidden_size": -16}, "'hidden_size' from 1 to .*, got -16"),
        ({"hidden_size": 10**15}, "'hidden_size' from 1 to .*, got 1000000000000000"),
        ({"num_hidden_layers": 10**9}, "'num_hidden_layers' from 1 to 1024"),
        ({"rms_norm_eps": float("nan")}, "'rms_norm_eps' from"),
        ({"hidden_act": "mish"}, "'hidden_act' among .*silu.*, got 'mish'"),
        ({"num_key_value_heads": 3}, "num_kv_heads that divides num_heads 4, got 3"),
        ({"num_attention_heads": 5, "head_dim": None}, "num_heads that divides units 16, got 5"),
        ({"rope_scaling": {"rope_type": "longrope"}, "rope_parameters": None}, "'rope_type' among"),
        ({"rope_parameters": {"rope_type": "linear"}}, "the setting 'factor', got none"),
        ({"rope_parameters": {"rope_type": "default", "wave": 3}}, "got wave=3"),
        ({"rope_parameters": [1]}, "'rope_parameters' of type dict"),
        ({"new_attention": True}, "got new_attention=True; a setting that is not understood"),
        ({"is_decoder": True}, "'is_decoder' to be False, got True, which is not supported"),
        ({"quantization_config": {"bits": 4}}, "'quantization_config' to be None"),
        # Weights of other shapes are found by their headers.
        ({"vocab_size": 33}, r"'model.embed_tokens.weight' of shape \(33, 16\), got \(32, 16\)"),
        ({"vocab_size": 16_000_000}, r"of shape \(16000000, 16\), got \(32, 16\)"),
        ({"num_hidden_layers": 3}, "tensors 'model.layers.2.* got none of them"),
        ({"num_hidden_layers": 1}, "expected no tensors 'model.layers.1"),
        ({"num_key_value_heads": 1}, r"k_proj.weight' of shape \(6, 16\), got \(12, 16\)"),
        ({"tie_word_embeddings": True}, "equal to .* as the settings say that both are one weight"),
        ({"attention_bias": True}, "tensors 'model.layers.0.self_attn.q_proj.bias'"),
    ],
)
def test_settings(folder: Path, settings: dict[str, Any], message: str) -> None:
    change(folder, **settings)
    refused(folder, message)


@pytest.mark.parametrize("content", [b"[1]", b"{", b'{"a": 1, "a": 2}', b"\xff", b"1" * 11_000_000])
def test_config_that_is_no_object(folder: Path, content: bytes) -> None:
    (folder / "config.json").write_bytes(content)
    refused(folder, "config.json: expected")


def with_header(path: Path, edit: Callable[[dict[str, Any]], Any]) -> None:
    """Change the header of a safetensors file."""
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    text = json.dumps(edit(header) or header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + content[8 + length :])


def overlapping(header: dict[str, Any]) -> None:
    names = [name for name in header if name != "__metadata__"]
    header[names[1]]["data_offsets"] = header[names[0]]["data_offsets"]
    header[names[1]]["shape"] = header[names[0]]["shape"]


def integers(header: dict[str, Any]) -> None:
    entry = header["model.norm.weight"]
    entry["dtype"] = "I16"


def renamed(header: dict[str, Any]) -> Any:
    return {name.replace("model.norm.weight", "model.nrm.weight"): x for name, x in header.items()}


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (overlapping, "which is an overlap"),
        (integers, "'model.norm.weight' of a floating dtype, got int16"),
        (renamed, "tensors 'model.norm.weight', got none of them.* no tensors 'model.nrm.weight'"),
    ],
)
def test_headers(folder: Path, edit: Callable[[dict[str, Any]], Any], message: str) -> None:
    with_header(folder / WEIGHTS, edit)
    refused(folder, message)


def test_files_that_are_missing_truncated_or_of_another_kind(folder: Path) -> None:
    content = (folder / WEIGHTS).read_bytes()
    (folder / WEIGHTS).write_bytes(content[:-1])
    refused(folder, "truncated or corrupt")
    (folder / WEIGHTS).unlink()
    (folder / "pytorch_model.bin").write_bytes(b"PK")
    refused(folder, "'pytorch_model.bin' is a pickle, which is never opened here")
    (folder / "pytorch_model.bin").unlink()
    refused(folder, "expected model.safetensors or model.safetensors.index.json")
    np.savez(folder / "model.npz", a=np.ones(2))
    (folder / "model.npz").rename(folder / WEIGHTS)
    refused(folder, "expected a safetensors file, got another format")
    shutil.rmtree(folder)
    refused(folder, "expected a folder with config.json and model.safetensors, or a name")


def test_shards(tmp_path: Path) -> None:
    net = from_pretrained(LLAMA)
    save_pretrained(net, tmp_path / "shards", max_shard_size="8KB")
    index = tmp_path / "shards" / "model.safetensors.index.json"
    files = sorted(path.name for path in index.parent.glob("*-of-*"))
    assert len(files) > 1
    tokens = mx.nd.array([[1, 2, 3]], dtype="int32")
    want = net(tokens).asnumpy()
    assert from_pretrained(index.parent)(tokens).asnumpy().tobytes() == want.tobytes()
    content = json.loads(index.read_text())
    name = "model.norm.weight"
    for other, message in (
        ("model-00009-of-00009.safetensors", "expected a file 'model-00009-of-00009.safetensors'"),
        ("../secret.safetensors", "which is not a file name"),
        (next(x for x in files if x != content["weight_map"][name]), f"expected '{name}' in"),
    ):
        changed = {**content, "weight_map": {**content["weight_map"], name: other}}
        index.write_text(json.dumps(changed))
        refused(index.parent, message)


def test_bodies_heads_and_changes(folder: Path) -> None:
    net = from_pretrained(folder, dtype="float32")
    tokens = mx.nd.array([[1, 2, 3]], dtype="int32")
    body = from_pretrained(folder, dtype="float32", architecture="LlamaModel")
    assert body(tokens).asnumpy().tobytes() == net.body(tokens).asnumpy().tobytes()
    save_pretrained(body, folder.parent / "body")
    refused(folder.parent / "body", "tensors 'lm_head.weight'", architecture="LlamaForCausalLM")
    given = {"architecture": "LlamaForCausalLM", "initializer": mx.init.Normal(0.1)}
    made = from_pretrained(folder.parent / "body", **given)
    assert made.body(tokens).asnumpy().tobytes() == net.body(tokens).asnumpy().tobytes()
    assert made(tokens).shape == (1, 3, 32)
    assert from_pretrained(folder, dropout=0.25).body.layers[0].dropout._rate == 0.25
    refused(folder, "expected arguments among .*, got 'drop_out'.*dropout", drop_out=0.1)


def test_weights_are_cast_and_mapped(folder: Path) -> None:
    tokens = mx.nd.array([[1, 2, 3]], dtype="int32")
    assert from_pretrained(folder).head.weight.dtype == np.dtype("bfloat16")
    wide = from_pretrained(folder, dtype="float32")
    assert from_pretrained(folder, dtype="float16")(tokens).dtype == np.float16
    net = CausalLM(Llama(4096, 64, 64, 1, 4))  # files below 1 MB are read
    net.initialize()
    save_pretrained(net, folder)
    mapped = from_pretrained(folder, mmap=True)
    assert mapped(tokens).asnumpy().tobytes() == net(tokens).asnumpy().tobytes()
    mapped.head.weight.data()[:] = 0  # a private copy of the pages
    assert from_pretrained(folder)(tokens).asnumpy().tobytes() == net(tokens).asnumpy().tobytes()
    assert wide(tokens).dtype == np.float32


def test_networks_that_cannot_be_saved(tmp_path: Path) -> None:
    with pytest.raises(mx.base.MXNetError, match=r"of the families .*, got Dense"):
        save_pretrained(mx.gluon.nn.Dense(3), tmp_path)
    net = CausalLM(Llama(32, 8, 8, 1, 2))
    with pytest.raises(mx.base.MXNetError, match="initialize"):
        save_pretrained(net, tmp_path / "new")
    net.initialize()
    for size, message in (("2XB", "such as '2GB'"), (0, "1 or more"), (2.5, "as int or text")):
        with pytest.raises(mx.base.MXNetError, match=message):
            save_pretrained(net, tmp_path / "new", max_shard_size=size)  # type: ignore[arg-type]
    assert not list((tmp_path / "new").glob("*")) if (tmp_path / "new").exists() else True
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        save_pretrained(net, tmp_path / "file")


def test_options_of_generation_are_read_and_refused(folder: Path) -> None:
    path = folder / "generation_config.json"
    path.write_text(json.dumps({"top_k": 7, "eos_token_id": [3, 4], "transformers_version": "5"}))
    assert from_pretrained(folder).generation_config["top_k"] == 7
    net = from_pretrained(folder)
    assert net.generation_config["eos_token_id"] == [3, 4]
    save_pretrained(net, folder.parent / "saved")
    assert from_pretrained(folder.parent / "saved").generation_config == net.generation_config
    for content, message in (
        ({"top_z": 7}, "options of generation that are known here, got 'top_z'"),
        ({"penalty_alpha": 0.6}, "'penalty_alpha' of generation_config.json to be 0, got 0.6"),
        ({"temperature": "hot"}, "temperature of type float, got 'hot'"),
    ):
        path.write_text(json.dumps(content))
        refused(folder, message)
