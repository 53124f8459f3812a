"""Arguments of most operators: one description per name.

Indented lines continue the one above.

`meaning` returns the descriptions for help().

A name has the same meaning in most operators, so there is one description per name, for inputs and
for attributes; operators that use a name differently have their own.
"""

from collections.abc import Iterator
from functools import cache

from gluonish.ops.help import arrays, common, layers, training, vision

# Input arrays.
INPUTS = """
A: Matrices (..., rows, columns); the axes before the last two are batch axes
B: Matrices (..., rows, columns), with the batch axes of A
a: Input array
anchor: Anchor boxes (1, anchors, 4) as left, top, right, bottom, as fractions of the image
anchors: Anchor boxes (..., anchors, 4)
arr: Input array
array: Input array
b: Second input array
bbox_pred: Predicted corrections of the anchors, (N, 4 anchors, H, W)
attention: Attention of each head, (N * heads, length, length)
beta: Offset of each channel, (channels,)
bias: Bias added to each output channel, (channels,)
bins: Edges of the bins, ascending, (bins + 1,)
buf: Content of an encoded image file, (bytes,) of uint8
cls_prob: Predicted probabilities of the classes
condition: Selects the first choice where it is not 0, else the second
data: Input array
data1: First images (N, C, H, W)
data2: Second images (N, C, H, W), compared with the first
data_lengths: Length of each sequence of data, (N,)
gamma: Scale of each channel, (channels,)
grad: Gradient of the loss by the weight, with the weight's shape
grid: Sampling positions: x and y for each output pixel, (N, 2, H, W), from -1 to 1
high: Upper bounds of the distributions, exclusive
hist: Counts of the bins, (bins,)
hist_edges: Edges of the bins, (bins + 1,)
im_info: Height, width and scale of each image, (N, 3)
index: Indices, integers of any dtype
indices: Indices, integers of any dtype
input: Input array
k: Number of successes to reach, above 0
keys_values: Keys and values interleaved along the last axis, (length, N, heads * 2 * head size)
label: True values, one for each prediction
label_lengths: Length of each label sequence, (N,)
lam: Rates (or means) of the distributions, above 0
length: Number of valid elements along axis for each row of data; the others become 0
lhs: First operand
lhs_max: Maximum of the range of lhs
lhs_min: Minimum of the range of lhs
like: Array whose shape is used; its values are not read
loc: Parameters of the transformation of each image, (N, 6)
loc_pred: Predicted corrections of the anchors, (N, 4 anchors)
low: Lower bounds of the distributions
mask: Elements are written where it is true
max_bias: Maximum of the range of bias
max_data: Maximum of the range of data
max_range: Maximum of the quantized range
max_weight: Maximum of the range of weight
mean: Running mean of the gradient (first moment), with the weight's shape
min_bias: Minimum of the range of bias
min_data: Minimum of the range of data
min_range: Minimum of the quantized range
min_weight: Minimum of the range of weight
mom: Momentum of the optimizer, with the weight's shape
moving_mean: Running mean of each channel, (channels,), used outside training
moving_var: Running variance of each channel, (channels,), used outside training
mu: Means of the distributions
obj: Indices, integers
parameters: All weights and biases of the layers in one vector
queries: Queries, (length, N, heads * head size)
queries_keys_values: Queries, keys and values interleaved along the last axis, (length, N, heads * 3
    * head size)
query: Queries, (N, length, heads, head size)
rescale_grad: Factor of the gradient, an array of one number; the step is skipped if it is not
    finite
rhs: Second operand
rhs_max: Maximum of the range of rhs
rhs_min: Minimum of the range of rhs
rois: Regions of interest, one per row: index of the image in the batch, then left, top, right,
    bottom in pixels
sample: Values at which to evaluate the density
score: Attention scores, (N, length, heads, window)
sequence_length: Length of each sequence of the batch, (N,); used only with use_sequence_length
shape_like: Array whose shape is used; its values are not read
sigma: Standard deviations of the distributions, above 0
src: Image (H, W, C)
state: Initial hidden states, (layers * directions, N, hidden size)
state_cell: Initial cell states of an LSTM, (layers * directions, N, hidden size)
valid_length: Length of each sequence of the batch, (N,)
values: Values to insert or write
var: Running mean of the squared gradient (second moment), with the weight's shape
weight: Weight that the step updates
weight32: The weight in float32, from which the 16-bit weight is rounded
weights: Weight of each element
x: Input array
x1: First operand
x2: Second operand
y: Input array
"""

# All other arguments.
ATTRIBUTES = """
M: Number of columns, or of points; None or 0 for as many as rows
N: Number of rows
UPLO: Which triangle is read, the lower ('L') or the upper one ('U')
a_max: Upper limit; larger elements are set to it
a_min: Lower limit; smaller elements are set to it
act_type: Name of the activation
align_corners: Whether the corner pixels of input and output coincide
aligned: Whether pixel centers are at half-integer coordinates, as in newer definitions
alpha: Factor
atol: Absolute tolerance
axes: Axes, negative from the last
axis: Axis, negative from the last
axis1: First of the two axes, negative from the last
axis2: Second of the two axes, negative from the last
background_id: Class of the background
base: Base of the powers
begin: Start index along each axis; None for the start
beta: Factor of the second term
beta1: Decay rate of the running mean of gradients
beta2: Decay rate of the running mean of squared gradients
bias_correction: Whether to apply bias correction, since the running means start at 0
bidirectional: Whether each layer runs in both directions
bin_cnt: Number of bins of equal width
blank_label: Which class is the blank: the first or the last
block_size: Height and width of the blocks, in pixels
center_crop: Whether to crop the center instead of at offset
clip_gradient: Maximum absolute value of each gradient element; negative for no limit
clip_weights: Maximum absolute value of each weight after the step; negative for no limit
compute_size: Accepted and ignored
constant_value: Value of the padding with mode 'constant'
coord_start: Column in which the four coordinates of a box start
count_include_pad: Whether padding elements count towards the average
ctx: Device of the result, as text such as 'cpu(0)'; the current one if empty
cudnn_off: Accepted and ignored
cudnn_tune: Accepted and ignored
ddof: Number subtracted from the number of elements in the divisor
decimals: Number of decimals to keep; negative to round before the decimal point
depth: Number of classes, the size of the new axis
dilate: Spacing between kernel elements along each spatial axis; empty for 1
dim: Axis along which to concatenate, negative from the last
dim1: First of the two axes, negative from the last
dim2: Second of the two axes, negative from the last
dimensions: Shape of the grid
dtype: Element type of the result
end: End index along each axis, exclusive; None for the end
endpoint: Whether stop is the last value
eps: Small constant added to the denominator to avoid division by zero
epsilon: Small constant added to the denominator to avoid division by zero
equal_nan: Whether two NaN are equal
eta: Factor of the learning rate
etas: Factor of the learning rate, for each weight
exclude: Whether to reduce all axes except those in axis
feature_stride: Number of image pixels per step of the feature map
fill_value: Value of all elements
fix_gamma: Whether gamma is fixed at 1 and gets no gradient
flatten: Whether to flatten all axes but the first; otherwise only the last axis is multiplied
force_suppress: Whether boxes of different classes suppress each other, too
format: Format of the boxes: corners, or center, width and height
forward_stype: Accepted and ignored
gamma1: Decay rate of the running mean of squared gradients
gamma2: Momentum: fraction of the previous update that is kept
get_prob: Whether to return the log-probability of each sample, too
global_pool: Whether the window is the full image; kernel, stride and pad are then ignored
grad_scale: Factor of the gradient
group_size: Rows and columns of the grid of score maps; 0 for pooled_size
heads: Number of attention heads
height: Height in pixels
high: Upper bound, exclusive
id_index: Column of the class; -1 for none
ignore_label: Label of samples that get no gradient
in_format: Format of the boxes in data: corners, or center, width and height
indices: Indices at which to split
init_output: Whether the output starts as 1 (true); else it keeps its value and is only set to 0
initial: Start value of the reduction
input_dim: Number of rows of the weight: number of different indices
interp: Interpolation: 0 nearest, 1 bilinear, 2 bicubic, 3 area, 4 Lanczos, 9 by size, 10 at random
interpolation: How to interpolate between two elements
is_ascend: Whether to sort in ascending order
is_int: Whether scalar is an integer, so that integer arrays keep their dtype
is_log: Whether to return the log-density
is_logit: Whether logit is passed instead of prob
k: Index of the diagonal: 0 the main diagonal, positive above it
keepdims: Whether to keep the reduced axes, with size 1
kernel: Size of the window along each spatial axis
lam: Rate (or mean) of the distribution, above 0
layout: Layout of the axes; None for channels first
lazy_update: With a row_sparse gradient, whether to update only the rows it contains
learning_rates: Learning rate of each weight
left: Columns added on the left
loc: Mean, or center, of the distribution
low: Lower bound
lower: Whether the matrix is lower triangular, else upper triangular
lower_bound: Lower bound on the weight norm; negative for none
lr: Learning rate
lrs: Learning rate of each weight
lstm_state_clip_max: Upper bound of an LSTM's cell states; None for none
lstm_state_clip_min: Lower bound of an LSTM's cell states; None for none
lstm_state_clip_nan: Whether to replace NaN in an LSTM's cell states by the bound
margin: Distance from the boundary beyond which a score has no loss
max_calib_range: Maximum of the result's range from calibration; None to compute it
max_displacement: Maximum displacement, in pixels
max_factor: Upper bound of the random factor
min_calib_range: Minimum of the result's range from calibration; None to compute it
min_factor: Lower bound of the random factor
minlength: Minimum number of counts to return
mode: Name of the mode
momentum: Momentum coefficient: fraction of the previous step added to each new step
mu: Mean of the distribution
newshape: Shape of the result; -1 infers a size from the others
no_bias: Whether there is no bias, which is then not an input
normalization: What the gradient is divided by: nothing, the batch size, or the number of valid
    samples
num: Number of values
num_deformable_group: Number of groups of channels with separate offsets
num_filter: Number of output channels
num_group: Number of groups that input and output channels are split into
num_hidden: Number of output features: rows of the weight
num_layers: Number of stacked layers
num_weights: Number of weights; ignored, the arrays are counted
off_value: Value of all other elements
offset: Index of the diagonal: 0 the main diagonal, positive above it
on_value: Value at the given indices
optimize: Accepted and ignored; the order of the products is chosen
order: Order in which elements are read; 'C' is row-major
out_dtype: Element type of the result; None for that of data
out_format: Format of the boxes in the result: corners, or center, width and height
out_type: Element type of the quantized result
output_dim: Length of the vector of each index, or number of output channels
output_mean_var: Whether to return the mean and the standard deviation, too
overlap_thresh: IoU above which a box is suppressed by a better one
p: Probability that an element is dropped
p_value: The p of an Lp pooling
pad: Number of elements added to both ends of each spatial axis; empty for none
pad_size: Width of the padding around the images, in pixels
pad_width: Number of elements added before and after each axis
pool_type: Kind of pooling: maximum, average, sum, or Lp norm
pooled_size: Rows and columns of the result for each region
pooling_convention: How output sizes are rounded: 'valid' down, 'full' up, 'same' to data / stride
position_sensitive: Whether each cell of the grid reads its own channels
preserve_shape: Whether softmax runs over the last axis; else over all axes but the first
projection_size: Size that an LSTM's hidden state is projected to; None for no projection
ratios: Aspect ratios of the anchor boxes
repeat: How often each value is repeated
repeats: How often each element is repeated
reps: Number of copies along each axis
rescale_grad: Factor of the gradient, usually 1 / batch size
returned: Whether to return the sum of weights, too
return_counts: Whether to return the number of occurrences of each value, too
return_index: Whether to return the index of each value's first occurrence, too
return_inverse: Whether to return the indices that reconstruct the input, too
reverse: Whether codes are matched from the last axis instead of the first
rightside: Whether the triangular matrix is the right factor
rpn_min_size: Minimum size of a box, in pixels; smaller ones are dropped
rpn_post_nms_top_n: Number of boxes to return for each image
rpn_pre_nms_top_n: Number of boxes with the highest scores that enter non-maximum suppression
rtol: Relative tolerance
sample_ratio: Number of sampling points along each axis of a cell; below 1 as many as its pixels
scalar: The other operand, a number
scale: Standard deviation, or scale, of the distribution
scales: Sizes of anchor boxes, in strides
score_index: Column of the score
sections: Number of equal parts; 0 if indices are passed
shape: Shape of the result
size: Shape of the samples; None for that of the parameters
slope: Slope below 0
smooth_alpha: Label smoothing: fraction of the label spread over the other classes
sparse_grad: Whether the gradient of the weight is row_sparse
spatial_scale: Scale of data relative to the image in which regions are measured, such as 1 / 16
squeeze_axis: Whether to remove the axis, which has size 1 in each part
start: Start value, or start index
state_outputs: Whether to return the final states, too
state_size: Size of a hidden state
step: Distance between consecutive values or indices; None for 1
stop: End of the values or indices, exclusive
stride: Step of the window along each spatial axis; empty for 1
stype: Storage type of the result
subscripts: Subscripts, as in `numpy.einsum`: 'ij,jk->ik'
symmetric: Whether the window extends to both sides, or only to earlier positions
t: Number of the step, from 1
target_shape: Height and width of the result
temperature: Number that data are divided by first; None for 1
transpose: Whether the triangular matrix is transposed
transpose_a: Whether the last two axes of the first operand are swapped
transpose_b: Whether the last two axes of the second operand are swapped
upper_bound: Upper bound on the weight norm; negative for none
use_global_stats: Whether to use the running statistics in training mode, too
use_ignore: Whether samples with ignore_label get no gradient
use_length: Whether length is passed
use_sequence_length: Whether sequence_length is passed; else all sequences have full length
val: Number to insert
value: Value to write
variances: Factors of the four corrections of a box
w: Number of positions on each side that a query attends to
wd: Weight decay (L2 penalty): fraction of the weight added to its gradient
wds: Weight decay of each weight
width: Width in pixels
workspace: Accepted and ignored
"""


def meaning(operator: str, argument: str, *, is_input: bool) -> str | None:
    """Return the description of an operator's argument, without a full stop; None if missing."""
    own = own_texts().get((operator, argument))
    return _common(is_input).get(argument) if own is None else own


@cache
def own_texts() -> dict[tuple[str, str], str]:
    """Return operator-specific descriptions, by operator and argument."""
    found = {}
    operators: list[str] = []
    for module in (layers, vision, arrays, training):
        for line in _joined(module.TEXTS, "  "):
            if line.startswith("  "):
                argument, text = line.strip().split(": ", 1)
                found.update({(operator, argument): text for operator in operators})
            else:
                operators = line.split()
    return found


@cache
def _common(is_input: bool) -> dict[str, str]:
    found = {}
    for line in _joined(common.INPUTS if is_input else common.ATTRIBUTES, ""):
        argument, text = line.split(": ", 1)
        found[argument] = text
    return found


def _joined(texts: str, indent: str) -> Iterator[str]:
    """Yield entries, each joined with its continuation lines."""
    entry = ""
    for line in texts.strip().splitlines():
        if entry and line.startswith(indent + "    " if entry.startswith(indent) else "    "):
            entry += f" {line.strip()}"
            continue
        if entry:
            yield entry
        entry = line
    yield entry
