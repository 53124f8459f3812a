"""Make gguf/: small files of the package gguf, and what transformers and others make of them.

Run it with a virtual environment that has torch 2.13, transformers 5.24, gguf, regex and
sentencepiece, after make_tokenizers.py, from anywhere:

    torch/bin/python tests/golden/make_gguf.py

``expected.npz`` has, for each network, every eighth of its scores, computed in float64 with the
weights that the file has, and its greedy text; ``expected.json`` the tokens of texts, for each way
to split text by a program of 30 lines below, and for pieces with scores by sentencepiece.
``types.gguf`` has metadata of each type, and tensors of each type, whose values by the package are
in ``expected.npz``, too.
"""

import io
import json
import sys
import unicodedata
from itertools import pairwise
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import regex
import sentencepiece
import torch
import transformers as hf

sys.path.insert(0, str(Path(__file__).parent))
from gguf_cases import TOKENS
from tokenizer_cases import TEXTS

HERE = Path(__file__).with_name("gguf")
BPE = json.loads((HERE.with_name("tokenizers") / "bpe" / "tokenizer.json").read_text())["model"]
TEMPLATE = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"
SMALL = {
    "vocab_size": 400,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "rms_norm_eps": 1e-5,
    "pad_token_id": None,
}
LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 5e5,
    "factor": 32.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}
# Type of the file's matrices, transformers' class, and what differs from `SMALL`.
CASES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "llama": ("Q4_1", "LlamaForCausalLM", {"tie_word_embeddings": True}),
    "llama_8": ("Q4_0", "LlamaForCausalLM", {"rope_parameters": LLAMA3, "hidden_size": 64}),
    "qwen2": ("Q8_0", "Qwen2ForCausalLM", {"num_hidden_layers": 1}),
    "qwen3": (
        "BF16",
        "Qwen3ForCausalLM",
        {"head_dim": 16, "num_hidden_layers": 1, "tie_word_embeddings": True},
    ),
    "phi3": ("F16", "Phi3ForCausalLM", {"num_hidden_layers": 1, "tie_word_embeddings": True}),
}
NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
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
}
PATTERNS = {
    "gpt-2": r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "qwen2": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "llama-bpe": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
}


def gguf_name(name: str) -> str:
    path, kind = name.rsplit(".", 1)
    layers = regex.fullmatch(r"model\.layers\.(\d+)\.(.+)", path)
    return f"blk.{layers[1]}.{NAMES[layers[2]]}.{kind}" if layers else f"{NAMES[path]}.{kind}"


def add_tokenizer(writer: Any, pre: str = "smollm") -> None:
    tokens = sorted(BPE["vocab"], key=BPE["vocab"].get)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(tokens)
    writer.add_token_types([3] * 3 + [1] * (len(tokens) - 3))
    writer.add_token_merges([x if isinstance(x, str) else " ".join(x) for x in BPE["merges"]])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)
    writer.add_pad_token_id(2)
    writer.add_chat_template(TEMPLATE)


def make_network(case: str) -> dict[str, Any]:
    kind, name, changes = CASES[case]
    config = getattr(hf, name.replace("ForCausalLM", "Config"))(**(SMALL | changes))
    config._attn_implementation = "eager"
    torch.manual_seed(sum(map(ord, case)))
    model = getattr(hf, name)(config).eval()
    architecture = case.split("_")[0]
    writer = gguf.GGUFWriter(HERE / f"{case}.gguf", architecture)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    if case == "qwen3":
        writer.add_key_length(config.head_dim)
        writer.add_value_length(config.head_dim)
    add_tokenizer(writer)
    if case == "llama_8":
        wave = 2 * np.pi * 5e5 ** (np.arange(0, 16, 2) / 16)
        smooth = np.clip((8192 / wave - 1) / 3, 0, 1)
        factors = np.float32(1 / ((1 - smooth) / 32 + smooth))
        writer.add_tensor("rope_freqs.weight", factors)
    number = gguf.GGMLQuantizationType[kind]
    with torch.no_grad():
        for key, value in model.named_parameters():
            value *= 5 if value.ndim > 1 else 1
            if value.ndim == 1:
                value += 0.1 * torch.randn(value.shape)
            values, type_ = (
                value.numpy(),
                number if value.ndim > 1 else gguf.GGMLQuantizationType.F32,
            )
            heads = {"q_proj": config.num_attention_heads, "k_proj": config.num_key_value_heads}
            part = key.split(".")[-2]
            permute = architecture == "llama" and part in heads
            if permute:  # pairs that are rotated together become neighbours
                pairs = values.reshape(heads[part], 2, -1, *values.shape[1:])
                values = pairs.swapaxes(1, 2).reshape(values.shape)
            data = gguf.quants.quantize(np.ascontiguousarray(values), type_)
            writer.add_tensor(gguf_name(key), data, raw_dtype=type_)
            found = gguf.quants.dequantize(data, type_).reshape(values.shape)
            if permute:
                pairs = found.reshape(heads[part], -1, 2, *values.shape[1:])
                found = pairs.swapaxes(1, 2).reshape(values.shape)
            value[...] = torch.from_numpy(found.astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    model = model.double()
    tokens = torch.tensor(TOKENS)
    with torch.no_grad():
        scores = model(tokens).logits.numpy()
        text = model.generate(tokens[:1], max_new_tokens=8, do_sample=False, eos_token_id=None)
    return {
        f"{case}.scores": scores[..., ::8].astype(np.float32),
        f"{case}.greedy": text.numpy()[0, 8:],
    }


def make_types() -> dict[str, Any]:
    writer = gguf.GGUFWriter(HERE / "types.gguf", "none")
    for name in ("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"):
        getattr(writer, f"add_{name}")(f"a.{name}", 7 if name[0] == "u" else -7)
    writer.add_float32("a.float32", 0.5)
    writer.add_float64("a.float64", 0.1)
    writer.add_bool("a.bool", True)
    writer.add_string("a.text", "\u00fc")
    writer.add_array("a.texts", ["x", "", "\u00fc"])
    writer.add_array("a.numbers", [1, 2, 3])
    writer.add_array("a.floats", [0.5, 1.5])
    writer.add_array("a.lists", [[1, 2], [3]])
    random, found = np.random.default_rng(3), {}
    for kind in ("F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1"):
        number = gguf.GGMLQuantizationType[kind]
        values = random.standard_normal((3, 2, 96)).astype(np.float32)
        data = gguf.quants.quantize(values, number)
        writer.add_tensor(kind, data, raw_dtype=number)
        found[f"types.{kind}"] = gguf.quants.dequantize(data, number).reshape(values.shape)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return found


def letters() -> dict[int, str]:
    """GPT-2's letters for bytes."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [byte for byte in range(256) if byte not in shown]
    return {b: chr(b) for b in shown} | {b: chr(256 + i) for i, b in enumerate(hidden)}


def merged(word: str, whole: bool) -> list[int]:
    """Merge neighbours by rank, the first of the lowest rank at each step."""
    vocabulary = BPE["vocab"]
    ranks = {
        tuple(m.split(" ") if isinstance(m, str) else m): i for i, m in enumerate(BPE["merges"])
    }
    parts = [letters()[byte] for byte in word.encode()]
    if whole and "".join(parts) in vocabulary:
        return [vocabulary["".join(parts)]]
    while True:
        pairs = [(ranks.get(pair, 1 << 30), i) for i, pair in enumerate(pairwise(parts))]
        rank, at = min(pairs, default=(1 << 30, 0))
        if rank == 1 << 30:
            return [vocabulary[part] for part in parts]
        parts[at : at + 2] = ["".join(parts[at : at + 2])]


def tokens_of(text: str, pre: str) -> list[int]:
    special = sorted(BPE["vocab"], key=BPE["vocab"].get)[:3]
    found = []
    for piece in regex.split("(" + "|".join(map(regex.escape, special)) + ")", text):
        if piece in special:
            found.append(BPE["vocab"][piece])
            continue
        piece = unicodedata.normalize("NFC", piece) if pre == "qwen2" else piece
        pieces = regex.split(r"(\p{N})", piece) if pre == "smollm" else [piece]
        for part in pieces:
            for word in regex.findall(PATTERNS["gpt-2" if pre == "smollm" else pre], part):
                found += merged(word, pre == "llama-bpe")
    return found


def make_tokenizers() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for pre in ("smollm", "gpt-2", "qwen2", "llama-bpe"):
        writer = gguf.GGUFWriter(HERE / f"split_{pre}.gguf", "llama")
        add_tokenizer(writer, pre)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.close()
        found[pre] = [tokens_of(text, pre) for text in TEXTS]
    file = io.BytesIO()
    readme = Path(__file__).parents[2].joinpath("README.md").read_text().splitlines()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([*TEXTS, *readme]),
        model_writer=file,
        vocab_size=500,
        model_type="bpe",
        byte_fallback=True,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        minloglevel=2,
    )
    made = sentencepiece.SentencePieceProcessor(model_proto=file.getvalue())
    count = made.vocab_size()
    writer = gguf.GGUFWriter(HERE / "pieces.gguf", "llama")
    writer.add_tokenizer_model("llama")
    writer.add_token_list([made.id_to_piece(i) for i in range(count)])
    writer.add_token_scores([made.get_score(i) for i in range(count)])
    writer.add_token_types(
        [2 if made.is_unknown(i) else 3 if made.is_control(i) else 6 if made.is_byte(i) else 1
         for i in range(count)]
    )  # fmt: skip
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    texts = [text for text in TEXTS if text and "<s>" not in text]
    found["pieces"] = {text: [1, *made.encode(text)] for text in texts}
    return found


def main() -> None:
    """Write the files."""
    HERE.mkdir(exist_ok=True)
    arrays = make_types()
    for case in CASES:
        arrays |= make_network(case)
    np.savez_compressed(HERE / "expected.npz", **arrays)
    (HERE / "expected.json").write_text(json.dumps(make_tokenizers()) + "\n")


if __name__ == "__main__":
    main()
