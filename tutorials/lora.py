# %% [markdown]
"""LoRA: teach a language network another kind of text, by a few numbers beside frozen weights.

Run it with ``python tutorials/lora.py``; on two cores that takes two minutes, and with ``--quick``
(fewer steps) some seconds. A picture, the base network and the adapter go to the folder that
``--out`` names, or to a new temporary one.
"""

# %%
import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from tqdm import tqdm

import gluonish as mx
from gluonish import autograd, gluon
from gluonish.contrib import lora
from gluonish.model_zoo import text

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--quick", action="store_true", help="fewer steps, for some seconds")
parser.add_argument("--seed", type=int, default=1, help="of weights and batches")
parser.add_argument("--out", type=Path, help="folder for the files; a temporary one by default")
options = parser.parse_args()
folder = options.out or Path(tempfile.mkdtemp(prefix="gluonish-"))
folder.mkdir(parents=True, exist_ok=True)

LAYERS, UNITS, HEADS, CONTEXT = 3, 128, 4, 96
BASE_STEPS, STEPS, BASE_BATCH, BATCH = (60, 30, 16, 8) if options.quick else (500, 200, 16, 8)
BASE_RATE, LORA_RATE, FULL_RATE = 3e-3, 1e-2, 1e-3
RANK = 4

generator = np.random.default_rng(options.seed)

# %% [markdown]
# ## 1. Two texts, as numbers of characters
#
# The first chapters of Moby-Dick, of which there is a lot, and the licence of gluonish, of which
# there is little. A part of the licence is held out.

# %%
ALPHABET = "\n" + "".join(map(chr, range(32, 127)))


def numbers_of(text: str) -> np.ndarray:
    """Return a text as numbers; characters outside ASCII become question marks."""
    ascii_text = text.encode("ascii", "replace").decode()
    return np.array([ALPHABET.index(character) for character in ascii_text], np.int32)


here = Path(__file__).resolve().parent
novel = numbers_of((here / "moby_dick.txt").read_text("utf-8"))
beside = here / "LICENSE"  # of a notebook; in the repository it is one folder up
licence_file = beside if beside.exists() else here.parent / "LICENSE"
licence = numbers_of(licence_file.read_text("utf-8"))
first, held_out, last = np.split(licence, [len(licence) // 2, len(licence) * 2 // 3])
licence = np.concatenate([first, last])
print(f"characters: {len(novel):,} of a novel, {len(licence):,} of a licence")

# %% [markdown]
# ## 2. A network that has learned from the novel
#
# It stands for one of those that others trained on far more, which `model_zoo.from_pretrained`
# loads; all that follows is the same for them.


# %%
def network() -> text.CausalLM:
    """Return a small GPT-2, without weights."""
    sizes = {"units": UNITS, "num_layers": LAYERS, "num_heads": HEADS, "max_length": CONTEXT}
    off = dict.fromkeys(("dropout", "attention_dropout", "embedding_dropout"), 0.0)
    return text.CausalLM(text.GPT2(len(ALPHABET), **sizes, **off), tied=True)


loss_function = gluon.loss.SoftmaxCrossEntropyLoss()


def loss_of(net: gluon.HybridBlock, source: np.ndarray, starts: np.ndarray) -> mx.nd.NDArray:
    """Return the loss of each passage of a text: how badly its characters were foreseen."""
    places = starts[:, None] + np.arange(CONTEXT)
    following = mx.nd.array(source[places + 1])
    return loss_function(net(mx.nd.array(source[places], dtype="int32")), following)


def evaluate(net: gluon.HybridBlock) -> float:
    """Return the mean loss of a character of the held-out part of the licence, in nats."""
    starts = np.arange(0, len(held_out) - CONTEXT, CONTEXT // 2)
    return float(loss_of(net, held_out, starts).mean().asscalar())


def train(
    net: gluon.HybridBlock, source: np.ndarray, starts: np.ndarray, rate: float, name: str
) -> list[tuple[int, float]]:
    """Train on passages with Adam; return what `evaluate` found after some steps."""
    schedule = mx.lr_scheduler.CosineScheduler(
        max_update=len(starts), base_lr=rate, final_lr=rate / 10, warmup_steps=len(starts) // 20
    )
    settings = {"learning_rate": rate, "beta2": 0.99, "lr_scheduler": schedule}
    trainer = gluon.Trainer(net.collect_params(), "adam", settings)
    trained = [p for p in net.collect_params().values() if p.grad_req != "null"]
    found = [(0, evaluate(net))]
    for step, batch in enumerate(tqdm(starts, desc=name, leave=False, disable=None), 1):
        with autograd.record():
            loss = loss_of(net, source, batch).mean()
        loss.backward()
        gluon.utils.clip_global_norm([p.grad() for p in trained], 1.0)
        trainer.step(1)  # the loss is a mean already: there is no batch size to divide by
        if step % (len(starts) // 10) == 0:
            found.append((step, evaluate(net)))
    return found


mx.random.seed(options.seed)
base = network()
base.initialize(mx.init.Normal(0.02))
base.hybridize(static_alloc=True)
starts = generator.integers(0, len(novel) - CONTEXT, (BASE_STEPS, BASE_BATCH))
before = train(base, novel, starts, BASE_RATE, "the novel")[-1][1]
base.save_parameters(str(folder / "base.params"))
print(f"held-out licence, by the network that read the novel: loss {before:.4f}")

# %% [markdown]
# ## 3. The adapter
#
# Beside a weight W come two thin matrices: the layer computes x W^T + s x A^T B^T, where A has RANK
# rows, and B RANK columns. B is 0 at first, so that nothing changes. W stays as it is: only A and B
# train. A pattern names the Dense layers by their attribute paths.


# %%
def new_copy() -> text.CausalLM:
    """Return a network with the weights of the base."""
    net = network()
    net.load_parameters(str(folder / "base.params"))
    net.hybridize(static_alloc=True)
    return net


def trained_count(net: gluon.HybridBlock) -> int:
    """Return how many numbers of a network train."""
    parameters = net.collect_params().values()
    return sum(p.data().size for p in parameters if p.grad_req != "null")


starts = generator.integers(0, len(licence) - CONTEXT, (STEPS, BATCH))
curves = {}
full = new_copy()
everything = trained_count(full)
curves["all weights"] = train(full, licence, starts, FULL_RATE, "all weights")

net = new_copy()
mx.random.seed(options.seed)
layers = lora.apply(net, r".*\.(qkv|output|hidden)", rank=RANK, alpha=2 * RANK)
print(f"adapted: {len(layers)} layers, such as {layers[0]}")
print(f"trained: {trained_count(net):,} numbers, of {everything:,} in the network")
begin = time.perf_counter()
curves["adapter"] = train(net, licence, starts, LORA_RATE, "adapter")
print(f"{(time.perf_counter() - begin) / STEPS * 1000:.0f} ms a step")
for name, curve in curves.items():
    print(f"held-out licence, {name} trained: final loss {curve[-1][1]:.4f}")

# %% [markdown]
# ## 4. Save only the adapter
#
# Two small files, which Hugging Face's peft has, too. Whoever has the base loads them beside it;
# one base serves many tasks.

# %%
lora.save(net, folder / "adapter")
size = sum(file.stat().st_size for file in (folder / "adapter").iterdir())
print(f"files: base {(folder / 'base.params').stat().st_size:,} bytes, adapter {size:,}")
other = new_copy()
lora.load(other, folder / "adapter")
same = evaluate(other) == evaluate(net)
print(f"base and adapter, loaded, have the same loss: {same}")

# %% [markdown]
# ## 5. Merge
#
# Add s B A to W. The network is a plain one again, as fast as before, with the same scores but for
# rounding.

# %%
example = mx.nd.array(held_out[None, :CONTEXT], dtype="int32")
scores = net(example)
lora.merge(net)
apart = float((net(example) - scores).abs().max().asscalar())
print(f"largest difference of scores after merging: {apart:.1e}")

# %% [markdown]
# ## 6. Both write
#
# `generate` comes with every CausalLM of the zoo.

# %%
for name, writer in (("base", new_copy()), ("with the adapter, merged", net)):
    new = writer.generate(
        numbers_of("You may ").tolist(),
        max_new_tokens=CONTEXT - 10,
        do_sample=True,
        temperature=0.6,
        seed=options.seed,
    )
    print(f"\n{name}:\nYou may {''.join(ALPHABET[number] for number in new)}")

# %% [markdown]
# ## 7. Draw how both ways learned

# %%
figure = Figure(figsize=(7, 4), layout="constrained")
axes = figure.subplots()
for (name, curve), count in zip(curves.items(), (everything, trained_count(other)), strict=True):
    axes.plot(*zip(*curve, strict=True), "o-", markersize=3, label=f"{name}: {count:,} numbers")
axes.axhline(before, color="grey", linestyle="--", label="before")
axes.set(title="A held-out part of the licence", xlabel="step", ylabel="loss (nats)")
axes.grid(alpha=0.3)
axes.legend()
figure.savefig(folder / "lora.png", dpi=120)
print(f"\npicture: {folder / 'lora.png'}")
figure

# %%
if not (same and apart < 1e-3 and curves["adapter"][-1][1] < before - 0.1):
    raise SystemExit("expected an adapter that learns, loads and merges")
