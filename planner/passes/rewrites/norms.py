# Norms and softmax by their definitions.


class softmax:
    def pattern(x: "float", dim: int):
        most = either(aten.amax(x, [dim], True), aten.max.dim(x, dim, True)[0])
        e = aten.exp(x - most)
        return e / aten.sum(e, [dim], True)

    def replacement(x, dim):
        return aten._softmax(x, dim, False)


class rms_norm:
    # In 16 bits models compute in f32, and cast back behind the weight.
    def pattern(x: "float[..., D]", weight: "float[D]", eps: float):
        h = cast(x)
        y = h * aten.rsqrt(aten.mean(aten.pow(h, 2), [-1], True) + eps)
        return weight * y

    def pattern_cast_last(x: "float[..., D]", weight: "float[D]", eps: float):
        h = cast(x)
        y = h * aten.rsqrt(aten.mean(aten.pow(h, 2), [-1], True) + eps)
        return aten.to(weight * y, ...)

    def pattern_square(x: "float[..., D]", weight: "float[D]", eps: float):
        h = cast(x)
        y = h * aten.rsqrt(aten.mean(h * h, [-1], True) + eps)
        return weight * y

    def pattern_root(x: "float[..., D]", weight: "float[D]", eps: float):
        h = cast(x)
        y = h / aten.sqrt(aten.mean(aten.pow(h, 2), [-1], True) + eps)
        return weight * y

    def replacement(x, weight, eps):
        return aten.rms_norm(x, [D], weight, eps)


class rms_norm_rounded:
    # Cast back before the weight, which is one rounding more.
    def pattern(x: "float[..., D]", weight: "float[D]", eps: float):
        h = cast(x)
        y = h * aten.rsqrt(aten.mean(aten.pow(h, 2), [-1], True) + eps)
        return weight * narrow(y, x.dtype)

    def pattern_square(x: "float[..., D]", weight: "float[D]", eps: float):
        h = cast(x)
        y = h * aten.rsqrt(aten.mean(h * h, [-1], True) + eps)
        return weight * narrow(y, x.dtype)

    def pattern_root(x: "float[..., D]", weight: "float[D]", eps: float):
        h = cast(x)
        y = h / aten.sqrt(aten.mean(aten.pow(h, 2), [-1], True) + eps)
        return weight * narrow(y, x.dtype)

    def replacement(x, weight, eps):
        return weight * aten.rms_norm(x, [D], None, eps)


class layer_norm:
    # Spelled out it is the RMS norm of what is left without the mean.
    def pattern(x: "float[..., D]", weight: "float[D]", eps: float):
        return aten.rms_norm(x - aten.mean(x, [-1], True), [D], weight, eps)

    def replacement(x, weight, eps):
        return aten.layer_norm(x, [D], weight, None, eps)


class layer_norm_bias:
    def pattern(x: "float[..., D]", weight: "float[D]", bias: "float[D]", eps: float):
        return aten.layer_norm(x, [D], weight, None, eps) + bias

    def replacement(x, weight, bias, eps):
        return aten.layer_norm(x, [D], weight, bias, eps)
