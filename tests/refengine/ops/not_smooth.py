"""Operators without derivatives to check, each with its reason: the rest of the registry is checked."""

from __future__ import annotations

_REASONS: dict[str, str] = {
    'piecewise constant: its derivative is zero wherever there is one':
        '_equal _equal_scalar _greater _greater_equal _greater_equal_scalar _greater_scalar _lesser _lesser_equal '
        '_lesser_equal_scalar _lesser_scalar _logical_and _logical_and_scalar _logical_or _logical_or_scalar '
        '_logical_xor _logical_xor_scalar _not_equal _not_equal_scalar broadcast_equal broadcast_greater '
        'broadcast_greater_equal broadcast_lesser broadcast_lesser_equal broadcast_logical_and broadcast_logical_or '
        'broadcast_logical_xor broadcast_not_equal logical_not _contrib_isfinite _contrib_isinf _contrib_isnan '
        '_contrib_allclose all_finite multi_all_finite ceil fix floor rint round sign trunc',
    'gives positions, counts or shapes: whole numbers':
        'argmax argmax_channel argmin argsort _contrib_index_array _ravel_multi_index _unravel_index shape_array '
        'size_array _contrib_bipartite_matching one_hot',
    'does not look at the values of its input': 'zeros_like ones_like _contrib_arange_like _contrib_MultiBoxPrior '
        '_length_mask _random_exponential_like _random_gamma_like _random_generalized_negative_binomial_like '
        '_random_negative_binomial_like _random_normal_like _random_poisson_like _random_uniform_like reset_arrays',
    'has no input': '_linspace _arange _eye _full _ones _zeros _random_exponential _random_gamma '
        '_random_generalized_negative_binomial _random_negative_binomial _random_normal _random_poisson '
        '_random_randint _random_uniform',
    'draws, and by rule passes nothing to the parameters of the distribution': '_sample_exponential _sample_gamma '
        '_sample_generalized_negative_binomial _sample_negative_binomial _sample_normal _sample_poisson '
        '_sample_uniform _shuffle',
    'draws whole numbers; the derivative of their log probability has a test of its own': '_sample_multinomial',
    'stops gradients by rule': 'BlockGrad',
    'selects and suppresses boxes; no derivative by rule': '_contrib_MultiBoxDetection _contrib_MultiBoxTarget '
        '_contrib_MultiProposal _contrib_Proposal _contrib_box_decode _contrib_box_encode _contrib_box_iou',
    'writes elements by position; no derivative by rule': 'fill_element_0index _slice_assign',
    'rounds to whole numbers, or calculates with such': '_contrib_calibrate_entropy _contrib_dequantize '
        '_contrib_quantize _contrib_quantize_asym _contrib_quantize_v2 _contrib_quantized_act '
        '_contrib_quantized_batch_norm _contrib_quantized_concat _contrib_quantized_conv '
        '_contrib_quantized_elemwise_add _contrib_quantized_elemwise_mul _contrib_quantized_embedding '
        '_contrib_quantized_flatten _contrib_quantized_fully_connected _contrib_quantized_pooling '
        '_contrib_quantized_rnn _contrib_requantize',
    'a step of an optimizer: it writes into its inputs, and the releases have no derivative of it': '_adamw_update '
        '_contrib_group_adagrad_update _mp_adamw_update _multi_adamw_update _multi_lamb_update _multi_mp_adamw_update '
        '_multi_mp_lamb_update adam_update ftml_update ftrl_update lamb_update_phase1 lamb_update_phase2 '
        'mp_lamb_update_phase1 mp_lamb_update_phase2 mp_nag_mom_update mp_sgd_mom_update mp_sgd_update '
        'multi_mp_sgd_mom_update multi_mp_sgd_update multi_sgd_mom_update multi_sgd_update nag_mom_update '
        'preloaded_multi_mp_sgd_mom_update preloaded_multi_mp_sgd_update preloaded_multi_sgd_mom_update '
        'preloaded_multi_sgd_update rmsprop_update rmspropalex_update sgd_mom_update sgd_update signsgd_update '
        'signum_update',
    'a number that steps of optimizers use; the releases have no derivative of it': 'multi_lars multi_sum_sq',
    'counts elements': '_histogram',
    'moves a running average in place': '_advance_running',
    'for raw arrays only: recorded gradients compute the cells again': '_rnn_backward',
    'resizes images of bytes as well; the releases have no derivative of it': '_image_resize',
    'its result is single precision, which is too coarse: its own test has the factor': '_image_to_tensor',
    'draws, and by rule its gradient is that of the identity': '_image_random_brightness _image_random_color_jitter '
        '_image_random_contrast _image_random_hue _image_random_lighting _image_random_saturation',
    'its gradient is multiplied by rule, each time that it is passed': '_contrib_gradientmultiplier',
    'by rule its gradient is that of the identity': '_contrib_round_ste _contrib_sign_ste',
    'to its gradient a penalty is added by rule, each time that it is passed': 'IdentityAttachKLSparseReg',
    'what it does, and its gradient, are code of the program': 'Custom',
    'a faster way of first gradients; where they are differentiated again, others take its place': '_rnn_backward',
    'prepares what the derivative of another operator needs: whole numbers and constants': '_ctc_lattice '
        '_softmax_output_factor',
}

NOT_SMOOTH: dict[str, str] = {name: reason for reason, names in _REASONS.items() for name in names.split()}
"""The reason of each operator."""
