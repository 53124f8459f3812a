"""check_operator: one call that holds an operator against all that its definition promises."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from gluonish.core.dtype import FLOAT64, is_floating
from gluonish.ops.facts import Execution, Gradient, ShapeFacts
from gluonish.ops.reductions.reduction import sum_
from gluonish.ops.registry import Operator, apply, find_operator
from gluonish.ops.support.composite import composite_gradient, input_gradients
from tests.checking.values import ArrayValue, run_kernel, runtime_attrs, spec_of

Arrays = Sequence[Any]
Expected = Callable[..., Any] | Arrays | np.ndarray[Any, Any] | None

_STEP = 1e-5  # of central differences in float64: errors of 1e-10 from both ends
_HALF_TYPES = (np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16))


def check_operator(
    operator: Operator | str,
    inputs: Arrays,
    attrs: Mapping[str, Any] | None = None,
    expected: Expected = None,
    *,
    differentiable: bool = True,
    second_order: bool = True,
    wrt: Sequence[int] | None = None,
    half: bool = True,
    zero_size: Arrays | None = None,
    train: bool = True,
    rtol: float = 1e-5,
    atol: float = 1e-6,
    half_tolerance: float = 2e-2,
) -> None:
    """Test inference, reference kernel, gradients to order 2 and fast kernels of an operator.

    Args:
        operator: The operator or its registry name.
        inputs: NumPy arrays.
        attrs: Attributes as a user writes them.
        expected: What the visible outputs should be: an array, several, or a function of the inputs
            (called without the attributes) that gives them. None checks everything else.
        differentiable: Compare the gradient rule with central differences, in float64.
        second_order: Do the same with the gradient of the gradient.
        wrt: Positions of the inputs to differentiate; by default those whose rule gives a value.
        half: Also run in float16 and bfloat16, against the result in float64.
        zero_size: Inputs without elements to run as well; made here for elementwise operators.
        train: Training mode, for operators that depend on it.
        rtol: Relative tolerance of forward results and gradients.
        atol: Absolute tolerance of both.
        half_tolerance: Both tolerances of the 16-bit runs.

    Raises:
        AssertionError: Any of this does not hold; the message names the operator and the check.
    """
    check = _Check(operator, inputs, attrs, train, rtol, atol)
    check.forward(expected)
    check.strided()
    check.empty(zero_size)
    if half:
        check.half_precision(half_tolerance)
    if differentiable:
        check.gradients(wrt, second_order)
    check.fast_kernels()


class _Check:
    """One operator with inputs and attributes, and the checks of it."""

    def __init__(
        self,
        operator: Operator | str,
        inputs: Arrays,
        attrs: Mapping[str, Any] | None,
        train: bool,
        rtol: float,
        atol: float,
    ) -> None:
        self.op = find_operator(operator) if isinstance(operator, str) else operator
        given = dict(attrs or {})
        if self.op.variadic is not None:
            given.setdefault(self.op.variadic, len(inputs))
        self.attrs = self.op.schema.parse(self.op.name, given)
        self.runtime = runtime_attrs(self.op, self.attrs, train)
        self.inputs = [np.asarray(x) for x in inputs]
        self.rtol = rtol
        self.atol = atol

    def run(self, inputs: Arrays, kernel: Callable[..., None] | None = None) -> list[Any]:
        """Return all outputs; inputs that the operator overwrites are copied first."""
        mutated = self.op.mutated_inputs(self.attrs)
        given = [x.copy() if i in mutated else x for i, x in enumerate(inputs)]
        return run_kernel(self.op, kernel or self.op.kernel, given, self.attrs, self.runtime)

    def close(self, got: Any, want: Any, what: str, rtol: float, atol: float) -> None:
        """Compare two arrays in shape and value."""
        assert got.shape == want.shape, f"{self.op.name}, {what}: {got.shape} is not {want.shape}"
        np.testing.assert_allclose(
            np.asarray(got, dtype=FLOAT64),
            np.asarray(want, dtype=FLOAT64),
            rtol=rtol,
            atol=atol,
            err_msg=f"{self.op.name}, {what}",
        )

    def all_close(
        self, got: Arrays, want: Arrays, what: str, tolerance: float | None = None
    ) -> None:
        """Compare lists of arrays."""
        rtol = self.rtol if tolerance is None else tolerance
        atol = self.atol if tolerance is None else tolerance
        for i, (a, b) in enumerate(zip(got, want, strict=True)):
            self.close(a, b, f"{what}, output {i}", rtol, atol)

    def forward(self, expected: Expected) -> None:
        """Run as given; the outputs have the inferred specs, and the expected values."""
        outputs = self.run(self.inputs)
        assert len(outputs) == self.op.num_outputs(self.attrs), (
            f"{self.op.name}: inference gives {len(outputs)} outputs, "
            f"the operator says {self.op.num_outputs(self.attrs)}"
        )
        if expected is None:
            return
        want = expected(*self.inputs) if callable(expected) else expected
        wanted = list(want) if isinstance(want, list | tuple) else [want]
        shown = outputs[: self.op.num_visible(self.attrs)]
        self.all_close(shown, [np.asarray(w) for w in wanted], "forward")

    def strided(self) -> None:
        """Inputs that are not contiguous give the same."""
        views = [_strided(x) for x in self.inputs]
        self.all_close(self.run(views), self.run(self.inputs), "strided inputs")

    def empty(self, inputs: Arrays | None) -> None:
        """Inputs without elements run."""
        if inputs is None:
            shapes = {x.shape for x in self.inputs}
            if not self.op.elementwise or len(shapes) != 1 or not next(iter(shapes)):
                return
            inputs = [x[:0] for x in self.inputs]
        self.run([np.asarray(x) for x in inputs])

    def half_precision(self, tolerance: float) -> None:
        """Inputs in 16-bit floats give what float64 gives, within the rounding."""
        if not any(is_floating(x.dtype) for x in self.inputs):
            return
        for dtype in _HALF_TYPES:
            narrow = [_as_float(x, dtype) for x in self.inputs]
            exact = self.run([_as_float(x, FLOAT64) for x in narrow])
            self.all_close(self.run(narrow), exact, dtype.name, tolerance)

    def fast_kernels(self) -> None:
        """Every fast CPU kernel that takes the inputs gives what the reference kernel gives."""
        specs = [spec_of(x) for x in self.inputs]
        for fast in self.op.fast_kernels:
            if self.op.select_fast("cpu", specs, self.attrs, (fast,)) is fast:
                got, want = self.run(self.inputs, fast.kernel), self.run(self.inputs)
                for i in self.op.workspaces:
                    got[i] = want[i]
                self.all_close(got, want, fast.name)

    def gradients(self, wrt: Sequence[int] | None, second_order: bool) -> None:
        """The rule agrees with central differences, and so does the gradient of the rule."""
        whole = _showing_all(self.op)
        random = np.random.default_rng(7)
        inputs = [_as_float(x, FLOAT64) for x in self.inputs]
        heads = [
            random.standard_normal(y.shape) if is_floating(y.dtype) else None
            for y in self.run(inputs)[: self.op.num_visible(self.attrs)]
        ]
        hidden = [None] * (self.op.num_outputs(self.attrs) - len(heads))

        def rule(values: Sequence[Any], given: Sequence[Any], wanted: Sequence[bool]) -> list[Any]:
            result = apply(whole, values, self.runtime)
            outputs = result if isinstance(result, list) else [result]
            return input_gradients(whole, [*given, *hidden], values, outputs, self.runtime, wanted)

        def loss(*arrays: Any) -> float:
            return _dot(self.run(arrays), heads)

        leaves = [ArrayValue(x) for x in inputs]
        tops = [None if h is None else ArrayValue(h) for h in heads]
        found = rule(leaves, tops, [is_floating(x.dtype) for x in inputs])
        places = [i for i, g in enumerate(found) if g is not None] if wrt is None else list(wrt)
        firsts = [
            found[i].array if i in places and found[i] is not None else None
            for i in range(len(found))
        ]
        self.compare_directions(inputs, firsts, places, loss, "gradient")
        if second_order and places:
            self.second_order(rule, inputs, heads, places)

    def compare_directions(
        self,
        point: Sequence[Any],
        gradients: Sequence[Any],
        places: Sequence[int],
        function: Callable[..., float],
        what: str,
    ) -> None:
        """Compare gradients with the slope of a function along random directions."""
        random = np.random.default_rng(11)
        for i in places:
            direction = random.standard_normal(point[i].shape)
            ahead, behind = list(point), list(point)
            ahead[i] = point[i] + _STEP * direction
            behind[i] = point[i] - _STEP * direction
            slope = (function(*ahead) - function(*behind)) / (2 * _STEP)
            got = 0.0 if gradients[i] is None else float(np.sum(gradients[i] * direction))
            np.testing.assert_allclose(
                got,
                slope,
                rtol=max(self.rtol, 1e-5),
                atol=max(self.atol, 1e-6),
                err_msg=f"{self.op.name}, {what} of input {i} along a random direction",
            )

    def second_order(
        self, rule: Callable[..., list[Any]], inputs: Arrays, heads: Arrays, places: Sequence[int]
    ) -> None:
        """Differentiate the rule itself, with respect to the inputs and the heads."""
        wanted = [i in places for i in range(len(inputs))]
        tops = [i for i, head in enumerate(heads) if head is not None]
        point = [inputs[i] for i in places] + [heads[i] for i in tops]

        def evaluate(*values: Any) -> list[Any]:
            full: list[Any] = [ArrayValue(x) for x in inputs]
            given: list[Any] = [None] * len(heads)
            for i, value in zip(places, values, strict=False):
                full[i] = value
            for i, value in zip(tops, values[len(places) :], strict=True):
                given[i] = value
            found = rule(full, given, wanted)
            return [found[i] for i in places]

        firsts = evaluate(*[ArrayValue(x) for x in point])
        random = np.random.default_rng(13)
        weights = [random.standard_normal(g.shape) for g in firsts]

        def scalar(*arrays: Any) -> float:
            return _dot([g.array for g in evaluate(*map(ArrayValue, arrays))], weights)

        def traced(*values: Any) -> tuple[Any, ...]:
            # Adding zeros of a traced value makes a constant gradient one that was traced.
            return tuple(g + sum_(values[0] * 0.0) for g in evaluate(*values))

        second = composite_gradient(traced)(
            tuple(map(ArrayValue, weights)), *map(ArrayValue, point)
        )
        gradients = [None if g is None else g.array for g in second]
        self.compare_directions(point, gradients, range(len(point)), scalar, "second gradient")


def _showing_all(op: Operator) -> Operator:
    """Return the operator with its hidden outputs visible, so that they can be differentiated."""
    return Operator(
        op.name,
        op.infer,
        op.kernel,
        Gradient(op.gradient, uses_output=op.gradient_uses_output),
        doc=op.doc,
        inputs=op.inputs,
        active_inputs=op.active_inputs,
        schema=op.schema,
        outputs=op.outputs,
        execution=Execution(
            mutates=op.mutates, train_dependent=op.train_dependent, random=op.random
        ),
        variadic=op.variadic,
        shapes=ShapeFacts(measure=op.measure),
    )


def _as_float(x: Any, dtype: np.dtype[Any]) -> Any:
    return x.astype(dtype) if is_floating(x.dtype) else x


def _strided(x: Any) -> Any:
    """Return the same values in memory with gaps and with the axes laid out backward."""
    gaps = np.empty([2 * extent for extent in x.shape[::-1]], x.dtype)
    view = gaps[tuple(slice(None, None, 2) for _ in x.shape)].T
    view[...] = x
    return view


def _dot(arrays: Arrays, weights: Arrays) -> float:
    pairs = zip(arrays, weights, strict=False)
    return float(sum(np.sum(a * w) for a, w in pairs if w is not None))
