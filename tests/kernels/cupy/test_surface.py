"""The double of CuPy has no public name and no argument that CuPy lacks."""

import importlib.util
import inspect
from typing import Any

import pytest

from tests.kernels.cupy.arrays import Array, allocate
from tests.kernels.cupy.double import make_cupy
from tests.kernels.cupy.machine import Machine
from tests.kernels.cupy.surface import SURFACE, Listed, ListedModule, listed_signature

MODULES = ("cuda", "cuda.runtime", "cuda.memory", "cuda.device", "cuda.stream", "cuda.driver")
CUDA = SURFACE["cuda"]


def public(thing: Any) -> set[str]:
    return {name for name in dir(thing) if not name.startswith("_")}


def classes(kind: type = Listed) -> list[type]:
    own: list[type] = [one for one in kind.__subclasses__() if one.__module__.startswith("tests.")]  # type: ignore[var-annotated]
    return own + [deeper for one in own for deeper in classes(one)]


@pytest.fixture
def cupy(machine: Machine) -> Any:
    module = make_cupy(machine)
    with module.cuda.Device(0), machine.new_stream(non_blocking=True):
        yield module


def module_of(cupy: Any, name: str) -> Any:
    for part in name.split("."):
        cupy = getattr(cupy, part)
    return cupy


@pytest.mark.parametrize("name", MODULES)
def test_module_has_only_names_of_cupys(cupy: Any, name: str) -> None:
    module = module_of(cupy, name)
    assert isinstance(module, ListedModule)
    assert public(module) <= CUDA[name].keys()


def test_package_has_only_names_of_cupys(cupy: Any) -> None:
    assert public(cupy) <= set(SURFACE["names"])


@pytest.mark.parametrize("kind", classes(), ids=lambda kind: kind.__name__)
def test_class_has_only_members_of_cupys_with_its_arguments(kind: Any) -> None:
    listed = CUDA[kind._listed]
    assert public(kind) <= listed.keys()
    for name in public(kind):
        member = inspect.getattr_static(kind, name)
        if inspect.isfunction(member):
            assert f"call: {listed_signature(member)}" == listed[name], name


@pytest.mark.parametrize("name", ["Stream", "Event", "Device", "Memory", "UnownedMemory"])
def test_class_is_made_with_cupys_arguments(cupy: Any, name: str) -> None:
    made = getattr(cupy.cuda, name)
    assert f"call: {listed_signature(made.__init__)}" == CUDA[name]["()"]


def instances(cupy: Any, machine: Machine) -> dict[str, Any]:
    cuda = cupy.cuda
    array = cupy.zeros((2,), "f4")
    stream = machine.current()
    stream.begin_capture()
    graph = stream.end_capture()
    return {
        "Stream": stream,
        "Event": stream.record(),
        "Graph": graph,
        "Device": array.device,
        "Memory": cuda.Memory(8),
        "MemoryPointer": array.data,
        "UnownedMemory": array.data.mem,
        "MemoryPool": cupy.get_default_memory_pool(),
        "PinnedMemoryPool": cupy.get_default_pinned_memory_pool(),
        "PinnedMemoryPointer": cuda.alloc_pinned_memory(8),
    }


def test_objects_have_only_members_of_cupys(cupy: Any, machine: Machine) -> None:
    for name, thing in instances(cupy, machine).items():
        assert public(thing) <= CUDA[name].keys(), name


@pytest.mark.parametrize("name", MODULES)
def test_functions_have_cupys_arguments(cupy: Any, name: str) -> None:
    for function, value in vars(module_of(cupy, name)).items():
        if inspect.isfunction(value) and function != "__getattr__":
            listed = CUDA[name][function]
            assert listed == "call" or listed == f"call: {listed_signature(value)}", function


def test_array_has_only_members_of_cupys(cupy: Any, machine: Machine) -> None:
    array = allocate(machine, (2, 3), "f4")
    assert public(array) <= {*SURFACE["methods"], *SURFACE["attributes"]}


def test_view_knows_the_array_it_is_of(cupy: Any) -> None:
    array = cupy.zeros((4, 3), "f4")
    part = array[1:][0]
    assert array.base is None
    assert part.base is array
    assert part.data.ptr == array.data.ptr + 12
    assert (part.data.mem.ptr, part.data.device_id) == (array.data.mem.ptr, 0)
    assert (array.flags.owndata, part.flags.owndata) == (True, False)


def test_empty_part_is_a_view(cupy: Any) -> None:
    array = cupy.zeros((4, 3), "f4")
    assert array[0:0].base is array


@pytest.mark.parametrize("name", ["errorMemoryAllocation", "cudaErrorMemoryAllocation"])
def test_name_that_cupy_lacks_cannot_be_reached(cupy: Any, name: str) -> None:
    with pytest.raises(AttributeError, match=name):
        getattr(cupy.cuda.runtime, name)


def test_name_that_only_cupy_has_says_so(cupy: Any) -> None:
    for owner, name in ((cupy.cuda, "nvtx"), (cupy.cuda.runtime, "malloc"), (cupy, "RawKernel")):
        with pytest.raises(AssertionError, match="not known to this double"):
            getattr(owner, name)


def test_constant_has_cupys_value(cupy: Any) -> None:
    assert cupy.cuda.runtime.memcpyDeviceToDevice == 3


def test_argument_that_cupy_lacks_is_refused(cupy: Any) -> None:
    with pytest.raises(TypeError):
        cupy.cuda.Stream(nonblocking=True)
    with pytest.raises(TypeError):
        cupy.cuda.runtime.memcpyAsync(0, 0, 0, direction=1, stream=0)


def test_array_of_the_double_is_no_array_of_numpys(cupy: Any) -> None:
    assert isinstance(cupy.zeros(2), Array)
    with pytest.raises(TypeError):
        cupy.zeros(2).__array__()


def test_double_of_a_module_that_an_older_checkout_lacks_is_left_out(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find(name: str) -> Any:
        return None if name == "gluonish.kernels.cupy.cublaslt" else True

    monkeypatch.setattr(importlib.util, "find_spec", find)
    make_cupy(machine)
    assert not hasattr(machine, "cublaslt")
    monkeypatch.undo()
    make_cupy(machine)
    assert hasattr(machine, "cublaslt")
