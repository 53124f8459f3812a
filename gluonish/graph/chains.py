"""Chains: consecutive instructions that run in one call into their library, rather than one each.

An instruction costs about 3 us in addition to its primitive; a chain costs that once. That is 3 to
4 % of MobileNet v2 in 8 bits at batch size 1 (benchmarks/cpu/chained_steps.py), and as much of a
token of GPT-2 small, whose weights push what the interpreter needs out of the processor's caches.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

from gluonish.graph.instructions import Instruction, PlannedInstruction, Values
from gluonish.ops.kernel import Attached, Joinable, Key, Mixable


class InstructionError(Exception):
    """An instruction of a chain failed while it ran by itself.

    Args:
        instruction: The instruction that failed.
        error: The exception that it raised.
    """

    def __init__(self, instruction: PlannedInstruction, error: Exception) -> None:
        super().__init__(instruction.node.name)
        self.instruction = instruction
        self.error = error


class _Named(NamedTuple):
    """The name of a chain in messages, in place of the name of a node or an operator."""

    name: str


class Chain:
    """Instructions that run in one call, after each has run by itself on the same memory.

    Args:
        instructions: Two or more consecutive instructions.
        entry: The chain's entry in the list of attached kernels.
    """

    __slots__ = ("_entry", "instructions", "node", "op")

    def __init__(self, instructions: Sequence[PlannedInstruction], entry: int) -> None:
        self.instructions = instructions
        self._entry = entry
        first, last = instructions[0], instructions[-1]
        count = len(instructions)
        self.node = _Named(f"one of {count} steps from {first.node.name} to {last.node.name}")
        self.op = _Named(f"{first.op.name} .. {last.op.name}")

    def run(self, xp: Any, values: Values, key: Key) -> None:
        """Run all instructions; one by one on memory on which they have not run before.

        Raises:
            InstructionError: An instruction that ran by itself failed.
            Exception: Instructions that ran in one call failed.
        """
        entries = values[self.instructions[0].entries]
        joined = entries[self._entry]
        if joined is not None:
            joined.run(values)
            return
        for instruction in self.instructions:
            try:
                instruction.run(xp, values, key)
            except Exception as error:
                raise InstructionError(instruction, error) from error
        entries[self._entry] = _AttachedChain([(entries[x.entry], x) for x in self.instructions])


class _AttachedChain:
    """Attached kernels, joined into one call where their library supports that."""

    __slots__ = ("_calls",)

    def __init__(self, attached: Sequence[tuple[Attached, PlannedInstruction]]) -> None:
        self._calls: list[tuple[Attached, PlannedInstruction | None]] = []
        for _, group in groupby(attached, lambda pair: _kind(pair[0])):
            members = list(group)
            kernels = [kernel for kernel, _ in members]
            first = kernels[0]
            if len(members) == 1:
                self._calls += members
            elif isinstance(first, Joinable) and len(set(map(type, kernels))) == 1:
                self._calls.append((first.joined(kernels), None))
            elif isinstance(first, Mixable) and first.is_native:
                self._calls.append((first.mixed(kernels), None))
            else:
                self._calls += members

    def run(self, values: Values) -> None:
        for call, instruction in self._calls:
            try:
                call.run(values)
            except Exception as error:
                if instruction is None:
                    raise
                raise InstructionError(instruction, error) from error


def _kind(kernel: Attached) -> object:
    """Return what kernels that can be joined have in common."""
    return True if isinstance(kernel, Mixable) and kernel.is_native else type(kernel)


def chained(instructions: Sequence[Instruction], first_entry: int) -> list[Instruction | Chain]:
    """Return a segment with chains in place of consecutive instructions of one library.

    Args:
        instructions: The instructions of the segment.
        first_entry: Entry of the first chain in the list of attached kernels.
    """
    found: list[Instruction | Chain] = []
    entry = first_entry
    for joins, group in groupby(instructions, _joins):
        members = list(group)
        if joins and len(members) > 1:
            found.append(Chain(members, entry))  # type: ignore[arg-type]  # PlannedInstructions
            entry += 1
        else:
            found += members
    return found


def unchained(runs: Sequence[Instruction | Chain]) -> list[Instruction]:
    """Return the instructions, with chains replaced by their members."""
    found: list[Instruction] = []
    for run in runs:
        found += run.instructions if isinstance(run, Chain) else [run]
    return found


def _joins(instruction: Instruction) -> bool:
    return (
        isinstance(instruction, PlannedInstruction)
        and instruction.fast is not None
        and instruction.fast.back_end.joins_calls
    )
