# %% [markdown]
"""The Estimator: a training loop that need not be written, with checkpoints and early stopping.

Run it with ``python tutorials/estimator.py``; it takes some seconds, with ``--quick`` (fewer
epochs) less. Checkpoints and a picture go to the folder that ``--out`` names, or to a new temporary
one.
"""

# %%
import argparse
import logging
import tempfile
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import gluonish as mx
from gluonish import gluon
from gluonish.gluon import nn
from gluonish.gluon.contrib import estimator
from gluonish.gluon.data.digits import load_digits

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--quick", action="store_true", help="fewer epochs")
parser.add_argument("--out", type=Path, help="folder for what it writes; a temporary one else")
options = parser.parse_args()
folder = options.out or Path(tempfile.mkdtemp(prefix="gluonish-"))
folder.mkdir(parents=True, exist_ok=True)

INTERRUPTED, EPOCHS, PATIENCE = (3, 25, 4) if options.quick else (6, 100, 8)

mx.random.seed(5)
np.random.seed(5)  # noqa: NPY002  # what the DataLoader shuffles by

# %% [markdown]
# ## 1. Data and network, as for any training

# %%
train_data = gluon.data.DataLoader(
    gluon.data.ArrayDataset(*load_digits(train=True)), batch_size=64, shuffle=True
)
test_data = gluon.data.DataLoader(gluon.data.ArrayDataset(*load_digits(train=False)), batch_size=64)


def build_network() -> nn.HybridSequential:
    """Return a small convolutional network: (N, 1, 8, 8) to (N, 10)."""
    net = nn.HybridSequential()
    net.add(
        nn.Conv2D(16, kernel_size=3, padding=1, activation="relu"),
        nn.MaxPool2D(),
        nn.Conv2D(32, kernel_size=3, padding=1, activation="relu"),
        nn.Dropout(0.3),
        nn.Dense(64, activation="relu"),
        nn.Dropout(0.3),
        nn.Dense(10),
    )
    net.initialize(mx.init.Xavier())
    net.hybridize(static_alloc=True)
    return net


# %% [markdown]
# ## 2. An Estimator joins network, loss, metrics and Trainer
#
# Without more it trains, evaluates and logs; metrics called "training ..." are of the training
# data, "validation ..." of the others.


# %%
def build_estimator() -> estimator.Estimator:
    """Return an Estimator of a new network."""
    net = build_network()
    result = estimator.Estimator(
        net,
        gluon.loss.SoftmaxCrossEntropyLoss(),
        train_metrics=[mx.metric.Accuracy(), mx.metric.Loss("cross entropy")],
        trainer=gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 2e-3}),
    )
    result.logger.setLevel(logging.INFO)  # WARNING would silence it
    return result


# %% [markdown]
# ## 3. Handlers are called at each step of the way
#
# At the begin and the end of the training, of each epoch, of each batch. A handler of one's own
# derives from the events that it wants to hear of. This one keeps what the metrics were after each
# epoch, to draw it in the end.


# %%
class CurveHandler(estimator.EpochEnd):
    """Keeps the values of all metrics by name, one for each epoch."""

    def __init__(self):
        self.curves = {}
        # By priority, after the handlers that compute the values of an epoch.
        self.priority = np.inf

    def epoch_end(self, estimator, *args, **kwargs):
        """Add the values of an epoch."""
        for metric in (*estimator.train_metrics, *estimator.val_metrics):
            name, value = metric.get()
            self.curves.setdefault(name, []).append(value)


curves = CurveHandler()

# %% [markdown]
# ## 4. The handlers that come with the package
#
# CheckpointHandler saves weights and the state of the Trainer after each epoch, keeps the newest
# three, and the best so far beside them. "Best" needs a metric, and a mode that says which way is
# better. Each run of this tutorial has a new folder for them, lest it resumes from an earlier run.

# %%
checkpoint_folder = Path(tempfile.mkdtemp(prefix="checkpoints-", dir=folder))


def checkpoints(fit: estimator.Estimator, **kwargs) -> estimator.CheckpointHandler:
    """Return a handler that keeps checkpoints in the folder."""
    return estimator.CheckpointHandler(
        str(checkpoint_folder),
        model_prefix="digits",
        monitor=fit.val_metrics[1],  # the loss
        mode="min",
        save_best=True,
        max_checkpoints=3,
        **kwargs,
    )


# %% [markdown]
# ## 5. Train, and imagine that the power goes off after some epochs
#
# LoggingHandler is there in any case; given explicitly, it can speak up more often, here every
# tenth batch.

# %%
first = build_estimator()
first.fit(
    train_data,
    val_data=test_data,
    epochs=INTERRUPTED,
    event_handlers=[
        checkpoints(first),
        curves,
        estimator.LoggingHandler(log_interval=10, metrics=first.train_metrics),
    ],
)
print(f"... interrupted after {INTERRUPTED} epochs\n")

# %% [markdown]
# ## 6. Go on
#
# A new process would build everything anew, as is done here: another network, with other weights at
# first. `resume_from_checkpoint` loads the newest checkpoint and trains what is left of the epochs.
# EarlyStoppingHandler ends it when the held-out loss is not better than its best for some epochs:
# from there on the network would only learn the training images by heart.

# %%
second = build_estimator()
stopping = estimator.EarlyStoppingHandler(second.val_metrics[1], patience=PATIENCE, mode="min")
second.fit(
    train_data,
    val_data=test_data,
    epochs=EPOCHS,
    event_handlers=[checkpoints(second, resume_from_checkpoint=True), stopping, curves],
)
epochs = len(curves.curves["training accuracy"])
print(f"trained for {epochs} of {EPOCHS} epochs in two parts")

# %% [markdown]
# ## 7. The best checkpoint is what to use
#
# Evaluate it once more, with a network of its own.

# %%
best = build_estimator()
best.net.load_parameters(str(checkpoint_folder / "digits-best.params"))
best.logger.setLevel(logging.WARNING)
best.evaluate(test_data)
accuracy = best.val_metrics[0].get()[1]
print(f"held-out accuracy of the best checkpoint: {accuracy:.4f}")

# %% [markdown]
# ## 8. Learning curves

# %%
figure = Figure(figsize=(10, 3.8), layout="constrained")
for axes, metric in zip(figure.subplots(1, 2), ("cross entropy", "accuracy"), strict=True):
    for part, style in (("training", "-"), ("validation", "--")):
        axes.plot(range(1, epochs + 1), curves.curves[f"{part} {metric}"], style, label=part)
    axes.axvline(INTERRUPTED + 0.5, color="grey", linewidth=0.8, label="interrupted")
    axes.set(title=metric, xlabel="epoch")
    axes.grid(alpha=0.3)
    axes.legend()
    if metric == "cross entropy":
        lowest = int(np.argmin(curves.curves["validation cross entropy"]))
        axes.plot(lowest + 1, curves.curves["validation cross entropy"][lowest], "k*", label="best")
        axes.set(yscale="log")
        axes.legend()
figure.savefig(folder / "learning-curves.png", dpi=120)
print(f"picture: {folder / 'learning-curves.png'}")
figure

# %%
if accuracy < 0.93:
    raise SystemExit("expected a held-out accuracy of at least 93 %")
