# Ops that PyTorch defines by others, as its documentation says.


class logit:
    def pattern(x):
        return aten.logit(x, None)

    def pattern_special(x):
        return aten.special_logit(x, None)

    def replacement(x):
        return aten.log(x / (1 - x))


class logit_clamped:
    def pattern(x, eps: float):
        return aten.logit(x, eps)

    def pattern_special(x, eps: float):
        return aten.special_logit(x, eps)

    def replacement(x, eps):
        return aten.logit(aten.clamp(x, eps, 1 - eps), None)


class lcm:
    """Of two zeros it is 0."""
    def pattern(x, y):
        return aten.lcm(x, y)

    def replacement(x, y):
        divisor = aten.clamp_min(aten.gcd(x, y), 1)
        return aten.abs(aten.div.Tensor_mode(x, divisor, rounding_mode="trunc") * y)


class round_decimals:
    def pattern(x: "float", decimals: int):
        assert decimals >= 0
        return aten.round.decimals(x, decimals=decimals)

    def replacement(x, decimals):
        return aten.round(x * 10.0**decimals) / 10.0**decimals


class round_before_the_point:
    def pattern(x: "float", decimals: int):
        assert decimals < 0
        return aten.round.decimals(x, decimals=decimals)

    def replacement(x, decimals):
        return aten.round(x / 10.0**-decimals) * 10.0**-decimals


class fliplr:
    def pattern(x):
        return aten.fliplr(x)

    def replacement(x):
        return aten.flip(x, [1])


class flipud:
    def pattern(x):
        return aten.flipud(x)

    def replacement(x):
        return aten.flip(x, [0])


class ldexp:
    def pattern(x, y):
        return aten.ldexp.Tensor(x, y)

    def replacement(x, y):
        return x * aten.pow.Scalar(2.0, y)


class ldexp_of_narrow:
    """The power is in f32, the result in the dtype of x."""
    def pattern(x: "float", y: "int"):
        assert x.dtype in [torch.float16, torch.bfloat16]
        return aten.ldexp.Tensor(x, y)

    def replacement(x, y):
        return aten.to.dtype(x * aten.pow.Scalar(2.0, y), x.dtype)


class take:
    def pattern(x, index):
        return aten.take(x, index)

    def replacement(x, index):
        return aten.index.Tensor(aten.reshape(x, [-1]), [index])


class normal:
    def pattern(mean: float, std: float, size: list):
        return aten.normal.float_float(mean, std, size)

    def replacement(mean, std, size):
        return aten.randn(size) * std + mean


class bilinear:
    def pattern(x, y, weight):
        return aten.bilinear(x, y, weight, None)

    def replacement(x, y, weight):
        return aten.einsum("...i,kij,...j->...k", [x, weight, y])


class bilinear_bias:
    def pattern(x, y, weight, bias: "[K]"):
        return aten.bilinear(x, y, weight, bias)

    def replacement(x, y, weight, bias):
        return aten.bilinear(x, y, weight, None) + bias


# ---- distances


class cosine_similarity:
    def pattern(x, y, dim: int, eps: float):
        return aten.cosine_similarity(x, y, dim, eps)

    def replacement(x, y, dim, eps):
        nx = aten.clamp_min(aten.linalg_vector_norm(x, 2, [dim], True), eps)
        ny = aten.clamp_min(aten.linalg_vector_norm(y, 2, [dim], True), eps)
        return aten.sum.dim_IntList(x / nx * (y / ny), [dim])


class pairwise_distance:
    def pattern(x, y, p: float, eps: float, keepdim: bool):
        return aten.pairwise_distance(x, y, p, eps, keepdim)

    def replacement(x, y, p, eps, keepdim):
        return aten.linalg_vector_norm(x - y + eps, p, [-1], keepdim)


# ---- losses


class smooth_l1_loss:
    def pattern(x, y, reduction: int, beta: float):
        assert beta > 0
        return aten.smooth_l1_loss(x, y, reduction, beta)

    def replacement(x, y, reduction, beta):
        d = aten.abs(x - y)
        loss = aten.where(aten.lt(d, beta), d * d * (0.5 / beta), d - 0.5 * beta)
        return nereid.reduced(loss, reduction)


class smooth_l1_loss_of_nothing:
    def pattern(x, y, reduction: int):
        return aten.smooth_l1_loss(x, y, reduction, 0.0)

    def replacement(x, y, reduction):
        return aten.l1_loss(x, y, reduction)


class huber_loss:
    def pattern(x, y, reduction: int, delta: float):
        return aten.huber_loss(x, y, reduction, delta)

    def replacement(x, y, reduction, delta):
        d = aten.abs(x - y)
        loss = aten.where(aten.le(d, delta), d * d * 0.5, (d - 0.5 * delta) * delta)
        return nereid.reduced(loss, reduction)


class binary_cross_entropy:
    def pattern(x, y, reduction: int):
        return aten.binary_cross_entropy(x, y, None, reduction)

    def replacement(x, y, reduction):
        yes = y * aten.clamp_min(aten.log(x), -100)
        no = (1 - y) * aten.clamp_min(aten.log1p(-x), -100)
        return nereid.reduced(-(yes + no), reduction)


class binary_cross_entropy_weighted:
    def pattern(x, y, weight: "[...]", reduction: int):
        return aten.binary_cross_entropy(x, y, weight, reduction)

    def replacement(x, y, weight, reduction):
        return nereid.reduced(aten.binary_cross_entropy(x, y, None, 0) * weight, reduction)


class binary_cross_entropy_with_logits:
    def pattern(x, y, reduction: int):
        return aten.binary_cross_entropy_with_logits(x, y, None, None, reduction)

    def replacement(x, y, reduction):
        return nereid.reduced((1 - y) * x - aten.log_sigmoid(x), reduction)


class binary_cross_entropy_with_logits_positive:
    def pattern(x, y, positive: "[...]", reduction: int):
        return aten.binary_cross_entropy_with_logits(x, y, None, positive, reduction)

    def replacement(x, y, positive, reduction):
        loss = (1 - y) * x - ((positive - 1) * y + 1) * aten.log_sigmoid(x)
        return nereid.reduced(loss, reduction)


class binary_cross_entropy_with_logits_weighted:
    def pattern(x, y, weight: "[...]", positive: any, reduction: int):
        return aten.binary_cross_entropy_with_logits(x, y, weight, positive, reduction)

    def replacement(x, y, weight, positive, reduction):
        loss = aten.binary_cross_entropy_with_logits(x, y, None, positive, 0)
        return nereid.reduced(loss * weight, reduction)


class kl_div:
    def pattern(x, y, reduction: int):
        return aten.kl_div(x, y, reduction)

    def replacement(x, y, reduction):
        return nereid.reduced(aten.xlogy.Tensor(y, y) - y * x, reduction)


class kl_div_of_logs:
    def pattern(x, y, reduction: int):
        return aten.kl_div(x, y, reduction, log_target=True)

    def replacement(x, y, reduction):
        return nereid.reduced(aten.exp(y) * (y - x), reduction)


class logdet:
    def pattern(x):
        return aten.logdet(x)

    def replacement(x):
        parts = aten.linalg_slogdet(x)
        return aten.log(parts[0]) + parts[1]  # nan of -1


class pinverse:
    def pattern(x, rcond: float):
        return aten.pinverse(x, rcond)

    def replacement(x, rcond):
        return aten.linalg_pinv.atol_rtol_float(x, atol=0.0, rtol=rcond)
