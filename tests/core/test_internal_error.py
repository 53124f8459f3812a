import pytest

from gluonish import error
from gluonish.core.errors import ArgumentTypeError
from gluonish.mxnet_names.base import MXNetError


def test_base_is_the_one_that_programs_catch() -> None:
    assert error.MXNetError is MXNetError
    assert issubclass(error.InternalError, MXNetError)


def test_internal_errors_ask_for_a_report_once() -> None:
    first = error.InternalError("a cycle")
    assert str(first).startswith("a cycle\n")
    assert str(first).count("please report it") == 1
    assert str(error.InternalError(str(first))).count("please report it") == 1


def test_register_returns_the_class() -> None:
    @error.register
    class Plain(MXNetError):
        pass

    @error.register("Named")
    class Named(MXNetError):
        pass

    assert isinstance(Plain("x"), MXNetError)
    assert isinstance(Named("x"), MXNetError)
    assert error.register("Other", ValueError) is ValueError


@pytest.mark.parametrize("arguments", [(3,), ("name", 3), (lambda: None,)])
def test_something_else_is_refused(arguments: tuple[object, ...]) -> None:
    with pytest.raises(ArgumentTypeError, match="expected a class of errors"):
        error.register(*arguments)
