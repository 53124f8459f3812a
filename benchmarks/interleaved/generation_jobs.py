"""Jobs of text by a network like GPT-2 small: greedy tokens behind a prompt, in gluonish and peers.

All read one folder of weights in transformers' format, and give the same tokens.
"""

import importlib
import json
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.interleaved import encoder_jobs


def prompt_of(length: int, vocabulary: int) -> list[int]:
    """Return the tokens of a prompt."""
    return [int(x) for x in np.random.default_rng(length).integers(0, vocabulary, length)]


class _Generates:
    """A job that generates tokens by ``_tokens``."""

    def start(self) -> None:
        """Generate for the first time."""
        self.run(1)

    def run(self, count: int) -> None:
        """Generate ``count`` times."""
        for _ in range(count):
            self._tokens()

    def check(self) -> Any:
        """The new tokens."""
        return self._tokens()

    def _tokens(self) -> list[int]:
        raise NotImplementedError


class Gluonish(_Generates):
    """Calls of ``generate``.

    Args:
        threads: Compute threads; the environment of the process says how many.
        folder: Folder of the network.
        prompt: Tokens of the prompt.
        new: Tokens that follow.
        dtype: ``float32`` or ``bfloat16``.
        int8: Whether weights are rounded to 8 bits.
    """

    def __init__(
        self, threads: int, folder: str, prompt: list[int], new: int, dtype: str, int8: bool = False
    ) -> None:
        import gluonish as mx
        from gluonish.model_zoo import from_pretrained

        del threads
        self.versions = {"gluonish": mx.__version__}
        self._net: Any = from_pretrained(folder, dtype=dtype)
        if int8:
            self._net.quantize_weights("int8", group=64)
        self._prompt, self._new = prompt, new

    def _tokens(self) -> list[int]:
        made: list[int] = self._net.generate(self._prompt, self._new, eos_token_id=None)
        return made


class Linear:
    """The network's dense layers alone, on one token, as often as tokens are generated.

    Args: As of `Gluonish`.
    """

    def __init__(
        self, threads: int, folder: str, prompt: list[int], new: int, dtype: str, int8: bool = False
    ) -> None:
        import gluonish as mx
        from benchmarks.cpu.one_token import layers_on

        del threads, folder, prompt
        self.versions = {"gluonish": mx.__version__}
        self._run, _ = layers_on(1, 12, dtype, group_size=64 if int8 else -1)
        self._new = new

    def start(self) -> None:
        """Run for the first time."""
        self.run(1)

    def run(self, count: int) -> None:
        """Run the layers ``count`` times for all new tokens."""
        for _ in range(count * self._new):
            self._run()

    def check(self) -> Any:
        """Nothing: it makes no tokens."""
        return []


class Encoder(encoder_jobs.Gluonish):
    """The layers of an encoder of the same sizes and activation, on as many tokens as the prompt.

    Args: As of `Gluonish`.
    """

    def __init__(self, threads: int, folder: str, prompt: list[int], new: int, dtype: str) -> None:
        layers = json.loads((Path(folder) / "config.json").read_text())["n_layer"]
        super().__init__(threads, [1, len(prompt)], layers, dtype, "layers_tanh")


class Torch(_Generates):
    """Calls of transformers' ``generate``, with a static cache and a compiled step on request.

    Args: As of `Gluonish`, and compiled: whether ``torch.compile`` is used.
    """

    def __init__(
        self,
        threads: int,
        folder: str,
        prompt: list[int],
        new: int,
        dtype: str,
        compiled: bool = False,
    ) -> None:
        torch: Any = importlib.import_module("torch")
        transformers: Any = importlib.import_module("transformers")
        torch.set_num_threads(threads)
        self.versions = {"torch": torch.__version__, "transformers": transformers.__version__}
        kind = getattr(torch, dtype)
        self._net = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=kind).eval()
        self._prompt = torch.tensor([prompt])
        self._torch, self._length = torch, len(prompt)
        self._options: dict[str, Any] = {"max_new_tokens": new, "do_sample": False}
        self._options |= {"eos_token_id": None, "pad_token_id": 0}
        if compiled:
            self._options["cache_implementation"] = "static"
            self._net.forward = torch.compile(self._net.forward, dynamic=False)

    def start(self) -> None:
        """Generate for the first time, and once more: the second call compiles, too."""
        self.run(2)

    def _tokens(self) -> list[int]:
        with self._torch.inference_mode():
            found = self._net.generate(self._prompt, **self._options)
        made: list[int] = found[0, self._length :].tolist()
        return made


class OpenVino(_Generates):
    """Requests to the network with a cache of its own; keys and values are of the same dtype.

    Args: As of `Gluonish`.
    """

    def __init__(self, threads: int, folder: str, prompt: list[int], new: int, dtype: str) -> None:
        from benchmarks.interleaved.stateful_gpt2 import stateful_gpt2

        library: Any = importlib.import_module("openvino")
        self.versions = {"openvino": library.__version__}
        hint = {"float32": "f32", "bfloat16": "bf16"}[dtype]
        settings = {
            "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_NUM_THREADS": threads,
            "INFERENCE_PRECISION_HINT": hint,
            "KV_CACHE_PRECISION": hint,
        }
        compiled = library.Core().compile_model(stateful_gpt2(folder), "CPU", settings)
        self._request: Any = compiled.create_infer_request()
        self._prompt, self._new = prompt, new

    def _tokens(self) -> list[int]:
        self._request.reset_state()
        tokens, made = self._prompt, list[int]()
        while len(made) < self._new:
            end = len(self._prompt) + len(made)
            given = {
                "tokens": np.array([tokens], np.int64),
                "positions": np.arange(end - len(tokens), end)[None],
                "row": np.zeros(1, np.int32),
            }
            self._request.infer(given, share_inputs=True)
            tokens = [int(self._request.get_output_tensor(0).data[0].argmax())]
            made += tokens
        return made


class Llama(_Generates):
    """Calls of llama.cpp's ``generate``, on a GGUF file that is made of the folder.

    Args: As of `Gluonish`.
    """

    def __init__(self, threads: int, folder: str, prompt: list[int], new: int, dtype: str) -> None:
        llama_cpp: Any = importlib.import_module("llama_cpp")
        self.versions = {"llama-cpp-python": llama_cpp.__version__}
        file = Path(folder) / f"{dtype}.gguf"
        _write_gguf(Path(folder), file, dtype)
        self._net = llama_cpp.Llama(
            str(file),
            n_ctx=len(prompt) + new,
            n_threads=threads,
            n_threads_batch=threads,
            verbose=False,
        )
        self._prompt, self._new = prompt, new

    def _tokens(self) -> list[int]:
        self._net.reset()
        made = self._net.generate(self._prompt, top_k=1, temp=0.0, repeat_penalty=1.0)
        return [int(token) for token in islice(made, self._new)]


_GGUF_LAYER = {"ln_1": "attn_norm", "attn.c_attn": "attn_qkv", "attn.c_proj": "attn_output",
               "ln_2": "ffn_norm", "mlp.c_fc": "ffn_up", "mlp.c_proj": "ffn_down"}  # fmt: skip
_GGUF = {
    "wte": "token_embd",
    "wpe": "position_embd",
    "ln_f": "output_norm",
    "lm_head": "output",
}


def _write_gguf(folder: Path, file: Path, dtype: str) -> None:
    """Write a folder of GPT-2 as a GGUF file, with a vocabulary of numbers."""
    gguf: Any = importlib.import_module("gguf")
    safetensors: Any = importlib.import_module("safetensors.numpy")
    config = json.loads((folder / "config.json").read_text())
    writer = gguf.GGUFWriter(str(file), "gpt2")
    writer.add_block_count(config["n_layer"])
    writer.add_context_length(config["n_positions"])
    writer.add_embedding_length(config["n_embd"])
    writer.add_feed_forward_length(4 * config["n_embd"])
    writer.add_head_count(config["n_head"])
    writer.add_layer_norm_eps(config["layer_norm_epsilon"])
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list([str(i) for i in range(config["vocab_size"])])
    writer.add_token_types([1] * config["vocab_size"])
    writer.add_token_merges(["1 0"])
    kind = gguf.GGMLQuantizationType.BF16
    for name, array in safetensors.load_file(folder / "model.safetensors").items():
        *layer, part, role = name.removeprefix("transformer.").rsplit(".", 2)
        if layer:  # h.3.attn, c_attn
            _, number, *rest = layer[0].split(".")
            made = f"blk.{number}.{_GGUF_LAYER['.'.join([*rest, part])]}.{role}"
        else:
            made = f"{_GGUF[part]}.{role}"
        if array.ndim == 2 and part.startswith("c_"):
            array = array.T
        array = np.ascontiguousarray(array, np.float32)
        if dtype == "bfloat16" and array.ndim == 2 and part != "wpe":
            array = gguf.quants.quantize(array, kind)
            writer.add_tensor(made, array, raw_dtype=kind)
        else:
            writer.add_tensor(made, array)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
