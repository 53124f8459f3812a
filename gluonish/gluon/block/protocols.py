"""Protocols of Blocks, for modules that `Block` itself imports."""

# ruff: noqa: D102  # the methods are documented where they are defined

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Protocol

from gluonish.gluon.block.hooks import HookHandle
from gluonish.gluon.block.scope import NameScope
from gluonish.gluon.parameter import Parameter, ParameterDict

# Attributes of a Block that no graph depends on, though `forward` or its caller reads them;
# `_children` and `_reg_params` report changes themselves.
UNTRACKED = frozenset(
    (
        "_active",
        "_checked",
        "_checkpoint_depth",
        "_checkpointed",
        "_child_counts",
        "_children",
        "_dropped",
        "_graphs",
        "_hooks",
        "_inferred",
        "_is_symbolic",
        "_op_hook",
        "_options",
        "_reg_params",
        "_untraceable",
    )
)


class Named(Protocol):
    """A Block with a name, for messages."""

    @property
    def name(self) -> str: ...


class BlockTree(Named, Protocol):
    """A Block with its parameters and children; see `Block`."""

    _name: str
    _prefix: str
    _params: ParameterDict
    _in_summary: bool

    @property
    def prefix(self) -> str: ...
    @property
    def params(self) -> ParameterDict: ...
    @property
    def _reg_params(self) -> Mapping[str, Parameter]: ...
    @property
    def _children(self) -> Mapping[str, Any]: ...
    def collect_params(self, select: str | None = None) -> ParameterDict: ...
    def _collect_params_with_prefix(self, prefix: str = "") -> dict[str, Parameter]: ...
    def save_parameters(self, filename: str) -> None: ...
    def load_parameters(self, filename: str) -> None: ...
    def _describe_graph(self) -> dict[str, Any]: ...
    def _rehybridize(self) -> None: ...
    def _rename_children(self, names: Mapping[str, str]) -> None: ...
    def register_forward_hook(self, hook: Callable[[Any, Any, Any], object]) -> HookHandle: ...
    def apply(self, fn: Callable[[Any], object]) -> Any: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...


class Traceable(BlockTree, Protocol):
    """A block that can be traced; see `HybridBlock`."""

    has_hybrid_forward: ClassVar[bool]
    _untraceable: str | None

    @property
    def hybrid_forward(self) -> Callable[..., Any]: ...
    def name_scope(self) -> NameScope: ...
    def forward(self, *args: Any, **kwargs: Any) -> Any: ...
    def infer_shape(self, *args: Any) -> None: ...
    def _call_forward(self, *args: Any, **kwargs: Any) -> Any: ...
