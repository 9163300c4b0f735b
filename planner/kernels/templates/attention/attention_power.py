@triton.jit
def {{name}}_power(x):
    # 2^x of no more than 0, whose last bits are lost anyway where it becomes a float of 16 bits:
    # 2^n * p(x - n) by 2^-18, and 0 below 2^-126.
    x = tl.maximum(x, -127.0, propagate_nan=tl.PropagateNan.ALL)
    n = x + 12583039.0
    x = x - (n - 12583039.0)
    p = tl.fma(x, 0.0095701, 0.05591786)
    p = tl.fma(p, x, 0.24024745)
    p = tl.fma(p, x, 0.69312181)
    p = tl.fma(p, x, 0.99999926)
    return p * (n.to(tl.int32, bitcast=True) << 23).to(tl.float32, bitcast=True)
