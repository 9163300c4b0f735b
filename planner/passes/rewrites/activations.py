# Activations by their definitions.


class gelu:
    # x * P(X <= x) of a normal X
    def pattern(x: "float"):
        return x * 0.5 * (aten.erf(x * 0.7071067811865476) + 1)

    def pattern_half_last(x: "float"):
        return x * (aten.erf(x * 0.7071067811865476) + 1) * 0.5

    def pattern_half_of_sum(x: "float"):
        return x * ((aten.erf(x * 0.7071067811865476) + 1) * 0.5)

    def pattern_divided(x: "float"):
        return x * 0.5 * (aten.erf(x / 1.4142135623730951) + 1)

    def pattern_divided_half_last(x: "float"):
        return x * (aten.erf(x / 1.4142135623730951) + 1) * 0.5

    def pattern_divided_half_of_sum(x: "float"):
        return x * ((aten.erf(x / 1.4142135623730951) + 1) * 0.5)

    def replacement(x):
        return aten.gelu(x)


class gelu_tanh:
    def pattern(x: "float"):
        inner = (x + aten.pow(x, 3) * 0.044715) * 0.7978845608028654
        return x * 0.5 * (aten.tanh(inner) + 1)

    def pattern_half_last(x: "float"):
        inner = (x + aten.pow(x, 3) * 0.044715) * 0.7978845608028654
        return x * (aten.tanh(inner) + 1) * 0.5

    def pattern_products(x: "float"):
        inner = (x + x * x * x * 0.044715) * 0.7978845608028654
        return x * 0.5 * (aten.tanh(inner) + 1)

    def pattern_factored(x: "float"):
        inner = x * 0.7978845608028654 * (x * 0.044715 * x + 1)
        return x * 0.5 * (aten.tanh(inner) + 1)

    def replacement(x):
        return aten.gelu(x, approximate="tanh")


class silu:
    def pattern(x: "float"):
        return x * aten.sigmoid(x)

    def pattern_exp(x: "float"):
        return x / (aten.exp(-x) + 1)

    def replacement(x):
        return aten.silu(x)


class sigmoid:
    def pattern(x: "float"):
        return aten.reciprocal(aten.exp(-x) + 1)

    def replacement(x):
        return aten.sigmoid(x)
