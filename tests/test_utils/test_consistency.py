import logging
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import test_utils
from gluonish.core.errors import ArgumentError

data = mx.sym.var("data")
FC = mx.sym.FullyConnected(data, num_hidden=3, name="fc")
ENTRIES: list[dict[str, Any]] = [
    {"ctx": mx.cpu(0), "data": (2, 4), "type_dict": {"data": np.float32}},
    {"ctx": mx.cpu(1), "data": (2, 4), "type_dict": {"data": np.float64}},
]
PARAMS = {"data": np.ones((2, 4)), "fc_weight": np.ones((3, 4)), "fc_bias": np.zeros(3)}


def scaled(factor: float) -> Any:
    weight = mx.sym.var("w") * factor
    return mx.sym.FullyConnected(data, weight, no_bias=True, num_hidden=2, name="out")


def test_result_is_of_the_finest_dtype_with_the_outputs_as_heads() -> None:
    got = test_utils.check_consistency(FC, ENTRIES, arg_params=PARAMS)
    assert list(got) == ["fc_output", "data", "fc_weight", "fc_bias"]
    assert {x.dtype for x in got.values()} == {np.float64}
    assert set(got["fc_output"].asnumpy().flat) == {4.0}
    assert set(got["data"].asnumpy().flat) == {12.0}
    assert set(got["fc_bias"].asnumpy().flat) == {8.0}


def test_difference_is_found_and_told() -> None:
    with pytest.raises(AssertionError, match=r"out_output of ctx_list\[0\]"):
        test_utils.check_consistency([scaled(1.0), scaled(1.1)], ENTRIES)
    test_utils.check_consistency([scaled(1.0), scaled(1.1)], ENTRIES, rtol=0.3, atol=0.3)


def test_difference_of_gradients_alone_is_found() -> None:
    blocked = [data * 2 - mx.sym.BlockGrad(data * e) + data * e for e in (0.0, 0.5)]
    named = [
        mx.sym.FullyConnected(s, mx.sym.var("w"), no_bias=True, num_hidden=2, name="out")
        for s in blocked
    ]
    with pytest.raises(AssertionError, match=r"data of ctx_list\[0\]"):
        test_utils.check_consistency(named, ENTRIES)
    test_utils.check_consistency(named, ENTRIES, grad_req="null")


def test_difference_is_logged_on_request(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        got = test_utils.check_consistency([scaled(1.0), scaled(1.1)], ENTRIES, raise_on_err=False)
    assert "out_output" in got
    assert "check_consistency" in caplog.text


@pytest.mark.parametrize("grad_req", ["null", "add", {"data": "write"}])
def test_requests_decide_what_is_compared(grad_req: Any) -> None:
    got = test_utils.check_consistency(FC, ENTRIES, grad_req=grad_req)
    assert ("data" in got) == (grad_req != "null")
    assert ("fc_bias" in got) == (grad_req == "add")


def test_ground_truth_is_held_against_all() -> None:
    truth = test_utils.check_consistency(FC, ENTRIES, arg_params=PARAMS)
    test_utils.check_consistency(FC, ENTRIES, arg_params=PARAMS, ground_truth=truth)
    wrong = truth | {"fc_bias": truth["fc_bias"] + 1}
    with pytest.raises(AssertionError, match="fc_bias of"):
        test_utils.check_consistency(FC, ENTRIES, arg_params=PARAMS, ground_truth=wrong)


def test_random_arguments_have_their_distribution() -> None:
    same = mx.sym.identity(data, name="same")
    entries = [{"ctx": mx.cpu(0), "data": (200, 40)}] * 2
    normal = test_utils.check_consistency(same, entries, scale=3.0)["same_output"].asnumpy()
    assert abs(normal.std() - 3) < 0.2
    uniform = test_utils.check_consistency(same, entries, scale=0.5, use_uniform=True)
    assert 0.44 < np.abs(uniform["same_output"].asnumpy()).max() <= 0.46
    rounded = test_utils.check_consistency(same, entries, rand_type=np.float16)["same_output"]
    values = rounded.asnumpy()
    np.testing.assert_array_equal(values, values.astype(np.float16))


def test_states_start_as_given() -> None:
    norm = mx.sym.BatchNorm(data, name="bn", fix_gamma=False, use_global_stats=True)
    params: dict[str, Any] = {
        "arg_params": {"data": np.ones((2, 4)), "bn_gamma": np.ones(4), "bn_beta": np.zeros(4)},
        "aux_params": {"bn_moving_mean": np.ones(4), "bn_moving_var": np.ones(4)},
    }
    got = test_utils.check_consistency(norm, ENTRIES, **params)
    assert not got["bn_output"].asnumpy().any()


@pytest.mark.parametrize(
    ("sym", "entries", "options", "match"),
    [
        (FC, ENTRIES[:1], {}, "two entries"),
        ([FC], ENTRIES, {}, "2 Symbols, got 1"),
        ([FC, scaled(1.0)], ENTRIES, {}, "same arguments and outputs"),
        (FC, ENTRIES, {"arg_params": {"z": np.ones(1)}}, "arg_params among"),
        (FC, ENTRIES, {"aux_params": {"z": np.ones(1)}}, "aux_params among"),
    ],
)
def test_what_does_not_fit_is_refused(
    sym: Any, entries: Any, options: dict[str, Any], match: str
) -> None:
    with pytest.raises(ArgumentError, match=match):
        test_utils.check_consistency(sym, entries, **options)
