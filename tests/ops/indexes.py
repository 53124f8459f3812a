"""The tables of operators and kernels by module: ``python -m tests.ops.indexes`` writes them anew.

They stand in gluonish/ops/index.py and gluonish/kernels/index.py. All modules of operators are
loaded here by their files, whatever the tables say.
"""

import importlib
import pkgutil
import sys
import textwrap
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import gluonish.kernels
import gluonish.ops
from gluonish.kernels import preference
from gluonish.ops import registry

INDEXES = tuple(
    Path(package.__path__[0]) / "index.py" for package in (gluonish.ops, gluonish.kernels)
)


def _operators() -> Mapping[str, list[str]]:
    """Return the names and aliases that each module of operators registers."""
    names = defaultdict(list)
    homes = {}
    for found in pkgutil.walk_packages(gluonish.ops.__path__, "gluonish.ops."):
        module = importlib.import_module(found.name)
        homes[module.__file__] = found.name.removeprefix("gluonish.ops.")
    for name, op in registry._names.items():
        if op.source[0] in homes:  # no test's own
            names[homes[op.source[0]]].append(name)
    return names


def _kernels() -> Mapping[str, list[str]]:
    """Return the operators that each module has kernels of, in the order of preference."""
    names = defaultdict(list)
    folder = str(INDEXES[0].parent)
    own = [op for op in registry._operators.values() if op.source[0].startswith(folder)]
    for module in preference.IN_ORDER:
        for op in own:
            if any(True for _ in preference.kernels_in(module, op)):
                names[module].append(op.name)
    return names


def _with_table(path: Path, table: Mapping[str, Sequence[str]]) -> str:
    """Return the text of a module whose table is another one."""
    head = path.read_text("utf-8").partition("MODULES: ")[0]
    rows = []
    for module, names in table.items():
        text = " ".join(sorted(set(names)))
        if len(module) + len(text) <= 89:
            rows.append(f'    "{module}": "{text}",\n')
            continue
        lines = [text] if len(text) <= 90 else textwrap.wrap(text, 88)
        strings = ' "\n'.join(f'        "{line}' for line in lines) + '"\n'
        rows.append(f'    "{module}": (\n{strings}    ),\n')
    return f"{head}MODULES: dict[str, str] = {{\n{''.join(rows)}}}\n"


def texts() -> dict[Path, str]:
    """Return what the tables' modules should say, by their paths."""
    operators = _operators()
    ordered = {module: operators[module] for module in sorted(operators)}
    return dict(zip(INDEXES, map(_with_table, INDEXES, (ordered, _kernels())), strict=True))


if __name__ == "__main__":
    for path, text in texts().items():
        path.write_text(text, "utf-8")
        sys.stdout.write(f"{path}\n")
