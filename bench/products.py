"""Cases of bench/kernels.py: products of examples/kernels/matmul.py over dtypes, layouts and sizes.

A case is named by its dtype, its layout and its sizes, `bf16 NT 4096x4096x4096`: the letters say
of A and of B whether the array in memory is the operand (N) or its transpose (T).  The library is
cuBLAS by way of PyTorch: matmul, _int_mm, and _scaled_mm with fast accumulation.
"""
# BLOCK_M, BLOCK_N, BLOCK_K, num_warps, num_stages: the same for both compilers.  Triton has no
# tiles of 192 rows or columns.
SHAPES = [(128, 128, 64, 8, 3), (128, 256, 64, 8, 3), (128, 128, 32, 4, 4), (128, 256, 64, 8, 4),
          (128, 128, 64, 4, 3), (256, 128, 64, 8, 3), (128, 128, 64, 8, 4), (128, 256, 32, 8, 4),
          (64, 128, 64, 4, 4), (64, 256, 64, 4, 4), (128, 192, 64, 8, 4), (192, 128, 64, 8, 4),
          (256, 128, 64, 8, 4)]
BYTE_SHAPES = [(128, 128, 128, 8, 3), (128, 256, 128, 8, 3), (128, 256, 128, 8, 4),
               (128, 128, 128, 4, 3), (256, 128, 128, 8, 3), (128, 128, 128, 8, 4),
               (128, 256, 64, 8, 4), (64, 128, 128, 4, 4), (64, 256, 128, 4, 3),
               (128, 128, 64, 4, 4), (128, 192, 128, 8, 4), (256, 192, 128, 8, 3)]
FLAT_SHAPES = [(16, 64, 128, 4, 4), (16, 64, 256, 4, 3), (16, 128, 128, 4, 4), (16, 128, 64, 4, 5),
               (16, 32, 256, 4, 4), (32, 64, 128, 4, 4), (64, 64, 128, 4, 4), (64, 64, 64, 4, 5),
               (64, 128, 64, 4, 4), (16, 64, 128, 8, 4), (16, 32, 256, 4, 8)]
WORD_SHAPES = [*((bm, bn, max(bk // 2, 32), w, s) for bm, bn, bk, w, s in SHAPES),
               (256, 192, 32, 8, 3)]

# dtype: its shapes, that of the result, and the bound of the error relative to the result's norm
DTYPES = dict(bf16=(SHAPES, "bf16", 5e-3), f8e4nv=(BYTE_SHAPES, "bf16", 5e-3),
              i8=(BYTE_SHAPES, "i32", 0), f32=(WORD_SHAPES, "f32", 2e-3))
CUBES = [(n, n, n) for n in (1024, 2048, 4096, 8192)]
OTHERS = [(4096, 11008, 4096), (128, 14336, 4096), (16, 4096, 4096), (8192, 8192, 512)]
ODD = [(1000, 3000, 2100), (1111, 2222, 3333), (4000, 4100, 4200), (3001, 1025, 2047),
       (517, 8200, 1030), (2500, 2500, 2500)]
TABLE = ([("bf16", layout, size) for layout in ("NN", "NT", "TN", "TT")
          for size in CUBES + OTHERS + ODD]
         + [("f8e4nv", "NT", size) for size in CUBES[2:] + OTHERS[1:3] + [(1024, 18432, 7168)]]
         + [(dtype, layout, size) for dtype, layout in (("i8", "NT"), ("f32", "NN"), ("f32", "NT"),
                                                  ("f32", "TN"))
            for size in (*CUBES[2:], OTHERS[-1])])


def library(m, dtype, a, b, result):
    """The vendor's product of the operands a and b."""
    torch = m.torch
    if dtype == "i8":
        return lambda: torch._int_mm(a, b)
    if dtype == "f8e4nv":
        one = torch.ones((), device="cuda")
        return lambda: torch._scaled_mm(a, b, one, one, out_dtype=torch.bfloat16,
                                        use_fast_accum=True)
    return lambda: torch.matmul(a, b, out=result)


def product(Case, m, dtype, layout, size):
    M, N, K = size
    shapes, to, tol = DTYPES[dtype]
    if M <= 64:
        shapes = FLAT_SHAPES
    turned_a, turned_b = (letter == "T" for letter in layout)
    a = m.normal(dtype, *((K, M) if turned_a else (M, K)))
    b = m.normal(dtype, *((N, K) if turned_b else (K, N)))
    c = m.empty(to, M, N)
    args = dict(a_ptr=a, b_ptr=b, c_ptr=c, M=M, N=N, K=K,
                stride_am=1 if turned_a else K, stride_ak=M if turned_a else 1,
                stride_bk=1 if turned_b else N, stride_bn=K if turned_b else 1,
                stride_cm=N, stride_cn=1)
    tries = [(dict(BLOCK_M=bm, BLOCK_N=bn, BLOCK_K=bk, GROUP_M=8, ACTIVATION=None), warps, stages)
             for bm, bn, bk, warps, stages in shapes]

    def reference(xp, rows, lo, hi):
        left = rows("a_ptr").T[lo:hi] if turned_a else rows("a_ptr", lo, hi)
        return left @ (rows("b_ptr").T if turned_b else rows("b_ptr"))
    peers = {}
    if m.torch:
        left, right = (a.T if turned_a else a), (b.T if turned_b else b)
        peers["cuBLAS"] = library(m, dtype, left, right, m.torch.empty_like(c))
    return Case("matmul.py", "matmul", args, "c_ptr",
                lambda c: (-(-M // c["BLOCK_M"]) * -(-N // c["BLOCK_N"]),), tries, reference, tol,
                flops=2 * M * N * K, peers=peers)


def add_cases(case, Case, scaled):
    for dtype, layout, size in TABLE:
        def make(m, dtype=dtype, layout=layout, size=size):
            return product(Case, m, dtype, layout, tuple(scaled(n, 64) for n in size))
        case(f"{dtype} {layout} {'x'.join(map(str, size))}")(make)
