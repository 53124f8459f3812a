"""Sockeye 2.3.24: its programs on a made-up task (copy a line of digits), and its layers."""

import tempfile
from pathlib import Path

import mxnet as mx
import numpy as np
from corpus_cases import arrays, fill
from mxnet import nd
from sockeye import layers, loss, lr_scheduler, test_utils, transformer, utils


def _save(file, array, plain_save=np.save, **options):
    """As NumPy before 1.24, for which Sockeye was written: unequal arrays are saved, too."""
    if isinstance(array, list):
        objects = np.empty(len(array), dtype=object)
        objects[:] = array
        array = objects
    plain_save(file, array, **options)


np.save = _save
TRAIN = (
    "--transformer-model-size 16 --transformer-attention-heads 2"
    " --transformer-feed-forward-num-hidden 16 --num-layers 1 --num-embed 16"
    " --batch-size 4 --batch-type sentence --max-updates 6"
    " --checkpoint-interval 3 --decode-and-evaluate 0 --max-seq-len 12:12"
    " --initial-learning-rate 0.001 --optimizer adam --use-cpu --num-words 20:20"
    " --word-min-count 1:1 --seed 1"
)
TRANSLATE = "--beam-size 2 --use-cpu"


def _run(train=TRAIN, translate=TRANSLATE, prepared=False):
    with test_utils.tmp_digits_dataset("corpus", 20, 1, 10, 6, 10, 6, 0, 10) as data:
        data = test_utils.run_train_translate(
            train_params=train,
            translate_params=translate,
            data=data,
            use_prepared_data=prepared,
            max_seq_len=12,
        )
        return len(data["test_outputs"]) if "test_outputs" in data else sorted(data)


def case_train_and_translate():
    return _run()


def case_prepared_data():
    return _run(TRAIN + " --weight-tying-type none", prepared=True)


def case_weight_tying_and_label_smoothing():
    return _run(TRAIN + " --weight-tying-type src_trg_softmax --label-smoothing 0.1 --shared-vocab")


def case_sgd_and_greedy():
    return _run(TRAIN.replace("--optimizer adam", "--optimizer sgd"), "--beam-size 1 --use-cpu")


def case_layers():
    x = nd.array(arrays((5, 2, 16)))
    norm = layers.LHUC(16)
    norm.initialize()
    fill(norm.collect_params())
    positions = layers.PositionalEmbeddings(
        "fixed", 16, 12, prefix="p", scale_up_input=True, scale_down_positions=False
    )
    positions.initialize()
    return norm(x), positions(x.swapaxes(0, 1), None)


def case_transformer_feed_forward():
    block = transformer.TransformerFeedForward(
        num_hidden=8, num_model=16, act_type="swish1", dropout=0.0, prefix="ff_", dtype="float32"
    )
    block.initialize()
    x = nd.array(arrays((2, 3, 16)))
    block(x)
    fill(block.collect_params())
    one = block(x)
    block.hybridize()
    two = block(x)
    np.testing.assert_allclose(one.asnumpy(), two.asnumpy(), rtol=1e-4, atol=1e-5)
    return two


def case_loss():
    objective = loss.CrossEntropyLossWithoutSoftmaxOutput(
        num_labels=6, label_smoothing=0.1, ignore_label=0
    )
    objective.initialize()
    logits, labels = nd.array(arrays((2, 3, 6))), nd.array([[1, 2, 0], [3, 0, 0]])
    logits.attach_grad()
    with mx.autograd.record():
        value, count = objective({"logits": logits}, {"target_label": labels})
    value.backward()
    return value, count, logits.grad


def case_schedulers_and_averages():
    scheduler = lr_scheduler.get_lr_scheduler("plateau-reduce", 0.9, 0.5, 3, 4)
    return scheduler is not None, utils.average_arrays([nd.ones((2, 2)), nd.ones((2, 2)) * 3])


def case_parameters_round_trip():
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "params")
        nd.save(path, {"arg:a": nd.ones((2, 3)), "aux:b": nd.zeros(2)})
        arguments, states = (
            utils.load_params(path)
            if hasattr(utils, "load_params")
            else ({k: v for k, v in nd.load(path).items() if k[:3] == "arg"}, {})
        )
        return sorted(arguments), sorted(states)
