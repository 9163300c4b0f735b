"""Adds two vectors with a kernel, on NumPy's arrays and, with PyTorch, on a GPU's tensors."""

import numpy as np

import nereid
import nereid.language as tl


@nereid.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


def on_numpy(n):
    x, y = np.random.rand(2, n).astype(np.float32)
    out = np.empty_like(x)
    add[(nereid.cdiv(n, 1024),)](x, y, out, n, BLOCK=1024)
    return np.abs(out - (x + y)).max()


def on_torch(n, device):
    x, y = torch.rand(2, n, device=device)
    out = torch.empty_like(x)
    # The grid may depend on the constexprs, which a tuner may choose.
    add[lambda meta: (nereid.cdiv(n, meta["BLOCK"]),)](x, y, out, n, BLOCK=1024)
    return (out - (x + y)).abs().max().item()


errors = {"NumPy": on_numpy(98432)}
try:
    import torch

    for device in ["cpu", *["cuda"] * torch.cuda.is_available()]:
        errors[f"PyTorch on {device}"] = on_torch(98432, device)
except ImportError:
    pass

for name, error in errors.items():
    print(f"{name}: largest error {error}")
    assert error == 0
