X = 1.44269504
Y: tl.constexpr = tl.constexpr(3)
A = B = X * 2
exp = tl.exp if tl else math.exp
if is_cuda():
    log = tl.log
else:
    log = math.log
X += 1
print("host")
assert X, "why"
kernel = triton.jit(raw)
other = triton.jit(noinline=True)(raw2)


def raw(x): return x


def raw2(x):
    for i in x:
        pass
