# %% [markdown]
"""An image recipe: what one-cycle, RandAugment, MixUp and averaged weights bring on CIFAR-10.

Run it with ``python tutorials/image_recipe.py``. It trains one small network five times, each time
with one more ingredient; ``--epochs`` says how long, or ``--minutes`` how many minutes it takes.
``--only`` trains the complete recipe alone. CIFAR-10 is downloaded (170 MB) unless it is in
``$MXNET_HOME/datasets/cifar10`` or in the folder that ``--data`` names. With ``--quick`` some
seconds suffice, on the digits that come with gluonish. Two pictures go to the folder that ``--out``
names, or to a new temporary one.
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
from gluonish.gluon import nn
from gluonish.gluon.data.digits import load_digits
from gluonish.gluon.data.vision import transforms

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--data", type=Path, help="folder of CIFAR-10; that of MXNET_HOME by default")
parser.add_argument("--quick", action="store_true", help="small digits instead, for some seconds")
parser.add_argument("--epochs", type=int, help="of each training; 6, or 4 of the quick form")
parser.add_argument("--minutes", type=float, help="of the complete recipe, instead of --epochs")
parser.add_argument("--width", type=int, help="channels of the first layer; 16, or 8 if quick")
parser.add_argument("--workers", type=int, help="processes that load images; 1 by default")
parser.add_argument("--only", action="store_true", help="only the complete recipe")
parser.add_argument("--seed", type=int, default=1, help="of weights, batches and augmentations")
parser.add_argument("--out", type=Path, help="folder for pictures; a temporary one by default")
options = parser.parse_args()
folder = options.out or Path(tempfile.mkdtemp(prefix="gluonish-"))
folder.mkdir(parents=True, exist_ok=True)

SIDE, BATCH = (8, 32) if options.quick else (32, 128)
EPOCHS = options.epochs or (4 if options.quick else 6)
WORKERS = (0 if options.quick else 1) if options.workers is None else options.workers
WIDTH = options.width or (8 if options.quick else 16)
CLASSES, MOMENTUM, WEIGHT_DECAY, SMOOTHING = 10, 0.9, 5e-4, 0.1
CONSTANT_RATE, PEAK_RATE = 0.02, 0.1

# %% [markdown]
# ## 1. The images: uint8 (height, width, 3), and their labels

# %%


def load(train: bool) -> gluon.data.Dataset:
    """Return CIFAR-10, or digits in three equal channels."""
    if not options.quick:
        root = None if options.data is None else str(options.data)
        return gluon.data.vision.CIFAR10(root, train=train)
    images, labels = load_digits(train)
    images = np.repeat(images.transpose(0, 2, 3, 1) * 255, 3, axis=3).astype(np.uint8)
    return gluon.data.ArrayDataset(mx.nd.array(images, dtype="uint8"), labels)


train_data, test_data = load(train=True), load(train=False)

# %% [markdown]
# ## 2. The ingredients
#
# Each row of the table adds one to those before it. All have weight decay, smoothed labels, and
# images that are moved by up to an eighth of their side and mirrored.
#
# - **One-cycle**: the learning rate rises to five times the constant one, and falls to nearly 0.
#   High rates find flat regions, low ones settle there.
# - **RandAugment**: one random operation for each image, such as a rotation or another contrast.
# - **MixUp**: images and labels are mixed in pairs.
# - **Averaged weights** (EMA): predictions are those of the average of the recent weights.

# %%
RECIPES: dict[str, set[str]] = {"constant rate": set()}
for added in ("one-cycle", "RandAugment", "MixUp", "averages"):
    RECIPES[f"+ {added}"] = set().union(*RECIPES.values(), {added})
if options.only:
    RECIPES = {"complete": RECIPES["+ averages"]}


def loader(recipe: set[str]) -> gluon.data.DataLoader:
    """Return batches of augmented images (N, 3, height, width) and soft labels (N, 10)."""
    steps = [transforms.RandomCrop(SIDE, pad=SIDE // 8)]
    if not options.quick:  # a mirrored digit is another one
        steps.append(transforms.RandomFlipLeftRight())
    if "RandAugment" in recipe:
        steps.append(transforms.RandAugment(num_ops=1, magnitude=5))
    mixed = transforms.MixUp(alpha=0.2, num_classes=CLASSES) if "MixUp" in recipe else None
    return gluon.data.DataLoader(
        train_data.transform_first(transforms.Compose([*steps, *TO_NETWORK])),
        BATCH,
        shuffle=True,
        last_batch="discard",
        num_workers=WORKERS,
        batchify_fn=mixed,
    )


TO_NETWORK = [transforms.ToTensor(), transforms.Normalize((0.49, 0.48, 0.45), (0.25, 0.24, 0.26))]
test_loader = gluon.data.DataLoader(
    test_data.transform_first(transforms.Compose(TO_NETWORK)), 500, num_workers=WORKERS
)

# %% [markdown]
# ## 3. The network
#
# Eight convolutions, two of them around a shortcut each: a ResNet-9 of few channels, which gains
# more in some minutes than a deeper network does.


# %%
def convolution(channels: int) -> nn.HybridSequential:
    """Return convolution, normalization and activation."""
    block = nn.HybridSequential()
    block.add(nn.Conv2D(channels, kernel_size=3, padding=1, use_bias=False), nn.BatchNorm())
    block.add(nn.Activation("relu"))
    return block


class Residual(gluon.HybridBlock):
    """Two convolutions, whose result is added to their input (N, channels, H, W)."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first, self.second = convolution(channels), convolution(channels)

    def forward(self, features):
        """Return the sum."""
        return features + self.second(self.first(features))


def build_network(width: int) -> nn.HybridSequential:
    """Return a network from images (N, 3, SIDE, SIDE) to scores (N, 10)."""
    net = nn.HybridSequential()
    net.add(convolution(width), convolution(2 * width), nn.MaxPool2D(), Residual(2 * width))
    net.add(convolution(4 * width), nn.MaxPool2D(), convolution(8 * width), nn.MaxPool2D())
    net.add(Residual(8 * width), nn.GlobalAvgPool2D(), nn.Flatten())
    net.add(nn.Dense(CLASSES, weight_initializer=mx.init.Normal(0.01)))  # all alike at first
    net.initialize(mx.init.Xavier(rnd_type="gaussian", factor_type="in", magnitude=2))
    net.hybridize(static_alloc=True, static_shape=True)
    return net


# %% [markdown]
# ## 4. Train, once for each row


# %%
def evaluate(net: nn.HybridSequential) -> float:
    """Return the accuracy on the held-out images."""
    accuracy = mx.metric.Accuracy()
    for images, labels in test_loader:
        accuracy.update(labels, net(images))
    return accuracy.get()[1]


def steps_in(minutes: float, batches: gluon.data.DataLoader) -> int:
    """Return how many steps fit in some minutes, by the time of some with another network."""
    net, begin = build_network(WIDTH), 0.0
    trainer = gluon.Trainer(net.collect_params(), "nag", {"momentum": MOMENTUM})
    for number, (images, labels) in enumerate(batches):
        if number == 5:
            mx.nd.waitall()
            begin = time.perf_counter()
        if number == 45:
            break
        step(net, trainer, images, labels)
    mx.nd.waitall()
    return max(1, int(minutes * 60 / (time.perf_counter() - begin) * (number - 5)))


loss_function = gluon.loss.SoftmaxCrossEntropyLoss(sparse_label=False, label_smoothing=SMOOTHING)


def step(net, trainer, images, labels):
    """Train with one batch."""
    labels = labels if labels.ndim == 2 else mx.nd.one_hot(labels, CLASSES)
    with autograd.record():
        loss = loss_function(net(images), labels)
    loss.backward()
    trainer.step(len(images))


def train(recipe: set[str], steps: int) -> list[tuple[int, float]]:
    """Train a network; return pairs of steps done and held-out accuracy."""
    mx.random.seed_everything(options.seed)
    batches = loader(recipe)
    net = build_network(WIDTH)
    settings = {"learning_rate": CONSTANT_RATE, "momentum": MOMENTUM, "wd": WEIGHT_DECAY}
    if "one-cycle" in recipe:
        schedule = mx.lr_scheduler.OneCycleScheduler(steps, base_lr=PEAK_RATE)
        settings |= {"lr_scheduler": schedule, "learning_rate": PEAK_RATE}
    trainer = gluon.Trainer(net.collect_params(), "nag", settings)
    average = None
    found, done = [], 0
    progress = tqdm(total=steps, leave=False, disable=None)
    while done < steps:
        for images, labels in batches:
            step(net, trainer, images, labels)
            done += 1
            progress.update()
            if "averages" in recipe:
                # It remembers about a twentieth of the training.
                average = average or gluon.utils.WeightAverage(net, decay=1 - min(0.5, 20 / steps))
                average.update()
            if done == steps:
                break
        if average is not None:
            with average.applied():
                found.append((done, evaluate(net)))
        else:
            found.append((done, evaluate(net)))
    progress.close()
    return found


steps = EPOCHS * (len(train_data) // BATCH)
if options.minutes is not None:
    steps = steps_in(options.minutes, loader({"RandAugment", "MixUp"}))
print(f"{len(train_data)} images, {steps} steps, {steps * BATCH / len(train_data):.1f} epochs")
curves = {}
for name, recipe in RECIPES.items():
    curves[name] = train(recipe, steps)
    print(f"{name + ':':20} held-out accuracy {curves[name][-1][1]:.4f}", flush=True)

# %% [markdown]
# ## 5. The table as a picture
#
# In a short training augmentation costs accuracy at first: images are harder, and the network has
# not seen most of them twice. With the number of epochs its gain grows.

# %%
figure = Figure(figsize=(9.5, 3.8), layout="constrained")
left, right = figure.subplots(1, 2)
for name, curve in curves.items():
    left.plot(*zip(*curve, strict=True), "o-", markersize=3, label=name)
left.set(title="During training", xlabel="step", ylabel="held-out accuracy")
left.grid(alpha=0.3)
left.legend()
final = [curve[-1][1] for curve in curves.values()]
bars = right.barh(list(curves), final, color=[f"C{i}" for i in range(len(final))])
right.bar_label(bars, [f"{value:.2%}" for value in final], padding=3)
margin = max(0.02, max(final) - min(final))
right.set(title="At the end", xlim=(min(final) - margin, max(final) + margin))
right.invert_yaxis()
figure.savefig(folder / "image-recipe-accuracy.png", dpi=120)
figure

# %% [markdown]
# ## 6. What the network sees: images after RandAugment and MixUp

# %%
images, labels = next(iter(loader({"RandAugment", "MixUp"})))
figure = Figure(figsize=(8, 3.2), layout="constrained")
for axes, image in zip(figure.subplots(2, 6).flat, images.asnumpy(), strict=False):
    picture = image.transpose(1, 2, 0)
    axes.imshow((picture - picture.min()) / (picture.max() - picture.min()))
    axes.set(xticks=[], yticks=[])
figure.savefig(folder / "image-recipe-images.png", dpi=120)
print("pictures:", *(folder / f"image-recipe-{name}.png" for name in ("accuracy", "images")))
print(f"final held-out accuracy: {final[-1]:.4f}")
figure

# %%
least = 0.7 if options.quick else 0.5
if final[-1] < least and options.epochs is None and options.minutes is None:
    raise SystemExit(f"expected an accuracy of {least} or more, got {final[-1]:.3f}")
