"""Cases of image operators."""

import numpy as np

from tests.golden.case import Case, integers, uniform

COPIED = "the gradient is copied where it should be changed"
FIXED = {"min_factor": 0.7, "max_factor": 0.7}
TURNED = {"min_factor": 0.3, "max_factor": 0.3}
PLAIN = {"differentiable": False, "half": False}
IMAGE = uniform(0, 255, 5, 4, 3)
BYTES = integers(0, 256, 5, 4, 3, dtype="uint8")
GRAY = uniform(0, 255, 5, 4, 1)
BATCH = integers(0, 256, 2, 5, 4, 3, dtype="uint8")


def _saturation(image):
    gray = image @ np.array([[0.299], [0.587], [0.114]], image.dtype)
    return (image * 0.7 + gray * 0.3).astype(image.dtype)


def _plain():
    # The result is float32 whatever the data is: too coarse for differences.
    yield Case("_image_to_tensor", [IMAGE], wrong_grad="refuses", check={"differentiable": False})
    yield Case("_image_to_tensor", [BYTES])
    yield Case("_image_to_tensor", [BATCH])
    yield Case("_image_to_tensor", [integers(0, 256, 2, 3, 1, dtype="int32")])
    yield Case("_image_to_tensor", [uniform(0, 255, 2, 3, 3, dtype="float64")], grad=False)
    yield Case("_image_to_tensor", [uniform(0, 1, 4, 3)], invalid=True)
    for op in ("_image_flip_left_right", "_image_flip_top_bottom"):
        # MXNet leaves out the middle of an odd number of rows.
        yield Case(op, [uniform(0, 255, 4, 6, 3)], wrong_grad=COPIED)
        yield Case(op, [integers(0, 256, 4, 6, 3, dtype="uint8")])
        yield Case(op, [uniform(0, 1, 2, 2, 3, dtype="float16")], wrong_grad=COPIED)
        yield Case(op, [BATCH], invalid=True)
    region = {"x": 1, "y": 2, "width": 2, "height": 3}
    yield Case("_image_crop", [IMAGE], region)
    yield Case("_image_crop", [BATCH], region)
    yield Case("_image_crop", [uniform(0, 1, 2, 5, 4, 1)], region)
    yield Case("_image_crop", [IMAGE], {**region, "x": 3}, invalid=True)
    yield Case("_image_crop", [IMAGE], {**region, "width": 0}, invalid=True)
    yield Case("_image_crop", [uniform(0, 1, 4, 3)], region, invalid=True)
    three = {"mean": (1.0, 2.0, 3.0), "std": (1.0, 2.0, 4.0)}
    yield Case("_image_normalize", [uniform(0, 1, 3, 2, 4)], three)
    yield Case("_image_normalize", [uniform(0, 1, 2, 3, 2, 4)], {"mean": (0.5,), "std": (2.0,)})
    yield Case("_image_normalize", [uniform(0, 1, 1, 2, 4)], {"mean": (0.5,), "std": (2.0,)})
    yield Case("_image_normalize", [uniform(0, 1, 3, 2, 4)], {}, invalid=True)
    yield Case("_image_normalize", [uniform(0, 1, 2, 2, 4)], {"mean": 0, "std": 1}, invalid=True)


def _colors():
    light = {"alpha": (0.1, 0.2, -0.3)}
    yield Case("_image_adjust_lighting", [IMAGE], light, rtol=1e-4)
    yield Case("_image_adjust_lighting", [BYTES], light)
    yield Case(
        "_image_adjust_lighting", [uniform(0, 9, 2, 2, 3, dtype="float64")], light, rtol=1e-5
    )
    yield Case("_image_adjust_lighting", [IMAGE], {"alpha": (0.1, 0.2)}, invalid=True)
    for word, limits in (("brightness", FIXED), ("contrast", FIXED), ("hue", TURNED)):
        op = f"_image_random_{word}"
        yield Case(op, [IMAGE], limits, grad=False, rtol=1e-3, atol=1e-2, check=PLAIN)
        if word != "hue":
            yield Case(op, [BYTES], limits, atol=1)
            yield Case(op, [GRAY], limits, grad=False, rtol=1e-4)
    op = "_image_random_saturation"
    wrong = "only blue counts for the gray"
    yield Case(op, [IMAGE], FIXED, grad=False, wrong=wrong, expected=_saturation, check=PLAIN)
    yield Case(op, [GRAY], FIXED, grad=False)
    for word in ("brightness", "contrast", "saturation", "hue"):
        op = f"_image_random_{word}"
        yield Case(op, [IMAGE], {"min_factor": 0.1, "max_factor": 0.9}, random=True)
        yield Case(op, [IMAGE], {"min_factor": -1, "max_factor": 1}, invalid=True)
        yield Case(op, [BATCH], FIXED, invalid=True)
    amounts = {"brightness": 0.2, "contrast": 0.3, "saturation": 0.4, "hue": 0.1}
    yield Case("_image_random_color_jitter", [IMAGE], amounts, random=True)
    yield Case("_image_random_color_jitter", [BYTES], amounts, random=True)
    yield Case("_image_random_lighting", [IMAGE], {"alpha_std": 0.0}, grad=False, check=PLAIN)
    yield Case("_image_random_lighting", [BYTES], {"alpha_std": 0.1}, random=True)
    yield Case("_image_random_flip_left_right", [IMAGE], random=True)
    yield Case("_image_random_flip_top_bottom", [BYTES], random=True)


def _sizes():
    big, real = integers(0, 256, 7, 9, 3, dtype="uint8"), uniform(0, 1, 7, 9, 3)
    for size in ((5, 4), (9, 14), (1, 1), (18, 14), (3,)):
        for interp in (0, 1):
            check = PLAIN if size == (5, 4) else None
            attrs = {"size": size, "interp": interp}
            yield Case("_image_resize", [big], attrs, atol=1, check=check)
            yield Case("_image_resize", [real], attrs, grad=False, rtol=1e-4)
    yield Case("_image_resize", [BATCH], {"size": 3, "keep_ratio": True}, atol=1)
    yield Case(
        "_image_resize", [integers(0, 9, 4, 7, 2, dtype="uint8")], {"size": 3, "keep_ratio": True}
    )
    yield Case("_image_resize", [real], {}, invalid=True)
    yield Case("_image_resize", [real], {"size": 0}, invalid=True)
    yield Case("_image_resize", [real], {"size": 3, "interp": 7}, invalid=True)
    yield Case(
        "_image_resize", [uniform(0, 1, 2, 2, 3, dtype="float16")], {"size": 3}, invalid=True
    )
    yield Case("_cvimresize", [big], {"w": 4, "h": 5}, atol=1, check=PLAIN)
    yield Case("_cvimresize", [real], {"w": 12, "h": 5, "interp": 0}, grad=False)
    yield Case("_cvimresize", [real], {"w": 0, "h": 5}, invalid=True)
    sides = {"top": 3, "bot": 2, "left": 4, "right": 1}
    for kind in range(5):
        yield Case("_cvcopyMakeBorder", [BYTES], {**sides, "type": kind}, check=PLAIN)
    yield Case("_cvcopyMakeBorder", [BYTES], {**sides, "value": 7.0})
    yield Case("_cvcopyMakeBorder", [BYTES], {**sides, "values": (7.0, 8.0, 9.0)})
    yield Case("_cvcopyMakeBorder", [BYTES], {**sides, "values": (7.0,)})
    yield Case("_cvcopyMakeBorder", [IMAGE], {**sides, "value": 0.5}, grad=False)
    yield Case("_cvcopyMakeBorder", [IMAGE], {**sides, "top": -1}, invalid=True)
    yield Case("_cvcopyMakeBorder", [IMAGE], {**sides, "type": 7}, invalid=True)


CASES = [*_plain(), *_colors(), *_sizes()]
