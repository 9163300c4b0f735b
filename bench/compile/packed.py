"""Products with weights of few bits, for today.py: a name, and a function that gives the model and
its inputs (no gradient).  Four sets of weights, in turn, so that none is in the cache."""

import functools


def words_along_sum(x, words, zeros, scales):
    """As GPTQ has them."""
    import torch

    shift = torch.arange(0, 32, 4, dtype=torch.int32, device=x.device)
    groups, columns = scales.shape
    w = ((words.unsqueeze(1) >> shift.view(1, -1, 1)) & 15).view(groups, -1, columns)
    z = ((zeros.unsqueeze(2) >> shift) & 15).view(groups, 1, -1) + 1
    return x @ (scales.unsqueeze(1) * (w - z)).view(-1, columns)


def words_along_columns(x, words, zeros, scales):
    """As AWQ has them, whose fields are in another order."""
    import torch

    at = torch.arange(8, dtype=torch.int32, device=x.device)
    shift = (at % 2 * 4 + at // 2) * 4
    groups, columns = scales.shape
    w = ((words.unsqueeze(-1) >> shift) & 15).view(groups, -1, columns)
    z = ((zeros.unsqueeze(-1) >> shift) & 15).view(groups, 1, -1)
    return x @ ((w - z) * scales.unsqueeze(1)).view(-1, columns)


def tiles(x, packed, scales):
    import torch

    return torch.ops.aten._weight_int4pack_mm(x, packed, 128, scales)


def bytes_of_rows(x, weight, scales):
    import torch

    return torch.nn.functional.linear(x, weight.to(x.dtype)) * scales


def powers_of_two(x, packed, exponents, table):
    """As MXFP4 has them: two fields a byte, which choose from a table."""
    import torch

    w = torch.stack([table[(packed & 15).long()], table[(packed >> 4).long()]], -1)
    w = w.view(packed.shape[0], -1, 32)
    power = (exponents.to(torch.int32) - 127).unsqueeze(-1)
    return x @ torch.ldexp(w, power).view(packed.shape[0], -1).T


def weights(form, k, n, device):
    import torch

    def draw(low, high, dtype, *shape):
        return torch.randint(low, high, shape, dtype=dtype, device=device)

    def scale(*shape):
        return (torch.rand(shape, device=device) * 0.01 + 0.001).to(torch.bfloat16)

    words = functools.partial(draw, -(2**31), 2**31 - 1, torch.int32)
    if form is words_along_sum:
        return [words(k // 8, n), words(k // 128, n // 8), scale(k // 128, n)]
    if form is words_along_columns:
        return [words(k, n // 8), words(k // 128, n // 8), scale(k // 128, n)]
    if form is tiles:
        return [words(n // 8, k // 128, 32, 4), scale(k // 128, n, 2)]
    if form is bytes_of_rows:
        return [draw(-128, 128, torch.int8, n, k), scale(n)]
    table = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6], dtype=torch.bfloat16, device=device)
    return [draw(0, 256, torch.uint8, n, k // 2), draw(115, 121, torch.uint8, n, k // 32),
            torch.cat([table, -table])]


def problem(form, rows, small=False):
    import torch

    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    k, n = (256, 256) if small else (4096, 14336)
    sets = [weights(form, k, n, device) for _ in range(4)]
    each = len(sets[0])

    def model(x, *given):
        parts = [given[i : i + each] for i in range(0, len(given), each)]
        return torch.cat([form(x, *part) for part in parts])

    x = torch.randn(min(rows, 32) if small else rows, k, device=device, dtype=torch.bfloat16)
    return model, [x, *(w for part in sets for w in part)], None


FORMS = {"int4 tiles": tiles, "GPTQ": words_along_sum, "AWQ": words_along_columns,
         "int8": bytes_of_rows, "MXFP4": powers_of_two}
CASES = {f"{name}, {rows} rows": functools.partial(problem, form, rows)
         for name, form in FORMS.items() for rows in (1, 16, 256, 4096)}
