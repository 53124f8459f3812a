import pytest

from gluonish.graph.ir import Graph, Value, lint
from gluonish.graph.passes import eliminate_dead_code, simplify
from tests.graph.builders import call, graph, inputs, text


def _simplified(variables: list[Value], *outputs: Value) -> str:
    made: Graph = lint(simplify(graph(variables, *outputs)))
    return str(eliminate_dead_code(made))


def test_copies_go() -> None:
    (a,) = inputs((2,))
    assert _simplified([a], call("exp", call("_copy", a))) == text(
        """
        %0: float32(2,) = variable a
        %1: float32(2,) = exp(%0)
        return %1
        """
    )


def test_an_output_that_only_copied_an_input_is_the_input() -> None:
    (a,) = inputs((2,))
    assert _simplified([a], call("_copy", a)) == text(
        """
        %0: float32(2,) = variable a
        return %0
        """
    )


def test_casts_to_the_same_dtype_go_and_others_stay() -> None:
    (a,) = inputs((2,))
    y = call("Cast", call("Cast", a, dtype="float32"), dtype="float16")
    assert _simplified([a], y) == text(
        """
        %0: float32(2,) = variable a
        %1: float16(2,) = Cast(%0, dtype=float16)
        return %1
        """
    )


def test_a_chain_of_reshapes_becomes_one() -> None:
    (a,) = inputs((2, 6))
    y = call("expand_dims", call("Flatten", call("Reshape", a, shape=(4, 3, 1))), axis=0)
    assert _simplified([a], y) == text(
        """
        %0: float32(2, 6) = variable a
        %1: float32(1, 4, 3) = _reshape_exact(%0, shape=(1, 4, 3))
        return %1
        """
    )


@pytest.mark.parametrize("name", ["sum", "mean"])
def test_a_reduction_of_single_elements_is_a_reshape(name: str) -> None:
    (a,) = inputs((4, 1))
    assert _simplified([a], call(name, a, axis=0, exclude=True)) == text(
        """
        %0: float32(4, 1) = variable a
        %1: float32(4,) = _reshape_exact(%0, shape=(4,))
        return %1
        """
    )
    assert _simplified([a], call("relu", call(name, a, axis=1, keepdims=True))) == text(
        """
        %0: float32(4, 1) = variable a
        %1: float32(4, 1) = relu(%0)
        return %1
        """
    )


@pytest.mark.parametrize("shape", [(4, 2), (0, 1), (1, 0)])
def test_reductions_of_several_or_no_elements_stay(shape: tuple[int, ...]) -> None:
    (a,) = inputs(shape)
    assert "mean(%0" in _simplified([a], call("mean", a, axis=1))


def test_a_chain_that_comes_back_to_its_shape_goes() -> None:
    (a,) = inputs((2, 6))
    y = call("Reshape", call("Reshape", a, shape=(3, 4)), shape=(2, 6))
    assert _simplified([a], call("relu", y)) == text(
        """
        %0: float32(2, 6) = variable a
        %1: float32(2, 6) = relu(%0)
        return %1
        """
    )


def test_a_chain_over_an_empty_array_keeps_its_shape() -> None:
    (a,) = inputs((0, 6))
    y = call("expand_dims", call("Reshape", a, shape=(0, 3, 2)), axis=0)
    assert "float32(1, 0, 3, 2) = _reshape_exact" in _simplified([a], y)


@pytest.mark.parametrize("name", ["BlockGrad", "make_loss", "MakeLoss"])
def test_identities_with_a_gradient_of_their_own_stay(name: str) -> None:
    (a,) = inputs((2, 6))
    y = call("Reshape", call(name, a), shape=(3, 4))
    assert f"{name}(%0" in _simplified([a], y)


def test_dropout_outside_training_goes() -> None:
    (a,) = inputs((2,))
    y = call("relu", call("Dropout", a, train=False))
    assert _simplified([a], y) == text(
        """
        %0: float32(2,) = variable a
        %1: float32(2,) = relu(%0)
        return %1
        """
    )


@pytest.mark.parametrize("attrs", [{"train": True}, {"train": False, "mode": "always"}])
def test_dropout_that_drops_stays(attrs: dict[str, object]) -> None:
    (a,) = inputs((2,))
    assert "Dropout" in _simplified([a], call("Dropout", a, **attrs))


def test_dropout_whose_mask_is_read_stays() -> None:
    (a,) = inputs((2,))
    y = call("Dropout", a, train=False)
    assert "Dropout" in _simplified([a], y + Value(y.node, 1))


def test_casts_of_mixed_precision_are_casts_and_none_takes_a_widening_one_back() -> None:
    (a,) = inputs((2,))
    half = call("amp_cast", a, dtype="bfloat16")
    wide = call("amp_cast", call("amp_cast", half, dtype="float32"), dtype="float32")
    y = call("tanh", call("amp_cast", wide, dtype="bfloat16"))
    assert _simplified([a], y, call("exp", wide)) == text(
        """
        %0: float32(2,) = variable a
        %1: bfloat16(2,) = Cast(%0, dtype=bfloat16)
        %2: float32(2,) = Cast(%1, dtype=float32)
        %3: bfloat16(2,) = tanh(%1)
        %4: float32(2,) = exp(%2)
        return %3, %4
        """
    )


def test_arrays_that_are_alike_are_cast_one_by_one() -> None:
    (a,) = inputs((2,))
    half = call("amp_cast", a, dtype="bfloat16")
    both = call("amp_multicast", half, a, num_outputs=2)
    assert _simplified([a], call("elemwise_add", *both)) == text(
        """
        %0: float32(2,) = variable a
        %1: bfloat16(2,) = Cast(%0, dtype=bfloat16)
        %2: float32(2,) = Cast(%1, dtype=float32)
        %3: float32(2,) = elemwise_add(%2, %0)
        return %3
        """
    )
