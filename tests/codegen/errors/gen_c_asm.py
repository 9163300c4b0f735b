# nereid: --sig x=*i32,n=i32 --target cpu:8 --emit c
import triton
import triton.language as tl


@triton.jit
def asm(text: tl.constexpr, v):
    return tl.inline_asm_elementwise(text, "=r,r", [v], dtype=tl.int32, is_pure=True, pack=1)


@triton.jit
def kernel(x, n):
    v = asm("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {$0}, [$1];", n)
    v += asm("mov.u32 $0, %tid.x;", n)
    v += asm("add.s32 $0, $1, t;", n)
    v += asm("again: bra again;", n)
    v += asm("{ .reg .f128 t; }", n)
    v += asm("{ .shared .b32 t; }", n)
    v += asm("add.s32 $0, $1, 99999999999999999999;", n)
    v += asm("add.s32 $0, $1, 0f3F8;", n)
    v += asm("add.s32 $0, $1 5;", n)
    v += asm("add.s32 $0, $1;", n)
    v += asm("add.f32 $0, $1, 5;", n)
    v += asm("add.s64 $0, $1, 5;", n)
    v += asm("add.s32 5, $1, $1;", n)
    v += asm("mov.b32 {$0, $0}, $1;", n)
    v += asm("add.rz.f32 $0, $1, $1;", n)
    v += asm("cvt.rn.s32.f32 $0, $1;", n)
    v += asm("@%p mov.b32 $0, $1;", n)
    v += asm("ld.global.b32 $0, [$1];", n)
    v += asm("{ .reg .b32 ; }", n)
    v += asm("{ .reg .b32 t<99999>; }", n)
    v += asm("+", n)
    v += asm("add.s32 $0, $1, !$1;", n)
    tl.store(x, v)
