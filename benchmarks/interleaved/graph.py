"""A network as every peer reads it: the steps of a symbol file, in order.

Standard library only: this module runs in the environment of every peer.
"""

import ast
import json
from pathlib import Path
from typing import Any, NamedTuple


class Step(NamedTuple):
    """One operator.

    Attributes:
        op: Name of the operator.
        name: Name of its (first) output.
        inputs: Names of what it reads: parameters, ``data``, or outputs of steps before.
        attrs: Attributes, as Python values where the text is one.
        uses: How many steps read the output.
    """

    op: str
    name: str
    inputs: tuple[str, ...]
    attrs: dict[str, Any]
    uses: int


class Network(NamedTuple):
    """A network.

    Attributes:
        name: What it is called in the model zoo, or ``lenet`` or ``mlp``.
        shape: Shape of one image.
        classes: Length of one image's output.
        symbol: The symbol file's text.
        parameters: Shape of each parameter, by name.
        steps: The operators in order; the last one gives the output.
        flops: Floating point operations that convolutions and products take for one image.
        first_flops: Those of the first of them, whose data needs no gradient.
        convolutions: ``data``, ``weight`` and ``output`` shapes (batch 1) and ``attrs`` of each
            convolution.
    """

    name: str
    shape: tuple[int, ...]
    classes: int
    symbol: str
    parameters: dict[str, tuple[int, ...]]
    steps: list[Step]
    flops: int
    first_flops: int
    convolutions: list[dict[str, Any]]

    @property
    def training_flops(self) -> int:
        """Operations of a training step for one image: forward, and two products backward."""
        return 3 * self.flops - self.first_flops

    @property
    def has_dropout(self) -> bool:
        """Whether training draws random numbers, so that losses of peers differ."""
        return any(step.op == "Dropout" for step in self.steps)


class Window(NamedTuple):
    """The geometry of a convolution or a pooling."""

    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    pad: tuple[int, ...]
    dilate: tuple[int, ...]


def window(attrs: dict[str, Any]) -> Window:
    """The window that a step's attributes describe, with what is left out filled in."""
    kernel = tuple(attrs["kernel"])
    ones = (1,) * len(kernel)
    return Window(
        kernel,
        tuple(attrs.get("stride") or ones),
        tuple(attrs.get("pad") or (0,) * len(kernel)),
        tuple(attrs.get("dilate") or ones),
    )


def read_network(path: str) -> Network:
    """Read what `networks.describe` wrote."""
    found = json.loads(Path(path).read_text(encoding="utf-8"))
    return Network(
        found["name"],
        tuple(found["shape"]),
        found["classes"],
        found["symbol"],
        {name: tuple(shape) for name, shape in found["parameters"].items()},
        parse_steps(found["symbol"]),
        found["flops"],
        found["first_flops"],
        found["convolutions"],
    )


def parse_steps(symbol: str) -> list[Step]:
    """The operators of a symbol file, in order."""
    nodes = json.loads(symbol)["nodes"]
    uses = [0] * len(nodes)
    for node in nodes:
        for source, *_ in node["inputs"]:
            uses[source] += 1
    return [
        Step(
            node["op"],
            node["name"],
            tuple(nodes[source]["name"] for source, *_ in node["inputs"]),
            {key: _value(text) for key, text in node.get("attrs", {}).items()},
            count,
        )
        for node, count in zip(nodes, uses, strict=True)
        if node["op"] != "null"
    ]


def _value(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
