"""Operators that ONNX cannot express, in groups with the reason and the alternative."""

from collections.abc import Mapping

_GRADIENT = "only gradients have it, and files hold what a network computes for inference"
_UPDATE = "it updates weights, and files hold what a network computes for inference"
_FUSED = "only the passes that prepare a graph to run make it; export the Symbol or the block"
_MATRIX = "ONNX has no factorization or inverse of matrices; compute it outside of the network"
_SHAPE = "the shape of its output depends on values; compute it outside of the network"
_BOXES = "it picks boxes in an order that ONNX has no operator for; run it on the network's outputs"
_REGIONS = "ONNX pools no regions in this way; use contrib.ROIAlign, or run it on the outputs"
_DRAWS = "ONNX draws no random numbers of this distribution; make them an input"
_DENSITY = "ONNX has no densities of distributions; compute them on the network's outputs"
_IMAGE = "ONNX has no such change of pictures; make it before the network"
_SPARSE = "ONNX files hold dense arrays; use tostype('default')"
_CODE = "it is code of the program's own; write it in operators, or split the network there"
_SPECIAL = "ONNX has no such function; compute it outside of the network"
_SHIFT = "ONNX shifts the bits of unsigned integers only; multiply or divide by powers of 2"
_PRODUCT = "ONNX has no cumulative product in the versions written here; compute it outside of the "
_PRODUCT += "network"
_INTGEMM = "ONNX has no products of weights prepared by intgemm; use quantize_net"
_TARGET = "it makes targets for training; leave it out of the exported network"

REASONS: Mapping[str, str] = {
    **dict.fromkeys(("Custom", "_NDArray", "_Native", "_gluonish_np_function"), _CODE),
    "_cached_attention": "it writes into its inputs, which ONNX has no operator for; export the "
    "network without a cache",
    **dict.fromkeys(
        (
            *("_contrib_DeformableConvolution", "_contrib_ModulatedDeformableConvolution"),
            "_deformable_base",
        ),
        "ONNX's DeformConv fades out at the edges of pictures, where MXNet's repeats them; use "
        "Convolution",
    ),
    **dict.fromkeys(
        (
            *("_contrib_DeformablePSROIPooling", "_contrib_PSROIPooling", "_contrib_RROIAlign"),
            *("_deformable_psroi_pixels", "_deformable_psroi_samples"),
        ),
        _REGIONS,
    ),
    **dict.fromkeys(
        (
            *("_contrib_MultiProposal", "_contrib_Proposal"),
            "_contrib_bipartite_matching",
        ),
        _BOXES,
    ),
    **dict.fromkeys(
        ("_contrib_MultiBoxTarget", "_contrib_box_encode", "_contrib_mrcnn_mask_target"), _TARGET
    ),
    **dict.fromkeys(
        (
            *("_linalg_gelqf", "_linalg_inverse", "_linalg_potrf", "_linalg_potri"),
            *("_linalg_syevd", "_linalg_trsm", "_npi_cholesky", "_npi_eig", "_npi_eigh"),
            *("_npi_eigvals", "_npi_eigvalsh", "_npi_pinv", "_npi_pinv_scalar_rcond"),
            *("_npi_solve", "_npi_svd", "_npi_tensorinv", "_npi_tensorsolve", "_inverse_or_zero"),
        ),
        _MATRIX,
    ),
    **dict.fromkeys(
        (
            *("_contrib_boolean_mask", "_npi_bincount", "_npi_delete", "_npi_insert_tensor"),
            *("_npi_unique", "_npx_nonzero", "_contrib_getnnz"),
        ),
        _SHAPE,
    ),
    **dict.fromkeys(
        (
            *("_image_adjust_lighting", "_image_resize", "_cvimresize", "_cvimdecode", "_cvimread"),
            *("_image_random_brightness", "_image_random_color_jitter", "_image_random_contrast"),
            *("_image_random_flip_left_right", "_image_random_flip_top_bottom"),
            *("_image_random_hue", "_image_random_lighting", "_image_random_saturation"),
        ),
        _IMAGE,
    ),
    **dict.fromkeys(
        (
            *("_random_gamma", "_random_gamma_like", "_random_poisson", "_random_poisson_like"),
            *("_random_negative_binomial", "_random_negative_binomial_like", "_shuffle"),
            "_random_generalized_negative_binomial",
            "_random_generalized_negative_binomial_like",
            *("_sample_exponential", "_sample_gamma", "_sample_generalized_negative_binomial"),
            *("_sample_negative_binomial", "_sample_normal", "_sample_poisson", "_sample_uniform"),
            *("_sample_unique_zipfian", "_npi_choice", "_npi_multinomial", "_npi_gamma"),
            *("_draw_binomial", "_draw_gamma", "_draw_negative_binomial", "_draw_poisson"),
        ),
        _DRAWS,
    ),
    **dict.fromkeys(
        (
            *("_contrib_edge_id", "_sparse_retain", "_sparse_csr_dot", "_sparse_csr_sums"),
            *("_sparse_csr_to_dense", "_sparse_rows_to_dense"),
        ),
        _SPARSE,
    ),
    **dict.fromkeys(
        (
            *("_contrib_count_sketch", "_contrib_fft", "_contrib_ifft", "_contrib_hawkesll"),
            *("_contrib_calibrate_entropy", "_trigamma", "digamma", "_npi_lcm", "_npi_lcm_scalar"),
            *("_hawkes_events", "_count_sketch_places", "Correlation", "_npi_share_memory"),
            *("multi_lars", "_contrib_sldwin_atten_context", "_contrib_sldwin_atten_score"),
            "_contrib_sldwin_atten_mask_like",
            *("_betainc", "_betaincinv", "_gammainc", "_gammaincinv"),
            *("_npi_gcd", "_npi_gcd_scalar"),
        ),
        _SPECIAL,
    ),
    **dict.fromkeys(
        (
            *("_npi_bitwise_left_shift", "_npi_bitwise_right_shift"),
            *("_npi_bitwise_left_shift_scalar", "_npi_bitwise_right_shift_scalar"),
            *("_npi_rbitwise_left_shift_scalar", "_npi_rbitwise_right_shift_scalar"),
        ),
        _SHIFT,
    ),
    "_npi_cumprod": _PRODUCT,
    "reset_arrays": _UPDATE,
    **dict.fromkeys(
        (
            "_attention_hidden",
            *("_betainc_slopes", "_gammainc_slopes", "_gamma_sample_slope"),
            *("_add_along", "_boolean_mask_put", "_branch", "_scan", "_take_add", "_take_along"),
            *("_cumsum_reversed", "_diag_put", "_gather_points", "_scatter_points", "_slice_put"),
            *("_sequence_put_last", "_sum_to_shape", "_sum_under_mask", "_unpad", "_relu_slope"),
            *(
                "_pooling_select",
                "_np_moved",
                "_np_moved_back",
                "_sldwin_spread",
                "_lrn_window_sum",
            ),
            *("_batch_norm_data_gradient", "_batch_norm_sums", "_adaptive_avg_pooling_forward"),
            "_batch_norm_residual_sums",
            *("_bilinear_corners", "_bilinear_points", "_bilinear_resize_forward"),
            *("_grid_generator_base", "_run_sums", "_others_times", "_singular_cofactors"),
            "_grouped_outer",
            *("_over_root", "_times_over_root", "_over_square", "_mod_backward_rhs"),
            *("_power_backward_lhs", "_power_backward_rhs", "_flat_power"),
        ),
        _GRADIENT,
    ),
    **dict.fromkeys(
        (
            *("_batch_norm_apply", "_batch_norm_statistics", "_fold_batch_norm", "_gru_step"),
            *("_fused_convolution", "_fused_dense", "_fused_pointwise", "_fused_pointwise_many"),
            *(
                "_fused_pointwise_random",
                "_add_layer_norm",
                "_cast_weights",
                "_zeros_like_many",
                "_dropout_factors",
                "_dropout_keyed",
                "_fused_rnn",
                "_gated",
                "_log_softmax_pick",
                "_lstm_step",
                "_reserved_rnn",
                "_rnn_param_pack",
                "_rnn_param_unpack",
                "_wide_dot",
            ),
        ),
        _FUSED,
    ),
}
# By substrings of the name.
_FAMILIES = {
    "_backward": _GRADIENT,
    "_update": _UPDATE,
    "_random_pdf_": _DENSITY,
    "_int8_": _FUSED,  # except those of families.byte_layers
    "_sg_": _FUSED,
    "_contrib_intgemm_": _INTGEMM,
}


def reason_of(op: str) -> str | None:
    """Return why ONNX cannot express an operator, and the alternative; None for other operators.

    In messages, the text follows the operator's name.
    """
    found = (reason for word, reason in _FAMILIES.items() if word in op)
    return REASONS.get(op) or next(found, None)
