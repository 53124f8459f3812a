"""What the arguments of layers and losses are, where the common words do not say it.

A line of operators, then what their arguments are; an indented line goes on with the one above.
"""

__all__ = ["TEXTS"]

TEXTS = """
FullyConnected _contrib_quantized_fully_connected
  data: (N, ...) with flatten, else (..., features)
  weight: (num_hidden, features)
  bias: What is added to each output feature, (num_hidden,)
Convolution Deconvolution Convolution_v1 _contrib_quantized_conv _contrib_DeformableConvolution
    _contrib_ModulatedDeformableConvolution
  data: Images (N, channels, spatial axes ...), in the order of layout
  weight: Filters: for each output channel (channels / num_group, *kernel); Deconvolution swaps
      the two
  bias: What is added to each output channel, (num_filter,)
  offset: How far each point of the kernel is moved, y and x
  mask: Factor of each point of the kernel
  adj: Elements added to the end of each spatial axis of the output
  target_shape: Spatial extents of the output, which pad and adj then follow; (0, 0) for what
      they give
Pooling Pooling_v1 _contrib_quantized_pooling
  data: Images (N, channels, spatial axes ...), in the order of layout
BatchNorm BatchNorm_v1 _contrib_SyncBatchNorm _contrib_BatchNormWithReLU
    _contrib_quantized_batch_norm
  data: Input with its channels on axis
  axis: Axis of the channels, negative from the last
  eps: Added to the variance, so that it is not 0
  momentum: Share of the running statistics that a training step keeps
  output_mean_var: Whether to return the mean and the inverse standard deviation, too
  ndev: Number of devices whose batches are normalized together
  key: Name that layers of one place have in common on all devices
LayerNorm
  data: Input array
  gamma: Scale of each element of the axis, (extent of axis,)
  beta: Shift of each element of the axis, (extent of axis,)
  axis: Axis that is normalized, negative from the last
  eps: Added to the variance, so that it is not 0
GroupNorm
  gamma: Scale of each group, (num_groups,)
  beta: Shift of each group, (num_groups,)
GroupNorm InstanceNorm
  data: Input (N, channels, ...)
  num_groups: Number of groups that the channels are divided into
  eps: Added to the variance, so that it is not 0
L2Normalization
  mode: What has norm 1 after it: each sample ('instance'), each place over channels, or each
      channel
LRN
  data: Images (N, channels, H, W)
  alpha: Factor of the sum of squares
  beta: Exponent of the divisor
  knorm: What is added to the sum of squares
  nsize: Number of neighbouring channels that are summed
Activation _contrib_quantized_act
  data: Array of any shape
LeakyReLU
  data: Array of any shape
  gamma: Slope below 0 for each channel, with act_type 'prelu' only
  slope: Slope below 0 (leaky), or factor (elu)
  lower_bound: Least random slope of 'rrelu'
  upper_bound: Largest random slope of 'rrelu'
hard_sigmoid
  alpha: Slope in the middle
  beta: Value at 0
Dropout
  p: Probability that an element becomes 0, in [0, 1)
  mode: When elements are dropped: in training only, or always
  axes: Axes along which one draw is shared
Embedding _contrib_SparseEmbedding _contrib_quantized_embedding
  data: Indices of any shape, whole numbers in [0, input_dim)
  weight: Table of vectors, (input_dim, output_dim)
  output_dim: Length of a vector
  dtype: Element type of the table
  deterministic: Accepted and ignored
RNN _contrib_quantized_rnn
  data: Input sequences (length, N, features)
  mode: Kind of the cells
  p: Probability that an output between two layers is dropped in training
softmax log_softmax softmin
  axis: Axis along which the values sum to 1, negative from the last
  dtype: Element type of the result; None for that of data
softmax_cross_entropy
  data: Scores (N, classes), before softmax
  label: Number of the true class of each row, (N,)
SoftmaxOutput
  data: Scores, before softmax
  label: Number of the true class of each row
  multi_output: Whether axis 1 has the classes; else the last axis or all but the first
  out_grad: Whether the gradient from above is multiplied in
SoftmaxActivation
  mode: Whether softmax runs over channels (axis 1), or over all axes but the first
LinearRegressionOutput LogisticRegressionOutput MAERegressionOutput
  data: Predictions
  label: True values, with the shape of data
SVMOutput
  data: Scores (N, classes)
  label: Number of the true class of each row, (N,)
  regularization_coefficient: Factor of the gradient
  use_linear: Whether the loss grows linearly; else with the square
CTCLoss
  data: Scores (length, N, classes), before softmax
  label: Numbers of the true classes, (N, longest label)
  use_data_lengths: Whether data_lengths is given
  use_label_lengths: Whether label_lengths is given; else a label ends at its first padding
MakeLoss
  data: The loss, of any shape
  valid_thresh: With normalization 'valid', elements above it count
SequenceMask SequenceLast SequenceReverse
  data: Sequences, with time on axis and the batch on the other of the first two axes
  axis: Axis of time: 0 or 1
  value: What is written behind the end of a sequence
UpSampling
  scale: Factor of height and width
  sample_type: How pixels between are made
  num_filter: Number of channels, for 'bilinear'
  multi_input_mode: Whether several inputs are joined along channels or added
_contrib_hawkesll
  lda: Rates of each kind without excitement, (N, kinds)
  alpha: How many events one event brings, for each kind, (kinds,)
  beta: How fast that fades, for each kind, (kinds,)
  state: What is left of earlier events, (N, kinds)
  lags: Time since the event before, (N, length)
  marks: Kind of each event, (N, length), int32
  valid_length: Number of events of each sequence, (N,)
  max_time: How long each sequence was watched, (N,)
IdentityAttachKLSparseReg
  moving_avg: Running mean of each activation
Custom
  op_type: Name that the operator was registered by
_contrib_quadratic
  a: Factor of the square
  b: Factor of the value
  c: What is added
smooth_l1
  scalar: The loss is a square up to 1 / scalar squared, and linear beyond
IdentityAttachKLSparseReg
  sparseness_target: Mean activation that is aimed at
  penalty: Factor of the penalty
  momentum: Share of the running mean that a step keeps
"""
