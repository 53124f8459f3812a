"""Block: the base of all layers and networks.

A Block holds parameters and other Blocks as attributes; assigning one registers it.
"""

import os
import sys
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar, Self

from gluonish.core.call_errors import explained
from gluonish.core.errors import ArgumentTypeError, NotSupportedError, ParameterError
from gluonish.core.habit_tables import BLOCK
from gluonish.core.habits import add_habits
from gluonish.core.loading import load
from gluonish.core.mxnet_rules import follows_mxnet1
from gluonish.core.tracebacks import short_traceback, shorten
from gluonish.core.versions import Version, VersionedDict
from gluonish.gluon.block.block_errors import (
    check_prefix,
    child_error,
    explain_call,
    refuse_unconstructed,
)
from gluonish.gluon.block.checkpointing import call_checkpointed
from gluonish.gluon.block.checkpointing import state as checkpoints
from gluonish.gluon.block.collecting import adopt, collect, share
from gluonish.gluon.block.files import load_arrays, load_block, load_model, save_block, save_model
from gluonish.gluon.block.freezing import freeze, unfreeze
from gluonish.gluon.block.hooks import HookHandle, Hooks
from gluonish.gluon.block.protocols import UNTRACKED
from gluonish.gluon.block.scope import NameScope, name_block, set_name
from gluonish.gluon.block.summary import summarize
from gluonish.gluon.parameter import Parameter, ParameterDict, register_path
from gluonish.gluon.parameter.arguments import ContextList, Movable
from gluonish.gluon.parameter.parameter import Init
from gluonish.initializer import Uniform
from gluonish.ndarray import NDArray, recording

_UNIFORM = Uniform()
_ABSENT = object()
# Dicts that programs mutate: `layer._kwargs["stride"] = (1, 1)`, `net._children.popitem()`.
_EDITED = ("_children", "_reg_params", "_kwargs", "_kwargs_offset", "_kwargs_deformable_conv")


class Block(Movable):
    """Base class of all layers and networks; runs imperatively.

    A subclass creates its layers and parameters in ``__init__``, inside ``with self.name_scope():``
    so that their names begin with its prefix, and computes in ``forward``::

        class Net(Block):
            def __init__(self, **kwargs):
                super().__init__(**kwargs)
                with self.name_scope():
                    self.hidden = nn.Dense(20)
                    self.output = nn.Dense(10)

            def forward(self, x):
                return self.output(nd.relu(self.hidden(x)))

    Args:
        prefix: Prefix of its parameters' names, after the prefix of the enclosing name scope; by
            default the class name in lower case and a counter. An empty prefix adds nothing.
        params: ParameterDict to share: `Dense(20, params=other.params)` uses the weights of
            ``other``.
    """

    _untracked: ClassVar[frozenset[str]] = UNTRACKED

    _checkpointed = False  # whether activations are computed again in backward
    _checkpoint_depth = 0  # number of checkpointed Blocks that this one is, or is in

    # Whether `summary` prints a line for blocks of this class; False for containers.
    _in_summary = True

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        constructor = vars(cls).get("__init__")
        if constructor is not None and cls.__module__.startswith("gluonish."):
            cls.__init__ = explained(constructor)  # type: ignore[method-assign]  # same arguments

    @explained
    def __init__(self, prefix: str | None = None, params: ParameterDict | None = None) -> None:
        check_prefix(self, prefix, params)
        self._empty_prefix = prefix == ""
        self._prefix, self._params = name_block(prefix, params, self._alias())
        self._name = self._prefix.removesuffix("_")
        self._child_counts: dict[str, int] = {}
        # Graphs traced from this Block compare the version to detect changes.
        self._version = Version()
        self._children: dict[str, Block] = VersionedDict(self._version)
        self._reg_params: dict[str, Parameter] = VersionedDict(self._version)
        self._hooks = Hooks()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if "_version" not in state and "_hooks" in state:  # pickled by an older gluonish
            self._version = Version()
            self._children, self._reg_params = state["_children"], state["_reg_params"]
            self._hooks = Hooks(state["_hooks"])

    def __repr__(self) -> str:
        lines = [
            f"  ({key}): {block!r}".replace("\n", "\n  ")
            for key, block in self.__dict__.items()
            if isinstance(block, Block)
        ]
        return "{}(\n{}\n)".format(type(self).__name__, "\n".join(lines))

    def _repr_html_(self) -> Any:
        return load("gluonish.gluon.block.block_html").block_html(self)

    def __setattr__(self, name: str, value: Any) -> None:
        attributes = self.__dict__
        existing = attributes.get(name)
        if isinstance(existing, Parameter | Block) and not isinstance(value, type(existing)):
            raise ArgumentTypeError(
                f"{type(self).__name__}: expected attribute {name} to stay a "
                f"{type(existing).__name__}, got {type(value).__name__}; use another name"
            )
        if isinstance(value, Parameter | Block) and "_reg_params" not in attributes:
            raise ParameterError(
                f"{type(self).__name__}: expected super().__init__() before attribute {name}, "
                "got a constructor that did not call it yet"
            )
        if isinstance(value, Block):
            self.register_child(value, name)
        elif isinstance(value, Parameter):
            value = self._reg_params[name] = adopt(self, name, value)
            register_path(value, self, name)
        version, before = attributes.get("_version"), attributes.get(name, _ABSENT)
        if version is not None and name in _EDITED and type(value) is not VersionedDict:
            items: Any = value
            value = VersionedDict(version, items)
            version.change()
        super().__setattr__(name, value)
        if version is not None and version.names is not None and not follows_mxnet1():
            version.set(name, before, attributes.get(name, _ABSENT))

    def __delattr__(self, name: str) -> None:
        super().__delattr__(name)
        version = self.__dict__.get("_version")
        if version is not None:
            version.set(name, None, _ABSENT)

    def _alias(self) -> str:
        """Return the class name in lower case, with which default names begin."""
        return type(self).__name__.lower()

    @property
    def prefix(self) -> str:
        """Prefix of the names of this Block's parameters."""
        return self._prefix

    @prefix.setter
    def prefix(self, prefix: Any) -> None:
        set_name(self, "prefix", prefix)

    @property
    def name(self) -> str:
        """The prefix without its last underscore."""
        return self._name

    @name.setter
    def name(self, name: Any) -> None:
        set_name(self, "name", name)

    @property
    def params(self) -> ParameterDict:
        """The parameters of this Block, without those of its children; see `collect_params`."""
        return self._params

    @property
    def _scope(self) -> NameScope:
        """The result of `name_scope`."""
        return self.name_scope()

    def name_scope(self) -> NameScope:
        """Return a context manager; Blocks created inside it get this Block's prefix."""
        return NameScope(self, self._empty_prefix)

    def collect_params(self, select: str | None = None) -> ParameterDict:
        """Return the parameters of this Block and of all Blocks in it.

        Args:
            select: Regular expression that a name must match from its beginning, such as
                ``".*weight|.*bias"``; None for all. If it matches no name, it is matched against
                attribute paths, as in ``"encoder.*weight"``.

        Returns:
            A ParameterDict by full names; a key may also be an attribute path: "encoder.weight".
        """
        return collect(self, select, Block.collect_params)

    def freeze(self, select: str = ".*") -> list[str]:
        """Leave parameters out of the training until `unfreeze`; their gradients are not computed.

        Running statistics of BatchNorm are no parameters in this sense: they change while training,
        unless the layer has ``use_global_stats=True``.

        Args:
            select: The parameters, as for `collect_params`: ``"features.*"``; by default all.

        Returns:
            The full names of the parameters that had gradients.

        Raises:
            ArgumentError: No parameter has such a name.
        """
        return freeze(self, select)

    def unfreeze(self, select: str = ".*") -> list[str]:
        """Train parameters again that `freeze` has left out; arguments and result as there."""
        return unfreeze(self, select)

    def _collect_params_with_prefix(self, prefix: str = "") -> dict[str, Parameter]:
        """Return parameters by attribute paths, joined by dots."""
        start = f"{prefix}." if prefix else ""
        found = {start + name: parameter for name, parameter in self._reg_params.items()}
        for name, child in self._children.items():
            found.update(child._collect_params_with_prefix(start + name))
        return found

    @short_traceback
    def save_parameters(
        self, filename: str | os.PathLike[str], deduplicate: bool = False, **options: Any
    ) -> None:
        """Save all parameters under their attribute paths; the file is written atomically.

        Args:
            filename: Path of the file; its extension selects the format: ``.safetensors``,
                ``.safetensors.index.json`` or ``.npz``; any other, usually ``.params``, is MXNet's.
            deduplicate: Whether to save a parameter that is shared between layers only once.
            **options: ``metadata`` (a dict of str stored with the parameters) and
                ``max_shard_nbytes`` (the maximum size of each file of an index) of `nd.save`.

        Raises:
            ParameterError: A parameter is not initialized.
            ArgumentTypeError: The format does not support a dtype.
        """
        save_block(self, filename, deduplicate, **options)

    def save_params(self, filename: str | os.PathLike[str]) -> None:
        """Save parameters by name, without the prefix; deprecated: use `save_parameters`.

        Args:
            filename: Path of the file.
        """
        warnings.warn("save_params is deprecated; use save_parameters", UserWarning, stacklevel=2)
        self.collect_params().save(filename, strip_prefix=self.prefix)

    @short_traceback
    def load_parameters(
        self,
        filename: str | os.PathLike[str],
        ctx: ContextList | None = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
        cast_dtype: bool = False,
        dtype_source: str = "current",
        device: ContextList | None = None,
    ) -> None:
        """Load parameters from a file of `save_parameters`, `ParameterDict.save` or `export`.

        The format is detected by content: safetensors, an index of safetensors, npz, or MXNet's.
        Names with dots are attribute paths; others are parameter names, with or without prefix.

        Args:
            filename: Path of the file.
            ctx: Devices for parameters that are not initialized; the CPU by default.
            allow_missing: Whether parameters missing in the file keep their values; if False, they
                raise an error.
            ignore_extra: Whether to ignore arrays without a parameter; if False, they raise an
                error.
            cast_dtype: Whether to convert between dtypes; if False, a difference raises an error.
            dtype_source: The resulting dtype with ``cast_dtype``: ``"current"``, the parameter's,
                or ``"saved"``, the file's.
            device: ``ctx`` under the name it has in MXNet 2.0.

        Raises:
            ParameterError: A parameter is missing in the file, or its shape or dtype mismatches.
            ArgumentError: The file has arrays that match no parameter, or arrays without names.
            FileFormatError: The file is damaged or of another format.
        """
        ctx = device if ctx is None else ctx
        load_block(self, filename, ctx, allow_missing, ignore_extra, cast_dtype, dtype_source)

    @short_traceback
    def load_dict(
        self,
        param_dict: Mapping[str, NDArray],
        ctx: ContextList | None = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
        cast_dtype: bool = False,
        dtype_source: str = "current",
        device: ContextList | None = None,
    ) -> None:
        """Load parameters from a dict of arrays, as `load_parameters` does from a file.

        Args:
            param_dict: Arrays by attribute path or by parameter name.
            ctx: Devices for parameters that are not initialized.
            allow_missing: Whether parameters missing in the dict keep their values; if False, they
                raise an error.
            ignore_extra: Whether to ignore arrays without a parameter; if False, they raise an
                error.
            cast_dtype: Whether to convert between dtypes; if False, a difference raises an error.
            dtype_source: The resulting dtype with ``cast_dtype``: ``"current"``, the parameter's,
                or ``"saved"``, the array's.
            device: ``ctx`` under the name it has in MXNet 2.0.
        """
        how = device if ctx is None else ctx, allow_missing, ignore_extra, cast_dtype, dtype_source
        load_arrays(self, dict(param_dict), None, *how)

    def load_params(
        self,
        filename: str | os.PathLike[str],
        ctx: ContextList | None = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
        device: ContextList | None = None,
    ) -> None:
        """Load parameters; deprecated: use `load_parameters`.

        Args:
            filename: Path of the file.
            ctx: Devices for parameters that are not initialized.
            allow_missing: Whether parameters missing in the file keep their values.
            ignore_extra: Whether to ignore arrays without a parameter.
            device: ``ctx`` under the name it has in MXNet 2.0.
        """
        warnings.warn("load_params is deprecated; use load_parameters", UserWarning, stacklevel=2)
        self.load_parameters(filename, device if ctx is None else ctx, allow_missing, ignore_extra)

    @short_traceback
    def save(self, prefix: str | os.PathLike[str]) -> None:
        """Save structure and parameters to ``prefix-model.json`` and ``prefix-model.params``.

        Args:
            prefix: Common beginning of both paths. The extension ``.safetensors`` or ``.npz``
                selects the format of the parameters.
        """
        save_model(self, prefix)

    @short_traceback
    def load(self, prefix: str | os.PathLike[str]) -> None:
        """Load files of `save`, and hybridize the blocks that were hybridized when saved.

        The graph is traced from this Block's code; the graph in the file is not used.

        Args:
            prefix: The prefix that was passed to `save`.

        Raises:
            FileFormatError: The files belong to a network with another structure.
        """
        load_model(self, prefix)

    def _describe_graph(self) -> dict[str, Any]:
        return {}

    def _rehybridize(self) -> None: ...

    def _clear_graphs(self) -> None: ...

    def _rename_children(self, names: Mapping[str, str]) -> None:
        self._children = {names.get(name, name): child for name, child in self._children.items()}

    def register_child(self, block: "Block", name: str | None = None) -> None:
        """Add a Block as a child of this one; assigning it to an attribute does the same.

        Args:
            block: The child.
            name: Its name in attribute paths; by default its index among the children.

        Raises:
            ArgumentTypeError: ``block`` is not a Block.
        """
        if not isinstance(block, Block):
            raise child_error(self, block, "Block")
        key = str(len(self._children)) if name is None else name
        self._children[key] = block
        register_path(block, self, key)

    def register_forward_pre_hook(
        self, hook: Callable[["Block", tuple[Any, ...]], object]
    ) -> HookHandle:
        """Call ``hook(block, inputs)`` before each `forward`, until the handle's ``detach``.

        Args:
            hook: The function; its return value is ignored.
        """
        return self._hooks.register(True, hook)

    def register_forward_hook(
        self, hook: Callable[["Block", tuple[Any, ...], Any], object]
    ) -> HookHandle:
        """Call ``hook(block, inputs, output)`` after each `forward`, until the handle's ``detach``.

        Args:
            hook: The function; its return value is ignored.
        """
        return self._hooks.register(False, hook)

    def register_op_hook(self, callback: Callable[..., Any], monitor_all: bool = False) -> None:
        """Call a function with the output of every operator in hybridized blocks, for debugging.

        Args:
            callback: Called with the output's name, the operator's name, and the array.
            monitor_all: Whether to report the operators' inputs as well.
        """
        for child in self._children.values():
            child.register_op_hook(callback, monitor_all)

    def apply(self, fn: Callable[["Block"], object]) -> Self:
        """Call a function with every Block in this one, then with this one, and return this one.

        Args:
            fn: The function, called with a Block.
        """
        for child in self._children.values():
            child.apply(fn)
        fn(self)
        return self

    @short_traceback
    def initialize(
        self,
        init: Init = _UNIFORM,
        ctx: ContextList | None = None,
        verbose: bool = False,
        force_reinit: bool = False,
        device: ContextList | None = None,
    ) -> None:
        """Initialize all parameters; those of unknown shapes are initialized in the first call.

        Args:
            init: Initializer for parameters without one.
            ctx: Device or devices; the current context by default.
            verbose: Whether to log the initialization of each parameter.
            force_reinit: Whether to reinitialize initialized parameters.
            device: ``ctx`` under the name it has in MXNet 2.0.
        """
        ctx = device if ctx is None else ctx
        self.collect_params().initialize(init, ctx, verbose, force_reinit)

    def zero_grad(self) -> None:
        """Set the gradients of all parameters to 0."""
        self.collect_params().zero_grad()

    def setattr(self, name: str, value: Any) -> None:
        """Set an attribute of all parameters: ``net.setattr("grad_req", "null")``.

        Args:
            name: Name of the attribute.
            value: Its new value.
        """
        self.collect_params().setattr(name, value)

    def reset_ctx(self, ctx: ContextList) -> None:
        """Move all parameters to other devices.

        Args:
            ctx: The device, or a list of devices.
        """
        self.collect_params().reset_ctx(ctx)

    def share_parameters(self, shared: Mapping[str, Parameter]) -> Self:
        """Replace parameters by those of another Block, and return this Block.

        Args:
            shared: Parameters by attribute path, or the result of another Block's
                `collect_params`. Parameters that it lacks stay as they are.

        Raises:
            ArgumentTypeError: ``shared`` is not a dict.
        """
        share(self, shared)
        return self

    def hybridize(self, active: bool = True, **kwargs: Any) -> None:
        """Switch graph execution on or off in all HybridBlocks of this Block.

        Args:
            active: True for on, False for off.
            **kwargs: Options of `HybridBlock.hybridize`, such as ``static_alloc``.
        """
        for child in self._children.values():
            child.hybridize(active, **kwargs)

    def checkpoint(self, active: bool = True) -> None:
        """Compute this Block's activations again in the backward pass, rather than save them.

        A recorded call saves its inputs and outputs only. The backward pass runs `forward` again,
        with the same random numbers, and updates moving statistics no second time. Both runs give
        the same bits if they use the same kernels, which ``MXNET_ENFORCE_DETERMINISM=1`` ensures:
        otherwise a kernel that is compiled between them may differ in the last bits. A training
        step takes up to a third more time. Memory is saved by Blocks that run one after another,
        each with its own checkpoint; they may be nested::

            for layer in net.encoder.layers:
                layer.checkpoint()

        In training, a hybridized Block runs the checkpointed Blocks in it, and what is between
        them, one by one; checkpointed Blocks are graphs of their own, which do not keep memory
        between calls (``static_alloc``). Inference is one graph, as before.

        The Block must compute the same in both runs: from its arguments and parameters, with
        random numbers of `mx.random`. Hooks of Blocks inside are called in both runs. Gradients of
        gradients (``create_graph``) are refused.

        Args:
            active: True for on, False for off.
        """
        if bool(active) == self._checkpointed:
            return
        self._checkpointed = bool(active)
        checkpoints.used = True
        step = 1 if active else -1

        def enter(block: Block) -> None:
            block._checkpoint_depth += step
            block._clear_graphs()

        for child in self._children.values():
            child.apply(enter)
        enter(self)

    def cast(self, dtype: Any) -> None:
        """Convert all parameters to another element type, in which the Block then computes.

        Args:
            dtype: The new element type, such as ``"float16"``.
        """
        for child in self._children.values():
            child.cast(dtype)
        for parameter in self.params.values():
            parameter.cast(dtype)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call `forward`, with the registered hooks before and after it.

        Args:
            *args: Arguments of `forward`.
            **kwargs: Keyword arguments of `forward`.
        """
        forward = self.forward
        if self._checkpointed and recording.mode.get() & recording.RECORDING:
            forward = partial(call_checkpointed, self, forward)
        try:
            if self._hooks:
                return self._hooks.around(self, args, forward, kwargs)
            return forward(*args, **kwargs)
        except Exception as error:
            refuse_unconstructed(self)
            explain_call(self, error, len(args))
            shorten(error, sys._getframe(1))
            raise

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the outputs; defined by a subclass.

        Args:
            *args: Inputs, named by the subclass.
            **kwargs: Inputs by keyword.

        Raises:
            NotSupportedError: The subclass does not define ``forward``.
        """
        raise NotSupportedError(
            f"{type(self).__name__}: expected a class that defines forward(self, ...), got none"
        )

    def summary(self, *inputs: Any) -> None:
        """Print a table of the layers, with output shapes and numbers of parameters.

        Args:
            *inputs: Example inputs; the network is called with them once, layer by layer, also if
                it is hybridized.

        Raises:
            ArgumentTypeError: There are no inputs, or shapes instead.
        """
        print(summarize(self, inputs))  # noqa: T201  # its purpose


add_habits(Block, BLOCK)
