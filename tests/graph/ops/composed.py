"""Operators under other names and in other forms, gradients that other operators compute, and
writes to several tensors, against PyTorch, whose results are in composed.npz.

    composed.py      with PyTorch: computes those results anew
"""
import numpy as np

import recorded

rng = np.random.default_rng(39)


def normal(*shape, dtype=np.float32):
    return rng.normal(size=shape).astype(dtype)


ARRAYS = {
    "m": normal(3, 4), "n": normal(3, 4), "sq": normal(4, 4), "sq2": normal(4, 4),
    "v": normal(5), "x": normal(6, 4), "y": normal(6, 4), "t": normal(4, 3, 6),
    "one": np.float32(0.7), "two": np.float32(-3.5), "deep": normal(2, 3, 3),
    "deep2": normal(2, 3, 3),
    "tall": normal(7, 3), "cube": normal(3, 3, 3), "i": rng.integers(-3, 4, (3, 4)),
    "d": normal(3, 4, dtype=np.float64), "h": normal(3, 4, dtype=np.float16),
    "big": np.abs(normal(3, 4)) + 2, "unit": (rng.random((3, 4)) * 1.6 - 0.8).astype(np.float32),
    "bits": rng.integers(0, 9, (3, 4)), "few": rng.integers(0, 4, (3, 4)),
    "image": normal(2, 4, 6, 5), "w": normal(6, 4, 3, 2),
    "wt": normal(4, 6, 3, 2), "bias6": normal(6), "volume": normal(1, 2, 4, 5, 6),
    "w3": normal(3, 2, 2, 2, 3), "wt3": normal(2, 3, 2, 2, 3), "bias3": normal(3),
    "wd": normal(8, 1, 3, 3), "z": normal(2, 6, 4, 4), "wd3": normal(2, 1, 2, 2, 2),
    "line": normal(2, 3, 7), "w1": normal(4, 3, 3), "bias4": normal(4), "tbc": normal(7, 2, 3),
    "wtbc": normal(3, 3, 4), "at": rng.integers(0, 4, (6, 2)), "g62": normal(6, 2),
    "pick": rng.integers(0, 4, 3), "g63": normal(6, 3), "row": rng.integers(0, 6, 4),
    "g4": normal(4), "mask": rng.random((3, 4)) < 0.5, "g5": normal(5), "zeros": normal(3, 4),
    "pairs": normal(15), "far": np.abs(normal(15)), "theta": normal(2, 2, 3),
    "grid": normal(2, 4, 5, 2), "grid3": normal(1, 2, 3, 4, 3), "gm": normal(3, 4),
    "floats": np.array([0, -0.0, 1, -2.5, 3e-310, 5e-324, np.inf, -np.inf, np.nan, 1e300, 0.1]),
    "floats32": np.array([0, 1.5, -1e-40, 3e38, np.inf, np.nan], np.float32),
    "where": rng.random((3, 4)) < 0.4, "place": rng.integers(-3, 3, (2, 2)),
    "place2": rng.integers(-4, 4, (2, 2)), "keep": rng.random((2, 2)) < 0.5,
    "values22": normal(2, 2), "axis": np.array([2, 0, 2, 1]), "source": normal(3, 4),
    "start": np.int64(-3), "flatat": rng.integers(-12, 12, 5), "put5": normal(5),
    "wild": rng.integers(-40, 40, (2, 2)), "often": np.array([2, 0, 3, 1]),
    "often3": np.array([1, 2, 3]), "three": np.array([3]), "rows": rng.integers(0, 6, 3),
    "hole": np.zeros((0, 4), np.float32), "scalar": np.float32(2.5),
    "c": (normal(3, 4) + 1j * normal(3, 4)).astype(np.complex64),
    "signal": (normal(2, 4, 5) + 1j * normal(2, 4, 5)).astype(np.complex64),
    "real": normal(2, 4, 5), "picture": normal(1, 2, 5, 4), "flat29": normal(29),
    "inf_": np.ones(1, np.float32), "growth": np.float32(1024), "steps": np.int32(3),
    "found": np.float32(0), "inverse": np.float32(0.5), "found1": np.float32(1),
}
ARRAYS["zeros"][0, 1] = ARRAYS["zeros"][2, 3] = ARRAYS["zeros"][2, 1] = 0
# in place: (array, call of $0)
WRITES = [
    ("m", f"{name}_.{overload}($0, {args})") if args else ("m", f"{name}_.{overload}($0)")
    for name, overload, args in [
        *[(c, o, a) for c in ("eq", "ne", "lt", "le", "gt", "ge")
          for o, a in (("Scalar", "0.5"), ("Tensor", "n"))],
        ("heaviside", "default", "n"), ("xlogy", "Tensor", "big"), ("xlogy", "Scalar_Other", "2.5"),
        ("copysign", "Tensor", "n"), ("copysign", "Scalar", "-1.0"), ("sgn", "default", ""),
        ("sinc", "default", ""), ("asinh", "default", ""), ("deg2rad", "default", ""),
        ("rad2deg", "default", ""), ("i0", "default", ""), ("round", "decimals", "decimals=1"),
        ("hypot", "default", "n"), ("ldexp", "default", "few"),
        ("nextafter", "default", "n"), ("fill_diagonal", "default", "9"),
        ("index_reduce", "default", "1, axis, source, 'amax'"), ("put", "default", "flatat, put5"),
        ("digamma", "default", ""),
    ]
] + [
    ("big", "acosh_.default($0)"), ("unit", "atanh_.default($0)"), ("unit", "erfinv_.default($0)"),
    ("big", "lgamma_.default($0)"), ("unit", "logit_.default($0, 0.1)"),
    ("big", "mvlgamma_.default($0, 2)"), ("big", "polygamma_.default($0, 1)"),
    ("big", "igamma_.default($0, big)"), ("big", "igammac_.default($0, big)"),
    ("bits", "gcd_.default($0, few)"), ("bits", "lcm_.default($0, few)"),
    ("bits", "bitwise_left_shift_.Tensor($0, few)"), ("i",
    "bitwise_right_shift_.Tensor_Scalar($0, 1)"),
    ("bits", "__ilshift__.Scalar($0, 2)"), ("bits", "__irshift__.Tensor($0, few)"),
    ("bits", "eq_.Scalar($0, 2)"), ("sq", "addmm_.default($0, sq, sq2, beta=0.5)"),
    ("sq", "addbmm_.default($0, stack1, stack2)"), ("g4", "addmv_.default($0, sq, g4)"),
    ("deep", "baddbmm_.default($0, deep, deep2, alpha=2)"), ("tall",
    "fill_diagonal_.default($0, 5.0)"),
    ("tall", "fill_diagonal_.default($0, 5.0, True)"), ("cube", "fill_diagonal_.default($0, 2)"),
    ("x", "embedding_renorm_.default($0, rows, 1.0, 2.0)"), ("m",
    "scatter_.reduce($0, 1, few, n, reduce='multiply')"),
    ("m", "scatter_.value_reduce($0, 1, few, 2.0, reduce='add')"),
    ("m", "swapaxes_.default($0, 0, 1)"), ("m", "transpose_.default($0, 1, 0)"),
    ("growth", "_amp_update_scale_.default($0, steps, found, 2.0, 0.5, 4)"),
    ("c", "conj_physical_.default($0)"),
]
ARRAYS.update(stack1=normal(3, 4, 2), stack2=normal(3, 2, 4))
# of lists: the first two tensors are written
LISTS = [
    "_foreach_add_.List([$0, $1], [n, y], alpha=2)", "_foreach_add_.Scalar([$0, $1], 1.5)",
    "_foreach_mul_.ScalarList([$0, $1], [2.0, -1.0])", "_foreach_mul_.Tensor([$0, $1], one)",
    "_foreach_div_.List([$0, $1], [big, y])",
    "_foreach_addcmul_.Tensor([$0, $1], [n, y], [n, y], both)",
    "_foreach_addcdiv_.Scalar([$0, $1], [n, y], [big, y], 0.5)",
    "_foreach_maximum_.List([$0, $1], [n, y])",
    "_foreach_lerp_.Scalar([$0, $1], [n, y], 0.25)", "_foreach_sigmoid_.default([$0, $1])",
    "_foreach_zero_.default([$0, $1])", "_foreach_copy_.default([$0, $1], [n, y])",
    "_foreach_pow_.Scalar([$0, $1], 2.0)", "_foreach_clamp_max_.Scalar([$0, $1], 0.3)",
    "_amp_foreach_non_finite_check_and_unscale_.default([$0, $1], inf_, one)",
    "_fused_sgd_.default([$0, $1], [n, y], [], weight_decay=0.1, momentum=0.0, lr=0.5, "
    "dampening=0.0, "
    "nesterov=False, maximize=False, is_first_step=True)",
]
ARRAYS["both"] = normal(2)
CALLS = [
    *[f"clone.default({a}); {call}" for a, call in WRITES],
    *[f"clone.default(m); clone.default(x); {call}; alias.default(${k})"
      for call in LISTS for k in (0, 1)],
    # convolutions
    "_convolution.default(image, w, bias6, [1, 2], [1, 0], [1, 1], False, [0, 0], 1, False, False, "
    "True, True)",
    "_convolution.deprecated(image, wt, bias6, [2, 1], [0, 1], [1, 1], True, [1, 0], 1, False, "
    "False, True)",
    "_convolution_mode.default(image, w, bias6, [1, 1], 'same', [1, 2], 1)",
    "_convolution_mode.default(line, w1, None, [2], 'valid', [1], 1)",
    "slow_conv3d.default(volume, w3, [2, 2, 3], bias3, [1, 1, 1], [1, 0, 1])",
    "thnn_conv2d.default(image, w, [3, 2], bias6, [2, 2], [1, 1])",
    "_slow_conv2d_forward.default(image, w, [3, 2], bias6, [1, 1], [1, 1])",
    "slow_conv_dilated2d.default(image, w, [3, 2], bias6, [1, 1], [1, 1], [2, 2])",
    "slow_conv_dilated3d.default(volume, w3, [2, 2, 3], None, [1, 1, 1], [0, 0, 0], [2, 1, 1])",
    "slow_conv_transpose2d.default(image, wt, [3, 2], bias6, [2, 2], [1, 1], [1, 1], [1, 1])",
    "slow_conv_transpose3d.default(volume, wt3, [2, 2, 3], bias3, [1, 2, 1])",
    "conv_tbc.default(tbc, wtbc, bias4, 1)",
    # gradients
    "gather_backward.default(g62, x, 1, at, False)",
    "gather_backward.default(one, one, 0, pick0, False)",
    "index_select_backward.default(g63, [6, 4], 1, pick)",
    "value_selecting_reduction_backward.default(g4, 0, row, [6, 4], False)",
    "value_selecting_reduction_backward.default(one, 0, pick0, [], True)",
    "masked_select_backward.default(g5, m, mask5)", "trace_backward.default(one, [3, 4])",
    "cummaxmin_backward.default(n, m, few3, 0)",
    "matrix_exp_backward.default(deep, deep2)", "_pdist_backward.default(pairs, x, 2.0, far)",
    "_pdist_backward.default(pairs, x, 1.0, far)", "_pdist_backward.default(pairs, x, inf, far)",
    "infinitely_differentiable_gelu_backward.default(n, m)",
    "fake_quantize_per_tensor_affine_cachemask_backward.default(n, mask)",
    "affine_grid_generator_backward.default(grid, [2, 3, 4, 5], False)",
    "affine_grid_generator_backward.default(grid3, [1, 2, 2, 3, 4], True)",
    "hardshrink_backward.default(n, m, 0.5)", "softshrink_backward.default(n, m, 0.5)",
    "cumprod.default(zeros, 1); cumprod_backward.default(n, zeros, 1, $0)",
    "cumprod.default(zeros, 0); cumprod_backward.default(n, zeros, 0, $0)",
    # parts of floats, and bits
    "frexp.Tensor(floats) -> 0,1", "frexp.Tensor(floats32) -> 0,1", "frexp.Tensor(h) -> 0,1",
    *[f"bitwise_{name}.Scalar_Tensor(5, bits)"
      for name in ("and", "or", "xor", "left_shift", "right_shift")],
    # at indices
    "_unsafe_masked_index.default(m, keep, [place, place2], -7)",
    "_unsafe_masked_index.default(m, none22, [wild, wild], 0.5)",
    "_unsafe_masked_index_put_accumulate.default(m, keep, [place, place2], values22)",
    *[f"index_reduce.default(m, 1, axis, source, '{how}', include_self={k})"
      for how in ("prod", "mean", "amax", "amin") for k in (True, False)],
    "index_reduce.default(scalar, 0, pick1, one, 'amin')", "narrow.Tensor(m, 1, start, 2)",
    "put.default(m, flatat, put5, True)", "as_strided_copy.default(m, [2, 3], [4, 1], 1)",
    "as_strided_scatter.default(m, values22, [2, 2], [5, 2], 1)",
    "nonzero_static.default(where, size=3)",
    "nonzero_static.default(where, size=12, fill_value=-5)",
    "nonzero_static.default(hole, size=2)", "nonzero_static.default(zeros, size=20)",
    "nonzero_numpy.default(where) -> 0,1", "where.default(zeros) -> 0,1",
    "nonzero_numpy.default(scalar) -> 0",
    "repeat_interleave.Tensor(often, output_size=6)",
    "repeat_interleave.self_Tensor(m, often, 1, output_size=6)",
    "repeat_interleave.self_Tensor(m, often3, 0, output_size=6)",
    "repeat_interleave.self_Tensor(v, three, output_size=15)",
    # numbers to tensors
    "linspace.Tensor_Tensor(one, two, 7)", "linspace.Scalar_Tensor(0.5, two, 1)",
    "linspace.Tensor_Tensor(one, two, 7, dtype=torch.int64)",
    "logspace.Scalar_Tensor(0.5, two, 3, dtype=torch.int32)",
    "linspace.default(0.7, -3.5, 7, dtype=torch.int64)",
    "logspace.default(0.5, 3.7, 3, dtype=torch.int32)",
    "linspace.Tensor_Scalar(one, 3, 0)", "logspace.Tensor_Scalar(one, 2, 5)",
    "logspace.Scalar_Tensor(0, one, 4, 2.0)", "range.default(1, 4)", "range.step(0.5, 3, 0.5)",
    "kaiser_window.default(8)", "kaiser_window.periodic(7, False)",
    "kaiser_window.beta(5, True, 8.5)",
    "kaiser_window.default(1)", "_dim_arange.default(t, 2)", "_shape_as_tensor.default(t)",
    "_shape_as_tensor.default(one)",
    # Fourier transforms
    "fft_hfft2.default(signal)", "fft_hfft2.default(signal, [3, 6], [1, 0], 'ortho')",
    "fft_hfftn.default(signal, None, [0, 2], 'forward')", "fft_ihfft2.default(real)",
    "fft_ihfftn.default(real, None, None, 'forward')", "fft_ihfftn.default(real, [4], [1])",
    # resizing
    "upsample_linear1d.default(line, [10], False)", "upsample_linear1d.default(line, [4], True)",
    "upsample_linear1d.default(line, [14], False, 2.0)",
    "upsample_nearest1d.default(line, [9])", "upsample_nearest3d.default(volume, [8, 3, 7])",
    "upsample_trilinear3d.default(volume, [3, 7, 9], False)",
    "upsample_trilinear3d.default(volume, [8, 10, 9], False, 2.0, 2.0, 1.5)",
    "_upsample_nearest_exact1d.default(line, [9])",
    "_upsample_nearest_exact1d.vec(line, None, [1.7])",
    "_upsample_nearest_exact2d.default(picture, [7, 3])",
    "_upsample_nearest_exact3d.default(volume, [3, 7, 9])",
    "_upsample_nearest_exact3d.vec(volume, [5, 5, 5], None)",
    "_upsample_bilinear2d_aa.default(picture, [3, 2], False)",
    "_upsample_bilinear2d_aa.default(picture, [7, 3], True)",
    "_upsample_bicubic2d_aa.default(picture, [3, 7], False)",
    # others
    "flatten_dense_tensors.default([m, one, v])",
    "unflatten_dense_tensors.default(flat29, [m, n, v]) -> 0,1,2",
    "_pad_circular.default(line, [1, 2])", "_pad_enum.default(line, [1, 2], 0)",
    "_pad_enum.default(line, [1, 2], 1)", "_pad_enum.default(line, [1, 2], 3, 0.5)",
    "_linalg_slogdet.default(deep) -> 0,1,2,3", "_linalg_slogdet.default(sq) -> 0,1",
    "_addmm_activation.default(g4, sq, sq2)",
    "_addmm_activation.default(g4, sq, sq2, use_gelu=True)",
    "_euclidean_dist.default(x, sq)", "norm.ScalarOpt_dtype(h, 2, dtype=torch.float32)",
    "norm.ScalarOpt_dtype(m, None, dtype=torch.float64)", "_is_all_true.default(mask)",
    "_is_any_true.default(mask)", "lift_fresh.default(m)", "_conj_copy.default(c)",
    "embedding_renorm.default(x, rows, 1.0, 1.0)",
]
ARRAYS.update(pick0=np.array(0), pick1=np.array([0]),
              mask5=np.array([[True, False, True, False], [False] * 4, [True, True, False, True]]),
              few3=rng.integers(0, 3, (3, 4)), none22=np.zeros((2, 2), bool))
CALLS = list(dict.fromkeys(CALLS))
CASES = recorded.cases(__file__, CALLS)

if __name__ == "__main__":
    recorded.record(__file__, CALLS, ARRAYS)
