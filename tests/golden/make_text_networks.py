"""Make text_networks/: small networks that transformers wrote, and what they compute.

Run it with a virtual environment that has torch 2.13 and transformers 5.24, from anywhere; with
names of cases, only these are made:

    torch/bin/python tests/golden/make_text_networks.py [CASE ...]

With ``--check FOLDER``, it instead reads the networks that `tests/model_zoo/text` wrote there, and
prints how far their scores are from ``expected.npz``.

Each folder has config.json, model.safetensors (bfloat16, of few digits, so that all dtypes have
them exactly) and ``expected.npz``, computed in float64: ``output`` (scores, or what the network
gives), ``features`` (of the body), and for the loss ``sum(output * cos(0, 1, 2, ...))`` each
weight's gradient, as its product with ``cos(0, 1, 2, ...)`` and its norm. Of language models there
are ``greedy`` tokens too, that follow the first prompt.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers as hf

sys.path.insert(0, str(Path(__file__).parent))
from text_network_cases import DEAD, inputs  # the virtual environment has no gluonish

HERE = Path(__file__).with_name("text_networks")
NEW_TOKENS = 8
EAGER = {"attn_implementation": "eager", "experts_implementation": "eager"}
SMALL = {
    "vocab_size": 32,
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 32,
    "pad_token_id": None,
}
LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 1e4,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8,
}
YARN = {
    "rope_type": "yarn",
    "rope_theta": 1e4,
    "factor": 4.0,
    "original_max_position_embeddings": 8,
}
# Class, settings, and what differs from `SMALL`.
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": ("LlamaForCausalLM", {"num_key_value_heads": 2, "head_dim": 6}),
    "llama_tied": (
        "LlamaForCausalLM",
        {"tie_word_embeddings": True, "attention_bias": True, "mlp_bias": True,
         "rope_parameters": LLAMA3},
    ),
    "llama_yarn": ("LlamaForCausalLM", {"num_attention_heads": 2, "rope_parameters": YARN}),
    "llama_body": ("LlamaModel", {"rope_parameters": {"rope_type": "linear", "factor": 2.0,
                                                      "rope_theta": 500.0}}),
    "mistral": ("MistralForCausalLM", {"num_key_value_heads": 2, "sliding_window": 3}),
    "qwen2": (
        "Qwen2ForCausalLM",
        {"num_key_value_heads": 1, "use_sliding_window": True, "sliding_window": 3,
         "max_window_layers": 1, "tie_word_embeddings": True},
    ),
    "qwen3": ("Qwen3ForCausalLM", {"num_key_value_heads": 2, "head_dim": 8}),
    "phi3": (
        "Phi3ForCausalLM",
        {"num_key_value_heads": 2, "bos_token_id": 1, "eos_token_id": 2,
         "rope_parameters": {"rope_type": "default", "rope_theta": 1e4,
                             "partial_rotary_factor": 0.5}},
    ),
    "gemma": ("GemmaForCausalLM", {"num_key_value_heads": 1, "head_dim": 6}),
    "gemma2": (
        "Gemma2ForCausalLM",
        {"num_key_value_heads": 2, "head_dim": 6, "query_pre_attn_scalar": 5, "sliding_window": 3,
         "attn_logit_softcapping": 2.0, "final_logit_softcapping": 3.0},
    ),
    "gemma3": (
        "Gemma3ForCausalLM",
        {"num_key_value_heads": 2, "head_dim": 6, "query_pre_attn_scalar": 5, "sliding_window": 3,
         "num_hidden_layers": 3,
         "layer_types": ["sliding_attention", "full_attention", "sliding_attention"]},
    ),
    "gpt2": ("GPT2LMHeadModel", {"bos_token_id": 1, "eos_token_id": 2}),
    "gpt2_body": ("GPT2Model", {"n_inner": 20, "activation_function": "gelu"}),
    "gpt_neox": (
        "GPTNeoXForCausalLM",
        {"rope_parameters": {"rope_type": "default", "rope_theta": 1e4,
                             "partial_rotary_factor": 0.5}},
    ),
    "gpt_neox_serial": (
        "GPTNeoXForCausalLM",
        {"use_parallel_residual": False, "attention_bias": False, "tie_word_embeddings": True,
         "rope_parameters": {"rope_type": "default", "rope_theta": 1e4,
                             "partial_rotary_factor": 1.0}},
    ),
    "mixtral": ("MixtralForCausalLM", {"num_key_value_heads": 2, "num_local_experts": 3}),
    "qwen3_moe": (
        "Qwen3MoeForCausalLM",
        {"num_key_value_heads": 2, "num_local_experts": 3, "num_experts": 3, "head_dim": 8,
         "num_experts_per_tok": 2, "moe_intermediate_size": 8, "norm_topk_prob": True,
         "mlp_only_layers": [1]},
    ),
    "llama_classes": (
        "LlamaForSequenceClassification",
        {"num_key_value_heads": 2, "pad_token_id": 6, "tie_word_embeddings": True,
         "id2label": {0: "ham", 1: "spam", 2: "eggs"},
         "label2id": {"ham": 0, "spam": 1, "eggs": 2}},
    ),
    "llama_tokens": ("LlamaForTokenClassification", {"num_labels": 3, "classifier_dropout": 0.3}),
    "mistral_classes": (
        "MistralForSequenceClassification",
        {"num_key_value_heads": 2, "sliding_window": 3, "pad_token_id": 3},
    ),
    "mistral_tokens": (
        "MistralForTokenClassification", {"num_key_value_heads": 2, "sliding_window": 3}
    ),
    "qwen2_classes": (
        "Qwen2ForSequenceClassification",
        {"num_key_value_heads": 2, "num_labels": 1, "pad_token_id": 6},
    ),
    "qwen3_classes": (
        "Qwen3ForSequenceClassification",
        {"num_key_value_heads": 2, "head_dim": 8, "pad_token_id": 3},
    ),
    "phi3_classes": (
        "Phi3ForSequenceClassification",
        {"num_key_value_heads": 2, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 6,
         "rope_parameters": {"rope_type": "default", "rope_theta": 1e4,
                             "partial_rotary_factor": 0.5}},
    ),
    "gemma_classes": (
        "GemmaForSequenceClassification",
        {"num_key_value_heads": 2, "head_dim": 6, "pad_token_id": 3},
    ),
    "gemma2_classes": (
        "Gemma2ForSequenceClassification",
        {"num_key_value_heads": 2, "head_dim": 6, "final_logit_softcapping": 3.0,
         "pad_token_id": 6},
    ),
    "gemma2_tokens": (
        "Gemma2ForTokenClassification",
        {"num_key_value_heads": 2, "head_dim": 6, "num_labels": 3},
    ),
    "gemma3_classes": (
        "Gemma3TextForSequenceClassification",
        {"num_key_value_heads": 2, "sliding_window": 3, "head_dim": 6, "pad_token_id": 6},
    ),
    "gpt2_classes": (
        "GPT2ForSequenceClassification", {"bos_token_id": 1, "eos_token_id": 3, "pad_token_id": 3}
    ),
    "gpt2_tokens": ("GPT2ForTokenClassification", {"num_labels": 3}),
    "gpt_neox_classes": (
        "GPTNeoXForSequenceClassification",
        {"num_labels": 3, "pad_token_id": 6,
         "rope_parameters": {"rope_type": "default", "rope_theta": 1e4,
                             "partial_rotary_factor": 0.5}},
    ),
    "gpt_neox_tokens": (
        "GPTNeoXForTokenClassification",
        {"classifier_dropout": 0.2,
         "rope_parameters": {"rope_type": "default", "rope_theta": 1e4,
                             "partial_rotary_factor": 0.5}},
    ),
    "mixtral_classes": (
        "MixtralForSequenceClassification",
        {"num_key_value_heads": 2, "num_local_experts": 3, "pad_token_id": 3},
    ),
    "mixtral_tokens": (
        "MixtralForTokenClassification", {"num_key_value_heads": 2, "num_local_experts": 3}
    ),
    "qwen3_moe_classes": (
        "Qwen3MoeForSequenceClassification",
        {"num_key_value_heads": 2, "num_local_experts": 3, "num_experts": 3, "head_dim": 8,
         "num_experts_per_tok": 2, "moe_intermediate_size": 8, "pad_token_id": 6},
    ),
    "llama_answers": ("LlamaForQuestionAnswering", {"num_key_value_heads": 2}),
    "mistral_answers": (
        "MistralForQuestionAnswering", {"num_key_value_heads": 2, "sliding_window": 3}
    ),
    "qwen2_answers": ("Qwen2ForQuestionAnswering", {"num_key_value_heads": 2}),
    "qwen3_answers": (
        "Qwen3ForQuestionAnswering", {"num_key_value_heads": 2, "head_dim": 6}
    ),
    "mixtral_answers": (
        "MixtralForQuestionAnswering", {"num_key_value_heads": 2, "num_local_experts": 3}
    ),
    "qwen3_moe_answers": (
        "Qwen3MoeForQuestionAnswering",
        {"num_key_value_heads": 2, "num_local_experts": 3, "num_experts": 3, "head_dim": 8,
         "num_experts_per_tok": 2, "moe_intermediate_size": 8},
    ),
    "gpt2_answers": ("GPT2ForQuestionAnswering", {"bos_token_id": 1, "eos_token_id": 2}),
    "gpt_neox_answers": (
        "GPTNeoXForQuestionAnswering",
        {"rope_parameters": {"rope_type": "default", "rope_theta": 1e4,
                             "partial_rotary_factor": 0.5}},
    ),
    "bert": ("BertForMaskedLM", {"hidden_act": "gelu_new"}),
    "bert_body": ("BertModel", {"layer_norm_eps": 1e-3}),
    "bert_pretraining": ("BertForPreTraining", {"tie_word_embeddings": False}),
    "bert_classes": (
        "BertForSequenceClassification",
        {"id2label": {0: "ham", 1: "spam", 2: "eggs"}, "classifier_dropout": 0.3,
         "label2id": {"ham": 0, "spam": 1, "eggs": 2}},
    ),
    "bert_tokens": ("BertForTokenClassification", {"num_labels": 3, "type_vocab_size": 3}),
    "bert_answers": ("BertForQuestionAnswering", {"hidden_dropout_prob": 0.2}),
    "roberta": ("RobertaForMaskedLM", {"pad_token_id": 1, "layer_norm_eps": 1e-5}),
    "roberta_body": ("RobertaModel", {"pad_token_id": 3}),
    "roberta_classes": ("RobertaForSequenceClassification", {"pad_token_id": 1, "num_labels": 3}),
    "distilbert": ("DistilBertForMaskedLM", {"activation": "relu"}),
    "distilbert_classes": ("DistilBertForSequenceClassification", {"num_labels": 1}),
    "distilbert_answers": ("DistilBertForQuestionAnswering", {"sinusoidal_pos_embds": True}),
    "electra": ("ElectraForPreTraining", {"embedding_size": 6}),
    "electra_masked": ("ElectraForMaskedLM", {"embedding_size": 6, "layer_norm_eps": 1e-3}),
    "electra_classes": ("ElectraForSequenceClassification", {"embedding_size": 16}),
    "modernbert": (
        "ModernBertForMaskedLM",
        {"num_hidden_layers": 3, "global_attn_every_n_layers": 2, "local_attention": 4},
    ),
    "modernbert_classes": (
        "ModernBertForSequenceClassification",
        {"norm_bias": True, "attention_bias": True, "mlp_bias": True, "classifier_bias": True,
         "classifier_pooling": "mean", "classifier_activation": "relu", "local_attention": 4,
         "layer_types": ["sliding_attention", "full_attention"]},
    ),
    "modernbert_answers": ("ModernBertForQuestionAnswering", {"decoder_bias": False}),
    "t5": ("T5ForConditionalGeneration", {"decoder_start_token_id": 0}),
    "t5_gated": (
        "T5ForConditionalGeneration",
        {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False, "d_kv": 6,
         "num_decoder_layers": 1, "relative_attention_num_buckets": 8,
         "relative_attention_max_distance": 6, "decoder_start_token_id": 0},
    ),
    "t5_body": ("T5Model", {"feed_forward_proj": "gelu", "relative_attention_num_buckets": 6}),
    "t5_encoder": ("T5EncoderModel", {"feed_forward_proj": "gated-silu"}),
    "bart": ("BartForConditionalGeneration", {"decoder_layers": 1}),
    "bart_untied": ("BartForConditionalGeneration", {"tie_word_embeddings": False}),
    "bart_body": (
        "BartModel",
        {"scale_embedding": True, "activation_function": "relu", "decoder_ffn_dim": 20,
         "decoder_attention_heads": 2},
    ),
    "bart_classes": (
        "BartForSequenceClassification",
        {"decoder_layers": 1, "classifier_dropout": 0.3, "pad_token_id": 1},
    ),
    "bart_answers": ("BartForQuestionAnswering", {"decoder_layers": 1, "pad_token_id": 1}),
    "whisper": ("WhisperForConditionalGeneration", {}),
    "whisper_body": (
        "WhisperModel",
        {"activation_function": "gelu_new", "decoder_layers": 1, "decoder_ffn_dim": 20,
         "decoder_attention_heads": 2},
    ),
}  # fmt: skip


def _few_digits(model: torch.nn.Module) -> None:
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            noise = (torch.randn(parameter.shape) * 16).round() / 64
            scale = 0.5 if parameter.ndim == 1 else 1.0
            base = 1.0 if "norm" in name.lower() and name.endswith("weight") else 0.0
            parameter.copy_(((base + noise * scale) * 64).round() / 64)


def _pattern(values: torch.Tensor) -> torch.Tensor:
    return torch.cos(torch.arange(values.numel(), dtype=torch.float64)).reshape(values.shape)


def arguments(config: Any) -> dict[str, torch.Tensor]:
    """Return the inputs of a network by name."""
    given = inputs(config.to_dict())
    made = {k: torch.tensor(v) for k, v in given.items() if v is not None}
    if "input_features" in made:
        made["input_features"] = made["input_features"].double()
    if "attention_mask" in made:
        places = torch.arange(made["input_ids"].shape[1])
        made["attention_mask"] = (places < made["attention_mask"][:, None]).long()
    return made


_OUTPUTS = ("logits", "prediction_logits", "seq_relationship_logits")


def outputs(found: Any) -> torch.Tensor:
    """Return the output of a network; several as one vector."""
    if "start_logits" in found:
        return torch.stack([found.start_logits, found.end_logits], -1)
    scores = [found[name] for name in _OUTPUTS if name in found]
    features = [found[k] for k in ("last_hidden_state", "pooler_output") if k in found]
    several = scores or features
    return several[0] if len(several) == 1 else torch.cat([x.reshape(-1) for x in several])


def _settings(kind: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a case, by the names that its network has."""
    settings = {**SMALL, **settings}
    if kind.startswith("GPT2"):
        del settings["intermediate_size"]  # it has no such setting
    if kind.startswith("T5"):
        settings["d_ff"] = settings.pop("intermediate_size")
        settings["num_layers"] = settings.pop("num_hidden_layers")
        settings = {"d_kv": 4, **settings, "pad_token_id": 0}
        del settings["max_position_embeddings"]  # it has no such setting
    if kind.startswith(("Bart", "Whisper")):
        width = settings.pop("intermediate_size")
        sides: dict[str, Any] = {}
        for side in ("encoder", "decoder"):
            sides |= {f"{side}_ffn_dim": width, f"{side}_attention_heads": 4, f"{side}_layers": 2}
        settings = {**sides, **settings}
        del settings["num_attention_heads"], settings["num_hidden_layers"]
        settings |= {"bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 0}
    if kind.startswith("Bart"):
        settings |= {"forced_eos_token_id": None}
    if kind.startswith("Whisper"):
        del settings["max_position_embeddings"]
        settings |= {"num_mel_bins": 5, "max_source_positions": 6, "max_target_positions": 24}
        settings |= {"begin_suppress_tokens": None}
    if kind.startswith("DistilBert"):
        settings["dim"], settings["hidden_dim"] = (
            settings["hidden_size"],
            settings.pop("intermediate_size"),
        )
    return settings


def _as_published(path: Path) -> None:
    """Write the settings of a T5 with scores of their own as the published ones have them."""
    settings = json.loads(path.read_text())
    del settings["scale_decoder_outputs"]
    settings["tie_word_embeddings"] = False
    path.write_text(json.dumps(settings, indent=2, sort_keys=True) + "\n")


def make(case: str) -> None:
    """Write the folder of a case."""
    torch.manual_seed(37)
    kind, settings = CASES[case]
    network = getattr(hf, kind)
    model = network(network.config_class(**_settings(kind, settings))).eval()
    untied = kind.startswith("T5") and settings.get("tie_word_embeddings") is False
    if untied:  # transformers ties them until a file has both
        model.lm_head.weight = torch.nn.Parameter(model.lm_head.weight.detach().clone())
    _few_digits(model)
    fixed = {name for name, x in model.named_parameters() if not x.requires_grad}
    folder = HERE / case
    model.to(torch.bfloat16).save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)
    if untied:
        _as_published(folder / "config.json")
    model = network.from_pretrained(folder, dtype=torch.float64, **EAGER).eval()
    for module in model.modules():
        if isinstance(module, torch.nn.Embedding):
            module.padding_idx = None  # the gradient of its row, too
    given = arguments(model.config)
    body = model.base_model
    made: dict[str, Any] = {}
    with torch.no_grad():
        found = body(**given, output_hidden_states=True)
        # That of T5 is the network itself, whose scores are of the decoder's last features.
        whole = body is model and "decoder_hidden_states" in found
        last = found.decoder_hidden_states[-1] if whole else found.last_hidden_state
        made["features"] = last.numpy()
    output = outputs(model(**given))
    (output * _pattern(output)).sum().backward()
    made["output"] = output.detach().numpy()
    for name, gradient in _gradients(model, kind):
        if name in fixed:  # a loaded network has forgotten that it is not trained
            continue
        made[f"gradient {name}"] = np.array(
            [float((gradient * _pattern(gradient)).sum()), float(gradient.norm())]
        )
    if kind.endswith(("CausalLM", "LMHeadModel")):
        made["greedy"] = greedy(model, given["input_ids"][:1])
    np.savez_compressed(folder / "expected.npz", **made)


def _gradients(model: Any, kind: str) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield gradients under the names that files have, where experts are apart."""
    for name, parameter in model.named_parameters():
        gradient = parameter.grad
        if name in DEAD and gradient is None:
            continue
        assert gradient is not None, name
        mixtral = kind.startswith("Mixtral")
        name = name.replace(".mlp.", ".block_sparse_moe.") if mixtral else name
        name = name.replace("lm_head", "embed_out") if kind.startswith("GPTNeoX") else name
        if ".experts." not in name:
            yield name, gradient
            continue
        start, kind_of_weight = name.rsplit(".", 1)
        parts: dict[str, tuple[str, ...]] = {
            "gate_up_proj": ("w1", "w3") if mixtral else ("gate_proj", "up_proj")
        }
        parts["down_proj"] = ("w2",) if mixtral else ("down_proj",)
        for i, expert in enumerate(gradient):
            names = parts[kind_of_weight]
            for part, piece in zip(names, expert.chunk(len(names)), strict=True):
                yield f"{start}.{i}.{part}.weight", piece


def greedy(model: Any, tokens: torch.Tensor) -> np.ndarray:
    """Return the most probable tokens, one after another, without a cache."""
    length = tokens.shape[1]
    with torch.no_grad():
        for _ in range(NEW_TOKENS):
            following = model(tokens).logits[:, -1].argmax(-1, keepdim=True)
            tokens = torch.cat([tokens, following], 1)
    return tokens[0, length:].numpy()


def check(written: Path) -> None:
    """Print how far networks that gluonish wrote are from the expected outputs."""
    for folder in sorted(written.iterdir()):
        network = getattr(hf, CASES[folder.name][0])
        model, info = network.from_pretrained(
            folder, dtype=torch.float64, output_loading_info=True, **EAGER
        )
        assert not info["missing_keys"], info
        assert not info["unexpected_keys"], info
        with torch.no_grad():
            output = outputs(model.eval()(**arguments(model.config)))
        want = np.load(HERE / folder.name / "expected.npz")["output"]
        apart = np.abs(output.numpy() - want).max() / np.abs(want).max()
        print(folder.name, f"{apart:.1e}")  # noqa: T201  # it is a report


if __name__ == "__main__":
    if sys.argv[1:2] == ["--check"]:
        check(Path(sys.argv[2]))
    else:
        for case in sys.argv[1:] or CASES:
            make(case)
