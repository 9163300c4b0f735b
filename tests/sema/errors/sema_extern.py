# nereid: --sig x=*fp32
import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x):
    tl.store(x, torch.relu(1.0))
