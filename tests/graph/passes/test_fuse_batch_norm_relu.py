from typing import Any

import pytest

from gluonish.graph.ir import Value, lint
from gluonish.graph.passes.fuse_batch_norm_relu import fuse_batch_norm_relu
from tests.graph.builders import call, graph, inputs


def _normalized(**attrs: Any) -> tuple[list[Value], Any]:
    variables = inputs((2, 3, 4, 4), (3,), (3,), (3,), (3,))
    return variables, call("BatchNorm", *variables, **attrs)


@pytest.mark.parametrize(("name", "attrs"), [("relu", {}), ("Activation", {"act_type": "relu"})])
def test_normalization_and_rectifier_become_one(name: str, attrs: dict[str, Any]) -> None:
    variables, y = _normalized(fix_gamma=False, train=True)
    made = fuse_batch_norm_relu(graph(variables, call("exp", call(name, y, **attrs))))
    printed = str(lint(made)).splitlines()
    assert printed[-3].endswith(
        " = _contrib_BatchNormWithReLU(%0, %1, %2, %3, %4, fix_gamma=False, train=True)"
    )
    assert printed[-2:] == ["%6: float32(2, 3, 4, 4) = exp(%5)", "return %6"]
    assert len(printed) == 8


def test_others_stay() -> None:
    variables, y = _normalized(train=True)
    rectified = call("relu", y)
    for made in (
        graph(variables, call("tanh", y)),
        graph(variables, rectified, y),
        graph(variables, rectified + call("exp", y)),
        graph(variables, call("relu", _normalized_again(variables, train=False))),
    ):
        assert str(fuse_batch_norm_relu(made)) == str(made)


def _normalized_again(variables: list[Value], **attrs: Any) -> Any:
    return call("BatchNorm", *variables, **attrs)


def test_statistics_that_are_read_keep_them_apart() -> None:
    variables, outputs = _normalized(train=True, output_mean_var=True)
    made = graph(variables, call("relu", outputs[0]), outputs[1])
    assert str(fuse_batch_norm_relu(made)) == str(made)


def test_a_rectifier_of_something_else_stays() -> None:
    (a,) = inputs((2,))
    made = graph([a], call("relu", call("exp", a)))
    assert str(fuse_batch_norm_relu(made)) == str(made)
