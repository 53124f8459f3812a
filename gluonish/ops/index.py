"""In which module of this folder each operator stands: written by ``python -m tests.ops.indexes``.

A name that is looked up loads its module. A test holds this table to the operators.
"""

MODULES: dict[str, str] = {
    "attention.div_sqrt_dim": "_contrib_div_sqrt_dim",
    "attention.interleaved": (
        "_contrib_interleaved_matmul_encdec_qk _contrib_interleaved_matmul_encdec_valatt "
        "_contrib_interleaved_matmul_selfatt_qk _contrib_interleaved_matmul_selfatt_valatt"
    ),
    "attention.sliding_window": (
        "_contrib_sldwin_atten_context _contrib_sldwin_atten_mask_like "
        "_contrib_sldwin_atten_score _npx_sldwin_atten_context _npx_sldwin_atten_mask_like "
        "_npx_sldwin_atten_score _sldwin_spread"
    ),
    "contrib.allclose": "_contrib_allclose",
    "contrib.boolean_mask": "_boolean_mask_put _contrib_boolean_mask _npi_boolean_mask",
    "contrib.copies": (
        "_CrossDeviceCopy _copyto _identity_with_attr_like_rhs _npi_copyto _zeros_without_dtype"
    ),
    "contrib.counting_like": "_contrib_arange_like _contrib_index_array _npx_arange_like",
    "contrib.diag": "_diag_put diag",
    "contrib.finite": "all_finite multi_all_finite",
    "contrib.fourier": "_contrib_fft _contrib_ifft",
    "contrib.group_adagrad": "_contrib_group_adagrad_update",
    "contrib.hawkesll": "_contrib_hawkesll _hawkes_events",
    "contrib.histogram": "_histogram _npi_histogram",
    "contrib.index_copy": "_contrib_index_copy",
    "contrib.many_arrays": "multi_lars multi_sum_sq reset_arrays",
    "contrib.mixed_precision": "amp_cast amp_multicast",
    "contrib.row_elements": "_onehot_encode fill_element_0index",
    "contrib.scatter_set_nd": "_npi_scatter_set_nd _scatter_set_nd",
    "contrib.shape_array": "_npx_shape_array shape_array size_array",
    "contrib.straight_through": (
        "_contrib_gradientmultiplier _contrib_round_ste _contrib_sign_ste "
        "_sparse__contrib_round_ste _sparse__contrib_sign_ste"
    ),
    "contrib.sync_batch_norm": "_contrib_SyncBatchNorm",
    "control_flow.branch": "_branch _cond",
    "control_flow.cached_op": "_CachedOp",
    "control_flow.foreach": "_foreach",
    "control_flow.loop": "_scan",
    "control_flow.while_loop": "_while_loop",
    "creation": "_arange _eye _full _linspace _npi_full _npi_linspace _ones _zeros",
    "custom": "Custom _NDArray _Native _custom_backward _npi_Custom",
    "detection.bipartite_matching": "_contrib_bipartite_matching",
    "detection.box_coding": "_contrib_box_decode _contrib_box_encode",
    "detection.box_iou": "_contrib_box_iou",
    "detection.box_nms": "_contrib_box_nms _contrib_box_non_maximum_suppression",
    "detection.multibox_detection": "_contrib_MultiBoxDetection _npx_multibox_detection",
    "detection.multibox_prior": "_contrib_MultiBoxPrior _npx_multibox_prior",
    "detection.multibox_target": "_contrib_MultiBoxTarget _npx_multibox_target",
    "detection.proposal": "_contrib_MultiProposal _contrib_Proposal",
    "elementwise.add_n": "ElementWiseSum _sparse_ElementWiseSum _sparse_add_n add_n",
    "elementwise.binary": (
        "_Div _DivScalar _Equal _EqualScalar _Greater _GreaterEqualScalar _GreaterScalar "
        "_Greater_Equal _Hypot _HypotScalar _Lesser _LesserEqualScalar _LesserScalar "
        "_Lesser_Equal _LogicalAndScalar _LogicalOrScalar _LogicalXorScalar _Logical_And "
        "_Logical_Or _Logical_Xor _Maximum _MaximumScalar _Minimum _MinimumScalar _Minus "
        "_MinusScalar _Mod _ModScalar _Mul _MulScalar _NotEqualScalar _Not_Equal _Plus "
        "_PlusScalar _Power _PowerScalar _RDivScalar _RMinusScalar _RModScalar _RPowerScalar _add "
        "_div _div_scalar _equal _equal_scalar _greater _greater_equal _greater_equal_scalar "
        "_greater_scalar _hypot _hypot_scalar _lesser _lesser_equal _lesser_equal_scalar "
        "_lesser_scalar _logical_and _logical_and_scalar _logical_or _logical_or_scalar "
        "_logical_xor _logical_xor_scalar _maximum _maximum_scalar _minimum _minimum_scalar "
        "_minus _minus_scalar _mod _mod_scalar _mul _mul_scalar _not_equal _not_equal_scalar "
        "_npi_maximum _npi_minimum _plus _plus_scalar _power _power_scalar _rdiv_scalar "
        "_rminus_scalar _rmod_scalar _rpower_scalar _sparse_broadcast_add _sparse_broadcast_div "
        "_sparse_broadcast_minus _sparse_broadcast_mul _sparse_broadcast_plus "
        "_sparse_broadcast_sub _sparse_elemwise_add _sparse_elemwise_div _sparse_elemwise_mul "
        "_sparse_elemwise_sub _sub broadcast_add broadcast_div broadcast_equal broadcast_greater "
        "broadcast_greater_equal broadcast_hypot broadcast_lesser broadcast_lesser_equal "
        "broadcast_logical_and broadcast_logical_or broadcast_logical_xor broadcast_maximum "
        "broadcast_minimum broadcast_minus broadcast_mod broadcast_mul broadcast_not_equal "
        "broadcast_plus broadcast_power broadcast_sub elemwise_add elemwise_div elemwise_mul "
        "elemwise_sub"
    ),
    "elementwise.cast": "Cast _npi_cast _npx_cast cast",
    "elementwise.constant_like": "_sparse_zeros_like ones_like zeros_like",
    "elementwise.identity": (
        "BlockGrad MakeLoss _copy _sparse_make_loss _sparse_stop_gradient identity make_loss "
        "stop_gradient"
    ),
    "elementwise.kinks": (
        "_flat_power _mod_backward_rhs _over_root _over_square _power_backward_lhs "
        "_power_backward_rhs _times_over_root"
    ),
    "elementwise.pointwise": (
        "_clip_backward _contrib_quadratic _npi_clip _npx_smooth_l1 _sparse_clip clip "
        "hard_sigmoid smooth_l1"
    ),
    "elementwise.unary": (
        "_npx_digamma _npx_erf _npx_erfinv _npx_gamma _npx_gammaln _relu_slope _softplus "
        "_sparse_abs _sparse_arccos _sparse_arccosh _sparse_arcsin _sparse_arcsinh _sparse_arctan "
        "_sparse_arctanh _sparse_cbrt _sparse_ceil _sparse_cos _sparse_cosh _sparse_degrees "
        "_sparse_exp _sparse_expm1 _sparse_fix _sparse_floor _sparse_gamma _sparse_gammaln "
        "_sparse_log _sparse_log10 _sparse_log1p _sparse_log2 _sparse_negative _sparse_radians "
        "_sparse_relu _sparse_rint _sparse_round _sparse_rsqrt _sparse_sigmoid _sparse_sign "
        "_sparse_sin _sparse_sinh _sparse_sqrt _sparse_square _sparse_tan _sparse_tanh "
        "_sparse_trunc _trigamma abs arccos arccosh arcsin arcsinh arctan arctanh cbrt ceil cos "
        "cosh degrees digamma erf erfinv exp expm1 fix floor gamma gammaln log log10 log1p log2 "
        "log_sigmoid logical_not mish negative radians rcbrt reciprocal relu rint round rsqrt "
        "sigmoid sign sin sinh softsign sqrt square tan tanh trunc"
    ),
    "fused.convolution": "_fused_convolution",
    "fused.dense": "_fused_dense",
    "fused.pointwise": "_fused_pointwise _fused_pointwise_many _fused_pointwise_random",
    "image.border": "_cvcopyMakeBorder",
    "image.color": (
        "_image_adjust_lighting _image_random_brightness _image_random_color_jitter "
        "_image_random_contrast _image_random_hue _image_random_lighting _image_random_saturation "
        "_npx__image_adjust_lighting _npx__image_random_brightness "
        "_npx__image_random_color_jitter _npx__image_random_contrast _npx__image_random_hue "
        "_npx__image_random_lighting _npx__image_random_saturation"
    ),
    "image.decoding": "_cvimdecode _cvimread _npi_cvimdecode _npi_cvimread",
    "image.geometry": (
        "_image_crop _image_flip_left_right _image_flip_top_bottom _image_random_flip_left_right "
        "_image_random_flip_top_bottom _npx__image_crop _npx__image_flip_left_right "
        "_npx__image_flip_top_bottom _npx__image_random_flip_left_right "
        "_npx__image_random_flip_top_bottom"
    ),
    "image.resize": "_cvimresize _image_resize _npi_cvimresize _npx__image_resize",
    "image.tensor": "_image_normalize _image_to_tensor _npx__image_normalize _npx__image_to_tensor",
    "indexing.gather_nd": "_backward_gather_nd _npi_gather_nd _npx_gather_nd gather_nd scatter_nd",
    "indexing.one_hot": "_npx_one_hot one_hot",
    "indexing.pick": "_add_along _npx_pick _take_along batch_take choose_element_0index pick",
    "indexing.ravel": "_ravel_multi_index _unravel_index ravel_multi_index unravel_index",
    "indexing.slice": (
        "_crop_assign _crop_assign_scalar _npi_slice _npi_slice_assign _npi_slice_assign_scalar "
        "_npx_slice _slice_assign _slice_assign_scalar _slice_put _sparse_slice crop slice "
        "slice_axis slice_like"
    ),
    "indexing.take": "_npi_take _take_add take",
    "indexing.where": "_sparse_where where",
    "linalg.cholesky": (
        "_linalg_potrf _linalg_potri _linalg_sumlogdiag _npi_cholesky linalg_potrf linalg_potri "
        "linalg_sumlogdiag"
    ),
    "linalg.cofactors": "_singular_cofactors _singular_cofactors_backward",
    "linalg.determinant": (
        "_inverse_or_zero _linalg_det _linalg_inverse _linalg_slogdet _npi_det _npi_inv "
        "_npi_slogdet linalg_det linalg_inverse linalg_slogdet"
    ),
    "linalg.diagonals": (
        "_backward_trace _linalg_extractdiag _linalg_extracttrian _linalg_makediag "
        "_linalg_maketrian _np_trace linalg_extractdiag linalg_extracttrian linalg_makediag "
        "linalg_maketrian"
    ),
    "linalg.eigen": "_linalg_syevd _npi_eig _npi_eigh _npi_eigvals _npi_eigvalsh",
    "linalg.einsum": "_backward_einsum _npi_einsum",
    "linalg.gelqf": "_linalg_gelqf linalg_gelqf",
    "linalg.gemm": "_linalg_gemm _linalg_syrk linalg_gemm linalg_syrk",
    "linalg.khatri_rao": "khatri_rao",
    "linalg.matmul": (
        "_linalg_gemm2 _npx_batch_dot _sparse_dot _wide_dot batch_dot dot linalg_gemm2"
    ),
    "linalg.matrices": "_triangle",
    "linalg.matrix_product": "_np_dot _npi_matmul _npi_tensordot _npi_tensordot_int_axes",
    "linalg.norm": "_npi_norm",
    "linalg.pinv": "_npi_pinv _npi_pinv_scalar_rcond",
    "linalg.solve": "_npi_solve _npi_tensorinv _npi_tensorsolve",
    "linalg.svd": "_npi_svd",
    "linalg.triangular": "_linalg_trmm _linalg_trsm linalg_trmm linalg_trsm",
    "nn.activation": "Activation _activation_backward _npx_activation",
    "nn.convolution": (
        "Convolution _convolution_backward_data _convolution_backward_weight "
        "_convolution_backward_weight_bias _npx_convolution"
    ),
    "nn.deconvolution": "Deconvolution _npx_deconvolution",
    "nn.dense": "FullyConnected _npx_fully_connected _sparse_FullyConnected",
    "nn.dropout": "Dropout _npx_dropout",
    "nn.embedding": "Embedding _embedding_backward _npx_embedding _sparse_Embedding",
    "nn.leaky_relu": "LeakyReLU _gelu_backward _leaky_relu_backward _npx_leaky_relu",
    "nn.log_softmax_pick": "_log_softmax_pick _log_softmax_pick_backward",
    "nn.pooling": "Pooling _npx_pooling _pooling_backward _pooling_select",
    "nn.sample_weight": "_sample_weight",
    "nn.sequence": (
        "SequenceLast SequenceMask SequenceReverse _npx_sequence_mask _sequence_put_last"
    ),
    "nn.softmax": "_npx_log_softmax _npx_softmax _softmax_backward log_softmax softmax softmin",
    "nn.upsampling": "UpSampling _upsampling_backward",
    "normalization.batch_norm": "BatchNorm _batch_norm_backward _npx_batch_norm",
    "normalization.batch_norm_apply": "_batch_norm_apply",
    "normalization.batch_norm_parts": (
        "_batch_norm_data_gradient _batch_norm_statistics _batch_norm_sums"
    ),
    "normalization.batch_norm_relu": (
        "_contrib_BatchNormWithReLU _contrib_BatchNormWithReLU_backward"
    ),
    "normalization.fold_batch_norm": "_fold_batch_norm",
    "normalization.group_norm": "GroupNorm InstanceNorm _group_norm_backward",
    "normalization.l2_normalization": "L2Normalization _l2_normalization_backward",
    "normalization.layer_norm": "LayerNorm _layer_norm_backward _npx_layer_norm",
    "normalization.lrn": "LRN _lrn_backward _lrn_window_sum",
    "numpy.axes_order": "_np_moveaxis _np_roll _np_transpose _npi_flip _npi_rot90",
    "numpy.binary": (
        "_npi_add _npi_add_scalar _npi_arctan2 _npi_arctan2_scalar _npi_copysign "
        "_npi_copysign_scalar _npi_hypot _npi_hypot_scalar _npi_ldexp _npi_ldexp_scalar "
        "_npi_maximum_scalar _npi_minimum_scalar _npi_mod _npi_mod_scalar _npi_multiply "
        "_npi_multiply_scalar _npi_power _npi_power_scalar _npi_rarctan2_scalar "
        "_npi_rcopysign_scalar _npi_rldexp_scalar _npi_rmod_scalar _npi_rpower_scalar "
        "_npi_rsubtract_scalar _npi_rtrue_divide_scalar _npi_subtract _npi_subtract_scalar "
        "_npi_true_divide _npi_true_divide_scalar"
    ),
    "numpy.broadcast_to": "_npi_broadcast_to",
    "numpy.checks": "_npi_share_memory _npx_constraint_check",
    "numpy.comparison": (
        "_npi_bitwise_and _npi_bitwise_and_scalar _npi_bitwise_or _npi_bitwise_or_scalar "
        "_npi_bitwise_xor _npi_bitwise_xor_scalar _npi_equal _npi_equal_scalar _npi_greater "
        "_npi_greater_equal _npi_greater_equal_scalar _npi_greater_scalar _npi_lcm "
        "_npi_lcm_scalar _npi_less _npi_less_equal _npi_less_equal_scalar _npi_less_scalar "
        "_npi_not_equal _npi_not_equal_scalar"
    ),
    "numpy.counting": "_npi_bincount _npi_nonzero _npi_unique _npx_nonzero",
    "numpy.creation": (
        "_npi_arange _npi_blackman _npi_diag_indices_from _npi_eye _npi_full_like _npi_hamming "
        "_npi_hanning _npi_identity _npi_indices _npi_logspace _npi_ones _npi_zeros"
    ),
    "numpy.cumulative": "_cumsum_reversed _np_cumsum cumsum",
    "numpy.delete": "_npi_delete",
    "numpy.diagonal": "_np_diag _np_diagflat _np_diagonal _npi_tril",
    "numpy.difference": "_npi_diff _npi_ediff1d",
    "numpy.insert": "_npi_insert_scalar _npi_insert_slice _npi_insert_tensor",
    "numpy.joining": (
        "_npi_column_stack _npi_concatenate _npi_dsplit _npi_dstack _npi_hsplit _npi_hstack "
        "_npi_stack _npi_vstack"
    ),
    "numpy.mask_assign": (
        "_npi_boolean_mask_assign_scalar _npi_boolean_mask_assign_tensor _sum_under_mask"
    ),
    "numpy.moments": "_npi_average _npi_std _npi_var",
    "numpy.pad": "_npi_pad",
    "numpy.percentile": "_npi_percentile",
    "numpy.polyval": "_npi_polyval",
    "numpy.positions": "_npi_argmax _npi_argmin",
    "numpy.predicates": (
        "_npi_isfinite _npi_isinf _npi_isnan _npi_isneginf _npi_isposinf _npi_logical_not"
    ),
    "numpy.rearrangement": "_np_moved _np_moved_back",
    "numpy.reduction": (
        "_np_all _np_amax _np_amin _np_any _np_max _np_min _np_prod _np_product _np_sometrue "
        "_np_sum _npi_mean"
    ),
    "numpy.repeats": "_npi_repeats _run_sums",
    "numpy.reshape": (
        "_np_atleast_1d _np_atleast_2d _np_atleast_3d _np_copy _np_reshape _np_squeeze "
        "_npi_reshape _npx_reshape"
    ),
    "numpy.rounding": "_npi_around _npi_nan_to_num",
    "numpy.unary": (
        "_npi_abs _npi_absolute _npi_arccos _npi_arccosh _npi_arcsin _npi_arcsinh _npi_arctan "
        "_npi_arctanh _npi_bitwise_not _npi_cbrt _npi_ceil _npi_cos _npi_cosh _npi_degrees "
        "_npi_exp _npi_expm1 _npi_fix _npi_floor _npi_log _npi_log10 _npi_log1p _npi_log2 "
        "_npi_negative _npi_radians _npi_reciprocal _npi_rint _npi_sign _npi_sin _npi_sinh "
        "_npi_sqrt _npi_square _npi_tan _npi_tanh _npi_trunc _npx_relu _npx_sigmoid"
    ),
    "numpy.where": "_npi_where _npi_where_lscalar _npi_where_rscalar _npi_where_scalar2",
    "outputs.ctc_loss": "CTCLoss _contrib_CTCLoss _contrib_ctc_loss ctc_loss",
    "outputs.grad_add": "_grad_add",
    "outputs.kl_sparse_reg": "IdentityAttachKLSparseReg",
    "outputs.regression_output": (
        "LinearRegressionOutput LogisticRegressionOutput MAERegressionOutput "
        "_regression_output_backward _sparse_LinearRegressionOutput "
        "_sparse_LogisticRegressionOutput _sparse_MAERegressionOutput"
    ),
    "outputs.softmax_output": (
        "Softmax SoftmaxActivation SoftmaxOutput _softmax_output_backward softmax_cross_entropy"
    ),
    "outputs.svm_output": "SVMOutput _svm_output_backward",
    "quantization.batch_norm": "_contrib_quantized_batch_norm",
    "quantization.dequantize": "_contrib_dequantize _contrib_requantize",
    "quantization.entropy": "_contrib_calibrate_entropy",
    "quantization.joining": (
        "_contrib_quantized_concat _contrib_quantized_elemwise_add _contrib_quantized_elemwise_mul"
    ),
    "quantization.layers": "_int8_convolution _int8_dense",
    "quantization.mkldnn": "_sg_mkldnn_conv _sg_mkldnn_fully_connected",
    "quantization.products": "_contrib_quantized_conv _contrib_quantized_fully_connected",
    "quantization.quantize": "_contrib_quantize _contrib_quantize_asym _contrib_quantize_v2",
    "quantization.range_preserving": (
        "_contrib_quantized_act _contrib_quantized_embedding _contrib_quantized_flatten "
        "_contrib_quantized_pooling _int8_pooling"
    ),
    "quantization.rnn": "_contrib_quantized_rnn",
    "quantization.scales": "_int8_quantize _int8_range _int8_scales _int8_weight",
    "recurrent.cell_steps": "_gru_step _gru_step_backward _lstm_step _lstm_step_backward",
    "recurrent.fused_rnn": "_fused_rnn _fused_rnn_backward",
    "recurrent.param_concat": "_npi_rnn_param_concat _rnn_param_concat",
    "recurrent.rnn": "RNN _npx_rnn _rnn_backward",
    "reductions.arg_reduction": "argmax argmax_channel argmin",
    "reductions.ordering": "_npi_argsort _npi_sort _npx_topk argsort sort topk",
    "reductions.product_gradient": "_others_times",
    "reductions.reduction": (
        "_sparse_mean _sparse_norm _sparse_sum max max_axis mean min min_axis nanprod nansum norm "
        "prod sum sum_axis"
    ),
    "sampling.bernoulli": "_npi_bernoulli",
    "sampling.choice": "_npi_choice",
    "sampling.density": (
        "_random_pdf_dirichlet _random_pdf_exponential _random_pdf_gamma "
        "_random_pdf_generalized_negative_binomial _random_pdf_negative_binomial "
        "_random_pdf_normal _random_pdf_poisson _random_pdf_uniform random_pdf_dirichlet "
        "random_pdf_exponential random_pdf_gamma random_pdf_generalized_negative_binomial "
        "random_pdf_negative_binomial random_pdf_normal random_pdf_poisson random_pdf_uniform"
    ),
    "sampling.multinomial": "_sample_multinomial sample_multinomial",
    "sampling.numpy_multinomial": "_npi_multinomial",
    "sampling.numpy_samplers": (
        "_npi_exponential _npi_gamma _npi_gumbel _npi_logistic _npi_normal _npi_normal_n "
        "_npi_pareto _npi_powerd _npi_rayleigh _npi_uniform _npi_uniform_n _npi_weibull"
    ),
    "sampling.per_element": (
        "_sample_exponential _sample_gamma _sample_generalized_negative_binomial "
        "_sample_negative_binomial _sample_normal _sample_poisson _sample_uniform "
        "sample_exponential sample_gamma sample_generalized_negative_binomial "
        "sample_negative_binomial sample_normal sample_poisson sample_uniform"
    ),
    "sampling.random": (
        "_npi_random_randint _random_exponential _random_exponential_like _random_gamma "
        "_random_gamma_like _random_generalized_negative_binomial "
        "_random_generalized_negative_binomial_like _random_negative_binomial "
        "_random_negative_binomial_like _random_normal _random_normal_like _random_poisson "
        "_random_poisson_like _random_randint _random_uniform _random_uniform_like normal "
        "random_exponential random_gamma random_generalized_negative_binomial "
        "random_negative_binomial random_normal random_poisson random_randint random_uniform "
        "uniform"
    ),
    "sampling.shuffle": "_npi_shuffle _shuffle shuffle",
    "sampling.zipfian": "_sample_unique_zipfian",
    "shape.broadcast_axis": "broadcast_axes broadcast_axis broadcast_like",
    "shape.broadcast_to": "_broadcast_exact _sum_to_shape broadcast_to",
    "shape.concat": "Concat _sparse_concat concat stack",
    "shape.pad": "Pad _unpad pad",
    "shape.reshape": (
        "Flatten Reshape _npi_expand_dims _npx_batch_flatten _npx_reshape_like _reshape_exact "
        "expand_dims flatten reshape reshape_like squeeze"
    ),
    "shape.reverse": "flip reverse",
    "shape.split": "SliceChannel _npi_split _split_v2 split",
    "shape.tile": "_np_repeat _npi_tile repeat tile",
    "shape.transpose": "SwapAxis _npi_swapaxes swapaxes transpose",
    "sparse.adagrad": "_sparse_adagrad_update",
    "sparse.cast_storage": "_sparse_cast_storage _sparse_retain _sparse_rows_to_dense cast_storage",
    "sparse.compressed": "_sparse_csr_dot _sparse_csr_sums _sparse_csr_to_dense",
    "sparse.edges": "_contrib_edge_id _contrib_getnnz",
    "sparse.embedding": "_contrib_SparseEmbedding",
    "sparse.scatter_arithmetic": "_scatter_elemwise_div _scatter_minus_scalar _scatter_plus_scalar",
    "sparse.square_sum": "_square_sum",
    "updates.ftml": "ftml_update",
    "updates.ftrl": "_sparse_ftrl_update ftrl_update",
    "updates.multi_update": (
        "_multi_adagrad_update _multi_adam_update _multi_adamw_update _multi_lamb_update "
        "_multi_mp_adagrad_update _multi_mp_adam_update _multi_mp_adamw_update "
        "_multi_mp_lamb_update _multi_mp_nag_update _multi_mp_rmsprop_update "
        "_multi_mp_rmspropalex_update _multi_nag_update _multi_rmsprop_update "
        "_multi_rmspropalex_update multi_mp_sgd_mom_update multi_mp_sgd_update "
        "multi_sgd_mom_update multi_sgd_update preloaded_multi_mp_sgd_mom_update "
        "preloaded_multi_mp_sgd_update preloaded_multi_sgd_mom_update preloaded_multi_sgd_update"
    ),
    "updates.sign": "signsgd_update signum_update",
    "updates.update": (
        "_adamw_update _mp_adamw_update _sparse_adam_update _sparse_sgd_mom_update "
        "_sparse_sgd_update adam_update lamb_update_phase1 lamb_update_phase2 "
        "mp_lamb_update_phase1 mp_lamb_update_phase2 mp_nag_mom_update mp_sgd_mom_update "
        "mp_sgd_update nag_mom_update rmsprop_update rmspropalex_update sgd_mom_update sgd_update"
    ),
    "vision.adaptive_avg_pooling": (
        "_adaptive_avg_pooling_backward _adaptive_avg_pooling_forward _contrib_AdaptiveAvgPooling2D"
    ),
    "vision.bilinear_points": "_bilinear_corners _bilinear_points _bilinear_points_backward",
    "vision.bilinear_resize": (
        "_bilinear_resize_backward _bilinear_resize_forward _contrib_BilinearResize2D"
    ),
    "vision.bilinear_sampler": (
        "BilinearSampler GridGenerator SpatialTransformer _grid_generator_base"
    ),
    "vision.correlation": "Correlation _correlation_backward",
    "vision.count_sketch": "_contrib_count_sketch _count_sketch_places",
    "vision.crop": "Crop",
    "vision.deformable_convolution": (
        "_contrib_DeformableConvolution _contrib_ModulatedDeformableConvolution _deformable_base"
    ),
    "vision.deformable_psroi": (
        "_contrib_DeformablePSROIPooling _deformable_psroi_pixels _deformable_psroi_samples"
    ),
    "vision.depth_space": "depth_to_space space_to_depth",
    "vision.image_columns": "col2im im2col",
    "vision.mask_target": "_contrib_mrcnn_mask_target",
    "vision.moments": "moments",
    "vision.points": "_gather_points _scatter_points",
    "vision.roi_align": (
        "_contrib_PSROIPooling _contrib_ROIAlign _psroi_pooling_backward _roi_align_backward"
    ),
    "vision.roi_pooling": "ROIPooling _npx_roi_pooling",
    "vision.rroi_align": "_contrib_RROIAlign",
    "vision.version1": "BatchNorm_v1 Convolution_v1 Pooling_v1",
}
