# %% [markdown]
"""A variational autoencoder: pack handwritten digits into two numbers each, and draw new ones.

Run it with ``python tutorials/autoencoder.py``; on two cores that takes half a minute, and with
``--quick`` (fewer rounds) a few seconds. Pictures go to the folder that ``--out`` names, or to a
new temporary one.
"""

# %%
import argparse
import tempfile
from pathlib import Path
from statistics import NormalDist

import numpy as np
from matplotlib.figure import Figure

import gluonish as mx
from gluonish import autograd, gluon
from gluonish.gluon import nn
from gluonish.gluon.data.digits import load_digits

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--quick", action="store_true", help="fewer epochs, for a few seconds")
parser.add_argument("--out", type=Path, help="folder for pictures; a temporary one by default")
options = parser.parse_args()
folder = options.out or Path(tempfile.mkdtemp(prefix="gluonish-"))
folder.mkdir(parents=True, exist_ok=True)

EPOCHS = 25 if options.quick else 150
CODE = 2  # numbers that an image is packed into; two, so that they can be drawn on paper

mx.random.seed(3)
np.random.seed(3)  # noqa: NPY002  # what the DataLoader shuffles by

# %% [markdown]
# ## 1. The idea
#
# An encoder packs an image of 64 pixels into a code of two numbers; a decoder unpacks the code into
# an image. Both are trained to give back what went in. Nobody tells them what the images show: the
# labels are used for colours in a picture at the end, and nowhere else.  In a *variational*
# autoencoder the encoder gives no point but a small cloud, a normal distribution with a mean and a
# width, and the decoder gets a point drawn from it. So it learns to make sense of all codes near
# by. A second term of the loss holds all clouds together around the origin. After that any code is
# a digit, also one that no one has ever written.


# %%
class Autoencoder(gluon.HybridBlock):
    """Images (N, 1, 8, 8) to images rebuilt, and mean and log variance of their codes."""

    def __init__(self, code, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.encoder = nn.HybridSequential()
            self.encoder.add(
                nn.Conv2D(32, kernel_size=3, padding=1),
                *self.normalized(),
                nn.Conv2D(64, kernel_size=4, strides=2, padding=1),
                *self.normalized(),
                nn.Dense(128),
                *self.normalized(),
                nn.Dense(2 * code),
            )
            self.decoder = nn.HybridSequential()
            self.decoder.add(
                nn.Dense(128),
                *self.normalized(),
                nn.Dense(64 * 4 * 4),
                *self.normalized(),
                # A code has no axes of height and width: HybridLambda gives it some.
                nn.HybridLambda(lambda F, x: F.reshape(x, shape=(-1, 64, 4, 4))),
                nn.Conv2DTranspose(32, kernel_size=4, strides=2, padding=1),
                *self.normalized(),
                nn.Conv2D(1, kernel_size=3, padding=1),
                nn.Activation("sigmoid"),
            )

    @staticmethod
    def normalized():
        """Return what follows each layer but the last: without it, training takes far longer."""
        return nn.BatchNorm(), nn.Activation("relu")

    def hybrid_forward(self, F, images):
        """Encode, draw a point of each cloud, decode."""
        mean, log_variance = F.split(self.encoder(images), num_outputs=2, axis=1)
        # Drawing has no gradient; a product with drawn numbers has one, to mean and width.
        noise = F.random.normal_like(mean)
        code = mean + F.exp(0.5 * log_variance) * noise
        return self.decoder(code), mean, log_variance


net = Autoencoder(CODE)
net.initialize(mx.init.Xavier())
net.hybridize(static_alloc=True)

# %% [markdown]
# ## 2. The loss
#
# The first term says that pixels may be off by 0.2 or so: their squared errors, over twice the
# square of that. The second one is the Kullback-Leibler divergence of each cloud from the standard
# normal distribution.


# %%
class AutoencoderLoss(gluon.loss.Loss):
    """How much of each image is lost, and how far its cloud is from the normal one: (N,)."""

    def __init__(self, **kwargs):
        super().__init__(weight=None, batch_axis=0, **kwargs)

    def hybrid_forward(self, F, rebuilt, mean, log_variance, images):
        """Add both terms, each a sum over all axes but the first."""
        error = F.square(rebuilt - images) / (2 * 0.2**2)
        divergence = 0.5 * (F.square(mean) + F.exp(log_variance) - 1 - log_variance)
        return F.sum(error, axis=0, exclude=True) + F.sum(divergence, axis=1)


loss_function = AutoencoderLoss()
loss_function.hybridize()

# %% [markdown]
# ## 3. Train as always
#
# The loader has no labels: each batch is one array.

# %%
images, _ = load_digits(train=True)
test_images, test_labels = load_digits(train=False)
loader = gluon.data.DataLoader(gluon.data.ArrayDataset(images), batch_size=64, shuffle=True)
steps = EPOCHS * len(loader)
schedule = mx.lr_scheduler.CosineScheduler(max_update=steps, base_lr=3e-3, final_lr=3e-5)
trainer = gluon.Trainer(
    net.collect_params(), "adam", {"learning_rate": 3e-3, "lr_scheduler": schedule}
)

curve = []
for epoch in range(1, EPOCHS + 1):
    total = 0.0
    for batch in loader:
        with autograd.record():
            rebuilt, mean, log_variance = net(batch)
            loss = loss_function(rebuilt, mean, log_variance, batch)
        loss.backward()
        trainer.step(len(batch))
        total += loss.sum().asscalar()
    curve.append(total / len(images))
    if epoch == 1 or epoch % (EPOCHS // 5) == 0:
        print(f"epoch {epoch}: loss {curve[-1]:.2f} per image")

# %% [markdown]
# ## 4. Does it pack well?
#
# Rebuild images that it has never seen, from the means of their clouds, and compare with the best
# that two numbers can do along straight lines: principal components.


# %%
def encode(pixels: np.ndarray) -> np.ndarray:
    """Return the mean codes of images, (N, CODE)."""
    return net.encoder(mx.nd.array(pixels)).asnumpy()[:, :CODE]


def decode(codes: np.ndarray) -> np.ndarray:
    """Return the images of codes, (N, 8, 8), with pixels in 0..1."""
    return net.decoder(mx.nd.array(codes)).asnumpy()[:, 0]


codes = encode(test_images)
rebuilt = decode(codes)

flat, test_flat = images.reshape(-1, 64), test_images.reshape(-1, 64)
center = flat.mean(axis=0)
_, _, directions = np.linalg.svd(flat - center, full_matrices=False)
components = directions[:CODE]
straight = center + (test_flat - center) @ components.T @ components

error = float(np.square(rebuilt.reshape(-1, 64) - test_flat).mean())
straight_error = float(np.square(straight - test_flat).mean())
print(f"held-out squared error of a pixel: {error:.4f}")
print(f"with two principal components:     {straight_error:.4f}")

# %% [markdown]
# ## 5. Pictures
#
# First some held-out digits above what became of them.

# %%
figure = Figure(figsize=(8, 2.8), layout="constrained")
figure.suptitle("Held-out digits, rebuilt from two numbers each")
rows = figure.subplots(3, 10)
for digit in range(10):
    which = np.flatnonzero(test_labels == digit)[0]
    for axes, image in zip(
        rows[:, digit],
        (test_images[which, 0], rebuilt[which], straight[which].reshape(8, 8)),
        strict=True,
    ):
        axes.imshow(image, cmap="gray_r", vmin=0, vmax=1)
        axes.set(xticks=[], yticks=[])
for axes, name in zip(rows[:, 0], ("original", "autoencoder", "two components"), strict=True):
    axes.set_ylabel(name, rotation=0, ha="right", va="center")
figure.savefig(folder / "rebuilt.png", dpi=120)
figure

# %% [markdown]
# Then the plane of all codes: left where held-out digits lie in it, right what the decoder draws at
# each place. The places are quantiles of the normal distribution, where the codes are.

# %%
figure = Figure(figsize=(11, 5.4), layout="constrained")
left, right = figure.subplots(1, 2)
points = left.scatter(*codes.T, c=test_labels, cmap="tab10", vmin=-0.5, vmax=9.5, s=14)
figure.colorbar(points, ax=left, ticks=range(10), location="left", label="digit", shrink=0.8)
left.set(title="Codes of held-out digits", aspect="equal", xlim=(-3.2, 3.2), ylim=(-3.2, 3.2))
left.grid(alpha=0.3)

SIDE, TILE = 13, 11  # places along each axis; pixels of each, with white between images
places = np.array([NormalDist().inv_cdf(share) for share in np.linspace(0.02, 0.98, SIDE)])
across, down = np.meshgrid(places, places[::-1])
drawn = decode(np.stack([across.ravel(), down.ravel()], axis=1))
tiles = np.pad(drawn, ((0, 0), (1, 2), (1, 2))).reshape(SIDE, SIDE, TILE, TILE)
sheet = tiles.transpose(0, 2, 1, 3).reshape(SIDE * TILE, SIDE * TILE)
right.imshow(sheet, cmap="gray_r", vmin=0, vmax=1, interpolation="bicubic")
labels = [f"{place:.1f}" for place in places]
ticks = np.arange(SIDE) * TILE + 4.5
right.set(title="What the decoder draws at each code", xticks=ticks, yticks=ticks)
right.set_xticklabels(labels, fontsize=7)
right.set_yticklabels(labels[::-1], fontsize=7)
figure.savefig(folder / "codes.png", dpi=120)
print(f"pictures: {folder / 'rebuilt.png'} and {folder / 'codes.png'}")
figure

# %%
if not error < 0.7 * straight_error:
    raise SystemExit("expected an error 30 % below that of principal components")
