"""Initializers that depend on an array's name: Mixed and Load."""

import logging
import re
from collections.abc import Callable, Mapping, Sequence

from gluonish.core.errors import ArgumentError, ArgumentTypeError, require_text
from gluonish.core.files import AnyPath
from gluonish.core.object_repr import brief, object_repr
from gluonish.initializer.base import Initializer
from gluonish.ndarray import NDArray, load

Fill = Callable[[str, NDArray], None]


class Mixed:
    """Initialize each array with the first initializer whose pattern matches its name.

    Args:
        patterns: Regular expressions, matched from the beginning of the name.
        initializers: One initializer for each pattern.

    Raises:
        ArgumentError: The lists differ in length; or, when called, no pattern matches a name.

    Example:
        >>> import gluonish as mx
        >>> init = mx.init.Mixed([".*bias", ".*"], [mx.init.Zero(), mx.init.Normal(0.01)])
    """

    def __init__(self, patterns: Sequence[str], initializers: Sequence[Fill]) -> None:
        if len(patterns) != len(initializers):
            raise ArgumentError(
                f"Mixed: expected an initializer for each of {len(patterns)} patterns, "
                f"got {len(initializers)}"
            )
        compiled = [re.compile(pattern) for pattern in patterns]
        self.map = list(zip(compiled, initializers, strict=True))

    def __repr__(self) -> str:
        return object_repr(self, brief({pattern.pattern: fill for pattern, fill in self.map}))

    def __call__(self, name: str, arr: NDArray) -> None:
        """Fill an array with the first initializer whose pattern matches the name.

        Args:
            name: Name of the array.
            arr: The array, which is overwritten.
        """
        for pattern, initializer in self.map:
            if pattern.match(name):
                initializer(name, arr)
                return
        raise ArgumentError(
            f"Mixed: expected a pattern that matches {str(name)!r}, got none; "
            'add ".*" as the last pattern'
        )


class Load:
    """Fill arrays with loaded arrays of the same name.

    Args:
        param: Path of a ``.params`` file, or a dict of arrays; prefixes ``arg:`` and ``aux:`` of
            names are ignored.
        default_init: Initializer for arrays that were not loaded; None raises an error for them.
        verbose: Whether to log the source of each array's values, at level INFO.

    Raises:
        ArgumentTypeError: The arrays of the file have no names.
        ArgumentError: When called: a loaded array has the wrong shape, or an array was not loaded
            and there is no ``default_init``.
    """

    def __init__(
        self,
        param: AnyPath | Mapping[str, NDArray],
        default_init: Initializer | Fill | None = None,
        verbose: bool = False,
    ) -> None:
        loaded = param if isinstance(param, Mapping) else load(param, mmap=False)
        if not isinstance(loaded, Mapping):
            raise ArgumentTypeError(
                f"Load: expected arrays with names, got {type(loaded).__name__}"
            )
        self.param = {_without_prefix(name): arr for name, arr in loaded.items()}
        self.default_init = default_init
        self.verbose = verbose

    def __repr__(self) -> str:
        return object_repr(self, f"{len(self.param)} arrays", default_init=self.default_init)

    def __call__(self, name: str, arr: NDArray) -> None:
        """Fill an array with the loaded array of its name, or with ``default_init``.

        Args:
            name: Name of the array.
            arr: The array, which is overwritten.
        """
        found = self.param.get(str(name))
        if found is not None:
            if found.shape != arr.shape:
                raise ArgumentError(
                    f"Load: expected {str(name)!r} of shape {arr.shape}, got {found.shape}"
                )
            found.copyto(arr)
            source = "loading"
        elif self.default_init is not None:
            self.default_init(name, arr)
            source = "default"
        else:
            raise ArgumentError(
                f"Load: expected {str(name)!r} among the arrays or a default_init, got neither"
            )
        if self.verbose:
            logging.info("Initialized %s by %s", name, source)


def _without_prefix(name: str) -> str:
    require_text(name, "Load: expected names of arrays")
    return name[4:] if name.startswith(("arg:", "aux:")) else name
