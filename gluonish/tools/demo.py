"""``gluonish demo``: trains a network on digits in a minute, and plots the results."""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol

import numpy as np

import gluonish.autograd as autograd
import gluonish.gluon.nn as nn
import gluonish.ndarray as nd
from gluonish.core.context import Context
from gluonish.core.errors import ArgumentError
from gluonish.core.files import atomic_write
from gluonish.core.progress import progress_bar
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.block.symbol_block import SymbolBlock
from gluonish.gluon.data import ArrayDataset, DataLoader
from gluonish.gluon.data.digits import load_digits
from gluonish.gluon.data.split import split_and_load
from gluonish.gluon.loss import SoftmaxCrossEntropyLoss
from gluonish.gluon.trainer import Trainer
from gluonish.initializer import Xavier
from gluonish.lr_scheduler import FactorScheduler
from gluonish.metric import Accuracy
from gluonish.tools.json_output import add_json_option, write_json


class _Curves(Protocol):
    """Losses and accuracies of each epoch."""

    loss: list[float]
    train_accuracy: list[float]
    test_accuracy: list[float]


def new_figure(width: float, height: float) -> Any:
    """Return an empty figure, without a window; sizes are in inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def save_figure(figure: Any, path: Path) -> None:
    """Write a figure as a PNG file, atomically."""
    with atomic_write(path) as file:
        figure.savefig(file, dpi=120, format="png")


def plot_curves(curves: _Curves, path: Path) -> Path:
    """Draw loss and accuracies over epochs into a PNG file, and return its path."""
    figure = new_figure(9, 3.6)
    left, right = figure.subplots(1, 2)
    epochs = range(1, len(curves.loss) + 1)
    left.plot(epochs, curves.loss, marker="o", markersize=3)
    left.set(title="Training loss", xlabel="epoch", ylabel="cross entropy", yscale="log")
    right.plot(epochs, curves.train_accuracy, marker="o", markersize=3, label="training")
    right.plot(epochs, curves.test_accuracy, marker="s", markersize=3, label="held out")
    right.axhline(0.98, color="grey", linewidth=0.8, linestyle="--", label="98 %")
    right.set(title="Accuracy", xlabel="epoch", ylim=(0.8, 1.005))
    right.legend(loc="lower right")
    for axes in (left, right):
        axes.grid(alpha=0.3)
    save_figure(figure, path)
    return path


def plot_confusion(
    predicted: np.ndarray[Any, Any], labels: np.ndarray[Any, Any], path: Path
) -> Path:
    """Draw the confusion matrix into a PNG file, and return its path.

    Args:
        predicted: (N,), digits.
        labels: (N,), digits.
        path: The PNG file to write.
    """
    counts = np.zeros((10, 10), dtype=np.int64)
    np.add.at(counts, (labels.astype(np.int64), predicted.astype(np.int64)), 1)
    figure = new_figure(5.2, 5)
    axes = figure.subplots()
    axes.imshow(np.log1p(counts), cmap="Blues")
    for (row, column), count in np.ndenumerate(counts):
        if count:
            color = "white" if count > counts.max() / 3 else "black"
            axes.text(column, row, str(count), ha="center", va="center", color=color, fontsize=9)
    wrong = int(counts.sum() - np.trace(counts))
    axes.set(
        title=f"Held-out digits: {wrong} of {len(labels)} wrong",
        xlabel="predicted",
        ylabel="true",
        xticks=range(10),
        yticks=range(10),
    )
    save_figure(figure, path)
    return path


_BATCH_SIZE = 64
_LEARNING_RATE = 0.05
_TARGET = 0.98  # the accuracy on held-out images that the demo must reach


class ResidualUnit(HybridBlock):
    """Two 3x3 convolutions with batch norm and a shortcut around them: relu(x + f(x)).

    Args:
        channels: Number of channels of input and output.

    Inputs:
        x: (N, channels, H, W).

    Outputs:
        y: (N, channels, H, W).
    """

    def __init__(self, channels: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.body = nn.HybridSequential(prefix="")
            self.body.add(
                nn.Conv2D(channels, 3, padding=1, use_bias=False),
                nn.BatchNorm(),
                nn.Activation("relu"),
                nn.Conv2D(channels, 3, padding=1, use_bias=False),
                nn.BatchNorm(),
            )

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # Gluon's name
        """Add the shortcut."""
        return F.relu(x + self.body(x))


def digits_network() -> nn.HybridSequential:
    """Return the network of the demo, from images (N, 1, 8, 8) to scores (N, 10)."""
    net = nn.HybridSequential(prefix="digits_")
    with net.name_scope():
        net.add(
            nn.Conv2D(32, 3, padding=1, use_bias=False),
            nn.BatchNorm(),
            nn.Activation("relu"),
            ResidualUnit(32),
            nn.MaxPool2D(),
            nn.Conv2D(64, 3, padding=1, activation="relu"),
            nn.Flatten(),
            nn.Dropout(0.3),
            nn.Dense(64, activation="relu"),
            nn.Dense(10),
        )
    return net


@dataclass
class History:
    """Mean loss of each epoch, and accuracy (0 to 1) on training and held-out images."""

    loss: list[float] = field(default_factory=list)
    train_accuracy: list[float] = field(default_factory=list)
    test_accuracy: list[float] = field(default_factory=list)


def parse_contexts(text: str) -> list[Context]:
    """Return the devices that ``cpu:0,cpu:1`` names.

    Raises:
        ArgumentError: An item is not a device type and a number.
    """
    contexts = []
    for part in text.split(","):
        device_type, _, number = part.strip().partition(":")
        if not (number or "0").isdigit() or not device_type.isidentifier():
            raise ArgumentError(f"--ctx: expected devices such as cpu:0,cpu:1, got {text!r}")
        contexts.append(Context(device_type, int(number or 0)))
    return contexts


def shifted(images: np.ndarray[Any, Any], generator: np.random.Generator) -> np.ndarray[Any, Any]:
    """Return images (N, 1, H, W), each shifted by up to a pixel on both axes, padded with 0."""
    padded = np.pad(images, ((0, 0), (0, 0), (1, 1), (1, 1)))
    result = np.empty_like(images)
    height, width = images.shape[2:]
    for i, (down, right) in enumerate(generator.integers(0, 3, (len(images), 2))):
        result[i] = padded[i, :, down : down + height, right : right + width]
    return result


def train(
    net: nn.HybridSequential, arguments: argparse.Namespace, contexts: Sequence[Context]
) -> History:
    """Train with Gluon's Trainer and DataLoader; one progress bar covers all epochs."""
    images, labels = load_digits(train=True)
    test = load_digits(train=False)
    generator = np.random.default_rng(arguments.seed)
    steps = -(-len(images) // arguments.batch_size)
    schedule = FactorScheduler(
        step=steps * max(1, arguments.epochs // 4), factor=0.4, base_lr=_LEARNING_RATE
    )
    trainer = Trainer(
        net.collect_params(),
        "sgd",
        {"momentum": 0.9, "wd": 1e-4, "lr_scheduler": schedule},
        kvstore=arguments.kvstore,
    )
    history = History()
    with progress_bar(total=arguments.epochs * steps, unit="batch", disable=False) as bar:
        for epoch in range(1, arguments.epochs + 1):
            bar.set_description(f"epoch {epoch}/{arguments.epochs}", refresh=False)
            dataset = ArrayDataset(shifted(images, generator), labels)
            loader = DataLoader(
                dataset, arguments.batch_size, shuffle=True, num_workers=arguments.workers
            )
            loss, accuracy = _train_epoch(net, trainer, loader, contexts, bar)
            history.loss.append(loss)
            history.train_accuracy.append(accuracy)
            history.test_accuracy.append(evaluate(net, *test, contexts))
    return history


def _train_epoch(
    net: HybridBlock, trainer: Trainer, loader: DataLoader, contexts: Sequence[Context], bar: Any
) -> tuple[float, float]:
    """Train for one epoch; return the mean loss and the accuracy during training."""
    loss_function = SoftmaxCrossEntropyLoss()
    accuracy = Accuracy()
    total = 0.0
    seen = 0
    start = perf_counter()
    for images, labels in loader:
        parts = split_and_load(images, contexts, even_split=False)
        targets = split_and_load(labels, contexts, even_split=False)
        with autograd.record():
            outputs = [net(part) for part in parts]
            losses = [loss_function(*pair) for pair in zip(outputs, targets, strict=True)]
        autograd.backward(losses)
        trainer.step(images.shape[0])
        accuracy.update(targets, outputs)
        total += sum(float(loss.sum().asscalar()) for loss in losses)
        seen += images.shape[0]
        speed = seen / (perf_counter() - start)
        bar.set_postfix_str(
            f"loss {total / seen:.4f}, accuracy {accuracy.get()[1]:.4f}, {speed:.0f} samples/s",
            refresh=False,
        )
        bar.update()
    return total / seen, float(accuracy.get()[1])


def predict(
    net: HybridBlock, images: np.ndarray[Any, Any], context: Context
) -> np.ndarray[Any, Any]:
    """Return the network's outputs for all images, (N, 10)."""
    scores: np.ndarray[Any, Any] = net(nd.array(images, ctx=context)).asnumpy()
    return scores


def evaluate(
    net: HybridBlock,
    images: np.ndarray[Any, Any],
    labels: np.ndarray[Any, Any],
    contexts: Sequence[Context],
) -> float:
    """Return the accuracy, 0 to 1; the images are divided among the devices."""
    accuracy = Accuracy()
    shares = np.array_split(np.arange(len(labels)), len(contexts))
    for context, share in zip(contexts, shares, strict=True):
        outputs = net(nd.array(images[share], ctx=context))
        accuracy.update([nd.array(labels[share], ctx=context)], [outputs])
    return float(accuracy.get()[1])


def add_parser(parsers: Any) -> None:
    """Add ``gluonish demo`` to the command."""
    parser = parsers.add_parser(
        "demo",
        help="train a convolutional network on real images, plot, export and import it",
        description="Train a small convolutional network on images of digits that ship with the "
        "package, which takes about a minute. Writes plots and the exported network to a folder, "
        "imports it again, and compares predictions. Exits with 1 if the accuracy on held-out "
        f"images is below {_TARGET:.0%}.",
    )
    parser.add_argument(
        "--ctx",
        default="cpu:0",
        metavar="DEVICES",
        help="such as cpu:0,cpu:1 or gpu:0 (default: %(default)s)",
    )
    parser.add_argument(
        "--kvstore",
        default="device",
        metavar="STORE",
        help="store that sums gradients: local or device (default: %(default)s)",
    )
    parser.add_argument("--imperative", action="store_true", help="train without hybridizing")
    parser.add_argument(
        "--epochs",
        type=int,
        default=40,
        metavar="N",
        help="passes over the training images (default: %(default)s)",
    )
    parser.add_argument(
        "--batch-size",
        type=int,
        default=_BATCH_SIZE,
        metavar="N",
        help="images in a batch (default: %(default)s)",
    )
    parser.add_argument(
        "--workers",
        type=int,
        default=0,
        metavar="N",
        help="processes that load data (default: %(default)s)",
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=7,
        metavar="N",
        help="random seed of weights, shuffling and shifts (default: %(default)s)",
    )
    parser.add_argument(
        "--output",
        default="gluonish-demo",
        metavar="FOLDER",
        help="folder for plots and the model (default: %(default)s)",
    )
    add_json_option(parser)
    parser.set_defaults(run=main)


def main(arguments: argparse.Namespace) -> int:
    """Run the demo.

    Returns:
        0 if the promised accuracy was reached and the imported model predicts the same; else 1.
    """
    for name in ("epochs", "batch_size"):
        if getattr(arguments, name) < 1:
            option = name.replace("_", "-")
            raise ArgumentError(f"--{option}: expected at least 1, got {getattr(arguments, name)}")
    contexts = parse_contexts(arguments.ctx)
    output = Path(arguments.output)
    output.mkdir(parents=True, exist_ok=True)
    nd.random.seed(arguments.seed)
    np.random.seed(arguments.seed)  # noqa: NPY002  # the DataLoader shuffles by it
    net = digits_network()
    net.initialize(Xavier(), ctx=contexts)
    if not arguments.imperative:
        net.hybridize(static_alloc=True)
    start = perf_counter()
    history = train(net, arguments, contexts)
    seconds = perf_counter() - start
    if arguments.json:
        files = [line for _, paths in report(net, history, contexts[0], output) for line in paths]
        write_json({"seconds": seconds, "device": arguments.ctx, "files": files, **vars(history)})
    else:
        for line, _ in report(net, history, contexts[0], output):
            print(line)
        print(f"trained in {seconds:.1f} s on {arguments.ctx}")
    return 0 if history.test_accuracy[-1] >= _TARGET else 1


def report(
    net: nn.HybridSequential, history: History, context: Context, output: Path
) -> Iterator[tuple[str, list[str]]]:
    """Plot the results, export and import the network; yield lines of the report, and files.

    Raises:
        ArgumentError: The imported model predicts other values.
    """
    images, labels = load_digits(train=False)
    # Each device has its own moving statistics; an export uses their mean, and so must this
    # network.
    net.collect_params().reset_ctx(context)
    net.hybridize(static_alloc=True)
    predictions = predict(net, images, context)
    accuracy = float((predictions.argmax(axis=1) == labels).mean())
    history.test_accuracy[-1] = accuracy
    curves = plot_curves(history, output / "learning-curves.png")
    confusion = plot_confusion(predictions.argmax(axis=1), labels, output / "confusion.png")
    yield f"held-out accuracy {accuracy:.4f} ({len(labels)} images)", []
    yield f"plots: {curves} and {confusion}", [str(curves), str(confusion)]
    symbol_file, params_file = net.export(output / "digits")
    yield f"exported: {symbol_file} and {params_file}", [symbol_file, params_file]
    imported = SymbolBlock.imports(symbol_file, ["data"], params_file, ctx=context)
    if not np.array_equal(predict(imported, images, context), predictions):
        raise ArgumentError(
            "demo: expected equal predictions of the imported model, got different ones"
        )
    yield "imported again: predictions are equal bit for bit", []
