"""Linear layers in 8-bit floats as today's libraries write them, for today.py: a name, and a
function that gives the model, its inputs and the gradient of its result (None: forward alone)."""

import functools

LEAST = 1e-12  # of a largest number


def torch_of():
    import torch

    return torch


def scale_of(x, dtype, dim, rounds):
    """The scale by which x fits the dtype: of the whole (dim None), or of each row or column."""
    torch = torch_of()
    largest = x.abs().max() if dim is None else torch.amax(x.abs(), dim=dim, keepdim=True)
    scale = torch.finfo(dtype).max / torch.clamp(largest.to(torch.float64), min=LEAST)
    scale = scale.to(torch.float32)
    return torch.exp2(torch.floor(torch.log2(scale))) if rounds else scale


def cast(x, dtype, dim=None, rounds=False):
    """x as 8-bit floats, and what they are to be multiplied by."""
    torch = torch_of()
    scale = scale_of(x, dtype, dim, rounds)
    most = torch.finfo(dtype).max
    return (x.to(torch.float32) * scale).clamp(-most, most).to(dtype), scale.reciprocal()


def product(x, y, dtypes, by_rows, fast):
    """x @ y in 8-bit floats: the first contiguous by rows, the second by columns."""
    torch = torch_of()
    a, a_scale = cast(x, dtypes[0], -1 if by_rows else None, by_rows)
    b, b_scale = cast(y, dtypes[1], 0 if by_rows else None, by_rows)
    return torch._scaled_mm(a.contiguous(), b.t().contiguous().t(), a_scale, b_scale,
                            out_dtype=torch.bfloat16, use_fast_accum=fast)


@functools.cache
def linear_function():
    """A linear layer whose three products are in 8-bit floats, as float8 training has it: scales of
    tensors with gradients in e5m2, or of rows with e4m3 throughout."""
    torch = torch_of()
    small, wide = torch.float8_e4m3fn, torch.float8_e5m2

    class Linear(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, weight, by_rows):
            ctx.save_for_backward(x, weight)
            ctx.by_rows = by_rows
            return product(x, weight.t(), (small, small), by_rows, True)

        @staticmethod
        def backward(ctx, grad):
            x, weight = ctx.saved_tensors
            of_grad = small if ctx.by_rows else wide
            grad_x = product(grad, weight, (of_grad, small), ctx.by_rows, False)
            grad_weight = product(grad.t(), x, (of_grad, small), ctx.by_rows, False)
            return grad_x, grad_weight, None

    return Linear


def trained(by_rows):
    linear = linear_function()
    return lambda x, weight: linear.apply(x, weight, by_rows)


def dynamic(by_rows, fast=True):
    """The input is cast by what it holds, the weight was cast before."""
    torch = torch_of()

    def model(x, weight, scale, bias=None):
        a, a_scale = cast(x, torch.float8_e4m3fn, -1 if by_rows else None)
        return torch._scaled_mm(a, weight.t(), a_scale, scale, bias, out_dtype=torch.bfloat16,
                                use_fast_accum=fast)

    return model


def in_blocks(x, weight, scale):
    """Scales of 1x128 of the input by 128x128 of the weight."""
    torch = torch_of()
    blocks = x.view(x.shape[0], -1, 128)
    most = torch.finfo(torch.float8_e4m3fn).max
    largest = blocks.abs().amax(-1).float().clamp(min=LEAST)
    a = (blocks.float() * (most / largest).unsqueeze(-1)).to(torch.float8_e4m3fn).view(x.shape)
    return torch._scaled_mm(a, weight.t(), (largest / most).t().contiguous().t(), scale,
                            out_dtype=torch.bfloat16)


def problem(form, m, k, n, small=False):
    torch = torch_of()
    torch.manual_seed(0)
    if small:
        m, k, n = min(m, 128), 256, 384
    device = "cuda" if torch.cuda.is_available() else "cpu"

    def draw(*shape):
        return torch.randn(*shape, device=device, dtype=torch.bfloat16)

    x, w = draw(m, k), draw(n, k) * k**-0.5
    if form in ("training", "training by rows"):
        return trained(form.endswith("rows")), [x, w], draw(m, n)
    if form == "blocks":
        blocks = w.float().view(n // 128, 128, k // 128, 128)
        largest = blocks.abs().amax((1, 3)).clamp(min=LEAST)
        most = torch.finfo(torch.float8_e4m3fn).max
        weight = (blocks * (most / largest)[:, None, :, None]).to(torch.float8_e4m3fn).view(n, k)
        return in_blocks, [x, weight, (largest / most).contiguous().t()], None
    by_rows = form in ("rows", "rows, exact")
    weight, scale = cast(w, torch.float8_e4m3fn, -1 if by_rows else None)
    inputs = [x, weight, scale.t().contiguous() if by_rows else scale]
    if form == "bias":
        inputs.append(draw(n))
    return dynamic(by_rows, form != "rows, exact"), inputs, None


# name: form, rows, width, columns
CASES = {
    "float8, 8192x4096 by 14336": ("tensor", 8192, 4096, 14336),
    "float8, the same by rows": ("rows", 8192, 4096, 14336),
    "float8, by rows without fast sums": ("rows, exact", 8192, 4096, 14336),
    "float8, with a bias": ("bias", 8192, 4096, 4096),
    "float8, in blocks of 128": ("blocks", 8192, 4096, 14336),
    "float8, 16 rows": ("rows", 16, 4096, 14336),
    "float8, 64 rows": ("rows", 64, 4096, 14336),
    "float8, 256 rows": ("rows", 256, 4096, 14336),
    "float8, 1024 rows": ("tensor", 1024, 4096, 14336),
    "float8, training a linear layer": ("training", 8192, 4096, 4096),
    "float8, the same by rows, trained": ("training by rows", 8192, 4096, 4096),
}
CASES = {name: functools.partial(problem, *case) for name, case in CASES.items()}
