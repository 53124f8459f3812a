"""Write cublaslt_surface.json: what cublasLt.h declares, for the double of cuBLASLt in this folder.

Run by hand with the path of the header, which the package nvidia-cublas contains (no GPU needed):
``python -m tests.kernels.cupy.make_cublaslt_surface site-packages/nvidia/cu13/include/cublasLt.h``.
Descriptions of an attribute end with the type of its value, from which its size follows.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
_ENUMS = {
    "cublasLtMatrixLayoutAttribute_t": "CUBLASLT_MATRIX_LAYOUT_",
    "cublasLtMatmulDescAttributes_t": "CUBLASLT_MATMUL_DESC_",
    "cublasLtMatmulPreferenceAttributes_t": "CUBLASLT_MATMUL_PREF_",
    "cublasLtEpilogue_t": "CUBLASLT_EPILOGUE_",
    "cublasLtReductionScheme_t": "CUBLASLT_REDUCTION_SCHEME_",
}
_SIZES = {"int8_t": 1, "int32_t": 4, "uint32_t": 4, "float": 4, "int64_t": 8, "uint64_t": 8}
_POINTER = 8
_TYPE = re.compile(r"(?:[\w ]+: )?(?:const )?(u?int\d+_t|float|void|cublasLtEmulationDesc_t)\b")
_STRUCTURES = ("cublasLtMatmulAlgo_t", "cublasLtMatmulHeuristicResult_t")
_FUNCTION = re.compile(r"^cublasStatus_t CUBLASWINAPI (cublasLt\w+)\(([^;]*?)\);", re.M | re.S)


def _enumerators(text: str, name: str, prefix: str) -> dict[str, int]:
    """Return the enumerators of a type by their names without the prefix."""
    body = re.search(rf"typedef enum \{{((?:(?!typedef enum).)*?)\}} {name};", text, re.S)
    assert body is not None, f"{name} is not in the header"
    plain = re.sub(r"/\*.*?\*/", "", body[1], flags=re.S)
    found: dict[str, int] = {}
    for key, value in re.findall(rf"{prefix}(\w+)\s*=\s*([^,\n]+)", plain):
        value = re.sub(rf"{prefix}(\w+)", lambda known: str(found[known[1]]), value)
        found[key] = eval(value, {"__builtins__": {}})
    return found


def _sizes(text: str, prefix: str) -> dict[str, int]:
    """Return the size of the value of each attribute in bytes, from its description."""
    found = {}
    for described, key in re.findall(rf"/\*\*((?:(?!\*/).)*)\*/\s*{prefix}(\w+)\s*=", text, re.S):
        kinds = [_TYPE.match(line.strip(" *")) for line in described.splitlines()]
        found[key] = _SIZES.get([kind[1] for kind in kinds if kind is not None][-1], _POINTER)
    return found


def _parameters(text: str) -> list[str]:
    """Return the types of a function's parameters, without their names."""
    plain = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)
    types = []
    for part in plain.split(",") if plain.strip() else ():
        kind = re.match(r"\s*(.*?)\s*(\**)\s*\w+\s*(\[\])?\s*$", part.replace("\n", " "), re.S)
        assert kind is not None, part
        types.append(kind[1] + kind[2] + ("*" if kind[3] else ""))
    return types


def _fields(text: str, name: str) -> list[str]:
    """Return the declarations of a structure's fields."""
    body = re.search(rf"typedef struct \{{((?:(?!typedef struct).)*?)\}} {name};", text, re.S)
    assert body is not None, f"{name} is not in the header"
    plain = re.sub(r"/\*.*?\*/", "", body[1], flags=re.S)
    return [" ".join(line.split()) for line in plain.split(";") if line.strip()]


def surface_of(text: str) -> dict[str, Any]:
    """Return what the text of the header declares."""
    return {
        "enums": {name: _enumerators(text, name, prefix) for name, prefix in _ENUMS.items()},
        "sizes": {
            name: _sizes(text, prefix) for name, prefix in _ENUMS.items() if "ttribute" in name
        },
        "structures": {name: _fields(text, name) for name in _STRUCTURES},
        "functions": {name: _parameters(given) for name, given in _FUNCTION.findall(text)},
    }


if __name__ == "__main__":
    made = json.dumps(surface_of(Path(sys.argv[1]).read_text("utf-8")), sort_keys=True)
    made = re.sub(r' ?("\w+": [\[{])', r"\n\1", made)
    (HERE / "cublaslt_surface.json").write_text(made + "\n", encoding="utf-8")
