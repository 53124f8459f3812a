"""Make training_losses.json: what losses give in PyTorch, in float64, with the gradient.

Run it with a virtual environment that has torch 2.13:

    torch/bin/python tests/golden/make_training_losses.py

Each case has the class of gluonish, its arguments, the inputs (pred first), the loss of each sample
before the mean over the batch, and the gradient of ``sum(loss * (1, 2, 3, ...))`` in pred. Cross
entropies are PyTorch's; the focal and the dice loss are their papers' formulas, in torch.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

HERE = Path(__file__).parent
RANDOM = np.random.default_rng(40)
Case = dict[str, Any]
CASES: list[Case] = []


def rounded(shape: tuple[int, ...]) -> np.ndarray:
    return RANDOM.normal(0, 2, shape).round(3)


def add(
    name: str, arguments: dict[str, Any], inputs: list[Any], compute: Callable[..., torch.Tensor]
) -> None:
    """Store a case; ``compute`` gives the losses of all positions, samples first."""
    tensors = [None if x is None else torch.tensor(x) for x in inputs]
    pred = tensors[0].requires_grad_()
    loss = compute(*tensors)
    loss = loss.reshape(len(loss), -1).mean(1)
    (loss * torch.arange(1, len(loss) + 1)).sum().backward()
    CASES.append(
        {
            "loss": name,
            "arguments": arguments,
            "inputs": [None if x is None else np.asarray(x).tolist() for x in inputs],
            "value": loss.tolist(),
            "gradient": pred.grad.tolist(),
        }
    )


def cross_entropies() -> None:
    for shape, axis in (((4, 5), -1), ((4, 5), 1), ((2, 3, 2, 2), 1), ((2, 2, 3), -1)):
        classes, places = shape[axis], tuple(np.delete(shape, axis))
        pred, label = rounded(shape), RANDOM.integers(0, classes, places)
        dense = np.moveaxis(RANDOM.dirichlet(np.ones(classes), places).round(3), -1, axis)
        weight = RANDOM.random(shape[0]).round(3)
        ignored = int(label.flat[0])
        for smoothing in (0.0, 0.1, 1.0):
            for kind, ignore in (("sparse", None), ("sparse", ignored), ("dense", None)):
                for weights in (None, weight):
                    if not smoothing and ignore is None:
                        continue
                    sparse = kind == "sparse"
                    arguments: dict[str, Any] = {"axis": axis, "label_smoothing": smoothing}
                    arguments |= {"sparse_label": sparse, "ignore_label": ignore}

                    def compute(
                        x: Any,
                        y: Any,
                        w: Any,
                        *,
                        axis: int = axis,
                        s: float = smoothing,
                        i: Any = ignore,
                    ) -> Any:
                        x = x.movedim(axis, 1)
                        if y.ndim == x.ndim:
                            y = y.movedim(axis, 1)
                        options = {} if i is None else {"ignore_index": i}
                        loss = functional.cross_entropy(
                            x, y, reduction="none", label_smoothing=s, **options
                        )
                        return loss if w is None else loss * w.reshape(-1, *[1] * (loss.ndim - 1))

                    inputs = [pred, label if sparse else dense, weights]
                    add("SoftmaxCrossEntropyLoss", arguments, inputs, compute)


def binary() -> None:
    for shape in ((4, 3), (2, 3, 2)):
        pred, label = rounded(shape), RANDOM.random(shape).round(2)
        label.flat[:4] = [0, 1, 0, 1]
        weight = RANDOM.random((shape[0], *[1] * (len(shape) - 1))).round(3)
        pos_weight = (2 * RANDOM.random(shape[-1])).round(3)

        def compute(x: Any, y: Any, w: Any, p: Any) -> Any:
            return functional.binary_cross_entropy_with_logits(
                x, y, w, pos_weight=p, reduction="none"
            )

        for w in (None, weight):
            for p in (None, pos_weight.reshape([1] * (len(shape) - 1) + [-1])):
                add("SigmoidBinaryCrossEntropyLoss", {}, [pred, label, w, p], compute)
        for gamma, alpha in ((2.0, 0.25), (0.5, 0.75), (0.0, None), (1.5, None)):

            def focal(x: Any, y: Any, w: Any, *, g: float = gamma, a: Any = alpha) -> Any:
                p = torch.sigmoid(x)
                p_t = p * y + (1 - p) * (1 - y)
                loss = functional.binary_cross_entropy_with_logits(x, y, reduction="none")
                loss = loss * (1 - p_t) ** g
                if a is not None:
                    loss = loss * (a * y + (1 - a) * (1 - y))
                return loss if w is None else loss * w

            for w in (None, weight):
                add("FocalLoss", {"gamma": gamma, "alpha": alpha}, [pred, label, w], focal)


def softmax_focal() -> None:
    pred, label = rounded((2, 3, 2, 2)), RANDOM.integers(0, 3, (2, 2, 2))
    dense = np.moveaxis(RANDOM.dirichlet(np.ones(3), (2, 2, 2)).round(3), -1, 1)
    for gamma in (0.0, 0.5, 2.0):

        def compute(x: Any, y: Any, *, g: float = gamma) -> Any:
            if y.ndim == 3:
                y = functional.one_hot(y, 3).movedim(-1, 1)
            p = torch.softmax(x, 1)
            return (-y * (1 - p) ** g * torch.log(p)).sum(1)

        for y in (label, dense):
            arguments = {"axis": 1, "gamma": gamma, "sparse_label": y is label}
            add("SoftmaxFocalLoss", arguments, [pred, y], compute)


def dice() -> None:
    pred, mask = rounded((2, 1, 3, 3)), RANDOM.integers(0, 2, (2, 1, 3, 3)).astype(float)
    scores, label = rounded((2, 3, 2, 2)), RANDOM.integers(0, 3, (2, 2, 2))
    weight = RANDOM.random(2).round(3)

    def of(p: Any, y: Any, smooth: float, axes: tuple[int, ...]) -> Any:
        overlap, sizes = (p * y).sum(axes), (p * p).sum(axes) + (y * y).sum(axes)
        return 1 - (2 * overlap + smooth) / (sizes + smooth)

    for smooth in (0.0, 1.0):

        def binary_dice(x: Any, y: Any, w: Any, *, s: float = smooth) -> Any:
            loss = of(torch.sigmoid(x), y, s, (1, 2, 3))
            return loss if w is None else loss * w

        def class_dice(x: Any, y: Any, w: Any, *, s: float = smooth) -> Any:
            y = functional.one_hot(y, 3).movedim(-1, 1)
            loss = of(torch.softmax(x, 1), y, s, (2, 3)).mean(1)
            return loss if w is None else loss * w

        for w in (None, weight):
            add("DiceLoss", {"smooth": smooth}, [pred, mask, w], binary_dice)
            arguments = {"smooth": smooth, "num_classes": 3}
            add("DiceLoss", arguments, [scores, label, w], class_dice)


if __name__ == "__main__":
    cross_entropies()
    binary()
    softmax_focal()
    dice()
    text = json.dumps(CASES).replace('}, {"loss"', '},\n{"loss"')
    (HERE / "training_losses.json").write_text(text + "\n", "utf-8")
