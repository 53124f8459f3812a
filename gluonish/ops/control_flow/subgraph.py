"""The interface of the subgraphs that control-flow operators run: their bodies.

The attribute ``subgraphs`` of a node holds its bodies. `gluonish.graph.body` implements them.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from gluonish.core.dtype import normalize_dtype
from gluonish.core.spec import PartialSpec, Shape, Spec
from gluonish.ops.registry import Attrs, V

Key = tuple[int, int]
# Runs a body on raw arrays: inputs, then results.
Step = Callable[[list[Any], Key], None]

_MASK = (1 << 64) - 1


class LoopGradient(NamedTuple):
    """The backward pass of one iteration of a loop.

    Attributes:
        body: The graph to run. Inputs: per iteration, the data, states and saved values of the
            forward iteration and the head gradients that exist; the carries, which are
            gradients of ``states`` and gradient sums of ``remain``; and the remaining inputs.
            Outputs: the gradients of ``data``, and the carries.
        data: Indices of the data inputs that have a gradient.
        states: Indices of the states that have a gradient.
        remain: Indices of the remaining inputs that have a gradient.
    """

    body: "Subgraph"
    data: tuple[int, ...]
    states: tuple[int, ...]
    remain: tuple[int, ...]


class BranchGradient(NamedTuple):
    """The backward pass of a branch.

    Attributes:
        body: Maps inputs, saved values and the existing head gradients to gradients.
        flows: Indices of the inputs that ``body`` returns gradients for.
    """

    body: "Subgraph"
    flows: tuple[int, ...]


class Subgraph(Protocol):
    """A graph that an operator runs, once or repeatedly.

    Nodes that draw random numbers or overwrite an input cannot be recomputed; their outputs are
    the graph's *saved values*.

    Attributes:
        num_saved: Number of saved values.
        mutated: Indices of the inputs that the graph overwrites.
        draws: Whether the graph draws random numbers.
        output_names: Names of the outputs, as a Symbol lists them.
    """

    num_inputs: int
    num_saved: int
    mutated: tuple[int, ...]
    draws: bool
    output_names: tuple[str, ...]

    def widened(self, more: int) -> "Subgraph":
        """Return the graph with ``more`` unused inputs appended."""
        raise NotImplementedError

    def reordered(self, order: tuple[int, ...]) -> "Subgraph":
        """Return the graph with its inputs in another order."""
        raise NotImplementedError

    def infer(self, specs: Sequence[Spec]) -> tuple[Spec, ...]:
        """Return the specs of the outputs, then of the saved values."""
        raise NotImplementedError

    def complete(self, inputs: list[PartialSpec], outputs: list[PartialSpec]) -> None:
        """Complete the partial specs of inputs and outputs in place."""

    def step(self, xp: Any, arrays: Sequence[Any], *, train: bool, keep: bool) -> tuple[Step, int]:
        """Return a function that runs the body, and the number of random keys used by each run.

        Args:
            arrays: Raw arrays with the shapes and dtypes of the inputs.
            keep: Whether to write the saved values after the outputs.
        """
        raise NotImplementedError

    def loop_gradient(
        self,
        specs: Sequence[Spec],
        counts: tuple[int, int],
        heads: Sequence[bool],
        *,
        train: bool,
    ) -> LoopGradient:
        """Return the backward pass of an iteration (inputs: data, states and remaining inputs).

        Args:
            specs: Specs of the inputs.
            counts: Number of data inputs, and of states.
            heads: Whether there is a gradient of each output other than states, of each state
                before the iteration, and of each saved value.
        """
        raise NotImplementedError

    def branch_gradient(
        self,
        specs: Sequence[Spec],
        heads: Sequence[bool],
        flows: Sequence[int] | None,
        *,
        train: bool,
    ) -> BranchGradient:
        """Return the backward pass of a branch.

        Args:
            specs: Specs of the inputs.
            heads: Whether there is a gradient of each output and each saved value.
            flows: Indices of the inputs to return gradients for, zeros for inputs without one; None
                to return only the gradients that exist.
        """
        raise NotImplementedError


def any_draws(attrs: Attrs) -> bool:
    """Return whether any body of a node draws random numbers."""
    return any(body.draws for body in attrs.get("subgraphs", ()))


def saves_values(attrs: Attrs) -> bool:
    """Return whether a node saves the values that its gradient reads."""
    return bool(attrs.get("keep", True)) and "subgraphs" in attrs


def num_visible(attrs: Attrs) -> int:
    """Return the number of outputs that the caller of a control-flow operator receives."""
    count: int = attrs["num_outputs"]
    return count


def spec_of(value: V) -> Spec:
    """Return the spec of a value in a gradient rule."""
    return Spec(value.shape, normalize_dtype(value.dtype))  # type: ignore[attr-defined]  # values with a shape have a dtype


def slice_spec(spec: Spec) -> Spec:
    """Return the spec of one iteration's slice of an array."""
    return Spec(spec.shape[1:], spec.dtype)


def stacked(length: int, specs: Sequence[Spec]) -> tuple[Spec, ...]:
    """Return the specs of the stacked outputs of ``length`` iterations."""
    return tuple(Spec((length, *spec.shape), spec.dtype) for spec in specs)


def inner_key(key: Key, count: int) -> Key:
    """Return the random key of an iteration.

    Args:
        key: The node's key.
        count: Number of keys that earlier iterations used.
    """
    # The finalizer of SplitMix64 (G. Steele, D. Lea, C. Flood: Fast splittable pseudorandom number
    # generators, 2014): nearby keys give different seeds.
    mixed = (key[0] + 0x9E3779B97F4A7C15 * (key[1] + 1)) & _MASK
    mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
    return mixed ^ (mixed >> 31), count


def drop_first(shape: Shape | None) -> Shape | None:
    """Return a partial shape without its first axis."""
    return shape[1:] if shape else None
