"""The softmax of each row of a matrix; what the compiler made of it; and a kernel at fault."""

import numpy as np

import nereid
import nereid.language as tl


@nereid.jit
def softmax(x_ptr, out_ptr, x_stride, out_stride, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * x_stride + cols, mask=mask, other=float("-inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * out_stride + cols, e / tl.sum(e, axis=0), mask=mask)


rng = np.random.default_rng(0)
x = rng.standard_normal((200, 781), dtype=np.float32)
out = np.empty_like(x)
arguments = x, out, x.shape[1], out.shape[1], x.shape[1]
block = nereid.next_power_of_2(x.shape[1])

compiled = softmax[(x.shape[0],)](*arguments, BLOCK=block)
e = np.exp(x - x.max(axis=1, keepdims=True))
error = np.abs(out - e / e.sum(axis=1, keepdims=True)).max()
print(f"largest error {error:.1e}")
assert error < 1e-6

# Every stage of the compilation is a text.
print("stages:", *sorted(compiled.asm))

# A block that is too small is not seen in the results of all rows; `interp` finds what is read
# and written out of bounds, or never written.
checked = nereid.jit(softmax.fn, interpret=True)
try:
    checked[(x.shape[0] + 1,)](*arguments, BLOCK=block)
except nereid.InterpreterError as error:
    print(f"one program too many: {str(error).splitlines()[0]}")
else:
    raise SystemExit("a row out of bounds was not found")
