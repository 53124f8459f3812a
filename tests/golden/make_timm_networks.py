"""Make timm_networks.npz and timm_variants.json.gz: what networks of timm compute and have.

Run it with a virtual environment that has torch 2.14.1, torchvision 0.29.1 and timm 1.0.31:

    timm/bin/python tests/golden/make_timm_networks.py

Weights follow from their names (`foreign_values.values`). Of each small network of
`timm_network_cases`: ``CASE output``, ``CASE stages``, and for the loss
``sum(output * cos(0, 1, 2, ...))`` ``CASE gradients``; of feature maps and gradients, in the order
of timm's names, the product with cos(0, 1, 2, ...) and the norm. All in float64. ``resized ...``
are weights of another size.

With ``--small`` only that file is made. timm_variants.json.gz has, of each published network, the
hash of the names and shapes of its weights, and logits of small images if it is not too large.

With ``--check FOLDER``, it instead reads the folders that gluonish wrote there, each called by the
name of a network, and prints how far logits are from ``logits.npy`` there.
"""

import gzip
import hashlib
import json
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import timm
import torch
from timm.layers import resample_patch_embed, resize_rel_pos_bias_table_simple
from timm.models._efficientnet_blocks import SqueezeExcite
from timm.models._efficientnet_builder import decode_arch_def, round_channels
from timm.models.convnext import ConvNeXt
from timm.models.efficientnet import EfficientNet
from timm.models.mobilenetv3 import MobileNetV3
from timm.models.regnet import RegNet, RegNetCfg
from timm.models.swin_transformer import SwinTransformer

sys.path.insert(0, str(Path(__file__).parent))
from foreign_values import is_kept_as_made, values
from timm_network_cases import CASES, CLASSES, images, pattern, summary  # type: ignore[import-not-found]  # beside the script

HERE = Path(__file__).parent
MOST_PARAMETERS = 60_000_000
KEPT = 8  # logits of a published network
SIDE = 64
PATTERNS = (
    *("efficientnet_b?", "tf_efficientnet_b?", "efficientnetv2_*", "tf_efficientnetv2_*"),
    *("*mobilenetv3*", "regnet[xy]_*", "convnext_*", "swin_*"),
)
# Names of networks that gluonish does not have.
OTHERS = ("*_rw*", "tf_efficientnetv2_b?", "*_150d", "*_tv", "*_sgn", "*_ols", "*_rms", "*_hnf",
          "*_mlp", "*_s3_*", "*_atto", "*_femto", "*_pico", "*_nano", "*_xxlarge")  # fmt: skip

_STAGES = [
    ["ds_r2_k3_s1_e1_c8_se0.25"],
    ["cn_r2_k3_s1_e1_c8_skip"],
    ["er_r2_k3_s2_e2_c16"],
    ["ir_r2_k5_s2_e4_c16_se0.25", "ir_r1_k3_s1_e2.5_c24"],
]
_PHONE = [
    ["ds_r1_k3_s2_e1_c8_se0.25_nre"],
    ["ir_r2_k5_s2_e3.67_c16_se0.25", "ir_r1_k3_s1_e2_c16"],
    ["cn_r1_k1_s1_c24"],
]


def _norm(epsilon: float) -> Any:
    return partial(torch.nn.BatchNorm2d, eps=epsilon)


def _efficientnet(case: str) -> torch.nn.Module:
    phone, tensorflow = "mobilenet" in case, case.startswith("tf_")
    options: dict[str, Any] = {
        "block_args": decode_arch_def(_PHONE if phone else _STAGES),
        "num_classes": CLASSES,
        "num_features": 32,
        "stem_size": 8,
        "fix_stem": True,
        "round_chs_fn": partial(round_channels, multiplier=1.0),
        "norm_layer": _norm(1e-3 if tensorflow else 1e-5),
        "pad_type": "same" if tensorflow else "",
    }
    if not phone:
        return EfficientNet(**options, act_layer=torch.nn.SiLU)
    gates = {"gate_layer": "hard_sigmoid", "force_act_layer": torch.nn.ReLU}
    squeeze = partial(SqueezeExcite, rd_round_fn=round_channels, **gates)
    return MobileNetV3(**options, act_layer=torch.nn.Hardswish, se_layer=squeeze)


def _regnet(case: str) -> torch.nn.Module:
    squeeze = 0.25 if case == "regnety" else 0.0
    numbers = {"w0": 8, "wa": 14.0, "wm": 2.0, "group_size": 4, "depth": 5}
    return RegNet(RegNetCfg(**numbers, se_ratio=squeeze), num_classes=CLASSES)


def _swin(case: str) -> torch.nn.Module:
    arguments = CASES[case][1]
    theirs = {"units": "embed_dim", "num_layers": "depths", "image_size": "img_size"}
    return SwinTransformer(
        num_classes=CLASSES, **{theirs.get(name, name): x for name, x in arguments.items()}
    )


def network(case: str) -> torch.nn.Module:
    """Return timm's network of a case, without its weights."""
    if "net" in case and not case.startswith(("regnet", "convnext")):
        return _efficientnet(case)
    if case.startswith("regnet"):
        return _regnet(case)
    if case == "convnext":
        return ConvNeXt(num_classes=CLASSES, depths=(1, 2, 1, 1), dims=(8, 16, 24, 32))
    return _swin(case)


def fill(net: torch.nn.Module) -> torch.nn.Module:
    """Give a network the weights that follow from names."""
    state = net.state_dict()
    for name, tensor in state.items():
        if not is_kept_as_made(name) and tensor.is_floating_point():
            state[name] = torch.from_numpy(values(name, tuple(tensor.shape)))
    net.load_state_dict(state)
    return net.eval()


def stages(net: Any) -> list[torch.nn.Module]:
    """Return the modules whose outputs are a network's feature maps."""
    if isinstance(net, RegNet):
        return [net.s1, net.s2, net.s3, net.s4]
    return list(getattr(net, "blocks", getattr(net, "stages", getattr(net, "layers", None))))


def make_small(case: str) -> dict[str, Any]:
    """Return what the small network of a case computes."""
    net = fill(network(case)).double()
    maps: list[torch.Tensor] = []
    for stage in stages(net):
        stage.register_forward_hook(lambda module, given, made: maps.append(made.detach()))
    output = net(torch.from_numpy(images(CASES[case][2])).double())
    (output * torch.from_numpy(pattern(output.detach().numpy()))).sum().backward()
    gradients = [summary(p.grad.numpy()) for _, p in sorted(net.named_parameters())]
    return {
        f"{case} output": output.detach().numpy(),
        f"{case} stages": np.array([summary(made.numpy()) for made in maps]),
        f"{case} gradients": np.array(gradients),
    }


def make_resized() -> dict[str, Any]:
    """Return a table of offsets and kernels of patches, of another size."""
    table = torch.from_numpy(values("table", (49, 2)))
    kernel = torch.from_numpy(values("kernel", (2, 3, 4, 4)))
    made = {"resized table": resize_rel_pos_bias_table_simple(table, (6, 6), (121, 2))}
    for side in (3, 6):
        made[f"resized kernel {side}"] = resample_patch_embed(kernel, [side, side])
    return {name: tensor.numpy() for name, tensor in made.items()}


def published(name: str) -> dict[str, Any]:
    """Return the hash of the names and shapes of a published network's weights, and logits."""
    with torch.device("meta"):
        net = timm.create_model(name)
    lines = [
        f"{key} {tuple(tensor.shape)}"
        for key, tensor in sorted(net.state_dict().items())
        if tensor.is_floating_point() and not key.endswith(("attn_mask", "position_index"))
    ]
    made: dict[str, Any] = {"sha1": hashlib.sha1("\n".join(lines).encode()).hexdigest()}
    if sum(p.numel() for p in net.parameters()) < MOST_PARAMETERS:
        size = net.pretrained_cfg["input_size"][-1] if name.startswith("swin") else SIDE
        with torch.no_grad():
            logits = fill(timm.create_model(name))(torch.from_numpy(images((1, 3, size, size))))
        made["logits"] = [float(f"{x:.7g}") for x in logits[0, :KEPT]]
        made["scale"] = float(f"{logits.abs().max():.7g}")
    return made


def check(folder: Path) -> None:
    """Print how far networks that gluonish wrote are from its own logits."""
    for path in sorted(folder.iterdir()):
        net = timm.create_model(f"local-dir:{path}", pretrained=True).eval()
        want = np.load(path / "logits.npy")
        with torch.no_grad():
            found = net(torch.from_numpy(images((1, 3, SIDE, SIDE)))).numpy()
        apart = np.abs(found - want).max() / np.abs(want).max()
        print(path.name, f"{apart:.1e}")  # noqa: T201  # it is a report


def main() -> None:
    """Write both files."""
    made: dict[str, Any] = {}
    for case in CASES:
        made |= make_small(case)
    made |= make_resized()
    np.savez_compressed(HERE / "timm_networks.npz", **made)
    if sys.argv[1:] == ["--small"]:
        return
    found = {name: published(name) for name in timm.list_models(PATTERNS, exclude_filters=OTHERS)}
    text = json.dumps(found, indent=0, sort_keys=True).encode()
    (HERE / "timm_variants.json.gz").write_bytes(gzip.compress(text, mtime=0))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--check"]:
        check(Path(sys.argv[2]))
    else:
        main()
