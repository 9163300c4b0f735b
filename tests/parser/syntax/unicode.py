@triton.jit
def größe(α, 变量):  # ← a comment
    "→ text"
    return α + 变量 * ªº
