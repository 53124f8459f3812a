"""Arguments of layers and losses, where the common descriptions do not apply.

A line of operators, then descriptions of their arguments; indented lines continue the one above.
"""

TEXTS = """
FullyConnected _contrib_quantized_fully_connected
  data: (N, ...) with flatten, else (..., features)
  weight: (num_hidden, features)
  bias: Bias added to each output feature, (num_hidden,)
weight_only_dense
  data: (N, ...) with flatten, else (..., features)
  weight: Integers of 8 bits, (num_hidden, features)
  scale: Factor of each row of weight, (num_hidden,), or of each group of a row,
      (num_hidden, features / group_size)
  bias: Bias added to each output feature, (num_hidden,)
  group_size: Number of elements of a row that share a scale, or None for all; multiples of 32 are
      fast
cross_entropy linear_cross_entropy
  label: Classes of the rows, of any dtype
  ignore_label: Label of rows without loss
  label_smoothing: Part of the target that all classes share, in [0, 1]
  z_loss: Factor of the squared logarithm of each row's sum of exponentials
  reduction: A loss of each row, or their mean or sum
cross_entropy
  data: Scores of the classes, (..., V)
linear_cross_entropy
  data: Features, (..., C)
  weight: A row of features for each class, (V, C)
  bias: Bias of each class, (V,)
  recompute: Whether backward computes the scores again, instead of forward the gradients
  use_bias: Whether there is a bias; found out from the arguments
scaled_dot_product_attention
  query: Queries, in the order of layout
  key: Keys, in the order of layout
  value: Values, in the order of layout
  mask: Boolean, true where a query attends to a key, or numbers that are added to the scores
  valid_length: Number of keys of each sample, or of its queries and its keys
  causal: Whether a query attends to no key after its own
  window: Number of keys up to its own that a query attends to; without causal, as many after it
  scale: Factor of the scores; 1 / sqrt(C) by default
  softcap: Limit of the scores, as softcap * tanh(score / softcap)
  dropout: Probability that a weight is zeroed
  layout: Order of the axes of query, key, value and output
  use_mask: Whether there is a mask; found out from the arguments
  use_length: Whether there is valid_length; found out from the arguments
  swapped: Whether the output is (N, T, H, V) although layout is NHTC
  bounded: Whether no number of mask is below -16384 and each sample has a key, as kernels of GPUs
      need it; graph passes set it
Convolution Deconvolution Convolution_v1 _contrib_quantized_conv _contrib_DeformableConvolution
    _contrib_ModulatedDeformableConvolution
  data: Images (N, channels, spatial axes ...), in the order of layout
  weight: Filters (num_filter, channels / num_group, *kernel); of Deconvolution (channels,
      num_filter / num_group, *kernel)
  bias: Bias added to each output channel, (num_filter,)
  offset: Offset of each kernel point, y and x
  mask: Factor of each kernel point
  adj: Elements added to the end of each spatial axis of the output
  target_shape: Spatial sizes of the output, from which pad and adj then follow; (0, 0) to use pad
      and adj
Convolution Deconvolution
  workspace: Maximum workspace of cuDNN, in MB, on a GPU
  cudnn_tune: Whether cuDNN's engines are measured: 'off', 'limited_workspace', or 'fastest',
      without limit; None: MXNET_CUDNN_AUTOTUNE_DEFAULT says it
  cudnn_off: Whether to compute without cuDNN on a GPU
Pooling Pooling_v1 _contrib_quantized_pooling
  data: Images (N, channels, spatial axes ...), in the order of layout
BatchNorm BatchNorm_v1 _contrib_SyncBatchNorm _contrib_BatchNormWithReLU
    _contrib_quantized_batch_norm
  data: Input whose channels are on axis
  axis: Axis of the channels, negative from the last
  eps: Small constant added to the variance to avoid division by zero
  momentum: Decay rate of the running statistics
  output_mean_var: Whether to return the mean and the inverse standard deviation, too
  ndev: Number of devices whose batches are normalized together
  key: Name that the copies of a layer share on all devices
LayerNorm
  data: Input array
  gamma: Scale of each element along axis, (size of axis,)
  beta: Offset of each element along axis, (size of axis,)
  axis: Axis to normalize, negative from the last
  eps: Small constant added to the variance to avoid division by zero
rotary_embedding
  data: Queries or keys, in the order of layout
  positions: Position of each step, (T,) or (N, T)
  offset: Position of the first step, or what is added to positions
  dim: Number of elements that are rotated, from the first; None for all
  pairing: Which elements form a pair: 'halves' or 'neighbours'
  layout: Order of the axes
  base: Base of the angles
  scaling: How the angles are changed for longer sequences
  factor: How much longer sequences are than those of the training
  original_max_position_embeddings: Length of the training's sequences
  low_freq_factor: Of 'llama3': frequencies with fewer rotations than this, in the original length,
      are divided by factor
  high_freq_factor: Of 'llama3': frequencies with more rotations than this stay
  beta_fast: Of 'yarn': frequencies with more rotations than this stay
  beta_slow: Of 'yarn': frequencies with fewer rotations than this are divided by factor
  truncate: Of 'yarn': whether the bounds of the ramp between both are whole numbers
  attention_factor: Factor of the result; None for 0.1 log(factor) + 1 with 'yarn', else 1
  use_positions: Whether there are positions; found out from the arguments
  transposed: Whether to rotate back, as the gradient does
swiglu geglu
  data: gate, or gate and value side by side
  value: Array that the function of gate is multiplied by
  axis: Axis along which data is halved, negative from the last; without value
  approximation: Form of GELU: 'erf' is exact, and 'tanh' and 'sigmoid' are as in nn.GELU
  use_value: Whether there is value; found out from the arguments
rms_norm add_rms_norm
  data: Input array
  residual: Array that is added to data
  gamma: Scale of each element along axis, (size of axis,)
  axis: Axis to normalize, negative from the last
  eps: Small constant added to the mean of the squares to avoid division by zero
  offset: Whether the scale is 1 + gamma
GroupNorm
  gamma: Scale of each group, (num_groups,)
  beta: Offset of each group, (num_groups,)
GroupNorm InstanceNorm
  data: Input (N, channels, ...)
  num_groups: Number of groups that the channels are divided into
  eps: Small constant added to the variance to avoid division by zero
L2Normalization
  mode: What is scaled to norm 1: each sample ('instance'), each position over channels ('channel'),
      or each channel ('spatial')
LRN
  data: Images (N, channels, H, W)
  alpha: Factor of the sum of squares
  beta: Exponent of the denominator
  knorm: Constant added to the sum of squares
  nsize: Number of neighbouring channels to sum over
Activation _contrib_quantized_act
  data: Array of any shape
LeakyReLU
  data: Array of any shape
  gamma: Slope for negative values of each channel, only with act_type 'prelu'
  slope: Slope for negative values (leaky), or factor (elu)
  lower_bound: Minimum random slope of 'rrelu'
  upper_bound: Maximum random slope of 'rrelu'
hard_sigmoid
  alpha: Slope in the middle
  beta: Value at 0
Dropout
  p: Probability that an element becomes 0, in [0, 1)
  mode: When elements are dropped: only in training mode, or always
  axes: Axes along which the mask is shared
Embedding _contrib_SparseEmbedding _contrib_quantized_embedding
  data: Indices of any shape, whole numbers in [0, input_dim)
  weight: Table of vectors, (input_dim, output_dim)
  output_dim: Length of a vector
  dtype: Element type of the table
  deterministic: Accepted and ignored
RNN _contrib_quantized_rnn
  data: Input sequences (length, N, features)
  mode: Kind of cell
  p: Dropout rate between layers
softmax log_softmax softmin
  axis: Axis along which the values sum to 1, negative from the last
  dtype: Element type of the result; None for that of data
softmax_cross_entropy
  data: Logits (N, classes)
  label: Index of the true class of each row, (N,)
SoftmaxOutput
  data: Logits
  label: Index of the true class of each row
  multi_output: Whether the classes are on axis 1; else on the last axis or on all but the first
  out_grad: Whether to multiply by the incoming gradient
SoftmaxActivation
  mode: Whether softmax runs over channels (axis 1), or over all axes but the first
LinearRegressionOutput LogisticRegressionOutput MAERegressionOutput
  data: Predictions
  label: True values, with the shape of data
SVMOutput
  data: Scores (N, classes)
  label: Index of the true class of each row, (N,)
  regularization_coefficient: Factor of the gradient
  use_linear: Whether the loss grows linearly; else with the square
CTCLoss
  data: Logits (length, N, classes)
  label: Indices of the true classes, (N, longest label)
  use_data_lengths: Whether data_lengths is passed
  use_label_lengths: Whether label_lengths is passed; else a label ends at its first padding
MakeLoss
  data: The loss, of any shape
  valid_thresh: With normalization 'valid', elements above it count
SequenceMask SequenceLast SequenceReverse
  data: Sequences, with time on axis and the batch on the other of the first two axes
  axis: Time axis: 0 or 1
  value: Value written after the end of a sequence
UpSampling
  scale: Upsampling factor of height and width
  sample_type: Interpolation: 'nearest' or 'bilinear'
  num_filter: Number of channels, for 'bilinear'
  multi_input_mode: Whether several inputs are concatenated along channels or summed
_contrib_hawkesll
  lda: Background rates of each kind, (N, kinds)
  alpha: Excitation: expected number of events that one event triggers, for each kind, (kinds,)
  beta: Decay rate of the excitation, for each kind, (kinds,)
  state: Remaining excitation from earlier events, (N, kinds)
  lags: Time since the previous event, (N, length)
  marks: Kind of each event, (N, length), int32
  valid_length: Number of events of each sequence, (N,)
  max_time: Length of the observation of each sequence, (N,)
IdentityAttachKLSparseReg
  moving_avg: Running mean of each activation
Custom
  op_type: Name under which the operator was registered
_contrib_quadratic
  a: Coefficient of the square
  b: Coefficient of the value
  c: Constant term
smooth_l1
  scalar: The loss is quadratic up to 1 / scalar squared, and linear beyond
IdentityAttachKLSparseReg
  sparseness_target: Target of the mean activation
  penalty: Factor of the penalty
  momentum: Decay rate of the running mean
"""
