"""Networks for text, and what they need: heads, weights as others publish them."""

from typing import TYPE_CHECKING

from gluonish.core.lazy import attach as _attach

__all__ = [
    "BART",
    "BERT",
    "ELECTRA",
    "GPT2",
    "T5",
    "Batch",
    "BatchGenerator",
    "Cache",
    "CausalLM",
    "CausalQuestionAnswering",
    "CausalSequenceClassifier",
    "CausalTokenClassifier",
    "DistilBERT",
    "Embedder",
    "GPTNeoX",
    "Gemma",
    "Gemma2",
    "Gemma3",
    "Llama",
    "MaskedLM",
    "Mistral",
    "Mixtral",
    "ModernBERT",
    "Phi3",
    "QuestionAnswering",
    "Qwen2",
    "Qwen3",
    "Qwen3Moe",
    "ReplacedTokenDetector",
    "RoBERTa",
    "Seq2SeqLM",
    "Seq2SeqQuestionAnswering",
    "Seq2SeqSequenceClassifier",
    "SequenceClassifier",
    "T5Encoder",
    "TokenClassifier",
    "Tokenizer",
]

if TYPE_CHECKING:
    from gluonish.model_zoo.generation.batching import BatchGenerator
    from gluonish.model_zoo.generation.cache import Cache
    from gluonish.model_zoo.text.bart import BART
    from gluonish.model_zoo.text.bert import BERT, ELECTRA, DistilBERT, RoBERTa
    from gluonish.model_zoo.text.decoder_heads import (
        CausalQuestionAnswering,
        CausalSequenceClassifier,
        CausalTokenClassifier,
    )
    from gluonish.model_zoo.text.embedder import Embedder
    from gluonish.model_zoo.text.encoder_heads import (
        MaskedLM,
        QuestionAnswering,
        ReplacedTokenDetector,
        SequenceClassifier,
        TokenClassifier,
    )
    from gluonish.model_zoo.text.gemma import Gemma, Gemma2, Gemma3
    from gluonish.model_zoo.text.gpt2 import GPT2
    from gluonish.model_zoo.text.gpt_neox import GPTNeoX
    from gluonish.model_zoo.text.heads import CausalLM
    from gluonish.model_zoo.text.llama import Llama, Mistral, Phi3, Qwen2, Qwen3
    from gluonish.model_zoo.text.mixture import Mixtral, Qwen3Moe
    from gluonish.model_zoo.text.modernbert import ModernBERT
    from gluonish.model_zoo.text.seq2seq import Seq2SeqLM
    from gluonish.model_zoo.text.seq2seq_heads import (
        Seq2SeqQuestionAnswering,
        Seq2SeqSequenceClassifier,
    )
    from gluonish.model_zoo.text.t5 import T5, T5Encoder
    from gluonish.model_zoo.text.tokenizer import Batch, Tokenizer
else:
    __getattr__ = _attach(
        __name__,
        (
            "bart",
            "bert",
            "decoder_heads",
            "embedder",
            "encoder_decoder",
            "encoder_heads",
            "gemma",
            "gpt2",
            "gpt_neox",
            "heads",
            "llama",
            "mixture",
            "modernbert",
            "seq2seq",
            "seq2seq_heads",
            "t5",
            "tokenizer",
        ),
        {
            "BART": "gluonish.model_zoo.text.bart:BART",
            "BERT": "gluonish.model_zoo.text.bert:BERT",
            "Batch": "gluonish.model_zoo.text.tokenizer:Batch",
            "BatchGenerator": "gluonish.model_zoo.generation.batching:BatchGenerator",
            "Cache": "gluonish.model_zoo.generation.cache:Cache",
            "CausalLM": "gluonish.model_zoo.text.heads:CausalLM",
            "CausalQuestionAnswering": (
                "gluonish.model_zoo.text.decoder_heads:CausalQuestionAnswering"
            ),
            "CausalSequenceClassifier": (
                "gluonish.model_zoo.text.decoder_heads:CausalSequenceClassifier"
            ),
            "CausalTokenClassifier": "gluonish.model_zoo.text.decoder_heads:CausalTokenClassifier",
            "DistilBERT": "gluonish.model_zoo.text.bert:DistilBERT",
            "ELECTRA": "gluonish.model_zoo.text.bert:ELECTRA",
            "Embedder": "gluonish.model_zoo.text.embedder:Embedder",
            "GPT2": "gluonish.model_zoo.text.gpt2:GPT2",
            "GPTNeoX": "gluonish.model_zoo.text.gpt_neox:GPTNeoX",
            "Gemma": "gluonish.model_zoo.text.gemma:Gemma",
            "Gemma2": "gluonish.model_zoo.text.gemma:Gemma2",
            "Gemma3": "gluonish.model_zoo.text.gemma:Gemma3",
            "Llama": "gluonish.model_zoo.text.llama:Llama",
            "MaskedLM": "gluonish.model_zoo.text.encoder_heads:MaskedLM",
            "Mistral": "gluonish.model_zoo.text.llama:Mistral",
            "Mixtral": "gluonish.model_zoo.text.mixture:Mixtral",
            "ModernBERT": "gluonish.model_zoo.text.modernbert:ModernBERT",
            "Phi3": "gluonish.model_zoo.text.llama:Phi3",
            "QuestionAnswering": "gluonish.model_zoo.text.encoder_heads:QuestionAnswering",
            "Qwen2": "gluonish.model_zoo.text.llama:Qwen2",
            "Qwen3": "gluonish.model_zoo.text.llama:Qwen3",
            "Qwen3Moe": "gluonish.model_zoo.text.mixture:Qwen3Moe",
            "ReplacedTokenDetector": "gluonish.model_zoo.text.encoder_heads:ReplacedTokenDetector",
            "RoBERTa": "gluonish.model_zoo.text.bert:RoBERTa",
            "Seq2SeqLM": "gluonish.model_zoo.text.seq2seq:Seq2SeqLM",
            "Seq2SeqQuestionAnswering": (
                "gluonish.model_zoo.text.seq2seq_heads:Seq2SeqQuestionAnswering"
            ),
            "Seq2SeqSequenceClassifier": (
                "gluonish.model_zoo.text.seq2seq_heads:Seq2SeqSequenceClassifier"
            ),
            "SequenceClassifier": "gluonish.model_zoo.text.encoder_heads:SequenceClassifier",
            "T5": "gluonish.model_zoo.text.t5:T5",
            "T5Encoder": "gluonish.model_zoo.text.t5:T5Encoder",
            "TokenClassifier": "gluonish.model_zoo.text.encoder_heads:TokenClassifier",
            "Tokenizer": "gluonish.model_zoo.text.tokenizer:Tokenizer",
        },
    )
