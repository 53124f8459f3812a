"""A pickle reader for trainer states that knows a handful of names and can run nothing.

Arrays become `ArrayState`, optimizers and schedulers become `ForeignObject`: a class name and a
dictionary, with no behaviour. The classes and functions that a file names are replaced by stand-ins
that check what they are called with and that a file cannot change.
"""

import io
import pickle
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gluonish.core.errors import FileFormatError
from gluonish.core.pickle_safety import BROKEN_PICKLE, Sealed, check_opcodes
from gluonish.ndarray.array_file import ArrayRecord, DenseRecord, decode_record

__all__ = ["ArrayState", "ForeignObject", "load_restricted"]

_ARRAY_CLASSES = frozenset(
    {
        "ndarray.ndarray.NDArray",
        "ndarray.NDArray",
        "ndarray.sparse.RowSparseNDArray",
        "ndarray.sparse.CSRNDArray",
    }
)
_NUMPY_ARRAY_CLASSES = frozenset({"numpy.ndarray", "numpy.multiarray.ndarray"})
_FOREIGN_MODULES = re.compile(r"(mxnet|gluonish)\.(optimizer(\.[a-z_]\w*)*|lr_scheduler)")


class ArrayState:
    """An array inside a states file.

    Args:
        record: The array as files hold it.
        is_numpy: Whether it is an ``mx.np.ndarray``.
    """

    __slots__ = ("is_numpy", "record")

    def __init__(self, record: ArrayRecord, *, is_numpy: bool = False) -> None:
        self.record = record
        self.is_numpy = is_numpy

    @property
    def values(self) -> Any:
        """The dense array, or the stored values of a sparse one; None for an undefined array."""
        return self.record.values

    def __repr__(self) -> str:
        """Storage type, shape and dtype."""
        return f"ArrayState({self.record.stype}, {self.record.shape}, {self.record.dtype})"


@dataclass(slots=True, eq=False)
class ForeignObject:
    """An optimizer or a scheduler as its file tells it.

    Args:
        class_name: Module and class, such as ``mxnet.optimizer.optimizer.SGD``.
        state: Its instance dictionary.
    """

    class_name: str
    state: dict[str, Any] = field(default_factory=dict)

    def __setstate__(self, state: object) -> None:
        """Take the instance dictionary that a pickle holds."""
        if not isinstance(state, dict) or not all(isinstance(key, str) for key in state):
            raise FileFormatError(
                f"expected a dictionary for {self.class_name}, got {type(state).__name__}"
            )
        self.state = state


# What follows stands in for the classes and functions that a pickle names. A pickle may call them
# with any arguments and may try to change them, so each checks what it gets, and none can be
# changed.


class _PickledArray(ArrayState, metaclass=Sealed):
    """An `ArrayState` whose record arrives after it was made, as ``{"handle": bytes}``."""

    __slots__ = ()
    _of_numpy = False

    def __init__(self, handle: None = None) -> None:
        if handle is not None:
            raise FileFormatError(f"expected NDArray(None), got NDArray({handle!r:.40})")
        super().__init__(DenseRecord(None), is_numpy=self._of_numpy)

    def __setstate__(self, state: object) -> None:
        handle = state.get("handle") if isinstance(state, dict) else state
        if isinstance(handle, bytes | bytearray):
            self.record = decode_record(handle)
        elif handle is not None:
            raise FileFormatError(f"expected the bytes of an array, got {handle!r:.40}")


class _PickledNumpyArray(_PickledArray):
    __slots__ = ()
    _of_numpy = True


class _ForeignClass(metaclass=Sealed):
    class_name = ""

    def __new__(cls) -> Any:
        return ForeignObject(cls.class_name)


class _Bytes(metaclass=Sealed):
    """``bytearray`` of bytes; and of text, as Python 2 and ``_codecs.encode`` write bytes."""

    def __new__(cls, data: object = b"", encoding: object = None) -> Any:
        if isinstance(data, bytes) and encoding is None:
            return data
        if isinstance(data, str) and encoding in ("latin-1", "latin1"):
            return data.encode("latin-1")
        raise FileFormatError(f"expected bytes, got {data!r:.40}")


class _Object(metaclass=Sealed):
    """``object``, as the base that `_Reconstructor` is told."""


class _Reconstructor(metaclass=Sealed):
    """Makes objects in the pickles of Python 2."""

    def __new__(cls, made: object, base: object, state: object) -> Any:
        if isinstance(made, type) and issubclass(made, _ForeignClass) and base is _Object:
            return made()
        raise FileFormatError(f"expected an optimizer or scheduler, got {made!r:.80}")


class _NumberType(metaclass=Sealed):
    """``numpy.dtype``, for the NumPy numbers that a user gave as a learning rate."""

    def __init__(self, code: object, align: object = False, copy: object = True) -> None:
        if not isinstance(code, str) or not re.fullmatch("[bfiu][1248]", code):
            raise FileFormatError(f"expected the dtype of a number, got {code!r:.40}")
        self.dtype = np.dtype(code).newbyteorder("<")

    def __setstate__(self, state: object) -> None:
        if not isinstance(state, tuple) or len(state) < 2 or state[1] not in ("<", "|"):
            raise FileFormatError(f"expected a little-endian dtype, got {state!r:.40}")


class _Number(metaclass=Sealed):
    def __new__(cls, kind: object, data: object) -> Any:
        if isinstance(data, str):
            data = data.encode("latin-1")
        if not isinstance(kind, _NumberType) or not isinstance(data, bytes):
            raise FileFormatError(f"expected a NumPy number, got {kind!r:.40}")
        return np.frombuffer(data, kind.dtype, 1)[0].item()


_GLOBALS: Mapping[str, type] = {
    "builtins.bytearray": _Bytes,
    "__builtin__.bytearray": _Bytes,
    "_codecs.encode": _Bytes,
    "builtins.object": _Object,
    "__builtin__.object": _Object,
    "copyreg._reconstructor": _Reconstructor,
    "copy_reg._reconstructor": _Reconstructor,
    "numpy.dtype": _NumberType,
    "numpy.core.multiarray.scalar": _Number,
    "numpy._core.multiarray.scalar": _Number,
}
# No states file names objects by identities of its own.
_REFUSED_OPCODES = frozenset({"BINPERSID"})


class _Reader(pickle.Unpickler):
    """Unpickles into the stand-ins above and knows no other name."""

    def find_class(self, module: str, name: str) -> Any:
        full_name = f"{module}.{name}"
        if full_name in _GLOBALS:
            return _GLOBALS[full_name]
        package, _, inner = full_name.partition(".")
        if package in ("mxnet", "gluonish") and inner in _ARRAY_CLASSES:
            return _PickledArray
        if package in ("mxnet", "gluonish") and inner in _NUMPY_ARRAY_CLASSES:
            return _PickledNumpyArray
        if _FOREIGN_MODULES.fullmatch(module) and name.isidentifier():
            return Sealed(name, (_ForeignClass,), {"class_name": full_name})
        raise FileFormatError(
            f"expected arrays, optimizers and schedulers of MXNet, got {full_name};"
            " a class of your own is not loaded: save states without the optimizer"
        )


def load_restricted(data: bytes) -> object:
    """Read a pickle of any protocol that holds plain data, arrays, optimizers and schedulers.

    Raises:
        FileFormatError: It is no pickle, or it names something else; tells about which byte.
    """
    source = io.BytesIO(data)
    try:
        check_opcodes(source, _REFUSED_OPCODES, len(data))
        source.seek(0)
        return _Reader(source, encoding="latin1").load()
    except FileFormatError as error:
        raise FileFormatError(f"{error}, near byte {source.tell()}") from error
    except BROKEN_PICKLE as error:
        raise FileFormatError(
            f"expected a pickle of states, got {error!r:.200} near byte {source.tell()}"
        ) from error
