# %% [markdown]
"""Rare classes: find the few eights among many digits, and measure it rightly.

Run it with ``python tutorials/imbalanced.py``; it takes half a minute, with ``--quick`` (one
network of each kind) some seconds. Two pictures go to the folder that ``--out`` names,
or to a new temporary one.
"""

# %%
import argparse
import tempfile
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import gluonish as mx
from gluonish import autograd, gluon
from gluonish.gluon import nn
from gluonish.gluon.data.digits import load_digits

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--quick", action="store_true", help="one network of each kind")
parser.add_argument("--seed", type=int, default=1, help="of the first networks")
parser.add_argument("--out", type=Path, help="folder for pictures; a temporary one by default")
options = parser.parse_args()
folder = options.out or Path(tempfile.mkdtemp(prefix="gluonish-"))
folder.mkdir(parents=True, exist_ok=True)

NETWORKS, EPOCHS, BATCH = (1, 15, 64) if options.quick else (5, 15, 64)
RARE, KEPT, NOISE = 8, 12, 0.35
generator = np.random.default_rng(0)

# %% [markdown]
# ## 1. Twelve eights among 1,311 digits
#
# The label is 1 for an eight. Noise makes the task hard. A tenth of the held-out digits are eights.

# %%
images, digits = load_digits(train=True)
rare = np.flatnonzero(digits == RARE)
kept = np.sort(np.concatenate([np.flatnonzero(digits != RARE), rare[:KEPT]]))
images, labels = images[kept], (digits[kept] == RARE).astype(np.float32)
test_images, test_digits = load_digits(train=False)
test_labels = (test_digits == RARE).astype(np.float32)


def noisy(pixels: np.ndarray) -> np.ndarray:
    """Return images with noise."""
    return (pixels + generator.normal(0, NOISE, pixels.shape)).astype(np.float32)


images, test_images = noisy(images), noisy(test_images)
dataset = gluon.data.ArrayDataset(images, labels)
share = labels.mean()
print(f"{len(labels)} images, {int(labels.sum())} of the rare class")
print(f"always answering no is right for {1 - test_labels.mean():.3f} of the held-out images")

# %% [markdown]
# ## 2. Four ways to train
#
# - **As it is**: the mean loss of a batch, in which one image of hundred counts.
# - **Class weights**: `pos_weight` multiplies the loss of the rare class. With the ratio of the
#   classes both count the same; its square root is milder.
# - **Sampler**: `WeightedRandomSampler` draws the rare class more often, here in half of the cases.
# - **Focal loss**: images that are right already count little, whatever their class.


# %%
def build_network() -> nn.HybridSequential:
    """Return a network from images (N, 1, 8, 8) to one score (N, 1)."""
    net = nn.HybridSequential()
    net.add(nn.Conv2D(16, kernel_size=3, padding=1, activation="relu"), nn.MaxPool2D())
    net.add(nn.Conv2D(32, kernel_size=3, padding=1, activation="relu"), nn.MaxPool2D())
    net.add(nn.Dense(1))
    net.initialize(mx.init.Xavier())
    net.hybridize(static_alloc=True)
    return net


cross_entropy = gluon.loss.SigmoidBinaryCrossEntropyLoss()
focal = gluon.loss.FocalLoss(gamma=2.0, alpha=0.75)
ratio = mx.nd.array([(1 - share) / share])
WAYS = {
    "as it is": (False, cross_entropy),
    "class weights": (False, lambda scores, y: cross_entropy(scores, y, None, ratio)),
    "sampler": (True, cross_entropy),
    "focal loss": (False, focal),
}


def train(balanced: bool, loss_function, seed: int) -> np.ndarray:
    """Train a network; return its probabilities of the held-out images."""
    mx.random.seed_everything(seed)
    sampling = {"shuffle": True}
    if balanced:
        weights = np.where(labels == 1, 1 / labels.sum(), 1 / (1 - labels).sum())
        sampling = {"sampler": gluon.data.WeightedRandomSampler(weights, len(labels))}
    loader = gluon.data.DataLoader(dataset, BATCH, **sampling)
    net = build_network()
    trainer = gluon.Trainer(net.collect_params(), "adamw", {"learning_rate": 2e-3, "wd": 0.05})
    for _ in range(EPOCHS):
        for batch, y in loader:
            with autograd.record():
                loss = loss_function(net(batch), y.reshape((-1, 1)))
            loss.backward()
            trainer.step(len(batch))
    return mx.nd.sigmoid(net(mx.nd.array(test_images))).asnumpy().ravel()


# %% [markdown]
# ## 3. Measure what matters
#
# Accuracy hardly tells the ways apart: nine of ten held-out images are of the other class. AUROC is
# the probability that an eight gets a higher score than another digit. Average precision looks at
# the images with the highest scores, which is what one reads in a search or an alarm. Both need no
# threshold. Recall and precision say what a threshold of 0.5 does.


# %%
def measure(scores: np.ndarray) -> list[float]:
    """Return accuracy, AUROC, average precision, recall and precision."""
    truth, given = mx.nd.array(test_labels), mx.nd.array(scores)
    ranking = [mx.metric.AUROC(), mx.metric.AveragePrecision()]
    for metric in ranking:
        metric.update(truth, given)
    matrix = mx.metric.ConfusionMatrix(2)
    matrix.update(truth, given > 0.5)
    ((quiet, false_alarm), (missed, found)) = matrix.get()[1]
    return [
        (quiet + found) / len(scores),
        *(metric.get()[1] for metric in ranking),
        found / (found + missed),
        found / max(1, found + false_alarm),
    ]


NAMES = ("accuracy", "AUROC", "average precision", "recall", "precision")
all_scores, table = {}, {}
print(" " * 14, *(f"{name:>18}" for name in NAMES))
for name, way in WAYS.items():
    all_scores[name] = [train(*way, options.seed + i) for i in range(NETWORKS)]
    table[name] = np.mean([measure(scores) for scores in all_scores[name]], axis=0)
    print(f"{name:14}", *(f"{value:18.3f}" for value in table[name]), flush=True)

# %% [markdown]
# ## 4. Precision against recall
#
# Each curve goes over all thresholds: how many of the alarms are right, if so many of the eights
# are to be found. Its area is the average precision.


# %%
def curve(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return recall and precision at each score, from the highest on."""
    ranked = test_labels[np.argsort(-scores)]
    found = np.cumsum(ranked)
    return found / found[-1], found / np.arange(1, len(ranked) + 1)


figure = Figure(figsize=(9.5, 3.8), layout="constrained")
left, right = figure.subplots(1, 2)
for name, scores in all_scores.items():
    left.plot(*curve(scores[0]), label=name)
left.set(title="One network of each kind", xlabel="recall", ylabel="precision", ylim=(0, 1.03))
left.grid(alpha=0.3)
left.legend()
width = 0.8 / len(table)
for place, (name, values) in enumerate(table.items()):
    right.bar(np.arange(len(NAMES)) + place * width, values, width, label=name)
middle = np.arange(len(NAMES)) + 0.4 - width / 2
right.set_xticks(middle, [name.replace(" ", "\n") for name in NAMES])
right.set(title=f"Means of {NETWORKS} networks", ylim=(0, 1))
right.grid(axis="y", alpha=0.3)
figure.savefig(folder / "imbalanced-curves.png", dpi=120)
figure

# %% [markdown]
# ## 5. Which scores the classes get
#
# Trained as it is, the network gives eights small probabilities, though larger ones than others: a
# threshold below 0.5 finds them, too. Weights, sampler and focal loss move the scores, so that they
# are no probabilities any more.

# %%
figure = Figure(figsize=(9.5, 2.8), layout="constrained")
columns = figure.subplots(1, len(WAYS), sharey=True)
for axes, (name, scores) in zip(columns, all_scores.items(), strict=True):
    for value, title in ((0, "others"), (1, "eights")):
        axes.hist(
            scores[0][test_labels == value],
            np.linspace(0, 1, 21),
            density=True,
            alpha=0.6,
            label=title,
        )
    axes.set(title=name, xlabel="score", yscale="log")
axes.legend()
figure.savefig(folder / "imbalanced-scores.png", dpi=120)
print("pictures:", folder / "imbalanced-curves.png", folder / "imbalanced-scores.png")
figure

# %%
if table["as it is"][1] < 0.7 or table["class weights"][3] <= table["as it is"][3]:
    raise SystemExit("expected AUROC above 0.7, and more eights found with weights")
