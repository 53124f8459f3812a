"""The runner of the benchmarks on the CPU.

    python -m benchmarks.cpu                              # what there is
    python -m benchmarks.cpu NAME [its options]           # run one; --help says what it takes
    python -m benchmarks.cpu NAME --page FILE.md [..]     # and write what it prints as a page

A page has the date, the machine, the command and what was printed. It is written when the benchmark
ends, or is interrupted.
"""

import ast
import datetime
import importlib
import io
import sys
from pathlib import Path
from typing import TextIO

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "engine")]

from benchmarks.interleaved.report import machine  # noqa: E402  # below the path

HELPERS = ("image_recipe_torch", "scaling_model", "scaling_rank", "tutorial_networks")


def names() -> list[str]:
    """Return the names of the benchmarks."""
    found = sorted(path.stem for path in FOLDER.glob("*.py"))
    return [name for name in found if not name.startswith("_") and name not in HELPERS]


def listing() -> str:
    """Return the names, each with the first line of its docstring."""
    lines = []
    for name in names():
        doc = ast.get_docstring(ast.parse((FOLDER / f"{name}.py").read_text("utf-8"))) or ""
        lines.append(f"{name:20} {doc.splitlines()[0]}")
    return "\n".join(lines)


def page(name: str, words: list[str], text: str) -> str:
    """Return a page of results."""
    found = machine()
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    where = f"{found['processor']}, {found['cpus']} CPUs ({', '.join(found['instructions'])})"
    return (
        f"# {name}\n\n{today}; {where}, {found['memory_gb']} GB; {found['system']}, "
        f"Python {found['python']}\n\n    $ python -m benchmarks.cpu {' '.join([name, *words])}\n\n"
        f"```text\n{text.strip()}\n```\n"
    )


class Tee(io.TextIOBase):
    """Writes to a stream, and remembers what was written."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.text = ""

    def write(self, text: str) -> int:
        """Write a text."""
        self.text += text
        return self._stream.write(text)

    def flush(self) -> None:
        """Flush the stream."""
        self._stream.flush()


def main() -> None:
    """Run the benchmark that the command line names."""
    words = sys.argv[1:]
    if not words or words[0] not in names():
        asked = bool(words) and words[0] not in ("-h", "--help")
        print(f"{__doc__}\n{listing()}", file=sys.stderr if asked else sys.stdout)
        sys.exit(2 if asked else 0)
    name, *words = words
    file = None
    if "--page" in words:
        at = words.index("--page")
        file = Path(words[at + 1]) if words[at + 1 :] else sys.exit("--page: expected a file")
        del words[at : at + 2]
    sys.argv = [f"python -m benchmarks.cpu {name}", *words]
    run = importlib.import_module(f"benchmarks.cpu.{name}").main
    if file is None:
        run()
        return
    sys.stdout = tee = Tee(sys.stdout)
    try:
        run()
    finally:
        sys.stdout = tee._stream
        file.write_text(page(name, words, tee.text), "utf-8")


if __name__ == "__main__":
    main()
