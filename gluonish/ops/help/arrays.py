"""What the arguments of operators that move, join and reduce arrays are.

A line of operators, then what their arguments are; an indented line goes on with the one above.
"""

__all__ = ["TEXTS"]

TEXTS = """
Concat
  dim: Axis along which arrays are joined, negative from the last
Reshape
  shape: New shape with codes: 0 keeps an extent, -1 infers one, -2 the rest, -3 joins and -4
      splits
  reverse: Whether codes are matched from the last axis instead of the first
  target_shape: Older form of shape
  keep_highest: With target_shape, whether the first extent stays
reshape_like
  lhs: Array that gets another shape
  rhs: Array whose shape is taken
  lhs_begin: First axis of lhs that is replaced, negative from the last
  lhs_end: Axis of lhs behind the last that is replaced
  rhs_begin: First axis of rhs that is taken
  rhs_end: Axis of rhs behind the last that is taken
expand_dims
  axis: Where the new axis goes, negative from the last
squeeze
  axis: Axes of extent 1 to remove; None for all of them
transpose
  axes: Order of the axes; empty to reverse it
slice_axis
  axis: Axis that is sliced, negative from the last
  begin: First index
  end: Index behind the last one; None for the end
slice_like
  data: Array that is cut
  axes: Axes that are cut to the extent of shape_like; empty for all
broadcast_axis
  axis: Axes of extent 1 that are repeated
  size: New extent of each of them
broadcast_to
  shape: Shape of the result; 0 keeps an extent
broadcast_like
  lhs: Array that is repeated
  rhs: Array whose shape is taken
  lhs_axes: Axes of lhs that are repeated; None for all
  rhs_axes: Axes of rhs whose extents they get
Pad
  data: Array of 4 or 5 axes, for modes other than 'constant'
  mode: What is put around: a constant, the edge, or the data reflected
  pad_width: Elements before and after each axis: (before_0, after_0, before_1, after_1, ...)
reverse
  axis: Axes along which the order is reversed
stack
  axis: Where the new axis goes, negative from the last
SliceChannel
  num_outputs: Number of equal parts
  axis: Axis that is split, negative from the last
_split_v2
  axis: Axis that is split, negative from the last
take
  a: Array that elements are taken from
  indices: Positions along axis, whole numbers of any dtype
  axis: Axis along which elements are taken, negative from the last
  mode: What happens to positions outside: the nearest inside, counted around, or an error
batch_take
  a: Array (N, K)
  indices: Position in each row, (N,)
pick
  data: Array that elements are taken from
  index: Position along axis, for each row of the other axes
  axis: Axis along which one element is taken, negative from the last; None for the whole array
  mode: What happens to positions outside: the nearest inside, or counted around
gather_nd
  data: Array that elements are taken from
  indices: (M, ...): in column the position along the first M axes
scatter_nd
  data: Values to write
  indices: (M, ...): in column the position along the first M axes of the result
one_hot
  indices: Classes, whole numbers of any dtype
where
  condition: Array of the choices' shape, or of the length of their first axis
  x: Values where condition is not 0
  y: Values where condition is 0
dot
  lhs: Array (..., k)
  rhs: Array (k, ...)
  transpose_a: Whether lhs is summed over its first axis
  transpose_b: Whether rhs is summed over its last axis
batch_dot
  lhs: Matrices (N, m, k)
  rhs: Matrices (N, k, n)
_npi_matmul
  a: Matrices (..., m, k)
  b: Matrices (..., k, n)
norm
  ord: The norm: 1 or 2
  axis: Axis, or two for matrices; None for all elements
argmax argmin argsort sort topk
  axis: Axis along which elements are compared, negative from the last; None for all elements
topk
  k: How many elements; below 1 for all
  ret_typ: What is returned: values, indices, both, or a mask with 1 at the chosen places
  dtype: Element type of the indices
argsort
  dtype: Element type of the indices
sum mean prod nansum nanprod max min
  axis: Axes that are reduced, negative from the last; empty or None for all
_np_cumsum
  axis: Axis along which to sum, negative from the last; None for all elements in order
clip
  data: Array of any shape
Cast amp_cast
  data: Array of any shape
  dtype: Element type of the result
_linalg_gemm _linalg_gemm2 _linalg_trmm _linalg_trsm _linalg_syrk
  alpha: Factor of the product
  beta: Factor of C
  C: Matrices that are added
_linalg_potrf _linalg_potri
  A: Matrices (..., n, n)
_arange _npi_arange
  stop: Where values end, not reached itself; None: start is the end, and values begin with 0
  infer_range: Whether the end follows from the shape of who reads it
  start: First value
  step: Distance of neighbouring values
_linspace _npi_logspace
  stop: Last value, or with endpoint=False the value behind it
_contrib_arange_like
  axis: Axis whose extent is the number of values; None for as many as data has elements
  start: First value
  step: Distance of neighbouring values
_ravel_multi_index _unravel_index
  shape: Shape of the array that the positions are in
diag
  data: Matrices whose diagonal is taken; a vector becomes the diagonal of a matrix
_histogram
  range: Least and greatest value that count; others are left out
_contrib_index_copy
  old_tensor: Array (N, ...) whose rows are replaced
  index_vector: Which rows, (M,)
  new_tensor: The new rows, (M, ...)
_contrib_count_sketch
  h: Column of the output that each column of data is added to, (1, D)
  s: Sign of each column of data, (1, D)
  out_dim: Number of columns of the output
  processing_batch_size: Accepted and ignored
_contrib_boolean_mask
  data: Array (N, ...)
  index: Rows where it is not 0 are taken, (N,)
_linalg_syrk
  transpose: Whether the first of the two factors is A transposed
_npi_rot90
  k: Number of quarter turns
  axes: The two axes of the plane
_npi_boolean_mask_assign_tensor
  value: What is written
_npi_boolean_mask_assign_scalar _npi_boolean_mask_assign_tensor
  start_axis: First axis of data that mask stands for
_npi_delete _npi_insert_scalar _npi_insert_slice _npi_insert_tensor
  int_ind: Position, where it is one number
  axis: Axis of the positions; None for all elements in order
_np_moveaxis
  source: Axes to move
  destination: Where they go
_npi_diff
  n: How often differences are taken
_npi_ediff1d
  input1: Input array
  input2: What comes before the differences, or after them
  input3: What comes after the differences
  to_begin_arr_given: Whether an array comes before the differences
  to_end_arr_given: Whether an array comes after the differences
  to_begin_scalar: Number before the differences; None for none
  to_end_scalar: Number after the differences; None for none
_npi_norm
  ord: Power of the norm; see above
  flag: Which norm is taken; see above
_npi_pinv _npi_pinv_scalar_rcond
  rcond: Singular values below this share of the largest count as 0
  hermitian: Whether the matrices are Hermitian
_npi_polyval
  p: Coefficients, that of the highest power first
  x: Where the polynomial is evaluated
_npi_tensordot
  a_axes_summed: Axes of a to sum over
  b_axes_summed: Axes of b to sum over, in the order of a_axes_summed
_npi_tensordot_int_axes
  axes: How many axes are summed: the last of a and the first of b
_npi_tensorinv
  ind: How many axes of a count as rows
_npi_tensorsolve
  a_axes: Axes of a that are moved to its end first
_npi_where_scalar2
  x: Number where condition is not 0
  y: Number where condition is 0
_npi_bincount
  has_weights: Whether weights are given
_npi_average
  weighted: Whether weights are given
_npx_constraint_check
  input: Array of truth values
  msg: Text of the error
amp_multicast
  cast_narrow: Whether all become the narrowest dtype among them, else the widest
fill_element_0index
  lhs: Array (N, K)
  mhs: What is written, (N,)
  rhs: Where it goes in each row, (N,)
_foreach _while_loop
  num_out_data: Number of outputs that are stacked over the steps
_while_loop
  max_iterations: Number of steps at most
_slice_assign _slice_assign_scalar slice
  step: Step along each axis, None for 1
_np_roll
  shift: By how many places, for each axis
  axis: Axes along which to move; None for all elements in order
_npi_percentile
  q: Percents, 0 to 100
  q_scalar: Percent, 0 to 100, where it is one number
  axis: Axes that are reduced; None for all
_npi_pad
  mode: What is put around the data, by name
  reflect_type: Accepted and ignored
_npi_einsum
  subscripts: Letters of the axes, as of `numpy.einsum`: 'ij,jk->ik'
_npi_where
  condition: Where it is not 0 x is taken, else y
_npi_nan_to_num
  copy: Accepted and ignored
  nan: What replaces NaN
  posinf: What replaces infinity; None for the largest number
  neginf: What replaces minus infinity; None for the smallest number
_npi_average
  weights: How much each element counts
"""
