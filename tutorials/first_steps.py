# %% [markdown]
"""First steps: define a network, initialize it, train it, hybridize it, export it, import it again.

Run it with ``python tutorials/first_steps.py``; it takes a few seconds and writes into a temporary
folder.
"""

# %%
import tempfile
from pathlib import Path

import numpy as np

import gluonish as mx
from gluonish import autograd, gluon
from gluonish.gluon import nn
from gluonish.gluon.data.digits import load_digits

# %% [markdown]
# Random numbers start from a seed: the weights, and the order in which the DataLoader shuffles.

# %%
mx.random.seed(1)
np.random.seed(1)  # noqa: NPY002  # what the DataLoader shuffles by

# %% [markdown]
# ## 1. Define
#
# A HybridBlock computes in `hybrid_forward`, with the functions of F only: F is `mx.nd` when it
# runs on arrays, and `mx.sym` when it is traced into a graph.


# %%
class Classifier(gluon.HybridBlock):
    """Two convolutions and two dense layers: (N, 1, 8, 8) to (N, 10)."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = nn.HybridSequential()
            self.features.add(
                nn.Conv2D(16, kernel_size=3, padding=1),
                nn.BatchNorm(),
                nn.Activation("relu"),
                nn.MaxPool2D(),
                nn.Conv2D(32, kernel_size=3, padding=1, activation="relu"),
            )
            self.hidden = nn.Dense(64, activation="relu")
            self.output = nn.Dense(10)

    def hybrid_forward(self, F, x):
        """Compute class scores; a softmax over them is part of the loss."""
        x = self.features(x * 2 - 1)
        return self.output(F.flatten(self.hidden(x)))


net = Classifier(prefix="classifier_")

# %% [markdown]
# ## 2. Initialize
#
# Shapes that depend on the data are settled at the first call.

# %%
net.initialize(mx.init.Xavier(), ctx=mx.cpu())

# %% [markdown]
# ## 3. Train
#
# Data come in batches; what runs inside `autograd.record()` can be differentiated; the Trainer
# updates the parameters from their gradients.

# %%
images, labels = load_digits(train=True)
train_data = gluon.data.DataLoader(
    gluon.data.ArrayDataset(images, labels), batch_size=64, shuffle=True
)
loss_function = gluon.loss.SoftmaxCrossEntropyLoss()
trainer = gluon.Trainer(
    net.collect_params(), "sgd", {"learning_rate": 0.05, "momentum": 0.9}, kvstore="device"
)


def train_one_epoch() -> float:
    """Return the mean loss over the training images."""
    total = 0.0
    for data, label in train_data:
        with autograd.record():
            loss = loss_function(net(data), label)
        loss.backward()
        trainer.step(data.shape[0])
        total += loss.sum().asscalar()
    return total / len(images)


print(f"epoch 1, imperative: loss {train_one_epoch():.4f}")

# %% [markdown]
# ## 4. Hybridize
#
# The same code now runs as a graph, planned once, with memory kept between calls.

# %%
net.hybridize(static_alloc=True)
for epoch in range(2, 9):
    print(f"epoch {epoch}, hybridized: loss {train_one_epoch():.4f}")

test_images, test_labels = (mx.nd.array(values) for values in load_digits(train=False))
accuracy = mx.metric.Accuracy()
accuracy.update([test_labels], [net(test_images)])
print(f"held-out accuracy: {accuracy.get()[1]:.4f}")

# %% [markdown]
# ## 5. Export and import
#
# Two files hold the graph and the parameters; MXNet reads them as well.

# %%
with tempfile.TemporaryDirectory() as folder:
    path = str(Path(folder) / "classifier")
    net.export(path, epoch=8)
    imported = gluon.SymbolBlock.imports(
        f"{path}-symbol.json", ["data"], f"{path}-0008.params", ctx=mx.cpu()
    )
    same = np.array_equal(imported(test_images).asnumpy(), net(test_images).asnumpy())

print(f"the imported network predicts the same, bit for bit: {same}")
if not same or accuracy.get()[1] < 0.95:
    raise SystemExit("expected equal predictions and an accuracy of at least 95 %")
