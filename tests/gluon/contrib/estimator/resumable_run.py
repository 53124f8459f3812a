"""A training run with everything that has a state, which prints digests of its result.

Run as ``python -m tests.gluon.contrib.estimator.resumable_run FOLDER NAME``, also by ``gluonish
launch``; NAME is one of `CONFIGURATIONS`. It writes a line after each batch, so that a test can
kill it at any of them.
"""

import hashlib
import json
import logging
import os
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

import gluonish as mx
from gluonish.core.generator_states import generator_states, plain_states
from gluonish.gluon import nn
from gluonish.gluon.contrib.estimator import BatchEnd, Estimator
from gluonish.gluon.data import ArrayDataset, DataLoader, SplitSampler
from gluonish.gluon.data.vision import transforms

EPOCHS, COUNT, BATCH = 3, 46, 6
CONFIGURATIONS = ("accumulated", "sharpness")


class Lines(BatchEnd):
    """Writes a line after each batch of training."""

    priority = 1

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        sys.stdout.write("batch\n")
        sys.stdout.flush()


def data(rank: int, ranks: int) -> tuple[DataLoader, DataLoader]:
    random = np.random.RandomState(7)
    labels = random.randint(0, 3, COUNT).astype("float32")
    augment = transforms.Compose(
        [transforms.RandomFlipLeftRight(), transforms.RandomBrightness(0.4), transforms.ToTensor()]
    )
    images = mx.nd.array(random.randint(0, 256, (COUNT, 6, 6, 3)), dtype="uint8")
    train = ArrayDataset(images, labels).transform_first(augment)
    test = ArrayDataset(images[:12], labels[:12]).transform_first(augment)
    if ranks == 1:
        loader = DataLoader(train, BATCH, shuffle=True, num_workers=2)
    else:
        sampler = SplitSampler(COUNT, ranks, rank, shuffle=True)
        loader = DataLoader(train, BATCH // ranks, sampler=sampler, num_workers=1)
    return loader, DataLoader(test, 4, shuffle=True)


def network() -> nn.HybridSequential:
    net = nn.HybridSequential()
    net.add(nn.Conv2D(4, 3, in_channels=3), nn.BatchNorm(in_channels=4), nn.Activation("relu"))
    net.add(nn.Flatten(), nn.Dropout(0.3), nn.Dense(3, in_units=64))
    net.initialize(mx.init.Xavier())
    net.hybridize()
    return net


def run(folder: str, configuration: str = "accumulated", **options: Any) -> Estimator:
    """Train with checkpoints in a folder, from the newest one if there is one.

    Args:
        folder: Where the checkpoints are.
        configuration: ``"accumulated"``: Adam, with gradients of several batches; or
            ``"sharpness"``: Lookahead around Adam, with ASAM.
        options: Further arguments of `Estimator.fit`.
    """
    assert configuration in CONFIGURATIONS
    ranks = int(os.environ.get("DMLC_NUM_WORKER", "1"))
    store = mx.kv.create("dist_sync") if ranks > 1 else "device"
    rank = 0 if isinstance(store, str) else store.rank
    mx.random.seed_everything(3 + rank)
    net = network()
    settings = {"learning_rate": 0.01, "rescale_grad": 1 / ranks}
    if configuration == "sharpness":
        optimizer: Any = mx.optimizer.Lookahead("adam", k=3, **settings)
        trainer = mx.gluon.Trainer(net.collect_params(), optimizer, kvstore=store)
        options["sam"] = mx.gluon.utils.SAM(net.collect_params(), rho=0.5, adaptive=True)
    else:
        trainer = mx.gluon.Trainer(net.collect_params(), "adam", settings, kvstore=store)
        options["accumulate"] = 3
    loss = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    metrics = [mx.metric.Accuracy(), mx.metric.Loss("loss")]
    estimator = Estimator(net, loss, metrics, trainer=trainer, context=mx.cpu())
    estimator.logger.setLevel(logging.ERROR)
    train, test = data(rank, ranks)
    estimator.fit(
        train,
        test,
        epochs=EPOCHS,
        event_handlers=Lines(),
        clip_grad_norm=1.0,
        schedule=mx.lr_scheduler.CosineScheduler(9, 0.05, warmup_steps=2),
        average=0.8,
        early_stopping=2,
        checkpoints=folder,
        checkpoint_interval=2,
        resume=True,
        **options,
    )
    return estimator


def arrays_in(value: Any) -> Iterator[bytes]:
    """Yield the bytes of arrays in nested states."""
    if isinstance(value, list | tuple):
        for item in value:
            yield from arrays_in(item)
    elif value is not None:
        yield value.asnumpy().tobytes() if hasattr(value, "asnumpy") else repr(value).encode()


def result(estimator: Estimator) -> dict[str, Any]:
    """Return digests and values of all that a run ends with."""
    trainer, average = estimator.trainer, estimator.average
    assert average is not None
    weights = [p.data() for _, p in sorted(estimator.net._collect_params_with_prefix().items())]
    parts = {
        "weights": weights,
        "states": [state for _, state in sorted(trainer._updaters[0].states.items())],
        "average": [x for _, x in sorted(average._averages.items())],
        "random": json.dumps(plain_states(generator_states())),
    }
    found: dict[str, Any] = {
        name: hashlib.sha256(b"".join(arrays_in([part]))).hexdigest()[:16]
        for name, part in parts.items()
    }
    metrics = [*estimator.train_metrics, *estimator.val_metrics, *estimator.average_metrics]
    found["metrics"] = [[name, float(value).hex()] for name, value in (m.get() for m in metrics)]
    found["updates"] = [trainer.steps_done, average.num_updates]
    return found


if __name__ == "__main__":
    made = run(*sys.argv[1:])
    sys.stdout.write(f"result {json.dumps(result(made))}\n")
