"""Write cudnn_rnn_surface.json: what cuDNN's C functions for recurrent layers are, and answer.

Run by hand on the unpacked wheel nvidia-cudnn-cu13 (no GPU needed):
``python -m tests.kernels.cupy.make_cudnn_rnn_surface FOLDER`` with FOLDER/include and FOLDER/lib.
Prototypes and constants come from the headers. Answers come from the library: descriptors need no
device, and the sizes and places of weights need of the handle only the properties of a device,
which an empty handle with a few numbers (of cuDNN 9.19's layout) has. Calls that would compute end
with CUDNN_STATUS_EXECUTION_FAILED_CUDART, after cuDNN has checked their arguments.
"""

import ctypes
import json
import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
_WANTED = re.compile(
    r"cudnn(?:RNN(?:Forward|Backward)|(?:Set|Get|Create|Destroy)(?:RNN|Tensor)\w*)"
)
_CONSTANTS = re.compile(
    r"CUDNN_(RNN_(?!ALGO)\w+|RNN_ALGO_STANDARD|LSTM|GRU|FWD_MODE_\w+|WGRAD_\w+|LINEAR_INPUT"
    r"|STATUS_\w+|DATA_(?:FLOAT|DOUBLE|HALF|BFLOAT16)|(?:DEFAULT|TENSOR_OP|FMA)_MATH"
    r"|(?:UNI|BI)DIRECTIONAL)"
)
# Numbers of a handle, by their index among its ints: multiprocessors, shared memory, capability
# times 100, version of the driver.
HANDLE = {7: 132, 10: 232448, 26: 900, 27: 13000}
_BASE = 1 << 40
CASES: dict[str, dict[str, int]] = {
    "lstm": {"mode": 2},
    "lstm both ways": {"mode": 2, "directions": 1},
    "lstm projected": {"mode": 2, "directions": 1, "projected": 3},
    "lstm of bfloat16": {"mode": 2, "kind": 9, "math": 1},
    "lstm of float16": {"mode": 2, "kind": 2, "math": 1, "layers": 1},
    "gru both ways": {"mode": 3, "directions": 1, "layers": 3},
    "gru of float64": {"mode": 3, "kind": 1, "precision": 1, "math": 0},
    "tanh": {"mode": 1, "layers": 3},
    "relu both ways": {"mode": 0, "directions": 1},
}
REFUSED: dict[str, dict[str, int]] = {
    "gru projected": {"mode": 3, "projected": 3},
    "projection wider than the units": {"mode": 2, "projected": 9},
    "no projection": {"mode": 2, "projected": 0},
    "no layers": {"mode": 2, "layers": 0},
    "no features": {"mode": 2, "features": 0},
    "unknown flags": {"mode": 2, "flags": 2},
    "sums in bfloat16": {"mode": 2, "kind": 9, "precision": 9},
}
USUAL = {
    "mode": 2, "directions": 0, "kind": 0, "precision": 0, "math": 3, "features": 4,
    "hidden": 5, "projected": 5, "layers": 2, "flags": 1,
}  # fmt: skip


def prototypes(text: str) -> dict[str, list[str]]:
    """Return the types of the parameters of each function of a header."""
    plain = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    found = {}
    for name, parameters in re.findall(r"CUDNNWINAPI\s+(\w+)\(([^)]*)\);", plain):
        if _WANTED.match(name):
            types = []
            for parameter in parameters.split(","):
                words = " ".join(parameter.split())
                kind = re.sub(r"(\w+)(\[\])?$", lambda m: "*" if m[2] else "", words)
                types.append(kind.replace(" ", "").removeprefix("const"))
            found[name] = types
    return found


def constants(text: str) -> dict[str, int]:
    """Return the numbers of a header that recurrent layers need."""
    plain = re.sub(r"#define (\w+) \(1U << (\d+)\)", lambda m: f"{m[1]} = {1 << int(m[2])}", text)
    plain = re.sub(r"#define (CUDNN_RNN_\w+) (\d+)", r"\1 = \2", plain)
    found = re.findall(r"\b(CUDNN_\w+)\s*=\s*(\d+)", plain)
    return {name: int(value) for name, value in found if _CONSTANTS.fullmatch(name)}


class _Library:
    """The library, with a handle of no device."""

    def __init__(self, folder: Path) -> None:
        self.raw: Any = ctypes.CDLL(str(folder / "lib" / "libcudnn.so.9"))
        self._memory = ctypes.create_string_buffer(1 << 20)
        numbers = (ctypes.c_int * 64).from_buffer(self._memory)
        for index, number in HANDLE.items():
            numbers[index] = number
        self.handle = ctypes.c_void_p(ctypes.addressof(self._memory))

    def made(self, kind: str) -> Any:
        """Return a new descriptor."""
        found = ctypes.c_void_p()
        assert not getattr(self.raw, f"cudnnCreate{kind}Descriptor")(ctypes.byref(found))
        return found

    def network(self, case: dict[str, int]) -> tuple[int, Any]:
        """Return the status of a descriptor of layers, and that."""
        given = {**USUAL, **case}
        made = self.made("RNN")
        numbers = [given[name] for name in ("kind", "precision", "math", "features")]
        numbers += [given[name] for name in ("hidden", "projected", "layers")]
        status = self.raw.cudnnSetRNNDescriptor_v8(
            *(made, 0, given["mode"], 2, given["directions"], 0, *numbers, None, given["flags"])
        )
        return status, made

    def weights(self, case: dict[str, int]) -> dict[str, Any]:
        """Return the size of the weight space, and the places of all matrices and biases."""
        given = {**USUAL, **case}
        status, made = self.network(case)
        assert not status
        size = ctypes.c_size_t()
        assert not self.raw.cudnnGetRNNWeightSpaceSize(self.handle, made, ctypes.byref(size))
        places = []
        count = {2: 8, 3: 6, 0: 2, 1: 2}[given["mode"]]
        layers = [*range(count), *([8] if given["projected"] != given["hidden"] else [])]
        for run in range(given["layers"] * (1 + given["directions"])):
            for layer in layers:
                at = ctypes.c_void_p(), ctypes.c_void_p()
                tensors = self.made("Tensor"), self.made("Tensor")
                assert not self.raw.cudnnGetRNNWeightParams(
                    *(self.handle, made, run, size, ctypes.c_void_p(_BASE), layer),
                    *(tensors[0], ctypes.byref(at[0]), tensors[1], ctypes.byref(at[1])),
                )
                places.append([None if x.value is None else x.value - _BASE for x in at])
        return {"nbytes": size.value, "places": places}


def _write(folder: Path) -> None:
    texts = [
        (folder / "include" / f"cudnn_{name}.h").read_text(encoding="utf-8")
        for name in ("adv", "graph", "ops")
    ]
    library = _Library(folder)
    surface = {
        "version": library.raw.cudnnGetVersion(),
        "functions": {k: v for text in texts for k, v in prototypes(text).items()},
        "constants": {k: v for text in texts for k, v in constants(text).items()},
        "weights": {name: library.weights(case) for name, case in CASES.items()},
        "refused": {name: library.network(case)[0] for name, case in REFUSED.items()},
    }
    text = json.dumps(surface, sort_keys=True)
    text = re.sub(r' ?("cudnn\w+": \[)', r"\n\1", text)  # a line for each function
    text = re.sub(r' ?("[a-z][a-z0-9 ]*": \{"nbytes")', r"\n\1", text)
    (HERE / "cudnn_rnn_surface.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    _write(Path(sys.argv[1]))
