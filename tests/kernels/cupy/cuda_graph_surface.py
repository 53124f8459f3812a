"""What cuda.h (CUDA 13.0) declares of the functions that `moving_arrays` calls.

``python -m tests.kernels.cupy.cuda_graph_surface site-packages/nvidia/cu13/include/cuda.h``
compares it with the header, which the package nvidia-cuda-runtime contains (no GPU needed).
"""

import re
import sys
from pathlib import Path
from typing import Any

_INFO = ["size_t", "size_t*", "size_t*"]
SURFACE: dict[str, Any] = {
    "functions": {
        "cuGraphGetNodes": ["CUgraph", "CUgraphNode*", "size_t*"],
        "cuGraphNodeGetType": ["CUgraphNode", "CUgraphNodeType*"],
        "cuGraphKernelNodeGetParams_v2": ["CUgraphNode", "CUDA_KERNEL_NODE_PARAMS*"],
        "cuGraphMemcpyNodeGetParams": ["CUgraphNode", "CUDA_MEMCPY3D*"],
        "cuGraphMemsetNodeGetParams": ["CUgraphNode", "CUDA_MEMSET_NODE_PARAMS*"],
        "cuFuncGetParamInfo": ["CUfunction", *_INFO],
        "cuKernelGetParamInfo": ["CUkernel", *_INFO],
        "cuGraphExecKernelNodeSetParams_v2": [
            *("CUgraphExec", "CUgraphNode", "const CUDA_KERNEL_NODE_PARAMS*"),
        ],
    },
    "structures": {
        "CUDA_KERNEL_NODE_PARAMS_v2": [
            ("CUfunction", "func"),
            *(("unsigned int", f"{what}Dim{axis}") for what in ("grid", "block") for axis in "XYZ"),
            ("unsigned int", "sharedMemBytes"),
            ("void**", "kernelParams"),
            ("void**", "extra"),
            ("CUkernel", "kern"),
            ("CUcontext", "ctx"),
        ],
        "CUDA_MEMCPY3D_v2": [
            *(("size_t", name) for name in ("srcXInBytes", "srcY", "srcZ", "srcLOD")),
            ("CUmemorytype", "srcMemoryType"),
            ("const void*", "srcHost"),
            ("CUdeviceptr", "srcDevice"),
            ("CUarray", "srcArray"),
            ("void*", "reserved0"),
            *(("size_t", name) for name in ("srcPitch", "srcHeight")),
            *(("size_t", name) for name in ("dstXInBytes", "dstY", "dstZ", "dstLOD")),
            ("CUmemorytype", "dstMemoryType"),
            ("void*", "dstHost"),
            ("CUdeviceptr", "dstDevice"),
            ("CUarray", "dstArray"),
            ("void*", "reserved1"),
            *(("size_t", name) for name in ("dstPitch", "dstHeight")),
            *(("size_t", name) for name in ("WidthInBytes", "Height", "Depth")),
        ],
        "CUDA_MEMSET_NODE_PARAMS_v1": [
            ("CUdeviceptr", "dst"),
            ("size_t", "pitch"),
            ("unsigned int", "value"),
            ("unsigned int", "elementSize"),
            *(("size_t", name) for name in ("width", "height")),
        ],
    },
}
ENUMERATORS = {
    "CU_GRAPH_NODE_TYPE_KERNEL": 0,
    "CU_GRAPH_NODE_TYPE_MEMCPY": 1,
    "CU_GRAPH_NODE_TYPE_MEMSET": 2,
    "CU_GRAPH_NODE_TYPE_EMPTY": 5,
    "CUDA_ERROR_INVALID_VALUE": 1,
    "CU_MEMORYTYPE_HOST": 1,
}


def size_of(kind: str) -> int:
    """Return the size of a C type: all but numbers and enumerations are pointers."""
    return 4 if kind in ("unsigned int", "CUmemorytype") else 8


def surface_of(text: str) -> dict[str, Any]:
    """Return what a header declares of the same names."""
    plain = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)
    functions = {}
    for name in SURFACE["functions"]:
        found = re.search(rf"CUDAAPI {name.removesuffix('_v2')}\(([^)]*)\);", plain)
        assert found is not None, name
        pairs = re.findall(r"([\w ]+?)\s*(\**)\s*\w+\s*(?:,|$)", found[1])
        functions[name] = [kind.strip() + stars for kind, stars in pairs]
    structures = {}
    for name in SURFACE["structures"]:
        found = re.search(rf"typedef struct {name}?_st \{{([^}}]*)\}} {name};", plain)
        found = found or re.search(rf"typedef struct \w+ \{{([^}}]*)\}} {name};", plain)
        assert found is not None, name
        pairs = re.findall(r"([\w ]+?)\s*(\**)\s*(\w+);", found[1])
        structures[name] = [(kind.strip() + stars, field) for kind, stars, field in pairs]
    return {"functions": functions, "structures": structures}


def enumerators_of(text: str) -> dict[str, int]:
    """Return the values that a header gives to the same enumerators."""
    found = {}
    for name in ENUMERATORS:
        value = re.search(rf"\b{name}\s*=\s*(\w+)", text)
        assert value is not None, name
        found[name] = int(value[1], 0)
    return found


if __name__ == "__main__":
    header = Path(sys.argv[1]).read_text("utf-8")
    assert surface_of(header) == SURFACE, surface_of(header)
    assert enumerators_of(header) == ENUMERATORS, enumerators_of(header)
