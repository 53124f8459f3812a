"""NVRTC and nvdisasm out of NVIDIA's wheels: neither needs a GPU, a driver or CuPy."""

import ctypes
import subprocess
import tempfile
from functools import cache
from importlib import util
from pathlib import Path
from typing import Any

import pytest

_OPTIONS = ("-std=c++17", "-ftz=true")  # CuPy's own


def _wheels() -> list[Path]:
    spec = util.find_spec("nvidia")
    places = spec.submodule_search_locations if spec is not None else None
    return [Path(place) for place in places or ()]


def _found(pattern: str) -> Path:
    """Return a file in the wheels of NVIDIA; skip the test without it."""
    for place in _wheels():
        for path in sorted(place.rglob(pattern)):
            return path
    pytest.skip(f"no {pattern} in wheels of NVIDIA")


@cache
def _library() -> Any:
    # NVRTC opens its builtins by name, which are on no search path.
    ctypes.CDLL(str(_found("libnvrtc-builtins.so.[0-9]*")), ctypes.RTLD_GLOBAL)
    return ctypes.CDLL(str(_found("libnvrtc.so.[0-9]*")))


def version() -> str:
    """Return NVRTC's version, such as "13.0"; skip the test without NVRTC."""
    major, minor = ctypes.c_int(), ctypes.c_int()
    assert _library().nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)) == 0
    return f"{major.value}.{minor.value}"


def compile_source(text: str, architecture: str, *options: str) -> bytes:
    """Return the cubin of a source, compiled as CuPy does; skip the test without NVRTC.

    Raises:
        AssertionError: The source has an error; the message is the compiler's.
    """
    library, headers = _library(), _found("cuda_fp16.h").parent
    given = (*options, f"-arch={architecture}", *_OPTIONS, f"-I{headers}")
    program = ctypes.c_void_p()
    created = library.nvrtcCreateProgram(
        ctypes.byref(program), text.encode(), b"source.cu", 0, None, None
    )
    assert created == 0, f"nvrtcCreateProgram: {created}"
    try:
        pointers = (ctypes.c_char_p * len(given))(*(option.encode() for option in given))
        failed = library.nvrtcCompileProgram(program, len(given), pointers)
        assert not failed, _bytes(program, "ProgramLog").decode()
        return _bytes(program, "CUBIN")
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


def _bytes(program: ctypes.c_void_p, name: str) -> bytes:
    """Return the log or the cubin of a program."""
    size = ctypes.c_size_t()
    assert _library()[f"nvrtcGet{name}Size"](program, ctypes.byref(size)) == 0
    buffer = ctypes.create_string_buffer(size.value)
    assert _library()[f"nvrtcGet{name}"](program, buffer) == 0
    return buffer.raw


def disassemble(cubin: bytes) -> str:
    """Return nvdisasm's text of all kernels of a cubin; skip the test without nvdisasm."""
    program = _found("nvdisasm")
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        done = subprocess.run(
            [program, "-g", file.name], capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, done.stderr
    return done.stdout
