import pytest

from gluonish.graph.ir import Value
from gluonish.graph.saved_values import Effort, recipe_of
from tests.graph.builders import call, inputs

ATTRS = {"fix_gamma": False, "train": True}


def _batch_norm(*others: tuple[int, ...]) -> tuple[list[Value], Value]:
    values = inputs((2, 3, 4), (3,), (3,), (3,), (3,), *others)
    return values, call("BatchNorm", *values[:5], **ATTRS)


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("Flatten", Effort.NOTHING),
        ("exp", Effort.LITTLE),
        ("softmax", Effort.LITTLE),
        ("sort", Effort.ANYTHING),
    ],
)
def test_an_operator_is_repeated_from_its_effort_on(name: str, least: Effort) -> None:
    y = call(name, *inputs((2, 3)))
    assert [recipe_of(y, effort) is not None for effort in Effort] == [e >= least for e in Effort]


def test_products_take_all_effort() -> None:
    x, weight = inputs((2, 3), (4, 3))
    y = call("FullyConnected", x, weight, num_hidden=4, no_bias=True)
    assert recipe_of(y, Effort.LITTLE) is None
    assert recipe_of(y, Effort.ANYTHING) is not None


def test_random_numbers_are_not_drawn_again() -> None:
    assert recipe_of(call("_random_uniform", shape=(2,)), Effort.ANYTHING) is None
    mask = Value(call("Dropout", *inputs((2,)), train=True).node, 1)
    assert recipe_of(mask, Effort.ANYTHING) is None


def test_statistics_are_not_computed_again() -> None:
    _, y = _batch_norm()
    assert recipe_of(Value(y.node, 1), Effort.ANYTHING) is None


def test_a_normalization_is_applied_with_the_statistics_that_it_found() -> None:
    values, y = _batch_norm()
    recipe = recipe_of(y, Effort.LITTLE)
    assert recipe is not None
    assert [v.key for v in recipe.sources[:3]] == [v.key for v in values[:3]]
    assert [v.key for v in recipe.sources[3:]] == [(id(y.node), 1), (id(y.node), 2)]
    copy = recipe.make(recipe.sources)
    assert copy.node.op is not None
    assert copy.node.op.name == "_batch_norm_apply"
    assert copy.spec == y.spec


def test_a_sum_and_a_rectifier_behind_a_normalization_are_one_copy() -> None:
    values, y = _batch_norm((2, 3, 4))
    for total in (y + values[5], values[5] + y):
        recipe = recipe_of(call("Activation", total, act_type="relu"), Effort.LITTLE)
        assert recipe is not None
        assert recipe.sources[5].key == values[5].key
        assert recipe.make(recipe.sources).node.attrs["relu"]


def test_other_activations_are_repeated_by_themselves() -> None:
    _, y = _batch_norm()
    recipe = recipe_of(call("Activation", y, act_type="tanh"), Effort.LITTLE)
    assert recipe is not None
    assert [v.key for v in recipe.sources] == [y.key]


def test_nothing_is_computed_from_what_does_not_stay_as_it_is() -> None:
    (a,) = inputs((2,))
    assert recipe_of(call("exp", a), Effort.LITTLE, {a.key}) is None
    assert recipe_of(a, Effort.ANYTHING) is None
