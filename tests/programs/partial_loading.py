"""Weights loaded with allow_missing and ignore_extra, and what happens without them."""

import os
import tempfile
from types import ModuleType
from typing import Any

from tests.programs.inputs import fill, normal, values_of


def outcome(action: Any, *words: str) -> str:
    """Say whether ``action`` raises, as what a program may catch, and which words it names."""
    try:
        action()
    except Exception as error:
        named = ", ".join(word for word in words if word in str(error))
        return f"refused, naming {named}"
    return "done"


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    nn = mx.gluon.nn

    def make(*units: int, prefix: str) -> Any:
        net = nn.HybridSequential(prefix=prefix)
        with net.name_scope():
            for count in units:
                net.add(nn.Dense(count))
        return net

    x = mx.nd.array(normal(1, 2, 3))
    small, large, wrong = (
        make(4, 3, prefix="s_"),
        make(4, 3, 2, prefix="l_"),
        make(5, 3, prefix="w_"),
    )
    for seed, net in enumerate((small, large, wrong)):
        net.initialize()
        net(x)
        fill(mx, net.collect_params(), seed)
        if hybridize:
            net.hybridize()
    out: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        small_file, large_file = (os.path.join(folder, n) for n in ("small.params", "large.params"))
        small.save_parameters(small_file)
        large.save_parameters(large_file)
        out["keys"] = sorted(mx.nd.load(small_file))
        out["missing"] = outcome(lambda: large.load_parameters(small_file), "2.weight")
        out["extra"] = outcome(lambda: small.load_parameters(large_file), "2.weight")
        out["shape"] = outcome(lambda: wrong.load_parameters(small_file), "w_dense0_weight")
        out["no file"] = outcome(lambda: small.load_parameters(os.path.join(folder, "none")))
        large.load_parameters(small_file, allow_missing=True)
        out.update(values_of(large.collect_params()))
        small.load_parameters(large_file, ignore_extra=True)
        out["small"] = small(x).asnumpy()
        large.collect_params().save(small_file, strip_prefix="l_")
        out["stripped"] = sorted(mx.nd.load(small_file))
        fresh = make(4, 3, prefix="s_")
        out["no missing"] = outcome(
            lambda: (
                make(4, 3, 2, 1, prefix="s_").collect_params().load(small_file, restore_prefix="s_")
            )
        )
        fresh.collect_params().load(
            small_file, ctx=mx.cpu(), ignore_extra=True, restore_prefix="s_"
        )
        out["restored"] = fresh(x).asnumpy()
        large.save_parameters(large_file)
        with open(large_file, "rb") as source:
            half = source.read()[:-7]
        with open(small_file, "wb") as target:
            target.write(half)
        out["truncated"] = outcome(lambda: large.load_parameters(small_file))
        out["after"] = large(x).asnumpy()
    return out
