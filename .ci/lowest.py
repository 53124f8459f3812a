"""Print constraints for pip: the lowest series that pyproject.toml allows of each dependency.

    python .ci/lowest.py [EXTRA ..] >lowest.txt && pip install -c lowest.txt '.[EXTRA,..]'

Of the dependencies and the named extras, `>=2.0` becomes `==2.0.*`; other dependencies are pip's.
Where two extras name a package, the later of them in pyproject.toml counts.
"""

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_REQUIREMENT = re.compile(
    r"(?P<name>[\w.-]+)(?:\[(?P<extras>[\w,.-]+)\])?(?P<rest>[^;]*)(?P<marker>;.*)?"
)
_LOWEST = re.compile(r">=\s*([\w.]+)")


# What the lowest series of a dependency needs of its own dependencies to run without warnings.
_WITH = {"matplotlib": "pyparsing<3.3"}


def lowest(project: dict[str, Any], extras: list[str]) -> Iterator[str]:
    """Yield a constraint for each requirement with a lower bound, also of ``extras``."""
    optional = project["optional-dependencies"]
    of_extras = [requirement for extra in extras for requirement in optional[extra]]
    for requirement in [*project["dependencies"], *of_extras]:
        match = _REQUIREMENT.fullmatch(requirement)
        if match is None:
            raise SystemExit(f".ci/lowest.py: expected a requirement, got {requirement!r}")
        if match["name"] == project["name"]:
            yield from lowest({**project, "dependencies": []}, match["extras"].split(","))
        elif found := _LOWEST.search(match["rest"]):
            yield f"{match['name']}=={found[1]}.*{match['marker'] or ''}"
            if match["name"] in _WITH:
                yield _WITH[match["name"]]


def main() -> None:
    """Print the constraints."""
    root = Path(__file__).resolve().parents[1]
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    constraints = {line.partition("=")[0]: line for line in lowest(project, sys.argv[1:])}
    print("\n".join(constraints.values()))


if __name__ == "__main__":
    main()
