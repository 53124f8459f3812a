"""Machine code of our CUDA kernels, read without a GPU: registers, spills, accesses, instructions.

Sources are compiled by NVRTC with lines of the source, and disassembled by nvdisasm. A *loop* runs
from a label to a branch back to it; one that holds no other loop and reaches global memory is a
*pass* over elements. Loops that end at one line of the source are the same pass (the compiler's
unrolled loop, and what is left of it): the one with the fewest instructions a byte is counted. A
kernel without such a loop is one pass as a whole. Loops whose first line ends with the comment
``partial sums`` are none: what they add was stored by few threads. How many elements a pass has in
one iteration follows from the bytes that it loads or stores, and the bytes of an element in the
table of cases.

``python -m tests.kernels.cupy.sass --write`` writes the table of ceilings, ``instructions.json``.
"""

import argparse
import json
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.kernels.cupy.nvrtc import compile_source, disassemble, version

# With the dtypes that are looked at.
ARCHITECTURES = {
    "sm_90": ("float16", "bfloat16", "float32", "float64"),
    "sm_80": ("bfloat16", "float32"),
}
TABLE = Path(__file__).with_name("instructions.json")

_PARTIAL_SUMS = "// partial sums"
_SECTION = re.compile(r"\.section\s+(\S+?),")
_LABEL = re.compile(r"(\.L_x_\d+):")
_LINE = re.compile(r'//## File "[^"]*", line (\d+)')
_INSTRUCTION = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(?:@\S+\s+)?([A-Z][\w.]*)(.*?);")
_TARGET = re.compile(r"`\((\.L_x_\d+)\)")
_REGISTERS = re.compile(
    r"EIATTR_REGCOUNT.*?\.word\s+index@\((\w+)\).*?\.word\s+0x([0-9a-f]+)", re.DOTALL
)
_WIDTHS = {"U8": 8, "S8": 8, "U16": 16, "S16": 16, "64": 64, "128": 128}


class Instruction(NamedTuple):
    """An instruction: its name with all modifiers, the label it branches to, its source line."""

    name: str
    target: str
    line: int

    @property
    def bits(self) -> int:
        """Width of an access to global memory, in bits; 0 for other instructions."""
        kind, *modifiers = self.name.split(".")
        if kind not in ("LDG", "STG"):
            return 0
        return next((_WIDTHS[name] for name in modifiers if name in _WIDTHS), 32)


class Pass(NamedTuple):
    """The instructions of one loop, or of a kernel without one, and its line in the source."""

    instructions: Sequence[Instruction]
    line: int

    def nbytes(self, kind: str) -> int:
        """Return the bytes that one iteration loads ("LDG") or stores ("STG") per thread."""
        return sum(x.bits for x in self.instructions if x.name.startswith(kind)) // 8

    @property
    def all_nbytes(self) -> int:
        """Bytes that one iteration loads and stores."""
        return self.nbytes("LDG") + self.nbytes("STG")

    def widest(self, kind: str) -> int:
        """Return the width of the widest load or store, in bits."""
        return max((x.bits for x in self.instructions if x.name.startswith(kind)), default=0)


class Kernel:
    """The machine code of one kernel.

    Attributes:
        registers: Registers per thread.
        spills: Number of instructions that read or write local memory.
    """

    def __init__(self, registers: int) -> None:
        self.registers = registers
        self.instructions: list[Instruction] = []
        self.labels: dict[str, int] = {}

    @property
    def spills(self) -> int:
        """Number of instructions that read or write local memory."""
        return sum(x.name.split(".")[0] in ("LDL", "STL") for x in self.instructions)

    def loops(self) -> list[range]:
        """Return the loops that hold no other one, as ranges of instructions."""
        found = []
        for end, instruction in enumerate(self.instructions):
            start = self.labels.get(instruction.target, end)
            if instruction.name.startswith("BRA") and start < end:
                found.append(range(start, end + 1))
        return [
            loop
            for loop in found
            if not any(other != loop and other[0] in loop and other[-1] in loop for other in found)
        ]

    def passes(self, others: Collection[int] = ()) -> list[Pass]:
        """Return the passes over elements, in order of their lines, but for loops at ``others``."""
        best: dict[int, Pass] = {}
        for loop in self.loops():
            line = self.instructions[loop[-1]].line
            if line in others:
                continue
            made = Pass([self.instructions[i] for i in loop], line)
            if made.all_nbytes and (line not in best or _cost(made) < _cost(best[line])):
                best[line] = made
        if not best:
            return [Pass([x for x in self.instructions if x.name != "NOP"], 0)]
        return [best[line] for line in sorted(best)]


def _cost(found: Pass) -> float:
    return len(found.instructions) / found.all_nbytes


def parse(text: str) -> dict[str, Kernel]:
    """Return the kernels in the output of ``nvdisasm -g``."""
    registers = {name: int(count, 16) for name, count in _REGISTERS.findall(text)}
    kernels: dict[str, Kernel] = {}
    kernel, line = None, 0
    for row in text.splitlines():
        if section := _SECTION.search(row):
            name = section[1].removeprefix(".text.")
            kernel = None
            if section[1] != name:
                kernel = kernels[name] = Kernel(registers[name])
        elif kernel is None:
            continue
        elif found := _LINE.search(row):
            line = int(found[1])
        elif found := _LABEL.match(row):
            kernel.labels[found[1]] = len(kernel.instructions)
        elif found := _INSTRUCTION.search(row):
            target = _TARGET.search(found[2])
            kernel.instructions.append(Instruction(found[1], target[1] if target else "", line))
    return kernels


class Count(NamedTuple):
    """How elements are counted: the bytes that one loads ("LDG") or stores ("STG") in a pass."""

    kind: str
    nbytes: int


class Case(NamedTuple):
    """A kernel to look at.

    Attributes:
        key: Its key in the table: file, function, dtype and macros.
        text: The source.
        function: The kernel's name.
        counts: The count of each pass, in order of lines; none: instructions are not counted.
        options: Options of the compiler.
    """

    key: str
    text: str
    function: str
    counts: tuple[Count, ...]
    options: tuple[str, ...] = ()


def measure(
    kernel: Kernel, counts: Sequence[Count], others: Collection[int] = ()
) -> dict[str, Any]:
    """Return registers, spills, widest load and store in bits, and instructions per element.

    Of more passes than counts, those count that move most bytes an iteration. The instructions of
    all passes are added: an element goes through each.
    """
    found = {"registers": kernel.registers, "spills": kernel.spills}
    passes = kernel.passes(others)
    if not counts:
        return found
    passes.sort(key=lambda each: -each.all_nbytes)
    passes = sorted(passes[: len(counts)], key=lambda each: each.line)
    per_element = 0.0
    for each, count in zip(passes, counts, strict=True):
        elements = each.nbytes(count.kind) / count.nbytes
        assert elements, f"{count}: not in the pass at line {each.line}"
        per_element += len(each.instructions) / elements
    found["load_bits"] = max(each.widest("LDG") for each in passes)
    found["store_bits"] = max(each.widest("STG") for each in passes)
    return {**found, "per_element": round(per_element, 1)}


def measured(cases: Sequence[Case], architecture: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the key and the figures of each case; each source is compiled once."""
    known: dict[Any, dict[str, Kernel]] = {}
    for case in cases:
        if case.key.split(":")[2] not in ARCHITECTURES[architecture]:
            continue
        source = (case.text, case.options)
        if source not in known:
            cubin = compile_source(case.text, architecture, "-lineinfo", *case.options)
            known[source] = parse(disassemble(cubin))
        lines = enumerate(case.text.splitlines(), 1)
        others = {number for number, line in lines if line.endswith(_PARTIAL_SUMS)}
        try:
            yield case.key, measure(known[source][case.function], case.counts, others)
        except (AssertionError, ValueError) as error:
            raise AssertionError(f"{case.key} on {architecture}: {error}") from None


def _written(table: dict[str, Any]) -> str:
    """Return JSON with a line for each kernel."""
    plain = json.dumps(table["per_element"], indent=1)
    rows = ",\n".join(f'"{key}": {json.dumps(each)}' for key, each in table["kernels"].items())
    return (
        f'{{\n"nvrtc": "{table["nvrtc"]}",\n"per_element": {plain},\n'
        f'"kernels": {{\n{rows}\n}}\n}}\n'
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure all cases, and print or write the table."""
    from tests.kernels.cupy.sass_cases import cases, plain_names

    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="write instructions.json")
    parser.add_argument(
        "--only", nargs="+", default=[""], help="measure only keys with one of these texts"
    )
    options = parser.parse_args(arguments)
    every = cases()
    chosen = [case for case in every if any(text in case.key for text in options.only)]
    found: dict[str, dict[str, Any]] = {case.key: {} for case in chosen}
    for architecture in ARCHITECTURES:
        for key, figures in measured(chosen, architecture):
            found[key][architecture] = figures
    kernels = found
    if options.write and options.only != [""]:
        known = json.loads(TABLE.read_text(encoding="utf-8"))["kernels"] | found
        kernels = {case.key: known[case.key] for case in every}
    table = {"nvrtc": version(), "per_element": plain_names(kernels), "kernels": kernels}
    text = _written(table)
    if options.write:
        TABLE.write_text(text, encoding="utf-8")
    else:
        print(text)  # noqa: T201


if __name__ == "__main__":
    main()
