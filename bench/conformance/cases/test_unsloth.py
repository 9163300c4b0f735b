"""unsloth's kernels through the library's own Python wrappers, compared with PyTorch."""

import os

import pytest
import torch
import torch.nn.functional as F

DEVICE = os.environ.get("CONFORMANCE_DEVICE", "cuda")
FLOATS = [torch.float32, torch.float16, torch.bfloat16]
CLOSE = {torch.float32: 2e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}


def near(got, want, dtype, scale=1.0):
    """Fails if the relative error, in the norm, is above that of a few roundings to `dtype`."""
    got, want = got.double(), want.double()
    assert torch.isfinite(got).all()
    error = (got - want).norm() / want.norm().clamp_min(1e-30)
    assert error < CLOSE[dtype] * scale, f"relative error {error:.3g}"


def random(*shape, dtype=torch.float32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator).to(dtype).to(DEVICE)


class Norm(torch.nn.Module):
    """The two attributes that the wrappers read of a layer."""

    def __init__(self, weight, bias=None):
        super().__init__()
        self.weight = torch.nn.Parameter(weight, requires_grad=False)
        self.bias = None if bias is None else torch.nn.Parameter(bias, requires_grad=False)
        self.variance_epsilon = 1e-5
        self.elementwise_affine = True


@pytest.mark.parametrize("gemma", [False, True])
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("columns", [64, 1000, 4096])
def test_rms_layernorm(columns, dtype, gemma):
    from unsloth.kernels.rms_layernorm import fast_rms_layernorm

    x, w = random(3, 7, columns, dtype=dtype), random(columns, dtype=dtype, seed=1)
    dy = random(3, 7, columns, dtype=dtype, seed=2)
    mine = x.clone().requires_grad_(True)
    y = fast_rms_layernorm(Norm(w), mine, gemma=gemma)
    y.backward(dy.clone())
    ref = x.float().requires_grad_(True)
    normed = ref * torch.rsqrt(ref.pow(2).mean(-1, keepdim=True) + 1e-5)
    want = normed * (w.float() + 1.0 if gemma else w.float())
    want.backward(dy.float())
    near(y, want, dtype)
    near(mine.grad, ref.grad, dtype)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("columns", [64, 1000, 4096])
def test_layernorm(columns, dtype):
    from unsloth.kernels.layernorm import fast_layernorm

    x, w = random(3, 7, columns, dtype=dtype), random(columns, dtype=dtype, seed=1)
    b, dy = random(columns, dtype=dtype, seed=2), random(3, 7, columns, dtype=dtype, seed=3)
    mine = x.clone().requires_grad_(True)
    y = fast_layernorm(Norm(w, b), mine)
    y.backward(dy.clone())
    ref = x.float().requires_grad_(True)
    want = F.layer_norm(ref, (columns,), w.float(), b.float(), 1e-5)
    want.backward(dy.float())
    near(y, want, dtype)
    near(mine.grad, ref.grad, dtype)


ACTIVATIONS = {
    "swiglu": F.silu,
    "geglu_exact": F.gelu,
    "geglu_approx": lambda x: F.gelu(x, approximate="tanh"),
}


def wrappers(name):
    """The forward and the backward wrapper of one activation."""
    if name == "swiglu":
        from unsloth.kernels import swiglu

        return swiglu.swiglu_fg_kernel, swiglu.swiglu_DWf_DW_dfg_kernel
    from unsloth.kernels import geglu

    return getattr(geglu, name + "_forward_kernel"), getattr(geglu, name + "_backward_kernel")


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(2, 5, 64), (1, 3, 1001), (2, 16, 2048)])
@pytest.mark.parametrize("name", list(ACTIVATIONS))
def test_gated_forward(name, shape, dtype):
    e, g = random(*shape, dtype=dtype), random(*shape, dtype=dtype, seed=1)
    near(wrappers(name)[0](e, g), ACTIVATIONS[name](e.float()) * g.float(), dtype)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(10, 64), (3, 1001), (32, 2048)])
@pytest.mark.parametrize("name", list(ACTIVATIONS))
def test_gated_backward(name, shape, dtype):
    dw, e, g = (random(*shape, dtype=dtype, seed=i) for i in range(3))
    re, rg = e.float().requires_grad_(True), g.float().requires_grad_(True)
    f = ACTIVATIONS[name](re)
    h = f * rg
    h.backward(dw.float())
    got_h, got_df, got_de = wrappers(name)[1](dw.clone(), e.clone(), g.clone())
    near(got_h, h.detach(), dtype)
    near(got_df, dw.float() * f.detach(), dtype, 2)
    near(got_de, re.grad, dtype, 2)


@pytest.mark.parametrize("softcap", [0, 30.0])
@pytest.mark.parametrize("scaling", [0, 0.25])
@pytest.mark.parametrize("vocabulary", [1000, 32000, 70000])
def test_cross_entropy(vocabulary, scaling, softcap):
    from unsloth.kernels.cross_entropy_loss import fast_cross_entropy_loss

    logits = random(2, 5, vocabulary)
    labels = torch.randint(0, vocabulary, (2, 5), generator=torch.Generator().manual_seed(3))
    labels[0, 1] = labels[1, 4] = -100
    labels = labels.to(DEVICE)
    mine = logits.clone().requires_grad_(True)
    # The backward kernel writes the gradient over the logits, so a copy is handed in.
    loss = fast_cross_entropy_loss(mine * 1.0, labels, softcap, scaling)
    loss.backward()
    ref = logits.clone().requires_grad_(True)
    x = ref * scaling if scaling else ref
    x = softcap * torch.tanh(x / softcap) if softcap else x
    want = F.cross_entropy(x.view(-1, vocabulary), labels.view(-1), ignore_index=-100)
    want.backward()
    near(loss, want, torch.float32)
    near(mine.grad, ref.grad, torch.float32, 4)


def rotated(x, cos, sin):
    half = x.shape[-1] // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), -1) * sin


def angles(length, dimension, dtype):
    steps = torch.outer(torch.arange(length).float(), 1e4 ** (-torch.arange(0, dimension, 2) / 64))
    both = torch.cat((steps, steps), -1)
    return both.cos().to(dtype).to(DEVICE), both.sin().to(dtype).to(DEVICE)


@pytest.mark.parametrize("indices", [False, True])
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("dimension", [64, 96, 128])
def test_rope(dimension, dtype, indices):
    from unsloth.kernels.rope_embedding import fast_rope_embedding

    batch, length = 2, 17
    q = random(batch, 6, length, dimension, dtype=dtype)
    k = random(batch, 2, length, dimension, dtype=dtype, seed=1)
    cos, sin = angles(64, dimension, dtype)
    at = torch.arange(length).repeat(batch, 1)
    if indices:
        at = at + torch.tensor([[3], [11]])
    at = at.to(DEVICE)
    a, b = q.clone().requires_grad_(True), k.clone().requires_grad_(True)
    got = fast_rope_embedding(a * 1.0, b * 1.0, cos, sin, at if indices else None)
    c, s = cos.float()[at][:, None], sin.float()[at][:, None]
    ra, rb = q.float().requires_grad_(True), k.float().requires_grad_(True)
    want = rotated(ra, c, s), rotated(rb, c, s)
    for mine, ref in zip(got, want):
        near(mine, ref.detach(), dtype)
    dq, dk = random(*q.shape, dtype=dtype, seed=4), random(*k.shape, dtype=dtype, seed=5)
    torch.autograd.backward(got, (dq.clone(), dk.clone()))
    torch.autograd.backward(want, (dq.float(), dk.float()))
    near(a.grad, ra.grad, dtype)
    near(b.grad, rb.grad, dtype)


@pytest.mark.parametrize("shape", [(128, 256), (300, 200)])
def test_weight_dequant(shape):
    from unsloth.kernels.fp8 import weight_dequant

    rows, columns = shape
    x = random(rows, columns).to(torch.float8_e4m3fn)
    s = random(-(-rows // 128), -(-columns // 128), seed=1).abs() + 0.1
    whole = s.repeat_interleave(128, 0)[:rows].repeat_interleave(128, 1)[:, :columns]
    near(weight_dequant(x, s), x.float() * whole, torch.bfloat16)


@pytest.mark.parametrize("dtype", FLOATS)
def test_act_quant(dtype):
    from unsloth.kernels.fp8 import act_quant

    x = random(6, 512, dtype=dtype)
    x[2, 128:256] = 0
    y, s = act_quant(x)
    assert s[2, 1] == 1
    near(y.float().view(6, 4, 128) * s[..., None], x.float().view(6, 4, 128), torch.float16, 10)


@pytest.mark.parametrize("rows", [5, 130])
@pytest.mark.parametrize("out", FLOATS)
def test_block_matmul(rows, out):
    from unsloth.kernels.fp8 import act_quant, w8a8_block_fp8_matmul_triton

    a, a_s = act_quant(random(rows, 512))
    b = random(384, 512, seed=1).to(torch.float8_e4m3fn)
    b_s = random(3, 4, seed=2).abs() + 0.1
    got = w8a8_block_fp8_matmul_triton(a, b, a_s, b_s, [128, 128], out)
    wa = a.float() * a_s.repeat_interleave(128, 1)
    wb = b.float() * b_s.repeat_interleave(128, 0).repeat_interleave(128, 1)
    near(got, wa @ wb.T, out, 20 if out == torch.float32 else 1)
