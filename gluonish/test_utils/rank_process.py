"""What each process of `run_on_ranks` runs, and what it leaves in a folder.

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

# A program's own module, which must not run as a program again.
_MAIN = "__ranks_main__"


class Call(NamedTuple):
    """What to call.

    Attributes:
        module: Name of the function's module.
        file: Its path.
        function: Name of the function.
        args: Its arguments, pickled.
    """

    module: str
    file: str
    function: str
    args: bytes


class Outcome(NamedTuple):
    """What came of it in one process.

    Attributes:
        pickled: What it returned or raised; empty for an exception that cannot be pickled.
        trace: Traceback of what it raised; empty if it returned.
        ended_s: When, in seconds of this machine's clock.
    """

    pickled: bytes
    trace: str
    ended_s: float

    def value(self) -> Any:
        """Return what the function returned."""
        return pickle.loads(self.pickled)

    def error(self) -> BaseException:
        """Return what it raised, or a stand-in for what cannot be brought here."""
        try:
            found = pickle.loads(self.pickled)
        except Exception:  # whatever its class does
            found = None
        if isinstance(found, BaseException):
            return found
        return DistributedError(self.trace.strip().splitlines()[-1])


def read_outcome(folder: Path, rank: int) -> Outcome | None:
    """Return what a process left; None for nothing."""
    path = folder / f"outcome.{rank}"
    return Outcome(*pickle.loads(path.read_bytes())) if path.exists() else None


def run() -> None:
    """Call the function, and leave what comes of it; folder and rank are arguments."""
    folder, rank = Path(sys.argv[1]), int(sys.argv[2])
    try:
        call = Call(*pickle.loads((folder / "call").read_bytes()))
        function = getattr(_module(call), call.function)
        pickled = pickle.dumps(function(*pickle.loads(call.args)))
    except BaseException as error:
        _leave(folder, rank, Outcome(_pickled(error), traceback.format_exc(), time.time()))
        raise
    _leave(folder, rank, Outcome(pickled, "", time.time()))


def _module(call: Call) -> ModuleType:
    """Return the function's module, from its own file."""
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
    sys.modules[name] = sys.modules[call.module] = module  # where pickled things are looked for
    spec.loader.exec_module(module)
    return module


def _pickled(error: BaseException) -> bytes:
    try:
        return pickle.dumps(error)
    except Exception:  # whatever it holds
        return b""


def _leave(folder: Path, rank: int, outcome: Outcome) -> None:
    path = folder / f"outcome.{rank}"
    unfinished = path.with_suffix(f".{rank}.part")
    unfinished.write_bytes(pickle.dumps(tuple(outcome)))
    unfinished.rename(path)
