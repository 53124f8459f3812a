"""Loss scales of several processes: all skip the step in which one of them overflows."""

import json

import pytest

from tests.kvstore.distributed.jobs import run_job

pytestmark = pytest.mark.dist

PROGRAM = """
import json
import sys
import gluonish as mx
from gluonish.contrib import amp
store = mx.kv.create("dist_sync")
weight = mx.gluon.Parameter("weight", shape=(2,))
weight.initialize(mx.init.One())
given = {"learning_rate": 0.5, "momentum": 0.5}
in_store = json.loads(sys.argv[1])
trainer = mx.gluon.Trainer([weight], "sgd", given, kvstore=store, update_on_kvstore=in_store)
amp.init_trainer(trainer)
found = []
for i in range(4):
    factor = float("inf") if (i, store.rank) in ((1, 0), (2, 1)) else 1
    with mx.autograd.record():
        with amp.scale_loss((weight.data() * factor).sum(), trainer) as scaled:
            scaled.backward()
    trainer.step(2)
    found.append([*weight.data().asnumpy().tolist(), trainer._amp_loss_scaler.loss_scale])
store.barrier()
print(json.dumps([float(x) for row in found for x in row]))
"""


@pytest.mark.parametrize("in_store", ["true", "false"])
def test_all_skip_the_step_that_overflows_in_one(in_store: str) -> None:
    job = run_job(2, PROGRAM, in_store)
    assert job.status == 0, job.errors
    lines = [json.loads(line) for line in job.lines]
    scales = [2.0**16, 2.0**16, 2.0**15, 2.0**14]
    # The first and the last step count: 0.5, then 0.5 and half of that.
    expected = [
        x for w, scale in zip([0.5, 0.5, 0.5, -0.25], scales, strict=True) for x in (w, w, scale)
    ]
    assert lines == [expected, expected]
