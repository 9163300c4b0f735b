"""Operators of training against PyTorch, whose results are in gradients.npz.

    gradients.py      with PyTorch: computes those results anew
"""
import pathlib

import numpy as np

import recorded

RESULTS = pathlib.Path(__file__).with_suffix(".npz")
rng = np.random.default_rng(5)


def normal(*shape, dtype=np.float32):
    return rng.normal(size=shape).astype(dtype)


def edges(*shape):
    """With places where activations have corners."""
    x = (rng.normal(size=shape) * 3).astype(np.float32)
    x.flat[::7] = np.resize([-3, 3, 0, 1, -1, 25, -25], x.flat[::7].shape)
    return x


ARRAYS = {
    "g": normal(6, 7), "x": edges(6, 7), "y": edges(6, 7), "g_h": normal(6, 7, dtype=np.float16),
    "x_h": normal(6, 7, dtype=np.float16), "share": rng.random((6, 7)).astype(np.float32),
    "keep": rng.random((6, 7)) < 0.7, "one": np.float32(0.7), "left": normal(6, 3),
    "even": normal(6, 6), "logs": np.log(rng.random((6, 7))).astype(np.float32),
    "classes": np.array([3, 0, 6, -100, 3, 2]), "weights": rng.random(7).astype(np.float32),
    "row_g": normal(6), "image": np.log(rng.random((2, 4, 3, 2))).astype(np.float32),
    "image_classes": rng.integers(0, 4, (2, 3, 2)), "image_g": normal(2, 3, 2),
    "image_weights": rng.random(4).astype(np.float32), "total": np.float32(2.5),
    "s_g": normal(5, 9), "s_y": normal(5, 9), "cube": normal(3, 4, 5), "cube_g": normal(3, 4, 5),
    "cube_mean": normal(3, 1, 1), "cube_rstd": rng.random((3, 1, 1)).astype(np.float32),
    "mean_h": normal(3, 1, 1, dtype=np.float16),
    "rstd_h": rng.random((3, 1, 1)).astype(np.float16), "cube_w": normal(4, 5),
    "cube_w_h": normal(4, 5, dtype=np.float16),
    "cube_h": normal(3, 4, 5, dtype=np.float16), "cube_g_h": normal(3, 4, 5, dtype=np.float16),
    "group_mean": normal(3, 2), "group_rstd": rng.random((3, 2)).astype(np.float32),
    "channel_mean": normal(4), "channel_var": rng.random(4).astype(np.float32),
    "channel_w": normal(4), "channel_b": normal(4),
}
ARRAYS["buffer"] = np.exp(-np.abs(ARRAYS["x"]))

# Convolutions: sizes of the input and the weight, then stride, padding, dilation, is it
# transposed?, output padding, groups.
CONVOLUTIONS = [
    ([2, 3, 8], [4, 3, 3], "[2], [1], [1], False, [0], 1"),
    ([2, 4, 7, 6], [6, 4, 3, 3], "[1, 1], [1, 1], [1, 1], False, [0, 0], 1"),
    ([2, 4, 7, 6], [6, 2, 3, 2], "[2, 1], [1, 0], [1, 2], False, [0, 0], 2"),
    ([2, 4, 7, 6], [4, 1, 3, 3], "[2, 2], [1, 1], [1, 1], False, [0, 0], 4"),
    ([2, 4, 7, 6], [8, 1, 3, 3], "[1, 1], [2, 2], [2, 2], False, [0, 0], 4"),
    ([2, 4, 7, 6], [5, 4, 1, 1], "[2, 2], [0, 0], [1, 1], False, [0, 0], 1"),
    ([2, 4, 4, 5], [4, 3, 3, 3], "[2, 2], [1, 1], [1, 1], True, [1, 0], 1"),
    ([2, 4, 4, 5], [4, 3, 3, 3], "[1, 2], [0, 1], [2, 1], True, [0, 1], 2"),
    ([1, 2, 4, 5, 4], [3, 2, 2, 3, 2], "[1, 2, 2], [0, 1, 1], [1, 1, 1], False, [0, 0, 0], 1"),
    ([1, 2, 3, 3, 3], [2, 3, 2, 2, 2], "[1, 2, 2], [0, 1, 0], [1, 1, 1], True, [0, 0, 0], 1"),
]
POOLS = [  # kernel, stride, padding, of an image of 9 by 10
    ([3, 3], [2, 2], [1, 1]), ([2, 2], [2, 2], [0, 0]), ([2, 3], [3, 4], [0, 1]),
    ([5, 5], [1, 1], [2, 2]), ([4, 3], [1, 2], [2, 0]), ([9, 10], [9, 10], [0, 0]),
]


def size_after(size, weight, text):
    """Of a convolution's result."""
    stride, padding, dilation, transposed, more, groups = eval(f"({text})")
    if transposed:
        return [size[0], weight[1] * groups] + [
            (n - 1) * s - 2 * p + d * (k - 1) + o + 1 for n, k, s, p, d, o in
            zip(size[2:], weight[2:], stride, padding, dilation, more)]
    return [size[0], weight[0]] + [(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in
                                   zip(size[2:], weight[2:], stride, padding, dilation)]


def convolutions():
    for i, (size, weight, rest) in enumerate(CONVOLUTIONS):
        at = chr(ord("a") + i)
        ARRAYS[f"conv_{at}"], ARRAYS[f"conv_w_{at}"] = normal(*size), normal(*weight)
        ARRAYS[f"conv_g_{at}"] = normal(*size_after(size, weight, rest))
        yield (f"convolution_backward.default(conv_g_{at}, conv_{at}, conv_w_{at}, "
               f"[{ARRAYS[f'conv_g_{at}'].shape[1]}], {rest}, [True, True, True]) -> 0,1,2")


def pools():
    ARRAYS["picture"] = normal(2, 3, 9, 10)
    ARRAYS["volume"] = normal(2, 3, 4, 5, 6)
    for i, (kernel, stride, padding) in enumerate(POOLS):
        for ceil in False, True:
            at = f"{chr(ord('a') + i)}{'c' * ceil}"
            count = []
            for n, k, s, p in zip((9, 10), kernel, stride, padding):
                windows = -(-(n + 2 * p - k) // s) + 1 if ceil else (n + 2 * p - k) // s + 1
                count.append(windows - (ceil and (windows - 1) * s >= n + p))
            ARRAYS[f"pool_g_{at}"] = normal(2, 3, *count)
            for padded, divisor in (True, None), (False, None), (True, 7):
                yield (f"avg_pool2d_backward.default(pool_g_{at}, picture, {kernel}, {stride}, "
                       f"{padding}, {ceil}, {padded}, {divisor})")
            ARRAYS[f"pool_at_{at}"] = maxima(ARRAYS["picture"], kernel, stride, padding, count)
            yield (f"max_pool2d_with_indices_backward.default(pool_g_{at}, picture, {kernel}, "
                   f"{stride}, {padding}, [1, 1], {ceil}, pool_at_{at})")
    for n, out in (2, (3, 4)), (2, (1, 1)), (2, (3, 5)), (3, (2, 5, 4)), (3, (1, 1, 1)):
        name = "adaptive_" + "".join(map(lambda k: chr(ord("a") + k), out))
        of = "picture" if n == 2 else "volume"
        ARRAYS[f"{name}_g"] = normal(2, 3, *out)
        ARRAYS[f"{name}_at"] = rng.integers(0, ARRAYS[of][0, 0].size, (2, 3, *out))
        yield f"_adaptive_avg_pool{n}d_backward.default({name}_g, {of})"
        yield f"adaptive_max_pool{n}d_backward.default({name}_g, {of}, {name}_at)"
    ARRAYS["volume_g"] = normal(2, 3, 2, 3, 3)
    yield ("avg_pool3d_backward.default(volume_g, volume, [2, 3, 2], [2, 2, 2], [0, 1, 0], False, "
           "False, None)")


def maxima(x, kernel, stride, padding, count):
    """The number in its plane of the largest element of each window."""
    found = np.zeros((*x.shape[:2], *count), np.int64)
    for at in np.ndindex(*found.shape):
        lo = [max(i * s - p, 0) for i, s, p in zip(at[2:], stride, padding)]
        hi = [i * s - p + k for i, s, p, k in zip(at[2:], stride, padding, kernel)]
        window = x[at[0], at[1], lo[0]:hi[0], lo[1]:hi[1]]
        row, column = np.unravel_index(window.argmax(), window.shape)
        found[at] = (lo[0] + row) * x.shape[3] + lo[1] + column
    return found


PAIRS = {"p": "[p_a, p_b]", "q": "[q_a, q_b]", "m": "[m_a, m_b]", "v": "[v_a, v_b]",
         "most": "[most_a, most_b]", "steps": "[step_a, step_b]"}


def pairs():
    for name in "p", "q", "m":
        ARRAYS[f"{name}_a"], ARRAYS[f"{name}_b"] = normal(4, 5), normal(7)
    for name in "v", "most":
        ARRAYS[f"{name}_a"], ARRAYS[f"{name}_b"] = abs(normal(4, 5)), abs(normal(7))
    ARRAYS.update(step_a=np.float32(3), step_b=np.float32(5), grad_scale=np.float32(2),
                  found=np.ones(1, np.float32), lost=np.zeros(1, np.float32),
                  rate=np.float32(0.02), scale=np.full(1, 64, np.float32), scale_too=normal(2),
                  tracker=np.full(1, 4, np.int32), fresh=np.zeros(1, np.int32))


def lists():
    """Operators of lists, and their two results."""
    pairs()
    for name in ("abs", "ceil", "cos", "exp", "expm1", "erf", "neg", "reciprocal", "sigmoid",
                 "sign", "tanh", "zero", "max", "floor", "round", "trunc", "sin", "frac"):
        yield f"_foreach_{name}.default({PAIRS['q']}) -> 0,1"
    for name in "sqrt", "rsqrt", "log", "log1p", "log2", "log10", "lgamma":
        yield f"_foreach_{name}.default({PAIRS['v']}) -> 0,1"
    for name in "add", "sub", "mul", "div", "maximum", "minimum", "clamp_min", "clamp_max":
        yield f"_foreach_{name}.List({PAIRS['p']}, {PAIRS['q']}) -> 0,1"
        yield f"_foreach_{name}.Scalar({PAIRS['p']}, 0.5) -> 0,1"
        yield f"_foreach_{name}.ScalarList({PAIRS['p']}, [0.5, 2.0]) -> 0,1"
    both = f"{PAIRS['p']}, {PAIRS['q']}"
    yield from (f"_foreach_{call} -> 0,1" for call in (
        f"add.List({both}, alpha=-0.1)", f"sub.List({both}, alpha=2)", f"copy.default({both})",
        f"mul.Tensor({PAIRS['p']}, rate)", f"div.Tensor({PAIRS['p']}, rate)",
        f"add.Tensor({PAIRS['p']}, rate, alpha=3)", f"pow.List({PAIRS['v']}, {PAIRS['q']})",
        f"pow.Scalar({PAIRS['v']}, 1.5)", f"pow.ScalarList({PAIRS['v']}, [0.5, 2.0])",
        f"pow.ScalarAndTensor(0.9, {PAIRS['steps']})", f"norm.Scalar({PAIRS['p']}, 2)",
        f"norm.Scalar({PAIRS['p']}, 1)", f"norm.Scalar({PAIRS['p']}, 2, torch.float64)",
        f"lerp.Scalar({both}, 0.3)", f"lerp.ScalarList({both}, [0.3, 0.7])",
        f"lerp.List({both}, {PAIRS['v']})"))
    for name in "addcmul", "addcdiv":
        yield f"_foreach_{name}.Scalar({both}, {PAIRS['v']}, -0.5) -> 0,1"
        yield f"_foreach_{name}.ScalarList({both}, {PAIRS['v']}, [-0.5, 2.0]) -> 0,1"
        yield f"_foreach_{name}.Tensor({both}, {PAIRS['v']}, scale_too) -> 0,1"


def optimizers():
    """Results in lists: the item of an item."""
    scales = ("", ", grad_scale=grad_scale, found_inf=lost",
              ", grad_scale=grad_scale, found_inf=found")
    first = f"{PAIRS['p']}, {PAIRS['q']}, {PAIRS['m']}"
    for name in "adam", "adamw":
        for i, scaled in enumerate(scales):
            for amsgrad, maximize in ((False, i == 1), (True, False)):
                most = PAIRS["most"] if amsgrad else "[]"
                yield (f"_fused_{name}.default({first}, {PAIRS['v']}, {most}, {PAIRS['steps']}, "
                       f"lr=0.01, beta1=0.9, beta2=0.99, weight_decay=0.1, eps=1e-08, "
                       f"amsgrad={amsgrad}, maximize={maximize}{scaled}) -> " +
                       ",".join(f"{k}.{j}" for k in range(4 + amsgrad) for j in (0, 1)))
    yield (f"_fused_adamw.tensor_lr({first}, {PAIRS['v']}, [], {PAIRS['steps']}, lr=rate, "
           "beta1=0.9, beta2=0.99, weight_decay=0.1, eps=1e-08, amsgrad=False, maximize=False) "
           "-> 0.0,0.1,2.0,3.1")
    for momentum, nesterov, start in ((0.0, False, False), (0.9, False, False),
                                      (0.9, True, False), (0.9, True, True)):
        buffers = PAIRS["m"] if momentum else "[]"
        yield (f"_fused_sgd.default({PAIRS['p']}, {PAIRS['q']}, {buffers}, weight_decay=0.1, "
               f"momentum={momentum}, lr=0.01, dampening={0.0 if nesterov else 0.2}, "
               f"nesterov={nesterov}, maximize=False, is_first_step={start}) -> 0.0,0.1" +
               (",2.0,2.1" if momentum else ""))
    yield (f"_fused_adagrad.default({PAIRS['p']}, {PAIRS['q']}, {PAIRS['v']}, {PAIRS['steps']}, "
           "lr=0.1, lr_decay=0.01, weight_decay=0.1, eps=1e-08, maximize=False) "
           "-> 0.0,0.1,2.0,2.1,3.0")
    yield (f"_fused_adagrad.tensor_lr({PAIRS['p']}, {PAIRS['q']}, {PAIRS['v']}, {PAIRS['steps']}, "
           "lr=rate, lr_decay=0.01, weight_decay=0.1, eps=1e-08, maximize=False) -> 0.0,0.1,2.1")
    yield (f"_amp_foreach_non_finite_check_and_unscale.default({PAIRS['p']}, lost, rate) "
           "-> 0.0,0.1,1")
    ARRAYS["broken"] = np.array([1, np.inf, np.nan, 2], np.float32)
    yield ("_amp_foreach_non_finite_check_and_unscale.default([p_a, broken], lost, rate) "
           "-> 0.0,0.1,1")
    for found in "lost", "found":
        for tracker in "tracker", "fresh":
            yield (f"_amp_update_scale.default(scale, {tracker}, {found}, 2.0, 0.5, 5) -> 0,1")


def tables():
    ARRAYS["tokens"] = rng.integers(0, 90, (7, 20))
    ARRAYS["tokens"][2] = 17  # many of one
    ARRAYS["tokens_g"], ARRAYS["tokens_g_h"] = normal(7, 20, 18), normal(7, 20, 18,
                                                                        dtype=np.float16)
    ARRAYS["kinds"], ARRAYS["rows_18"] = rng.integers(0, 5, (7, 20)), normal(90, 18)
    for grad, index, rows in (("tokens_g", "tokens", 90), ("tokens_g", "kinds", 5)):
        for padding, often in ((-1, False), (3, False), (17, True)):
            yield (f"embedding_dense_backward.default({grad}, {index}, {rows}, {padding}, "
                   f"{often})")
    yield "embedding_dense_backward.default(tokens_g_h, tokens, 90, -1, False)"
    yield "embedding_dense_backward.default(tokens_g, tokens, 700, 3, False)"  # most rows have none
    yield "index_put.default(rows_18, [tokens], tokens_g, True)"
    ARRAYS["bag_tokens"], ARRAYS["offsets"] = rng.integers(0, 9, 12), np.array([0, 3, 3, 8])
    ARRAYS["bag_rows"], ARRAYS["bag_g"] = normal(9, 5), normal(4, 5)
    ARRAYS["bag_weights"] = normal(12)
    ARRAYS["none_64"] = np.zeros(0, np.int64)
    ARRAYS["bag_of"] = np.searchsorted(ARRAYS["offsets"], np.arange(12), "right") - 1
    for padding in -1, 2:
        counts = np.bincount(ARRAYS["bag_of"][ARRAYS["bag_tokens"] != padding], minlength=4)
        size = ARRAYS[f"bag_size_{'all' if padding < 0 else 'some'}"] = counts
        name = "bag_size_all" if padding < 0 else "bag_size_some"
        largest = np.zeros((4, 5), np.int64)
        for bag in range(4):
            inside = [t for t, at in zip(ARRAYS["bag_tokens"], ARRAYS["bag_of"])
                      if at == bag and t != padding]
            if inside:
                largest[bag] = np.array(inside)[ARRAYS["bag_rows"][inside].argmax(0)]
        ARRAYS[f"{name}_top"] = largest
        assert len(size) == 4
        for mode in range(3):
            for weights in ("None", "bag_weights") if mode == 0 else ("None",):
                top = f"{name}_top" if mode == 2 else "none_64"
                yield (f"_embedding_bag_backward.default(bag_g, bag_tokens, offsets, bag_of, "
                       f"{name}, {top}, 9, False, {mode}, False, {weights}, {padding})")
        yield ("_embedding_bag_per_sample_weights_backward.default(bag_g, bag_rows, bag_tokens, "
               f"offsets, bag_of, 0, {padding})")
    yield "_embedding_bag.default(bag_rows, bag_tokens, offsets) -> 0"
    yield "_embedding_bag_forward_only.default(bag_rows, bag_tokens, offsets, False, 1) -> 0"


def parts():
    ARRAYS.update(part_g=normal(3, 5), wide_g=normal(3, 2, 5), mask=rng.random((6, 7)) < 0.5,
                  near=normal(2, 4, 5), far=normal(2, 3, 5), pair_g=normal(2, 4, 3),
                  lengths=abs(normal(4, 1)) + 1, line=normal(2, 6), line_g=normal(2, 9),
                  plane=normal(2, 5, 6), plane_g=normal(2, 8, 10))
    yield "select_backward.default(part_g, [3, 4, 5], 1, -2)"
    yield "slice_backward.default(wide_g, [3, 6, 5], 1, 1, 5, 2)"
    yield "slice_backward.default(wide_g, [3, 4, 5], 1, -2, 9223372036854775807, 1)"
    yield "diagonal_backward.default(part_g, [5, 3, 6], 1, 0, 2)"
    yield "masked_scatter_backward.default(g, mask, [50])"
    for kind in "reflection", "replication":
        yield f"{kind}_pad1d_backward.default(line_g, line, [2, 1])"
        yield f"{kind}_pad2d_backward.default(plane_g, plane, [3, 1, 0, 3])"
    # What a negative padding cuts off has no gradient.
    ARRAYS["cut_g"], ARRAYS["cut_plane_g"] = ARRAYS["line_g"][:, :5], ARRAYS["plane_g"][:, :6, :3]
    for kind in "reflection", "replication":
        yield f"{kind}_pad1d_backward.default(cut_g, line, [-2, 1])"
        yield f"{kind}_pad2d_backward.default(cut_plane_g, plane, [-1, -2, 2, -1])"
    for p in 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, np.inf:
        gaps = np.abs(ARRAYS["near"][:, :, None] - ARRAYS["far"][:, None]).astype(np.float64)
        name = f"dist_{'abcdefg'[int(2 * min(p, 3.5)) % 7]}"
        ARRAYS[name] = ((gaps.max(-1) if np.isinf(p) else (gaps != 0).sum(-1) if p == 0 else
                         (gaps**p).sum(-1)**(1 / p))).astype(np.float32)
        order = "float('inf')" if np.isinf(p) else p
        if not np.isinf(p):
            yield f"_cdist_backward.default(pair_g, near, far, {order}, {name})"
    yield "_weight_norm_interface.default(even, steep) -> 0,1"
    ARRAYS["steep"] = abs(normal(6, 1))
    ARRAYS["norms"] = np.linalg.norm(ARRAYS["even"], axis=1, keepdims=True)
    ARRAYS["even_g"] = normal(6, 6)
    yield "_weight_norm_interface_backward.default(even_g, even, steep, norms, 0) -> 0,1"
    yield "unsafe_split.Tensor(x, 4, 0) -> 0,1"
    yield "unsafe_split_with_sizes.default(x, [2, 5], 1) -> 0,1"


CALLS = [
    *[f"{name}_backward.default(g, {x})" for name, x in (
        ("sigmoid", "share"), ("tanh", "share"), ("hardsigmoid", "x"), ("hardswish", "x"),
        ("silu", "x"), ("mish", "x"), ("gelu", "x"), ("logit", "share"),
        ("native_dropout", "keep, 1.25"), ("hardtanh", "x, -1.0, 3.0"), ("threshold", "x, 0"),
        ("threshold", "x, 0.5"), ("leaky_relu", "x, 0.2, False"), ("softplus", "x, 2.0, 10.0"),
        ("log_sigmoid", "x, buffer"))],
    "sigmoid_backward.default(s_g, s_y)",
    "gelu_backward.default(g, x, approximate='tanh')",
    "gelu_backward.default(g_h, x_h)",
    "silu_backward.default(g_h, x_h)",
    "logit_backward.default(g, x)",
    "logit_backward.default(g, share, 0.25)",
    "elu_backward.default(g, 1.5, 2.0, 0.5, False, x)",
    "elu_backward.default(g, 1.5, 2.0, 0.5, True, x)",
    "glu_backward.default(left, even, 1)",
    "glu_backward.default(left, even, -1)",
    "_prelu_kernel.default(x, y)",
    "_prelu_kernel_backward.default(g, x, y) -> 0,1",
    "log_sigmoid_forward.default(x) -> 0",
    "rrelu_with_noise_backward.default(g, x, share, 0.1, 0.3, False, False)",
    "rrelu_with_noise_backward.default(g, x, share, 0.1, 0.3, True, False)",
    "_softmax_backward_data.default(g, share, 1, torch.float32)",
    "_softmax_backward_data.default(g, share, 0, torch.float32)",
    "_log_softmax_backward_data.default(g, logs, -1, torch.float32)",
    "_log_softmax_backward_data.default(s_g, s_y, 0, torch.float32)",
    *[f"{loss}_backward.default({grad}, x, y, {how}{more})" for grad, how in
      (("g", 0), ("one", 1), ("one", 2)) for loss, more in
      (("mse_loss", ""), ("huber_loss", ", 0.5"), ("smooth_l1_loss", ", 0.7"),
       ("smooth_l1_loss", ", 0.0"), ("soft_margin_loss", ""))],
    *[f"binary_cross_entropy_backward.default({grad}, share, y, {weight}, {how})"
      for grad, how in (("g", 0), ("one", 1), ("one", 2)) for weight in ("None", "x")],
    *[f"soft_margin_loss.default(x, y, {how})" for how in range(3)],
    *[f"nll_loss_forward.default(logs, classes, {weight}, {how}, -100) -> 0,1"
      for how in range(3) for weight in ("None", "weights")],
    *[f"nll_loss_backward.default({grad}, logs, classes, {weight}, {how}, -100, total)"
      for grad, how in (("row_g", 0), ("one", 1), ("one", 2)) for weight in ("None", "weights")],
    *[f"nll_loss2d_forward.default(image, image_classes, {weight}, {how}, 2) -> 0,1"
      for how in range(3) for weight in ("None", "image_weights")],
    *[f"nll_loss2d_backward.default({grad}, image, image_classes, {weight}, {how}, 2, total)"
      for grad, how in (("image_g", 0), ("one", 1), ("one", 2))
      for weight in ("None", "image_weights")],
    *[f"native_layer_norm_backward.default(cube_g, cube, [4, 5], cube_mean, cube_rstd, {weights}) "
      f"-> {wanted}" for weights, wanted in (
          ("cube_w, cube_w, [True, True, True]", "0,1,2"), ("None, None, [True, False, False]", 0),
          ("cube_w, None, [True, True, False]", "0,1"))],
    "native_layer_norm_backward.default(cube_g_h, cube_h, [4, 5], mean_h, rstd_h, cube_w_h, "
    "cube_w_h, [True, True, True]) -> 0,1,2",
    "native_group_norm_backward.default(cube_g, cube, group_mean, group_rstd, channel_w, 3, 4, 5, "
    "2, [True, True, True]) -> 0,1,2",
    "native_group_norm_backward.default(cube_g, cube, group_mean, group_rstd, None, 3, 4, 5, 2, "
    "[True, False, False]) -> 0",
    *[f"native_batch_norm_backward.default(cube_g, cube, {weight}, channel_mean, channel_var, "
      f"channel_b, channel_var, {train}, 0.001, [True, True, True]) -> 0,1,2"
      for weight in ("channel_w", "None") for train in (True, False)],
    *[f"_native_batch_norm_legit_functional.default(cube, {weight}, channel_mean, channel_var, "
      f"{train}, 0.1, 0.001) -> {wanted}" for weight in ("channel_w, channel_b", "None, None")
      for train, wanted in ((True, "0,1,2,3,4"), (False, "0,3,4"))],
    "_batch_norm_with_update_functional.default(cube, channel_w, channel_b, channel_mean, "
    "channel_var, 0.1, 0.001) -> 0,1,2,4,5",
    "_batch_norm_no_update.default(cube, channel_w, channel_b, channel_mean, channel_var, 0.1, "
    "0.001) -> 0",
    *convolutions(), *pools(), *lists(), *optimizers(), *tables(), *parts(),
]


def stored(call):
    def results(*_):
        file = recorded.stored(RESULTS)
        return tuple(file[f"{call}#{i}"]
                     for i in range(1 + call.partition(" -> ")[2].count(",")))
    return results


CASES = [(call, stored(call)) for call in CALLS]


def part(value, path):
    for i in path.split("."):
        value = value[int(i)]
    return value


def main():
    import torch

    arrays = {name: torch.from_numpy(np.array(a)) for name, a in ARRAYS.items()}
    found = {}
    for call in CALLS:
        text, _, items = call.partition(" -> ")
        text = text if text.startswith("prims.") else f"aten.{text}"
        value = eval(f"torch.ops.{text}", {"torch": torch, **arrays})
        values = [part(value, i) for i in items.split(",")] if items else [value]
        for i, v in enumerate(values):
            found[f"{call}#{i}"] = v.numpy()
    np.savez_compressed(RESULTS, **found)


if __name__ == "__main__":
    main()
