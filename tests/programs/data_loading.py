"""Datasets with transforms and samplers, read by DataLoaders with and without workers."""

from types import ModuleType
from typing import Any

from tests.programs.inputs import classes, normal


def double(x: Any) -> Any:
    return x * 2


def difference(x: Any, y: Any) -> Any:
    return x - y, y


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    data = mx.gluon.data
    x, y = normal(1, 11, 3), classes(2, 5, 11)
    both = data.ArrayDataset(x, y)
    first = both.transform_first(double, lazy=False)
    chain = data.SimpleDataset(list(zip(x, y, strict=True))).transform(difference).take(9)
    out: dict[str, Any] = {"first": both[3][0], "kinds": str([type(v).__name__ for v in both[3]])}
    loaders = {
        "plain": data.DataLoader(first, batch_size=4),
        "workers": data.DataLoader(both.transform_first(double), 4, num_workers=2),
        "threads": data.DataLoader(chain, 4, num_workers=2, thread_pool=True, last_batch="discard"),
        "roll": data.DataLoader(both, batch_size=4, last_batch="rollover"),
        "sampled": data.DataLoader(
            both,
            batch_sampler=data.BatchSampler(data.SequentialSampler(11), 3, "keep"),
        ),
        "array": data.DataLoader(mx.nd.array(x), 5, last_batch="keep"),
        "joined": data.DataLoader(
            both,
            5,
            batchify_fn=lambda samples: mx.nd.array([s[1] + i for i, s in enumerate(samples)]),
        ),
    }
    kinds = set()
    for name, loader in loaders.items():
        for epoch in range(2):
            for number, batch in enumerate(loader):
                parts = batch if isinstance(batch, (list, tuple)) else [batch]
                for part, values in enumerate(parts):
                    out[f"{name} {epoch} {number} {part}"] = values.asnumpy()
                    kinds.add(str(values.dtype))
        out[f"{name} length"] = len(loader)
    shuffled = [int(v) for b in data.DataLoader(both, 4, shuffle=True) for v in b[1].asnumpy()]
    out["dtypes"] = sorted(kinds)
    out["shuffled"] = sorted(shuffled)
    out["sequence"] = list(data.SequentialSampler(4))
    out["shard"] = [len(both.shard(3, 1)), both.shard(3, 1)[0][1]]
    out["filtered"] = len(both.filter(lambda sample: sample[1] > 1))
    return out
