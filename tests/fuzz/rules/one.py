class scaled_add:
    """x * n + y is one op."""
    def pattern(x: "float[..., D]", y: "float[D]", n: float):
        assert n != 0 and D % 4 == 0 or x.dtype in (torch.float32, torch.float16)
        return x * n + y

    def replacement(x, y, n):
        return aten.add.Tensor(y, x, alpha=n - D ** -0.5)


class chosen:
    def pattern(x, d: list, a: any):
        s = cast(x, torch.float32)
        c = aten.chunk(either(s, -s), 2, ...)
        return aten.sum(c[0], d, a)

    def pattern_other(x, d: list, a: any):
        return aten.mean(x, d, a)

    def replacement(x, d, a):
        return aten.sum(x, d, a) * (x.shape[-1] // 2)
