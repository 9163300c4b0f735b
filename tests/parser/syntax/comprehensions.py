configs = [
    Config({"BLOCK": b}, num_warps=w)
    for b in (64, 128)
    for w, _ in [(4, 0), (8, 0)]
    if b > 64 or w == 4
    if b
]
pairs = {k: v for k, v in x.items()}
kinds = {k for k in x}
lazy = (k for k in (a if b else c))
keys = sorted((k for k in x), key=lambda k, *rest, flag=False, **more: (k, flag))
first = (n := 10) + n
