"""What the arguments of most operators are: one text a name.

An indented line goes on with the one above.
"""

__all__ = ["ATTRIBUTES", "INPUTS"]

# Arrays that operators read.
INPUTS = """
A: Matrices (..., rows, columns); the axes before the last two are batch axes
B: Matrices (..., rows, columns), with the batch axes of A
a: Input array
anchor: Anchor boxes (1, anchors, 4) as left, top, right, bottom, in shares of the image
anchors: Anchor boxes (..., anchors, 4)
arr: Input array
array: Input array
b: Second input array
bbox_pred: Predicted corrections of the anchors, (N, 4 anchors, H, W)
attention: Attention of each head, (N * heads, length, length)
beta: Shift of each channel, (channels,)
bias: What is added to each output channel, (channels,)
bins: Edges of the bins, ascending, (bins + 1,)
buf: Content of an encoded image file, (bytes,) of uint8
cls_prob: Predicted probabilities of the classes
condition: Where it is not 0 the first choice is taken, else the second
data: Input array
data1: First images (N, C, H, W)
data2: Second images (N, C, H, W), compared with the first
data_lengths: Length of each sequence of data, (N,)
gamma: Scale of each channel, (channels,)
grad: Gradient of the loss by the weight, with the weight's shape
grid: Where to read: x and y for each output pixel, (N, 2, H, W), from -1 to 1
high: Upper bounds of the distributions, not reached themselves
hist: Counts of the bins, (bins,)
hist_edges: Edges of the bins, (bins + 1,)
im_info: Height, width and scale of each image, (N, 3)
index: Positions, whole numbers of any dtype
indices: Positions, whole numbers of any dtype
input: Input array
k: Number of successes to reach, above 0
keys_values: Keys and values side by side, (length, N, heads * 2 * head size)
label: True values, one for each prediction
label_lengths: Length of each label sequence, (N,)
lam: Rates (or means) of the distributions, above 0
length: How many elements along axis count, for each row of data; the others become 0
lhs: First operand
lhs_max: Largest value that lhs stands for
lhs_min: Smallest value that lhs stands for
like: Array whose shape is taken; its values are not read
loc: Parameters of the transformation of each image, (N, 6)
loc_pred: Predicted corrections of the anchors, (N, 4 anchors)
low: Lower bounds of the distributions
mask: Where it is true, elements are written
max_bias: Largest value that bias stands for
max_data: Largest value that data stands for
max_range: Largest value that the quantized numbers stand for
max_weight: Largest value that weight stands for
mean: Running mean of the gradient (first moment), with the weight's shape
min_bias: Smallest value that bias stands for
min_data: Smallest value that data stands for
min_range: Smallest value that the quantized numbers stand for
min_weight: Smallest value that weight stands for
mom: Momentum of the optimizer, with the weight's shape
moving_mean: Running mean of each channel, (channels,), used outside training
moving_var: Running variance of each channel, (channels,), used outside training
mu: Means of the distributions
obj: Positions, whole numbers
parameters: All weights and biases of the layers in one vector
queries: Queries, (length, N, heads * head size)
queries_keys_values: Queries, keys and values side by side, (length, N, heads * 3 * head size)
query: Queries, (N, length, heads, head size)
rescale_grad: Factor for the gradient, an array of one number; the step is skipped if it is not
    finite
rhs: Second operand
rhs_max: Largest value that rhs stands for
rhs_min: Smallest value that rhs stands for
rois: Regions, a row each: number of the image in the batch, then left, top, right, bottom in
    pixels
sample: Where to evaluate the density; values of random variables
score: Attention scores, (N, length, heads, window)
sequence_length: Length of each sequence of the batch, (N,); read with use_sequence_length only
shape_like: Array whose shape is taken; its values are not read
sigma: Standard deviations of the distributions, above 0
src: Image (H, W, C)
state: States at the beginning, (layers * directions, N, hidden size)
state_cell: Cell states of an LSTM at the beginning, (layers * directions, N, hidden size)
valid_length: Length of each sequence of the batch, (N,)
values: What is inserted, or written
var: Running mean of the squared gradient (second moment), with the weight's shape
weight: Weight, which the step updates
weight32: The weight in float32, from which the 16-bit weight is rounded
weights: How much each element counts
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
a_max: Upper limit; larger elements become it
a_min: Lower limit; smaller elements become it
act_type: Name of the function
align_corners: Whether the corner pixels of input and output coincide
aligned: Whether pixels lie half a pixel from the image's edge, as newer definitions have it
alpha: Factor
atol: Absolute tolerance
axes: Axes, negative from the last
axis: Axis, negative from the last
axis1: First of the two axes, negative from the last
axis2: Second of the two axes, negative from the last
background_id: Class that stands for the background
base: Base of the powers
begin: First index along each axis, None for the beginning
beta: Factor of the second term
beta1: Share of the running mean of gradients that a step keeps
beta2: Share of the running mean of squared gradients that a step keeps
bias_correction: Whether running means are corrected for having begun with 0
bidirectional: Whether each layer also runs from the end to the beginning
bin_cnt: Number of bins of equal width
blank_label: Which class stands for no label, the first or the last
block_size: Edge of the blocks, in pixels
center_crop: Whether the crop lies in the middle, instead of at offset
clip_gradient: Limit of the absolute value of each element of the gradient; below 0 for none
clip_weights: Limit of each weight's absolute value after the step; below 0 for none
compute_size: Accepted and ignored
constant_value: What is put around the data with mode 'constant'
coord_start: Column where the four coordinates of a box begin
count_include_pad: Whether an average also counts the padding
ctx: Device of the result, as text such as 'cpu(0)'; the current one if empty
cudnn_off: Accepted and ignored
cudnn_tune: Accepted and ignored
ddof: What is taken off the number of elements in the divisor
decimals: Digits behind the decimal point; negative before it
depth: Number of classes: length of the new axis
dilate: Distance between neighbouring elements of the kernel, along each spatial axis; empty for
    1
dim: Axis along which arrays are joined, negative from the last
dim1: First of the two axes, negative from the last
dim2: Second of the two axes, negative from the last
dimensions: Extents of the grid
dtype: Element type of the result
end: Index behind the last one along each axis, None for the end
endpoint: Whether stop is the last value
eps: Added to the divisor, so that it is not 0
epsilon: Added to the divisor, so that it is not 0
equal_nan: Whether NaN equals NaN
eta: Factor of the learning rate
etas: Factor of the learning rate, for each weight
exclude: Whether all axes but those of axis are reduced
feature_stride: Pixels of the image from one place of the feature map to the next
fill_value: Value of all elements
fix_gamma: Whether gamma counts as 1 and gets no gradient
flatten: Whether all axes but the first count as one; else the last axis alone is multiplied
force_suppress: Whether boxes of different classes suppress each other, too
format: How boxes are written: their corners, or center, width and height
forward_stype: Accepted and ignored
gamma1: Share of the running mean of squared gradients that a step keeps
gamma2: Share of the last update that a step keeps
get_prob: Whether to return the logarithm of each sample's probability, too
global_pool: Whether the window is the whole image; kernel, stride and pad are ignored then
grad_scale: Factor of the gradient
group_size: Rows and columns of the grid of score maps; 0 for pooled_size
heads: Number of attention heads
height: Height in pixels
high: Upper bound, not reached itself
id_index: Column of the class; -1 for none
ignore_label: Label of samples that get no gradient
in_format: How boxes of data are written: their corners, or center, width and height
indices: Where the parts after the first begin
init_output: Whether the output starts as 1 (true); else it keeps its value and is only set to 0
initial: Value to begin the reduction with
input_dim: Number of rows of the weight: how many different indices there are
interp: Interpolation: 0 nearest, 1 bilinear, 2 bicubic, 3 area, 4 Lanczos, 9 by size, 10 at
    random
interpolation: What lies between two elements
is_ascend: Whether the smallest come first
is_int: Whether scalar is a whole number, so that arrays of integers keep their dtype
is_log: Whether to return the logarithm of the density
is_logit: Whether logit was given instead of prob
k: Number of the diagonal, 0 the main one, above it positive
keepdims: Whether reduced axes stay, with extent 1
kernel: Extent of the window along each spatial axis
lam: Rate (or mean) of the distribution, above 0
layout: Order of the axes; None for channels first
lazy_update: Whether a row_sparse gradient moves the rows that it holds only
learning_rates: Learning rate of each weight
left: Columns on the left
loc: Mean, or center, of the distribution
low: Lower bound
lower: Whether the matrix is a lower triangle, else an upper one
lower_bound: Lower limit of the weight's norm; below 0 for none
lr: Learning rate
lrs: Learning rate of each weight
lstm_state_clip_max: Upper limit of an LSTM's cell states; None for none
lstm_state_clip_min: Lower limit of an LSTM's cell states; None for none
lstm_state_clip_nan: Whether NaN in an LSTM's cell states is replaced by a limit
margin: Distance from the boundary that counts as right enough
max_calib_range: Largest value of the result, found by calibration; None to compute it
max_displacement: Furthest displacement, in pixels
max_factor: Upper bound of the random factor
min_calib_range: Smallest value of the result, found by calibration; None to compute it
min_factor: Lower bound of the random factor
minlength: Least number of counts that are returned
mode: How it works, by name
momentum: Share of the last update that a step keeps
mu: Mean of the distribution
newshape: Shape of the result; -1 for what follows from the others
no_bias: Whether there is no bias; it is not an input then
normalization: What the gradient is divided by: nothing, the batch, or the samples that count
num: Number of values
num_deformable_group: Number of groups of channels with offsets of their own
num_filter: Number of output channels
num_group: Number of groups that input and output channels are divided into
num_hidden: Number of output features: rows of the weight
num_layers: Number of layers on top of each other
num_weights: Number of weights; counted in any case
off_value: Value of all other elements
offset: Number of the diagonal, 0 the main one, above it positive
on_value: Value at the index
optimize: Accepted and ignored; the order of the products is chosen
order: Order in which elements are read, 'C' for by rows
out_dtype: Element type of the result; None for that of data
out_format: How boxes of the result are written: their corners, or center, width and height
out_type: Element type of the quantized result
output_dim: Length of the vector of each index, or number of output channels
output_mean_var: Whether to return the mean and the standard deviation, too
overlap_thresh: Boxes that overlap by a larger share (intersection over union) are suppressed
p: Probability that an element is dropped
p_value: The p of an Lp pooling
pad: Elements of padding before and after each spatial axis; empty for none
pad_size: Pixels of padding around the images
pad_width: How many elements are added before and after each axis
pool_type: What is taken of a window: its maximum, average, sum, or Lp norm
pooled_size: Rows and columns of the result for each region
pooling_convention: How output extents round: 'valid' down, 'full' up, 'same' as many as data /
    stride
position_sensitive: Whether each cell of the grid reads channels of its own
preserve_shape: Whether softmax runs over the last axis; else over all axes but the first
projection_size: Size that an LSTM's hidden state is projected to; None for no projection
ratios: Ratios of height to width, or of width to height, of anchor boxes
repeat: How often each value comes
repeats: How often each element comes
reps: Number of copies along each axis
rescale_grad: Factor of the gradient, usually 1 / batch size
returned: Whether to return the sum of weights, too
return_counts: Whether to return how often each value occurs, too
return_index: Whether to return where each value occurs first, too
return_inverse: Whether to return which value stands at each place, too
reverse: Whether codes are matched from the last axis instead of the first
rightside: Whether the triangular matrix stands on the right
rpn_min_size: Boxes that are smaller than so many pixels are dropped
rpn_post_nms_top_n: Boxes that are returned for each image
rpn_pre_nms_top_n: Boxes with the highest scores that go on to suppression
rtol: Relative tolerance
sample_ratio: Points read along each axis of a cell; below 1 as many as its pixels
scalar: The number that is the other operand
scale: Standard deviation, or scale, of the distribution
scales: Sizes of anchor boxes, in strides
score_index: Column of the score
sections: Number of equal parts; 0 where indices say where to split
shape: Shape of the result
size: Shape of the samples; None for that of the parameters
slope: Slope below 0
smooth_alpha: Share of the label that is spread over the other classes
sparse_grad: Whether the gradient of the weight is row_sparse
spatial_scale: Size of data against the image that regions are measured in, such as 1 / 16
squeeze_axis: Whether the axis, of extent 1 in each part, is removed
start: First value, or first index
state_outputs: Whether to return the states at the end, too
state_size: Size of a hidden state
step: Distance of neighbouring values, or indices; None for 1
stop: Where values, or indices, end; not reached itself
stride: Distance between neighbouring positions of the window, along each spatial axis; empty
    for 1
stype: Storage of the result
subscripts: Letters of the axes, as of `numpy.einsum`: 'ij,jk->ik'
symmetric: Whether the window reaches to both sides, else to earlier places only
t: Number of the step, from 1
target_shape: Height and width of the result
temperature: What data are divided by first; None for 1
transpose: Whether the triangular matrix is transposed
transpose_a: Whether the last two axes of the first operand are swapped
transpose_b: Whether the last two axes of the second operand are swapped
upper_bound: Upper limit of the weight's norm; below 0 for none
use_global_stats: Whether to use the running statistics in training, too
use_ignore: Whether samples with ignore_label get no gradient
use_length: Whether length is given
use_sequence_length: Whether sequence_length is given; else all sequences are whole
val: Number that is inserted
value: Value that is written
variances: Factors of the four corrections of a box
w: Places to each side that a query attends to
wd: Weight decay: share of the weight that is added to its gradient
wds: Weight decay of each weight
width: Width in pixels
workspace: Accepted and ignored
"""
