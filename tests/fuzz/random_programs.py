"""Random programs of a user's: a block of 5 to 30 operators, its parameters and its inputs.

A program is data, a list of steps on numbered values, so that one block runs it with arrays and
with Symbols, in every dtype. Its operators are smooth or have kinks that random numbers miss, and
keep the size of what goes through them; no step draws random numbers.
"""

import random
from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.ndarray import array

Shape = tuple[int, ...]
# What computes a step: ``compute(F, *arguments)``.
Compute = Callable[..., Any]


class Step(NamedTuple):
    """One operator: its name for messages, what computes it, values and parameters it takes."""

    name: str
    compute: Compute
    sources: Sequence[int]
    parameters: Sequence[str]


class Program(NamedTuple):
    """A program.

    Attributes:
        seed: What it was drawn with.
        inputs: Shapes of its inputs, which are values 0, 1 ...
        parameters: Shapes of its parameters, by name.
        steps: Each makes one more value.
        outputs: Numbers of the values that are returned.
    """

    seed: int
    inputs: Sequence[Shape]
    parameters: dict[str, Shape]
    steps: Sequence[Step]
    outputs: Sequence[int]

    def __str__(self) -> str:
        first = len(self.inputs)
        lines = [f"seed {self.seed}, inputs {self.inputs}, outputs {self.outputs}"]
        for i, step in enumerate(self.steps):
            lines.append(f"%{first + i} = {step.name} {step.sources} {step.parameters}")
        return "\n".join(lines)

    def live_parameters(self) -> set[str]:
        """Return the parameters that an output depends on; others are in no graph."""
        needed, found = set(self.outputs), set[str]()
        for number in reversed(range(len(self.inputs), len(self.inputs) + len(self.steps))):
            step = self.steps[number - len(self.inputs)]
            if number in needed:
                needed.update(step.sources)
                found.update(step.parameters)
        return found

    def data(self, call: int, dtype: Any) -> list[np.ndarray[Any, Any]]:
        """Return the inputs of one of several calls."""
        numbers = np.random.default_rng([self.seed, call])
        return [numbers.standard_normal(shape).astype(dtype) for shape in self.inputs]


class RandomBlock(HybridBlock):
    """Runs a program."""

    def __init__(self, program: Program, dtype: Any) -> None:
        super().__init__()
        self.program = program
        numbers = np.random.default_rng(program.seed)
        with self.name_scope():
            for name, shape in program.parameters.items():
                auxiliary = name.endswith(("mean", "variance"))
                # Batch normalization of numbers of 16 bits has parameters of 32.
                own = np.promote_types(dtype, np.float32) if "batch_norm" in name else dtype
                parameter = self.params.get(
                    name,
                    shape=shape,
                    dtype=own,
                    grad_req="null" if auxiliary else "write",
                    differentiable=not auxiliary,
                )
                parameter.initialize()
                parameter.set_data(array(_weights(numbers, name, shape), dtype=own))
                setattr(self, name, parameter)

    def hybrid_forward(self, F: Any, *inputs: Any, **parameters: Any) -> Any:
        """Compute the outputs."""
        values = list(inputs)
        for step in self.program.steps:
            given = [values[i] for i in step.sources]
            values.append(step.compute(F, *given, *[parameters[name] for name in step.parameters]))
        return [values[i] for i in self.program.outputs]


def _weights(numbers: np.random.Generator, name: str, shape: Shape) -> np.ndarray[Any, Any]:
    if name.endswith(("gamma", "variance")):
        return numbers.uniform(0.5, 1.5, shape)
    return numbers.standard_normal(shape) / np.sqrt(max(1, prod(shape[1:])))


class _Writer:
    """A program in the making; each method adds a step, or returns False where none fits."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.parameters: dict[str, Shape] = {}
        self.steps: list[Step] = []
        batch = self.draw.choice((1, 2, 3))
        channels, side = self.draw.choice((2, 3, 4, 8)), self.draw.choice((4, 5, 7))
        wide: list[Shape] = [(batch, channels, side, side), (batch, self.draw.choice((3, 6, 16)))]
        self.inputs = wide[: self.draw.choice((1, 2))]
        self.shapes = list(self.inputs)

    def pick(self, rank: int | None = None) -> int | None:
        """Return a value, rather a late one, of so many axes."""
        fitting = [i for i, s in enumerate(self.shapes) if rank is None or len(s) == rank]
        if not fitting:
            return None
        return fitting[max(self.draw.randrange(len(fitting)), self.draw.randrange(len(fitting)))]

    def parameter(self, kind: str, *shape: int) -> str:
        name = f"p{len(self.parameters)}_{kind}"
        self.parameters[name] = shape
        return name

    def add(
        self,
        name: str,
        shape: Shape,
        compute: Compute,
        sources: Sequence[int],
        parameters: Sequence[str] = (),
    ) -> None:
        self.steps.append(Step(name, compute, sources, parameters))
        self.shapes.append(shape)

    def pointwise(self) -> None:
        i = self.pick()
        assert i is not None
        name = self.draw.choice([*_POINTWISE])
        self.add(name, self.shapes[i], _POINTWISE[name], [i])

    def pair(self) -> None:
        i = self.pick()
        assert i is not None
        shape = self.shapes[i]
        alike = [
            j
            for j, other in enumerate(self.shapes)
            if len(other) == len(shape)
            and all(a in (1, b) for a, b in zip(other, shape, strict=True))
        ]
        name = self.draw.choice([*_PAIRS])
        self.add(name, shape, _PAIRS[name], [i, self.draw.choice(alike)])

    def moved(self) -> None:
        i = self.pick()
        assert i is not None
        shape = self.shapes[i]
        axis = self.draw.randrange(len(shape))
        n = shape[axis]
        name = self.draw.choice(
            ("flip", "concat", "slice", "split", "sum", "mean", "swap", "flat", "repeat", "stack")
        )
        before, after = shape[:axis], shape[axis + 1 :]
        if name == "flip":
            self.add(name, shape, lambda F, x: F.flip(x, axis=axis), [i])
        elif name == "concat" and prod(shape) < 4000:
            self.add(name, (*before, 2 * n, *after), lambda F, x: F.concat(x, -x, dim=axis), [i])
        elif name == "slice" and n > 1:
            made = (*before, n - 1, *after)
            self.add(name, made, lambda F, x: F.slice_axis(x, axis=axis, begin=1, end=None), [i])
        elif name == "split" and n % 2 == 0:
            made = (*before, n // 2, *after)
            self.add(name, made, lambda F, x: F.split(x, num_outputs=2, axis=axis)[1] * 1.5, [i])
        elif name in ("sum", "mean"):
            scale = n**-0.5 if name == "sum" else 1.0
            made = (*before, 1, *after)
            reduced = "sum" if name == "sum" else "mean"
            self.add(
                name,
                made,
                lambda F, x: getattr(F, reduced)(x, axis=axis, keepdims=True) * scale,
                [i],
            )
        elif name == "swap" and len(shape) > 1:
            order = (*range(1, len(shape)), 0)
            made = tuple(shape[k] for k in order)
            self.add(name, made, lambda F, x: F.transpose(x, axes=order), [i])
        elif name == "flat":
            self.add(name, (shape[0], prod(shape[1:])), lambda F, x: F.flatten(x), [i])
        elif name == "repeat" and prod(shape) < 4000:
            self.add(name, (*before, 2 * n, *after), lambda F, x: F.repeat(x, 2, axis=axis), [i])
        elif name == "stack" and len(shape) < 4 and prod(shape) < 4000:
            made = (*before, 2, n, *after)
            self.add(name, made, lambda F, x: F.stack(x, x * x, axis=axis), [i])

    def layer(self) -> None:
        i = self.pick(4)
        if i is None:
            return
        channels = self.shapes[i][1]
        height, width = self.shapes[i][2:]
        name = self.draw.choice(("conv", "conv", "batch_norm", "pool", "bias", "group_norm", "up"))
        if name == "conv":
            self.convolution(i)
        elif name == "batch_norm":
            kinds = ("gamma", "beta", "mean", "variance")
            names = [self.parameter(f"batch_norm_{kind}", channels) for kind in kinds]
            fixed = self.draw.random() < 0.3
            self.add(
                name,
                self.shapes[i],
                lambda F, x, *p: F.BatchNorm(x, *p, fix_gamma=fixed, eps=0.1),
                [i],
                names,
            )
        elif name == "pool":
            kind = self.draw.choice(("max", "avg"))
            self.add(
                f"{kind}_pool",
                self.shapes[i],
                lambda F, x: F.Pooling(x, kernel=(3, 3), pad=(1, 1), pool_type=kind),
                [i],
            )
        elif name == "bias":
            bias = self.parameter("bias", 1, channels, 1, 1)
            self.add(name, self.shapes[i], lambda F, x, b: F.broadcast_add(x, b), [i], [bias])
        elif name == "group_norm" and height * width > 1:
            names = [self.parameter(kind, channels) for kind in ("gamma", "beta")]
            self.add(
                "instance_norm",
                self.shapes[i],
                lambda F, x, g, b: F.InstanceNorm(x, g, b, eps=0.1),
                [i],
                names,
            )
        elif name == "up" and prod(self.shapes[i]) < 2000:
            made = (*self.shapes[i][:2], 2 * height, 2 * width)
            self.add(name, made, lambda F, x: F.UpSampling(x, scale=2, sample_type="nearest"), [i])

    def convolution(self, i: int) -> None:
        batch, channels, height, width = self.shapes[i]
        groups = 2 if channels % 2 == 0 and self.draw.random() < 0.3 else 1
        filters, k = 2 * self.draw.choice((1, 2, 4)), self.draw.choice((1, 3))
        stride = self.draw.choice((1, 1, 2))
        options = {
            "kernel": (k, k),
            "pad": (k // 2, k // 2),
            "stride": (stride, stride),
            "num_filter": filters,
            "num_group": groups,
        }
        made = (batch, filters, -(-height // stride), -(-width // stride))
        names = [self.parameter("weight", filters, channels // groups, k, k)]
        if self.draw.random() < 0.5:
            names.append(self.parameter("bias", filters))
        plain = len(names) == 1
        self.add(
            f"conv{options}",
            made,
            lambda F, x, *p: F.Convolution(x, *p, no_bias=plain, **options),
            [i],
            names,
        )

    def dense(self) -> None:
        i = self.pick(2)
        if i is None:
            return
        rows, columns = self.shapes[i]
        name = self.draw.choice(("dense", "dense", "layer_norm", "softmax", "dot", "gram"))
        if name == "dense":
            units = self.draw.choice((1, 4, 10))
            names = [self.parameter("weight", units, columns), self.parameter("bias", units)]
            self.add(
                name,
                (rows, units),
                lambda F, x, w, b: F.FullyConnected(x, w, b, num_hidden=units),
                [i],
                names,
            )
        elif name == "layer_norm" and columns > 2:
            names = [self.parameter(kind, columns) for kind in ("gamma", "beta")]
            self.add(
                name,
                self.shapes[i],
                lambda F, x, g, b: F.LayerNorm(x, g, b, eps=0.1),
                [i],
                names,
            )
        elif name == "softmax":
            self.add(name, self.shapes[i], lambda F, x: F.softmax(x, axis=-1), [i])
        elif name == "dot":
            weight = self.parameter("weight", 5, columns)
            self.add(
                name,
                (rows, 5),
                lambda F, x, w: F.dot(x, w, transpose_b=True),
                [i],
                [weight],
            )
        elif name == "gram":
            scale = columns**-0.5
            self.add(
                name,
                (rows, rows),
                lambda F, x: F.dot(x * scale, x * scale, transpose_b=True),
                [i],
            )


_POINTWISE: dict[str, Compute] = {
    "relu": lambda F, x: F.relu(x),
    "tanh": lambda F, x: F.tanh(x),
    "sigmoid": lambda F, x: F.sigmoid(x),
    "softrelu": lambda F, x: F.Activation(x, act_type="softrelu"),
    "leaky": lambda F, x: F.LeakyReLU(x, act_type="leaky", slope=0.2),
    "gelu": lambda F, x: F.LeakyReLU(x, act_type="gelu"),
    "sin": lambda F, x: F.sin(x),
    "square": lambda F, x: F.square(F.tanh(x)),
    "root": lambda F, x: F.sqrt(F.abs(x) + 0.5),
    "exp": lambda F, x: F.exp(-F.abs(x)),
    "clip": lambda F, x: F.clip(x, -1.25, 1.75),
    "scale": lambda F, x: 1.0 - 0.5 * x,
    "inverse": lambda F, x: 1.0 / (1.5 + F.square(x)),
    "twice": lambda F, x: x + x,
    "identity": lambda F, x: F.identity(x),
    "blocked": lambda F, x: x * F.BlockGrad(F.sigmoid(x)),
    "erf": lambda F, x: F.erf(x),
}
_PAIRS: dict[str, Compute] = {
    "add": lambda F, x, y: F.broadcast_add(x, y) * 0.7,
    "sub": lambda F, x, y: F.broadcast_sub(x, 0.6 * y) * 0.7,
    "mul": lambda F, x, y: F.broadcast_mul(x, F.tanh(y)),
    "maximum": lambda F, x, y: F.broadcast_maximum(x, y * 0.9 + 0.01),
    "div": lambda F, x, y: F.broadcast_div(x, 1.5 + F.square(y)),
    "hypot": lambda F, x, y: F.sqrt(F.broadcast_add(F.square(x), F.square(y)) + 0.1),
}


def random_program(seed: int) -> Program:
    """Return a program of 5 to 30 operators."""
    writer = _Writer(seed)
    wanted = writer.draw.randint(5, 30)
    kinds = [writer.pointwise, writer.pair, writer.moved, writer.layer, writer.layer, writer.dense]
    while len(writer.steps) < wanted:
        writer.draw.choice(kinds)()
    count = len(writer.shapes)
    others = [writer.draw.randrange(count) for _ in range(writer.draw.randrange(3))]
    outputs = list(dict.fromkeys([count - 1, *others]))
    return Program(seed, writer.inputs, writer.parameters, writer.steps, outputs)
