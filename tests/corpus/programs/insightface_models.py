"""insightface 0.1.5: its models through the Module interface.

Its weights must be downloaded; here it reads checkpoints that are made on the spot.
"""

import tempfile
from pathlib import Path

import insightface
import mxnet as mx
import numpy as np
from corpus_cases import seeded
from insightface.model_zoo.face_detection import FaceDetector, generate_anchors_fpn
from insightface.model_zoo.face_genderage import FaceGenderage
from insightface.model_zoo.face_recognition import FaceRecognition
from insightface.utils import face_align

IMAGE = np.random.RandomState(0).randint(0, 255, (112, 112, 3)).astype("uint8")


def _checkpoint(symbol, shape, folder):
    """Write the symbol with fixed values as MXNet's checkpoint; returns the parameter file."""
    arguments, _, states = symbol.infer_shape(data=shape)
    named = [(name, one) for name, one in zip(symbol.list_arguments(), arguments) if name != "data"]
    arg = {name: mx.nd.array(seeded(name, place, one)) for place, (name, one) in enumerate(named)}
    aux = {
        name: mx.nd.array(seeded(name, place, one))
        for place, (name, one) in enumerate(zip(symbol.list_auxiliary_states(), states))
    }
    mx.model.save_checkpoint(str(Path(folder) / "model"), 0, symbol, arg, aux)
    return str(Path(folder) / "model-0000.params")


def _trunk(outputs):
    data = mx.sym.Variable("data")
    x = (data - 127.5) * 0.0078125
    x = mx.sym.Convolution(
        x, num_filter=8, kernel=(3, 3), stride=(2, 2), pad=(1, 1), no_bias=True, name="conv0"
    )
    x = mx.sym.BatchNorm(x, fix_gamma=False, eps=2e-5, momentum=0.9, name="bn0")
    x = mx.sym.LeakyReLU(x, act_type="prelu", name="relu0")
    x = mx.sym.Pooling(x, kernel=(7, 7), stride=(7, 7), pool_type="avg")
    x = mx.sym.FullyConnected(x, num_hidden=outputs, name="pre_fc1")
    return mx.sym.BatchNorm(x, fix_gamma=True, eps=2e-5, momentum=0.9, name="fc1")


def case_recognition():
    with tempfile.TemporaryDirectory() as folder:
        model = FaceRecognition("test", False, _checkpoint(_trunk(16), (1, 3, 112, 112), folder))
        model.image_size = (112, 112)
        model.prepare(-1)
        return model.get_embedding(IMAGE), float(model.compute_sim(IMAGE, IMAGE[::-1].copy()))


def case_gender_and_age():
    with tempfile.TemporaryDirectory() as folder:
        model = FaceGenderage("test", False, _checkpoint(_trunk(202), (1, 3, 112, 112), folder))
        model.image_size = (112, 112)
        model.prepare(-1)
        return [int(one) for one in model.get(IMAGE)]


def _detector_symbol():
    x = mx.sym.Variable("data") / 255
    outputs = []
    for stride, down in ((8, 8), (16, 2), (32, 2)):
        x = mx.sym.Convolution(
            x, num_filter=8, kernel=(3, 3), stride=(down, down), pad=(1, 1), name=f"conv{stride}"
        )
        x = mx.sym.Activation(x, act_type="relu")
        scores = mx.sym.Convolution(x, num_filter=4, kernel=(1, 1), name=f"score{stride}")
        scores = mx.sym.Reshape(
            mx.sym.softmax(mx.sym.Reshape(scores, shape=(0, 2, -1, 0)), axis=1), shape=(0, 4, -1, 0)
        )
        boxes = mx.sym.Convolution(x, num_filter=8, kernel=(1, 1), name=f"box{stride}")
        marks = mx.sym.Convolution(x, num_filter=20, kernel=(1, 1), name=f"mark{stride}")
        outputs = [scores, boxes, marks] + outputs
    return mx.sym.Group(outputs)


def case_detection():
    with tempfile.TemporaryDirectory() as folder:
        detector = FaceDetector(_checkpoint(_detector_symbol(), (1, 3, 128, 160), folder), "net3")
        detector.prepare(-1, 0.4, fix_image_size=(128, 160))
        images = [
            np.random.RandomState(i).randint(0, 255, (128, 160, 3)).astype("float32")
            for i in range(2)
        ]
        # The second image has another size: the Module is bound anew.
        found = [
            detector.detect(images[0], threshold=0.55),
            detector.detect(images[1][:96, :128], threshold=0.55),
        ]
        return [[boxes.shape[0], marks.shape[0]] for boxes, marks in found]


def case_anchors_and_alignment():
    anchors = generate_anchors_fpn(
        cfg={"8": {"SCALES": (2, 1), "BASE_SIZE": 16, "RATIOS": (1.0,), "ALLOWED_BORDER": 9999}}
    )
    landmarks = np.array([[30, 40], [75, 42], [52, 62], [36, 85], [70, 86]], "float32")
    return (
        anchors,
        list(face_align.norm_crop(IMAGE, landmarks).shape),
        sorted(insightface.model_zoo.get_model_list()),
    )
