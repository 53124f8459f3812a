"""Write cudnn_surface.json: what cuDNN's front end has, for the double of it in this folder.

Run by hand where nvidia-cudnn-frontend is installed (no GPU needed):
``python -m tests.kernels.cupy.make_cudnn_surface``. Only the compiled module is loaded, as gluonish
does; its functions tell their parameters in the first lines of their docstrings.
"""

import importlib.util
import json
import re
from importlib.machinery import ExtensionFileLoader
from importlib.metadata import version
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
_CLASSES = ("pygraph", "tensor")
_ENUMS = ("data_type", "heur_mode", "numerical_note", "norm_forward_phase")


def overloads(name: str, doc: str | None) -> list[list[str]]:
    """Return the names of the parameters of each form of a function."""
    forms = re.findall(rf"^(?:\d+\. )?{re.escape(name)}\((.*)\) ->", doc or "", re.MULTILINE)
    found = []
    for form in forms:
        plain = re.sub(r"<[^<>]*>", "0", form)
        while re.search(r"\[[^\[\]]*\]", plain):
            plain = re.sub(r"\[[^\[\]]*\]", "", plain)
        names = [part.partition(":")[0].strip() for part in plain.split(",") if part.strip()]
        found.append([name for name in names if name != "self"])
    return found


def _functions(owner: Any) -> dict[str, list[list[str]]]:
    found = {}
    for name in sorted(dir(owner)):
        value = getattr(owner, name)
        if callable(value) and not isinstance(value, type) and not name.startswith("__"):
            found[name] = overloads(name, value.__doc__)
    return {name: forms for name, forms in found.items() if forms}


def _load() -> Any:
    spec = importlib.util.find_spec("cudnn")
    assert spec is not None, "nvidia-cudnn-frontend is not installed"
    folder = Path(next(iter(spec.submodule_search_locations or ())))
    loader = ExtensionFileLoader("_compiled_module", str(next(folder.glob("_compiled_module*"))))
    found = importlib.util.spec_from_loader("_compiled_module", loader)
    assert found is not None
    module = importlib.util.module_from_spec(found)
    loader.exec_module(module)
    return module


def _write() -> None:
    module = _load()
    surface = {
        "version": version("nvidia-cudnn-frontend"),
        "functions": _functions(module),
        "classes": {
            name: {
                **_functions(getattr(module, name)),
                "__init__": overloads("__init__", getattr(module, name).__init__.__doc__),
            }
            for name in _CLASSES
        },
        "enums": {name: sorted(getattr(module, name).__members__) for name in _ENUMS},
        "errors": [name for name in dir(module) if name.endswith("Error")],
    }
    text = json.dumps(surface, sort_keys=True)
    text = re.sub(r' ?("\w+": \[\[)', r"\n\1", text)  # a line for each function
    (HERE / "cudnn_surface.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    _write()
