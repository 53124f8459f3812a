"""The operators that each module has kernels for, written by ``python -m tests.ops.indexes``.

`gluonish.kernels.preference` has the modules in order. A test compares this table with them.
"""

MODULES: dict[str, str] = {
    "numpy.narrow_sums": "_softmax_backward log_softmax norm softmax softmin",
    "generated.dense_products": "FullyConnected _fused_dense dot",
    "generated.split_products": "FullyConnected _fused_dense dot",
    "numpy.dense": "FullyConnected _fused_dense",
    "numpy.dot": "dot",
    "generated.random_numbers": (
        "Dropout _random_normal _random_normal_like _random_uniform _random_uniform_like"
    ),
    "generated.weight_only": "weight_only_dense",
    "generated.winograd": (
        "Convolution _convolution_backward_data _convolution_backward_weight "
        "_convolution_backward_weight_bias _fused_convolution"
    ),
    "generated.first_convolution": "Convolution _fused_convolution",
    "generated.channel_windows": "Convolution _fused_convolution",
    "generated.pooling": "Pooling _pooling_backward",
    "generated.softmax_and_norms": (
        "L2Normalization LayerNorm _l2_normalization_backward _layer_norm_backward "
        "_softmax_backward log_softmax softmax"
    ),
    "generated.sums": "_sum_to_shape mean sum",
    "generated.concat_and_slice": "Concat slice_axis",
    "generated.data_movement": (
        "BlockGrad Flatten MakeLoss Pad Reshape SliceChannel SwapAxis _CrossDeviceCopy "
        "_broadcast_exact _copy _copyto _full _np_copy _np_moveaxis _np_reshape _np_squeeze "
        "_np_transpose _npi_broadcast_to _npi_column_stack _npi_concatenate _npi_dsplit "
        "_npi_dstack _npi_flip _npi_hsplit _npi_hstack _npi_ones _npi_pad _npi_rot90 _npi_stack "
        "_npi_vstack _npi_zeros _npx_reshape _ones _reshape_exact _rnn_param_concat "
        "_sample_weight _slice_assign _slice_assign_scalar _slice_put _split_v2 _unpad _zeros "
        "_zeros_without_dtype broadcast_axis broadcast_like broadcast_to depth_to_space "
        "expand_dims make_loss ones_like repeat reshape_like reverse slice slice_like "
        "space_to_depth squeeze stack tile transpose zeros_like"
    ),
    "generated.attention": "_scaled_dot_product_attention_backward scaled_dot_product_attention",
    "generated.batch_norm": "_batch_norm_data_gradient _batch_norm_statistics _batch_norm_sums",
    "generated.bilinear_points": (
        "BilinearSampler SpatialTransformer _bilinear_points _bilinear_points_backward "
        "_contrib_DeformableConvolution _contrib_ModulatedDeformableConvolution"
    ),
    "generated.box_iou": "_contrib_box_iou",
    "generated.cached_attention": "_cached_attention",
    "generated.cell_steps": "_gru_step _gru_step_backward _lstm_step _lstm_step_backward",
    "generated.csr": "_sparse_csr_dot",
    "generated.ctc": "CTCLoss",
    "generated.gathering": "Embedding _take_along batch_take gather_nd pick take",
    "generated.gated": "_gated_backward _gated_halves_backward geglu swiglu",
    "generated.layer_norm": "_layer_norm_backward",
    "generated.layer_norm_columns": "LayerNorm _layer_norm_backward",
    "generated.one_hot_and_sequences": "SequenceMask SequenceReverse _arange one_hot",
    "generated.optimizer": (
        "_multi_adagrad_update _multi_adam_update _multi_adamw_update _multi_lamb_update "
        "_multi_mp_adagrad_update _multi_mp_adam_update _multi_mp_adamw_update "
        "_multi_mp_lamb_update _multi_mp_nag_update _multi_mp_rmsprop_update "
        "_multi_mp_rmspropalex_update _multi_nag_update _multi_rmsprop_update "
        "_multi_rmspropalex_update multi_mp_sgd_mom_update multi_mp_sgd_update "
        "multi_sgd_mom_update multi_sgd_update preloaded_multi_mp_sgd_mom_update "
        "preloaded_multi_mp_sgd_update preloaded_multi_sgd_mom_update preloaded_multi_sgd_update"
    ),
    "generated.ordering": "argsort sort topk",
    "generated.pixel_colors": (
        "_image_adjust_lighting _image_random_brightness _image_random_color_jitter "
        "_image_random_contrast _image_random_hue _image_random_lighting _image_random_saturation"
    ),
    "generated.rms_norm": "_rms_norm_backward add_rms_norm rms_norm",
    "generated.roi_align": "_contrib_ROIAlign _roi_align_backward",
    "generated.roi_pooling": "ROIPooling",
    "generated.rotary": "rotary_embedding",
    "generated.scattering": "_add_along _backward_gather_nd _embedding_backward _take_add",
    "generated.box_nms": (
        "_contrib_MultiBoxDetection _contrib_MultiProposal _contrib_Proposal _contrib_box_nms"
    ),
    "generated.log_softmax_pick": "_log_softmax_pick _log_softmax_pick_backward",
    "generated.linear_cross_entropy": (
        "_cross_entropy_backward _linear_cross_entropy_backward cross_entropy linear_cross_entropy"
    ),
    "onednn.register_direct": "_convolution_backward_weight dot",
    "onednn.register_recurrent": "RNN _fused_rnn _fused_rnn_backward _rnn_backward",
    "onednn.register_arithmetic": "Concat LeakyReLU add_n mean sum",
    "onednn.register_normalization": (
        "BatchNorm LayerNorm _batch_norm_apply _batch_norm_backward _contrib_BatchNormWithReLU "
        "_contrib_BatchNormWithReLU_backward _layer_norm_backward _softmax_backward log_softmax "
        "softmax"
    ),
    "generated.few_rows": "FullyConnected _fused_dense",
    "generated.wide_products": "FullyConnected _fused_dense _wide_dot dot",
    "onednn.register_products": (
        "Convolution FullyConnected _convolution_backward_data _convolution_backward_weight "
        "_convolution_backward_weight_bias _fused_convolution _fused_dense _wide_dot batch_dot "
        "dot"
    ),
    "onednn.register_int8": "_int8_convolution _int8_dense _int8_pooling _int8_quantize",
    "onednn.register_windows": (
        "Deconvolution LRN Pooling UpSampling _lrn_backward _pooling_backward _upsampling_backward"
    ),
    "generated.plain_convolution": (
        "Convolution Deconvolution _convolution_backward_data _convolution_backward_weight "
        "_convolution_backward_weight_bias"
    ),
    "cupy.optimizer": (
        "_multi_adagrad_update _multi_adam_update _multi_adamw_update _multi_lamb_update "
        "_multi_mp_adagrad_update _multi_mp_adam_update _multi_mp_adamw_update "
        "_multi_mp_lamb_update _multi_mp_nag_update _multi_mp_rmsprop_update "
        "_multi_mp_rmspropalex_update _multi_nag_update _multi_rmsprop_update "
        "_multi_rmspropalex_update multi_mp_sgd_mom_update multi_mp_sgd_update "
        "multi_sgd_mom_update multi_sgd_update preloaded_multi_mp_sgd_mom_update "
        "preloaded_multi_mp_sgd_update preloaded_multi_sgd_mom_update preloaded_multi_sgd_update"
    ),
    "cupy.rnn_parameters": "_rnn_param_pack _rnn_param_unpack",
    "cupy.register": (
        "Convolution Deconvolution Dropout FullyConnected LeakyReLU _convolution_backward_data "
        "_convolution_backward_weight _convolution_backward_weight_bias "
        "_fully_connected_backward_weight_bias _fused_convolution _fused_dense _gelu_backward "
        "_linalg_gemm2 _npi_matmul _reserved_rnn _reserved_rnn_backward "
        "_scaled_dot_product_attention_backward batch_dot dot scaled_dot_product_attention"
    ),
    "cupy.batch_norm": (
        "BatchNorm _batch_norm_backward _batch_norm_data_gradient _batch_norm_residual_sums "
        "_batch_norm_statistics _batch_norm_sums"
    ),
    "cupy.cross_entropy": "_log_softmax_pick _log_softmax_pick_backward",
    "cupy.add_layer_norm": "_add_layer_norm _layer_norm_backward_sums",
    "cupy.all_finite": "all_finite multi_all_finite",
    "cupy.cast_weights": "_cast_weights",
    "cupy.column_sums": "_sum_to_shape sum",
    "cupy.pointwise": (
        "Cast LeakyReLU _dropout_factors _dropout_keyed _fused_pointwise _fused_pointwise_many "
        "_fused_pointwise_random _gelu_backward"
    ),
    "cupy.pooling": "Pooling _pooling_backward",
    "cupy.softmax_and_norms": (
        "LayerNorm _layer_norm_backward _softmax_backward log_softmax softmax softmin"
    ),
    "cupy.zeros": "_zeros_like_many reset_arrays",
    "cupy.data_movement": (
        "BlockGrad Concat Flatten MakeLoss Pad Reshape SliceChannel SwapAxis _CrossDeviceCopy "
        "_broadcast_exact _copy _copyto _full _np_copy _np_moveaxis _np_reshape _np_squeeze "
        "_np_transpose _npi_broadcast_to _npi_column_stack _npi_concatenate _npi_dsplit "
        "_npi_dstack _npi_flip _npi_hsplit _npi_hstack _npi_ones _npi_pad _npi_rot90 _npi_stack "
        "_npi_vstack _npi_zeros _npx_reshape _ones _reshape_exact _rnn_param_concat "
        "_sample_weight _slice_assign _slice_assign_scalar _slice_put _split_v2 _unpad _zeros "
        "_zeros_without_dtype broadcast_axis broadcast_like broadcast_to depth_to_space "
        "expand_dims make_loss ones_like repeat reshape_like reverse slice slice_axis slice_like "
        "space_to_depth squeeze stack tile transpose zeros_like"
    ),
    "cupy.gather": "Embedding gather_nd take",
    "cupy.scatter": "_backward_gather_nd _embedding_backward _scatter_set_nd _take_add scatter_nd",
    "generated.pointwise": "_fused_pointwise _fused_pointwise_many _fused_pointwise_random",
    "generated.elementwise": (
        "Activation BlockGrad Cast Dropout LeakyReLU MakeLoss _activation_backward _clip_backward "
        "_copy _div_scalar _equal _equal_scalar _flat_power _gated _gated_backward _gelu_backward "
        "_greater _greater_equal _greater_equal_scalar _greater_scalar _leaky_relu_backward "
        "_lesser _lesser_equal _lesser_equal_scalar _lesser_scalar _logical_and "
        "_logical_and_scalar _logical_or _logical_or_scalar _logical_xor _logical_xor_scalar "
        "_maximum _maximum_scalar _minimum _minimum_scalar _minus_scalar _mod_backward_rhs "
        "_mul_scalar _not_equal _not_equal_scalar _npi_add _npi_equal _npi_equal_scalar "
        "_npi_greater _npi_greater_equal _npi_greater_equal_scalar _npi_greater_scalar _npi_less "
        "_npi_less_equal _npi_less_equal_scalar _npi_less_scalar _npi_logical_not _npi_multiply "
        "_npi_not_equal _npi_not_equal_scalar _npi_subtract _npi_true_divide _npi_where "
        "_npi_where_lscalar _npi_where_rscalar _over_root _over_square _plus_scalar "
        "_power_backward_lhs _power_backward_rhs _power_scalar _rdiv_scalar _relu_slope "
        "_rminus_scalar _softplus _times_over_root abs add_n broadcast_add broadcast_axis "
        "broadcast_div broadcast_equal broadcast_greater broadcast_greater_equal broadcast_lesser "
        "broadcast_lesser_equal broadcast_like broadcast_logical_and broadcast_logical_or "
        "broadcast_logical_xor broadcast_maximum broadcast_minimum broadcast_mul "
        "broadcast_not_equal broadcast_sub broadcast_to ceil clip degrees digamma elemwise_add "
        "elemwise_div elemwise_mul elemwise_sub erf exp expm1 fix floor gammaln hard_sigmoid log "
        "log10 log1p log2 log_sigmoid logical_not make_loss max mean min mish negative ones_like "
        "radians reciprocal relu rint round rsqrt sigmoid sign smooth_l1 softsign sqrt square sum "
        "tanh trunc where zeros_like"
    ),
    "classic_forms": (
        "_np_copy _np_dot _np_max _np_min _np_moveaxis _np_reshape _np_squeeze _np_sum "
        "_np_transpose _npi_absolute _npi_add _npi_add_scalar _npi_broadcast_to _npi_ceil "
        "_npi_column_stack _npi_concatenate _npi_degrees _npi_dstack _npi_exp _npi_expm1 _npi_fix "
        "_npi_floor _npi_full_like _npi_hstack _npi_log _npi_log10 _npi_log1p _npi_log2 "
        "_npi_matmul _npi_maximum_scalar _npi_mean _npi_minimum_scalar _npi_multiply "
        "_npi_multiply_scalar _npi_negative _npi_power_scalar _npi_radians _npi_reciprocal "
        "_npi_rint _npi_rsubtract_scalar _npi_rtrue_divide_scalar _npi_sign _npi_sqrt _npi_square "
        "_npi_stack _npi_subtract _npi_subtract_scalar _npi_tanh _npi_tensordot_int_axes "
        "_npi_true_divide _npi_true_divide_scalar _npi_trunc _npi_vstack _npi_where _npx_relu "
        "_npx_reshape _npx_sigmoid"
    ),
}
