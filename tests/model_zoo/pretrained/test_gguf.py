"""GGUF files: metadata, tensors of each type, tokenizers, networks; and hostile files."""

import json
import random
import struct
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import (
    ArgumentError,
    FileFormatError,
    GluonishError,
    MissingFileError,
    NotSupportedError,
    ParameterError,
)
from gluonish.kernels.generated.quantized_blocks import write_values
from gluonish.model_zoo import from_gguf, from_pretrained, save_pretrained
from gluonish.model_zoo.pretrained import gguf as reader
from gluonish.model_zoo.pretrained.gguf import open_gguf
from gluonish.model_zoo.pretrained.gguf_tokenizer import tokenizer_of
from tests.golden.gguf_cases import TOKENS
from tests.golden.tokenizer_cases import CONVERSATIONS, MAX_LENGTH, TEXTS
from tests.model_zoo.weights import smollm2

GOLDEN = Path(__file__).parents[2] / "golden" / "gguf"
NETWORKS = ("llama", "llama_8", "qwen2", "qwen3", "phi3")
KINDS = ("F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1")
needs_tokenizers = pytest.mark.skipif(
    not all(map(__import__("importlib.util").util.find_spec, ("tokenizers", "jinja2"))),
    reason="needs the extra text",
)


@cache
def expected() -> dict[str, Any]:
    with np.load(GOLDEN / "expected.npz") as file:
        return dict(file) | json.loads((GOLDEN / "expected.json").read_text())


@cache
def network(case: str) -> Any:
    return from_gguf(GOLDEN / f"{case}.gguf", dtype="float32")


@pytest.fixture(autouse=True)
def _networks_of_this_device() -> None:
    """A GPU of the double is another one in each test."""
    if mx.current_context().device_type == "gpu":
        network.cache_clear()


def test_metadata_of_each_type() -> None:
    with open_gguf(GOLDEN / "types.gguf") as file:
        found = file.metadata
    for name in ("uint8", "uint16", "uint32", "uint64"):
        assert found[f"a.{name}"] == 7
    for name in ("int8", "int16", "int32", "int64"):
        assert found[f"a.{name}"] == -7
    assert (found["a.float32"], found["a.float64"], found["a.bool"]) == (0.5, 0.1, True)
    assert (found["a.text"], found["a.texts"]) == ("\u00fc", ["x", "", "\u00fc"])
    assert found["a.numbers"].tolist() == [1, 2, 3]
    assert found["a.floats"].tolist() == [0.5, 1.5]
    assert [part.tolist() for part in found["a.lists"]] == [[1, 2], [3]]


@pytest.mark.parametrize("mmap", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_values_are_those_of_the_package(kind: str, mmap: bool, monkeypatch) -> None:
    monkeypatch.setattr(reader, "_CHUNK", 4)
    want = expected()[f"types.{kind}"]
    with open_gguf(GOLDEN / "types.gguf", mmap) as file:
        tensor = file.tensors[kind]
        assert (tensor.kind, tensor.shape) == (kind, want.shape)
        assert np.array_equal(tensor.read("float32"), want)
        for dtype in (np.float64, np.float16, ml_dtypes.bfloat16):
            out = np.empty(want.shape, dtype)
            tensor.read_into(out)
            assert np.array_equal(out, want.astype(dtype))


def test_plain_values_of_a_mapped_file_stay_there(tmp_path: Path) -> None:
    path = tmp_path / "large.gguf"
    values = np.arange(1 << 19, dtype=np.float32)
    path.write_bytes(made(tensors=[("x", values.shape, 0, 0)], data=values.tobytes()))
    with open_gguf(path) as file:
        found = file.tensors["x"].read()
    assert not found.flags.owndata
    assert np.array_equal(found, values)
    with open_gguf(path, mmap=False) as file:
        assert np.array_equal(file.tensors["x"].read(), values)


def test_a_header_of_unknown_length_is_read_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "_LEAST_HEADER_NBYTES", 100)
    with open_gguf(GOLDEN / "types.gguf", mmap=False) as file:
        assert [*file.tensors] == [*KINDS]


@pytest.mark.parametrize("out", [np.empty((2, 2)), np.empty((3, 2, 192))[..., ::2]])
def test_arrays_that_do_not_fit_are_refused(out: Any) -> None:
    with (
        open_gguf(GOLDEN / "types.gguf") as file,
        pytest.raises(ArgumentError, match=r"a contiguous array of shape \(3, 2, 96\) for 'F32'"),
    ):
        file.tensors["F32"].read_into(out)


@needs_tokenizers
@pytest.mark.parametrize("pre", ["smollm", "gpt-2", "qwen2", "llama-bpe"])
def test_tokens_are_those_of_a_plain_program(pre: str) -> None:
    with open_gguf(GOLDEN / f"split_{pre}.gguf") as file:
        tokenizer = tokenizer_of(file)
    assert [tokenizer.encode(text) for text in TEXTS] == expected()[pre]
    assert (tokenizer.bos_id, tokenizer.eos_id, tokenizer.pad_id) == (0, 1, 2)
    assert tokenizer.decode(tokenizer.encode(TEXTS[0])) == TEXTS[0]
    chat = tokenizer.apply_chat_template(CONVERSATIONS[0])
    assert chat == "<user>What is the capital of France?"


@needs_tokenizers
def test_pieces_are_those_of_sentencepiece() -> None:
    with open_gguf(GOLDEN / "pieces.gguf") as file:
        tokenizer = tokenizer_of(file)
    want = expected()["pieces"]
    assert {text: tokenizer.encode(text) for text in want} == want
    assert tokenizer.decode(want[TEXTS[6]]) == TEXTS[6]
    assert (tokenizer.bos_id, tokenizer.eos_id, tokenizer.unk_id) == (1, 2, 0)


@needs_tokenizers
@pytest.mark.parametrize("case", NETWORKS)
def test_scores_are_those_of_transformers(case: str) -> None:
    want = expected()[f"{case}.scores"]
    found = network(case)(mx.nd.array(TOKENS, dtype="int32")).asnumpy()[..., ::8]
    assert np.abs(found - want).max() < 2e-5 * np.abs(want).max()


@needs_tokenizers
@pytest.mark.parametrize("case", ["llama", "phi3"])
def test_text_is_that_of_transformers(case: str) -> None:
    found = network(case).generate(TOKENS[0], max_new_tokens=8, eos_token_id=None)
    assert found == expected()[f"{case}.greedy"].tolist()


@needs_tokenizers
def test_a_network_has_tokenizer_and_ends(tmp_path: Path) -> None:
    net = network("llama")
    assert net.tokenizer.encode("a cat") == expected_tokens("a cat")
    want = {"bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 2}
    assert net.generation_config == want
    save_pretrained(net, tmp_path)
    tokens = mx.nd.array(TOKENS, dtype="int32")
    again = from_pretrained(tmp_path)(tokens).asnumpy()
    assert np.array_equal(again, net(tokens).asnumpy())


def expected_tokens(text: str) -> list[int]:
    with open_gguf(GOLDEN / "split_smollm.gguf") as file:
        return tokenizer_of(file).encode(text)


@needs_tokenizers
def test_dtypes() -> None:
    kinds = {case: from_gguf(GOLDEN / f"{case}.gguf").head.weight.dtype for case in NETWORKS}
    found = {case: np.dtype(kind).name for case, kind in kinds.items()}
    assert found == {
        "llama": "float32",
        "llama_8": "float32",
        "qwen2": "float32",
        "qwen3": "bfloat16",
        "phi3": "float16",
    }
    half = from_gguf(GOLDEN / "llama.gguf", dtype="bfloat16", mmap=True).body.embedding.weight
    want = network("llama").body.embedding.weight.data().asnumpy().astype(ml_dtypes.bfloat16)
    assert np.array_equal(half.data().asnumpy(), want)


# Hostile files: bytes of metadata and tensors by name, shape, type and offset.


def text(content: str | bytes) -> bytes:
    data = content.encode() if isinstance(content, str) else content
    return struct.pack("<Q", len(data)) + data


def entry(key: str, kind: int, value: bytes) -> bytes:
    return text(key) + struct.pack("<I", kind) + value


def made(
    entries: Any = (), tensors: Any = (), data: bytes = b"", counts: Any = None, version: int = 3
) -> bytes:
    infos = b""
    for name, shape, kind, offset in tensors:
        infos += text(name) + struct.pack("<I", len(shape))
        infos += b"".join(struct.pack("<Q", size) for size in shape[::-1])
        infos += struct.pack("<IQ", kind, offset)
    numbers = counts or (len(tensors), len(entries))
    header = b"GGUF" + struct.pack("<IQQ", version, *numbers) + b"".join(entries) + infos
    return header + bytes(-len(header) % 32) + data


HUGE = (1 << 63) + 1
BROKEN = {
    "empty": (b"", "expected a GGUF file"),
    "another file": (b"PK\3\4" + bytes(100), "expected a GGUF file, .* got b'PK"),
    "no version": (b"GGUF\3", "expected 4 bytes of version"),
    "version 1": (made(version=1), "version 2 or 3, got version 1"),
    "big-endian": (made(version=3 << 24), "got a file of big-endian numbers"),
    "tensors without end": (made(counts=(HUGE, 0)), "a number of tensors that the file has room"),
    "keys without end": (made(counts=(0, 1 << 40)), "a number of keys that the file has room"),
    "a key without end": (made([struct.pack("<Q", HUGE)], counts=(0, 1)) + bytes(50), "a key of"),
    "a key past the end": (made([struct.pack("<Q", 9999)], counts=(0, 1)) + bytes(50), "of a key"),
    "a text past the end": (made([entry("a", 8, struct.pack("<Q", 1 << 50))]), "bytes of 'a'"),
    "a key that is no text": (made([text(b"\xff") + bytes(40)]), "a key in UTF-8"),
    "a text that is none": (made([entry("a", 8, text(b"\xff"))]), "'a' in UTF-8"),
    "a key twice": (made([entry("a", 0, b"1"), entry("a", 0, b"1")]), "each key once .* 'a' twice"),
    "an unknown type": (made([entry("a", 13, bytes(40))]), "a type from 0 to 12 of 'a'"),
    "a bool of 2": (made([entry("a", 7, b"\2")]), "'a' of 0 and 1"),
    "a list without end": (made([entry("a", 9, struct.pack("<IQ", 6, HUGE))]), "a length of 'a'"),
    "texts without end": (
        made([entry("a", 9, struct.pack("<IQ", 8, 1 << 40))]), "a number of texts of 'a'",
    ),
    "a text in a list past the end": (
        made([entry("a", 9, struct.pack("<IQQ", 8, 1, 1 << 62))]) + bytes(99), "bytes of 'a'",
    ),
    "a list of unknown type": (made([entry("a", 9, struct.pack("<IQ", 99, 1))]), "of 'a' at byte"),
    "lists in lists": (
        made([entry("a", 9, struct.pack("<IQ", 9, 1) * 9)]) + bytes(99), "up to 4 nested lists",
    ),
    "alignment of 0": (made([entry("general.alignment", 4, bytes(4))]), "a multiple of 8"),
    "alignment of text": (made([entry("general.alignment", 8, text("x"))]), "a multiple of 8"),
    "a type of tensors": (made(tensors=[("x", (256,), 14, 0)]), "'x' of type F32.* got Q6_K"),
    "no type of tensors": (made(tensors=[("x", (1,), 999, 0)]), "got type 999"),
    "no axes": (made(tensors=[("x", (), 0, 0)]), "1 to 4 axes of 'x'"),
    "many axes": (made(tensors=[("x", (1,) * 5, 0, 0)]), "1 to 4 axes of 'x'"),
    "a shape without end": (made(tensors=[("x", (1 << 40, 1 << 40), 0, 0)]), "fits in memory"),
    "a shape past the end": (made(tensors=[("x", (1 << 30,), 0, 0)]), "'x': expected 4294967296"),
    "rows that are no blocks": (made(tensors=[("x", (2, 33), 3, 0)]), "rows of 32 elements"),
    "an offset past the end": (made(tensors=[("x", (1,), 0, 1 << 40)]), "got offset 109951162"),
    "an offset that wraps": (made(tensors=[("x", (1,), 0, (1 << 64) - 32)]), "got offset 18446"),
    "an odd offset": (
        made(tensors=[("x", (1,), 0, 4)], data=bytes(99)), "a multiple of 32 .* got offset 4",
    ),
    "a name twice": (
        made(tensors=[("x", (1,), 0, 0), ("x", (1,), 0, 32)], data=bytes(99)), "'x' twice",
    ),
    "overlap": (
        made(tensors=[("x", (16,), 0, 0), ("y", (1,), 0, 32)], data=bytes(99)),
        "without overlap, got 'y' .* inside 'x'",
    ),
    "a long name": (made(tensors=[("x" * 999, (1,), 0, 0)]), "a tensor's name of up to 256"),
}  # fmt: skip


@pytest.mark.parametrize("what", BROKEN)
@pytest.mark.parametrize("mmap", [True, False])
def test_a_hostile_file_is_refused(what: str, mmap: bool, tmp_path: Path) -> None:
    content, message = BROKEN[what]
    path = tmp_path / "x.gguf"
    path.write_bytes(content)
    kinds = (FileFormatError, NotSupportedError)
    with pytest.raises(kinds, match=f"^{path}: .*{message}"), open_gguf(path, mmap):
        pass


def test_a_file_cut_anywhere_is_refused(tmp_path: Path) -> None:
    whole = (GOLDEN / "types.gguf").read_bytes()
    path = tmp_path / "x.gguf"
    for length in random.Random(1).sample(range(len(whole) - 40), 80):
        path.write_bytes(whole[:length])
        with pytest.raises(FileFormatError), open_gguf(path):
            pass


def test_damaged_files_are_read_or_refused(tmp_path: Path) -> None:
    whole = (GOLDEN / "types.gguf").read_bytes()
    path = tmp_path / "x.gguf"
    randoms = random.Random(2)
    for _ in range(150):
        content = bytearray(whole)
        for _ in range(randoms.randint(1, 4)):
            content[randoms.randrange(1200)] = randoms.choice((0, 1, 8, 9, 127, 128, 255))
        path.write_bytes(content)
        with suppress(GluonishError), open_gguf(path) as file:
            for tensor in file.tensors.values():
                tensor.read()


def test_no_file() -> None:
    with pytest.raises(MissingFileError), open_gguf("none.gguf"):
        pass


# Networks and tokenizers of other metadata: the file of a network, with changed bytes.


def replaced(tmp_path: Path, case: str, old: bytes, new: bytes) -> Path:
    content = (GOLDEN / f"{case}.gguf").read_bytes()
    assert old in content
    assert len(old) == len(new)
    path = tmp_path / "x.gguf"
    path.write_bytes(content.replace(old, new))
    return path


def u32(key: str, value: int) -> bytes:
    return entry(key, 4, struct.pack("<I", value))


@needs_tokenizers
@pytest.mark.parametrize(
    ("old", "new", "error", "message"),
    [
        (text("llama"), text("llame"), NotSupportedError, "among llama.* got 'llame' .nearest"),
        (b"llama.block_count", b"llama.block_kount", FileFormatError, "expected 'llama.block_cou"),
        (b"llama.rope.freq_base", b"llama.rope.freq_bass", NotSupportedError, "got 'llama.rope.fr"),
        (u32("llama.block_count", 2), u32("llama.block_count", 3), ParameterError,
         "expected tensors 'blk.2.ffn_gate.weight'"),
        (u32("llama.block_count", 2), u32("llama.block_count", 1), ParameterError,
         "expected no tensors .*'blk.1"),
        (u32("llama.block_count", 2), u32("llama.block_count", 1 << 31), FileFormatError,
         "'num_hidden_layers' from 1"),
        (u32("llama.embedding_length", 32), u32("llama.embedding_length", 64), ParameterError,
         "'token_embd.weight' of shape"),
        (u32("llama.attention.head_count", 4), u32("llama.attention.head_count", 0),
         FileFormatError, "'num_attention_heads'"),
        (u32("llama.attention.head_count", 4), u32("llama.attention.head_count", 5),
         FileFormatError, "do not fit"),
        (text("smollm"), text("smollx"), NotSupportedError, "tokenizer.ggml.pre among .*'smollx'"),
        (text("gpt2"), text("bert"), NotSupportedError, "gpt2 or llama, got 'bert'"),
        (u32("tokenizer.ggml.eos_token_id", 1), u32("tokenizer.ggml.eos_token_id", 400),
         FileFormatError, "'tokenizer.ggml.eos_token_id' inside the vocabulary, got 400"),
        (text("\u0120 t"), text("\u0120_t"), FileFormatError, "two tokens with a space between"),
        (text("\u0120 t"), text("\u0120 \x01"), FileFormatError, "metadata of a tokenizer, got"),
    ],
)  # fmt: skip
def test_wrong_metadata_are_refused(old, new, error, message: str, tmp_path: Path) -> None:
    with pytest.raises(error, match=message):
        from_gguf(replaced(tmp_path, "llama", old, new))


@needs_tokenizers
@pytest.mark.weights
def test_smollm2_has_the_tokens_and_template_of_transformers() -> None:
    want = json.loads((GOLDEN.with_name("tokenizers") / "expected.json").read_text())["smollm2"]
    with open_gguf(smollm2()) as file:
        tokenizer = tokenizer_of(file)
    assert [tokenizer.encode(x) for x in TEXTS] == want["ids"]
    assert [tokenizer.encode(x, max_length=MAX_LENGTH) for x in TEXTS] == want["cut"]
    assert [tokenizer.decode(x, skip_special_tokens=False) for x in want["ids"]] == want["text"]
    assert [tokenizer.apply_chat_template(x) for x in CONVERSATIONS] == want["chats"]


@needs_tokenizers
@pytest.mark.weights
@pytest.mark.slow
def test_smollm2_knows_the_capital_of_france() -> None:
    net = from_gguf(smollm2())
    chat = net.tokenizer.apply_chat_template(CONVERSATIONS[0])
    tokens = net.tokenizer.encode(chat, add_special_tokens=False)
    found = net.generate(tokens, max_new_tokens=20)
    assert net.tokenizer.decode(found) == "The capital of France is Paris."


@pytest.mark.parametrize("kind", ["Q4_0", "Q4_1", "Q8_0"])
def test_the_generated_kernel_writes_the_values_of_numpy(kind: str) -> None:
    rng = np.random.default_rng(5)
    found = next(entry for entry in reader._TYPES.values() if entry.name == kind)
    assert found.values is not None
    for count in (1, 3, 4097):  # any bytes: scales that are infinite, NaN, negative, subnormal
        blocks = rng.integers(0, 256, (count, found.nbytes), np.uint8)
        want, got = np.empty((2, count, 32), np.float32)
        with np.errstate(over="ignore", invalid="ignore"):
            found.values(blocks, want)
        assert write_values(kind, blocks, got)
        assert np.array_equal(want, got, equal_nan=True)


@pytest.mark.parametrize("kind", ["Q4_0", "Q4_1", "Q8_0"])
def test_values_without_a_compiler_are_the_same(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "write_values", lambda *_: False)
    with open_gguf(GOLDEN / "types.gguf") as file:
        assert np.array_equal(file.tensors[kind].read(), expected()[f"types.{kind}"])
