# %% [markdown]
"""A GPT from scratch: a transformer that learns to write from Moby-Dick, letter by letter.

Run it with ``python tutorials/gpt_from_scratch.py``; on two cores that takes two minutes, and with
``--quick`` (a smaller network, fewer steps) some seconds. Two pictures go to the folder that
``--out`` names, or to a new temporary one.
"""

# %%
import argparse
import tempfile
from pathlib import Path

import numpy as np
from matplotlib.colors import PowerNorm
from matplotlib.figure import Figure
from tqdm import tqdm

import gluonish as mx
from gluonish import autograd, gluon
from gluonish.gluon import nn

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--quick", action="store_true", help="a small network for some seconds")
parser.add_argument("--seed", type=int, default=1, help="of weights, batches and the text")
parser.add_argument("--out", type=Path, help="folder for pictures; a temporary one by default")
options = parser.parse_args()
folder = options.out or Path(tempfile.mkdtemp(prefix="gluonish-"))
folder.mkdir(parents=True, exist_ok=True)

LAYERS, UNITS, HEADS, STEPS = (2, 64, 4, 90) if options.quick else (3, 128, 4, 700)
BATCH, CONTEXT = 16, 96  # passages in a training step, and characters of each
LEARNING_RATE, WEIGHT_DECAY, DROPOUT = 3e-3, 0.1, 0.1

mx.random.seed(options.seed)
generator = np.random.default_rng(options.seed)

# %% [markdown]
# ## 1. The text, as numbers
#
# A character is its place in the alphabet. The last tenth of the text is held out: the network
# never trains on it.

# %%
text = Path(__file__).with_name("moby_dick.txt").read_text("utf-8")
alphabet = sorted(set(text))
number_of = {character: number for number, character in enumerate(alphabet)}
numbers = np.array([number_of[character] for character in text], np.int32)
train_text, test_text = np.split(numbers, [len(numbers) * 9 // 10])


def passages(source: np.ndarray, starts: np.ndarray) -> tuple[mx.nd.NDArray, mx.nd.NDArray]:
    """Return passages of a text (N, T), and the character that follows each character."""
    places = starts[:, None] + np.arange(CONTEXT)
    return mx.nd.array(source[places], dtype="int32"), mx.nd.array(source[places + 1])


# %% [markdown]
# ## 2. A layer
#
# Attention lets each character look back at those before it (`causal`: never ahead), and take from
# them what it finds useful; that is the only place where characters meet. Then two dense layers
# work on each character by itself. Both read a normalized copy, and add what they found to x: so
# gradients reach the first layer as they left the last one. Attention by itself does not know where
# a character stands; `rotary` turns queries and keys by an angle of their position, so that their
# products tell how far apart they are.


# %%
class Layer(gluon.HybridBlock):
    """One layer of the transformer: (N, T, units) to (N, T, units)."""

    def __init__(self, units: int, heads: int) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(in_channels=units)
        self.attention = nn.MultiHeadAttention(units, heads, causal=True, rotary={}, in_units=units)
        self.hidden_norm = nn.LayerNorm(in_channels=units)
        self.hidden = nn.Dense(4 * units, flatten=False, in_units=units)
        self.gelu = nn.GELU()
        self.output = nn.Dense(units, flatten=False, in_units=4 * units)
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, x, cache=None):
        """Return the features after this layer."""
        x = x + self.dropout(self.attention(self.attention_norm(x), cache=cache))
        return x + self.dropout(self.output(self.gelu(self.hidden(self.hidden_norm(x)))))


# %% [markdown]
# ## 3. The network
#
# Characters become vectors, the layers work on them, and a dense layer gives a score to each
# character of the alphabet that could come next.


# %%
class GPT(gluon.HybridBlock):
    """Scores of the next character, at each place of passages (N, T)."""

    def __init__(self, characters: int, units: int, heads: int, layers: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(characters, units)
        self.dropout = nn.Dropout(DROPOUT)
        self.layers = nn.HybridSequential()
        self.layers.add(*(Layer(units, heads) for _ in range(layers)))
        self.norm = nn.LayerNorm(in_channels=units)
        self.decoder = nn.Dense(characters, flatten=False, use_bias=False, in_units=units)

    def forward(self, characters, caches=None):
        """Return the scores (N, T, characters)."""
        x = self.dropout(self.embedding(characters))
        for place, layer in enumerate(self.layers):
            x = layer(x, None if caches is None else caches[place])
        return self.decoder(self.norm(x))


net = GPT(len(alphabet), UNITS, HEADS, LAYERS)
net.initialize(mx.init.Xavier())
net.hybridize(static_alloc=True)
count = sum(parameter.data().size for parameter in net.collect_params().values())
print(f"{len(train_text):,} characters to learn from, {count:,} parameters")

# %% [markdown]
# ## 4. Train with AdamW, on passages that begin anywhere
#
# The learning rate rises for the first steps and then falls along half a cosine. One passage
# teaches at all of its places at once.

# %%
schedule = mx.lr_scheduler.CosineScheduler(
    max_update=STEPS, base_lr=LEARNING_RATE, final_lr=LEARNING_RATE / 10, warmup_steps=STEPS // 20
)
trainer = gluon.Trainer(
    net.collect_params(),
    "adamw",
    {"learning_rate": LEARNING_RATE, "wd": WEIGHT_DECAY, "beta2": 0.99, "lr_scheduler": schedule},
)
loss_function = gluon.loss.SoftmaxCrossEntropyLoss()
starts = generator.integers(0, len(train_text) - CONTEXT, (STEPS, BATCH))
held_out = np.arange(0, len(test_text) - CONTEXT, CONTEXT)


def evaluate() -> float:
    """Return the mean loss of a held-out character, in nats; dropout is off outside record()."""
    losses = []
    for chunk in np.array_split(held_out, -(-len(held_out) // 64)):
        characters, following = passages(test_text, chunk)
        losses.append(loss_function(net(characters), following).asnumpy())
    return float(np.concatenate(losses).mean())


train_losses, test_losses = [], [(0, evaluate())]
progress = tqdm(starts, desc="training", leave=False, disable=None)
for step, batch in enumerate(progress, 1):
    characters, following = passages(train_text, batch)
    with autograd.record():
        loss = loss_function(net(characters), following).mean()
    loss.backward()
    gluon.utils.clip_global_norm([p.grad() for p in net.collect_params().values()], 1.0)
    trainer.step(1)  # the loss is a mean already: there is no batch size to divide by
    train_losses.append(float(loss.asscalar()))
    if step % (STEPS // 5) == 0:
        test_losses.append((step, evaluate()))
        recent = np.mean(train_losses[-50:])
        print(f"step {step}: training loss {recent:.3f}, held-out loss {test_losses[-1][1]:.3f}")

# %% [markdown]
# ## 5. Write
#
# The network reads a beginning, and each next character is drawn by its scores. A cache keeps the
# keys and values of the characters before, so that a step computes one character only. Nobody
# trained it on more than CONTEXT characters: then the last half of what is written is read anew.


# %%
def write(beginning: str, length: int, temperature: float) -> str:
    """Return the beginning and what the network goes on with."""
    written = [number_of[character] for character in beginning]
    caches, place = [], CONTEXT
    for _ in range(length):
        if place == CONTEXT:
            caches = [layer.attention.begin_cache(1, CONTEXT) for layer in net.layers]
            new, place = written[-CONTEXT // 2 :], 0
        for character in new:
            scores = net(mx.nd.array([[character]], dtype="int32"), caches)
            place += 1
            for cache in caches:
                cache.position[:] = place
        likelihood = mx.nd.softmax(scores[0, 0] / temperature)
        new = [int(mx.nd.random.multinomial(likelihood).asscalar())]
        written += new
    return "".join(alphabet[number] for number in written)


for temperature in (0.5, 0.8):
    print(f"\ntemperature {temperature}:\n{write('The whale ', 400, temperature)}")

# %% [markdown]
# ## 6. What does a character look at?
#
# MultiHeadAttention never makes the whole matrix of weights. For a picture we make it: the softmax
# of the products of rotated queries and keys, over the square root of the size of a head, where a
# query sees no later key. In the picture, dark squares beside the diagonal look a character or two
# back, and upright bars are letters of a word that all look at one place.


# %%
def weights_of(layer: Layer, x: mx.nd.NDArray) -> mx.nd.NDArray:
    """Return the weights of attention (H, T, T) of one passage (1, T, units)."""
    time, size = x.shape[1], UNITS // HEADS
    parts = layer.attention.qkv(layer.attention_norm(x)).reshape((time, 3, HEADS, size))
    query, key = (layer.attention.rotary(parts[None, :, part])[0] for part in (0, 1))
    query, key = query.transpose((1, 0, 2)), key.transpose((1, 0, 2))
    scores = mx.nd.batch_dot(query, key, transpose_b=True) / size**0.5
    later = np.triu(np.full((1, time, time), -1e30, np.float32), 1)
    return mx.nd.softmax(scores + mx.nd.array(later), axis=-1)


sentence = "the white whale and the white boat"
x = net.embedding(mx.nd.array([[number_of[c] for c in sentence]], dtype="int32"))
maps = []
for layer in net.layers:
    maps.append(weights_of(layer, x).asnumpy())
    x = layer(x)

shade = PowerNorm(0.5, vmin=0, vmax=1)  # so that small weights show, too
figure = Figure(figsize=(2.6 * HEADS, 2.8 * LAYERS), layout="constrained")
for axes, weights in zip(figure.subplots(LAYERS, HEADS).flat, np.concatenate(maps), strict=True):
    axes.imshow(np.where(np.tri(len(sentence)), weights, np.nan), cmap="magma_r", norm=shade)
    axes.set_xticks(range(len(sentence)), sentence, fontsize=6)
    axes.set_yticks(range(len(sentence)), sentence, fontsize=6)
for number, axes in enumerate(figure.axes):
    axes.set_title(f"layer {number // HEADS + 1}, head {number % HEADS + 1}", fontsize=9)
figure.suptitle("Where each character (rows) looks: characters before it (columns)")
figure.savefig(folder / "gpt-attention.png", dpi=120)
figure

# %% [markdown]
# ## 7. Draw how it learned, beside one who knows only how often each character occurs

# %%
frequency = (np.bincount(train_text, minlength=len(alphabet)) + 1) / (
    len(train_text) + len(alphabet)
)
by_frequency = float(-np.log(frequency[test_text]).mean())
figure = Figure(figsize=(7, 4), layout="constrained")
axes = figure.subplots()
axes.plot(range(1, STEPS + 1), train_losses, linewidth=0.8, label="training, with dropout")
axes.plot(*zip(*test_losses, strict=True), marker="s", markersize=3, label="held out")
axes.axhline(by_frequency, color="grey", linestyle="--", label="frequency of characters alone")
axes.set(title="Moby-Dick, one character at a time", xlabel="step", ylabel="loss (nats)")
axes.grid(alpha=0.3)
axes.legend()
figure.savefig(folder / "gpt-loss.png", dpi=120)
print(f"\npictures: {folder / 'gpt-loss.png'}, {folder / 'gpt-attention.png'}")
figure

# %%
print(f"held-out loss by the frequency of characters alone: {by_frequency:.3f}")
print(f"final held-out loss: {test_losses[-1][1]:.4f}")
if not test_losses[-1][1] < (by_frequency if options.quick else 2):
    raise SystemExit("expected a network that learned from more than single characters")
