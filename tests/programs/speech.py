"""A bidirectional LSTM with the connectionist temporal classification loss."""

from types import ModuleType
from typing import Any

import numpy as np

from tests.programs.inputs import fill, normal, values_of


def make_class(mx: ModuleType) -> Any:
    class Recognizer(mx.gluon.HybridBlock):
        def __init__(self, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            with self.name_scope():
                self.lstm = mx.gluon.rnn.LSTM(5, layout="NTC", bidirectional=True, input_size=3)
                self.scores = mx.gluon.nn.Dense(6, flatten=False, in_units=10)

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            return self.scores(self.lstm(x))

    return Recognizer


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    net = make_class(mx)(prefix="speech_")
    net.initialize()
    x = mx.nd.array(normal(1, 4, 9, 3))
    label = mx.nd.array(
        np.array([[1, 2, 2, -1], [0, 4, -1, -1], [3, 1, 0, 2], [2, -1, -1, -1]], np.float32)
    )
    lengths = mx.nd.array([9, 7, 9, 5])
    net(x)
    fill(mx, net.collect_params(), 3, scale=0.5)
    if hybridize:
        net.hybridize()
    loss_fn = mx.gluon.loss.CTCLoss(layout="NTC", label_layout="NT")
    trainer = mx.gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.02})
    losses = []
    for _ in range(5):
        with mx.autograd.record():
            loss = loss_fn(net(x), label, lengths)
        loss.backward()
        trainer.step(4)
        losses.append(loss.asnumpy())
    scores = net(x)
    counted = mx.nd.array([3, 2, 4, 1])
    by_operator = mx.nd.ctc_loss(
        scores.swapaxes(0, 1),
        label,
        lengths,
        counted,
        use_data_lengths=True,
        use_label_lengths=True,
        blank_label="last",
    )
    return {
        "losses": losses,
        "scores": scores.asnumpy(),
        "by operator": by_operator.asnumpy(),
        "best": scores.argmax(axis=2).asnumpy(),
        **values_of(net.collect_params()),
    }
