"""The subcommand ``check``: reads sources and prints a line for each finding.

Includes the advice on names of MXNet that gluonish lacks or that behave differently.
"""

import argparse
import ast
import difflib
import tokenize
import warnings
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from gluonish.core.errors import GluonishError, MissingFileError
from gluonish.core.loading import load
from gluonish.mxnet_names import numpy1
from gluonish.mxnet_names.imported_modules import imported_modules
from gluonish.ops.registry import absent_names
from gluonish.tools.check.uses import uses_of
from gluonish.tools.json_output import add_json_option, write_json
from gluonish.tools.table import terminal_width, wrapped

# Names that behave differently from MXNet 1.9.1, with advice; docs/differences.md has the rest.
DIFFERENT = {
    "gluon.nn.BatchNorm": "updates its running statistics in the training forward pass, not in the "
    "backward pass; read them after the step",
    "random.seed": "makes runs repeatable, with other numbers than MXNet's: compare distributions",
    "optimizer.Nadam": "keeps several devices equal, where MXNet's drift apart",
    "optimizer.LARS": "corrects the momentum of all weights when the rate changes, not of the "
    "first four of a step",
    "optimizer.LBSGD": "adds up the gradients of a large batch, where MXNet keeps the last",
    "optimizer.DCASGD": "takes momentum, where MXNet fails",
    "io.ImageRecordIter": "has its batches in host memory for any ctx, and other random "
    "crops of the same distribution",
    "library.load": "loads Python modules; libraries compiled for MXNet do not fit: port them to "
    "mx.operator.CustomOp",
    "rtc.CudaModule": "needs a GPU and CuPy",
    "profiler.dump": "writes times of launches on a GPU's stream, not of the device's end",
}


def advice_on(name: str) -> tuple[str, str] | None:
    """Return ``missing`` or ``differs`` and the advice on a dotted name; None without advice.

    Modules of gluonish are imported for this; the checked program is not.

    Args:
        name: A name of MXNet, such as ``mxnet.nd.array``, or of NumPy.
    """
    package, _, rest = name.partition(".")
    if package == "numpy":
        return _on_numpy(rest)
    found: Any = load("gluonish")
    path = "gluonish"
    for part in rest.split(".") if rest else ():
        inner = _member(found, part)
        if inner is None:
            return "missing", _instead(found, path, part, package)
        found, path = inner[0], f"{path}.{part}"
        if not isinstance(found, ModuleType | type):
            break
    reason = absent_names().get(_registered(path))
    if reason is not None and callable(found):
        return "missing", reason
    doc = str(getattr(found, "__doc__", None) or "")
    if callable(found) and doc.startswith(_UNSUPPORTED):
        return "missing", doc.partition("\n\n")[0].removeprefix(_UNSUPPORTED)
    return _different().get(id(found))


def _member(owner: Any, name: str) -> tuple[Any] | None:
    """Return an attribute, or a submodule, which is imported; None if there is neither."""
    try:
        return (getattr(owner, name),)
    except (AttributeError, GluonishError):
        pass
    if not isinstance(owner, ModuleType):
        return None
    shown = imported_modules().get(owner.__name__, {})
    try:
        return (load(shown.get(name, f"{owner.__name__}.{name}")),)
    except ImportError:
        return None


def _instead(owner: Any, path: str, name: str, package: str) -> str:
    shown = path.replace("gluonish", package, 1)
    near = difflib.get_close_matches(name, dir(owner), 1)
    hint = f"; did you mean {shown}.{near[0]}?" if near else ""
    return f"{shown} has no {name}{hint}"


def _registered(path: str) -> str:
    """Return the registry's name of a function in ``nd`` or ``sym``, or in their submodules."""
    parts = path.split(".")[1:]
    if not parts or parts[0] not in ("nd", "ndarray", "sym", "symbol"):
        return ""
    inner = parts[1] if len(parts) > 2 else ""
    return f"_{inner}_{parts[-1]}" if inner in ("contrib", "image", "linalg") else parts[-1]


@cache
def _different() -> dict[int, tuple[str, str]]:
    """Return the advice in `DIFFERENT` by the ``id`` of each object, so that aliases are found."""
    found = {}
    for name, text in DIFFERENT.items():
        value: Any = load("gluonish")
        for part in name.split("."):
            inner = _member(value, part)
            value = None if inner is None else inner[0]
        if value is not None:
            found[id(value)] = ("differs", text)
    return found


def _on_numpy(rest: str) -> tuple[str, str] | None:
    if rest.partition(".")[0] not in numpy1.removed_names():
        return None
    return "missing", "NumPy 2 removed it: `gluonish run --numpy1` restores it"


_UNSUPPORTED = "Not supported: "  # begins the docstring of a function that raises an error
_PACKAGES = ("mxnet", "gluonish", "numpy")
_advice = cache(advice_on)


def add_parser(parsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``check`` to the subcommands of ``gluonish``."""
    parser = parsers.add_parser(
        "check",
        help="list MXNet names in a program that are missing here or behave differently",
        description="Read Python sources that import mxnet or gluonish, without running them, and "
        "list by file and line the names of MXNet that are missing here or behave differently, "
        "with advice, and names that NumPy 2 removed. Exits with 1 if something is missing or "
        "cannot be read.",
    )
    parser.add_argument("paths", nargs="+", metavar="PATH", help="a source, or a folder of them")
    add_json_option(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the findings; return 1 if a name is missing or a file is unreadable, else 0.

    Raises:
        MissingFileError: A file or folder does not exist.
    """
    files = list(_sources(arguments.paths))
    counts = {"missing": 0, "differs": 0, "unreadable": 0}
    found = []
    width = terminal_width()
    for file in files:
        for line, kind, text in _findings(file):
            counts[kind] += 1
            found.append({"file": file, "line": line, "kind": kind, "text": text})
            if not arguments.json:
                print(wrapped(f"{file}:{line}: {text}", width, "    "))
    status = 1 if counts["missing"] or counts["unreadable"] else 0
    if arguments.json:
        write_json({"files": len(files), **counts, "findings": found})
        return status
    summary = ", ".join(f"{number} {kind}" for kind, number in counts.items() if number)
    print(f"{len(files)} {'file' if len(files) == 1 else 'files'}: {summary or 'nothing found'}")
    return status


def _sources(paths: Sequence[str]) -> Iterator[Path]:
    for path in map(Path, paths):
        if path.is_dir():
            inside = sorted(path.rglob("*.py"))
            hidden = (
                any(part.startswith(".") for part in p.relative_to(path).parts) for p in inside
            )
            yield from (p for p, is_hidden in zip(inside, hidden, strict=True) if not is_hidden)
        elif path.is_file():
            yield path
        else:
            raise MissingFileError(f"check: expected a file or a folder, got {str(path)!r}")


def _findings(file: Path) -> Iterator[tuple[int, str, str]]:
    """Yield line, kind and text of each finding in a source."""
    try:
        with tokenize.open(file) as opened, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings about the program's own literals
            tree = ast.parse(opened.read(), str(file))
    except (SyntaxError, UnicodeDecodeError, ValueError) as error:
        line = getattr(error, "lineno", None) or 1
        yield line, "unreadable", f"not valid for this Python: {getattr(error, 'msg', error)}"
        return
    for use in uses_of(tree, _PACKAGES):
        advice = _advice(use.name)
        if advice is not None:
            kind, text = advice
            word = "is missing" if kind == "missing" else "differs"
            yield use.line, kind, f"{use.name} {word}: {text}"
