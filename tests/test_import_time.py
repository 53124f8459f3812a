import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
HEAVY = (
    "cloudpickle",
    "cudnn",
    "cupy",
    "cv2",
    "filelock",
    "graphviz",
    "llvmlite",
    "matplotlib",
    "mpi4py",
    "onnx",
    "requests",
    "tqdm",
)


def loaded_by(statement: str) -> set[str]:
    """Top-level names in ``sys.modules`` of a new interpreter after one statement."""
    paths = [str(ROOT), str(ROOT / "engine"), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; {statement}; print(*sys.modules, sep='\\n')"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return {name.split(".")[0] for name in done.stdout.splitlines()}


@pytest.mark.parametrize("module", ["gluonish", "gluonish.tools.cli"])
def test_import_loads_nothing_heavy(module: str) -> None:
    loaded = loaded_by(f"import {module}")
    assert "gluonish" in loaded
    assert loaded.isdisjoint(HEAVY)


def test_engine_import_loads_nothing_but_the_standard_library() -> None:
    ours = {"gluonish_engine"}
    added = loaded_by("import gluonish_engine") - loaded_by("pass") - ours
    assert added <= set(sys.stdlib_module_names)


def test_import_loads_few_of_our_own_modules() -> None:
    """The operators, the kernels, and what plans and runs graphs load at their first use."""
    program = "import gluonish, sys; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    ours = [name for name in done.stdout.split() if name.startswith("gluonish")]
    assert len(ours) <= 400


def test_networks_for_text_load_none_for_images() -> None:
    program = (
        "import sys; from gluonish.model_zoo import from_gguf, from_pretrained, text;"
        "text.llama; print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "gluonish.model_zoo.text" in done.stdout.split()
    assert "gluonish.model_zoo.vision" not in done.stdout.split()


def test_name_of_a_network_is_taken_before_the_network_is_loaded() -> None:
    program = (
        "from gluonish.model_zoo.registry import register_model\n"
        "try: register_model('alexnet')(dict)\n"
        "except ValueError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "registered already" in done.stdout
