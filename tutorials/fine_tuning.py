# %% [markdown]
"""Fine-tuning: teach a network from the model zoo new classes, from five images of each.

Run it with ``python tutorials/fine_tuning.py``; on two cores that takes a minute, and
with ``--quick`` (fewer rounds) some seconds. A picture goes to the folder that ``--out`` names, or
to a new temporary one.
"""

# %%
import argparse
import tempfile
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import gluonish as mx
from gluonish import autograd, gluon
from gluonish.gluon.data.digits import load_digits

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--quick", action="store_true", help="fewer epochs, for some seconds")
parser.add_argument("--out", type=Path, help="folder for the picture; a temporary one by default")
options = parser.parse_args()
folder = options.out or Path(tempfile.mkdtemp(prefix="gluonish-"))
folder.mkdir(parents=True, exist_ok=True)

vision = gluon.model_zoo.vision
SOURCE_EPOCHS, EPOCHS, REPEATS = (2, 5, 1) if options.quick else (10, 20, 3)

mx.random.seed(3)
np.random.seed(3)  # noqa: NPY002  # what the DataLoader shuffles by
generator = np.random.default_rng(3)

# %% [markdown]
# ## 1. The plan
#
# A network that was trained on many images has learned what images are made of; for other classes
# it needs far fewer. Most programs start from weights that were trained on ImageNet, which is one
# argument away:  net = vision.resnet18_v1(pretrained=True)  That fetches the published weights into
# $MXNET_HOME/models (~/.mxnet/models), from the address or the folder that MXNET_GLUON_REPO names,
# and checks what came. The network then expects colour images of (3, 224, 224), scaled to 0..1,
# less (0.485, 0.456, 0.406) and over (0.229, 0.224, 0.225), and has 1000 outputs.  This tutorial
# does without a network connection, and trains the first network itself: on the digits 0 to 6,
# about a thousand images. Then come 7, 8 and 9, with five images of each.


# %%
def digits(train: bool, classes: range) -> tuple[np.ndarray, np.ndarray]:
    """Return images of some digits, (N, 3, 8, 8) in -1..1, and labels that count from 0."""
    images, labels = load_digits(train)
    chosen = np.isin(labels, classes)
    # Networks for photographs have three channels: red, green and blue, all the same here.
    return np.repeat(images[chosen] * 2 - 1, 3, axis=1), labels[chosen] - classes.start


SOURCE_CLASSES, TARGET_CLASSES = range(7), range(7, 10)


def shifted(images: np.ndarray) -> np.ndarray:
    """Return each image moved by up to a pixel along both axes: others, that show the same."""
    padded = np.pad(images, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=-1)
    result = np.empty_like(images)
    for i, (down, right) in enumerate(generator.integers(0, 3, (len(images), 2))):
        result[i] = padded[i, :, down : down + 8, right : right + 8]
    return result


loss_function = gluon.loss.SoftmaxCrossEntropyLoss()


def accuracy_of(net: gluon.HybridBlock, images: np.ndarray, labels: np.ndarray) -> float:
    """Return the share of images that a network names right."""
    accuracy = mx.metric.Accuracy()
    accuracy.update([mx.nd.array(labels)], [net(mx.nd.array(images))])
    return accuracy.get()[1]


def train(net, data, test, epochs, batch_size, learning_rate, train_mode=True) -> list[float]:
    """Train with Adam; return the held-out accuracy after each epoch."""
    images, labels = data
    steps = epochs * -(-len(images) // batch_size)
    schedule = mx.lr_scheduler.CosineScheduler(max_update=steps, base_lr=learning_rate)
    trainer = gluon.Trainer(
        net.collect_params(), "adam", {"learning_rate": learning_rate, "lr_scheduler": schedule}
    )
    curve = []
    for _ in range(epochs):
        dataset = gluon.data.ArrayDataset(shifted(images), labels)
        for batch, label in gluon.data.DataLoader(dataset, batch_size, shuffle=True):
            with autograd.record(train_mode=train_mode):
                loss = loss_function(net(batch), label)
            loss.backward()
            trainer.step(len(batch))
        curve.append(accuracy_of(net, *test))
    return curve


# %% [markdown]
# ## 2. The first network
#
# All networks of the zoo have two parts: `features`, and the layer `output` that makes class scores
# of them. thumbnail=True is for images as small as these.

# %%
source = vision.resnet18_v1(classes=len(SOURCE_CLASSES), thumbnail=True)
source.initialize(mx.init.Xavier())
source.hybridize(static_alloc=True)
curve = train(
    source,
    digits(True, SOURCE_CLASSES),
    digits(False, SOURCE_CLASSES),
    epochs=SOURCE_EPOCHS,
    batch_size=64,
    learning_rate=1e-3,
)
print(f"digits 0 to 6, about 1000 images: held-out accuracy {curve[-1]:.3f}")

# %% [markdown]
# Its weights go into a file, as the published ones are. That has what was learned, and no code.

# %%
weights = tempfile.TemporaryDirectory()
weights_file = str(Path(weights.name) / "digits-0-to-6.params")
source.save_parameters(weights_file)


def pretrained_with_new_output() -> gluon.HybridBlock:
    """Return a network with the features of the file, and an output layer for the new classes."""
    learned = vision.resnet18_v1(classes=len(SOURCE_CLASSES), thumbnail=True)
    learned.load_parameters(weights_file)
    net = vision.resnet18_v1(classes=len(TARGET_CLASSES), thumbnail=True)
    net.features = learned.features
    net.output.initialize(mx.init.Xavier())
    return net


# %% [markdown]
# ## 3. The new task
#
# Five images of each new digit. There are three ways to learn it.

# %%
images, labels = digits(True, TARGET_CLASSES)
few = np.concatenate([np.flatnonzero(labels == label)[:5] for label in range(3)])
data, test = (images[few], labels[few]), digits(False, TARGET_CLASSES)


def from_scratch() -> gluon.HybridBlock:
    """Return a network whose weights are random."""
    net = vision.resnet18_v1(classes=len(TARGET_CLASSES), thumbnail=True)
    net.initialize(mx.init.Xavier())
    return net


# %% [markdown]
# Frozen features: only the new output layer learns. A parameter with `grad_req` "null" gets no
# gradient, and the Trainer leaves it alone; that is quick, too, as no backward pass goes through
# the features.


# %%
def frozen() -> gluon.HybridBlock:
    """Return a network that learned, of which only the new output layer goes on."""
    net = pretrained_with_new_output()
    net.features.collect_params().setattr("grad_req", "null")
    return net


# %% [markdown]
# Fine-tuning: everything learns, at two speeds. The new layer knows nothing yet; the features know
# a lot, and need but a nudge, so that they get a tenth of the learning rate. (`wd_mult` does the
# same to weight decay.)


# %%
def fine_tuned() -> gluon.HybridBlock:
    """Return a network that learned, and goes on slowly but for the new output layer."""
    net = pretrained_with_new_output()
    net.features.collect_params().setattr("lr_mult", 0.1)
    return net


# %% [markdown]
# ## 4. Try all three
#
# To freeze weights does not freeze the statistics of BatchNorm: those move with each batch in
# training mode, and five images make poor statistics. `train_mode`=False keeps the ones that come
# from a thousand; a network from scratch has none that it could keep.


# %%
def mean_curve(make_network, train_mode: bool) -> np.ndarray:
    """Train some times, as luck has a part in so few images; return the mean of the accuracies."""
    curves = []
    for _ in range(REPEATS):
        net = make_network()
        net.hybridize(static_alloc=True)
        curves.append(train(net, data, test, EPOCHS, 5, 1e-3, train_mode))
    return np.mean(curves, axis=0)


curves = {
    "from scratch": mean_curve(from_scratch, train_mode=True),
    "features frozen": mean_curve(frozen, train_mode=False),
    "fine-tuned": mean_curve(fine_tuned, train_mode=False),
}
weights.cleanup()

print(f"digits 7 to 9, 15 images, {EPOCHS} epochs: held-out accuracy")
for name, curve in curves.items():
    print(f"    {name}: {curve[-1]:.3f} at the end, {np.mean(curve):.3f} over all epochs")

# %% [markdown]
# ## 5. A picture
#
# All that there was to learn from, and how fast each way learned from it.

# %%
figure = Figure(figsize=(9.5, 3.8), layout="constrained")
left, right = figure.subplots(1, 2, width_ratios=(1, 1.2))
sheet = np.pad(data[0][:, 0], ((0, 0), (1, 1), (1, 1)), constant_values=-1)
sheet = sheet.reshape(3, 5, 10, 10).transpose(0, 2, 1, 3).reshape(30, 50)
left.imshow(sheet, cmap="gray_r")
left.set(title="The training images", xticks=[], yticks=[])
for (name, curve), style in zip(curves.items(), (":", "--", "-"), strict=True):
    right.plot(range(1, EPOCHS + 1), curve, style, label=name)
right.set(title="Held-out 7, 8 and 9", xlabel="epoch", ylabel="accuracy", ylim=(0, 1))
right.set(xticks=range(2, EPOCHS + 1, 2))
right.grid(alpha=0.3)
right.legend(loc="lower right")
figure.savefig(folder / "fine-tuning.png", dpi=120)
print(f"picture: {folder / 'fine-tuning.png'}")
figure

# %%
if not np.mean(curves["fine-tuned"]) > np.mean(curves["from scratch"]):
    raise SystemExit("expected fine-tuning to learn faster than training from scratch")
