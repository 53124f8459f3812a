"""What bad input gets: one error, which names the Block or file, the argument, and what it got.

Those of single layers are in `tests/gluon/nn/test_bad_input.py`; of folders, GGUF files, the hub,
tokenizers and templates, in `tests/model_zoo/pretrained` and `tests/model_zoo/text`.
"""

import json
import os
import resource
import shutil
import signal
import struct
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import GluonishError
from gluonish.model_zoo import from_pretrained, save_pretrained
from gluonish.model_zoo.text import BatchGenerator, Cache

FOLDERS = Path(__file__).parents[1] / "golden" / "text_networks"
INFINITY = float("inf")


@pytest.fixture(scope="module")
def net() -> Any:
    made = from_pretrained(FOLDERS / "llama", mx.cpu(), dtype="float32")
    made.generation_config = {}
    return made


def tokens(*rows: list[int]) -> mx.nd.NDArray:
    return mx.nd.array(rows, dtype="int32")


ARGUMENTS: list[tuple[dict[str, Any], str]] = [
    ({"stop_strings": 5}, "stop_strings as text or a list of texts, got 5"),
    ({"cache": 5}, r"cache as a Cache, such as net\.new_cache\(\), got 5"),
    ({"cache": [1]}, r"cache as a Cache, .* got \[1\]"),
    ({"assistant_model": 5}, "assistant_model as a language model, got 5"),
    ({"prompt_lookup": "yes"}, "prompt_lookup as bool, got 'yes'"),
    ({"callback": 5}, "callback as a function, got 5"),
    ({"logits_processor": 5}, "logits_processor as a list of functions, got 5"),
    ({"logits_processor": [5]}, r"logits_processor as a list of functions, got \[5\]"),
    ({"logits_processor": [lambda s, t: s[:3]]}, r"scores \(32,\) of a .* got float32\(3,\)"),
    ({"logits_processor": [lambda s, t: None]}, r"scores \(32,\) of a .* got object\(\)"),
    ({"logits_processor": [lambda s, t: s * np.nan]}, "finite scores of tokens, got nan"),
    ({"logits_processor": [lambda s, t: s + INFINITY]}, "finite scores of tokens, got inf"),
    ({"logits_processor": [lambda s, t: s - INFINITY]}, "can be chosen, got none: .* hide all 32"),
    ({"suppress_tokens": list(range(32))}, "can be chosen, got none: .* hide all 32"),
    ({"top_p": 0}, "top_p above 0"),
    ({"temperature": -1}, "temperature from 0"),
    ({"num_beams": 2, "do_sample": True}, "num_beams of 1 with do_sample"),
]


@pytest.mark.parametrize("sampled", [False, True])
@pytest.mark.parametrize(("options", "message"), ARGUMENTS)
def test_arguments_of_generate(
    net: Any, options: dict[str, Any], message: str, sampled: bool
) -> None:
    with pytest.raises(GluonishError, match=f"generate: expected .*{message}"):
        net.generate([1, 2], 2, **{"do_sample": sampled, **options})


def test_arguments_of_streams_batches_and_caches(net: Any) -> None:
    cache = net.new_cache()
    cases: list[tuple[Callable[[], Any], str]] = [
        (lambda: net.stream([1], cache=5), "stream: expected cache as a Cache"),
        (lambda: net.stream([1], on_token=5), "stream: expected callback as a function"),
        (lambda: BatchGenerator(5), "BatchGenerator: expected a language model .* got int"),
        (
            lambda: BatchGenerator(net).insert([1], logits_processor=3),  # type: ignore[arg-type]
            "insert: expected logits_processor",
        ),
        (lambda: BatchGenerator(net).insert([]), "expected prompt 0 of at least one token"),
        (
            lambda: net.new_cache(1, -5),
            r"CausalLM\.new_cache: expected length of 1 or more, got -5",
        ),
        (lambda: net.new_cache(0), r"CausalLM\.new_cache: expected batch_size of 1 or more, got 0"),
        (lambda: cache.cut("a"), r"Cache\.cut: expected length to be an int, got 'a'"),
        (lambda: cache.take([5]), r"Cache\.take: expected rows from 0 to 0, got 5"),
        (lambda: cache.take([-1]), r"Cache\.take: expected rows from 0 to 0, got -1"),
        (lambda: net.generate([1], 2, cache=other.new_cache()), "expected key_cache"),
    ]
    other = from_pretrained(FOLDERS / "gpt2", mx.cpu(), dtype="float32")
    for call, message in cases:
        with pytest.raises(GluonishError, match=message):
            call()


@pytest.mark.parametrize("hybridized", [False, True])
@pytest.mark.parametrize("case", ["llama", "gpt2", "bert", "gemma3", "t5", "bart", "modernbert"])
def test_ids_outside_of_the_vocabulary(case: str, hybridized: bool) -> None:
    with mx.cpu():
        made = from_pretrained(FOLDERS / case, dtype="float32")
        made.hybridize(hybridized)
        targets = [tokens([0, 3])] if case in ("t5", "bart") else []
        for row, got in (([1, 32], "1 to 32"), ([1, -1], "-1 to 1")):
            with pytest.raises(GluonishError, match=f"from 0 to 31, got ids from {got}"):
                made(tokens(row), *targets).asnumpy()
        if targets:
            with pytest.raises(GluonishError, match="from 0 to 31, got ids from 1 to 32"):
                made(tokens([1, 2]), tokens([1, 32])).asnumpy()
        made(tokens([1, 2]), *targets).asnumpy()  # an error leaves the network as it was


def folder_with(to: Path, case: str = "llama", **settings: Any) -> Path:
    shutil.copytree(FOLDERS / case, to, dirs_exist_ok=True)
    entries = {**json.loads((to / "config.json").read_text()), **settings}
    (to / "config.json").write_text(json.dumps(entries))
    return to


ABSURD: list[tuple[str, dict[str, Any], str]] = [
    ("llama", {"hidden_size": 2**40}, "'hidden_size' from 1 to 16777216"),
    ("llama", {"num_hidden_layers": 10**9}, "'num_hidden_layers' from 1 to 1024"),
    ("llama", {"vocab_size": 2**24}, "shape"),  # 1 GB, which no file here has
    ("llama", {"model_type": "lama"}, "'model_type' among .*nearest.*'llama'"),
    ("llama", {"rope_parameters": {"rope_type": "linear", "factor": 0}}, "'factor' .* got 0"),
    ("mixtral", {"num_local_experts": 10**7}, "'num_local_experts' from 1 to 4096"),
    ("qwen3_moe", {"num_experts": 10**7}, "'num_experts' from 1 to 4096"),
    ("mixtral", {"num_local_experts": 4096}, "shape|missing"),
    ("mistral", {"sliding_window": -3}, "'sliding_window' from 1"),
    ("mistral", {"sliding_window": "wide"}, "'sliding_window' of type int"),
    ("bart_classes", {"eos_token_id": 99}, "eos_token_id from 0 to 31, got 99"),
    ("bart_classes", {"eos_token_id": None}, "'eos_token_id' of type int, got None"),
    ("bart_classes", {"id2label": {"0": "ham"}}, "shape"),
    ("bart_answers", {"decoder_start_token_id": "a"}, "'decoder_start_token_id' of type int"),
]


@pytest.mark.parametrize(("case", "settings", "message"), ABSURD)
def test_settings_of_absurd_size_take_neither_memory_nor_time(
    case: str, settings: dict[str, Any], message: str, tmp_path: Path
) -> None:
    folder = folder_with(tmp_path, case, **settings)
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
    with pytest.raises(GluonishError, match=message):
        from_pretrained(folder)
    assert time.monotonic() - start < 60
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000  # KiB


def test_weights_become_floating_numbers_only() -> None:
    for dtype in ("int8", "bool"):
        with pytest.raises(GluonishError, match=f"dtype of floating numbers, got {dtype}; see"):
            from_pretrained(FOLDERS / "llama", dtype=dtype)


def test_an_array_in_two_shards_is_refused(tmp_path: Path) -> None:
    folder = folder_with(tmp_path)
    weights = folder / "model.safetensors"
    content = weights.read_bytes()
    (size,) = struct.unpack("<Q", content[:8])
    names = [name for name in json.loads(content[8 : 8 + size]) if name != "__metadata__"]
    for shard in ("a", "b"):
        (folder / f"{shard}.safetensors").write_bytes(content)
    weights.unlink()
    where = dict.fromkeys(names, "a.safetensors") | {names[0]: "b.safetensors"}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": where}))
    with pytest.raises(GluonishError, match=r"each array in one file, got .* in 'a\.safetensors'"):
        from_pretrained(folder)


@pytest.fixture
def full_disk() -> Iterator[Callable[[int], None]]:
    """Yield a function that lets files have so many bytes only, as a full disk does."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    yield lambda nbytes: resource.setrlimit(resource.RLIMIT_FSIZE, (nbytes, limits[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    signal.signal(signal.SIGXFSZ, handler)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_full_disk_leaves_a_folder_as_it_was(
    net: Any, tmp_path: Path, full_disk: Callable[[int], None]
) -> None:
    folder = tmp_path / "net"
    save_pretrained(net, folder)
    before = contents(folder)
    other = from_pretrained(FOLDERS / "llama_tied")
    full_disk(3000)
    with pytest.raises(OSError, match=r"model\.safetensors"):
        save_pretrained(other, folder)
    full_disk(300)
    with pytest.raises(OSError, match=r"cache\.safetensors"):
        net.new_cache().save(tmp_path / "cache.safetensors")
    assert contents(folder) == before
    assert os.listdir(tmp_path) == ["net"]


@pytest.mark.parametrize("content", [b"", b"x", b"\xff" * 64, struct.pack("<Q", 2**60) + b"{}"])
def test_a_file_that_is_no_cache(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "cache.safetensors"
    path.write_bytes(content)
    with pytest.raises(GluonishError, match=r"cache\.safetensors"):
        Cache.load(path)
