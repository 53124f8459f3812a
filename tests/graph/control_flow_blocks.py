"""Blocks with control flow in both styles, for tests that compare eager and hybridized ones."""

from typing import Any

import gluonish as mx
from gluonish import gluon
from gluonish.gluon import nn


class Recurrence(gluon.HybridBlock):
    """Two loops with weights inside; one has two states."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.i2h = nn.Dense(4, in_units=3)
            self.h2h = nn.Dense(4, in_units=4)

    def _run(self, contrib: Any, x: Any, h: Any) -> Any:
        def step(data: Any, states: Any) -> Any:
            a, b = states
            new = (self.i2h(data) + self.h2h(a)).tanh()
            return new * b, [new, b + data.sum()]

        out, states = contrib.foreach(step, x, [h, h * 2])
        again, last = contrib.foreach(lambda d, s: (self.i2h(d) * s, s + h), x, h)
        return (out + again).sum() + (states[0] * states[1] * last).sum()

    def hybrid_forward(self, F: Any, x: Any, h: Any) -> Any:  # Gluon's name
        """Run on the arguments' namespace."""
        return self._run(F.contrib, x, h)


class TracedRecurrence(Recurrence):
    """The same in the style of 2.0."""

    def forward(self, x: Any, h: Any) -> Any:
        """Run on arrays or traced values."""
        return self._run(mx.nd.contrib, x, h)


class Search(gluon.HybridBlock):
    """A loop until a number of iterations, and a branch on what came out."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.dense = nn.Dense(4, in_units=4)

    def _run(self, contrib: Any, x: Any, h: Any) -> Any:
        out, (_, y) = contrib.while_loop(
            lambda i, y: i < 3,
            lambda i, y: (y * 2, [i + 1, self.dense(y).tanh()]),
            [h.sum() * 0, h],
            max_iterations=5,
        )
        chosen = contrib.cond(x.sum() > 0, lambda: self.dense(y) * 2, lambda: y * h)
        return out.sum() + (chosen * chosen).sum()

    def hybrid_forward(self, F: Any, x: Any, h: Any) -> Any:  # Gluon's name
        """Run on the arguments' namespace."""
        return self._run(F.contrib, x, h)


class TracedSearch(Search):
    """The same in the style of 2.0."""

    def forward(self, x: Any, h: Any) -> Any:
        """Run on arrays or traced values."""
        return self._run(mx.nd.contrib, x, h)


BLOCKS = (Recurrence, TracedRecurrence, Search, TracedSearch)
