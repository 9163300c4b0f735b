"""The problems that the tuner's model is judged by, for build/bench/tune_sweep and bench/tune.py.

    python3 bench/tune_problems.py [--set problems|matmuls|weak|fresh|small] [--seed N] [--shuffled]

Prints at least 50 problems of four families; matmuls: 200 shapes of products instead; weak: random
shapes of the families that a model has most trouble with, fresh: random shapes of all kinds (of
both, other ones with each seed); small: tiny ones, to try the programs themselves; --shuffled: in
random order, so that a run that is cut short has some of all.  A problem is
    problem FAMILY/NAME
    kernel FILE:KERNEL
    grid EXPR[, EXPR[, EXPR]]
    args NAME=VALUE...        as `nereid run` takes them, and constexprs that are no choice
    fixed NAME=VALUE...
    config NAME=VALUE...      one line for each choice
    end
"""
import argparse, itertools, random, sys

EXAMPLES, OWN = "examples/kernels", "bench/tune_kernels"


class Problem:
    def __init__(self, family, name, kernel, grid, args, configs, fixed=()):
        self.name, self.kernel, self.grid = f"{family}/{name}", kernel, grid
        self.args, self.fixed, self.configs = args, dict(fixed), configs

    def text(self):
        def pairs(d):
            return " ".join(f"{k}={v}" for k, v in d.items())
        lines = [f"problem {self.name}", f"kernel {self.kernel}", f"grid {self.grid}",
                 f"args {pairs(self.args)}", f"fixed {pairs(self.fixed)}"]
        lines += [f"config {pairs(c)}" for c in self.configs]
        return "\n".join(lines + ["end\n"])


BITS = dict(f32=32, bf16=16, f16=16, f8e4nv=8)


def array(dtype, *shape, fill="randn"):
    return f"{fill}:{dtype}[{','.join(map(str, shape))}]"


def out(dtype, *shape):
    return array(dtype, *shape, fill="empty")


def power_of_2(n):
    return 1 << max(n - 1, 0).bit_length()


# ---- choices ----

def flat_configs():
    return [dict(BLOCK=b, num_warps=w) for b in (128, 256, 512, 1024, 2048, 4096, 8192)
            for w in (1, 2, 4, 8, 16) if 1 <= b // (32 * w) <= 64]


def plane_configs():
    """Blocks of rows and columns."""
    return [dict(BLOCK_M=m, BLOCK_N=n, num_warps=w) for m in (1, 4, 16, 32, 64, 128)
            for n in (16, 32, 64, 128, 512) for w in (2, 4, 8)
            if 4 <= m * n // (32 * w) <= 64]


def loop_configs(ms, ns):
    return [dict(BLOCK_M=m, BLOCK_N=n, num_warps=w, num_stages=s) for m in ms for n in ns
            for w in (2, 4, 8) for s in (1, 3) if 4 <= m * n // (32 * w) <= 64]


def row_configs(n):
    block = power_of_2(n)
    return [dict(BLOCK=block, num_warps=w) for w in (1, 2, 4, 8, 16, 32)
            if 1 <= block // (32 * w) <= 256]


def rows_configs(n):
    block = power_of_2(n)
    return [dict(ROWS=r, BLOCK=block, num_warps=w) for r in (1, 2, 4, 8, 16, 32, 64)
            for w in (1, 2, 4, 8, 16) if 2 <= r * block // (32 * w) <= 64]


def walk_configs():
    return [dict(BLOCK=b, num_warps=w, num_stages=s) for b in (512, 1024, 2048, 4096, 8192)
            for w in (2, 4, 8, 16) for s in (1, 2, 3, 4) if 4 <= b // (32 * w) <= 64]


# Tiles and warps of the planner's products (tiling/tiling.c), which each list begins with.
PLANNED = {16: ((64, 128, 64, 4, 3), (128, 128, 64, 4, 3), (128, 256, 64, 8, 3),
                (128, 64, 64, 4, 4), (64, 128, 128, 4, 3), (64, 64, 64, 4, 4),
                (64, 32, 128, 4, 4), (32, 64, 64, 4, 4), (32, 32, 128, 4, 4),
                (16, 64, 64, 4, 5), (16, 32, 128, 4, 4)),
           8: ((64, 128, 128, 4, 4), (128, 128, 128, 8, 4), (128, 256, 128, 8, 3),
               (64, 64, 128, 4, 5), (64, 32, 128, 4, 6)),
           32: ((64, 64, 32, 4, 3), (128, 64, 32, 8, 3), (32, 128, 32, 4, 3), (32, 64, 32, 4, 3))}


def product_configs(bits=16, group=True, rows=(32, 64, 128, 256), cols=(32, 64, 128, 256),
                    most=60, **more):
    """`more`: values of further constexprs, a tuple each."""
    depths = (64, 128, 256) if bits == 8 else (32, 64, 128)
    found = []
    for m, n, k, w, s in itertools.product(rows, cols, depths, (4, 8), (2, 3, 4, 5)):
        held = m * n // (32 * w)  # elements of the sum a thread
        if 8 <= held <= 128 and s * k * (m + n) * bits // 8 <= 227 << 10 \
                and (s in (3, 4) or k == 64) and (held >= 32 or w == 4) \
                and 32 * m >= k * bits // 2:
            found.append((m, n, k, w, s))
    random.Random(len(found)).shuffle(found)
    planned = [t for t in PLANNED[bits] if t[0] in rows]
    found = planned + [t for t in found if t not in planned]
    found = [(*t, *v) for t in found for v in itertools.product(*more.values())]
    return [dict(BLOCK_M=m, BLOCK_N=n, BLOCK_K=k, **(dict(GROUP_M=8) if group else {}),
                 **dict(zip(more, v)), num_warps=w, num_stages=s)
            for m, n, k, w, s, *v in found[:most]]


def attention_configs(dim):
    found = [dict(BLOCK_M=m, BLOCK_N=n, num_warps=w, num_stages=s)
             for m in (32, 64, 128, 256) for n in (32, 64, 128) for w in (4, 8)
             for s in (1, 2, 3, 4)]
    return [c for c in found
            if 16 <= c["BLOCK_M"] // c["num_warps"] <= 32
            and (c["num_stages"] * 2 * c["BLOCK_N"] + c["BLOCK_M"]) * dim * 2 <= 227 << 10]


# ---- elementwise ----

def elementwise(size):
    n = 1 << 25 if size == "full" else 1 << 14
    flat, grid = flat_configs(), "cdiv(n, BLOCK)"
    own = f"{OWN}/elementwise.py"

    def unary(name, kernel, dtype, n, to=None, factor=1):
        return Problem("elementwise", name, f"{own}:{kernel}", grid,
                       dict(x_ptr=array(dtype, factor * n), out_ptr=out(to or dtype, n), n=n), flat)

    def add(name, dtype, n):
        return Problem("elementwise", name, f"{EXAMPLES}/vector_add.py:vector_add", grid,
                       dict(x_ptr=array(dtype, n), y_ptr=array(dtype, n), out_ptr=out(dtype, n),
                            n=n), flat)

    yield add("add_f32", "f32", n)
    yield add("add_f32_odd", "f32", n // 4 + 77)
    yield add("add_bf16_small", "bf16", n // 32)
    yield unary("gelu_f32", "gelu", "f32", n)
    yield unary("gelu_bf16", "gelu", "bf16", n)
    yield unary("cast_f32_bf16", "copy", "f32", n, "bf16")
    yield unary("every_second", "every_second", "f32", n // 2, factor=2)
    yield Problem("elementwise", "mix_bf16", f"{own}:mix", grid,
                  dict({p: array("bf16", n // 2) for p in ("a_ptr", "b_ptr", "c_ptr", "d_ptr")},
                       out_ptr=out("bf16", n // 2), n=n // 2), flat)
    rows, cols = n // 4096, 4096
    plane = "cdiv(n_rows, BLOCK_M), cdiv(n_cols, BLOCK_N)"
    sizes = dict(n_rows=rows, n_cols=cols)
    yield Problem("elementwise", "swiglu_bf16", f"{own}:swiglu", plane,
                  dict(x_ptr=array("bf16", rows, 2 * cols), out_ptr=out("bf16", rows, cols),
                       **sizes), plane_configs())
    yield Problem("elementwise", "scale_add_f32", f"{own}:scale_add", plane,
                  dict(x_ptr=array("f32", rows, cols), y_ptr=array("f32", rows, cols),
                       scale_ptr=array("f32", cols), bias_ptr=array("f32", cols),
                       out_ptr=out("f32", rows, cols), **sizes), plane_configs())
    for dtype in ("f32", "f16"):
        yield Problem("elementwise", f"transpose_{dtype}", f"{own}:transpose", plane,
                      dict(x_ptr=array(dtype, rows, cols), out_ptr=out(dtype, cols, rows), **sizes),
                      plane_configs())
    tokens = n // (32 * 128)
    yield Problem("elementwise", "rotary_bf16", f"{EXAMPLES}/rotary.py:rotary",
                  f"{tokens}, cdiv(n_heads, BLOCK_HEADS)",
                  dict(x_ptr=array("bf16", tokens, 32, 128), cos_ptr=array("f32", tokens, 64),
                       sin_ptr=array("f32", tokens, 64), out_ptr=out("bf16", tokens, 32, 128),
                       n_heads=32, half=64),
                  [dict(BLOCK_HEADS=h, BLOCK_HALF=64, num_warps=w) for h in (1, 2, 4, 8, 16, 32)
                   for w in (1, 2, 4, 8) if h * 2 >= w])


# ---- reductions ----

def reductions(size):
    n = 1 << 26 if size == "full" else 1 << 14
    own = f"{OWN}/reductions.py"

    def row_kernel(name, file, dtype, cols, **more):
        rows = n // cols
        return Problem("reduction", name, f"{EXAMPLES}/{file}", f"{rows}",
                       dict(x_ptr=array(dtype, rows, cols),
                            **{k: v(rows, cols) for k, v in more.items()},
                            out_ptr=out(dtype, rows, cols), n_cols=cols,
                            **({} if "softmax" in file else dict(eps="1e-5"))),
                       row_configs(cols))

    def weight(dtype):
        return lambda rows, cols: array(dtype, cols)

    def per_row(rows, cols):
        return out("f32", rows)

    for cols in (1024, 4096, 16384) if size == "full" else (256,):
        yield row_kernel(f"softmax_bf16_{cols}", "softmax.py:softmax", "bf16", cols)
    yield row_kernel("softmax_f32_1000", "softmax.py:softmax", "f32", 1000)
    yield row_kernel("softmax_bf16_5003", "softmax.py:softmax", "bf16", 5003)
    for cols in (1024, 8192) if size == "full" else (256,):
        yield row_kernel(f"layer_norm_bf16_{cols}", "layer_norm.py:layer_norm_forward", "bf16",
                         cols, w_ptr=weight("bf16"), b_ptr=weight("bf16"), mean_ptr=per_row,
                         rstd_ptr=per_row)
        yield row_kernel(f"rms_norm_bf16_{cols}", "rms_norm.py:rms_norm", "bf16", cols,
                         w_ptr=weight("bf16"))
    for cols in (64, 256):
        yield Problem("reduction", f"softmax_rows_bf16_{cols}", f"{own}:softmax_rows",
                      "cdiv(n_rows, ROWS)",
                      dict(x_ptr=array("bf16", n // 2 // cols, cols),
                           out_ptr=out("bf16", n // 2 // cols, cols), n_rows=n // 2 // cols,
                           n_cols=cols), rows_configs(cols))
    yield Problem("reduction", "rms_norm_rows_bf16_128", f"{own}:rms_norm_rows",
                  "cdiv(n_rows, ROWS)",
                  dict(x_ptr=array("bf16", n // 2 // 128, 128), w_ptr=array("bf16", 128),
                       out_ptr=out("bf16", n // 2 // 128, 128), n_rows=n // 2 // 128, n_cols=128,
                       eps="1e-5"), rows_configs(128))
    for rows, cols in ((4096, 8192), (65536, 512)) if size == "full" else ((64, 128),):
        yield Problem("reduction", f"sum_columns_f32_{rows}x{cols}", f"{own}:sum_columns",
                      "cdiv(n_cols, BLOCK_N)",
                      dict(x_ptr=array("f32", rows, cols), out_ptr=out("f32", cols), n_rows=rows,
                           n_cols=cols), loop_configs((16, 32, 64, 128), (8, 16, 32, 64, 128)))
    for rows, cols in ((8192, 4096), (512, 65536)) if size == "full" else ((64, 128),):
        yield Problem("reduction", f"sum_rows_bf16_{rows}x{cols}", f"{own}:sum_rows",
                      "cdiv(n_rows, BLOCK_M)",
                      dict(x_ptr=array("bf16", rows, cols), out_ptr=out("f32", rows), n_rows=rows,
                           n_cols=cols),
                      loop_configs((1, 2, 4, 8, 16), (128, 256, 512, 1024, 2048)))
    for rows, cols in ((2048, 32768), (256, 131072)) if size == "full" else ((8, 4096),):
        yield Problem("reduction", f"softmax_loop_bf16_{rows}x{cols}", f"{own}:softmax_loop",
                      f"{rows}",
                      dict(x_ptr=array("bf16", rows, cols), out_ptr=out("bf16", rows, cols),
                           n_cols=cols), walk_configs())
    cols = 32000 if size == "full" else 1000
    yield Problem("reduction", f"cross_entropy_f32_{cols}",
                  f"{EXAMPLES}/cross_entropy.py:cross_entropy", "1024" if size == "full" else "8",
                  dict(logits_ptr=array("f32", 1024, cols), target_ptr="zeros:i64[1024]",
                       loss_ptr=out("f32", 1024), grad_ptr=out("f32", 1024, cols), n_classes=cols,
                       ignore_index=-100), walk_configs())


# ---- products ----

def matmul(m, n, k, dtype="bf16", b_columns=False, activation=None, configs=None, to=None):
    strides = dict(stride_bk=1, stride_bn=k) if b_columns else dict(stride_bk=n, stride_bn=1)
    name = f"{dtype}_{m}x{n}x{k}" + ("_t" if b_columns else "") + (f"_{activation}" if activation
                                                                 else "")
    return Problem("matmul", name, f"{EXAMPLES}/matmul.py:matmul",
                   "cdiv(M, BLOCK_M) * cdiv(N, BLOCK_N)",
                   dict(a_ptr=array(dtype, m, k),
                        b_ptr=array(dtype, *((n, k) if b_columns else (k, n))),
                        c_ptr=out(to or dtype, m, n), M=m, N=n, K=k, stride_am=k, stride_ak=1,
                        **strides, stride_cm=n, stride_cn=1),
                   configs or product_configs(BITS[dtype]),
                   dict(ACTIVATION=f"fn:{activation}") if activation else {})


def products(size):
    if size != "full":
        yield matmul(128, 192, 256, configs=product_configs()[:8])
        return
    yield matmul(4096, 4096, 4096)
    yield matmul(4096, 4096, 4096, "f16", b_columns=True)
    yield matmul(2048, 2048, 2048)
    yield matmul(1024, 1024, 1024)
    yield matmul(512, 512, 512, "f16")
    yield matmul(8192, 1024, 1024, activation="silu")
    yield matmul(1024, 8192, 2048, activation="leaky_relu")
    yield matmul(256, 256, 16384)
    yield matmul(512, 4096, 4096, b_columns=True)
    yield matmul(16, 4096, 4096, configs=product_configs(rows=(16, 32, 64)))
    yield matmul(64, 11008, 4096, configs=product_configs(rows=(16, 32, 64)))
    yield matmul(128, 4096, 14336, b_columns=True)
    yield matmul(16384, 128, 4096)
    yield matmul(4096, 1000, 1024, "f16")
    yield matmul(1000, 1001, 1024, "f16")
    yield matmul(2047, 2049, 2048)
    yield matmul(3072, 1536, 768)
    yield matmul(1024, 1024, 1024, "f32")
    yield matmul(2048, 4096, 512, "f32")
    for m, n, k in ((4096, 4096, 4096), (1024, 4096, 4096), (128, 14336, 4096), (2048, 7168, 2048),
                    (512, 2048, 8192), (16, 8192, 8192)):
        rows = (16, 32, 64) if m <= 64 else (32, 64, 128, 256)
        yield matmul(m, n, k, "f8e4nv", b_columns=True, to="bf16",
                     configs=product_configs(8, rows=rows))
    configs = product_configs(group=False)
    grid = "cdiv(M, BLOCK_M), cdiv(N, BLOCK_N)"
    for m, n, k in ((2048, 3072, 768), (384, 4096, 1024)):
        yield Problem("matmul", f"linear_bf16_{m}x{n}x{k}", f"{OWN}/products.py:linear", grid,
                      dict(x_ptr=array("bf16", m, k), w_ptr=array("bf16", n, k),
                           bias_ptr=array("bf16", n), out_ptr=out("bf16", m, n), M=m, N=n, K=k),
                      configs)
    for batch, m, n, k in ((64, 512, 512, 64), (16, 1024, 256, 512)):
        yield Problem("matmul", f"batched_f16_{batch}x{m}x{n}x{k}", f"{OWN}/products.py:batched",
                      f"{grid}, {batch}",
                      dict(a_ptr=array("f16", batch, m, k), b_ptr=array("f16", batch, k, n),
                           out_ptr=out("f16", batch, m, n), M=m, N=n, K=k), configs)
    for m, n, k in ((4096, 4096, 4096), (8192, 8192, 512), (4096, 2048, 256), (1024, 5120, 640),
                    (2500, 3000, 1024), (256, 8192, 2048)):
        yield Problem("matmul", f"persistent_bf16_{m}x{n}x{k}", f"{OWN}/products.py:persistent",
                      "min(cdiv(M, BLOCK_M) * cdiv(N, BLOCK_N), "
                      "PROGRAMS + (1 - min(PROGRAMS, 1)) * 1000000)",
                      dict(a_ptr=array("bf16", m, k), b_ptr=array("bf16", n, k),
                           c_ptr=out("bf16", m, n), M=m, N=n, K=k),
                      product_configs(group=False, rows=(64, 128, 256), cols=(64, 128, 256),
                                      PROGRAMS=(0, 132, 264)))
    for m, n, k in ((64, 4096, 4096), (128, 128, 32768), (256, 1024, 8192), (16, 5120, 5120),
                    (512, 512, 4096), (1024, 1024, 4096)):
        rows = (16, 32, 64) if m <= 64 else (32, 64, 128)
        yield Problem("matmul", f"split_k_bf16_{m}x{n}x{k}", f"{OWN}/products.py:split_k",
                      "cdiv(M, BLOCK_M) * cdiv(N, BLOCK_N), PARTS",
                      dict(a_ptr=array("bf16", m, k), b_ptr=array("bf16", k, n),
                           c_ptr=out("f32", m, n), M=m, N=n, K=k),
                      product_configs(group=False, rows=rows, PARTS=(1, 2, 4, 8, 16)))
    yield Problem("reduction", "matrix_vector_bf16_8192x8192", f"{OWN}/products.py:matrix_vector",
                  "cdiv(M, BLOCK_M)",
                  dict(a_ptr=array("bf16", 8192, 8192), x_ptr=array("bf16", 8192),
                       out_ptr=out("f32", 8192), M=8192, K=8192),
                  [dict(BLOCK_M=m, BLOCK_K=k, num_warps=w, num_stages=s)
                   for m in (1, 2, 4, 8, 16) for k in (128, 256, 512, 1024, 2048)
                   for w in (2, 4, 8) for s in (1, 3) if 4 <= m * k // (32 * w) <= 64])


def matmuls():
    """200 shapes: sizes of layers and random ones."""
    draw = random.Random(4)
    layers = [768, 1024, 1536, 2048, 3072, 4096, 5120, 8192, 11008, 14336]
    seen = set()
    while len(seen) < 200:
        kind = len(seen) % 4
        if kind == 0:
            rows = draw.choice([16, 32, 64, 128, 256, 512])
            shape = rows, draw.choice(layers), draw.choice(layers)
        elif kind == 1:
            shape = tuple(draw.choice([256, 512, 1024, 2048, 4096]) for _ in range(3))
        elif kind == 2:
            shape = draw.choice([1024, 2048, 4096]), draw.choice(layers), draw.choice(layers)
        else:
            shape = (draw.randrange(128, 4096), draw.randrange(128, 4096),
                     16 * draw.randrange(8, 200))
        if shape in seen or shape[0] * shape[1] * shape[2] > 1 << 37:
            continue
        seen.add(shape)
        dtype, columns = draw.choice(["f16", "bf16"]), draw.random() < 0.4
        rows = (16, 32, 64, 128) if shape[0] <= 64 else (32, 64, 128, 256)
        yield matmul(*shape, dtype, columns, configs=product_configs(rows=rows, most=40))


# ---- attention ----

def attention(heads, dim, length, causal, configs=None):
    each = {p: array("bf16", heads, length, dim) for p in ("q_ptr", "k_ptr", "v_ptr")}
    return Problem("attention", f"bf16_{heads}x{length}x{dim}" + ("_causal" if causal else ""),
                   f"{EXAMPLES}/attention.py:attention", f"cdiv(seq_len, BLOCK_M), {heads}",
                   dict(**each, out_ptr=out("bf16", heads, length, dim), seq_len=length,
                        scale=round(dim ** -0.5, 6)), configs or attention_configs(dim),
                   dict(HEAD_DIM=dim, CAUSAL=bool(causal)))


def attentions(size):
    shapes = [(128, 64, 512, 0), (64, 64, 1024, 0), (64, 64, 1024, 1), (32, 64, 4096, 0),
              (32, 64, 4096, 1), (8, 64, 16384, 1), (64, 128, 512, 1), (32, 128, 1024, 0),
              (32, 128, 2048, 1), (16, 128, 4096, 0), (16, 128, 4096, 1), (4, 128, 16384, 1),
              (12, 64, 1000, 0), (16, 32, 2048, 0)]
    for heads, dim, length, causal in shapes if size == "full" else [(2, 64, 256, 1)]:
        yield attention(heads, dim, length, causal)


# ---- random shapes ----

def odd_matmul(draw, most):
    """One whose rows begin at no multiples of 16 bytes, or those of one operand do not."""
    m, n, k = (draw.randrange(128, 4096) for _ in range(3))
    step = draw.choice((1, 2, 4))  # elements
    n = n // step * step if draw.random() < 0.8 else 16 * (n // 16)
    k = k // step * step if draw.random() < 0.5 else 16 * (k // 16)
    return matmul(m, n, k, draw.choice(["f16", "bf16"]), draw.random() < 0.4,
                  configs=product_configs(most=most))


def flat_matmul(draw, most):
    """One of few rows."""
    widths = (1024, 1536, 2048, 3072, 4096, 5120, 7168, 8192, 11008, 14336)
    rows = draw.choice((1, 7, 16, 16, 24, 32, 32, 48, 64))
    shape = rows, draw.choice(widths), draw.choice(widths)
    return matmul(*shape, draw.choice(["f16", "bf16"]), draw.random() < 0.5,
                  configs=product_configs(rows=(16, 32, 64), most=most))


def even_matmul(draw, most):
    layers = (768, 1024, 1536, 2048, 3072, 4096, 5120, 8192)
    if draw.random() < 0.5:
        shape = tuple(draw.choice(layers) for _ in range(3))
    else:
        shape = draw.randrange(128, 4096), 16 * draw.randrange(8, 256), 16 * draw.randrange(8, 256)
    return matmul(*shape, draw.choice(["f16", "bf16"]), draw.random() < 0.4,
                  configs=product_configs(most=most))


def random_attention(draw, most):
    dim, length = draw.choice((32, 64, 64, 128, 128)), draw.choice((256, 512, 777, 1024, 2048, 3000,
                                                                    4096, 8192))
    heads = max(2, draw.choice((1, 2, 4)) * (1 << 22) // (length * dim * draw.choice((8, 16, 32))))
    return attention(heads, dim, length, draw.random() < 0.5,
                     attention_configs(dim)[:: 1 if most > 48 else 2])


def random_problems(kinds, most, seed):
    """`kinds`: how many of each, of the functions above."""
    draw, seen = random.Random(seed), set()
    for kind, number in kinds:
        found = 0
        while found < number:
            p = kind(draw, most)
            found += p.name not in seen
            if p.name not in seen:
                yield p
            seen.add(p.name)


WEAK = [(odd_matmul, 36), (flat_matmul, 32), (even_matmul, 16), (random_attention, 14)]
FRESH = [(even_matmul, 24), (flat_matmul, 16), (odd_matmul, 16), (random_attention, 12)]


def problems(size="full"):
    return [*elementwise(size), *reductions(size), *products(size), *attentions(size)]


def main():
    sets = dict(problems=problems, matmuls=matmuls, small=lambda: problems("small"))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--set", choices=[*sets, "weak", "fresh"], default="problems")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=40, help="configurations of a random product")
    parser.add_argument("--shuffled", action="store_true")
    options = parser.parse_args()
    for name, kinds in ("weak", WEAK), ("fresh", FRESH):
        sets[name] = lambda kinds=kinds: random_problems(kinds, options.most, options.seed)
    chosen = list(sets[options.set]())
    if options.shuffled:
        random.Random(options.seed).shuffle(chosen)
    sys.stdout.write("".join(p.text() for p in chosen))


if __name__ == "__main__":
    main()
