"""What a Trainer is given: refusals, and the forms that are taken."""

from typing import Any

import numpy as np
import pytest

from gluonish.core.context import cpu
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.gluon.parameter import Parameter, register_path
from gluonish.gluon.trainer import Trainer
from gluonish.gluon.trainer.trainables import check_batch_size, parameter_list
from gluonish.optimizer import SGD


class Owner:
    """Stands for a Block."""


def parameter(name: str = "w") -> Parameter:
    made = Parameter(name, shape=(2,))
    made.initialize(ctx=[cpu(0), cpu(1)])
    return made


def test_parameter_that_stands_in_a_list_twice_is_refused() -> None:
    w, b = parameter("w"), parameter("b")
    with pytest.raises(ArgumentError, match="each Parameter once, got Parameter w twice; "):
        Trainer([w, b, w], "sgd")


def test_refused_parameter_is_told_with_its_path() -> None:
    w, net, layer = parameter("net0_dense0_weight"), Owner(), Owner()
    register_path(layer, net, "output")
    register_path(w, layer, "weight")
    with pytest.raises(ArgumentError, match=r"net0_dense0_weight \(output\.weight\) twice"):
        Trainer([w, w], "sgd")


def test_dict_of_paths_may_name_a_shared_parameter_twice() -> None:
    w = parameter()
    assert parameter_list({"encoder.weight": w, "decoder.weight": w}) == [w]


@pytest.mark.parametrize("optimizer", [None, SGD, 3])
def test_what_is_no_optimizer_is_refused(optimizer: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="Trainer: expected an Optimizer or its name"):
        Trainer([parameter()], optimizer)


@pytest.mark.parametrize(
    "wrong",
    [
        {"kvstore": 3},
        {"update_on_kvstore": "yes"},
        {"compression_params": 5},
    ],
)
def test_wrong_types_are_refused_when_the_trainer_is_made(wrong: dict[str, Any]) -> None:
    with pytest.raises(ArgumentTypeError, match="Trainer: expected"):
        Trainer([parameter()], "sgd", **wrong)


def test_unknown_compression_is_refused_when_the_trainer_is_made() -> None:
    with pytest.raises(ArgumentError, match="'2bit'"):
        Trainer([parameter()], "sgd", compression_params={"type": "3bit"})


@pytest.mark.parametrize("size", [1, 2.5, np.float32(4), np.int64(3), True])
def test_numbers_above_0_are_batch_sizes(size: Any) -> None:
    check_batch_size("step", size)
