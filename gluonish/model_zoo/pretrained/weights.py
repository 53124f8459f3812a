"""Names of weights in a folder's files, and how the parameters of ours are made of them.

A table has a pair for each parameter: our path, and a `Form` with the names in the file. ``{}``
stands for an index, in both. Loading and saving use the same table.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.dtype import normalize_dtype
from gluonish.core.errors import ArgumentError, FileFormatError, ParameterError, nearest
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.parameter import Parameter
from gluonish.ndarray.list_file import StoredArray
from gluonish.ndarray.serialization import owned_array
from gluonish.ndarray.slabs import Slabs

__all__ = [
    "Form",
    "Names",
    "WeightTable",
    "absent",
    "common_dtype",
    "outer_rows",
    "reordered",
    "rows",
    "scalar",
    "setter",
    "transposed",
    "with_leading_axes",
]

_MOST_NAMES = 10  # in one message
Shape = tuple[int, ...]
Values = np.ndarray[Any, Any]
Kind = np.dtype[Any]


class Form:
    """A parameter that is one tensor of the file, as it is.

    Args:
        *names: Names in the file.
    """

    def __init__(self, *names: str) -> None:
        self.names = names

    def renamed(self, names: Sequence[str]) -> "Form":
        """Return the same form of tensors with other names."""
        made = copy(self)
        made.names = tuple(names)
        return made

    def shapes(self, shape: Shape, sizes: Sequence[int]) -> list[Shape]:
        """Return the shapes of the tensors that make a parameter of a shape.

        Args:
            shape: Shape of the parameter.
            sizes: Numbers of rows of the parts that the layer joins.
        """
        return [shape]

    def load(
        self, stored: Sequence[StoredArray], shape: Shape, dtype: Kind, slabs: Slabs
    ) -> Values:
        """Return the parameter's values, of tensors of a file, each of which is read once.

        Args:
            stored: The tensors.
            shape: Shape of the parameter.
            dtype: Its element type.
            slabs: Where memory comes from.
        """
        if len(stored) != 1 or stored[0].read_into is None or stored[0].dtype != dtype:
            return _converted(self.join((tensor.read() for tensor in stored), shape), dtype, slabs)
        made = slabs.empty(stored[0].shape, stored[0].dtype)
        stored[0].read_into(made)
        return self.join(iter((made,)), shape)

    def join(self, pieces: Iterator[Values], shape: Shape) -> Values:
        """Return the parameter's values, of tensors that are read one after another.

        They may be a view with strides.
        """
        return next(pieces)

    def split(self, values: Values, sizes: Sequence[int]) -> list[Values]:
        """Return the tensors of a parameter's values."""
        return [values]


def _converted(values: Values, dtype: Kind, slabs: Slabs) -> Values:
    """Return values in a parameter's dtype and order of elements."""
    if values.dtype == dtype and values.flags.c_contiguous:
        return values
    made = slabs.empty(values.shape, dtype)
    with np.errstate(all="ignore"):  # such as a value beyond float16, which becomes infinite
        made[...] = values
    return made


class _Rows(Form):
    def load(
        self, stored: Sequence[StoredArray], shape: Shape, dtype: Kind, slabs: Slabs
    ) -> Values:
        if len(stored) == 1 or any(x.read_into is None or x.dtype != dtype for x in stored):
            return super().load(stored, shape, dtype, slabs)
        made = slabs.empty(shape, stored[0].dtype)
        at = 0
        for tensor in stored:
            assert tensor.read_into is not None
            tensor.read_into(made[at : at + tensor.shape[0]])
            at += tensor.shape[0]
        return made

    def shapes(self, shape: Shape, sizes: Sequence[int]) -> list[Shape]:
        return [(size, *shape[1:]) for size in sizes]

    def join(self, pieces: Iterator[Values], shape: Shape) -> Values:
        first = next(pieces)
        if first.shape == shape:
            return first
        made = np.empty(shape, first.dtype)
        at = 0
        for piece in chain((first,), pieces):
            made[at : at + len(piece)] = piece
            at += len(piece)
        return made

    def split(self, values: Values, sizes: Sequence[int]) -> list[Values]:
        ends = np.cumsum(sizes)
        return [values[end - size : end] for end, size in zip(ends, sizes, strict=True)]


class _Mapped(Form):
    def __init__(
        self,
        name: str,
        shape: Callable[[Shape], Shape],
        read: Callable[[Values, Shape], Values],
        write: Callable[[Values], Values],
    ) -> None:
        super().__init__(name)
        self._shape, self._read, self._write = shape, read, write

    def shapes(self, shape: Shape, sizes: Sequence[int]) -> list[Shape]:
        return [self._shape(shape)]

    def load(
        self, stored: Sequence[StoredArray], shape: Shape, dtype: Kind, slabs: Slabs
    ) -> Values:
        return _converted(self._read(stored[0].read(), shape), dtype, slabs)

    def join(self, pieces: Iterator[Values], shape: Shape) -> Values:
        return self._read(next(pieces), shape)

    def split(self, values: Values, sizes: Sequence[int]) -> list[Values]:
        return [self._write(values)]


def rows(*names: str) -> Form:
    """Return the form of tensors whose rows, one after another, are those of the parameter.

    The numbers of rows are the layer's, such as those of queries, keys and values, or else equal.
    """
    return _Rows(*names)


class _OuterRows(Form):
    def shapes(self, shape: Shape, sizes: Sequence[int]) -> list[Shape]:
        return [(shape[0] // 3, *shape[1:])] * 2

    def join(self, pieces: Iterator[Values], shape: Shape) -> Values:
        first, last = pieces
        return np.concatenate([first, np.zeros_like(first), last])

    def split(self, values: Values, sizes: Sequence[int]) -> list[Values]:
        third = len(values) // 3
        return [values[:third], values[2 * third :]]


def outer_rows(first: str, last: str) -> Form:
    """Return the form of three equal parts, of which files lack the one in the middle: zeros.

    A network whose keys have no bias has that of queries, keys and values as one parameter. What
    training adds to the keys' part has no effect, and is not saved.
    """
    return _OuterRows(first, last)


def transposed(name: str) -> Form:
    """Return the form of a matrix that the file has with its axes exchanged."""
    return _Mapped(name, lambda shape: shape[::-1], lambda values, _: values.T, lambda x: x.T)


def with_leading_axes(name: str, axes: int = 1) -> Form:
    """Return the form of a tensor that has further axes of size 1 in front."""
    ones = (1,) * axes
    return _Mapped(
        name,
        lambda shape: ones + shape,
        lambda values, shape: values.reshape(shape),
        lambda values: values.reshape(ones + values.shape),
    )


def scalar(name: str) -> Form:
    """Return the form of a single number, which is of shape (1,) in the network."""
    return _Mapped(
        name,
        lambda shape: (),
        lambda values, shape: values.reshape(shape),
        lambda values: values.reshape(()),
    )


def reordered(
    name: str, read: Callable[[Values], Values], write: Callable[[Values], Values]
) -> Form:
    """Return the form of a tensor of the parameter's shape with rows in another order.

    Args:
        name: Name in the file.
        read: Returns the parameter's values of the tensor's.
        write: The opposite.
    """
    return _Mapped(name, lambda shape: shape, lambda values, _: read(values), write)


class _Absent(Form):
    def shapes(self, shape: Shape, sizes: Sequence[int]) -> list[Shape]:
        return []

    def join(self, pieces: Iterator[Values], shape: Shape) -> Values:
        return np.zeros(shape, np.float32)

    def split(self, values: Values, sizes: Sequence[int]) -> list[Values]:
        return []


def absent() -> Form:
    """Return the form of a parameter that files do not have: it is zero, and not trained."""
    return _Absent()


Names = Sequence[tuple[str, str | Form]]


class _Entry(NamedTuple):
    path: str
    parameter: Parameter
    shape: Shape
    form: Form
    names: tuple[str, ...]
    sizes: Sequence[int]

    def shapes(self) -> list[Shape]:
        return self.form.shapes(self.shape, self.sizes)


class WeightTable:
    """The parameters of a network with their names in files.

    Args:
        net: The network.
        names: Pairs of our paths and names in the file; see the module.
        what: Name of the network in messages.
    """

    def __init__(self, net: HybridBlock, names: Names, what: str) -> None:
        self._entries: list[_Entry] = []
        patterns = [(_pattern(ours), theirs) for ours, theirs in names]
        for path, parameter in net._collect_params_with_prefix().items():
            found = next(
                ((match, theirs) for p, theirs in patterns if (match := p.fullmatch(path))), None
            )
            if found is None:
                raise ParameterError(f"{what}: expected a name in files for parameter {path!r}")
            match, theirs = found
            form = Form(theirs) if isinstance(theirs, str) else theirs
            filled = tuple(name.format(*match.groups()) for name in form.names)
            shape = tuple(parameter.shape or ())
            sizes = _sizes(net, path, shape, len(filled))
            self._entries.append(_Entry(path, parameter, shape, form, filled, sizes))

    def names(self) -> set[str]:
        """Return the names in files."""
        return {name for entry in self._entries for name in entry.names}

    def names_of(self, path: str) -> tuple[str, ...]:
        """Return the names in files of the parameter at a path."""
        return next(entry.names for entry in self._entries if entry.path == path)

    def single_names(self) -> Iterator[tuple[str, str, Shape]]:
        """Yield path, name in files and shape of each parameter that is one tensor, as it is."""
        for entry in self._entries:
            if type(entry.form) is Form:
                yield entry.path, entry.names[0], entry.shape

    def load(
        self,
        stored: Mapping[str, StoredArray],
        source: str,
        set_values: Callable[[Parameter, Values], None],
        may_miss: Callable[[str], bool],
        may_ignore: Callable[[str], bool],
    ) -> list[str]:
        """Fill all parameters, each of which is read once.

        Args:
            stored: The file's tensors by name.
            source: Name of the file in messages.
            set_values: Gives a parameter its values.
            may_miss: Whether a parameter, by its path, may be missing from the file.
            may_ignore: Whether a tensor, by its name, may be left over.

        Returns:
            The paths that were missing.

        Raises:
            ParameterError: Tensors are missing or left over, or of another shape or dtype; nothing
                was read.
        """
        missing = self._check(stored, source, may_miss, may_ignore)
        done: dict[int, _Entry] = {}
        total = sum(math.prod(entry.shape) * _kind(entry).itemsize for entry in self._distinct())
        with Slabs(total) as slabs:
            for entry in self._entries:
                if entry.path in missing or any(name not in stored for name in entry.names[:1]):
                    continue
                tensors = [stored[name] for name in entry.names]
                values = entry.form.load(tensors, entry.shape, _kind(entry), slabs)
                if id(entry.parameter) in done:
                    _check_tied(entry, done[id(entry.parameter)], values, source)
                    continue
                set_values(entry.parameter, values)
                done[id(entry.parameter)] = entry
        return missing

    def check(self, stored: Mapping[str, StoredArray], source: str) -> None:
        """Check that a file's tensors are the parameters', exactly; nothing is read.

        Args:
            stored: The file's tensors by name.
            source: Name of the file in messages.

        Raises:
            ParameterError: See `load`.
        """
        self._check(stored, source, lambda path: False, lambda name: False)

    def _check(
        self,
        stored: Mapping[str, StoredArray],
        source: str,
        may_miss: Callable[[str], bool],
        may_ignore: Callable[[str], bool],
    ) -> list[str]:
        complete = {
            id(entry.parameter) for entry in self._entries if all(n in stored for n in entry.names)
        }
        missing, lost, wrong = [], [], []
        for entry in self._entries:
            absent = [name for name in entry.names if name not in stored]
            if absent and id(entry.parameter) not in complete:
                if len(absent) == len(entry.names) and may_miss(entry.path):
                    missing.append(entry.path)
                else:
                    lost += absent
            if absent:
                continue
            for name, shape in zip(entry.names, entry.shapes(), strict=True):
                found = stored[name]
                if found.shape != shape:
                    wrong.append(f"{name!r} of shape {shape}, got {found.shape}")
                elif not _is_floating(found.dtype):
                    wrong.append(f"{name!r} of a floating dtype, got {found.dtype}")
        known = self.names()
        left = [name for name in stored if name not in known and not may_ignore(name)]
        problems = []
        if lost:
            problems.append(f"expected tensors {_listed(map(repr, lost))}, got none of them"
                            + nearest(lost[0], stored))  # fmt: skip
        if left:
            problems.append(f"expected no tensors {_listed(map(repr, left))}"
                            + nearest(left[0], known))  # fmt: skip
        if wrong:
            problems.append(f"expected {_listed(wrong)}")
        if problems:
            raise ParameterError(f"{source}: {'; '.join(problems)}")
        return missing

    def tensors(self) -> dict[str, StoredArray]:
        """Return what a file of the network has: tensors by name, which are read lazily."""
        found: dict[str, StoredArray] = {}
        for entry in self._distinct():
            for i, (name, shape) in enumerate(zip(entry.names, entry.shapes(), strict=True)):
                found[name] = StoredArray(shape, _kind(entry), _Piece(entry, i))
        return found

    def gradients(self) -> dict[str, Values]:
        """Return the gradients of trained parameters on their first device, by names in files."""
        found: dict[str, Values] = {}
        for entry in self._distinct():
            if not entry.names or entry.parameter.grad_req == "null":
                continue
            pieces = entry.form.split(entry.parameter.list_grad()[0].asnumpy(), entry.sizes)
            found.update(zip(entry.names, pieces, strict=True))
        return found

    def _distinct(self) -> Iterator[_Entry]:
        """Yield the first entry of each parameter; tied ones have several."""
        seen: set[int] = set()
        for entry in self._entries:
            if id(entry.parameter) not in seen:
                seen.add(id(entry.parameter))
                yield entry


def _kind(entry: _Entry) -> Kind:
    return normalize_dtype(entry.parameter.dtype)


class _Piece:
    """Reads one tensor of a parameter."""

    def __init__(self, entry: _Entry, index: int) -> None:
        self._entry, self._index = entry, index

    def __call__(self) -> Values:
        values = self._entry.parameter._reduce().asnumpy()
        return self._entry.form.split(values, self._entry.sizes)[self._index]


def _pattern(ours: str) -> re.Pattern[str]:
    return re.compile(r"(\d+)".join(map(re.escape, ours.split("{}"))))


def _sizes(net: HybridBlock, path: str, shape: Shape, count: int) -> Sequence[int]:
    """Return the numbers of rows of the parts that a layer joins."""
    block: Any = net
    for name in path.split(".")[:-1]:
        block = block._children[name]
    sizes = getattr(block, "_parts", None)
    if sizes is None or len(sizes) != count:
        sizes = (shape[0] // count,) * count if shape and count else ()
    return tuple(sizes)


def _is_floating(dtype: np.dtype[Any]) -> bool:
    return dtype.kind == "f" or dtype.name == "bfloat16"


def _check_tied(entry: _Entry, first: _Entry, values: Values, source: str) -> None:
    found = first.parameter._reduce().asnumpy()
    if not np.array_equal(values.astype(found.dtype), found):
        raise ParameterError(
            f"{source}: expected {entry.names[0]!r} equal to {first.names[0]!r}, as the settings "
            "say that both are one weight, got other values"
        )


def _listed(items: Iterable[str]) -> str:
    shown = list(items)
    more = len(shown) - _MOST_NAMES
    return ", ".join(shown[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def setter(ctx: Any, mapped: bool) -> Callable[[Parameter, Values], None]:
    """Return the function that gives a parameter the values that were read for it.

    Args:
        ctx: Device, or a list of devices.
        mapped: Whether values of a mapped file stay there.
    """

    def set_values(parameter: Parameter, values: Values) -> None:
        parameter._load_init(owned_array(values), ctx, True, donated=True, mapped=mapped)

    return set_values


def floating_dtype(dtype: Any, name: str = "from_pretrained") -> np.dtype[Any]:
    """Return the dtype that weights are cast to.

    Args:
        dtype: What the caller passed.
        name: Name of the function in messages.

    Raises:
        ArgumentError: It is not floating.
        DtypeError: There is no such dtype.
    """
    found = normalize_dtype(dtype)
    if not _is_floating(found):
        raise ArgumentError(
            f"{name}: expected dtype of floating numbers, got {found.name}; see quantize_weights "
            "for integers"
        )
    return found


def common_dtype(stored: Mapping[str, StoredArray], source: str) -> np.dtype[Any]:
    """Return the dtype that most elements of a file have.

    Raises:
        FileFormatError: There are no floating tensors.
    """
    sizes: dict[np.dtype[Any], int] = {}
    for tensor in stored.values():
        if _is_floating(tensor.dtype):
            sizes[tensor.dtype] = sizes.get(tensor.dtype, 0) + int(np.prod(tensor.shape))
    if not sizes:
        raise FileFormatError(f"{source}: expected floating tensors, got none")
    return max(sizes, key=lambda dtype: sizes[dtype])
