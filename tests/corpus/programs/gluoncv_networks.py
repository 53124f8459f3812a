"""The networks of GluonCV 0.10.5: each filled with fixed values, run, hybridized and run again.

Left out: ``_int8`` (files of a calibrated network are needed), ``_custom`` (the same networks with
other classes), networks that differ from one that is there in their published weights only, and
deeper or wider ones of the same blocks, which take long and show nothing new.
"""

import re

import gluoncv
import numpy as np
from corpus_cases import arrays, fill
from gluoncv.model_zoo.ssd.target import SSDTargetGenerator
from mxnet import autograd, gluon, nd

LEFT_OUT = re.compile(
    r"_int8$|_custom$|^custom_|_hmdb51$|_ucf101$|_sthsthv2$|kinetics700$|_ade$|_coco_dcn|otb15$|_stereo_640x192$|_mono_stereo"
)
DEEPER = re.compile(
    r"101|152|200|269|110|(?<!v1_)164|236|452|attentionnet(92|128)|xception71|154e|densenet1(61|69)|densenet201|vgg1[369]|hrnet_w(3|4|6)|nasnet_[567]|"
    r"resnet34|_34|(56|40)_|_0\.(5|7|8|4|3)|wideresnet(28|40)|kitti_stereo|dcnv2|i3d_nl10|16x8|se_resnet34|_fpn_resnet18|resnet110|duc"
)
# The first of these inputs whose pattern fits a name is the network's.
INPUTS = (
    (r"^cifar_", (2, 3, 32, 32)),
    (r"^inceptionv3_|^i3d_inceptionv3", (1, 3, 299, 299)),
    (r"^inceptionv3$|^nasnet_(6|7)|^googlenet|^xception", (1, 3, 299, 299)),
    (r"^c3d_", (1, 3, 16, 112, 112)),
    (r"^slowfast_4x16", (1, 3, 36, 112, 112)),
    (r"^slowfast_(8x8|16x8)", (1, 3, 40, 112, 112)),
    (r"^(i3d|p3d|r2plus1d)_", (1, 3, 16, 224, 224)),
    (r"^ssd_", (1, 3, 300, 300)),
    (r"^(yolo3|center_net)_", (1, 3, 128, 128)),
    (r"_rcnn_", (1, 3, 160, 192)),
    (r"^(simple_pose|mobile_pose|alpha_pose)", (1, 3, 128, 96)),
    (r"^(fcn|psp|deeplab|danet)_", (1, 3, 240, 240)),
    (r"^(icnet|fastscnn)_", (1, 3, 480, 480)),
    (r"^hrnet.*_s$", (1, 3, 128, 128)),
    (r"^monodepth2_.*posenet", (1, 6, 192, 640)),
    (r"^monodepth2_", (1, 3, 192, 640)),
    (r"", (1, 3, 224, 224)),
)


def _names():
    """The networks: every kept name, without what differs from a kept one in its data set alone."""
    kept, seen = [], set()
    for name in sorted(gluoncv.model_zoo.get_model_list()):
        architecture = re.sub(r"_(voc|coco|citys|kinetics400|mhpv1)$", "", name)
        if not LEFT_OUT.search(name) and not DEEPER.search(name) and architecture not in seen:
            seen.add(architecture)
            kept.append(name)
    return kept


def _input(name):
    shape = next(shape for pattern, shape in INPUTS if re.search(pattern, name))
    return nd.array(arrays(shape))


def _outputs(value):
    """The arrays that a network returned, in one list."""
    if isinstance(value, (list, tuple)):
        return [array for one in value for array in _outputs(one)]
    return [] if value is None else [value]


def _network(name):
    options = {"pretrained": False, "pretrained_base": False}
    if re.search(r"^(fcn|psp|deeplab|danet)_", name):
        options |= {"crop_size": 240, "base_size": 240}
    try:
        return gluoncv.model_zoo.get_model(name, **options)
    except TypeError as error:
        if "pretrained_base" not in str(error):
            raise
    return gluoncv.model_zoo.get_model(name, pretrained=False)


def _run(name):
    net = _network(name)
    net.initialize()
    x = _input(name)
    with autograd.predict_mode():
        net(x)
        fill(net.collect_params())
        imperative = _outputs(net(x))
        net.hybridize(static_alloc=True)
        hybridized = _outputs(net(x))
    if re.search(r"_rcnn_|^(ssd|yolo3|center_net)_", name):
        # Classes, scores, boxes: which of two equal scores comes first is nobody's promise.
        return (
            [list(array.shape) for array in hybridized],
            hybridized[1].sort(axis=1),
            imperative[1].sort(axis=1),
        )
    for one, two in zip(imperative, hybridized):
        np.testing.assert_allclose(
            one.asnumpy(),
            two.asnumpy(),
            rtol=1e-2,
            atol=1e-3 * float(1 + np.abs(one.asnumpy()).max()),
        )
    return hybridized


def _case(name):
    return lambda: _run(name)


for _name in _names():
    globals()[f"case_{_name}"] = _case(_name)


def case_training_of_a_detector():
    """One step of SSD with GluonCV's own targets and loss."""
    net = gluoncv.model_zoo.get_model(
        "ssd_300_resnet34_v1b_voc", pretrained=False, pretrained_base=False
    )
    net.initialize()
    x = nd.array(arrays((2, 3, 300, 300)))
    with autograd.train_mode():
        classes, boxes, anchors = net(x)
    fill(net.collect_params())
    target = SSDTargetGenerator(negative_mining_ratio=-1)
    labels = (
        nd.array([[[0.1, 0.1, 0.6, 0.7]], [[0.3, 0.2, 0.9, 0.9]]]) * 300,
        nd.array([[[3]], [[5]]]),
    )
    class_targets, box_targets, _ = target(anchors, classes, *labels)
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 1e-3, "momentum": 0.9})
    loss = gluoncv.loss.SSDMultiBoxLoss()
    sums = []
    for _ in range(2):
        with autograd.record():
            classes, boxes, _ = net(x)
            total, class_loss, box_loss = loss(classes, boxes, class_targets, box_targets)
            autograd.backward(total)
        trainer.step(1)
        sums.append(
            [
                float(total[0].sum().asscalar()),
                float(class_loss[0].sum().asscalar()),
                float(box_loss[0].sum().asscalar()),
            ]
        )
    return sums
