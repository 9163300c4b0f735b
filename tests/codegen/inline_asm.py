# nereid: --sig x=*i16:16,y=*fp32:16,n=i32 -D B=512
import triton
import triton.language as tl


@triton.jit
def inline_asm(x, y, n, B: tl.constexpr):
    """Two integers a register, a float each; a scalar; assembly that is not pure."""
    o = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + o)
    w = tl.inline_asm_elementwise(
        """
        {
            // 1.0 where the bit is set
            .reg .pred %p;
            .reg .b16 h<2>;
            mov.b32 {h0, h1}, $2;
            cvt.rn.f32.s16 $0, h0;
            setp.lt.s16 %p, h1, 0;
            selp.f32 $1, 0f3F800000, 0f00000000, %p;
        @%p add.rn.ftz.f32 $0, $0, $3;
            mov.b32 $0, $1;
        }
        """, "=f,=f,r,f,f", [v, 0.5], dtype=tl.float32, is_pure=True, pack=2)
    k = tl.inline_asm_elementwise("add.s32 $0, $0, $2;", "=r,0,n", [n, 3], dtype=tl.int32,
                                  is_pure=False, pack=1)
    if k > 7:
        tl.store(y + o, w + k)
