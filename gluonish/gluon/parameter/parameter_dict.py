"""ParameterDict: the parameters of a Block by their full names, created on request."""

import os
from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from typing import Any

from gluonish.core import loading
from gluonish.core.context import Context
from gluonish.core.dtype import normalize_dtype
from gluonish.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    ParameterError,
    nearest,
    require_text,
)
from gluonish.core.files import path_text
from gluonish.core.spec import Shape
from gluonish.gluon.parameter.arguments import ContextList, Movable, as_shape, join_shapes
from gluonish.gluon.parameter.arrays import zero_arrays
from gluonish.gluon.parameter.parameter import Constant, Init, Parameter
from gluonish.gluon.parameter.paths import described
from gluonish.initializer import Initializer, Uniform
from gluonish.ndarray import NDArray, array, load, save

_UNIFORM = Uniform()


class UnknownParameterError(ParameterError, KeyError):
    """Raised if there is no parameter of the requested name."""

    __str__ = Exception.__str__  # KeyError.__str__ quotes the message


class ParameterDict(Movable):
    """An ordered dict of parameters whose names share a prefix.

    Args:
        prefix: Prefix of the names that `get` and `get_constant` create.
        shared: ParameterDict that `get` searches before it creates a parameter.
    """

    def __init__(self, prefix: str = "", shared: "ParameterDict | None" = None) -> None:
        self._prefix = prefix
        self._shared = shared
        self._params: dict[str, Parameter] = {}

    def __repr__(self) -> str:
        lines = "\n".join(f"  {parameter!r}" for parameter in self.values())
        name = f"{self._prefix} " if self._prefix else ""
        return f"{name}(\n{lines}\n)"

    def _repr_html_(self) -> str:
        show = loading.load("gluonish.gluon.parameter.parameter_html").parameters_html
        text: str = show(type(self).__name__, self._prefix, dict(self.items()))
        return text

    def __getitem__(self, key: str) -> Parameter:
        found = self._params.get(key) if isinstance(key, str) else None
        if found is None:
            short = [name.removeprefix(self._prefix) for name in self._params]
            raise UnknownParameterError(
                f"ParameterDict: expected the name of one of {len(self._params)} parameters, got "
                f"{key!r:.200}{nearest(key, self._params) or nearest(key, short)}"
                f"{'; list(params.values()) can be indexed' if isinstance(key, int) else ''}"
            )
        return found

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and key in self._params

    def __iter__(self) -> Iterator[str]:
        return iter(self._params)

    def items(self) -> ItemsView[str, Parameter]:
        """Return pairs of name and parameter, in the order of creation."""
        return self._params.items()

    def keys(self) -> KeysView[str]:
        """Return the names."""
        return self._params.keys()

    def values(self) -> ValuesView[Parameter]:
        """Return the parameters."""
        return self._params.values()

    @property
    def prefix(self) -> str:
        """Prefix of the names that `get` creates."""
        return self._prefix

    def _find(self, name: str) -> Parameter | None:
        found = self._params.get(name)
        if found is None and self._shared is not None:
            found = self._shared._params.get(name)
            if found is not None:
                self._params[name] = found
        return found

    def get(self, name: str, **kwargs: Any) -> Parameter:
        """Return the parameter ``prefix + name``, creating it if there is none.

        Args:
            name: Name without the prefix.
            **kwargs: Arguments of `Parameter`. They must agree with an existing parameter, whose
                unknown sizes and missing initializer they fill in. An existing parameter keeps its
                ``differentiable`` and ``grad_stype``, and allows deferred initialization if either
                side does.

        Raises:
            ParameterError: The parameter exists with other properties.
            ArgumentTypeError: Parameter has no such argument.
        """
        require_text(name, "ParameterDict.get: expected name")
        full_name = self._prefix + name
        parameter = self._find(full_name)
        if parameter is None:
            parameter = self._params[full_name] = Parameter(full_name, **kwargs)
            parameter._own_name = name
        else:
            for attribute, value in kwargs.items():
                _merge_argument(parameter, attribute, value)
        return parameter

    def _declare(self, name: str, shape: Shape, init: Init | None, **kwargs: Any) -> Parameter:
        """Return a layer's weight, with deferred initialization if needed; see `get`."""
        return self.get(name, shape=shape, init=init, allow_deferred_init=True, **kwargs)

    def get_constant(self, name: str, value: Any = None) -> Parameter:
        """Return the constant ``prefix + name``, creating it from ``value`` if there is none.

        Args:
            name: Name without the prefix.
            value: Value of the constant; None returns any existing parameter of that name.

        Raises:
            UnknownParameterError: The constant does not exist, and ``value`` is None.
            ParameterError: The existing parameter is not a constant, or has another value.
        """
        require_text(name, "ParameterDict.get_constant: expected name")
        full_name = self._prefix + name
        found = self._find(full_name)
        if found is None:
            if value is None:
                raise UnknownParameterError(
                    f"ParameterDict: expected a constant {full_name!r}, got none of that name; "
                    "pass its value to create it"
                )
            constant = self._params[full_name] = Constant(full_name, value)
            constant._own_name = name
            return constant
        if value is None:
            return found
        if not isinstance(found, Constant):
            raise ParameterError(
                f"ParameterDict: expected {full_name!r} to be a Constant, got a Parameter"
            )
        new = value if isinstance(value, NDArray) else array(value)
        same = new.shape == found.value.shape
        if not same or (new.asnumpy() != found.value.asnumpy()).any():
            raise ParameterError(
                f"ParameterDict: expected constant {full_name!r} to keep its value "
                f"{found.value}, got {new}"
            )
        return found

    def update(self, other: "ParameterDict | Mapping[str, Parameter]") -> None:
        """Add all parameters of another dict.

        Args:
            other: The other ParameterDict.

        Raises:
            ParameterError: The two hold different parameters of the same name.
        """
        for name, parameter in other.items():
            if self._params.get(name, parameter) is not parameter:
                raise ParameterError(
                    f"ParameterDict: expected different parameters to have different names, got "
                    f"two called {name!r}; make Blocks inside `with self.name_scope():`"
                )
        self._params.update(other.items())

    def initialize(
        self,
        init: Init = _UNIFORM,
        ctx: ContextList | None = None,
        verbose: bool = False,
        force_reinit: bool = False,
        device: ContextList | None = None,
    ) -> None:
        """Initialize all parameters; see `Parameter.initialize`.

        Args:
            init: Initializer for parameters without one.
            ctx: Device or devices; the current context by default.
            verbose: Whether to log the initialization of each parameter.
            force_reinit: Whether to reinitialize initialized parameters.
            device: ``ctx`` under the name it has in MXNet 2.0.
        """
        if verbose and isinstance(init, Initializer):
            init.set_verbosity(verbose)
        ctx = device if ctx is None else ctx
        for parameter in {id(p): p for p in self.values()}.values():  # paths may share one
            parameter.initialize(None, ctx, init, force_reinit=force_reinit)

    def zero_grad(self) -> None:
        """Set all gradients to 0."""
        zero_arrays(x for parameter in self.values() for x in (parameter._grads or {}).values())

    def reset_ctx(self, ctx: ContextList) -> None:
        """Move all parameters to other devices.

        Args:
            ctx: The device, or a list of devices.
        """
        for parameter in self.values():
            parameter.reset_ctx(ctx)

    def list_ctx(self) -> list[Context]:
        """Return all devices on which parameters are, or will be, initialized."""
        found = (ctx for parameter in self.values() for ctx in parameter.list_ctx())
        return list(dict.fromkeys(found))

    list_device = list_ctx

    def setattr(self, name: str, value: Any) -> None:
        """Set an attribute of all parameters: ``net.collect_params().setattr("lr_mult", 0.1)``.

        Args:
            name: Name of the attribute.
            value: Its new value.
        """
        require_text(name, "ParameterDict.setattr: expected name")
        for parameter in self.values():
            setattr(parameter, name, value)

    def save(self, filename: str | os.PathLike[str], strip_prefix: str = "") -> None:
        """Save all values to a file, under their full names.

        Args:
            filename: Path of the file; its extension selects the format, see `nd.save`.
            strip_prefix: Prefix to remove from the names.

        Raises:
            ArgumentError: A name does not begin with ``strip_prefix``.
            ParameterError: A parameter is not initialized.
        """
        for name in self:
            if not name.startswith(strip_prefix):
                raise ArgumentError(
                    f"ParameterDict: expected names that begin with strip_prefix {strip_prefix!r}, "
                    f"got {name!r}; it is shared with another Block, or was made outside name_scope"
                )
        save(filename, {name[len(strip_prefix) :]: param._reduce() for name, param in self.items()})

    def load(
        self,
        filename: str | os.PathLike[str],
        ctx: ContextList | None = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
        restore_prefix: str = "",
        cast_dtype: bool = False,
        dtype_source: str = "current",
        device: ContextList | None = None,
    ) -> None:
        """Load values from a file; ``arg:`` and ``aux:`` before names are ignored.

        Args:
            filename: Path of a file in any format that `nd.load` supports.
            ctx: Devices for parameters that are not initialized.
            allow_missing: Whether parameters missing in the file keep their values; if False, they
                raise an error.
            ignore_extra: Whether to ignore arrays of other names; if False, they raise an error.
            restore_prefix: Prefix to add to the file's names.
            cast_dtype: Whether to convert between dtypes; if False, a difference raises an error.
            dtype_source: The resulting dtype with ``cast_dtype``: ``"current"``, the parameter's,
                or ``"saved"``, the file's.
            device: ``ctx`` under the name it has in MXNet 2.0.

        Raises:
            ParameterError: A parameter is missing in the file, or its shape or dtype mismatches.
            ArgumentError: The file has arrays that match no parameter, or arrays without names.
            FileFormatError: The file is damaged or of another format.
        """
        filename = path_text(filename, "ParameterDict.load")
        loaded = load(filename, mmap=False)
        if not isinstance(loaded, dict):
            if loaded:
                raise ArgumentTypeError(
                    f"ParameterDict: expected arrays with names in {filename!r}, got a "
                    f"list of {len(loaded)}; save a dict"
                )
            loaded = {}
        self._load(
            loaded,
            device if ctx is None else ctx,
            allow_missing,
            ignore_extra,
            restore_prefix,
            repr(filename),
            (cast_dtype, dtype_source, True),
        )

    def _replace_prefix(self, old: str, new: str) -> None:
        """Replace a prefix of the keys; the parameters keep their names."""
        self._params = {
            new + name.removeprefix(old) if old and name.startswith(old) else name: parameter
            for name, parameter in self._params.items()
        }

    def load_dict(
        self,
        param_dict: Mapping[str, NDArray],
        ctx: ContextList | None = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
        restore_prefix: str = "",
        filename: str | None = None,
        cast_dtype: bool = False,
        dtype_source: str = "current",
        device: ContextList | None = None,
    ) -> None:
        """Load values from a dict of arrays; see `load` for the other arguments.

        Args:
            param_dict: Arrays by parameter name.
            ctx: Devices for parameters that are not initialized.
            allow_missing: Whether parameters missing in the dict keep their values; if False, they
                raise an error.
            ignore_extra: Whether to ignore arrays of other names; if False, they raise an error.
            restore_prefix: Prefix to add to the names.
            filename: Name of the source in error messages.
            cast_dtype: Whether to convert between dtypes; if False, a difference raises an error.
            dtype_source: The resulting dtype with ``cast_dtype``: ``"current"``, the parameter's,
                or ``"saved"``, the array's.
            device: ``ctx`` under the name it has in MXNet 2.0.
        """
        source = "the dict" if filename is None else repr(filename)
        how = cast_dtype, dtype_source, False
        self._load(
            param_dict,
            device if ctx is None else ctx,
            allow_missing,
            ignore_extra,
            restore_prefix,
            source,
            how,
        )

    def _load(
        self,
        param_dict: Mapping[str, NDArray],
        ctx: ContextList | None,
        allow_missing: bool,
        ignore_extra: bool,
        restore_prefix: str,
        source: str,
        how: tuple[bool, str, bool],
    ) -> None:
        """Load values; ``how`` holds the last three arguments of `Parameter._load_init`."""
        for name in self:
            if not name.startswith(restore_prefix):
                raise ArgumentError(
                    f"ParameterDict: expected parameters that begin with restore_prefix "
                    f"{restore_prefix!r}, got {name!r}"
                )
        arrays = {restore_prefix + name: arr for name, arr in bare_names(param_dict).items()}
        for name in () if allow_missing else self:
            if name not in arrays:
                raise ParameterError(
                    f"ParameterDict: expected {name!r} in {source}, got {len(arrays)} other arrays"
                    f"{nearest(name, arrays)}; set allow_missing=True to leave it unchanged"
                )
        for name, values in arrays.items():
            if name in self._params:
                self._params[name]._load_init(values, ctx, *how)
            elif not ignore_extra:
                raise ArgumentError(
                    f"ParameterDict: expected only its own parameters in {source}, got {name!r}"
                    f"{nearest(name, self._params)}; set ignore_extra=True to ignore it"
                )


def bare_names(arrays: Mapping[str, NDArray]) -> dict[str, NDArray]:
    """Return arrays without the ``arg:`` and ``aux:`` prefixes of exported models.

    Raises:
        ArgumentTypeError: A name is not a str.
    """
    for name in arrays:
        require_text(name, "load: expected names of arrays")
    return {
        name[4:] if name.startswith(("arg:", "aux:")) else name: arr for name, arr in arrays.items()
    }


# Arguments that an existing Parameter ignores: layers that share it may differ in them.
_IGNORED = ("differentiable", "grad_stype")
_COMPARED = ("grad_req", "shape", "dtype", "lr_mult", "wd_mult", "init", "stype")


def _merge_argument(parameter: Parameter, attribute: str, value: Any) -> None:
    """Check one argument against an existing parameter, or set an attribute that is unknown."""
    if attribute in _IGNORED:
        return
    if attribute == "allow_deferred_init":
        parameter._allow_deferred_init |= bool(value)
        return
    if attribute not in _COMPARED:
        raise ArgumentTypeError(
            f"ParameterDict: expected arguments of Parameter, got {attribute!r}"
            f"{nearest(attribute, (*_COMPARED, *_IGNORED, 'allow_deferred_init'))}"
        )
    stored: Any = getattr(parameter, "_stype" if attribute == "stype" else attribute)
    if stored is None:
        if value is not None:
            setattr(parameter, attribute, value)
        return
    if value is None or stored == value:
        return
    if attribute == "dtype" and normalize_dtype(stored) == normalize_dtype(value):
        return
    if attribute == "shape":
        joined = join_shapes(stored, as_shape(described(parameter), value))
        if joined is not None:
            parameter.shape = joined
            return
    raise ParameterError(
        f"{described(parameter)}: expected {attribute} {stored}, as it was created, got {value} "
        f"from a layer that shares it; pass the same {attribute} to both layers, or do not share it"
    )
