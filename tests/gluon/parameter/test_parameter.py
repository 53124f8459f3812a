from collections.abc import Callable

import numpy as np
import pytest

from gluonish import initializer, util
from gluonish.autograd import backward, pause, record
from gluonish.core.context import cpu
from gluonish.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    DeferredInitializationError,
    ParameterError,
)
from gluonish.gluon.parameter import Parameter, shape_is_known
from gluonish.ndarray import NDArray, array, ones


def ready(shape: tuple[int, ...] = (2, 3), **kwargs: object) -> Parameter:
    parameter = Parameter("w", shape=shape, **kwargs)  # type: ignore[arg-type]  # passed on
    parameter.initialize()
    return parameter


def deferred(**kwargs: object) -> Parameter:
    parameter = Parameter("w", shape=(3, 0), allow_deferred_init=True, **kwargs)  # type: ignore[arg-type]  # passed on
    parameter.initialize()
    return parameter


def test_repr_is_that_of_mxnet() -> None:
    assert repr(Parameter("w", shape=(3, 0))) == (
        "Parameter w (shape=(3, 0), dtype=<class 'numpy.float32'>)"
    )


def test_one_number_is_a_shape() -> None:
    assert Parameter("w", shape=3).shape == (3,)


def test_unknown_shapes_are_told() -> None:
    shapes = [None, (), (1, 0), (1, -1), (2, 3)]
    assert [shape_is_known(shape) for shape in shapes] == [False, False, False, False, True]


def test_use_before_initialize_is_refused() -> None:
    parameter = Parameter("w", shape=(2,))
    calls = [
        parameter.data,
        parameter.list_data,
        parameter.grad,
        parameter.list_grad,
        parameter.list_ctx,
    ]
    for call in calls:
        with pytest.raises(ParameterError, match=r"Parameter w: .*call initialize"):
            call()  # type: ignore[operator]


def test_unknown_shape_without_permission_to_wait_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"expected a known shape, got \(3, 0\)"):
        Parameter("w", shape=(3, 0)).initialize()


def test_deferred_parameter_says_what_it_waits_for() -> None:
    parameter = deferred()
    for call in (parameter.data, parameter.grad, parameter.list_data, parameter.list_grad):
        with pytest.raises(DeferredInitializationError, match=r"waits for its shape \(3, 0\)"):
            call()


def test_deferred_parameter_knows_its_devices() -> None:
    parameter = Parameter("w", shape=(3, 0), allow_deferred_init=True)
    parameter.initialize(ctx=[cpu(0), cpu(1)])
    assert parameter.list_ctx() == [cpu(0), cpu(1)]
    parameter.reset_ctx(cpu(2))
    assert parameter.list_ctx() == [cpu(2)]


def test_deferred_parameter_is_made_once_its_shape_is_known() -> None:
    parameter = deferred(init="ones")
    parameter.shape = (3, 2)
    parameter._finish_deferred_init()
    np.testing.assert_array_equal(parameter.data().asnumpy(), np.ones((3, 2)))
    np.testing.assert_array_equal(parameter.grad().asnumpy(), np.zeros((3, 2)))


def test_finishing_with_unknown_shape_is_refused() -> None:
    with pytest.raises(ParameterError, match="in_units"):
        deferred()._finish_deferred_init()


def test_own_initializer_wins_over_the_default() -> None:
    parameter = Parameter("w", shape=(2,), init="ones")
    parameter.initialize(default_init=initializer.Constant(5))
    assert parameter.data().asnumpy().tolist() == [1, 1]


def test_given_initializer_wins_over_its_own() -> None:
    parameter = Parameter("w", shape=(2,), init="ones")
    parameter.initialize(init="zeros")
    assert parameter.data().asnumpy().tolist() == [0, 0]


def test_name_does_not_decide_how_a_parameter_is_filled() -> None:
    parameter = Parameter("some_gamma", shape=(2,))
    parameter.initialize(initializer.Constant(5))
    assert parameter.data().asnumpy().tolist() == [5, 5]


def test_any_function_may_fill() -> None:
    mixed = initializer.Mixed(["w", ".*"], [initializer.Constant(3), initializer.Zero()])
    parameter = Parameter("w_weight", shape=(2,))
    parameter.initialize(default_init=mixed)
    assert parameter.data().asnumpy().tolist() == [3, 3]
    own = Parameter("w", shape=(2,), init="ones")
    own.initialize(default_init=mixed)
    assert own.data().asnumpy().tolist() == [1, 1]


def test_second_initialize_warns_and_keeps_values() -> None:
    parameter = ready(init="ones")
    with pytest.warns(UserWarning, match="already initialized"):
        parameter.initialize(init="zeros")
    assert parameter.data().asnumpy().sum() == 6
    parameter.initialize(init="zeros", force_reinit=True)
    assert parameter.data().asnumpy().sum() == 0


def test_devices_start_from_equal_values() -> None:
    parameter = Parameter("w", shape=(2, 3))
    parameter.initialize(ctx=[cpu(0), cpu(1)])
    first, second = parameter.list_data()
    assert (first.context, second.context) == (cpu(0), cpu(1))
    np.testing.assert_array_equal(first.asnumpy(), second.asnumpy())
    assert parameter.data(cpu(1)) is second
    assert parameter.grad(cpu(1)).context == cpu(1)


def test_current_context_decides_among_several_devices() -> None:
    parameter = Parameter("w", shape=(2,))
    parameter.initialize(ctx=[cpu(0), cpu(1)])
    with cpu(1):
        assert parameter.data().context == cpu(1)


def test_only_device_needs_no_context() -> None:
    parameter = Parameter("w", shape=(2,))
    parameter.initialize(ctx=cpu(1))
    assert parameter.data().context == cpu(1)


def test_device_without_the_parameter_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"expected a context of \[cpu\(0\)\].*got cpu\(2\)"):
        ready().data(cpu(2))


@pytest.mark.parametrize("ctx", ["cuda", [], [cpu(), 1], 0])
def test_bad_context_is_refused(ctx: object) -> None:
    with pytest.raises((ArgumentError, ArgumentTypeError), match=r"expected (ctx|device|at least)"):
        Parameter("w", shape=(2,)).initialize(ctx=ctx)  # type: ignore[arg-type]  # the mistake


def test_known_extents_stay() -> None:
    parameter = Parameter("w", shape=(3, 0, -1))
    parameter.shape = (3, 2, 4)
    for shape in [(3, 2, 5), (3, 2), (0, 2, 4)]:
        with pytest.raises(ParameterError, match=r"fits \(3, 2, 4\)"):
            parameter.shape = shape


def test_backward_fills_the_gradient() -> None:
    parameter = ready(init="ones")
    with record():
        loss = (parameter.data() * 3).sum()
    backward(loss)
    assert parameter.grad().asnumpy().tolist() == [[3, 3, 3], [3, 3, 3]]
    parameter.zero_grad()
    assert parameter.grad().asnumpy().sum() == 0


def test_grad_req_may_change_on_the_way() -> None:
    parameter = ready(init="ones")
    parameter.grad_req = "null"
    with pytest.raises(ParameterError, match="got 'null'"):
        parameter.grad()
    parameter.zero_grad()
    parameter.grad_req = "add"
    for _ in range(2):
        with record():
            loss = parameter.data().sum()
        backward(loss)
    assert parameter.grad().asnumpy().tolist() == [[2, 2, 2], [2, 2, 2]]


def test_unknown_grad_req_is_refused() -> None:
    with pytest.raises(ArgumentError, match="got 'all'"):
        Parameter("w", grad_req="all")


def test_parameter_that_is_not_differentiable_never_has_a_gradient() -> None:
    parameter = ready(differentiable=False)
    parameter.grad_req = "write"
    assert parameter.grad_req == "null"
    with pytest.raises(ParameterError, match="grad_req"):
        parameter.list_grad()


def test_set_data_writes_into_the_same_arrays() -> None:
    parameter = Parameter("w", shape=(2,))
    parameter.initialize(ctx=[cpu(0), cpu(1)])
    before = parameter.list_data()
    with record():
        parameter.set_data(np.array([1.0, 2.0]))
    assert parameter.list_data() == before or all(
        a is b for a, b in zip(before, parameter.list_data(), strict=True)
    )
    assert [x.asnumpy().tolist() for x in before] == [[1, 2], [1, 2]]
    assert parameter.data(cpu(0)).dtype == np.float32


def test_moves_grow_with_new_arrays_and_not_with_new_values() -> None:
    parameter = Parameter("w", shape=(2,))
    counts = [Parameter.version]

    def moved(act: Callable[[], object]) -> bool:
        act()
        counts.append(Parameter.version)
        return counts[-1] > counts[-2]

    assert moved(parameter.initialize)
    assert not moved(lambda: parameter.set_data(np.ones(2)))
    assert moved(lambda: parameter.cast("float64"))
    assert moved(lambda: parameter.reset_ctx(cpu(1)))
    assert moved(lambda: setattr(parameter, "grad_req", "null"))


def test_set_data_of_another_shape_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"fits \(2, 3\), got \(3, 3\)"):
        ready().set_data(ones((3, 3)))


def test_set_data_settles_a_deferred_shape() -> None:
    parameter = deferred()
    parameter.set_data(ones((3, 2)) * 4)
    assert parameter.shape == (3, 2)
    parameter._finish_deferred_init()
    assert parameter.data().asnumpy().tolist() == [[4, 4]] * 3


def test_set_data_before_initialize_is_refused() -> None:
    with pytest.raises(ParameterError, match="call initialize"):
        Parameter("w", shape=(2,)).set_data(ones((2,)))


class Recorder:
    def __init__(self) -> None:
        self.seen: list[Parameter] = []

    def _parameter_was_set(self, parameter: Parameter, version: bool = False) -> None:
        self.seen.append(parameter)


def test_set_data_tells_the_trainer() -> None:
    parameter, trainer = ready(), Recorder()
    parameter._set_trainer(trainer)
    parameter.set_data(ones((2, 3)))
    assert trainer.seen == [parameter]


def test_reset_ctx_moves_the_mean() -> None:
    parameter = Parameter("w", shape=(2,))
    parameter.initialize(ctx=[cpu(0), cpu(1)])
    for value, data in zip((1, 3), parameter.list_data(), strict=True):
        with pause():
            data[:] = value
    parameter.reset_ctx([cpu(2)])
    assert parameter.list_ctx() == [cpu(2)]
    assert parameter.data().asnumpy().tolist() == [2, 2]
    assert parameter.grad().context == cpu(2)


def test_reset_ctx_before_initialize_is_refused() -> None:
    with pytest.raises(ArgumentError, match="reset_ctx"):
        Parameter("w", shape=(2,)).reset_ctx(cpu(1))


def test_cast_converts_values_and_gradient() -> None:
    parameter = ready(init="ones")
    parameter.grad()[:] = 3
    parameter.cast("float64")
    assert (parameter.data().dtype, parameter.dtype) == (np.float64, "float64")
    assert parameter.grad().asnumpy().tolist() == [[3, 3, 3], [3, 3, 3]]
    with record():
        loss = parameter.data().sum()
    backward(loss)
    assert parameter.grad().asnumpy().tolist() == [[1, 1, 1], [1, 1, 1]]


def test_cast_of_a_deferred_parameter_counts_later() -> None:
    parameter = deferred()
    parameter.dtype = "float16"
    parameter.shape = (3, 1)
    parameter._finish_deferred_init()
    assert parameter.data().dtype == np.float16


def test_unknown_dtype_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="complex64"):
        Parameter("w", dtype="complex64")


@pytest.mark.parametrize("argument", ["stype", "grad_stype"])
def test_unknown_storage_type_is_refused(argument: str) -> None:
    with pytest.raises(ArgumentError, match="got 'thin'"):
        Parameter("w", **{argument: "thin"})  # type: ignore[arg-type]  # names a str argument


def test_dense_parameter_has_no_sparse_rows() -> None:
    for call in (ready().row_sparse_data, ready().list_row_sparse_data):
        with pytest.raises(ParameterError, match="row_sparse"):
            call(array([0]))


def test_variable_has_the_attributes_of_mxnet() -> None:
    parameter = Parameter(
        "w", shape=(4, 0), dtype="float16", lr_mult=2, wd_mult=0.5, init=initializer.Constant(3)
    )
    attributes = parameter.var().attr_dict()["w"]
    assert {key: value for key, value in attributes.items() if key.startswith("__")} == {
        "__dtype__": "2",
        "__init__": '["constant", {"value": 3}]',
        "__lr_mult__": "2",
        "__shape__": "(4, 0)",
        "__storage_type__": "0",
        "__wd_mult__": "0.5",
    }
    assert parameter.var() is parameter.var()


def test_variable_of_unknown_shape_and_initializer_lacks_them() -> None:
    attributes = Parameter("w").var().attr_dict()["w"]
    assert "__shape__" not in attributes
    assert "__init__" not in attributes


class TestLoading:
    def load(self, parameter: Parameter, data: NDArray, **kwargs: object) -> None:
        parameter._load_init(data, **{"ctx": None, **kwargs})  # type: ignore[arg-type]  # passed on

    def test_uninitialized_parameter_becomes_initialized_on_the_cpu(self) -> None:
        parameter = Parameter("w", shape=(3, 0))
        self.load(parameter, ones((3, 2)))
        assert (parameter.shape, parameter.list_ctx()) == ((3, 2), [cpu(0)])
        assert parameter.grad().shape == (3, 2)

    def test_deferred_parameter_keeps_its_devices(self) -> None:
        parameter = Parameter("w", shape=(3, 0), allow_deferred_init=True)
        parameter.initialize(ctx=cpu(1))
        self.load(parameter, ones((3, 2)))
        assert parameter.list_ctx() == [cpu(1)]

    def test_other_devices_are_refused(self) -> None:
        with pytest.raises(ParameterError, match=r"expected ctx \[cpu\(0\)\].*got \[cpu\(1\)\]"):
            self.load(ready(), ones((2, 3)), ctx=cpu(1))

    def test_other_shape_is_refused(self) -> None:
        with pytest.raises(ParameterError, match=r"loading expected shape \(2, 3\), got \(3, 2\)"):
            self.load(ready(), ones((3, 2)))

    def test_other_dtype_is_refused_unless_cast(self) -> None:
        half = ones((2, 3), dtype="float16")
        parameter = ready()
        with pytest.raises(ParameterError, match="dtype float32, got float16; set cast_dtype"):
            self.load(parameter, half)
        self.load(parameter, half, cast_dtype=True)
        assert parameter.data().dtype == np.float32
        self.load(parameter, half, cast_dtype=True, dtype_source="saved")
        assert parameter.data().dtype == parameter.grad().dtype == np.float16

    def test_unknown_dtype_source_is_refused(self) -> None:
        with pytest.raises(ArgumentError, match="got 'mine'"):
            self.load(ready(), ones((2, 3)), dtype_source="mine")


@pytest.mark.parametrize("wrong", [None, "ab", (2, 1.5), (2, None)])
def test_shape_of_a_wrong_type_is_refused(wrong: object) -> None:
    with pytest.raises(ArgumentTypeError, match="Parameter w: expected shape as a sequence"):
        Parameter("w", shape=(2, 0)).shape = wrong  # type: ignore[assignment]


def test_shape_may_hold_numpy_integers() -> None:
    parameter = Parameter("w", shape=[np.int64(2), 0])  # type: ignore[list-item]
    parameter.shape = [2, np.int32(3)]  # type: ignore[list-item]
    assert parameter.shape == (2, 3)
    assert {type(extent) for extent in parameter.shape} == {int}


def test_scalar_parameter_needs_the_shapes_of_numpy() -> None:
    with pytest.raises(ArgumentError, match=r"got \(\); .*NumPy shape semantics"):
        Parameter("w", shape=()).initialize()
    with util.np_shape(True):
        parameter = Parameter("w", shape=())
        parameter.initialize(initializer.Constant(2.0))
        assert parameter.data().shape == ()
        assert float(parameter.data().asnumpy()) == 2.0


def test_zero_is_unknown_with_the_shapes_of_numpy_too() -> None:
    with util.np_shape(True):
        parameter = Parameter("w", shape=(2, 0), allow_deferred_init=True)
        assert parameter.shape == (2, -1)
        parameter.initialize()
        with pytest.raises(DeferredInitializationError, match=r"shape \(2, -1\)"):
            parameter.data()


def rows() -> Parameter:
    parameter = Parameter("w", shape=(4, 2), stype="row_sparse", grad_stype="row_sparse")
    parameter.initialize()
    return parameter


@pytest.mark.parametrize("method", ["data", "list_data"])
def test_rows_are_not_given_as_a_whole(method: str) -> None:
    with pytest.raises(ParameterError, match=f"{method} expected .*'row_sparse'; use row_sparse"):
        getattr(rows(), method)()


@pytest.mark.parametrize("method", ["row_sparse_data", "list_row_sparse_data"])
def test_rows_need_a_trainer(method: str) -> None:
    with pytest.raises(ParameterError, match=f"{method} expected a Parameter of a Trainer"):
        getattr(rows(), method)(array([0]))


def test_numbers_of_rows_must_be_an_array() -> None:
    parameter = rows()
    parameter._set_trainer(Recorder())
    with pytest.raises(ArgumentTypeError, match="row_id as an NDArray on the device, got list"):
        parameter.row_sparse_data([0])  # type: ignore[arg-type]


def test_rows_belong_to_one_trainer() -> None:
    parameter, first = rows(), Recorder()
    parameter._set_trainer(first)
    parameter._set_trainer(first)
    with pytest.raises(ParameterError, match="one Trainer for a row_sparse parameter"):
        parameter._set_trainer(Recorder())
    parameter._set_trainer(None)
    parameter._set_trainer(Recorder())


def test_csr_values_are_not_given_at_all() -> None:
    parameter = Parameter("w", shape=(4, 2), stype="csr")
    parameter.initialize()
    with pytest.raises(ParameterError, match="got 'csr'; make the parameter dense"):
        parameter.data()


def test_zero_grad_reaches_all_devices_and_storage_types() -> None:
    contexts = [cpu(0), cpu(1)]
    dense = Parameter("w", shape=(2, 2))
    sparse = Parameter("v", shape=(2, 2), grad_stype="row_sparse")
    for parameter in (dense, sparse):
        parameter.initialize(ctx=contexts)
        for gradient in parameter.list_grad():
            array(np.ones((2, 2)), ctx=gradient.context).tostype(gradient.stype).copyto(gradient)
        parameter.zero_grad()
        assert [g.asnumpy().any() for g in parameter.list_grad()] == [False, False]
    Parameter("z", shape=(1,), grad_req="null").zero_grad()


def test_the_array_that_an_initializer_filled_is_the_value() -> None:
    filled: list[NDArray] = []

    class Kept(initializer.Initializer):
        def _init_weight(self, name: str, arr: NDArray) -> None:
            arr[:] = 3
            filled.append(arr)

    parameter = Parameter("w", shape=(4, 0), allow_deferred_init=True, init=Kept())
    parameter.initialize(ctx=cpu())
    parameter.shape = (4, 2)
    parameter._finish_deferred_init()
    assert np.shares_memory(parameter.data(cpu())._data, filled[0]._data)  # no second copy
    np.testing.assert_array_equal(parameter.data().asnumpy(), np.full((4, 2), 3))


def test_values_set_before_the_shape_is_known_are_copied() -> None:
    parameter = deferred()
    value = ones((3, 2))
    parameter.set_data(value)
    parameter._finish_deferred_init()
    value[:] = 5
    np.testing.assert_array_equal(parameter.data().asnumpy(), np.ones((3, 2)))
