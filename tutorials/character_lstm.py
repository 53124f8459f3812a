# %% [markdown]
"""A character LSTM: learn from the first chapters of Moby-Dick to write like it, letter by letter.

Run it with ``python tutorials/character_lstm.py``; on two cores that takes one and a half minutes,
and with ``--quick`` (a smaller network, fewer rounds) some seconds. A picture goes to the folder
that ``--out`` names, or to a new temporary one.
"""

# %%
import argparse
import math
import tempfile
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from tqdm import tqdm

import gluonish as mx
from gluonish import autograd, gluon
from gluonish.gluon import nn, rnn

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--quick", action="store_true", help="a small network for a few seconds")
parser.add_argument("--out", type=Path, help="folder for the picture; a temporary one by default")
options = parser.parse_args()
folder = options.out or Path(tempfile.mkdtemp(prefix="gluonish-"))
folder.mkdir(parents=True, exist_ok=True)

LAYERS, UNITS, EPOCHS = (1, 128, 5) if options.quick else (2, 256, 12)
BATCH, LENGTH = 32, 50  # passages read side by side, and letters of each in one training step

mx.random.seed(1)

# %% [markdown]
# ## 1. The text, as numbers
#
# A character is its place in the alphabet, which is whatever occurs. The last tenth of the text is
# held out: the network never trains on it, so how well it foresees that tenth tells what it learned
# about English, rather than what it knows by heart.

# %%
text = Path(__file__).with_name("moby_dick.txt").read_text("utf-8")
alphabet = sorted(set(text))
number_of = {character: number for number, character in enumerate(alphabet)}
numbers = np.array([number_of[character] for character in text])
cut = len(numbers) * 9 // 10


def columns(passage: np.ndarray, count: int) -> np.ndarray:
    """Cut a passage into ``count`` parts and put them side by side: (letters, count)."""
    rows = len(passage) // count
    return passage[: rows * count].reshape(count, rows).T


train_text, test_text = columns(numbers[:cut], BATCH), columns(numbers[cut:], BATCH)
print(f"{len(text)} characters, {len(alphabet)} different ones")

# %% [markdown]
# ## 2. The network
#
# An Embedding looks up a vector for each character; the LSTM reads the vectors in order, and
# carries what it remembers in its states; a Dense layer scores what may come next. Arrays are (T,
# N, C): time, passage, features.


# %%
class CharacterModel(gluon.HybridBlock):
    """Scores for the next character at each place: (T, N) and states to (T * N, alphabet)."""

    def __init__(self, characters, units, layers, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.embedding = nn.Embedding(characters, 64)
            self.lstm = rnn.LSTM(units, layers, dropout=0.3 if layers > 1 else 0)
            self.dropout = nn.Dropout(0.3)
            self.decoder = nn.Dense(characters)

    def hybrid_forward(self, F, characters, states):
        """Return the scores, and the states after the last character."""
        output, states = self.lstm(self.embedding(characters), states)
        # reshape's -3 joins two axes: one row of features for each place of each passage.
        return self.decoder(self.dropout(F.reshape(output, shape=(-3, -1)))), states


net = CharacterModel(len(alphabet), UNITS, LAYERS)
net.initialize(mx.init.Xavier())
net.hybridize(static_alloc=True)

# %% [markdown]
# ## 3. The learning rate
#
# It rises for the first steps, while Adam's averages still settle, and then falls along half a
# cosine to a hundredth.

# %%
windows = range(0, len(train_text) - 1, LENGTH)
schedule = mx.lr_scheduler.CosineScheduler(
    max_update=EPOCHS * len(windows), base_lr=6e-3, final_lr=6e-5, warmup_steps=20
)
trainer = gluon.Trainer(
    net.collect_params(), "adam", {"learning_rate": 6e-3, "lr_scheduler": schedule}
)
loss_function = gluon.loss.SoftmaxCrossEntropyLoss()


def window_of(passages: np.ndarray, start: int) -> tuple[mx.nd.NDArray, mx.nd.NDArray]:
    """Return some letters (T, N), and the letter that follows each of them, in a row."""
    window = passages[start : start + LENGTH + 1]
    return mx.nd.array(window[:-1]), mx.nd.array(window[1:].reshape(-1))


# %% [markdown]
# ## 4. Train, by truncated backpropagation through time
#
# A window starts with the states in which the one before it ended, so that the network remembers
# beyond the window; `detach()` cuts the graph there, so that gradients stay within it, and memory
# too.


# %%
def train_one_epoch(epoch: int) -> float:
    """Read the training text once; return the mean loss of a character, in nats."""
    total = count = 0
    states = net.lstm.begin_state(batch_size=BATCH)
    for start in tqdm(windows, desc=f"epoch {epoch}", leave=False, disable=None):
        characters, following = window_of(train_text, start)
        states = [state.detach() for state in states]
        with autograd.record():
            scores, states = net(characters, states)
            loss = loss_function(scores, following).mean()
        loss.backward()
        # One unlucky window can have a huge gradient: scale all of it down to a norm of 1.
        gradients = [parameter.grad() for parameter in net.collect_params().values()]
        gluon.utils.clip_global_norm(gradients, 1.0)
        trainer.step(1)  # the loss is a mean already: there is no batch size to divide by
        total += loss.asscalar() * following.size
        count += following.size
    return total / count


def evaluate() -> float:
    """Return the mean loss of a held-out character, in nats; dropout is off outside record()."""
    total = count = 0
    states = net.lstm.begin_state(batch_size=BATCH)
    for start in range(0, len(test_text) - 1, LENGTH):
        characters, following = window_of(test_text, start)
        scores, states = net(characters, states)
        total += loss_function(scores, following).sum().asscalar()
        count += following.size
    return total / count


# %% [markdown]
# ## 5. Perplexity is exp(loss)
#
# Among how many characters, all as likely, the network would have to guess. Someone who knows only
# how often each character occurs has this one:

# %%
frequency = (np.bincount(numbers[:cut], minlength=len(alphabet)) + 1) / (cut + len(alphabet))
by_frequency = math.exp(-np.log(frequency[numbers[cut:]]).mean())
print(f"held-out perplexity by the frequency of characters alone: {by_frequency:.2f}")

train_curve, test_curve = [], []
for epoch in range(1, EPOCHS + 1):
    train_curve.append(math.exp(train_one_epoch(epoch)))
    test_curve.append(math.exp(evaluate()))
    print(
        f"epoch {epoch}: learning rate {trainer.learning_rate:.5f}, "
        f"training perplexity {train_curve[-1]:.2f}, held-out perplexity {test_curve[-1]:.2f}"
    )

# %% [markdown]
# ## 6. Write
#
# Read a beginning, then draw each next character from what the network finds likely. A temperature
# below 1 makes likely characters likelier still.


# %%
def write(beginning: str, length: int, temperature: float) -> str:
    """Return the beginning and what the network goes on with."""
    states = net.lstm.begin_state(batch_size=1)
    written = beginning
    for place in range(len(beginning) - 1 + length):
        scores, states = net(mx.nd.array([[number_of[written[place]]]]), states)
        if place >= len(beginning) - 1:
            likelihood = mx.nd.softmax(scores[0] / temperature)
            written += alphabet[int(mx.nd.random.multinomial(likelihood).asscalar())]
    return written


for temperature in (0.5, 0.8):
    print(f"\ntemperature {temperature}:\n{write('The whale ', 400, temperature)}")

# %% [markdown]
# ## 7. Draw how it learned

# %%
figure = Figure(figsize=(7, 4), layout="constrained")
axes = figure.subplots()
epochs = range(1, EPOCHS + 1)
axes.plot(epochs, train_curve, marker="o", markersize=3, label="training, with dropout")
axes.plot(epochs, test_curve, marker="s", markersize=3, label="held out")
axes.axhline(by_frequency, color="grey", linestyle="--", label="frequency of characters alone")
axes.set(title="Moby-Dick, one character at a time", xlabel="epoch", ylabel="perplexity")
axes.set(yscale="log", yticks=[4, 5, 7, 10, 14, 20], yticklabels=[4, 5, 7, 10, 14, 20])
axes.set_xticks(epochs)
axes.minorticks_off()
axes.grid(alpha=0.3)
axes.legend()
figure.savefig(folder / "character-lstm.png", dpi=120)
print(f"\npicture: {folder / 'character-lstm.png'}")
figure

# %%
expected = 8 if options.quick else 5
if not test_curve[-1] < expected:
    raise SystemExit(f"expected a held-out perplexity below {expected}, got {test_curve[-1]:.2f}")
