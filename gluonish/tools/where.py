"""``gluonish where``: the files and lines where an operator, class or function is defined."""

import argparse
import inspect
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, cast

from gluonish.core.errors import ArgumentError, nearest
from gluonish.core.loading import load
from gluonish.ops.kernel import FastKernel
from gluonish.ops.registry import Operator, all_names, find_operator
from gluonish.tools.json_output import add_json_option, write_json

_ROOT = Path(__file__).resolve().parents[2]
_WIDTH = 14  # width of the labels

# Where a name without a namespace is looked for: `Dense`, `Adam`, `Accuracy`.
_CLASSES = (
    *("gluon.nn", "gluon", "gluon.rnn", "gluon.loss", "gluon.data", "gluon.data.vision"),
    *("gluon.data.vision.transforms", "optimizer", "lr_scheduler", "initializer", "metric"),
    *("io", "image", "kvstore", "recordio", "autograd", "model_zoo", "gluon.model_zoo.vision"),
    *("gluon.contrib.nn", "gluon.contrib.rnn", "gluon.contrib.estimator", "module", "nd", "np"),
)

# Namespaces of public functions, and the prefixes of their names in the registry.
_NAMESPACES = {
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


def location(function: Any) -> str:
    """Return the file and line where a function is defined.

    Args:
        function: A function, method or class, a `functools.partial` of one, or an object whose
            class has ``__call__``.
    """
    while isinstance(function, partial):
        function = function.func
    function = inspect.unwrap(function) if callable(function) else function
    if not (inspect.isroutine(function) or inspect.isclass(function)):
        function = type(function)
    try:
        return _shown(inspect.getsourcefile(function), inspect.getsourcelines(function)[1])
    except (OSError, TypeError):
        return "not defined in a Python file"


def _shown(file: str | None, line: int) -> str:
    path = Path(file or "").resolve()
    name = path.relative_to(_ROOT) if path.is_relative_to(_ROOT) else path
    return f"{name}:{line}"


def public_functions(op: Operator) -> Iterator[tuple[str, str]]:
    """Yield the public functions of an operator with their locations.

    Functions that are generated from the registry have an empty location.
    """
    for namespace, prefixes in _NAMESPACES.items():
        module = _resolve(namespace)
        names = {
            name.removeprefix(prefix)
            for name in (op.name, *op.aliases)
            for prefix in prefixes
            if name.startswith(prefix)
        }
        for name in sorted(name for name in names if name and not name.startswith("_")):
            function = getattr(module, name, None)
            if not callable(function) or (namespace.startswith("nd") and not _is_of(function, op)):
                continue
            yield f"mx.{namespace}.{name}", "" if _is_of(function, op) else location(function)


def _is_of(function: Callable[..., Any], op: Operator) -> bool:
    """Whether a function was generated from an operator."""
    return getattr(function, "operator", None) is op


def describe(name: str) -> str:
    """Return the description of an operator, with a line for each property.

    Args:
        name: Name or alias in the registry, or the name of a function or class: ``"nd.softmax"``,
            ``"mx.np.argmax"``, ``"Dense"``.

    Raises:
        ArgumentError: There is no such operator or function.
    """
    lines: list[str] = []
    for label, value in facts(name).items():
        if label == "name":
            lines.append(value)
        elif label == "aliases":
            lines += [_line(label, ", ".join(value))] if value else []
        elif isinstance(value, dict):
            for i, (key, where) in enumerate(value.items()):
                lines.append(_line("" if i else label, f"{key:28} {where or ''}".rstrip()))
        else:
            lines.append(_line(label, value or "none"))
    return "\n".join(lines)


def facts(name: str) -> dict[str, Any]:
    """Return what `describe` says of an operator, class or function.

    Args:
        name: See `describe`.

    Returns:
        ``name`` and ``defined`` of a class or function. Of an operator ``name``, ``aliases``, and
        the locations ``registered``, ``shapes``, ``kernel`` and ``gradient`` (or None), and by name
        those of ``fast kernels`` and of the functions that call it, ``called`` (None for those
        that are generated from the registry).

    Raises:
        ArgumentError: There is no such operator or function.
    """
    op = _found(name)
    if not isinstance(op, Operator):
        return {"name": name, "defined": location(op)}
    return {
        "name": op.name,
        "aliases": list(op.aliases),
        "registered": _shown(*op.source),
        "shapes": location(op.infer),
        "kernel": location(op.kernel),
        "gradient": None if op.gradient is None else location(op.gradient),
        "fast kernels": {fast.name: _kernel_location(fast) for fast in op.fast_kernels},
        "called": {function: where or None for function, where in public_functions(op)},
    }


def _kernel_location(fast: FastKernel) -> str:
    return location(fast.plan if fast.run is None else fast.run)


def _line(label: str, text: str) -> str:
    return f"  {label:{_WIDTH}}{text}"


def _found(name: str) -> Operator | Callable[..., Any]:
    """Return the operator of a name, or the class or function of no operator."""
    if name in all_names():
        return find_operator(name)
    path = name.removeprefix("gluonish.").removeprefix("mxnet.").removeprefix("mx.")
    found = _resolve(path)
    if found is None and "." not in path:
        members = (_resolve(f"{module}.{path}") for module in _CLASSES)
        found = next(filter(callable, members), None)
    if found is None or not callable(found):
        names = {*all_names(), *(x for module in _CLASSES for x in dir(_resolve(module)))}
        raise ArgumentError(
            f"where: expected an operator, a function or a class, got {name!r}"
            f"{nearest(path.rpartition('.')[2], [x for x in names if not x.startswith('__')])}"
        )
    made_from: Operator | None = getattr(found, "operator", None)
    if isinstance(made_from, Operator):
        return made_from
    return cast("Callable[..., Any]", found)


def _resolve(path: str) -> Any:
    """Return the object at a dotted path in gluonish, or None."""
    found: Any = load("gluonish")
    for part in path.split("."):
        found = getattr(found, part, None)
    return found


def add_parser(parsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``where`` to the subcommands of ``gluonish``."""
    parser = parsers.add_parser(
        "where",
        help="print the files and lines where operators, layers and functions are defined",
        description="Print where a class or function is defined; of an operator, where it is "
        "registered, where its shape inference, kernel and "
        "gradient are defined, its fast kernels with the preferred ones first, its aliases, and "
        "the functions that call it.",
    )
    parser.add_argument("names", nargs="+", metavar="NAME", help="softmax, Dense, mx.np.argmax")
    add_json_option(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the description of each name."""
    if arguments.json:
        found = [facts(name) for name in arguments.names]
        write_json(
            {"found": [{k.replace(" ", "_"): x for k, x in entry.items()} for entry in found]}
        )
        return 0
    print("\n\n".join(map(describe, arguments.names)))
    return 0
