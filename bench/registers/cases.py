"""Cases of kernels.py: name -> (kernel, signature as `nereid compile --sig` takes it, constexprs,
warps)."""


def strides(text):
    """`a b: 1` -> one i32 each; `:16` and `:1` as in a signature."""
    return ",".join(f"{word.split(':')[0]}=i32" + (f":{word.split(':')[1]}" if ":" in word else "")
                    for word in text.split())


def pointers(text, dtype):
    return ",".join(f"{name}=*{dtype}:16" for name in text.split())


RAGGED = (pointers("x_ptr add_ptr out_ptr", "fp32") + ",offsets_ptr=*i32:16,"
          + strides("columns x_stride out_stride out_matrix"))
TOPK = pointers("x_ptr out_ptr", "bf16") + "," + strides("tokens width row_stride column_stride")
GATHER = (pointers("x_ptr out_ptr", "fp32") + ",index_ptr=*i32:16,"
          + strides("rows width:16 x_stride:16 out_stride:16"))
PAGES = (pointers("x_ptr out_ptr", "bf16") + "," + pointers("page_ptr length_ptr", "i32") + ","
         + strides("page_stride slot_stride head_stride out_batch out_stride heads"))
SOFTMAX = pointers("x_ptr out_ptr", "bf16") + "," + strides("rows width x_stride out_stride")
CONVOLVE = (pointers("x_ptr weight_ptr out_ptr", "bf16") + ","
            + strides("length x_batch:16 x_stride:16"))
STRIDED = (pointers("x_ptr out_ptr", "fp32") + ","
           + strides("n0 n1 n2 x0 x1 x2 out0 out1 out2"))
MATMUL = (pointers("a_ptr b_ptr c_ptr", "bf16") + ","
          + strides("M N K a_row a_column b_row b_column c_row c_column"))
ROWS = (pointers("a_ptr b_ptr c_ptr", "bf16") + ","
        + strides("M:16 N:16 K:16 a_row:16 a_column:1 b_row:16 b_column:1 c_row:16 c_column:1"))
TWO = "x_ptr out_ptr"

CASES = {
    "ragged_to_dense 32 4": ("ragged_to_dense", RAGGED, dict(ROWS=32, COLS=32), 4),
    "ragged_to_dense 64 4": ("ragged_to_dense", RAGGED, dict(ROWS=64, COLS=64), 4),
    "ragged_to_dense 128 8": ("ragged_to_dense", RAGGED, dict(ROWS=128, COLS=128), 8),
    "shuffle_tokens 32 512 8": ("shuffle_tokens", pointers(TWO, "bf16") + ",count_ptr=*i32:16",
                                dict(WIDTH=5120, ROWS=32, COLS=512), 8),
    "shuffle_tokens 64 1024 16": ("shuffle_tokens", pointers(TWO, "bf16") + ",count_ptr=*i32:16",
                                  dict(WIDTH=5120, ROWS=64, COLS=1024), 16),
    "reduce_topk 64 128 4": ("reduce_topk", TOPK, dict(TOPK=8, ROWS=64, COLS=128), 4),
    "reduce_topk 128 256 8": ("reduce_topk", TOPK, dict(TOPK=8, ROWS=128, COLS=256), 8),
    "gather_rows 64 256 4": ("gather_rows", GATHER, dict(ROWS=64, COLS=256), 4),
    "gather_rows 128 128 8": ("gather_rows", GATHER, dict(ROWS=128, COLS=128), 8),
    "copy_pages 128 128 4": ("copy_pages", PAGES, dict(ROWS=128, COLS=128, PAGE=16), 4),
    "softmax_blocks 64 128 4": ("softmax_blocks", SOFTMAX, dict(ROWS=64, COLS=128), 4),
    "softmax_blocks 128 128 8": ("softmax_blocks", SOFTMAX, dict(ROWS=128, COLS=128), 8),
    "convolve_causal 64 128 4": ("convolve_causal", CONVOLVE,
                                 dict(WIDTH=2048, TAPS=4, ROWS=64, COLS=128), 4),
    "convolve_causal 128 128 8": ("convolve_causal", CONVOLVE,
                                  dict(WIDTH=2048, TAPS=4, ROWS=128, COLS=128), 8),
    "copy_strided 4 32 128 4": ("copy_strided", STRIDED, dict(B0=4, B1=32, B2=128), 4),
    "copy_strided 16 16 32 4": ("copy_strided", STRIDED, dict(B0=16, B1=16, B2=32), 4),
    "matmul 128 128 32 4": ("matmul", MATMUL, dict(BM=128, BN=128, BK=32), 4),
    "matmul 64 64 32 4": ("matmul", MATMUL, dict(BM=64, BN=64, BK=32), 4),
    "matmul 128 128 64 8 of rows": ("matmul", ROWS, dict(BM=128, BN=128, BK=64), 8),
    "sum_rows_so_far 1 4096 4": ("sum_rows_so_far", pointers(TWO, "fp32"),
                                 dict(ROWS=1, COLS=4096, AXIS=1, REVERSE=False), 4),
    "sum_rows_so_far 1 32768 16": ("sum_rows_so_far", pointers(TWO, "fp32"),
                                   dict(ROWS=1, COLS=32768, AXIS=1, REVERSE=False), 16),
    "sum_rows_so_far 1 8192 8 i64": ("sum_rows_so_far", pointers(TWO, "i64"),
                                     dict(ROWS=1, COLS=8192, AXIS=1, REVERSE=True), 8),
    "sum_rows_so_far 16 512 4 bf16": ("sum_rows_so_far", pointers(TWO, "bf16"),
                                      dict(ROWS=16, COLS=512, AXIS=1, REVERSE=False), 4),
    "sum_rows_so_far 128 64 4 down": ("sum_rows_so_far", pointers(TWO, "fp32"),
                                      dict(ROWS=128, COLS=64, AXIS=0, REVERSE=False), 4),
    "affine_so_far 4096 4": ("affine_so_far", pointers(TWO, "fp32"), dict(COLS=4096), 4),
    "affine_so_far 32768 16": ("affine_so_far", pointers(TWO, "fp32"), dict(COLS=32768), 16),
    "flip_rows 64 128 4": ("flip_rows", pointers(TWO, "fp32"), dict(ROWS=64, COLS=128), 4),
    "flip_rows 128 256 8": ("flip_rows", pointers(TWO, "fp32"), dict(ROWS=128, COLS=256), 8),
}
