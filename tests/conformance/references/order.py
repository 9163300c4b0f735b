import numpy as np
from cases import new, normal
from references import case, eighths, typed

FILE = "order.py"


@case(FILE, tol=0)
@case(FILE, tol=0, rows=2, cols=1)
@case(FILE, tol=0, cols=256, block=256)
@case(FILE, tol=0, cols=20, block=32, options=("--num-warps", "8"))
def arg_rows(rng, rows=3, cols=75, block=128):
    x = eighths(rng, rows, cols)
    args = dict(x_ptr=x, max_ptr=new("empty", "f32", rows), argmax_ptr=new("empty", "i32", rows),
                min_ptr=new("empty", "f32", rows), argmin_ptr=new("empty", "i32", rows), cols=cols)
    expected = dict(max_ptr=x.max(1), argmax_ptr=x.argmax(1), min_ptr=x.min(1),
                    argmin_ptr=x.argmin(1))
    return args, dict(BLOCK=block), str(rows), expected


@case(FILE, tol=0)
@case(FILE, tol=0, descending=True, cols=50)
@case(FILE, tol=0, cols=256, block=(1, 256), descending=True)
def sort_rows(rng, rows=8, cols=30, block=(4, 64), descending=False):
    x = normal(rng, rows, cols)
    y = np.sort(x, 1)[:, ::-1 if descending else 1]
    args = dict(x_ptr=x, out_ptr=new("empty", "f32", rows, cols), cols=cols)
    defines = dict(DESCENDING=descending, BLOCK_R=block[0], BLOCK_C=block[1])
    return args, defines, f"{rows} // BLOCK_R", dict(out_ptr=y)


@case(FILE, tol=0)
@case(FILE, tol=0, rows=1, n=128)
def argsort_row(rng, rows=3, n=75):
    x = eighths(rng, rows, n) + np.float32(0)  # no -0, which sorts below 0 here
    args = dict(x_ptr=x, order_ptr=new("empty", "i32", rows, n), n=n)
    expected = dict(order_ptr=np.argsort(x, 1, kind="stable"))
    return args, dict(BLOCK=128), str(rows), expected


@case(FILE, tol=0)
@case(FILE, tol=0, steps=8)
def bitonic_sort(rng, steps=5):
    x = rng.integers(-1000, 1000, 1 << steps, np.int32)
    return dict(x_ptr=x), dict(BLOCK=1 << steps, STEPS=steps), "1", dict(x_ptr=np.sort(x))


@case(FILE, tol=0)
@case(FILE, tol=0, k=2)
@case(FILE, tol=0, k=32, cols=32)
def topk_rows(rng, rows=3, cols=100, k=8):
    x = normal(rng, rows, cols)
    args = dict(x_ptr=x, out_ptr=new("empty", "f32", rows, k), cols=cols)
    expected = dict(out_ptr=np.sort(x, 1)[:, :-k - 1:-1])
    return args, dict(K=k, BLOCK=32 if cols == 32 else 128), str(rows), expected


@case(FILE, tol=0)
@case(FILE, tol=0, k=32, cols=32)
def least_rows(rng, rows=3, cols=100, k=8):
    x = normal(rng, rows, cols)
    args = dict(x_ptr=x, out_ptr=new("empty", "f32", rows, k), cols=cols)
    expected = dict(out_ptr=np.sort(x, 1)[:, :k])
    return args, dict(K=k, BLOCK=32 if cols == 32 else 128), str(rows), expected


@case(FILE, tol=1e-6)
@case(FILE, tol=1e-6, experts=64, k=4)
def top_experts(rng, tokens=5, experts=20, k=2):
    x = normal(rng, tokens, experts)
    order = np.argsort(-x, 1, kind="stable")[:, :k]
    p = np.exp(np.take_along_axis(x, order, 1))
    args = dict(logits_ptr=x, weight_ptr=new("empty", "f32", tokens, k),
                index_ptr=new("empty", "i32", tokens, k), experts=experts)
    expected = dict(weight_ptr=p / p.sum(1, keepdims=True), index_ptr=order)
    return args, dict(K=k, BLOCK=64), str(tokens), expected


@case(FILE, tol=0)
@case(FILE, tol=0, threshold=0.05)
def top_p(rng, rows=5, n=50, threshold=0.75):
    """Probabilities are multiples of 1/1024, so that sums are exact."""
    p = rng.multinomial(1024, rng.dirichlet(np.ones(n)), rows).astype(np.float32) / 1024
    u = (rng.integers(0, 64, rows) / 64).astype(np.float32)
    order = np.argsort(-p, 1, kind="stable")
    q = np.take_along_axis(p, order, 1)
    sums = q.cumsum(1)
    kept = sums - q < threshold
    target = u * np.where(kept, q, 0).sum(1)
    at = (kept & (sums <= target[:, None])).sum(1)
    args = dict(p_ptr=p, u_ptr=u, choice_ptr=new("empty", "i32", rows), n=n, threshold=threshold)
    return args, dict(BLOCK=64), str(rows), dict(choice_ptr=order[np.arange(rows), at])


@case(FILE, tol=1e-5)
@case(FILE, tol=1e-5, n=64, bins=64)
def weighted_bins(rng, n=300, bins=16):
    x, w = normal(rng, n), eighths(rng, n)
    at = np.floor((x + 1) / np.float32(0.125)).astype(int)
    ok = (at >= 0) & (at < bins)
    args = dict(x_ptr=x, w_ptr=w, sums_ptr=new("zeros", "f32", bins),
                counts_ptr=new("zeros", "i32", bins), n=n, low=-1.0, width=0.125)
    expected = dict(sums_ptr=np.bincount(at[ok], w[ok], bins),
                    counts_ptr=np.bincount(at[ok], minlength=bins))
    return args, dict(BINS=bins, BLOCK=64), "cdiv(n, BLOCK)", expected


@case(FILE, tol=0)
@case(FILE, tol=0, n=1)
@case(FILE, tol=0, n=64, dtype="i8")
def run_lengths(rng, n=150, dtype="i32"):
    x, _ = typed(np.cumsum(rng.integers(0, 4, n) == 0) % 5, dtype)
    starts = np.flatnonzero(np.concatenate([[True], x[1:] != x[:-1]]))
    pad = lambda a: np.pad(a, (0, n - len(a)))
    args = dict(x_ptr=x, values_ptr=new("zeros", dtype, n), starts_ptr=new("zeros", "i32", n),
                count_ptr=new("zeros", "i32", 1), n=n)
    expected = dict(values_ptr=pad(x[starts]), starts_ptr=pad(starts),
                    count_ptr=np.array([len(starts)]))
    return args, dict(BLOCK=64), "1", expected


@case(FILE, tol=0)
@case(FILE, tol=0, n=128)
def compact(rng, n=50):
    """The blocks' order is not fixed, so one program is compared whole, several by their count."""
    x = normal(rng, n)
    kept = x[x > 0]
    args = dict(x_ptr=x, out_ptr=new("zeros", "f32", n), count_ptr=new("zeros", "i32", 1), n=n)
    expected = dict(count_ptr=np.array([len(kept)]))
    if n <= 64:
        expected["out_ptr"] = np.pad(kept, (0, n - len(kept)))
    return args, dict(BLOCK=64), "cdiv(n, BLOCK)", expected


@case(FILE, tol=0)
@case(FILE, tol=0, n=1, m=1)
@case(FILE, tol=0, n=256, m=64)
def binary_search(rng, n=100, m=75):
    s, x = np.sort(eighths(rng, n)), eighths(rng, m)
    args = dict(sorted_ptr=s, x_ptr=x, out_ptr=new("empty", "i32", m), n=n, m=m)
    expected = dict(out_ptr=np.searchsorted(s, x))
    return args, dict(BLOCK=32), "cdiv(m, BLOCK)", expected


@case(FILE, tol=0)
@case(FILE, tol=0, bins=1)
@case(FILE, tol=0, bins=128)
def bins_of_positions(rng, bins=8, limit=9):
    i = np.arange(32)
    lists = [i[:5] + 100, (i * 3 - 7).astype(np.int8), np.full(limit, 3), i // 4 * 2, i[:0]]
    counts = [np.bincount(x[(x >= 0) & (x < bins)], minlength=bins) for x in lists]
    args = dict(out_ptr=new("empty", "i32", len(lists), bins), limit=limit)
    return args, dict(BINS=bins), "1", dict(out_ptr=np.stack(counts))


@case(FILE, tol=0)
@case(FILE, tol=0, length=2, states=4)
@case(FILE, tol=0, length=9, states=32)
def likeliest_path(rng, length=20, states=16):
    emitted = rng.integers(-3, 4, (length, states)).astype(np.float32)
    step = rng.integers(-2, 3, (states, states)).astype(np.float32)
    score, best = emitted[0], []
    for t in range(1, length):
        best.append((score[:, None] + step).argmax(0))
        score = (score[:, None] + step).max(0) + emitted[t]
    args = dict(emitted_ptr=emitted, step_ptr=step, length=length,
                from_ptr=new("empty", "i32", length - 1, states),
                score_ptr=new("empty", "f32", states))
    return args, dict(STATES=states), "1", dict(from_ptr=np.stack(best), score_ptr=score)
