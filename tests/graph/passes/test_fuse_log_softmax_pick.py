import pytest

from gluonish.graph.ir import Value, lint
from gluonish.graph.passes import fuse_log_softmax_pick
from tests.graph.builders import call, graph, inputs, text


def _fused(variables: list[Value], *outputs: Value) -> str:
    return str(lint(fuse_log_softmax_pick(graph(variables, *outputs))))


def test_a_pick_of_log_softmax_is_one_operator() -> None:
    x, index = inputs((4, 5), (4,))
    y = call("pick", call("log_softmax", x), index, keepdims=True)
    assert _fused([x, index], call("relu", y)) == text(
        """
        %0: float32(4, 5) = variable a
        %1: float32(4,) = variable b
        %2: float32(4, 1), float32(4, 1), float32(4, 1) = _log_softmax_pick(%0, %1, keepdims=True)
        %3: float32(4, 1) = relu(%2)
        return %3
        """
    )


@pytest.mark.parametrize("written", ["pick", "_log_softmax_pick"])
def test_a_loss_of_class_numbers_is_one_operator(written: str) -> None:
    x, index = inputs((4, 5), (4,))
    scores = call("log_softmax", x) if written == "pick" else x
    y = call("_mul_scalar", -call(written, scores, index, keepdims=True), scalar=0.5)
    assert _fused([x, index], call("Reshape", y, shape=(4,))) == text(
        """
        %0: float32(4, 5) = variable a
        %1: float32(4,) = variable b
        %2: float32(4,), float32(4, 1), float32(4, 1) = _log_softmax_pick(%0, %1, scale=-0.5)
        return %2
        """
    )


def test_other_shapes_and_factors_that_are_rounded_stay() -> None:
    x, index = inputs((4, 5), (4,))
    y = call("_log_softmax_pick", x, index)
    assert "Reshape(%2" in _fused([x, index], call("Reshape", y, shape=(2, 2)))
    half = call("_log_softmax_pick", call("Cast", x, dtype="float16"), index)
    assert "_mul_scalar(" in _fused([x, index], half * 3.0)
    assert "scale=-1.0" in _fused([x, index], -half)


def test_a_factor_on_what_others_read_stays() -> None:
    x, index = inputs((4, 5), (4,))
    y = call("_log_softmax_pick", x, index)
    assert "_mul_scalar(" in _fused([x, index], y, y * 2.0)


def test_axes_may_be_counted_from_either_end() -> None:
    x, index = inputs((4, 5), (4,))
    y = call("pick", call("log_softmax", x, axis=1), index, axis=-1)
    assert "log_softmax(" not in _fused([x, index], y)


@pytest.mark.parametrize(
    ("options", "axis"), [({"axis": 0}, 1), ({"temperature": 2.0}, -1), ({"dtype": "float64"}, -1)]
)
def test_other_axes_and_options_stay(options: dict[str, object], axis: int) -> None:
    x, index = inputs((4, 4), (4,))
    y = call("pick", call("log_softmax", x, **options), index, axis=axis)
    assert "_log_softmax_pick" not in _fused([x, index], y)


def test_a_log_softmax_that_is_read_elsewhere_stays() -> None:
    x, index = inputs((4, 5), (4,))
    logs = call("log_softmax", x)
    assert "_log_softmax_pick" not in _fused([x, index], call("pick", logs, index), logs)


def test_a_pick_of_something_else_stays() -> None:
    x, index = inputs((4, 5), (4,))
    assert "_log_softmax_pick" not in _fused([x, index], call("pick", call("softmax", x), index))


def test_scores_that_were_cast_to_float32_are_read_as_they_were() -> None:
    (x, index) = inputs((4, 5), (4,))
    half = call("Cast", x, dtype="bfloat16")
    picked = call("pick", call("log_softmax", call("Cast", half, dtype="float32")), index)
    assert _fused([x, index], picked) == text(
        """
        %0: float32(4, 5) = variable a
        %1: bfloat16(4, 5) = Cast(%0, dtype=bfloat16)
        %2: float32(4,) = variable b
        %3: float32(4,), float32(4, 1), float32(4, 1) = _log_softmax_pick(%1, %2, wide=True)
        return %3
        """
    )
