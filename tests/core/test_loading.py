"""Modules that load at their first use are whole, whatever comes in the middle of their import."""

import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from gluonish import optimizer
from gluonish.core import loading
from gluonish.core.errors import OperatorError
from gluonish.core.loading import find_module, is_complete, is_superseded, load
from gluonish.ops import registry

MODULE = "gluonish.imported_in_a_test"
GO, BEGUN = threading.Event(), threading.Event()  # modules made here find them by this module


seen: list[object] = []


class _Finder:
    """Finds the modules of a folder as if they were gluonish's."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find_spec(self, name: str, path: object, target: object = None) -> ModuleSpec | None:
        return find_module(name, [str(self.folder)]) if name == MODULE else None


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(sys, "meta_path", [_Finder(tmp_path), *sys.meta_path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setitem(sys.modules, "loading_events", sys.modules[__name__])
    GO.clear()
    BEGUN.clear()
    yield tmp_path
    optimizer.Optimizer.opt_registry.pop("ofatest", None)
    registry._found.pop("_of_a_test_of_loading", None)
    for name in [one for one in sys.modules if one.startswith(MODULE)]:
        del sys.modules[name]


def write(folder: Path, text: str, name: str = MODULE) -> None:
    (folder / f"{name.rpartition('.')[2]}.py").write_text(text)


def test_interrupt_of_the_wait_leaves_the_import_alone(folder: Path) -> None:
    write(
        folder,
        "from loading_events import BEGUN, GO\nBEGUN.set()\nassert GO.wait(30)\nvalue = 3\n",
    )

    def interrupt() -> None:
        assert BEGUN.wait(30)
        os.kill(os.getpid(), signal.SIGINT)

    sender = threading.Thread(target=interrupt)
    sender.start()
    with pytest.raises(KeyboardInterrupt):
        load(MODULE)
    sender.join()
    GO.set()
    assert load(MODULE).value == 3


def test_handler_waits_for_the_import_that_it_interrupts(folder: Path) -> None:
    write(
        folder,
        "import os, signal\nfrom loading_events import BEGUN, GO\n"
        "os.kill(os.getpid(), signal.SIGUSR1)\nassert BEGUN.wait(30)\nvalue = 3\n",
    )
    seen: list[int] = []

    def handler(*_: object) -> None:
        BEGUN.set()
        seen.append(load(MODULE).value)

    before = signal.signal(signal.SIGUSR1, handler)
    try:
        assert load(MODULE).value == 3
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert seen == [3]


def test_thread_waits_for_the_import_of_another(folder: Path) -> None:
    write(
        folder,
        "from loading_events import BEGUN, GO\nBEGUN.set()\nassert GO.wait(30)\nvalue = 3\n",
    )
    seen: list[int] = []
    threads = [threading.Thread(target=lambda: seen.append(load(MODULE).value)) for _ in "ab"]
    for thread in threads:
        thread.start()
    assert BEGUN.wait(30)
    GO.set()
    for thread in threads:
        thread.join(30)
    assert seen == [3, 3]


def test_destructor_in_the_middle_of_an_import_gets_the_whole_module(folder: Path) -> None:
    write(
        folder,
        "from gluonish.core.loading import is_superseded, load\n"
        "from loading_events import BEGUN, seen\n"
        "outer = not BEGUN.is_set()\n"
        "if outer:\n"
        "    BEGUN.set()\n"
        "    def destructor():\n"
        f"        seen.append(load({MODULE!r}).value)\n"
        "    destructor()\n"
        "    seen.append(is_superseded(globals()))\n"
        "value = 3\n",
    )
    seen.clear()
    module = load(MODULE)
    assert seen == [3, True]
    assert not module.outer
    assert is_complete(vars(module))
    assert not is_superseded(vars(module))


@pytest.mark.parametrize("error", ["KeyboardInterrupt", "MemoryError"])
def test_class_of_an_import_that_failed_is_replaced_in_silence(folder: Path, error: str) -> None:
    write(
        folder,
        "from gluonish import optimizer\nfrom loading_events import BEGUN\n"
        "@optimizer.Optimizer.register\nclass OfATest(optimizer.SGD): pass\n"
        f"if not BEGUN.is_set():\n    BEGUN.set()\n    raise {error}\n",
    )
    with pytest.raises((KeyboardInterrupt, MemoryError)):
        load(MODULE)
    assert MODULE not in sys.modules
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        module = load(MODULE)
    assert type(optimizer.create("ofatest")) is module.OfATest


def test_operator_of_an_import_that_failed_is_replaced(folder: Path) -> None:
    write(
        folder,
        "from gluonish.ops.registry import Operator, register\nfrom loading_events import BEGUN\n"
        "OP = register(Operator('_of_a_test_of_loading', None, None, None, doc=''))\n"
        "if not BEGUN.is_set():\n    BEGUN.set()\n    raise MemoryError\n",
    )
    with pytest.raises(MemoryError):
        load(MODULE)
    try:
        module = load(MODULE)
        assert registry._names["_of_a_test_of_loading"] is module.OP
        with pytest.raises(OperatorError, match="expected a new operator name"):
            registry.register(registry.Operator(module.OP.name, None, None, None, doc=""))  # type: ignore[arg-type]  # it is not called
    finally:
        del registry._names["_of_a_test_of_loading"]
        del registry._operators["_of_a_test_of_loading"]


def test_package_that_fails_takes_its_modules_along(folder: Path) -> None:
    package = folder / MODULE.rpartition(".")[2]
    package.mkdir()
    (package / "part.py").write_text("value = 3\n")
    (package / "__init__.py").write_text(
        f"from loading_events import BEGUN\nimport {MODULE}.part\n"
        "if not BEGUN.is_set():\n    BEGUN.set()\n    raise MemoryError\n"
    )
    with pytest.raises(MemoryError):
        load(MODULE)
    assert f"{MODULE}.part" not in sys.modules
    assert load(MODULE).part.value == 3


def test_fork_in_the_middle_of_an_import_leaves_the_child_one_that_works(folder: Path) -> None:
    write(folder, "import time\nfrom loading_events import BEGUN\nBEGUN.set()\ntime.sleep(0.1)\n")
    thread = threading.Thread(target=lambda: load(MODULE))
    thread.start()
    assert BEGUN.wait(30)
    pid = os.fork()
    if pid == 0:
        signal.alarm(20)
        os._exit(0 if loading.is_complete(vars(load(MODULE))) else 1)
    assert os.waitpid(pid, 0)[1] == 0
    thread.join(30)
