# Several functions of one name, under conditions.
if old:
    @triton.jit
    def exp(x): return tl.math.exp(x)
else:
    try:
        @triton.jit
        def exp(x): return tl.exp(x)
    except Exception as e:
        exp = None
    finally:
        done = True
with warnings.catch_warnings():
    @triton.jit
    def log(x): return x
for _ in range(2):
    @triton.jit
    def log(x): return x
