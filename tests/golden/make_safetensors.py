"""Write safetensors/: files that the safetensors package and NumPy wrote, and what they hold.

Run with a Python that has safetensors, ml_dtypes and NumPy, from any folder:
``python make_safetensors.py``.
"""

import json
from pathlib import Path

import ml_dtypes
import numpy as np
import safetensors
import safetensors.numpy

FOLDER = Path(__file__).parent / "safetensors"
CODES = {
    "float64": np.float64,
    "float32": np.float32,
    "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
    "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8_e5m2": ml_dtypes.float8_e5m2,
    "float8_e8m0fnu": ml_dtypes.float8_e8m0fnu,
    "float8_e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "float8_e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "int64": np.int64,
    "int32": np.int32,
    "int16": np.int16,
    "int8": np.int8,
    "uint64": np.uint64,
    "uint32": np.uint32,
    "uint16": np.uint16,
    "uint8": np.uint8,
    "bool": np.bool_,
}


def arrays():
    """One array of each dtype, whose values all of them hold."""
    values = np.array([[1, 2, 4], [8, 16, 1]])
    found = {name: values.astype(dtype) for name, dtype in CODES.items()}
    found["scalar"] = np.array(1.5, np.float32)
    found["empty"] = np.zeros((0, 3), np.float32)
    return found


def serialized(named, metadata):
    return safetensors.serialize({name: spec(array) for name, array in named.items()}, metadata)


def spec(array):
    return safetensors.TensorSpec(
        dtype=array.dtype.name,
        shape=array.shape,
        data_ptr=array.__array_interface__["data"][0],
        data_len=array.nbytes,
    )


def main():
    FOLDER.mkdir(exist_ok=True)
    named = arrays()
    (FOLDER / "dtypes.safetensors").write_bytes(serialized(named, {"format": "np", "ü": "1"}))
    first, second = (dict(list(named.items())[part::2]) for part in (0, 1))
    places = {}
    for number, part in enumerate((first, second), 1):
        name = f"model-{number:05d}-of-00002.safetensors"
        (FOLDER / name).write_bytes(serialized(part, {"format": "pt"}))
        places.update(dict.fromkeys(part, name))
    index = {"metadata": {"total_size": sum(a.nbytes for a in named.values())}}
    index["weight_map"] = dict(sorted(places.items()))
    (FOLDER / "model.safetensors.index.json").write_text(json.dumps(index, indent=2))
    np.savez(FOLDER / "dtypes.npz", **{n: a for n, a in named.items() if "float8" not in n})


if __name__ == "__main__":
    main()
