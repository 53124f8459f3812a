# %% [markdown]
"""A vision transformer: photographs as sequences of patches, on CIFAR-10.

Run it with ``python tutorials/vit.py``; on two cores that takes a minute. CIFAR-10 is
downloaded (170 MB) unless it is in ``$MXNET_HOME/datasets/cifar10`` or in the folder that
``--data`` names. With ``--quick`` some seconds suffice, on the digits that come with gluonish.
Three pictures go to the folder that ``--out`` names, or to a new temporary one.
"""

# %%
import argparse
import tempfile
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from tqdm import tqdm

import gluonish as mx
from gluonish import autograd, gluon
from gluonish.gluon import nn
from gluonish.gluon.data.digits import load_digits

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--data", type=Path, help="folder of CIFAR-10; that of MXNET_HOME by default")
parser.add_argument("--quick", action="store_true", help="small digits instead, for some seconds")
parser.add_argument("--seed", type=int, default=1, help="of weights and batches")
parser.add_argument("--out", type=Path, help="folder for pictures; a temporary one by default")
options = parser.parse_args()
folder = options.out or Path(tempfile.mkdtemp(prefix="gluonish-"))
folder.mkdir(parents=True, exist_ok=True)

SIDE, PATCH, LAYERS, UNITS, EPOCHS, BATCH = (
    (8, 2, 2, 48, 8, 32) if options.quick else (32, 4, 3, 96, 1, 50)
)
HEADS, LEARNING_RATE, WEIGHT_DECAY = 4, 2e-3, 0.05

mx.random.seed(options.seed)
generator = np.random.default_rng(options.seed)

# %% [markdown]
# ## 1. The images, float32 (N, channels, height, width) around 0, and their labels

# %%
CIFAR_NAMES = ["airplane", "car", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]
NAMES = [str(digit) for digit in range(10)] if options.quick else CIFAR_NAMES


def load(train: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return images of CIFAR-10, or of digits, and labels from 0 to 9."""
    if options.quick:
        images, labels = load_digits(train)
        return np.repeat(images * 4 - 2, 3, axis=1), labels
    root = None if options.data is None else str(options.data)
    images, labels = gluon.data.vision.CIFAR10(root, train=train)[:]
    images = images.asnumpy().astype(np.float32).transpose(0, 3, 1, 2)
    return (images - 121) / 64, np.asarray(labels)


# %% [markdown]
# One pass over half of them takes a minute; with all of them, and more passes, it goes further.

# %%
images, labels = (part[:25_000] for part in load(train=True))
test_images, test_labels = (part[:2000] for part in load(train=False))


def varied(images: np.ndarray) -> np.ndarray:
    """Return each image moved a little, and photographs mirrored at times: others of the same."""
    far = SIDE // 8
    padded = np.pad(images, ((0, 0), (0, 0), (far, far), (far, far)), mode="edge")
    result = np.empty_like(images)
    for place, (down, right) in enumerate(generator.integers(0, 2 * far + 1, (len(images), 2))):
        result[place] = padded[place, :, down : down + SIDE, right : right + SIDE]
    if not options.quick:
        mirrored = generator.random(len(images)) < 0.5
        result[mirrored] = result[mirrored][..., ::-1]
    return result


# %% [markdown]
# ## 2. The network
#
# Each patch of an image becomes a vector, as a word of a text does, and gets the vector of its
# position. From there on it is the transformer that reads texts, but that each patch looks at all
# others. The class comes from the mean of what the patches found. Nothing in it knows that patches
# lie beside each other: that it has to learn.


# %%
class VisionTransformer(gluon.HybridBlock):
    """Scores of classes (N, classes) of images (N, 3, SIDE, SIDE)."""

    def __init__(self, units: int, heads: int, layers: int, classes: int) -> None:
        super().__init__()
        self.patches = nn.PatchEmbedding(units, PATCH, in_channels=3)
        self.position = nn.PositionalEmbedding(units, (SIDE // PATCH) ** 2)
        self.encoder = nn.TransformerEncoder(
            layers, units, 4 * units, heads, dropout=0.0, activation="gelu", norm_first=True
        )
        self.output = nn.Dense(classes, in_units=units)

    def forward(self, images):
        """Return the scores."""
        features = self.encoder(self.position(self.patches(images)))
        return self.output(features.mean(axis=1))


net = VisionTransformer(UNITS, HEADS, LAYERS, len(NAMES))
net.initialize(mx.init.Xavier())
net.collect_params(".*(bias|gamma|beta)$").setattr("wd_mult", 0)
net.hybridize(static_alloc=True)
random_positions = net.position.weight.data().asnumpy()
count = sum(parameter.data().size for parameter in net.collect_params().values())
print(f"{len(images):,} images of {(SIDE // PATCH) ** 2} patches, {count:,} parameters")

# %% [markdown]
# ## 3. Train with AdamW
#
# The learning rate rises first, which a transformer needs, and then falls.

# %%
steps_of_epoch = len(images) // BATCH
steps = EPOCHS * steps_of_epoch
schedule = mx.lr_scheduler.CosineScheduler(
    max_update=steps, base_lr=LEARNING_RATE, warmup_steps=steps // 10
)
settings = {"learning_rate": LEARNING_RATE, "wd": WEIGHT_DECAY, "lr_scheduler": schedule}
trainer = gluon.Trainer(net.collect_params(), "adamw", settings)
loss_function = gluon.loss.SoftmaxCrossEntropyLoss()


def evaluate() -> tuple[np.ndarray, float, float]:
    """Return scores, mean loss and accuracy of the held-out images."""
    parts = range(0, len(test_images), BATCH)
    scores = [net(mx.nd.array(test_images[start : start + BATCH])).asnumpy() for start in parts]
    scores = np.concatenate(scores)
    loss = loss_function(mx.nd.array(scores), mx.nd.array(test_labels)).mean().asscalar()
    return scores, float(loss), float((scores.argmax(axis=1) == test_labels).mean())


losses, found = [], [(0, *evaluate()[1:])]
for _ in range(EPOCHS):
    order = generator.permutation(len(images))
    for start in tqdm(range(steps_of_epoch), desc="training", leave=False, disable=None):
        chosen = order[start * BATCH : (start + 1) * BATCH]
        batch, batch_labels = mx.nd.array(varied(images[chosen])), mx.nd.array(labels[chosen])
        with autograd.record():
            loss = loss_function(net(batch), batch_labels).mean()
        loss.backward()
        trainer.step(1)  # the loss is a mean already: there is no batch size to divide by
        losses.append(float(loss.asscalar()))
        if len(losses) % (steps // 8) == 0 or len(losses) == steps:
            scores, test_loss, accuracy = evaluate()
            found.append((len(losses), test_loss, accuracy))
            print(f"step {len(losses)}: held-out loss {test_loss:.3f}, accuracy {accuracy:.3f}")

# %% [markdown]
# ## 4. Draw how it learned

# %%
figure = Figure(figsize=(9.5, 3.8), layout="constrained")
left, right = figure.subplots(1, 2)
at, test_curve, accuracy_curve = np.array(found).T
left.plot(range(1, steps + 1), losses, linewidth=0.6, alpha=0.7, label="training")
left.plot(at, test_curve, "s-", markersize=3, label="held out")
left.set(title="Loss", xlabel="step", ylabel="loss (nats)")
left.legend()
right.plot(at, accuracy_curve, "s-", markersize=3)
right.set(title="Held-out images", xlabel="step", ylabel="accuracy", ylim=(0, 1))
for axes in (left, right):
    axes.grid(alpha=0.3)
figure.savefig(folder / "vit-curves.png", dpi=120)
figure

# %% [markdown]
# ## 5. What it learned about positions
#
# How alike the change of one patch's vector is to those of all others (the cosine between them).
# Neighbours change alike, though nobody said which patches are neighbours.

# %%
positions = net.position.weight.data().asnumpy() - random_positions
positions /= np.linalg.norm(positions, axis=1, keepdims=True)
side = SIDE // PATCH
figure = Figure(figsize=(5, 5.3), layout="constrained")
for axes, row in zip(figure.subplots(side, side).flat, positions @ positions.T, strict=True):
    axes.imshow(row.reshape(side, side), vmin=-1, vmax=1, cmap="RdBu_r")
    axes.set(xticks=[], yticks=[])
figure.suptitle("What each patch's position learned, beside all others", fontsize=11)
figure.savefig(folder / "vit-positions.png", dpi=120)
figure

# %% [markdown]
# ## 6. Some held-out images, and what the network takes them for

# %%
figure = Figure(figsize=(8, 4.6), layout="constrained")
for place, axes in enumerate(figure.subplots(3, 6).flat):
    picture = test_images[place].transpose(1, 2, 0)
    low, high = picture.min(), picture.max()
    axes.imshow((picture - low) / (high - low))
    guess, label = int(scores[place].argmax()), int(test_labels[place])
    axes.set_title(NAMES[guess], fontsize=9, color="black" if guess == label else "crimson")
    axes.set(xticks=[], yticks=[], xlabel="" if guess == label else f"is: {NAMES[label]}")
figure.savefig(folder / "vit-images.png", dpi=120)
print("pictures:", *(folder / f"vit-{name}.png" for name in ("curves", "positions", "images")))
print(f"final held-out loss: {test_loss:.4f}, accuracy {accuracy:.3f}")
figure

# %%
least = 0.7 if options.quick else 0.35
if accuracy < least:
    raise SystemExit(f"expected an accuracy of {least} or more, got {accuracy:.3f}")
