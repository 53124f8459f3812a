"""``gluonish where``: in which files and lines an operator is written."""

import argparse
import inspect
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from gluonish.core.errors import ArgumentError, nearest
from gluonish.core.loading import load
from gluonish.ops.kernel import FastKernel
from gluonish.ops.registry import Operator, all_names, find_operator

_ROOT = Path(__file__).resolve().parents[2]
_WIDTH = 14  # of the words before the places

# Namespaces of public functions, and what the registry may put before their names.
_FACES = {
    "nd": ("", "_"),
    "nd.contrib": ("_contrib_",),
    "nd.image": ("_image_",),
    "nd.linalg": ("_linalg_",),
    "nd.random": ("_random_", "_sample_"),
    "nd.sparse": ("_sparse_", ""),
    "np": ("_npi_", "_np_"),
    "np.linalg": ("_npi_", "_linalg_"),
    "np.random": ("_npi_random_", "_npi_", "_random_"),
    "npx": ("_npx_", ""),
    "npx.image": ("_npx__image_", "_image_"),
    "sym": ("", "_"),
}


def place(thing: Any) -> str:
    """Return the file and line where a function, or what is called like one, is written.

    Args:
        thing: A function, method or class, a `functools.partial` of one, or an object whose class
            has ``__call__``.
    """
    while isinstance(thing, partial):
        thing = thing.func
    thing = inspect.unwrap(thing) if callable(thing) else thing
    if not (inspect.isroutine(thing) or inspect.isclass(thing)):
        thing = type(thing)
    try:
        return _shown(inspect.getsourcefile(thing), inspect.getsourcelines(thing)[1])
    except (OSError, TypeError):
        return "written in no Python file"


def _shown(file: str | None, line: int) -> str:
    path = Path(file or "").resolve()
    name = path.relative_to(_ROOT) if path.is_relative_to(_ROOT) else path
    return f"{name}:{line}"


def faces(op: Operator) -> Iterator[tuple[str, str]]:
    """Yield the public functions of an operator, each with where it is written.

    Those that are made from the registry are written nowhere; their place is empty.
    """
    for face, prefixes in _FACES.items():
        module = _reached(face)
        names = {
            name.removeprefix(prefix)
            for name in (op.name, *op.aliases)
            for prefix in prefixes
            if name.startswith(prefix)
        }
        for name in sorted(name for name in names if name and not name.startswith("_")):
            function = getattr(module, name, None)
            if not callable(function) or (face.startswith("nd") and not _is_of(function, op)):
                continue
            yield f"mx.{face}.{name}", "" if _is_of(function, op) else place(function)


def _is_of(function: Callable[..., Any], op: Operator) -> bool:
    """Whether a function was made from an operator."""
    return getattr(function, "operator", None) is op


def describe(name: str) -> str:
    """Return what is known of an operator, a line each.

    Args:
        name: Its name or alias in the registry, or that of a function: ``"nd.softmax"``,
            ``"mx.np.argmax"``.

    Raises:
        ArgumentError: There is no such operator and no such function.
    """
    op = _found(name)
    if isinstance(op, str):
        return op
    lines = [op.name]
    if op.aliases:
        lines.append(_line("aliases", ", ".join(op.aliases)))
    lines.append(_line("registered", _shown(*op.source)))
    lines.append(_line("shapes", place(op.infer)))
    lines.append(_line("kernel", place(op.kernel)))
    lines.append(_line("gradient", "none" if op.gradient is None else place(op.gradient)))
    for i, fast in enumerate(op.fast_kernels):
        lines.append(_line("" if i else "fast kernels", f"{fast.name:28} {_place_of(fast)}"))
    for i, (face, where) in enumerate(faces(op)):
        lines.append(_line("" if i else "called", f"{face:28} {where}".rstrip()))
    return "\n".join(lines)


def _place_of(fast: FastKernel) -> str:
    return place(fast.plan if fast.run is None else fast.run)


def _line(word: str, text: str) -> str:
    return f"  {word:{_WIDTH}}{text}"


def _found(name: str) -> Operator | str:
    """Return the operator of a name, or a line about a function that is none."""
    if name in all_names():
        return find_operator(name)
    path = name.removeprefix("gluonish.").removeprefix("mxnet.").removeprefix("mx.")
    found = _reached(path)
    if found is None or not callable(found):
        raise ArgumentError(
            f"where: expected an operator or a function, got {name!r}"
            f"{nearest(path.rpartition('.')[2], all_names())}"
        )
    made_from: Operator | None = getattr(found, "operator", None)
    if isinstance(made_from, Operator):
        return made_from
    return f"{name}\n{_line('written', place(found))}"


def _reached(path: str) -> Any:
    """Return what stands at a path of names in the package; None for nothing."""
    found: Any = load("gluonish")
    for part in path.split("."):
        found = getattr(found, part, None)
    return found


def add_parser(parsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``where`` to the subcommands of ``gluonish``."""
    parser = parsers.add_parser(
        "where",
        help="print the files and lines where operators are defined",
        description="Print where an operator is registered, where its shapes, its kernel and its "
        "gradient are written, its fast kernels with the preferred ones first, its aliases, and "
        "the functions that call it.",
    )
    parser.add_argument("names", nargs="+", metavar="NAME", help="softmax, _npi_add, mx.np.argmax")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print what there is to say of each name."""
    print("\n\n".join(map(describe, arguments.names)))
    return 0
