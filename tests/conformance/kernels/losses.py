"""Losses, softmaxes over long rows, optimizers, and quantization."""
import triton
import triton.language as tl


@triton.jit
def logsumexp(x_ptr, out_ptr, rows, cols, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """Online: a running maximum and sum by lane, joined at the end."""
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    top = tl.full((ROWS, BLOCK), -float("inf"), tl.float32)
    total = tl.zeros((ROWS, BLOCK), tl.float32)
    for start in range(0, cols, BLOCK):
        c = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + r[:, None] * cols + c[None, :],
                    mask=(r[:, None] < rows) & (c[None, :] < cols), other=-float("inf"))
        bigger = tl.maximum(top, x)
        kept = tl.where(bigger == -float("inf"), 0.0, tl.exp(top - bigger))
        total = total * kept + tl.where(x == -float("inf"), 0.0, tl.exp(x - bigger))
        top = bigger
    highest = tl.max(top, axis=1)
    total = tl.sum(tl.where(total > 0, total * tl.exp(top - highest[:, None]), 0.0), axis=1)
    tl.store(out_ptr + r, highest + tl.log(total), mask=r < rows)


@triton.jit
def online_softmax(x_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    """Two passes over a row that is longer than a block."""
    row = tl.program_id(0).to(tl.int64) * cols
    top, total = -float("inf"), 0.0
    for start in range(0, cols, BLOCK):
        c = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row + c, mask=c < cols, other=-float("inf")).to(tl.float32)
        bigger = tl.maximum(top, tl.max(x, axis=0))
        total = total * tl.exp(top - bigger) + tl.sum(tl.exp(x - bigger), axis=0)
        top = bigger
    for start in range(0, cols, BLOCK):
        c = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row + c, mask=c < cols).to(tl.float32)
        y = tl.exp(x - top) / total
        tl.store(out_ptr + row + c, y.to(out_ptr.dtype.element_ty), mask=c < cols)


@triton.jit
def kl_divergence(logp_ptr, q_ptr, loss_ptr, grad_ptr, cols, LOG_TARGET: tl.constexpr,
                  BLOCK: tl.constexpr):
    """sum of q (log q - log p) of a row, where q = 0 counts nothing, and its gradient."""
    row = tl.program_id(0)
    total = tl.zeros((BLOCK, ), tl.float32)
    for start in range(0, cols, BLOCK):
        c = start + tl.arange(0, BLOCK)
        logp = tl.load(logp_ptr + row * cols + c, mask=c < cols, other=0.0)
        q = tl.load(q_ptr + row * cols + c, mask=c < cols, other=0.0)
        if LOG_TARGET:
            loss = tl.exp(q) * (q - logp)
            q = tl.exp(q)
        else:
            loss = tl.where(q > 0, q * (tl.log(tl.where(q > 0, q, 1.0)) - logp), 0.0)
        total += tl.where(c < cols, loss, 0.0)
        tl.store(grad_ptr + row * cols + c, -q, mask=c < cols)
    tl.store(loss_ptr + row, tl.sum(total, axis=0))


@triton.jit
def focal_loss(x_ptr, target_ptr, loss_ptr, n, alpha, gamma, BLOCK: tl.constexpr):
    """-alpha_t (1 - p_t)^gamma log p_t, from logits, without overflow."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    target = tl.load(target_ptr + i, mask=i < n, other=0)
    z = tl.where(target, x, -x)
    log_p = tl.minimum(z, 0.0) - tl.log(1 + tl.exp(-tl.abs(z)))
    weight = tl.where(target, alpha, 1 - alpha)
    modulate = tl.exp2(gamma * tl.log2(1 - tl.exp(log_p) + 1e-12))
    tl.store(loss_ptr + i, -weight * modulate * log_p, mask=i < n)


@triton.jit
def adamw(p_ptr, g_ptr, m_ptr, v_ptr, n, lr, beta1, beta2, eps, decay, step, BLOCK: tl.constexpr):
    """One step in place: parameters of any type, moments in float32."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    p = tl.load(p_ptr + i, mask=inside).to(tl.float32)
    g = tl.load(g_ptr + i, mask=inside).to(tl.float32)
    m = beta1 * tl.load(m_ptr + i, mask=inside) + (1 - beta1) * g
    v = beta2 * tl.load(v_ptr + i, mask=inside) + (1 - beta2) * g * g
    fix1 = 1 - tl.exp2(step * tl.log2(beta1))
    fix2 = 1 - tl.exp2(step * tl.log2(beta2))
    p = p * (1 - lr * decay) - lr * (m / fix1) / (tl.sqrt(v / fix2) + eps)
    tl.store(p_ptr + i, p.to(p_ptr.dtype.element_ty), mask=inside)
    tl.store(m_ptr + i, m, mask=inside)
    tl.store(v_ptr + i, v, mask=inside)


@triton.jit
def lion(p_ptr, g_ptr, m_ptr, n, lr, beta1, beta2, decay, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    p = tl.load(p_ptr + i, mask=i < n)
    g = tl.load(g_ptr + i, mask=i < n)
    m = tl.load(m_ptr + i, mask=i < n)
    mixed = beta1 * m + (1 - beta1) * g
    sign = tl.where(mixed > 0, 1.0, tl.where(mixed < 0, -1.0, 0.0))
    tl.store(p_ptr + i, p * (1 - lr * decay) - lr * sign, mask=i < n)
    tl.store(m_ptr + i, beta2 * m + (1 - beta2) * g, mask=i < n)


@triton.jit
def quantize_rows(x_ptr, q_ptr, scale_ptr, cols, BLOCK: tl.constexpr):
    """Signed bytes with one scale a row, rounded to nearest, halves away from zero."""
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * cols + c, mask=c < cols, other=0.0).to(tl.float32)
    scale = tl.maximum(tl.max(tl.abs(x), axis=0), 1e-10) / 127
    y = x / scale
    q = tl.where(y >= 0, y + 0.5, y - 0.5).to(tl.int8)
    tl.store(q_ptr + row * cols + c, q, mask=c < cols)
    tl.store(scale_ptr + row, scale)


@triton.jit
def dequantize_int4(packed_ptr, scale_ptr, zero_ptr, out_ptr, n, GROUP: tl.constexpr,
                    BLOCK: tl.constexpr):
    """Two values a byte, the low half first; scale and zero of each GROUP values."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    bytes = tl.load(packed_ptr + i, mask=i < n // 2, other=0)
    q = tl.interleave(bytes & 0xF, bytes >> 4).to(tl.float32)
    j = tl.program_id(0) * 2 * BLOCK + tl.arange(0, 2 * BLOCK)
    scale = tl.load(scale_ptr + j // GROUP, mask=j < n, other=0.0)
    zero = tl.load(zero_ptr + j // GROUP, mask=j < n, other=0.0)
    tl.store(out_ptr + j, (q - zero) * scale, mask=j < n)


@triton.jit
def matmul_int4(x_ptr, packed_ptr, scale_ptr, out_ptr, M, N, K, BLOCK_M: tl.constexpr,
                BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    """x @ W, where a 32-bit word of W holds eight signed 4-bit values of one column."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        x = tl.load(x_ptr + m[:, None] * K + k[None, :],
                    mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        word = tl.load(packed_ptr + (k[:, None] // 8) * N + n[None, :],
                       mask=(k[:, None] < K) & (n[None, :] < N), other=0)
        w = ((word >> (k[:, None] % 8 * 4)) & 0xF) - 8
        acc = tl.dot(x, w.to(x.dtype), acc)
    acc *= tl.load(scale_ptr + n, mask=n < N, other=0.0)[None, :]
    tl.store(out_ptr + m[:, None] * N + n[None, :], acc, mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def round_stochastically(x_ptr, out_ptr, n, seed, BLOCK: tl.constexpr):
    """float32 to bfloat16 by adding random low bits and cutting them off."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    bits = tl.load(x_ptr + i, mask=i < n, other=0.0).to(tl.uint32, bitcast=True)
    noise = tl.randint(seed, i).to(tl.uint32) & 0xFFFF
    cut = (bits + noise) & 0xFFFF0000
    tl.store(out_ptr + i, cut.to(tl.float32, bitcast=True).to(tl.bfloat16), mask=i < n)


@triton.jit
def narrow_casts(x_ptr, half_ptr, brain_ptr, e4_ptr, e5_ptr, byte_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(half_ptr + i, x.to(tl.float16), mask=i < n)
    tl.store(brain_ptr + i, x.to(tl.bfloat16), mask=i < n)
    tl.store(e4_ptr + i, x.to(tl.float8e4nv), mask=i < n)
    tl.store(e5_ptr + i, x.to(tl.float8e5), mask=i < n)
    tl.store(byte_ptr + i, x.to(tl.int8), mask=i < n)
