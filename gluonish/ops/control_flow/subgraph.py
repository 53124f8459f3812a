"""What control-flow operators ask of the graphs that they run: their bodies.

A node's bodies travel among its attributes under ``subgraphs``. They are made in a layer above,
`gluonish.graph.body`; operators know them by this interface only.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from gluonish.core.dtype import normalize_dtype
from gluonish.core.spec import PartialSpec, Shape, Spec
from gluonish.ops.registry import Attrs, V

Key = tuple[int, int]
# Runs a body on raw arrays of its inputs and results.
Step = Callable[[list[Any], Key], None]

_MASK = (1 << 64) - 1


class LoopGradient(NamedTuple):
    """One step back through a loop's body.

    Attributes:
        body: Reads, for each iteration: data, states and kept values of the forward step, and the
            heads that are there; carries: gradients of the states in ``states``, and sums for the
            remaining inputs in ``remain``; then the remaining inputs. It gives gradients of the
            inputs in ``data``, and the carries.
        data: Positions among the data of those with a gradient.
        states: Positions among the states of those that have gradients.
        remain: Positions among the remaining inputs of those with a gradient.
    """

    body: "Subgraph"
    data: tuple[int, ...]
    states: tuple[int, ...]
    remain: tuple[int, ...]


class BranchGradient(NamedTuple):
    """The way back through a branch.

    Attributes:
        body: Reads inputs, kept values, and the heads that are there; gives gradients.
        flows: Positions of the inputs that it gives a gradient of.
    """

    body: "Subgraph"
    flows: tuple[int, ...]


class Subgraph(Protocol):
    """A graph that an operator runs, once or often.

    Some of its nodes cannot be computed again, because they draw random numbers or overwrite an
    input; what they compute are its *kept values*.

    Attributes:
        num_inputs: How many inputs it has.
        num_kept: How many kept values.
        mutated: Positions of the inputs that it overwrites.
        draws: Whether it draws random numbers.
        output_names: Names of the outputs, as a Symbol lists them.
    """

    num_inputs: int
    num_kept: int
    mutated: tuple[int, ...]
    draws: bool
    output_names: tuple[str, ...]

    def widened(self, more: int) -> "Subgraph":
        """Return the graph with so many further inputs, which nothing reads."""
        raise NotImplementedError

    def reordered(self, order: tuple[int, ...]) -> "Subgraph":
        """Return the graph with its inputs in another order."""
        raise NotImplementedError

    def infer(self, specs: Sequence[Spec]) -> tuple[Spec, ...]:
        """Return the specs of the outputs, then of the kept values."""
        raise NotImplementedError

    def complete(self, inputs: list[PartialSpec], outputs: list[PartialSpec]) -> None:
        """Fill in what is known of inputs and outputs from what is known of the others."""

    def step(self, xp: Any, arrays: Sequence[Any], *, train: bool, keep: bool) -> tuple[Step, int]:
        """Return what runs the body, and how many random keys each run uses.

        Args:
            arrays: Raw arrays like its inputs.
            keep: Whether kept values are wanted, behind the outputs.
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
        """Return the step back, for a body that reads data, states and remaining inputs.

        Args:
            specs: What the inputs are.
            counts: How many are data, and how many states.
            heads: Whether there is a gradient of each output that is no state, each state that
                an iteration started from, and each kept value.
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
        """Return the way back.

        Args:
            specs: What the inputs are.
            heads: Whether there is a gradient of each output and each kept value.
            flows: Positions of the inputs that it gives a gradient of, zero where none flows; None
                for those where one does.
        """
        raise NotImplementedError


def any_draws(attrs: Attrs) -> bool:
    """Whether a body of a node draws random numbers."""
    return any(body.draws for body in attrs.get("subgraphs", ()))


def keeps(attrs: Attrs) -> bool:
    """Whether a node keeps what its gradient reads."""
    return bool(attrs.get("keep", True)) and "subgraphs" in attrs


def num_visible(attrs: Attrs) -> int:
    """Return how many outputs a caller of control flow sees."""
    count: int = attrs["num_outputs"]
    return count


def spec_of(value: V) -> Spec:
    """Return the spec of a value in a gradient rule."""
    return Spec(value.shape, normalize_dtype(value.dtype))  # type: ignore[attr-defined]  # all that have a shape have a dtype


def slice_spec(spec: Spec) -> Spec:
    """Return what one iteration reads of an array that is cut along its first axis."""
    return Spec(spec.shape[1:], spec.dtype)


def stacked(length: int, specs: Sequence[Spec]) -> tuple[Spec, ...]:
    """Return the specs of arrays that hold what each iteration gives."""
    return tuple(Spec((length, *spec.shape), spec.dtype) for spec in specs)


def inner_key(key: Key, count: int) -> Key:
    """Return where the random numbers of an iteration start, from the key of its node.

    Args:
        key: The node's key.
        count: How many keys the iterations before have used.
    """
    # The finalizer of SplitMix64 (G. Steele, D. Lea, C. Flood: Fast splittable pseudorandom number
    # generators, 2014): a seed that no key nearby shares.
    mixed = (key[0] + 0x9E3779B97F4A7C15 * (key[1] + 1)) & _MASK
    mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
    return mixed ^ (mixed >> 31), count


def drop_first(shape: Shape | None) -> Shape | None:
    """Return a partly known shape without its first axis."""
    return shape[1:] if shape else None
