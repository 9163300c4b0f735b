# Fields of words are computed by the threads that load the words: the larger tile, which nothing
# else places, follows from them, and only the sum goes through shared memory.
# nereid: --sig q_ptr=*i32:16,x_ptr=*fp32:16,y_ptr=*fp32:16 --num-warps 1
import triton
import triton.language as tl


@triton.jit
def packed_words(q_ptr, x_ptr, y_ptr):
    word = tl.arange(0, 8)[:, None, None]
    field = tl.arange(0, 8)[None, :, None]
    n = tl.arange(0, 16)[None, None, :]
    q = tl.load(q_ptr + word * 16 + n)
    x = tl.load(x_ptr + word * 8 + field)
    y = ((q >> (field * 4)) & 15).to(tl.float32) * x
    tl.store(y_ptr + tl.arange(0, 16), tl.sum(tl.reshape(y, [64, 16]), 0))
