"""Ask MXNet 1.9.1 which elements datasets and samplers give; writes dataset_algebra.json.

Run by MXNet's interpreter: ``oracle/bin/python tests/golden/make_dataset_algebra.py``.
"""

import json
from pathlib import Path

import numpy as np
from mxnet.gluon.data import (
    ArrayDataset,
    BatchSampler,
    FilterSampler,
    RandomSampler,
    SequentialSampler,
    SimpleDataset,
)


def elements(dataset):
    """Return what a dataset holds, as integers."""
    return [int(dataset[i]) for i in range(len(dataset))]


def passes(last_batch, length, batch_size):
    """Return the length and the batches of four passes over one sampler."""
    sampler = BatchSampler(SequentialSampler(length), batch_size, last_batch)
    return [[len(sampler), [list(map(int, batch)) for batch in sampler]] for _ in range(4)]


def order(seed):
    """Return the random order that a seed gives."""
    np.random.seed(seed)  # noqa: NPY002 (what samplers draw from)
    return [int(i) for i in RandomSampler(9)]


def main():
    """Write the file."""
    eleven = SimpleDataset(list(range(11)))
    pairs = ArrayDataset(np.arange(6).reshape(3, 2), [5, 6, 7])
    sums = pairs.transform_first(lambda x: x.sum())
    cases = {
        "shard": {
            f"{count},{i}": elements(eleven.shard(count, i))
            for count in (1, 2, 3, 4, 11)
            for i in range(count)
        },
        "take": {str(count): elements(eleven.take(count)) for count in (0, 1, 5, 11, 20)},
        "take_all": elements(eleven.take(None)),
        "filter": elements(eleven.filter(lambda x: x % 3 == 0)),
        "sample": elements(eleven.sample(SequentialSampler(4, 3))),
        "chain": elements(eleven.filter(lambda x: x % 2).shard(2, 1).take(2)),
        "filter_sampler": list(FilterSampler(lambda x: x > 4, eleven)),
        "batches": {
            f"{last},{length},{size}": passes(last, length, size)
            for last in ("keep", "discard", "rollover")
            for length, size in ((11, 4), (8, 4), (3, 5), (7, 3))
        },
        "random": {str(seed): order(seed) for seed in (0, 7)},
        "transform": [pairs.transform(lambda a, b: [*(2 * a).tolist(), b])[i] for i in range(3)],
        "transform_first": [[int(part) for part in sums[i]] for i in range(3)],
        "transform_first_of_singles": elements(eleven.transform_first(lambda x: x + 1)),
    }
    path = Path(__file__).with_name("dataset_algebra.json")
    path.write_text(json.dumps(cases, indent=0) + "\n")


if __name__ == "__main__":
    main()
