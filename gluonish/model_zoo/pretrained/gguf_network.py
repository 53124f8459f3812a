"""from_gguf: networks of Llama's family in GGUF files, with their tokenizers."""

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from gluonish.core.context import current_context
from gluonish.core.errors import FileFormatError, NotSupportedError, nearest
from gluonish.core.files import AnyPath
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.model_zoo.pretrained.config import Config
from gluonish.model_zoo.pretrained.families import Family, body_of, family_of_type
from gluonish.model_zoo.pretrained.gguf import GGUF, GGUFTensor, open_gguf
from gluonish.model_zoo.pretrained.gguf_tokenizer import tokenizer_of
from gluonish.model_zoo.pretrained.weights import (
    Form,
    WeightTable,
    common_dtype,
    floating_dtype,
    setter,
)
from gluonish.ndarray.list_file import StoredArray

__all__ = ["from_gguf"]

_ARCHITECTURE = "general.architecture"
# `general.architecture`, and the usual head of config.json's architectures.
_ARCHITECTURES = {
    "llama": "LlamaForCausalLM",
    "qwen2": "Qwen2ForCausalLM",
    "qwen3": "Qwen3ForCausalLM",
    "phi3": "Phi3ForCausalLM",
}
_OUTPUT, _FREQUENCIES = "output.weight", "rope_freqs.weight"
# Names of weights in folders, and in GGUF files.
_NAMES = {
    "embed_tokens.weight": "token_embd.weight",
    "norm.weight": "output_norm.weight",
    "lm_head.weight": _OUTPUT,
    **{
        f"layers.{{}}.{theirs}.{kind}": f"blk.{{}}.{name}.{kind}"
        for kind in ("weight", "bias")
        for theirs, name in {
            "input_layernorm": "attn_norm",
            "post_attention_layernorm": "ffn_norm",
            "self_attn.q_proj": "attn_q",
            "self_attn.k_proj": "attn_k",
            "self_attn.v_proj": "attn_v",
            "self_attn.qkv_proj": "attn_qkv",
            "self_attn.o_proj": "attn_output",
            "self_attn.q_norm": "attn_q_norm",
            "self_attn.k_norm": "attn_k_norm",
            "mlp.gate_proj": "ffn_gate",
            "mlp.up_proj": "ffn_up",
            "mlp.gate_up_proj": "ffn_up",
            "mlp.down_proj": "ffn_down",
        }.items()
    },
}
# Keys after the architecture that are settings of config.json.
_SIZES = {
    "embedding_length": "hidden_size",
    "feed_forward_length": "intermediate_size",
    "block_count": "num_hidden_layers",
    "attention.head_count": "num_attention_heads",
    "context_length": "max_position_embeddings",
}
_IGNORED = frozenset({"vocab_size", "rope.scaling.finetuned"})
# Of the llama3 scaling, which files have as a factor for each frequency.
_LLAMA3 = {
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}
_LLAMA3_FACTORS = (8.0, 32.0)


def from_gguf(
    file: AnyPath, ctx: Any = None, dtype: Any = None, mmap: bool = False, **changes: Any
) -> Any:
    """Return the network of a GGUF file, with its tokenizer as ``net.tokenizer``.

    Read are the architectures llama (Mistral's networks, too), qwen2, qwen3 and phi3, with tensors
    of the types F32, F16, BF16, Q8_0, Q4_0 and Q4_1; quantized weights become floating.

    Args:
        file: Path of the file.
        ctx: Device, or a list of devices; the current one by default.
        dtype: Element type of the parameters; None for that of most weights, float32 for quantized
            ones.
        mmap: Whether to map the file instead of reading it: weights that are not quantized, not
            joined and not cast stay in the file. See the warning of `mx.nd.load`.
        **changes: Arguments of the network's class in place of those of the file.

    Raises:
        MissingFileError: There is no such file.
        FileFormatError: It is damaged, or its metadata do not agree.
        NotSupportedError: Its architecture, tokenizer, a setting or a type of tensors is not known.
        ParameterError: Tensors are missing, left over, or of another shape.
        GluonishError: The package `tokenizers` is not installed.

    Example:
        >>> import gluonish as mx
        >>> net = mx.model_zoo.from_gguf("SmolLM2.gguf")  # doctest: +SKIP
        >>> net.tokenizer.encode("A cat on a mat.")  # doctest: +SKIP
        [49, 3310, 335, 253, 1845, 30]
    """
    with open_gguf(file, mmap) as gguf:
        model_type = gguf.take(_ARCHITECTURE, str)
        if model_type not in _ARCHITECTURES:
            raise NotSupportedError(
                f"{gguf.source}: expected {_ARCHITECTURE} among {', '.join(_ARCHITECTURES)}, got"
                f" {model_type!r:.60}{nearest(model_type, _ARCHITECTURES)}"
            )
        family = family_of_type(model_type, gguf.source)
        config = Config(_settings(gguf, model_type), gguf.source)
        net = family.build(config, _ARCHITECTURES[model_type], changes)
        net._extras = config.extras()
        kind = _dtype(gguf, dtype)
        stored = _stored(gguf, config.entries, kind)
        net.cast(kind)
        table = _table(family, net)
        table.check(stored, gguf.source)
        tokenizer = tokenizer_of(gguf)
        tokenizer.check_vocab_size(config.entries["vocab_size"], "the embedding")
        table.load(
            stored,
            gguf.source,
            setter(current_context() if ctx is None else ctx, mmap),
            lambda path: False,
            lambda name: False,
        )
    net.tokenizer = tokenizer
    net.generation_config = _generation_config(gguf)
    return net


def _generation_config(gguf: GGUF) -> dict[str, Any]:
    """Return the tokens that begin, end and pad a text; a turn of a conversation ends a text."""
    ids = {
        name: gguf.take(f"tokenizer.ggml.{key}_token_id", int, None)
        for name, key in (("bos", "bos"), ("eos", "eos"), ("eot", "eot"), ("pad", "padding"))
    }
    ends = [*dict.fromkeys(ids[name] for name in ("eos", "eot") if ids[name] is not None)]
    found = {"bos_token_id": ids["bos"], "pad_token_id": ids["pad"]}
    found["eos_token_id"] = ends if len(ends) > 1 else next(iter(ends), None)
    return {name: value for name, value in found.items() if value is not None}


def _dtype(gguf: GGUF, dtype: Any) -> Any:
    if dtype is not None:
        return floating_dtype(dtype, "from_gguf")
    arrays = {
        name: StoredArray(tensor.shape, tensor.dtype, tensor.read)
        for name, tensor in gguf.tensors.items()
    }
    return common_dtype(arrays, gguf.source)


def _rounded(value: float) -> float:
    """Return the shortest number that is this one in float32: 1e-05 of 9.999999747e-06."""
    return float(str(np.float32(value)))


def _settings(gguf: GGUF, model_type: str) -> dict[str, Any]:
    """Return the settings of config.json that the metadata are.

    Raises:
        FileFormatError: Keys are missing or do not agree.
        NotSupportedError: There is a key that would change what the network computes.
    """
    taken = set()

    def take(key: str, kind: Any, default: Any = ...) -> Any:
        taken.add(f"{model_type}.{key}")
        return gguf.take(f"{model_type}.{key}", kind, default)

    made: dict[str, Any] = {name: take(key, int) for key, name in _SIZES.items()}
    embedding = gguf.tensors.get("token_embd.weight")
    made["vocab_size"] = embedding.shape[0] if embedding is not None else 1
    heads = made["num_attention_heads"]
    made["num_key_value_heads"] = take("attention.head_count_kv", int, heads)
    made["rms_norm_eps"] = _rounded(take("attention.layer_norm_rms_epsilon", float))
    usual = made["hidden_size"] // heads if heads > 0 else 0
    made["head_dim"] = take("attention.key_length", int, usual)
    if take("attention.value_length", int, made["head_dim"]) != made["head_dim"]:
        raise NotSupportedError(f"{gguf.source}: expected keys and values of one length")
    made["tie_word_embeddings"] = _OUTPUT not in gguf.tensors
    if model_type == "llama":
        made["attention_bias"] = "blk.0.attn_q.bias" in gguf.tensors
        made["mlp_bias"] = "blk.0.ffn_down.bias" in gguf.tensors
    if model_type == "phi3":
        made["sliding_window"] = take("attention.sliding_window", int, 0) or None
    made["rope_parameters"] = _rotary(gguf, take, made["head_dim"])
    for name in ("bos", "eos"):
        made[f"{name}_token_id"] = gguf.take(f"tokenizer.ggml.{name}_token_id", int, None)
    ignored = {f"{model_type}.{key}" for key in _IGNORED}
    left = [key for key in gguf.metadata if key.startswith(f"{model_type}.")]
    left = [key for key in left if key not in taken | ignored]
    if left:
        raise NotSupportedError(
            f"{gguf.source}: expected keys that {model_type!r} networks have here, got"
            f" {left[0]!r:.100} = {gguf.metadata[left[0]]!r:.60}"
        )
    return made


def _rotary(gguf: GGUF, take: Any, head_units: int) -> dict[str, Any]:
    """Return ``rope_parameters``."""
    base = _rounded(take("rope.freq_base", float, 10000.0))
    made: dict[str, Any] = {"rope_type": "default", "rope_theta": base}
    units = take("rope.dimension_count", int, head_units)
    if units != head_units and head_units > 0:
        made["partial_rotary_factor"] = units / head_units
    kind = take("rope.scaling.type", str, "none")
    factor, length = (
        take(f"rope.scaling.{name}", kind, None)
        for name, kind in (("factor", float), ("original_context_length", int))
    )
    if kind not in ("none", "linear", "yarn"):
        raise NotSupportedError(
            f"{gguf.source}: expected rope.scaling.type none, linear or yarn, got {kind!r:.60}"
        )
    if kind != "none":
        made |= {"rope_type": kind, "factor": factor}
        if kind == "yarn" and length is not None:
            made["original_max_position_embeddings"] = length
    if _FREQUENCIES in gguf.tensors:
        if kind != "none":
            raise NotSupportedError(f"{gguf.source}: expected {_FREQUENCIES} or scaling, got both")
        made |= {"rope_type": "llama3", **_LLAMA3, "factor": _llama3_factor(gguf, base, units)}
    return made


def _llama3_factor(gguf: GGUF, base: float, units: int) -> float:
    """Return the factor of the llama3 scaling that frequencies of a file have.

    Raises:
        NotSupportedError: They are not of a known one.
    """
    tensor = gguf.tensors[_FREQUENCIES]
    if 0 < units <= 1 << 16 and base > 0 and tensor.shape == (units // 2,):
        found = tensor.read("float64")
        waves = 2 * math.pi * base ** (np.arange(0, units - 1, 2) / units)
        turns = _LLAMA3["original_max_position_embeddings"] / waves
        low, high = _LLAMA3["low_freq_factor"], _LLAMA3["high_freq_factor"]
        smooth = np.clip((turns - low) / (high - low), 0.0, 1.0)
        for factor in _LLAMA3_FACTORS:
            if np.allclose(found, 1 / ((1 - smooth) / factor + smooth), rtol=1e-4, atol=0):
                return factor
    raise NotSupportedError(
        f"{gguf.source}: expected {_FREQUENCIES} of Llama 3's scaling by"
        f" {' or '.join(f'{factor:g}' for factor in _LLAMA3_FACTORS)}, got others"
    )


def _stored(gguf: GGUF, settings: Mapping[str, Any], kind: Any) -> dict[str, StoredArray]:
    """Return the tensors by name, as the network has them."""
    permuted = gguf.metadata[_ARCHITECTURE] == "llama"
    heads = {"attn_q": "num_attention_heads", "attn_k": "num_key_value_heads"}
    found = {}
    for name, tensor in gguf.tensors.items():
        dtype = tensor.dtype if tensor.kind in ("F32", "F16", "BF16") else kind
        read = partial(tensor.read, dtype)
        # Values that are not quantized are read, or are a view of the mapped file.
        read_into = tensor.read_into if tensor.quantized else None
        part = name.split(".")[-2] if name.startswith("blk.") else ""
        if permuted and part in heads:
            read = partial(_halves, tensor, dtype, settings[heads[part]])
            read_into = partial(_halves_into, tensor, dtype, settings[heads[part]])
        found[name] = StoredArray(tensor.shape, dtype, read, read_into)
    found.pop(_FREQUENCIES, None)
    return found


def _halves(tensor: GGUFTensor, dtype: Any, heads: int) -> Any:
    """Return rows of queries or keys in the order of halves."""
    out = np.empty(tensor.shape, dtype)
    _halves_into(tensor, dtype, heads, out)
    return out


def _halves_into(tensor: GGUFTensor, dtype: Any, heads: int, out: Any) -> None:
    """Write rows of queries or keys in the order of halves.

    Llama's files have pairs that are rotated together in neighbouring rows of a head; the network
    has the first of all pairs in the first half of a head, and the second in the other half.
    """
    values = tensor.read(dtype)
    if heads < 1 or len(values) % (2 * heads):
        raise FileFormatError(
            f"tensor {tensor.name!r}: expected rows for {heads} heads of an even length, got"
            f" {len(values)}"
        )
    pairs = values.reshape(heads, -1, 2, *values.shape[1:])
    out.reshape(heads, 2, -1, *values.shape[1:])[...] = pairs.swapaxes(1, 2)


def _table(family: Family, net: HybridBlock) -> WeightTable:
    """Return the names of the network's weights in GGUF files."""
    names = family.names(body_of(net)._arguments) if callable(family.names) else family.names
    head = family.head(family.architecture_of(net))
    table = []
    for start, ours, theirs in (
        *(("body.", *pair) for pair in names),
        *(("", *pair) for pair in (head.table({}) if head is not None else ())),
    ):
        form = Form(theirs) if isinstance(theirs, str) else theirs
        renamed = [_NAMES.get(name, name) for name in form.names]
        table.append((start + ours, form.renamed(renamed)))
    return WeightTable(net, table, f"{type(net).__name__} of {family.model_type}")
