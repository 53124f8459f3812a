"""Convolutions of ResNet-50, MobileNet and ConvNeXt, and products of BERT, as in `operator_table`.

Small is one sample, large is eight. Data only.
"""

from benchmarks.interleaved.operator_table import Row


def _convolution(
    name: str,
    channels: int,
    size: int,
    filters: int,
    kernel: int,
    stride: int = 1,
    groups: int = 1,
) -> Row:
    pad = kernel // 2
    call = (
        f"F.Convolution(a, b, kernel=({kernel}, {kernel}), stride=({stride}, {stride}), "
        f"pad=({pad}, {pad}), num_filter={filters}, num_group={groups}, no_bias=True)"
    )
    torch = f"N.conv2d(a, b, None, {stride}, {pad}, 1, {groups})"
    weight = (filters, channels // groups, kernel, kernel)
    small, large = (((n, channels, size, size), weight) for n in (1, 8))
    return Row(name, call, torch, small, large)


def _transposed(name: str, channels: int, size: int, filters: int, kernel: int) -> Row:
    call = (
        f"F.Deconvolution(a, b, kernel=({kernel}, {kernel}), stride=(2, 2), pad=(1, 1), "
        f"num_filter={filters}, no_bias=True)"
    )
    torch = "N.conv_transpose2d(a, b, None, 2, 1)"
    weight = (channels, filters, kernel, kernel)
    small, large = (((n, channels, size, size), weight) for n in (1, 8))
    return Row(name, call, torch, small, large)


def _dense(name: str, in_units: int, units: int) -> Row:
    call = f"F.FullyConnected(a, b, c, num_hidden={units})"
    rest = ((units, in_units), (units,))
    return Row(name, call, "N.linear(a, b, c)", ((128, in_units), *rest), ((1024, in_units), *rest))


ROWS: tuple[Row, ...] = (
    _convolution("7x7, stride 2, 3 to 64", 3, 224, 64, 7, 2),
    _convolution("3x3, 64", 64, 56, 64, 3),
    _convolution("3x3, stride 2, 128", 128, 56, 128, 3, 2),
    _convolution("3x3, 256", 256, 14, 256, 3),
    _convolution("3x3, 512", 512, 7, 512, 3),
    _convolution("1x1, 64 to 256", 64, 56, 256, 1),
    _convolution("1x1, 1024 to 256", 1024, 14, 256, 1),
    _convolution("1x1, stride 2, 256 to 512", 256, 56, 512, 1, 2),
    _convolution("3x3 in 32 groups, 128", 128, 56, 128, 3, 1, 32),
    _convolution("depthwise 3x3, 96", 96, 56, 96, 3, 1, 96),
    _convolution("depthwise 3x3, stride 2, 96", 96, 56, 96, 3, 2, 96),
    _convolution("depthwise 3x3, 384", 384, 14, 384, 3, 1, 384),
    _convolution("depthwise 7x7, 96", 96, 56, 96, 7, 1, 96),
    _transposed("transposed 4x4, 64 to 32", 64, 28, 32, 4),
    _dense("dense 768 to 768", 768, 768),
    _dense("dense 768 to 3072", 768, 3072),
    _dense("dense 3072 to 768", 3072, 768),
    Row(
        "scores of attention",
        "F.batch_dot(a, b, transpose_b=True)",
        "F.bmm(a, b.transpose(1, 2))",
        ((12, 128, 64),) * 2,
        ((96, 128, 64),) * 2,
    ),
    Row(
        "values of attention",
        "F.batch_dot(a, b)",
        "F.bmm(a, b)",
        ((12, 128, 128), (12, 128, 64)),
        ((96, 128, 128), (96, 128, 64)),
    ),
)
