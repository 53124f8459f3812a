"""The operator registry, and `apply`, through which every operator call goes.

An `Operator` is the one definition of an operation: its name in files, inputs and attributes,
inference, reference kernel and gradient. Who runs it is decided by the type of the values: an
NDArray computes, a graph value appends a node. This module knows neither.

The modules of operators load at the first use of one of their names, which `gluonish.ops.index`
lists, and so do the kernels of an operator (`gluonish.core.hooks.kernels_of`).
"""

import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any, Protocol, Self

from gluonish.core.config import kernel_switches
from gluonish.core.device import Platform
from gluonish.core.errors import NotSupportedError, OperatorError
from gluonish.core.hooks import kernels_of
from gluonish.core.loading import importing_frame, is_superseded, is_whole, load
from gluonish.core.program import Programs
from gluonish.core.schema import Schema
from gluonish.core.spec import Spec
from gluonish.ops.absent import ABSENT
from gluonish.ops.facts import Execution, Gradient, GradientRule, ShapeFacts, ShapeRule
from gluonish.ops.index import MODULES
from gluonish.ops.kernel import Attrs, Bound, FastKernel, Kernel, RefusedError
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
    """What gradients and composites handle: an NDArray, or a value of a graph with known shape."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents, all known."""
        raise NotImplementedError

    @staticmethod
    def __apply__(op: "Operator", inputs: Sequence[Any], attrs: Attrs) -> Any:
        """Run or record ``op``: one value, or a list where the operator shows several outputs."""

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
    """One operation and everything that is known of it.

    Args:
        name: MXNet's registry name; Symbol files hold it.
        infer: ``infer(*input_specs, **attrs) -> tuple of output specs``; the only place where
            shapes, dtypes and attributes are checked. It sees `Spec`s, all known. For ``variadic``
            operators it takes any number of specs.
        kernel: ``kernel(xp, out, *inputs, **attrs)`` fills ``out`` (a tuple of arrays for several
            outputs). ``xp`` is NumPy or CuPy. It defines the result, and trusts ``infer``.
        gradient: ``gradient(g, *inputs, **attrs)``; as a `Gradient`, it gets the outputs after the
            inputs, too. ``g`` is the gradient of the output, or a tuple (None for those that have
            none) for several outputs. Returns one entry for each input: a value, None for no
            gradient, or a function without arguments that makes the value and is called only if it
            is wanted. It calls operators only. None: not differentiable.
        doc: What it computes, for users: first line, then anything that the attributes' names do
            not say.
        inputs: Names of all array inputs.
        active_inputs: Function of the attributes that gives the names in use (no ``bias`` under
            ``no_bias``); all without it.
        schema: The attributes.
        aliases: Other registry names of the same operator.
        outputs: How many arrays the kernel fills, or a function of the attributes.
        visible: How many of them a caller sees, the rest is for the gradient; all by default.
        output_names: Words for several outputs (``bn_mean``), or a function of the attributes that
            returns them.
        variadic: Name of the attribute that holds the number of inputs (``num_args``); inputs are
            then any number.
        shapes: What follows for shapes beyond ``infer``.
        execution: How the kernel runs.

    Attributes:
        gradient_uses_output: `Gradient.uses_output`.
        own_gradient: `Gradient.own`.
        may_be_fast: Whether back ends have kernels of it, as far as is known: True until they load.
        large_only: Whether all of them are known to take large arrays only, so that a call that
            runs in its thread need not ask them.
        home: The namespace of that module.
        source: File and line of the statement of a module that made it.
        plain: Whether nothing but inputs and attributes decides the result and its shape: neither
            training, nor random numbers, nor (for the shape) the arrays' values.
    """

    # Arrays for each one that the variadic attribute counts: three where each has a range.
    per_arg = 1

    __slots__ = (
        *Execution._fields,
        "_chosen",
        "_fast_kernels",
        "active_inputs",
        "aliases",
        "complete",
        "diverted",
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
        "output_names",
        "outputs",
        "own_gradient",
        "plain",
        "schema",
        "settle",
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
        self.gradient, self.gradient_uses_output, self.own_gradient = rule
        self.doc = doc
        self.inputs = inputs
        self.active_inputs = active_inputs
        self.schema = Schema() if schema is None else schema
        self.aliases = aliases
        self.outputs = outputs
        self.visible = outputs if visible is None else visible
        self.output_names = output_names
        self.variadic = variadic
        # Attributes of the operator itself, since the eager path reads them.
        self.complete = shapes.complete
        self.shapes = shapes.rule
        self.opens = shapes.opens
        self.settle = shapes.settle
        self.measure = shapes.measure
        self.expand = shapes.expand
        self.mutates = execution.mutates
        self.train_dependent = execution.train_dependent
        self.random = execution.random
        self.elementwise = execution.elementwise
        self.at_once = execution.at_once
        self.overwrites = execution.overwrites
        self.identity = execution.identity
        self.moves = execution.moves
        self.several_passes = execution.several_passes
        self.heavy = execution.heavy
        self.workspaces = execution.workspaces
        self.across_devices = execution.across_devices
        self.live = execution.live
        self.diverted: Callable[[Sequence[Any], Attrs, Any], Any] | None = None
        self.plain = not (self.train_dependent or self.random or self.measure)
        self.single = outputs == 1  # the common case, tested once on the eager path
        self._fast_kernels: tuple[FastKernel, ...] | None = None  # until they are first wanted
        self.large_only = False
        self.may_be_fast = True
        self._chosen = Programs[tuple[Kernel, bool, bool]](_MAX_CHOICES)

    def __repr__(self) -> str:
        return f"<operator {self.name}>"

    @property
    def fast_kernels(self) -> tuple[FastKernel, ...]:
        """Kernels of back ends, the preferred ones first; they load at the first look."""
        if self._fast_kernels is None:
            # Of threads that come here at once, all take the kernels of the first that is done.
            self._set_kernels(_kernels.setdefault(self, tuple(kernels_of(self))))
        return self._fast_kernels  # type: ignore[return-value]  # set above

    def hang(self, fast: FastKernel) -> None:
        """Add a fast kernel behind those that are there, which are preferred to it."""
        self._set_kernels((*self.fast_kernels, fast))

    def _set_kernels(self, kernels: tuple[FastKernel, ...]) -> None:
        for fast in kernels:
            fast.kernel = fast.hung(single=self.single, random=bool(self.random), after=self._after)
        self._chosen.clear()
        self._fast_kernels = kernels
        self.large_only = bool(kernels) and all(kernel.large_only for kernel in kernels)
        self.may_be_fast = bool(kernels)

    def plan(
        self, fast: FastKernel, outputs: Sequence[Any], inputs: Sequence[Any], attrs: Attrs
    ) -> Bound | None:
        """Return the plan of a kernel for some arrays, or that of the next one if it refuses them.

        Args:
            fast: The kernel that `select_fast` gave.
            outputs: Raw arrays.
            inputs: Raw arrays.

        Returns:
            The plan; None where the kernel that is to run has none.
        """
        found: FastKernel | None = fast
        while found is not None and found.plan is not None:
            try:
                return found.plan(outputs, inputs, attrs)
            except RefusedError:
                found = self._next(found, inputs, attrs)
        return None

    def _next(self, fast: FastKernel, inputs: Sequence[Any], attrs: Attrs) -> FastKernel | None:
        """Return the kernel that takes what another one refused; None for the reference kernel."""
        kernels = self.fast_kernels
        specs = [Spec(x.shape, x.dtype) for x in inputs]
        behind = kernels[kernels.index(fast) + 1 :]
        return self.select_fast(fast.back_end.platform, specs, attrs, behind)

    def _after(
        self, fast: FastKernel, inputs: Sequence[Any], attrs: Attrs, error: RefusedError
    ) -> Kernel:
        """Return what runs a call that a kernel refused; count those for the reference kernel."""
        found = self._next(fast, inputs, attrs)
        if found is not None:
            return found.kernel
        note_refusal(fast.name.partition(".")[2], error)
        return self.kernel

    def divert(self, function: Callable[[Sequence[Any], Attrs, Any], Any]) -> None:
        """Let eager calls ask a function first; it may give a sparse result from dense arrays.

        Args:
            function: ``function(inputs, attrs, out)`` returns the result, or NotImplemented: the
                kernel runs then.
        """
        self.diverted = function
        self.plain = False

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

    def output_words(self, attrs: Attrs) -> tuple[str, ...]:
        """Return the words for outputs under these attributes; one for all, or one for each."""
        return self.output_names(attrs) if callable(self.output_names) else self.output_names

    def mutated_inputs(self, attrs: Attrs) -> tuple[int, ...]:
        """Return the positions of inputs that the kernel overwrites under these attributes."""
        return self.mutates(attrs) if callable(self.mutates) else self.mutates

    def draws(self, attrs: Attrs) -> bool:
        """Return whether the kernel draws random numbers under these attributes, in some mode."""
        return self.random(attrs) if callable(self.random) else self.random

    def num_visible(self, attrs: Attrs) -> int:
        """Return how many outputs a caller sees under these attributes."""
        return self.visible(attrs) if callable(self.visible) else self.visible

    def select_kernel(self, platform: Platform, specs: Sequence[Spec], attrs: Attrs) -> Kernel:
        """Return the kernel that runs these inputs: the first fast one that takes them, else the
        reference.

        Args:
            platform: The device's.
        """
        fast = self.select_fast(platform, specs, attrs)
        return self.kernel if fast is None else fast.kernel

    def chosen_kernel(
        self, platform: Platform, specs: Sequence[Spec], attrs: Attrs
    ) -> tuple[Kernel, bool, bool]:
        """Return what `select_kernel` does, whether it runs on a team of threads, and whether that
        is so little work that handing it to a worker would be a large part of it.

        It is cached by signature: asking each kernel takes long. Arguments of `select_kernel`.
        """
        if "key" in attrs:  # new in every call
            return self._choose(platform, specs, attrs)
        choice = (platform, kernel_switches(), *specs, *attrs.items())
        found = self._chosen.get(choice)
        if found is None:
            found = self._chosen.add(choice, self._choose(platform, specs, attrs))
        return found

    def _choose(
        self, platform: Platform, specs: Sequence[Spec], attrs: Attrs
    ) -> tuple[Kernel, bool, bool]:
        fast = self.select_fast(platform, specs, attrs)
        if fast is None:
            return self.kernel, False, False
        small = fast.alone and max((spec.size for spec in specs), default=0) <= fast.alone
        kernel = fast.kernel
        if "key" not in attrs:
            kernel = fast.cached(single=self.single, after=self._after)
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
        """Return the first fast kernel that takes these inputs and makes what follows from them.

        Args:
            platform: As for `select_kernel`.
            specs: As for `select_kernel`.
            attrs: As for `select_kernel`.
            among: The kernels to choose from; all of the operator's by default.
        """
        outputs: Sequence[Spec] | None = None
        for fast in self.fast_kernels if among is None else among:
            here = fast.back_end.platform == platform
            if here and fast.enabled() and fast.takes(*specs, **attrs):
                if outputs is None:
                    outputs = self.infer(*specs, **self._without_runtime(attrs))
                if fast.fills(specs, outputs):
                    return fast
        return None

    def _without_runtime(self, attrs: Attrs) -> Attrs:
        if self.plain:
            return attrs
        return {name: attrs[name] for name in attrs if name not in ("key", "train")}


_operators: dict[str, Operator] = {}
_names: dict[str, Operator] = {}
_found: dict[str, Operator] = {}  # those of `_names` whose module is known to be whole
_homes = {name: module for module, names in MODULES.items() for name in names.split()}
_kernels: dict[Operator, tuple[FastKernel, ...]] = {}


def register(operator: Operator) -> Operator:
    """Add an operator under its name and its aliases, and return it.

    It replaces one that a failed import of its module left; where another import of the module has
    finished, the operator of that is returned.

    Raises:
        OperatorError: A name is taken.
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
    if not same or old.home is operator.home or is_whole(old.home):
        raise OperatorError(f"{name}: expected a new operator name, got one that is registered")


def find_operator(name: str) -> Operator:
    """Return the operator of this registry name or alias.

    Raises:
        NotSupportedError: It is one of MXNet's that is not here.
        OperatorError: There is none.
    """
    found = _found.get(name)
    if found is not None:
        return found
    found = _names.get(name)
    if name in _homes and (found is None or not is_whole(found.home)):
        load(f"gluonish.ops.{_homes[name]}")
        found = _names.get(name)
    if found is None:
        if name in ABSENT:
            raise NotSupportedError(f"{name}: not available in gluonish; {ABSENT[name]}")
        _load_all()  # a new operator, which the index does not list yet
        found = _names.get(name)
    if found is None:
        raise OperatorError(f"operator: expected a registered name, got {name!r}")
    if name not in _homes or is_whole(found.home):
        _found[name] = found
    return found


@cache
def _load_all() -> None:
    package = load("gluonish.ops")
    for found in load("pkgutil").walk_packages(package.__path__, "gluonish.ops."):
        load(found.name)


def absent_names() -> Mapping[str, str]:
    """Return MXNet's names that are not here, each with what to do instead."""
    return MappingProxyType(ABSENT)


def all_operators() -> Iterator[Operator]:
    """Yield every operator once; this loads all of them."""
    _load_all()
    return iter(tuple(_operators.values()))


class _Names(Mapping[str, Operator]):
    """Every registry name and alias, with its operator, which loads when it is asked for."""

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
    """Return every registry name and alias with its operator, which is loaded when looked up."""
    return _ALL_NAMES


def apply(op: Operator, inputs: Sequence[Any], attrs: Attrs) -> Any:
    """Run ``op`` on NDArrays, or append it to the graph that the inputs belong to.

    Args:
        inputs: At least one value; all of one kind, or NDArrays among graph values, which become
            constants of the graph.
        attrs: Parsed attributes, complete (see `Schema.parse`).

    Returns:
        The output, or a list of the visible outputs where there are several.

    Raises:
        OperatorError: as the operator's inference says.
    """
    return type(inputs[0]).__apply__(op, inputs, attrs)


# The logarithm of 0 is -inf and 0 / 0 is nan, as in MXNet, without a word. NumPy would warn at
# each; a filter for its calls from these modules costs nothing where nothing is wrong, and leaves
# the user's own NumPy alone. Copies that convert, in the arrays' modules, are treated alike.
_QUIET = r"gluonish\.(ops|kernels|ndarray|core)\."
warnings.filterwarnings("ignore", category=RuntimeWarning, module=_QUIET)
