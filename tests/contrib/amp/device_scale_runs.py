"""Runs with a loss scale on the double of a GPU, whose skipped steps the host learns of late."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.contrib import amp
from gluonish.core.config import GLUONISH_DEVICE_LOSS_SCALE
from gluonish.kernels.cupy.loss_scale import Outcomes

STEPS = 14
_SHAPES = ((3,), (2, 5), (40,))


@contextmanager
def late_outcomes(seed: int) -> Iterator[None]:
    """Let the host learn of steps late, by a random number of questions, but in order."""
    chance, of = random.Random(seed), Outcomes.of

    def late(self: Outcomes, step: int) -> bool | None:
        return of(self, step) if chance.random() < 0.4 else None

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Outcomes, "of", late)
        yield


class Run:
    """A trainer with loss scale, and parameters whose gradients overflow at some steps.

    Args:
        name: The optimizer.
        settings: Its arguments.
        dtype: Dtype of most parameters; the last one is float32.
        seed: Of all numbers.
    """

    def __init__(self, name: str, settings: dict[str, Any], dtype: str, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.parameters = []
        for i, shape in enumerate(_SHAPES):
            kind = dtype if i < len(_SHAPES) - 1 else "float32"
            parameter = mx.gluon.Parameter(f"p{i}_weight", shape=shape, dtype=kind)
            value = mx.nd.array(self.random.uniform(-1, 1, shape), dtype=kind)
            parameter.initialize(ctx=mx.gpu(0))
            parameter.set_data(value)
            self.parameters.append(parameter)
        self.trainer = mx.gluon.Trainer(self.parameters, name, dict(settings))
        amp.init_trainer(self.trainer)
        self.scaler: Any = self.trainer._amp_loss_scaler
        self.scaler._scale_seq_len = 3
        self.on_device = False

    def backward(self) -> None:
        """Compute the gradients of a scaled loss, some of which overflow float16."""
        terms = []
        with mx.autograd.record():
            for parameter in self.parameters:
                factor = self.random.uniform(-1, 3, parameter.shape)
                if self.random.random() < 0.1:
                    factor.flat[0] = self.random.choice([np.inf, np.nan])
                data = parameter.data()
                terms.append((data * mx.nd.array(factor, mx.gpu(0), data.dtype)).sum())
            loss = sum(term.astype("float32") for term in terms)
            with amp.scale_loss(loss, self.trainer) as scaled:
                mx.autograd.backward(scaled)

    def facts(self) -> list[Any]:
        """Return all bits that a step may change."""
        optimizer, states = self.trainer._optimizer, self.trainer._updaters[0].states
        found = [p.data().asnumpy().tobytes() for p in self.parameters]
        found += [flat(states[i]) for i in sorted(states)]
        counts = dict(optimizer._index_update_count)
        numbers = (self.scaler.loss_scale, self.scaler._next_loss_scale, self.scaler._unskipped)
        return [*found, counts, optimizer.num_update, optimizer.learning_rate, numbers]


def flat(state: Any) -> Any:
    """Return the bytes of a state's arrays."""
    if isinstance(state, tuple | list):
        return [flat(x) for x in state]
    return None if state is None else state.asnumpy().tobytes()


def run(
    name: str, settings: dict[str, Any], dtype: str = "float16", *,
    device: bool, seed: int, steps: int = STEPS, rate: bool = False,
) -> Run:  # fmt: skip
    """Take steps; with ``rate``, the program changes the learning rate now and then."""
    with GLUONISH_DEVICE_LOSS_SCALE.override(device), late_outcomes(seed):
        made = Run(name, settings, dtype, seed)
        for step in range(steps):
            made.backward()
            if rate and step % 3 == 1:
                made.trainer.set_learning_rate(0.1 / (1 + step))
            made.trainer.step(2)
        made.on_device = made.scaler.is_on_device
    return made
