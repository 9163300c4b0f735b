# nereid: --sig x=*fp32,n=i32 -D B=64
import triton
import triton.language as tl


@triton.jit
def kernel(x, n, B: tl.constexpr):
    v = tl.load(x + tl.arange(0, B))
    w = tl.load(x + tl.arange(0, 48))
    h = v.to(tl.float16)
    b = v.to(tl.int8)
    f, i = tl.float32, tl.int32
    tl.inline_asm_elementwise(n, "=r,r", [n], dtype=i, is_pure=True, pack=1)
    tl.inline_asm_elementwise("", v, [n], dtype=i, is_pure=True, pack=1)
    tl.inline_asm_elementwise("", "=r,r", [n], dtype=7, is_pure=True, pack=1)
    tl.inline_asm_elementwise("", "=r,r", [n], dtype=(), is_pure=True, pack=1)
    tl.inline_asm_elementwise("", "=r,r", [n], dtype=tl.pointer_type(i), is_pure=True, pack=1)
    tl.inline_asm_elementwise("", "=r,r", [n], dtype=i, is_pure=True, pack=0)
    tl.inline_asm_elementwise("", "=r,r", [n], dtype=i, is_pure=n, pack=1)
    tl.inline_asm_elementwise("", "=r,r", [w], dtype=i, is_pure=False, pack=1)
    tl.inline_asm_elementwise("", "=r,r", [v, w], dtype=i, is_pure=True, pack=1)
    tl.inline_asm_elementwise("", "=r,n", [n], dtype=i, is_pure=True, pack=1)
    # constraints
    tl.inline_asm_elementwise("", "=r,r,r", [n], dtype=i, is_pure=True, pack=1)
    tl.inline_asm_elementwise("", "=r,=r,r", [n], dtype=i, is_pure=True, pack=1)
    tl.inline_asm_elementwise("", "=r,x", [n], dtype=i, is_pure=True, pack=1)
    tl.inline_asm_elementwise("", "=rm,r", [n], dtype=i, is_pure=True, pack=1)
    tl.inline_asm_elementwise("", "=r,h", [v], dtype=f, is_pure=True, pack=1)
    tl.inline_asm_elementwise("", "=r,f", [h], dtype=f, is_pure=True, pack=1)
    tl.inline_asm_elementwise("", "r,=r", [n], dtype=i, is_pure=True, pack=1)
    tl.inline_asm_elementwise("", "=r,1", [n], dtype=i, is_pure=True, pack=1)
    tl.inline_asm_elementwise("", "+r", [n], dtype=i, is_pure=True, pack=1)
    tl.inline_asm_elementwise("", "=r,r", [b], dtype=tl.int8, is_pure=True, pack=6)
    tl.inline_asm_elementwise("", "=r", [n], dtype=i, is_pure=True, pack=1)
    tl.inline_asm_elementwise("", "=r,r", [v > 0], dtype=i, is_pure=True, pack=2)
    many = "=r," * 64 + "r," * 127 + "r"
    tl.inline_asm_elementwise("", many, [v, v], dtype=f, is_pure=True, pack=64)
    # the text
    tl.inline_asm_elementwise("mov.b32 $0,\n  $2;", "=r,r", [n], dtype=i, is_pure=True, pack=1)
    tl.inline_asm_elementwise("mov.b32 $0, $x;", "=r,r", [n], dtype=i, is_pure=True, pack=1)
    tl.inline_asm_elementwise("mov.b32 ${0:h}, $1;", "=r,r", [n], dtype=i, is_pure=True, pack=1)
    tl.inline_asm_elementwise("{ mov.b32 $0, $1;", "=r,r", [n], dtype=i, is_pure=True, pack=1)
    tl.inline_asm_elementwise("mov.b32 $0, $1; }", "=r,r", [n], dtype=i, is_pure=True, pack=1)
    tl.inline_asm_elementwise("mov.b32 $0, $1; /*", "=r,r", [n], dtype=i, is_pure=True, pack=1)
    tl.inline_asm_elementwise("{" * 70 + "}" * 70, "=r,r", [n], dtype=i, is_pure=True, pack=1)
    tl.inline_asm_elementwise("mov.b32 $0, $7;", "=r,n", [3], dtype=i, is_pure=True, pack=1)
