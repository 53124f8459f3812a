"""Which kernel an operator chooses, and where a call goes that it refuses."""

from typing import Any

import numpy as np
import pytest

from gluonish.core.spec import Spec
from gluonish.kernels.generated import data_movement
from gluonish.ops.facts import Execution
from gluonish.ops.kernel import BackEnd, Bound, FastKernel, RefusedError
from gluonish.ops.registry import Attrs, Operator, all_operators
from gluonish.ops.support.refusals import refusals


def spec_of(x: Any) -> Spec:
    return Spec(x.shape, x.dtype)


FLOAT32, FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)
DATA = Spec((100,), FLOAT32)


def _operator(*kernels: FastKernel) -> Operator:
    def infer(data: Spec, *, dtype: np.dtype[Any]) -> tuple[Spec]:
        return (Spec(data.shape, dtype),)

    op = Operator("test_cast", infer, lambda *_args, **_attrs: None, None, doc="A cast.")
    for kernel in kernels:
        op.register_kernel(kernel)
    return op


def _kernel(name: str, **options: Any) -> FastKernel:
    def supports(*_specs: Spec, **_attrs: Any) -> bool:
        return True

    def run(*_args: Any, **_attrs: Any) -> None:
        """Write nothing."""

    return FastKernel(BackEnd.GENERATED, name, supports, run=run, **options)


@pytest.mark.parametrize(("dtype", "is_taken"), [(FLOAT32, True), (FLOAT64, False)])
def test_predicate_alone_does_not_give_a_kernel_outputs_of_another_dtype(
    dtype: np.dtype[Any], is_taken: bool
) -> None:
    fast = _kernel("cast")
    op, attrs = _operator(fast), {"dtype": dtype}
    assert (op.select_fast("cpu", [DATA], attrs) is fast) is is_taken
    assert (op.select_kernel("cpu", [DATA], attrs) is op.kernel) is not is_taken
    assert (op.chosen_kernel("cpu", [DATA], attrs)[0] is op.kernel) is not is_taken


def test_kernel_gets_outputs_of_the_dtypes_that_it_makes() -> None:
    narrow, wide = _kernel("narrow"), _kernel("wide", makes=(FLOAT64,))
    op = _operator(narrow, wide)
    assert op.select_fast("cpu", [DATA], {"dtype": FLOAT32}) is narrow
    assert op.select_fast("cpu", [DATA], {"dtype": FLOAT64}) is wide
    assert op.select_fast("cpu", [DATA], {"dtype": FLOAT64}, (narrow,)) is None


def test_what_only_the_moment_of_the_call_knows_is_kept_from_inference() -> None:
    fast = _kernel("draw")
    op = Operator(
        "test_draw",
        lambda data: (data,),
        lambda *_args, **_attrs: None,
        None,
        doc="",
        execution=Execution(random=True),
    )
    op.register_kernel(fast)
    attrs: Attrs = {"key": (1, 2), "train": True}
    assert op.select_fast("cpu", [DATA], attrs) is fast


class _Adds:
    """A plan that adds a number."""

    def __init__(self, number: float) -> None:
        self.number = number

    def run(self, out: Any, x: Any, key: Any = None) -> None:
        np.add(x, self.number, out=out)

    def packing(self, stable: Any) -> None:
        """Nothing is computed ahead."""

    def attach(self, operands: Any, arrays: Any, moving: Any, packing: Any = None) -> Any:
        raise NotImplementedError


def _plan(number: float | None) -> FastKernel:
    """Return a kernel that adds a number; None: that refuses."""

    def plan(outputs: Any, inputs: Any, attrs: Attrs) -> Bound:
        if number is None:
            raise RefusedError("no such layout")
        return Bound(_Adds(number))

    return FastKernel(BackEnd.NUMPY, f"plus_{number}", lambda *_specs: True, plan=plan)


def _refusing_run() -> FastKernel:
    def run(xp: Any, out: Any, x: Any) -> None:
        raise RefusedError("no such layout")

    return FastKernel(BackEnd.GENERATED, "run", lambda *_specs: True, run=run)


def _plus(*kernels: FastKernel) -> Operator:
    def kernel(xp: Any, out: Any, x: Any) -> None:
        xp.add(x, 100, out=out)

    op = Operator("test_plus", lambda data: (data,), kernel, None, doc="A sum.")
    for fast in kernels:
        op.register_kernel(fast)
    return op


@pytest.mark.parametrize(
    ("kernels", "wanted"),
    [
        ([_plan(1), _plan(2)], 1),
        ([_plan(None), _plan(2)], 2),
        ([_refusing_run(), _plan(None), _plan(3)], 3),
        ([_plan(None), _refusing_run()], 100),
    ],
)
def test_what_a_kernel_refuses_goes_to_the_next_and_last_to_the_reference(
    kernels: list[FastKernel], wanted: int
) -> None:
    op = _plus(*kernels)
    x, out = np.zeros(3, np.float32), np.empty(3, np.float32)
    before = refusals().get("run", 0)
    op.select_kernel("cpu", [spec_of(x)], {})(np, out, x)
    np.testing.assert_array_equal(out, wanted)
    assert refusals().get("run", 0) == before + (wanted == 100)
    planned = op.plan(kernels[0], (out,), (x,), {}) if kernels[0].plan is not None else None
    if planned is not None:
        planned.plan.run(out, x)
        np.testing.assert_array_equal(out, wanted)


def test_no_plan_is_given_where_a_kernel_without_one_is_next() -> None:
    refuses = _plan(None)
    op = _plus(refuses, _refusing_run(), _plan(3))
    x = np.zeros(3, np.float32)
    assert op.plan(refuses, (x,), (x,), {}) is None


def test_operands_may_stand_in_another_order() -> None:
    assert Bound(_Adds(1), (1, 0)).order("ab") == ["b", "a"]
    assert Bound(_Adds(1)).order("ab") == "ab"


def test_no_kernel_is_hung_twice() -> None:
    for op in all_operators():
        assert len(set(map(id, op.fast_kernels))) == len(op.fast_kernels)
    names = [(op.name, fast.name) for op in all_operators() for fast in op.fast_kernels]
    movers = {fast.name for op in all_operators() for fast in data_movement.kernels_of(op)}
    doubles = {name for op, name in names if names.count((op, name)) > 1}
    assert doubles <= movers  # a copy, and an expression of single elements, under one name


class _Doubles:
    """A plan that doubles, and counts how often one was made."""

    def __init__(self) -> None:
        self.made = 0
        self.refuses = False

    def plan(self, outputs: Any, inputs: Any, attrs: Any) -> Bound:
        if self.refuses:
            raise RefusedError("not now")
        self.made += 1
        return Bound(self)

    def run(self, out: Any, x: Any, key: Any = None) -> None:
        np.multiply(x, 2, out=out)


def test_a_call_of_the_same_signature_keeps_its_plan_for_arrays_in_order() -> None:
    doubles = _Doubles()
    fast = FastKernel(BackEnd.NUMPY, "doubles", lambda *_: True, plan=doubles.plan)
    refused: list[Any] = []

    def after(*call: Any) -> Any:
        refused.append(call)
        return lambda xp, out, x: np.add(x, x, out=out)

    fast.kernel = fast.make_kernel(single=True, random=False, fallback=after)
    run = fast.cached(single=True, fallback=after)
    x, out = np.arange(6.0).reshape(2, 3), np.empty((2, 3))
    for _ in range(3):
        run(np, out, x)
        assert (out == 2 * x).all()
    assert doubles.made == 1
    for _ in range(2):  # a plan is for one order of memory
        run(np, np.empty((3, 2)).T, x)
    assert doubles.made == 3
    doubles.refuses = True
    run = fast.cached(single=True, fallback=after)
    for _ in range(2):
        run(np, out, x)
    assert len(refused) == 2
    assert (out == 2 * x).all()


def test_a_kernel_that_binds_runs_without_a_plan_what_has_none() -> None:
    doubles, ran = _Doubles(), 0

    def double(xp: Any, out: Any, x: Any) -> None:
        nonlocal ran
        ran += 1
        np.add(x, x, out=out)

    x, out = np.arange(6.0).reshape(2, 3), np.empty((2, 3))
    for binds in (False, True):
        fast = FastKernel(
            *(BackEnd.NUMPY, "doubles", lambda *_: True),
            plan=doubles.plan,
            run=double,
            binds=binds,
        )
        fast.kernel = fast.make_kernel(single=True, random=False, fallback=pytest.fail)
        run = fast.cached(single=True, fallback=pytest.fail)
        for _ in range(2):
            run(np, out, x)
            assert (out == 2 * x).all()
        assert (ran, doubles.made) == (2, int(binds))
    run(np, np.empty((3, 2)).T, x)
    doubles.refuses = True
    fast.cached(single=True, fallback=pytest.fail)(np, out, x)
    assert (ran, doubles.made) == (4, 1)
