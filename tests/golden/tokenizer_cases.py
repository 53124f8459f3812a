"""Texts and conversations that tokenizers are compared on."""

TEXTS = [
    "A cat on a mat.",
    "What is the capital of France?",
    "  two  spaces,\ttabs\nand\r\n\r\nlines  ",
    "don't we'll I'm they'd it's",
    "1234567890 3.14 2,000 x86_64",
    "def f(x):\n    return x ** 2  # square",
    "\u00dcbergr\u00f6\u00dfe, na\u00efve caf\u00e9, "
    "\u6771\u4eac, \u0440\u0443\u0441\u0441\u043a\u0438\u0439",
    "emoji \U0001f600\U0001f468\u200d\U0001f469\u200d\U0001f467 and \u200b zero width",
    "<|im_start|>user\nhi<|im_end|> [SEP] [MASK] <s> </s>",
    "",
    " ",
    "antidisestablishmentarianism unbelievable",
]
PAIRS = [("A cat", "on a mat."), ("", "second"), ("the longer of the two texts is cut", "short")]
MAX_LENGTH = 7
CONVERSATIONS = [
    [{"role": "user", "content": "What is the capital of France?"}],
    [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hi!"},
        {"role": "assistant", "content": " Hello. "},
        {"role": "user", "content": '\u00dcber "quotes" & <tags>'},
    ],
]
