"""Test environment: devices, environment variables, standard error, retries."""

import functools
import os
import platform
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr
from pathlib import Path
from typing import Any

from gluonish.core.config import get_variable, set_variable
from gluonish.core.context import Context, current_context
from gluonish.core.device import gpu_count
from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError


def default_context() -> Context:
    """Return the default device of tests: the current context."""
    return current_context()


default_device = default_context


def set_default_context(ctx: Context) -> None:
    """Set the current context of this thread permanently.

    Args:
        ctx: The device.

    Raises:
        ArgumentTypeError: ``ctx`` is not a Context.
    """
    if not isinstance(ctx, Context):
        raise ArgumentTypeError(f"set_default_context: expected a Context, got {ctx!r}")
    # A copy, because a Context records its open scopes, and this one is never closed.
    Context(ctx).__enter__()


def set_default_device(device: Context) -> None:
    """Set the current context of this thread permanently: `set_default_context`.

    Args:
        device: The device.

    Raises:
        ArgumentTypeError: ``device`` is not a Context.
    """
    set_default_context(device)


def list_gpus() -> range:
    """Return the indices of the available CUDA devices."""
    return range(gpu_count())


def is_cd_run() -> bool:
    """Return whether this is a continuous-delivery job: whether ``CD_JOB`` is 1."""
    return get_variable("CD_JOB") == "1"


def is_aarch64_run() -> bool:
    """Return whether the processor is a 64-bit ARM."""
    return platform.machine() in ("aarch64", "arm64")


def has_tvm_ops() -> bool:
    """Return False: there are no operators compiled by TVM."""
    return False


def is_op_runnable() -> bool:
    """Return True: operators run on every device, as none are compiled by TVM."""
    return True


def get_im2rec_path(home_env: str = "MXNET_HOME") -> str:
    """Return the path of im2rec.py, which packs images into record files.

    Args:
        home_env: Environment variable that names a folder with ``tools/im2rec.py``.

    Raises:
        NotSupportedError: The file does not exist; gluonish has the command `gluonish im2rec`.
    """
    home = get_variable(home_env)
    script = Path(home or ".") / "tools" / "im2rec.py"
    if home and script.is_file():
        return str(script)
    raise NotSupportedError(
        f"get_im2rec_path: expected tools/im2rec.py in the folder that {home_env} names, got "
        f"{home!r}; pack images with the command `gluonish im2rec`"
    )


@contextmanager
def environment(*args: Any) -> Iterator[None]:
    """Set environment variables in a scope: ``with environment("NAME", "1"):``.

    Args:
        *args: A name and a value, or a dict from names to values; None unsets a variable.

    Raises:
        ArgumentError: The arguments are invalid.
        ArgumentTypeError: A value is not a str.
    """
    if len(args) == 1 and isinstance(args[0], Mapping):
        values = dict(args[0])
    elif len(args) == 2:
        values = {args[0]: args[1]}
    else:
        raise ArgumentError(
            f"environment: expected a dict, or a name and a value, got {len(args)} arguments"
        )
    before = {name: get_variable(name) for name in values}
    try:
        for name, value in values.items():
            set_variable(name, value)
        yield
    finally:
        for name, value in before.items():
            set_variable(name, value)


@contextmanager
def discard_stderr() -> Iterator[None]:
    """Discard standard error of this process in a scope, including output of C libraries."""
    sys.stderr.flush()
    saved = os.dup(2)
    try:
        with open(os.devnull, "w") as null:
            os.dup2(null.fileno(), 2)
            with redirect_stderr(null):
                yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)


def assert_exception(
    f: Callable[..., Any], exception_type: type[BaseException], *args: Any, **kwargs: Any
) -> None:
    """Check that a call raises an exception of the given type; others propagate.

    Args:
        f: The function to call.
        exception_type: Type of the expected exception.
        *args: Arguments of the function.
        **kwargs: Keyword arguments of the function.

    Raises:
        AssertionError: The call raises no exception.
    """
    try:
        f(*args, **kwargs)
    except exception_type:
        return
    raise AssertionError(
        f"assert_exception: expected {exception_type.__name__}, got no exception from {f!r}"
    )


def retry(n: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that reruns a randomized test while it fails, up to ``n`` runs in total.

    Only an AssertionError counts as a failure; that of the last run is raised.

    Args:
        n: Maximum number of runs.

    Raises:
        ArgumentError: ``n`` is below 1.
    """
    if n < 1:
        raise ArgumentError(f"retry: expected n of at least 1, got {n}")

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(test)
        def run(*args: Any, **kwargs: Any) -> Any:
            for _ in range(n - 1):
                try:
                    return test(*args, **kwargs)
                except AssertionError:
                    pass
            return test(*args, **kwargs)

        return run

    return decorate
