from typing import Any

import pytest

from gluonish import test_utils
from gluonish.core.errors import ArgumentError
from gluonish.optimizer import SGD, SGLD, Adam


@pytest.mark.parametrize(
    "options",
    [
        {"shape": (3, 4), "dtype": "float32"},
        {"shape": (3, 4), "dtype": "float32", "g_stype": "csr"},
        {"shape": (3, 4), "dtype": "float32", "w_stype": "row_sparse", "g_stype": "row_sparse"},
        {"shape": [(3, 4), (2,)], "dtype": "float64", "ntensors": 2},
    ],
)
def test_equal_optimizers_pass_and_others_fail(options: dict[str, Any]) -> None:
    first, second = (SGD(momentum=0.9, learning_rate=0.1) for _ in range(2))
    test_utils.compare_optimizer(first, second, **options)
    with pytest.raises(AssertionError):
        test_utils.compare_optimizer(
            SGD(learning_rate=0.1, wd=0.5), SGD(learning_rate=0.2, wd=0.5), **options
        )


def test_half_precision_compares() -> None:
    test_utils.compare_optimizer(
        SGD(multi_precision=True), SGD(multi_precision=True), (3, 4), "float16"
    )


def test_states_are_compared_unless_told_otherwise() -> None:
    first = SGD(momentum=0.9, learning_rate=0.0, wd=0.5)
    with pytest.raises(AssertionError, match="tuple of 2"):
        test_utils.compare_optimizer(Adam(learning_rate=0.0), first, (3, 4), "float32")
    test_utils.compare_optimizer(
        Adam(learning_rate=0.0), first, (3, 4), "float32", compare_states=False
    )


def test_tolerances_act() -> None:
    pair = SGD(learning_rate=0.1), SGD(learning_rate=0.101)
    with pytest.raises(AssertionError):
        test_utils.compare_optimizer(*pair, (30, 4), "float32")
    test_utils.compare_optimizer(*pair, (30, 4), "float32", atol=0.1)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"w_stype": "dense"}, "storage type among"),
        ({"g_stype": "dense"}, "storage type among"),
        ({"ntensors": 2}, "a list of 2 shapes"),
    ],
)
def test_what_does_not_fit_is_refused(options: dict[str, Any], match: str) -> None:
    with pytest.raises(ArgumentError, match=match):
        test_utils.compare_optimizer(SGD(), SGD(), (3, 4), "float32", **options)


def test_random_numbers_of_both_are_the_same_with_a_seed() -> None:
    shapes = [(3, 4), (5,)]
    pair = SGLD(learning_rate=0.1), SGLD(learning_rate=0.1)
    test_utils.compare_optimizer_noise_seeded(*pair, shapes, "float32", 7)
    with pytest.raises(AssertionError):
        test_utils.compare_optimizer(*pair, shapes=shapes, dtype="float32")
