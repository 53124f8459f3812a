"""Jobs of text by a network like GPT-2 small: greedy tokens behind a prompt, in gluonish and peers.

All read one folder of weights in transformers' format, and give the same tokens.
"""

import importlib
from typing import Any

import numpy as np


def prompt_of(length: int, vocabulary: int) -> list[int]:
    """Return the tokens of a prompt."""
    return [int(x) for x in np.random.default_rng(length).integers(0, vocabulary, length)]


class Gluonish:
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


class Torch:
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
        """Generate for the first time."""
        self.run(2)

    def run(self, count: int) -> None:
        """Generate ``count`` times."""
        for _ in range(count):
            self._tokens()

    def check(self) -> Any:
        """The new tokens."""
        return self._tokens()

    def _tokens(self) -> list[int]:
        with self._torch.inference_mode():
            found = self._net.generate(self._prompt, **self._options)
        made: list[int] = found[0, self._length :].tolist()
        return made
