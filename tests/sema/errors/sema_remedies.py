# nereid: --sig x=*fp32,n=i32
# Habits from Python, NumPy and PyTorch.
import math
import random
import numpy as np
import scipy.special
import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    v = tl.load(x + tl.arange(0, 8))
    # functions of the host
    np.maximum(v, 0)
    np.sqrt(v)
    np.mean(v)
    np.linalg.norm(v)
    np.unknown(v)
    math.exp(v)
    math.pow(v, 2.0)
    math.fmod(v, 2.0)
    torch.relu(v)
    torch.tanh(v)
    F.gelu(v)
    F.softmax(v)
    torch.zeros(8)
    random.random()
    scipy.special.expit(v)
    # methods
    v.mean()
    v.clamp(0, 1)
    v.tanh()
    v.size()
    v.float()
    v.nothing
    parts = []
    parts.append(v)
    parts.extend([v])
    parts.pop()
    (v, v).sort()
    {"a": 1}.update({"b": 2})
    # a tile's elements
    sum(v)
    max(v)
    sorted(v)
    round(v)
    for e in v:
        pass
    # a pointer's, and a number's
    x[0]
    len(x)
    for e in x:
        pass
    for e in n:
        pass
    int(v)
    float(n)
    # shapes
    w = tl.load(x + tl.arange(0, 16))
    v + w
    tl.zeros([8, 16], tl.float32) * v
    tl.broadcast_to(v, (8, 16))
    tl.zeros([8, 16, 4], tl.float32) * tl.zeros([8, 16], tl.float32)
    tl.zeros([8, 16], tl.float32) * tl.zeros([16, 8], tl.float32)
    "a text that is rather long, so that a message which has the whole of it can hardly be read" + v
