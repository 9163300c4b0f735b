# Gradients of pointwise ops, by their derivatives.


class gelu_backward:
    # P(X <= x) + x * the density of a normal X
    def pattern(grad, x):
        return aten.gelu_backward(grad, x)

    def replacement(grad, x):
        below = (aten.erf(x * 0.7071067811865476) + 1) * 0.5
        return grad * (below + x * aten.exp(x * x * -0.5) * 0.3989422804014327)


class gelu_tanh_backward:
    def pattern(grad, x):
        return aten.gelu_backward(grad, x, approximate="tanh")

    def replacement(grad, x):
        inner = (x + x * x * x * 0.044715) * 0.7978845608028654
        tanh = aten.tanh(inner)
        slope = (x * x * 0.134145 + 1) * 0.7978845608028654
        return grad * ((tanh + 1) * 0.5 + x * (1 - tanh * tanh) * slope * 0.5)


class elu_backward:
    def pattern(grad, alpha: float, scale: float, input_scale: float, x):
        return aten.elu_backward(grad, alpha, scale, input_scale, False, x)

    def replacement(grad, alpha, scale, input_scale, x):
        low = aten.exp(x * input_scale) * (input_scale * alpha * scale)
        return grad * aten.where(aten.le(x, 0), low, scale)


class elu_backward_of_result:
    def pattern(grad, alpha: float, scale: float, input_scale: float, y):
        return aten.elu_backward(grad, alpha, scale, input_scale, True, y)

    def replacement(grad, alpha, scale, input_scale, y):
        return grad * aten.where(aten.le(y, 0), (y + alpha * scale) * input_scale, scale)


class log_sigmoid_backward:
    def pattern(grad, x):
        return aten.log_sigmoid_backward(grad, x, ...)

    def replacement(grad, x):
        return grad * aten.sigmoid(-x)


class logit_backward:
    def pattern(grad, x):
        return aten.logit_backward(grad, x, None)

    def replacement(grad, x):
        inside = aten.logical_and(aten.ge(x, 0), aten.le(x, 1))
        return aten.where(inside, grad / (x * (1 - x)), 1e999 * 0)


class logit_backward_clamped:
    def pattern(grad, x, eps: float):
        return aten.logit_backward(grad, x, eps)

    def replacement(grad, x, eps):
        inside = aten.logical_and(aten.ge(x, eps), aten.le(x, 1 - eps))
        return aten.where(inside, grad / (x * (1 - x)), 0)


class rrelu_backward:
    def pattern(grad, x, lower: float, upper: float, is_result: bool):
        return aten.rrelu_with_noise_backward(grad, x, ..., lower, upper, False, is_result)

    def replacement(grad, x, lower, upper, is_result):
        return aten.leaky_relu_backward(grad, x, (lower + upper) / 2, is_result)


class rrelu_backward_training:
    def pattern(grad, noise, lower: float, upper: float):
        return aten.rrelu_with_noise_backward(grad, ..., noise, lower, upper, True, ...)

    def replacement(grad, noise, lower, upper):
        return grad * noise


class soft_margin_loss:
    def pattern(x, y, reduction: int):
        return aten.soft_margin_loss(x, y, reduction)

    def replacement(x, y, reduction):
        return nereid.reduced(aten.log1p(aten.exp(-x * y)), reduction)
