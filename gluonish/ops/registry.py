"""The operator registry, and `apply`, through which every operator call goes.

An `Operator` is the single definition of an operation: its name in files, inputs and attributes,
inference, reference kernel and gradient. The type of the values decides how it runs: an NDArray
computes, a graph value appends a node. This module imports neither.

Operator modules load at the first use of one of their names (`gluonish.ops.index`), and kernels at
the first use of their operator (`gluonish.core.hooks.kernels_of`).
"""

import sys
import warnings
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any, Protocol, Self

from gluonish.core.config import kernel_switches
from gluonish.core.device import Platform
from gluonish.core.errors import NotSupportedError, OperatorError
from gluonish.core.hooks import kernels_of
from gluonish.core.loading import importing_frame, is_complete, is_superseded, load
from gluonish.core.program import Programs
from gluonish.core.schema import Schema
from gluonish.core.spec import Spec
from gluonish.ops.absent import ABSENT
from gluonish.ops.facts import Execution, Gradient, GradientRule, ShapeFacts, ShapeRule
from gluonish.ops.index import MODULES
from gluonish.ops.kernel import Attrs, Bound, FastKernel, Kernel, RefusedError
from gluonish.ops.numpy_names import ADDED_NAMES
from gluonish.ops.support.refusals import note_refusal
from gluonish.ops.support.work import SMALL, work_of

__all__ = [
    "Attrs",
    "Operator",
    "ShapeRule",
    "V",
    "absent_names",
    "all_operators",
    "apply",
    "find_operator",
    "register",
]

_NO_SHAPES, _PLAIN = ShapeFacts(), Execution()
_MAX_CHOICES = 256  # signatures of an operator whose kernels are cached


class V(Protocol):
    """A value in gradients and composites: an NDArray, or a graph value of known shape."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents, all known."""
        raise NotImplementedError

    @staticmethod
    def __apply__(op: "Operator", inputs: Sequence[Any], attrs: Attrs) -> Any:
        """Run or record ``op``; return one value, or a list of several visible outputs."""

    def __add__(self, other: object) -> Self: ...
    def __radd__(self, other: object) -> Self: ...
    def __sub__(self, other: object) -> Self: ...
    def __rsub__(self, other: object) -> Self: ...
    def __mul__(self, other: object) -> Self: ...
    def __rmul__(self, other: object) -> Self: ...
    def __truediv__(self, other: object) -> Self: ...
    def __rtruediv__(self, other: object) -> Self: ...
    def __pow__(self, other: object) -> Self: ...
    def __neg__(self) -> Self: ...


class Operator:
    """The definition of one operation.

    Args:
        name: MXNet's registry name, as in Symbol files.
        infer: ``infer(*input_specs, **attrs) -> tuple of output specs``; the only function that
            checks shapes, dtypes and attributes. All `Spec`s are fully known.
        kernel: ``kernel(xp, out, *inputs, **attrs)`` fills ``out`` (a tuple of arrays for several
            outputs). ``xp`` is NumPy or CuPy. It defines the result, and trusts ``infer``.
        gradient: ``gradient(g, *inputs, **attrs)``; a `Gradient` rule may also get the outputs,
            after the inputs. ``g`` is the gradient of the output, or a tuple (None for outputs
            without one). Returns one entry per input: a value, None for no gradient, or a function
            without arguments that computes it if needed. It calls operators only. None: not
            differentiable.
        doc: The user's documentation: a summary line, then details that attribute names do not
            convey.
        inputs: Names of all array inputs.
        active_inputs: Function of the attributes that returns the names in use (no ``bias`` under
            ``no_bias``); all by default.
        optional: For each input that may be omitted, the attribute that says whether it is there;
            a call sets it, unless the user does.
        aliases: Other registry names of the same operator.
        outputs: Number of arrays the kernel fills, or a function of the attributes.
        visible: Number of outputs returned to the caller, the others are for the gradient; all by
            default.
        output_names: Names of several outputs (``bn_mean``), or a function of the attributes.
        variadic: Name of the attribute that holds the number of inputs (``num_args``), which is
            then arbitrary.
        shapes: Shape inference beyond ``infer``.

    Attributes:
        gradient_uses_output: `Gradient.uses_output`.
        ignores_head_gradient: `Gradient.ignores_head_gradient`.
        may_be_fast: Whether back ends may have kernels for this operator; True until they load.
        large_only: Whether all of these kernels support large arrays only, so that small calls need
            not check them.
        home: The namespace of the module that created the operator.
        source: File and line of the statement that created the operator.
        prepared: Prepared eager calls by signature, see `gluonish.ndarray.prepared_call`; a new
            mapping when the operator changes.
        stateless: Whether the result depends on inputs and attributes only: not on training or
            random numbers, nor its shape on the values of the arrays.
    """

    per_arg = 1  # arrays per argument that the variadic attribute counts

    __slots__ = (
        *Execution._fields,
        "_chosen",
        "_fast_kernels",
        "active_inputs",
        "aliases",
        "complete",
        "overridden",
        "doc",
        "expand",
        "gradient",
        "gradient_uses_output",
        "home",
        "infer",
        "inputs",
        "kernel",
        "large_only",
        "may_be_fast",
        "measure",
        "name",
        "opens",
        "optional",
        "output_names",
        "outputs",
        "prepared",
        "ignores_head_gradient",
        "stateless",
        "schema",
        "with_shape",
        "shapes",
        "single",
        "source",
        "variadic",
        "visible",
    )

    def __init__(
        self,
        name: str,
        infer: Callable[..., tuple[Spec, ...]],
        kernel: Kernel,
        gradient: GradientRule | Gradient | None,
        *,
        doc: str,
        inputs: tuple[str, ...] = ("data",),
        active_inputs: Callable[[Attrs], tuple[str, ...]] | None = None,
        optional: Mapping[str, str] = MappingProxyType({}),
        schema: Schema | None = None,
        aliases: tuple[str, ...] = (),
        outputs: int | Callable[[Attrs], int] = 1,
        visible: int | Callable[[Attrs], int] | None = None,
        output_names: tuple[str, ...] | Callable[[Attrs], tuple[str, ...]] = (),
        variadic: str | None = None,
        shapes: ShapeFacts = _NO_SHAPES,
        execution: Execution = _PLAIN,
    ) -> None:
        self.name = name
        frame = importing_frame(sys._getframe(1))
        self.source = frame.f_code.co_filename, frame.f_lineno
        self.home: Mapping[str, Any] = frame.f_globals
        self.infer = infer
        self.kernel = kernel
        rule = gradient if isinstance(gradient, Gradient) else Gradient(gradient)
        self.gradient, self.gradient_uses_output, self.ignores_head_gradient = rule
        self.doc = doc
        self.inputs = inputs
        self.active_inputs = active_inputs
        self.optional = optional
        self.schema = Schema() if schema is None else schema
        self.aliases = (*aliases, *ADDED_NAMES.get(name, ()))
        self.outputs = outputs
        self.visible = outputs if visible is None else visible
        self.output_names = output_names
        self.variadic = variadic
        # Attributes of the operator itself, since the eager path reads them.
        self.complete = shapes.complete
        self.shapes = shapes.rule
        self.opens = shapes.opens
        self.with_shape = shapes.with_shape
        self.measure = shapes.measure
        self.expand = shapes.expand
        self.mutates = execution.mutates
        self.train_dependent = execution.train_dependent
        self.random = execution.random
        self.elementwise = execution.elementwise
        self.at_once = execution.at_once
        self.overwrites = execution.overwrites
        self.identity = execution.identity
        self.copies_only = execution.copies_only
        self.several_passes = execution.several_passes
        self.heavy = execution.heavy
        self.workspaces = execution.workspaces
        self.across_devices = execution.across_devices
        self.live = execution.live
        self.signature = execution.signature
        self.overridden: Callable[[Sequence[Any], Attrs, Any], Any] | None = None
        self.stateless = not (self.train_dependent or self.random or self.measure)
        self.single = outputs == 1  # the common case, tested once on the eager path
        self._fast_kernels: tuple[FastKernel, ...] | None = None  # until first use
        self.large_only = False
        self.may_be_fast = True
        self._chosen = Programs[tuple[Kernel, bool, bool]](_MAX_CHOICES)
        self.prepared: dict[Hashable, Any] = {}

    def __repr__(self) -> str:
        return f"<operator {self.name}>"

    @property
    def fast_kernels(self) -> tuple[FastKernel, ...]:
        """Kernels of back ends in order of preference; loaded at first access."""
        if self._fast_kernels is None:
            # Concurrent threads all use the kernels of the first that finishes.
            self._set_kernels(_kernels.setdefault(self, tuple(kernels_of(self))))
        return self._fast_kernels  # type: ignore[return-value]  # set above

    def register_kernel(self, fast: FastKernel) -> None:
        """Register a fast kernel, with the lowest preference."""
        self._set_kernels((*self.fast_kernels, fast))

    def _set_kernels(self, kernels: tuple[FastKernel, ...]) -> None:
        for fast in kernels:
            fast.kernel = fast.make_kernel(
                single=self.single, random=bool(self.random), fallback=self._fallback
            )
        changed = self._fast_kernels is not None
        self._fast_kernels = kernels
        self.large_only = bool(kernels) and all(kernel.large_only for kernel in kernels)
        self.may_be_fast = bool(kernels)
        if changed:  # new mappings: what calls that began before still add is dropped, too
            self._chosen = Programs(_MAX_CHOICES)
            self.prepared = {}

    def plan(
        self, fast: FastKernel, outputs: Sequence[Any], inputs: Sequence[Any], attrs: Attrs
    ) -> Bound | None:
        """Return the plan of a selected kernel, or of the next that accepts these raw arrays.

        None where the kernel that will run has no plan.
        """
        found: FastKernel | None = fast
        while found is not None and found.plan is not None:
            try:
                return found.plan(outputs, inputs, attrs)
            except RefusedError:
                found = self._next(found, inputs, attrs)
        return None

    def _next(self, fast: FastKernel, inputs: Sequence[Any], attrs: Attrs) -> FastKernel | None:
        """Return the kernel to try after ``fast``; None for the reference kernel."""
        kernels = self.fast_kernels
        specs = [Spec(x.shape, x.dtype) for x in inputs]
        remaining = kernels[kernels.index(fast) + 1 :]
        return self.select_fast(fast.back_end.platform, specs, attrs, remaining)

    def _fallback(
        self, fast: FastKernel, inputs: Sequence[Any], attrs: Attrs, error: RefusedError
    ) -> Kernel:
        """Return the kernel to run after a `RefusedError`; count uses of the reference kernel."""
        found = self._next(fast, inputs, attrs)
        if found is not None:
            return found.kernel
        note_refusal(fast.name.partition(".")[2], error)
        return self.kernel

    def override(self, function: Callable[[Sequence[Any], Attrs, Any], Any]) -> None:
        """Override eager calls with a function, which may return a sparse result for dense arrays.

        Args:
            function: ``function(inputs, attrs, out)`` returns the result, or NotImplemented to run
                the kernel.
        """
        self.overridden = function
        self.stateless = False
        self.prepared = {}  # a new one: what calls that began before still add is dropped, too

    def __reduce__(self) -> tuple[Callable[[str], "Operator"], tuple[str]]:
        return find_operator, (self.name,)

    def input_names(self, attrs: Attrs) -> tuple[str, ...]:
        """Return the names of the inputs under these attributes (``arg0``.. for variadic ones)."""
        if self.variadic is not None:
            return tuple(f"arg{i}" for i in range(self.per_arg * attrs[self.variadic]))
        return self.inputs if self.active_inputs is None else self.active_inputs(attrs)

    def num_outputs(self, attrs: Attrs) -> int:
        """Return how many arrays the kernel fills under these attributes."""
        return self.outputs(attrs) if callable(self.outputs) else self.outputs

    def output_names_for(self, attrs: Attrs) -> tuple[str, ...]:
        """Return the output names under these attributes; one for all, or one for each."""
        return self.output_names(attrs) if callable(self.output_names) else self.output_names

    def mutated_inputs(self, attrs: Attrs) -> tuple[int, ...]:
        """Return the indices of inputs that the kernel overwrites under these attributes."""
        return self.mutates(attrs) if callable(self.mutates) else self.mutates

    def draws(self, attrs: Attrs) -> bool:
        """Return whether the kernel may draw random numbers under these attributes."""
        return self.random(attrs) if callable(self.random) else self.random

    def num_visible(self, attrs: Attrs) -> int:
        """Return the number of outputs returned to the caller under these attributes."""
        return self.visible(attrs) if callable(self.visible) else self.visible

    def select_kernel(self, platform: Platform, specs: Sequence[Spec], attrs: Attrs) -> Kernel:
        """Return the first fast kernel that supports these inputs, else the reference kernel."""
        fast = self.select_fast(platform, specs, attrs)
        return self.kernel if fast is None else fast.kernel

    def chosen_kernel(
        self, platform: Platform, specs: Sequence[Spec], attrs: Attrs
    ) -> tuple[Kernel, bool, bool]:
        """Return the kernel of `select_kernel`, whether it runs on a team of threads, and whether
        it does too little work to be worth a worker.

        Results are cached by signature, since selection is slow.
        """
        if "key" in attrs:  # differs in every call
            return self._choose(platform, specs, attrs)
        choice = (platform, kernel_switches(), *specs, *attrs.items())
        chosen = self._chosen
        found = chosen.get(choice)
        if found is None:
            found = chosen.add(choice, self._choose(platform, specs, attrs))
        return found

    def _choose(
        self, platform: Platform, specs: Sequence[Spec], attrs: Attrs
    ) -> tuple[Kernel, bool, bool]:
        fast = self.select_fast(platform, specs, attrs)
        if fast is None:
            return self.kernel, False, False
        small = (
            fast.serial_limit and max((spec.size for spec in specs), default=0) <= fast.serial_limit
        )
        kernel = fast.kernel
        if "key" not in attrs:
            kernel = fast.cached(single=self.single, fallback=self._fallback)
        if small or not fast.back_end.has_team:
            return kernel, False, False
        outputs = self.infer(*specs, **self._without_runtime(attrs))
        work = work_of(self.heavy, specs, outputs, attrs)
        read = max((spec.size for spec in specs), default=0)
        return kernel, True, work.is_within(SMALL) and read <= SMALL.elements

    def select_fast(
        self,
        platform: Platform,
        specs: Sequence[Spec],
        attrs: Attrs,
        among: Sequence[FastKernel] | None = None,
    ) -> FastKernel | None:
        """Return the first fast kernel, of ``among`` or all, that supports inputs and outputs."""
        outputs: Sequence[Spec] | None = None
        for fast in self.fast_kernels if among is None else among:
            here = fast.back_end.platform == platform
            if here and fast.enabled() and fast.supports(*specs, **attrs):
                if outputs is None:
                    outputs = self.infer(*specs, **self._without_runtime(attrs))
                if fast.fills(specs, outputs):
                    return fast
        return None

    def _without_runtime(self, attrs: Attrs) -> Attrs:
        if self.stateless:
            return attrs
        return {name: attrs[name] for name in attrs if name not in ("key", "train")}


_operators: dict[str, Operator] = {}
_names: dict[str, Operator] = {}
_found: dict[str, Operator] = {}  # entries of `_names` whose module is fully imported
_homes = {name: module for module, names in MODULES.items() for name in names.split()}
_kernels: dict[Operator, tuple[FastKernel, ...]] = {}


def register(operator: Operator) -> Operator:
    """Register an operator under its name and aliases, and return it.

    The operator replaces one left by a failed import of its module. If another import of the
    module has finished, the operator of that import is returned.

    Raises:
        OperatorError: A name is already registered.
    """
    names = (operator.name, *operator.aliases)
    for name in names:
        if name in _names:
            if is_superseded(operator.home):
                return _names[name]
            _check_left_behind(_names[name], name, operator)
        _found.pop(name, None)
    _names.update(dict.fromkeys(names, operator))
    _operators[operator.name] = operator
    return operator


def _check_left_behind(old: Operator, name: str, operator: Operator) -> None:
    same = old.home.get("__name__") == operator.home.get("__name__")
    if not same or old.home is operator.home or is_complete(old.home):
        raise OperatorError(f"{name}: expected a new operator name, got one that is registered")


def find_operator(name: str) -> Operator:
    """Return the operator of this registry name or alias.

    Raises:
        NotSupportedError: The operator of MXNet is not available in gluonish.
        OperatorError: No such operator.
    """
    found = _found.get(name)
    if found is not None:
        return found
    found = _names.get(name)
    if name in _homes and (found is None or not is_complete(found.home)):
        load(f"gluonish.ops.{_homes[name]}")
        found = _names.get(name)
    if found is None:
        if name in ABSENT:
            raise NotSupportedError(f"{name}: not available in gluonish; {ABSENT[name]}")
        _load_all()  # for new operators that are not yet in the index
        found = _names.get(name)
    if found is None:
        raise OperatorError(f"operator: expected a registered name, got {name!r}")
    if name not in _homes or is_complete(found.home):
        _found[name] = found
    return found


@cache
def _load_all() -> None:
    package = load("gluonish.ops")
    for found in load("pkgutil").walk_packages(package.__path__, "gluonish.ops."):
        load(found.name)


def absent_names() -> Mapping[str, str]:
    """Return the names of MXNet's operators that are not available, with what to use instead."""
    return MappingProxyType(ABSENT)


def all_operators() -> Iterator[Operator]:
    """Load all operators, and yield each once."""
    _load_all()
    return iter(tuple(_operators.values()))


class _Names(Mapping[str, Operator]):
    """Mapping of every registry name and alias to its operator, loaded on lookup."""

    def __getitem__(self, name: str) -> Operator:
        if name not in self:
            raise KeyError(name)
        return find_operator(name)

    def __contains__(self, name: object) -> bool:
        return name in _names or name in _homes

    def __iter__(self) -> Iterator[str]:
        return iter(_homes | _names)

    def __len__(self) -> int:
        return len(_homes | _names)


_ALL_NAMES = _Names()


def all_names() -> Mapping[str, Operator]:
    """Return a mapping of every registry name and alias to its operator, loaded on lookup."""
    return _ALL_NAMES


def apply(op: Operator, inputs: Sequence[Any], attrs: Attrs) -> Any:
    """Run ``op`` on NDArrays, or append it to the graph of the inputs.

    Args:
        inputs: At least one value; all of one kind, or NDArrays among graph values, which become
            constants of the graph.
        attrs: All parsed attributes (see `Schema.parse`).

    Returns:
        The output, or a list of several visible outputs.

    Raises:
        OperatorError: Invalid inputs or attributes.
    """
    return type(inputs[0]).__apply__(op, inputs, attrs)


# As in MXNet, log(0) is -inf and 0 / 0 is nan, without a warning. A filter of NumPy's warnings by
# module costs nothing in the usual case, and leaves the user's NumPy calls alone.
_NO_WARNINGS = r"gluonish\.(ops|kernels|ndarray|core)\."
warnings.filterwarnings("ignore", category=RuntimeWarning, module=_NO_WARNINGS)
