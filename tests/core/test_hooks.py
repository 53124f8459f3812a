import pytest

from gluonish.core import hooks
from gluonish.core.hooks import Hook


def test_hook_calls_the_function_that_stands_behind_it() -> None:
    hook: Hook[[object], str] = Hook()
    hook.fill("json:dumps")
    assert hook([1]) == "[1]"
    assert hook({}) == "{}"


@pytest.mark.parametrize(
    "name",
    ["end_idle_teams", "kernels_of", "make_gpu_support", "start_profiler", "symbol_of"],
)
def test_every_hook_is_filled(name: str) -> None:
    assert getattr(hooks, name)._target.startswith("gluonish.")
