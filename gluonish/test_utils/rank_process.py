"""Program that `run_on_ranks` starts in each process; it exchanges files in a folder.

python -m gluonish.test_utils.rank_process FOLDER RANK
"""

import importlib
import importlib.util
import pickle
import sys
import time
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from gluonish.core.errors import DistributedError

# Name under which the caller's ``__main__`` module is imported, so that it does not run here.
_MAIN = "__ranks_main__"


class Call(NamedTuple):
    """The call that each process makes.

    Attributes:
        module: Name of the function's module.
        file: Path of the module's file.
        function: Name of the function.
        args: Pickled arguments.
    """

    module: str
    file: str
    function: str
    args: bytes


class Outcome(NamedTuple):
    """The result of the call in one process.

    Attributes:
        pickled: Pickled result or exception; empty for an exception that cannot be pickled.
        trace: Traceback of the exception; empty if the call returned.
        ended_s: End time, in seconds of this machine's clock.
    """

    pickled: bytes
    trace: str
    ended_s: float

    def value(self) -> Any:
        """Return the function's result."""
        return pickle.loads(self.pickled)

    def error(self) -> BaseException:
        """Return the exception, or a DistributedError if it cannot be unpickled."""
        try:
            found = pickle.loads(self.pickled)
        except Exception:  # the class of the exception may raise anything
            found = None
        if isinstance(found, BaseException):
            return found
        return DistributedError(self.trace.strip().splitlines()[-1])


def read_outcome(folder: Path, rank: int) -> Outcome | None:
    """Return the outcome of a process; None if it has not written one."""
    path = folder / f"outcome.{rank}"
    return Outcome(*pickle.loads(path.read_bytes())) if path.exists() else None


def run() -> None:
    """Call the function and write its outcome; folder and rank are command-line arguments."""
    folder, rank = Path(sys.argv[1]), int(sys.argv[2])
    try:
        call = Call(*pickle.loads((folder / "call").read_bytes()))
        function = getattr(_module(call), call.function)
        pickled = pickle.dumps(function(*pickle.loads(call.args)))
    except BaseException as error:
        _write(folder, rank, Outcome(_pickled(error), traceback.format_exc(), time.time()))
        raise
    _write(folder, rank, Outcome(pickled, "", time.time()))


def _module(call: Call) -> ModuleType:
    """Import the function's module from its file."""
    if call.module != "__main__":
        try:
            found = importlib.import_module(call.module)
            if getattr(found, "__file__", None) == call.file:
                return found
        except ImportError:  # such as a test that pytest found by its path
            pass
    name = _MAIN if call.module == "__main__" else call.module
    spec = importlib.util.spec_from_file_location(name, call.file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = sys.modules[call.module] = module  # for unpickling
    spec.loader.exec_module(module)
    return module


def _pickled(error: BaseException) -> bytes:
    try:
        return pickle.dumps(error)
    except Exception:  # the attributes of the exception may raise anything
        return b""


def _write(folder: Path, rank: int, outcome: Outcome) -> None:
    path = folder / f"outcome.{rank}"
    unfinished = path.with_suffix(f".{rank}.part")
    unfinished.write_bytes(pickle.dumps(tuple(outcome)))
    unfinished.rename(path)
