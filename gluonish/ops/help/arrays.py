"""Arguments of operators that move, join and reduce arrays.

A line of operators, then descriptions of their arguments; indented lines continue the one above.
"""

TEXTS = """
Concat
  dim: Axis along which to concatenate, negative from the last
Reshape
  shape: New shape with codes: 0 keeps a size, -1 infers one, -2 copies the rest, -3 joins two and
      -4 splits one
  reverse: Whether codes are matched from the last axis instead of the first
  target_shape: Older form of shape
  keep_highest: With target_shape, whether to keep the first size
reshape_like
  lhs: Array to reshape
  rhs: Array whose shape is used
  lhs_begin: First axis of lhs to replace, negative from the last
  lhs_end: Axis of lhs after the last to replace
  rhs_begin: First axis of rhs to copy
  rhs_end: Axis of rhs after the last to copy
expand_dims
  axis: Position of the new axis, negative from the last
squeeze
  axis: Axes of size 1 to remove; None for all of them
transpose
  axes: Order of the axes; empty to reverse it
slice_axis
  axis: Axis to slice, negative from the last
  begin: Start index
  end: End index, exclusive; None for the end
slice_like
  data: Array to slice
  axes: Axes to cut to the size of shape_like; empty for all
broadcast_axis
  axis: Axes of size 1 to repeat
  size: New size of each of them
broadcast_to
  shape: Shape of the result; 0 keeps a size
broadcast_like
  lhs: Array to broadcast
  rhs: Array whose shape is used
  lhs_axes: Axes of lhs to broadcast; None for all
  rhs_axes: Axes of rhs whose sizes they get
Pad
  data: Array of 4 or 5 axes, for modes other than 'constant'
  mode: Content of the padding: a constant, the edge, or data reflected
  pad_width: Number of elements added before and after each axis: (before_0, after_0, before_1,
      after_1, ...)
reverse
  axis: Axes along which to reverse the order
stack
  axis: Position of the new axis, negative from the last
SliceChannel
  num_outputs: Number of equal parts
  axis: Axis to split, negative from the last
_split_v2
  axis: Axis to split, negative from the last
take
  a: Array to take elements from
  indices: Indices along axis, integers of any dtype
  axis: Axis along which to take elements, negative from the last
  mode: What happens to indices out of bounds: clipped, wrapped around, or an error
batch_take
  a: Array (N, K)
  indices: Index in each row, (N,)
pick
  data: Array to take elements from
  index: Index along axis for each position of the other axes
  axis: Axis along which to take one element, negative from the last; None for the flattened array
  mode: What happens to indices out of bounds: clipped, or wrapped around
gather_nd
  data: Array to take elements from
  indices: (M, ...): each column holds an index into the first M axes
scatter_nd
  data: Values to write
  indices: (M, ...): each column holds an index into the first M axes of the result
one_hot
  indices: Classes, integers of any dtype
where
  condition: Array of the choices' shape, or of the length of their first axis
  x: Values where condition is not 0
  y: Values where condition is 0
dot
  lhs: Array (..., k)
  rhs: Array (k, ...)
  transpose_a: Whether to sum over the first axis of lhs
  transpose_b: Whether to sum over the last axis of rhs
batch_dot
  lhs: Matrices (N, m, k)
  rhs: Matrices (N, k, n)
_npi_matmul
  a: Matrices (..., m, k)
  b: Matrices (..., k, n)
norm
  ord: Order of the norm: 1 or 2
  axis: Axis, or two for matrices; None for all elements
argmax argmin argsort sort topk
  axis: Axis along which to compare elements, negative from the last; None for all elements
topk
  k: Number of elements; below 1 for all
  ret_typ: What to return: values, indices, both, or a mask with 1 at the chosen elements
  dtype: Element type of the indices
argsort
  dtype: Element type of the indices
sum mean prod nansum nanprod max min
  axis: Axes to reduce, negative from the last; empty or None for all
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
  C: Matrices to add
_linalg_potrf _linalg_potri
  A: Matrices (..., n, n)
_arange _npi_arange
  stop: End of the values, exclusive; None: start is the end, and values begin with 0
  infer_range: Whether the end follows from the shape that the reading operator needs
  start: Start value
  step: Distance between consecutive values
_linspace _npi_logspace
  stop: Last value; with endpoint=False the value after it
_contrib_arange_like
  axis: Axis whose size is the number of values; None for as many as data has elements
  start: Start value
  step: Distance between consecutive values
_ravel_multi_index _unravel_index
  shape: Shape of the array that is indexed
diag
  data: Matrices whose diagonal is taken; a vector becomes the diagonal of a matrix
_histogram
  range: Minimum and maximum of the bins; values outside are ignored
_contrib_index_copy
  old_tensor: Array (N, ...) whose rows are replaced
  index_vector: Indices of the rows, (M,)
  new_tensor: The new rows, (M, ...)
_contrib_count_sketch
  h: Column of the output that each column of data is added to, (1, D)
  s: Sign of each column of data, (1, D)
  out_dim: Number of columns of the output
  processing_batch_size: Accepted and ignored
_contrib_boolean_mask
  data: Array (N, ...)
  index: Selects the rows where it is not 0, (N,)
_linalg_syrk
  transpose: Whether the first of the two factors is A transposed
_npi_rot90
  k: Number of quarter turns
  axes: The two axes of the plane
_npi_boolean_mask_assign_tensor
  value: Values to write
_npi_boolean_mask_assign_scalar _npi_boolean_mask_assign_tensor
  start_axis: First axis of data that mask applies to
_npi_delete _npi_insert_scalar _npi_insert_slice _npi_insert_tensor
  int_ind: Index, if it is a single number
  axis: Axis of the indices; None for the flattened array
_np_moveaxis
  source: Axes to move
  destination: New positions of the axes
_npi_diff
  n: Number of times that differences are taken
_npi_ediff1d
  input1: Input array
  input2: Values before the differences, or after them
  input3: Values after the differences
  to_begin_arr_given: Whether an array comes before the differences
  to_end_arr_given: Whether an array comes after the differences
  to_begin_scalar: Number before the differences; None for none
  to_end_scalar: Number after the differences; None for none
_npi_norm
  ord: Order of the norm; see above
  flag: Kind of norm; see above
_npi_pinv _npi_pinv_scalar_rcond
  rcond: Singular values below this fraction of the largest count as 0
  hermitian: Whether the matrices are Hermitian
_npi_polyval
  p: Coefficients, that of the highest power first
  x: Where the polynomial is evaluated
_npi_tensordot
  a_axes_summed: Axes of a to sum over
  b_axes_summed: Axes of b to sum over, in the order of a_axes_summed
_npi_tensordot_int_axes
  axes: Number of axes to sum over: the last of a and the first of b
_npi_tensorinv
  ind: Number of axes of a that count as rows
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
  input: Boolean array
  msg: Text of the error
amp_multicast
  cast_narrow: Whether to cast to the narrowest dtype among them, else to the widest
fill_element_0index
  lhs: Array (N, K)
  mhs: Values to write, (N,)
  rhs: Index in each row, (N,)
_foreach _while_loop
  num_out_data: Number of outputs that are stacked over the steps
_while_loop
  max_iterations: Maximum number of steps
_slice_assign _slice_assign_scalar slice
  step: Step along each axis, None for 1
_np_roll
  shift: Number of positions, for each axis
  axis: Axes along which to roll; None for the flattened array
_npi_percentile
  q: Percentiles, 0 to 100
  q_scalar: Percentile, 0 to 100, if it is a single number
  axis: Axes to reduce; None for all
_npi_pad
  mode: Name of the padding mode
  reflect_type: Accepted and ignored
_npi_einsum
  subscripts: Subscripts, as in `numpy.einsum`: 'ij,jk->ik'
_npi_where
  condition: Selects x where it is not 0, else y
_npi_nan_to_num
  copy: Accepted and ignored
  nan: What replaces NaN
  posinf: What replaces infinity; None for the largest number
  neginf: What replaces minus infinity; None for the smallest number
_npi_average
  weights: Weight of each element
"""
