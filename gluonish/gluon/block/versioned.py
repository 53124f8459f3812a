"""VersionedBlock: the part of Block that tells the graphs which were traced from it of changes."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from gluonish.core.mxnet_rules import follows_mxnet
from gluonish.core.versions import Version, VersionedDict
from gluonish.gluon.block.hooks import HookHandle, Hooks

if TYPE_CHECKING:
    from gluonish.gluon.block.block import Block

__all__ = ["VersionedBlock"]

_ABSENT = object()
# Dicts that programs edit: `layer._kwargs["stride"] = (1, 1)`, `net._children.popitem()`.
_EDITED = ("_children", "_reg_params", "_kwargs", "_kwargs_offset", "_kwargs_deformable_conv")


class VersionedBlock:
    """The version of a Block, and what moves it on: attributes, children and parameters."""

    # Attributes that no graph depends on, though `forward` or who calls it reads them; `_children`
    # and `_reg_params` tell of changes themselves.
    _unwatched: ClassVar[frozenset[str]] = frozenset(
        (
            "_active",
            "_checked",
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

    name: Any

    def _begin_versions(self) -> None:
        """Have a version, and what tells it of changes."""
        self._version = Version()
        self._children: Any = VersionedDict(self._version)
        self._reg_params: Any = VersionedDict(self._version)
        self._hooks = Hooks()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if "_version" not in state and "_hooks" in state:  # pickled by an older gluonish
            self._version = Version()
            self._children, self._reg_params = state["_children"], state["_reg_params"]
            self._hooks = Hooks(state["_hooks"])

    def __setattr__(self, name: str, value: Any) -> None:
        attributes = self.__dict__
        version, before = attributes.get("_version"), attributes.get(name, _ABSENT)
        if version is not None and name in _EDITED and type(value) is not VersionedDict:
            value = VersionedDict(version, value)
            version.change()
        super().__setattr__(name, value)
        if version is not None and version.names is not None and not follows_mxnet():
            version.set(name, before, attributes.get(name, _ABSENT))

    def __delattr__(self, name: str) -> None:
        super().__delattr__(name)
        version = self.__dict__.get("_version")
        if version is not None:
            version.set(name, None, _ABSENT)

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
