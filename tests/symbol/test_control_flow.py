import json
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentError, FileFormatError
from gluonish.ndarray import array, ones, zeros

sym = mx.sym


def _loop() -> mx.sym.Symbol:
    out, state = sym.contrib.foreach(lambda d, s: (d * s, s + d), sym.var("x"), sym.var("h"))
    return sym.Group([out, state])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (lambda d, s: (s, s + 1), r"does not use argument 0 \(x-0\)"),
        (lambda d, s: (d, d), r"does not use argument 1 \(h-0\)"),
        (lambda d, s: (d, [s, s]), "returns 1 states, got 2"),
        (lambda d, s: d + s, "returns a pair"),
    ],
)
def test_bodies_that_do_not_fit_are_refused(body: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        sym.contrib.foreach(body, sym.var("x"), sym.var("h"))


def test_a_loop_without_limit_is_refused() -> None:
    with pytest.raises(ArgumentError, match="max_iterations"):
        sym.contrib.while_loop(lambda i: i < 3, lambda i: (i, i + 1), sym.var("i"))


def test_branches_give_as_many_values() -> None:
    a, b = sym.var("a"), sym.var("b")
    with pytest.raises(ArgumentError, match="same number of values, got 1 and 2"):
        sym.contrib.cond(a < b, lambda: a, lambda: [a, b])


def test_shapes_are_inferred_in_both_directions() -> None:
    out, state = sym.contrib.foreach(
        lambda d, s: (sym.FullyConnected(d, num_hidden=3, name="fc"), s * 2),
        sym.var("x"),
        sym.var("h"),
    )
    arguments, outputs, _ = sym.Group([out, state]).infer_shape(x=(5, 2, 4), h=(2, 4))
    assert arguments == [(5, 2, 4), (2, 4), (3, 4), (3,)]
    assert outputs == [(5, 2, 3), (2, 4)]


def test_what_a_body_overwrites_is_an_argument_of_the_loop() -> None:
    out, _ = sym.contrib.foreach(lambda d, s: (sym.BatchNorm(d, name="bn"), []), sym.var("x"), [])
    assert "bn_moving_mean" in out.list_arguments()
    assert out.list_auxiliary_states() == []


def test_iterations_that_did_not_run_give_zeros() -> None:
    out, variables = sym.contrib.while_loop(
        lambda i, s: i < 3, lambda i, s: (i + s, [i + 1, s + i]), [sym.var("i"), sym.var("s")], 5
    )
    executor = sym.Group([out, *variables]).bind(
        mx.cpu(), [zeros(1), ones(1)], [zeros(1), zeros(1)]
    )
    stacked, *_ = executor.forward(is_train=True)
    assert stacked.tolist() == [[1], [2], [4], [0], [0]]
    executor.backward([ones((5, 1)), ones(1), ones(1)])
    assert [g.tolist() for g in executor.grad_arrays] == [[10], [4]]  # as MXNet's
    executor.forward(i=array([7]))
    assert stacked.asnumpy().any() is np.False_


def test_a_loop_over_nothing_hands_the_state_on() -> None:
    executor = _loop().bind(mx.cpu(), [zeros((0, 2)), ones(2)])
    out, state = executor.forward()
    assert out.shape == (0, 2)
    assert state.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("in_data_locs", "[1]"),
        ("in_state_locs", "[7]"),
        ("num_outputs", "3"),
        ("num_args", "4"),
        ("remain_locs", "[2]"),
        ("num_out_data", "2"),
    ],
)
def test_files_whose_places_do_not_fit_are_refused(key: str, value: str) -> None:
    content = json.loads(_loop().tojson())
    (node,) = [n for n in content["nodes"] if n["op"] == "_foreach"]
    node["attrs"][key] = value
    with pytest.raises(FileFormatError, match="_foreach"):
        mx.sym.load_json(json.dumps(content))


def test_files_without_a_body_are_refused() -> None:
    content = json.loads(_loop().tojson())
    (node,) = [n for n in content["nodes"] if n["op"] == "_foreach"]
    del node["subgraphs"]
    with pytest.raises(FileFormatError, match="0 subgraphs where _foreach has 1"):
        mx.sym.load_json(json.dumps(content))


def test_operators_without_subgraphs_have_none_in_files() -> None:
    content = json.loads((sym.var("x") + 1).tojson())
    content["nodes"][1]["subgraphs"] = [json.loads(_loop().tojson())]
    with pytest.raises(FileFormatError, match="1 subgraphs where _plus_scalar has none"):
        mx.sym.load_json(json.dumps(content))


def test_drawing_classes_needs_no_values() -> None:
    drawn, of_true, of_drawn = sym.contrib.rand_zipfian(sym.var("t"), 4, 100)
    results = sym.Group([drawn, of_true, of_drawn]).eval(t=array([1, 3]))
    assert [x.shape for x in results] == [(4,), (2,), (4,)]


def test_variables_of_one_name_are_one_input_of_both_branches() -> None:
    chosen = sym.contrib.cond(
        sym.var("p"), lambda: sym.var("a") + sym.var("b"), lambda: sym.var("a") - sym.var("b")
    )
    assert chosen.list_arguments() == ["p", "a", "b"]
    for p, expected in ((1, 8), (0, 2)):
        given = {"p": array([p]), "a": array([5]), "b": array([3])}
        assert chosen.eval(**given)[0].tolist() == [expected]


def _nesting(x: Any) -> Any:
    return [_nesting(part) for part in x] if isinstance(x, list | tuple) else "x"


@pytest.mark.parametrize(
    ("variables", "after", "expected"),
    [
        ("x", lambda x: (x + 1,), "x"),
        (["x"], lambda x: x + 1, ["x"]),
        (["x"], lambda x: (x + 1,), ["x"]),
        (("x", "y"), lambda x, y: (x + 1, y + 1), ["x", "x"]),
    ],
)
def test_variables_after_a_loop_are_nested_as_before_it(
    variables: Any, after: Any, expected: Any
) -> None:
    def step(*args: Any) -> tuple[Any, Any]:
        return args[0], after(*args)

    def made(of: Any) -> Any:
        return of(variables) if isinstance(variables, str) else type(variables)(map(of, variables))

    for face, of in ((sym, sym.var), (mx.nd, lambda _: ones(1))):
        _, found = face.contrib.while_loop(
            lambda *args: args[0] < 3, step, made(of), max_iterations=3
        )
        assert _nesting(found) == expected


def test_variables_of_a_loop_keep_their_nesting() -> None:
    a = mx.sym.var("a")
    for step in (lambda i: (i, i + 1), lambda i: (i, [i + 1]), lambda i: (i, (i + 1,))):
        loop = mx.sym.contrib.while_loop
        assert isinstance(loop(lambda i: i < 2, step, a, max_iterations=3)[1], mx.sym.Symbol)
        assert len(loop(lambda i: i < 2, step, [a], max_iterations=3)[1]) == 1
        assert type(loop(lambda i: i < 2, step, (a,), max_iterations=3)[1]) is list
