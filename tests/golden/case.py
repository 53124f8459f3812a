"""Cases: calls of operators that MXNet 1.9.1 and gluonish are held to, as data.

The modules in ``cases/`` list them. They are imported by two interpreters, MXNet's (Python 3.11,
NumPy 1.23) for `make_cases` and ours for the tests, so neither they nor this module may import
anything but NumPy. The inputs are made from recipes, seeded by operator, position and recipe, and
are not stored.
"""

import dataclasses
import importlib.util
import math
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Union

import numpy as np

Array = Any


@dataclasses.dataclass(frozen=True, repr=False)
class Recipe:
    """How to make one array.

    Args:
        word: What makes two recipes equal: kind and arguments.
        make: Called with a `numpy.random.RandomState`, whose numbers never change between versions.
        dtype: Of the array, or None to keep what ``make`` gives.
    """

    word: str
    make: Callable[[np.random.RandomState], Array]
    dtype: Union[str, None] = None  # noqa: UP007 (one syntax for both interpreters)

    def __repr__(self) -> str:
        return f"{self.word}:{self.dtype}"

    def array(self, seed: str) -> Array:
        """Return the array of this recipe for one place."""
        random = np.random.RandomState(zlib.crc32(f"{seed}/{self!r}".encode()))
        made = np.asarray(self.make(random))
        return made if self.dtype is None else made.astype(self.dtype)


def normal(*shape: int, dtype: str = "float32", scale: float = 1.0) -> Recipe:
    """Return a recipe for normally distributed values."""
    return Recipe(f"normal{shape}*{scale}", lambda r: r.standard_normal(shape) * scale, dtype)


def uniform(low: float, high: float, *shape: int, dtype: str = "float32") -> Recipe:
    """Return a recipe for values between two bounds."""
    return Recipe(f"uniform{(low, high)}{shape}", lambda r: r.uniform(low, high, shape), dtype)


def integers(low: int, high: int, *shape: int, dtype: str = "float32") -> Recipe:
    """Return a recipe for whole numbers from ``low`` up to, not including, ``high``."""
    return Recipe(f"integers{(low, high)}{shape}", lambda r: r.randint(low, high, shape), dtype)


def distinct(*shape: int, dtype: str = "float32") -> Recipe:
    """Return a recipe for values that a small step neither reorders nor takes over an integer."""

    def make(random: np.random.RandomState) -> Array:
        size = math.prod(shape)
        return (random.permutation(size) - size / 2 + 0.3).reshape(shape)

    return Recipe(f"distinct{shape}", make, dtype)


def values(data: Any, dtype: str = "float32") -> Recipe:
    """Return a recipe for given values."""
    return Recipe(f"values{data!r}", lambda _: np.array(data), dtype)


def computed(function: Callable[..., Array], *recipes: Recipe) -> Recipe:
    """Return a recipe for a named function of other arrays."""

    def make(random: np.random.RandomState) -> Array:
        seed = str(random.randint(1 << 30))
        return function(*[recipe.array(f"{seed}/{i}") for i, recipe in enumerate(recipes)])

    return Recipe(f"{function.__name__}{list(recipes)!r}", make)


@dataclasses.dataclass(frozen=True, repr=False)
class Case:
    """One call of an operator.

    Args:
        op: Registry name.
        inputs: Recipes of the arrays, in order.
        attrs: Attributes as a user writes them.
        grad: Positions of the inputs whose gradient is compared; None for all floating ones that
            MXNet gives a gradient; False for none.
        train: Whether it runs in training mode.
        invalid: MXNet refuses it, and so do we.
        wrong: What is wrong with MXNet here; its results are not stored.
        wrong_grad: What is wrong with its gradient alone.
        expected: With ``wrong``: a NumPy function of the inputs that gives the outputs.
        random: Only shapes and dtypes are compared.
        rtol: Relative tolerance of outputs and gradients; by dtype where it is left out.
        atol: Absolute tolerance; by dtype where it is left out.
        check: Options for `tests.checking.check_operator`, which takes the first valid case of
            each operator; False leaves it out.
        note: Tells apart cases that are otherwise equal.
        mxnet_rules: Whether gluonish gives the same under the name ``mxnet`` only.
    """

    op: str
    inputs: Sequence[Recipe] = ()
    attrs: dict[str, Any] = dataclasses.field(default_factory=dict)
    grad: Any = None
    train: bool = True
    invalid: bool = False
    wrong: str = ""
    wrong_grad: str = ""
    expected: Any = None
    random: bool = False
    rtol: Union[float, None] = None  # noqa: UP007
    atol: Union[float, None] = None  # noqa: UP007
    check: Any = None
    note: str = ""
    mxnet_rules: bool = False

    @property
    def key(self) -> str:
        """The name of its stored results: the operator, and a digest of what decides them."""
        decisive = (
            list(self.inputs),
            sorted(self.attrs.items()),
            self.grad,
            self.train,
            self.random,
            self.invalid,
            bool(self.wrong),
            bool(self.wrong_grad),
            self.note,
        )
        return f"{self.op}-{zlib.crc32(repr(decisive).encode()):08x}"

    def __repr__(self) -> str:
        given = [repr(recipe) for recipe in self.inputs]
        given += [f"{name}={value!r}" for name, value in self.attrs.items()]
        return f"{self.op}({', '.join(given)})"

    def arrays(self) -> list[Array]:
        """Return fresh input arrays."""
        return [recipe.array(f"{self.op}/{i}") for i, recipe in enumerate(self.inputs)]

    def head(self, position: int, shape: Sequence[int], dtype: Any) -> Array:
        """Return the gradient that flows into an output."""
        return normal(*shape).array(f"{self.op}/head{position}").astype(dtype)


def load_cases(path: Path) -> list[Case]:
    """Return the cases of a module of ``cases/``."""
    spec = importlib.util.spec_from_file_location(f"golden_cases_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    cases: list[Case] = module.CASES
    return cases


def first_cases(folder: Path) -> "dict[str, Case]":
    """Return, by operator, the first case of a folder that MXNet runs rightly on float32 arrays."""
    found: dict[str, Case] = {}
    for path in sorted(folder.glob("*.py")):
        for case in load_cases(path):
            usable = not (case.invalid or case.wrong or case.op in found)
            if usable and any(x.dtype == np.float32 for x in case.arrays()):
                found[case.op] = case
    return found
