"""The settings that a sweep tries: values of options of ``gluonish train``."""

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError, MissingFileError, nearest
from gluonish.tools.train.recipe import check_option, option_names, read_mapping

Value = int | float | str
Setting = dict[str, Value]

_RANGE = re.compile(r"(?:(log|int|int-log):)?([^:,]+)\.\.([^:,]+?)(?::(\d+))?")
_OPTIMIZER = "opt-set."
_MOST_STEPS = 1000  # of a range in a grid
_ATTEMPTS = 100  # to draw a setting that was not tried
_PLACES = 12  # digits of drawn numbers, so that they read well


@dataclass(frozen=True)
class Range:
    """Numbers from a lowest to a highest one.

    Attributes:
        low: The lowest.
        high: The highest.
        log: Whether each order of magnitude is as likely.
        whole: Whether they are whole numbers.
        steps: Number of values in a grid; None for none.
    """

    low: float
    high: float
    log: bool = False
    whole: bool = False
    steps: int | None = None

    def draw(self, rng: np.random.Generator) -> Value:
        """Return a random value."""
        share = float(rng.random())
        if self.whole and not self.log:
            return int(self.low + math.floor(share * (self.high - self.low + 1)))
        return self._at(share)

    def grid(self, name: str) -> list[Value]:
        """Return the values of a grid.

        Raises:
            ArgumentError: The range has no number of values.
        """
        if self.steps is None:
            raise ArgumentError(
                f"--param {name}: expected values or a number of them in a grid, such as "
                f"log:1e-3..1e-1:3, got a range of {self.low:g}..{self.high:g}"
            )
        shares = [i / max(1, self.steps - 1) for i in range(self.steps)]
        return list(dict.fromkeys(map(self._at, shares)))

    def _at(self, share: float) -> Value:
        if self.log:
            low, high = math.log(self.low), math.log(self.high)
            found = math.exp(low + share * (high - low))
        else:
            found = self.low + share * (self.high - self.low)
        found = min(max(found, self.low), self.high)
        return round(found) if self.whole else float(f"{found:.{_PLACES}g}")


Choices = list[Value]
Space = dict[str, Choices | Range]


def parse_space(path: str | None, parameters: Sequence[str]) -> Space:
    """Return the space of a file and of the command line, which wins.

    Args:
        path: A YAML file: names of options to lists of values, or to ranges as text; None for none.
        parameters: Texts ``NAME=VALUES``.

    Raises:
        ArgumentError: A name is no option of ``gluonish train``, or its values are wrong.
        MissingFileError: There is no such file.
        FileFormatError: The file is not YAML, or not a mapping.
    """
    space: Space = {}
    if path is not None:
        if not Path(path).is_file():
            raise MissingFileError(f"--space: expected a YAML file, got {path!r}")
        for key, value, line in read_mapping(Path(path)):
            place = f"{path}:{line}: {key}"
            name = _known(str(key), place)
            given = value if isinstance(value, list) else [value]
            if isinstance(value, str):
                space[name] = _parsed(name, value, place)
            else:
                space[name] = [_checked(name, x, place) for x in given]
            _check_choices(space[name], place)
    for text in parameters:
        key, equals, values = text.partition("=")
        if not equals:
            raise ArgumentError(f"--param: expected NAME=VALUES, got {text!r}")
        name = _known(key.strip().removeprefix("--"), "--param")
        space[name] = _parsed(name, values, f"--param {name}")
        _check_choices(space[name], f"--param {name}")
    if not space:
        raise ArgumentError(
            "sweep: expected --param NAME=VALUES or --space FILE, such as --param lr=0.01,0.1"
        )
    return space


def _known(name: str, place: str) -> str:
    name = name.replace("_", "-") if not name.startswith(_OPTIMIZER) else name
    names = option_names()
    if name.startswith(_OPTIMIZER) and name.removeprefix(_OPTIMIZER).isidentifier():
        return name
    if name not in names:
        raise ArgumentError(
            f"{place}: expected an option of `gluonish train`, or {_OPTIMIZER}NAME, got {name!r}"
            f"{nearest(name, names)}"
        )
    return name


def _parsed(name: str, text: str, place: str) -> Choices | Range:
    found = _RANGE.fullmatch(text.strip())
    if found is None:
        return [_checked(name, part.strip(), place) for part in text.split(",")]
    kind, low, high, steps = found.groups()
    try:
        limits = float(low), float(high)
    except ValueError as error:
        raise ArgumentError(
            f"{place}: expected numbers in a range low..high, got {text!r}"
        ) from error
    log, whole = kind in ("log", "int-log"), kind in ("int", "int-log")
    if not limits[0] < limits[1] or not all(map(math.isfinite, limits)):
        raise ArgumentError(f"{place}: expected a range low..high in order, got {text!r}")
    if log and limits[0] <= 0:
        raise ArgumentError(f"{place}: expected a range above 0 with log, got {text!r}")
    if whole and any(x != int(x) for x in limits):
        raise ArgumentError(f"{place}: expected whole numbers with int, got {text!r}")
    if steps is not None and not 1 <= int(steps) <= _MOST_STEPS:
        raise ArgumentError(
            f"{place}: expected 1 to {_MOST_STEPS} values of a range in a grid, got {text!r}"
        )
    made = Range(*limits, log, whole, None if steps is None else int(steps))
    for limit in limits:
        _checked(name, round(limit) if whole else limit, place)
    return made


def _checked(name: str, value: Any, place: str) -> Value:
    """Return a value of the option's type."""
    if name.startswith(_OPTIMIZER):
        if not isinstance(value, int | float | str):
            raise ArgumentError(f"{place}: expected a number or a text, got {value!r}")
        return value
    checked = check_option(name, value, place)
    return checked if isinstance(checked, int | float | str) else str(checked)


def _check_choices(values: Choices | Range, place: str) -> None:
    if isinstance(values, list) and len(set(values)) != len(values):
        raise ArgumentError(f"{place}: expected each value once, got {values}")


def flags(setting: Setting) -> list[str]:
    """Return a setting as options of the command line."""
    found: list[str] = []
    for name, value in setting.items():
        if name.startswith(_OPTIMIZER):
            found.append(f"--opt-set={name.removeprefix(_OPTIMIZER)}={value}")
        elif isinstance(value, bool):
            found += [f"--{name}"] if value else []
        else:
            found.append(f"--{name}={value}")
    return found


def grid(space: Space) -> Iterator[Setting]:
    """Yield all settings; values of the last option change first."""
    values = [x if isinstance(x, list) else x.grid(name) for name, x in space.items()]
    for chosen in itertools.product(*values):
        yield dict(zip(space, chosen, strict=True))


def random_settings(space: Space, seed: int) -> Iterator[Setting]:
    """Yield random settings without end, or all of a space of values and whole numbers.

    Setting ``i`` depends on the seed and ``i`` alone, and a setting comes again only if a hundred
    draws find no other.
    """
    most = math.prod(
        len(x) if isinstance(x, list) else x.high - x.low + 1 if x.whole else math.inf
        for x in space.values()
    )
    seen: set[tuple[Value, ...]] = set()
    for i in itertools.count():
        if len(seen) >= most:
            return
        rng = np.random.default_rng((seed, i))
        setting: Setting = {}
        for _ in range(_ATTEMPTS):
            setting = {
                name: values[int(rng.integers(len(values)))]
                if isinstance(values, list)
                else values.draw(rng)
                for name, values in space.items()
            }
            if tuple(setting.values()) not in seen:
                break
        seen.add(tuple(setting.values()))
        yield setting
