# %% [markdown]
"""A layer of one's own, in both styles, and a function with a gradient of one's own.

Run it with ``python tutorials/custom_layer.py``; it takes some seconds, with ``--quick`` (fewer
epochs) less. A picture goes to the folder that ``--out`` names, or to a new temporary one.
"""

# %%
import argparse
import tempfile
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import gluonish as mx
from gluonish import autograd, gluon, nd
from gluonish.gluon import nn
from gluonish.gluon.data.digits import load_digits
from gluonish.test_utils import assert_almost_equal, check_numeric_gradient

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--quick", action="store_true", help="fewer epochs")
parser.add_argument("--out", type=Path, help="folder for the picture; a temporary one by default")
options = parser.parse_args()
folder = options.out or Path(tempfile.mkdtemp(prefix="gluonish-"))
folder.mkdir(parents=True, exist_ok=True)

EPOCHS = 10 if options.quick else 40

mx.random.seed(7)
np.random.seed(7)  # noqa: NPY002  # what the DataLoader shuffles by

# %% [markdown]
# ## 1. A layer with parameters of its own
#
# CosineDense is like Dense, but looks at directions only: each output is the cosine of the angle
# between the input and a row of weights, times a scale.  In the style of MXNet 1.x, parameters are
# asked from `self.params`, which gives them the block's prefix, and come as arguments of
# `hybrid_forward`. An extent of 0 is not known yet; it is found at the first call, from what
# `hybrid_forward` does with the weight. F is `mx.nd` or `mx.sym`.


# %%
class CosineDense(gluon.HybridBlock):
    """Cosines between inputs (N, C) and rows of weights (units, C), scaled: (N, units)."""

    def __init__(self, units, in_units=0, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        with self.name_scope():
            self.weight = self.params.get(
                "weight", shape=(units, in_units), allow_deferred_init=True
            )
            self.scale = self.params.get("scale", shape=(1,), init=mx.init.Constant(5))

    def hybrid_forward(self, F, x, weight, scale):
        """Divide products by lengths."""
        products = F.FullyConnected(x, weight, no_bias=True, num_hidden=self.units)
        of_x = F.sqrt(F.sum(F.square(x), axis=1, keepdims=True) + 1e-8)
        of_weight = F.sqrt(F.sum(F.square(weight), axis=1, keepdims=True) + 1e-8)
        cosines = F.broadcast_div(F.broadcast_div(products, of_x), F.transpose(of_weight))
        return F.broadcast_mul(cosines, scale)


# %% [markdown]
# In the style of 2.0 there is one forward, with arrays and their methods. Parameters are plain
# attributes, and `infer_shape` says how unknown extents follow from the inputs (-1 is unknown).
# Both kinds can be mixed, hybridized, saved and exported.


# %%
class CosineDense2(gluon.HybridBlock):
    """The same layer as CosineDense."""

    def __init__(self, units, in_units=-1, **kwargs):
        super().__init__(**kwargs)
        self.weight = gluon.Parameter("weight", shape=(units, in_units), allow_deferred_init=True)
        self.scale = gluon.Parameter("scale", shape=(1,), init=mx.init.Constant(5))

    def infer_shape(self, x):
        """Set the shape of the weights."""
        self.weight.shape = (self.weight.shape[0], x.shape[1])

    def forward(self, x):
        """Divide both by their lengths, then multiply."""
        weight = self.weight.data()
        x = x / ((x * x).sum(axis=1, keepdims=True) + 1e-8).sqrt()
        weight = weight / ((weight * weight).sum(axis=1, keepdims=True) + 1e-8).sqrt()
        return nd.dot(x, weight, transpose_b=True) * self.scale.data()


# %% [markdown]
# ## 2. Is it right?
#
# First, both compute the same, as they are and hybridized. A file knows parameters by attribute
# names, which are equal, so that one layer loads what the other saved.

# %%
layer, layer2 = CosineDense(3), CosineDense2(3)
layer.initialize(mx.init.Normal(1))
x = nd.random.normal(shape=(4, 5))
expected = layer(x)
with tempfile.TemporaryDirectory() as weights:
    file = str(Path(weights) / "cosine-dense.params")
    layer.save_parameters(file)
    layer2.load_parameters(file)
assert_almost_equal(layer2(x), expected, rtol=1e-5, atol=1e-5)
for each in (layer, layer2):
    each.hybridize()
    assert_almost_equal(each(x), expected, rtol=1e-5, atol=1e-5)
print("CosineDense: both styles, hybridized or not, agree")

# %% [markdown]
# Then gradients, against finite differences: called with a Symbol, a layer gives a graph, which
# `check_numeric_gradient` evaluates at points near by. It raises if a gradient is another.

# %%
graph = layer(mx.sym.var("data"))
point = {"data": x, **{name: p.data() for name, p in layer.collect_params().items()}}
check_numeric_gradient(graph, point, numeric_eps=1e-2, rtol=2e-2, atol=2e-2)
print(f"CosineDense: gradients of {', '.join(graph.list_arguments())} are right")

# %% [markdown]
# ## 3. A function with a gradient of one's own
#
# softplus(x) = log(1 + exp(b x)) / b is a smooth ReLU, the sharper the larger b. Written down just
# so, it fails for large x, where exp overflows:

# %%
x = nd.array([-2.0, 0.0, 2.0, 200.0])
x.attach_grad()
with autograd.record():
    y = nd.log(1 + nd.exp(x))
y.backward()
print(f"written down as it is: {y.asnumpy()}, gradient {x.grad.asnumpy()}")

# %% [markdown]
# An `autograd.Function` has a forward, which can take a safer way, and a backward, which gets the
# gradient of the output and returns one for each input. Neither is recorded. What backward needs of
# forward goes through `save_for_backward`. Here b is an array too, one for each feature: forward
# broadcast it over the batch, so that backward sums over the batch.


# %%
class Softplus(autograd.Function):
    """log(1 + exp(b x)) / b, without overflow, for x (N, C) and b (C,)."""

    def forward(self, x, b):
        """Take exp of what is below zero only."""
        scaled = x * b
        y = (nd.maximum(scaled, 0) + nd.log1p(nd.exp(-nd.abs(scaled)))) / b
        self.save_for_backward(x, b, y)
        return y

    def backward(self, dy):
        """Return the gradients of x and b."""
        x, b, y = self.saved_tensors
        slope = nd.sigmoid(x * b)
        return dy * slope, (dy * (x * slope - y) / b).sum(axis=0)


# %% [markdown]
# A Block makes a layer of it. It is no HybridBlock: a graph is made of operators, and a Function is
# any Python. (`mx.operator.CustomOp` is the way to bring Python into a graph.)


# %%
class LearnedSoftplus(gluon.Block):
    """Softplus with a sharpness b for each feature, which is learned; (N, C) to (N, C)."""

    def __init__(self, features, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.sharpness = self.params.get("sharpness", shape=(features,), init="ones")

    def forward(self, x):
        """Apply the Function; each call needs a new instance of it."""
        return Softplus()(x, self.sharpness.data())


# %% [markdown]
# ## 4. Is it right?
#
# A Function has no Symbol, so that finite differences are taken by hand here: move along a random
# direction, a little to either side, and compare slopes. In float64, as differences of near numbers
# lose digits.


# %%
def check_slope(function, *inputs) -> None:
    """Compare the gradients of a function with a difference along a random direction."""
    for each in inputs:
        each.attach_grad()
    with autograd.record():
        total = function(*inputs).sum()
    total.backward()
    directions = [nd.random.normal(shape=each.shape, dtype="float64") for each in inputs]
    pairs = list(zip(inputs, directions, strict=True))
    ahead = function(*[each + 1e-5 * direction for each, direction in pairs]).sum()
    behind = function(*[each - 1e-5 * direction for each, direction in pairs]).sum()
    slope = sum((each.grad * direction).sum() for each, direction in pairs)
    assert_almost_equal((ahead - behind) / 2e-5, slope, rtol=1e-6, atol=1e-6)


b = nd.array([0.5, 1, 2], dtype="float64")
check_slope(lambda x, b: Softplus()(x, b), nd.random.normal(shape=(6, 3), dtype="float64") * 2, b)
x = x.reshape((4, 1))
x.attach_grad()
with autograd.record():
    y = Softplus()(x, nd.ones(1))
y.backward()
y, gradient = y.reshape(-1).asnumpy(), x.grad.reshape(-1).asnumpy()
print(f"as a Function:         {y}, gradient {gradient}")

# %% [markdown]
# ## 5. Use both
#
# `hybridize()` reaches what can be hybridized: the first part and the last one run as graphs, and
# the Function between them in Python.

# %%
net = nn.Sequential()
net.add(nn.HybridSequential(), LearnedSoftplus(64), CosineDense(10))
net[0].add(nn.Dense(64), nn.BatchNorm())
net.initialize(mx.init.Xavier())
net.hybridize()

images, labels = load_digits(train=True)
loader = gluon.data.DataLoader(gluon.data.ArrayDataset(images, labels), batch_size=64, shuffle=True)
loss_function = gluon.loss.SoftmaxCrossEntropyLoss()
trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 5e-3})
curve = []
for epoch in range(1, EPOCHS + 1):
    total = 0.0
    for data, label in loader:
        with autograd.record():
            loss = loss_function(net(data), label)
        loss.backward()
        trainer.step(len(data))
        total += loss.sum().asscalar()
    curve.append(total / len(images))
    if epoch == 1 or epoch % (EPOCHS // 5) == 0:
        print(f"epoch {epoch}: loss {curve[-1]:.4f}")

test_images, test_labels = load_digits(train=False)
scores = net(nd.array(test_images)).asnumpy()
accuracy = float((scores.argmax(axis=1) == test_labels).mean())
print(f"held-out accuracy: {accuracy:.4f}")

# %% [markdown]
# ## 6. A picture
#
# What sharpness it learned, and the mean cosine of each digit with each output.

# %%
sharpness = np.sort(net[1].sharpness.data().asnumpy())
cosines = scores / net[2].scale.data().asscalar()
means = np.stack([cosines[test_labels == digit].mean(axis=0) for digit in range(10)])

figure = Figure(figsize=(10, 4.2), layout="constrained")
left, right = figure.subplots(1, 2)
line = nd.linspace(-3, 3, 121).reshape((-1, 1))
for b in sharpness[[0, len(sharpness) // 2, -1]]:
    values = Softplus()(line, nd.array([b])).asnumpy()
    left.plot(line.asnumpy()[:, 0], values[:, 0], label=f"b = {b:.2f}")
left.set(title="Softplus: least, median and most sharpness", xlabel="x", ylabel="log(1+exp(bx))/b")
left.grid(alpha=0.3)
left.legend()
picture = right.imshow(means, cmap="RdBu_r", vmin=-1, vmax=1)
right.set(title="Mean cosine, held-out digits", xlabel="output", ylabel="digit")
right.set(xticks=range(10), yticks=range(10))
figure.colorbar(picture, ax=right)
figure.savefig(folder / "custom-layer.png", dpi=120)
print(f"picture: {folder / 'custom-layer.png'}")
figure

# %%
if accuracy < 0.93:
    raise SystemExit("expected a held-out accuracy of at least 93 %")
