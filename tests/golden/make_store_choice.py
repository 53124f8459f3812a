"""Which store a Trainer makes and whether it updates the weights, as MXNet 1.9.1 decides.

Run by MXNet's Python without arguments; it writes store_choice.json beside itself.
A result is [type of the store or None, update_on_kvstore], or the name of the error.
"""

import json
import os
from pathlib import Path

import mxnet as mx
from mxnet import gluon

TYPES = [["default", "default"], ["default", "row_sparse"], ["row_sparse", "row_sparse"]]
STORES = [None, "local", "device", "object local", "object device"]


def decide(kvstore, devices, types, compression, environment, asked):
    os.environ.pop("MXNET_UPDATE_ON_KVSTORE", None)
    if environment is not None:
        os.environ["MXNET_UPDATE_ON_KVSTORE"] = environment
    params = gluon.ParameterDict()
    params.get("a", shape=(3, 2), stype=types[0], grad_stype=types[1])
    params.get("b", shape=(2,))
    params.initialize(ctx=[mx.cpu(i) for i in range(devices)])
    if kvstore is not None and kvstore.startswith("object "):
        kvstore = mx.kv.create(kvstore.split()[1])
    settings = {"type": "2bit", "threshold": 0.5} if compression else None
    try:
        trainer = gluon.Trainer(
            params,
            "sgd",
            kvstore=kvstore,
            compression_params=settings,
            update_on_kvstore=asked,
        )
        trainer._init_kvstore()
    except Exception as error:
        return type(error).__name__
    return [trainer._kvstore and trainer._kvstore.type, trainer._update_on_kvstore]


rows = []
for kvstore in STORES:
    for devices in (1, 2):
        for types in TYPES:
            for environment in (None, "0", "1"):
                for asked in (None, True, False):
                    case = [kvstore, devices, types, False, environment, asked]
                    rows.append([*case, decide(*case)])
            case = [kvstore, devices, types, True, None, None]
            rows.append([*case, decide(*case)])
text = ",\n".join(json.dumps(row) for row in rows)
Path(__file__).with_name("store_choice.json").write_text(f"[\n{text}\n]\n")
