"""Complex numbers: made and taken apart, arithmetic, views, products; transforms."""
import numpy as np

rng = np.random.default_rng(11)


def normal(*shape, dtype=np.complex64):
    return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)


def real(*shape, dtype=np.float32):
    return rng.normal(size=shape).astype(dtype)


ARRAYS = {
    "z": normal(3, 4),
    "w": normal(3, 4),
    "v": normal(4),
    "w_d": normal(3),
    "m": normal(4, 5),
    "b": normal(2, 3, 4),
    "c": normal(2, 4, 3),
    "d": normal(3, 4, dtype=np.complex128),
    "s_z": normal(2, 6),
    "x": real(3, 4),
    "y": real(3, 4),
    "p": real(2, 3, 8),
    "q": real(2, 3, 4, 2),
    "i": np.array([[2, 0], [1, 1]]),
    "k": np.array([True, False, True, True]),
    "odd": np.array([0, 1e30 + 1e30j, 1e-30 + 1e-30j, -2, 1j, -1j, 3 - 0j], np.complex64),
    "f": real(3, 12),
    "g": real(2, 5, 6),
    "h": normal(2, 5, 7),
    "l": normal(2, 300),
    "n": real(2, 386),
    "o": normal(2, 151),
    "r": normal(1, 2053),
    "s_f": real(2, 9),
    "s_h": normal(3, 5),
    "t": real(2, 40),
    "u": real(8),
    "e": normal(2, 9, 7),
    "sq": normal(2, 3, 3) + 3 * np.eye(3, dtype=np.complex64),
    "sq_d": normal(5, 5, dtype=np.complex128) + 3 * np.eye(5),
    "pure": np.diag([2j, 1, 1j]).astype(np.complex64)[::-1].copy(),
    "low": np.array([[1, 1j, 2], [1j, -1, 1], [2, 2j, 3]], np.complex64),
    "cols": normal(2, 3, 4),
    "col": normal(2, 3),
    "right": normal(2, 4, 3),
    "one": normal(3, 2),
    "cols_d": normal(5, 2, dtype=np.complex128),
    "four": normal(4, 2, 2) + 3 * np.eye(2, dtype=np.complex64),
    "wide": normal(2, 4),
    "rows": normal(600, 40), "to": normal(40, 70),
    "rows_d": normal(600, 24, dtype=np.complex128), "to_d": normal(24, 40, dtype=np.complex128),
    "turned": normal(3, 33, 21), "turned_d": normal(2, 18, 5, dtype=np.complex128),
    "s_turned": normal(2, 5, 37), "turned_4": normal(2, 3, 16, 32),
    "far": np.array([np.inf + 1j, np.nan, 1 + np.nan * 1j, 5, 0], np.complex64),
}


def join(z):
    return np.stack([z.real, z.imag], -1)


def rotate(p, v):
    """Rotary embeddings by complex products."""
    parts = p.reshape(2, 3, 4, 2)
    return join((parts[..., 0] + 1j * parts[..., 1]) * v).reshape(2, 3, 8).astype(np.float32)


def unary(name, f=None, operand="z"):
    return (f"{name}.default({operand})", f or getattr(np, name))


def c64(x):
    return x.astype(np.complex64)


def f32(x):
    return x.astype(np.float32)


def short_transform(t, u, center=True, onesided=True):
    window = np.pad(u, 4)
    x = np.pad(t, [(0, 0), (8, 8)], mode="reflect") if center else t
    pieces = np.stack([x[:, i:i + 16] for i in range(0, x.shape[1] - 15, 4)], 1)
    return c64((np.fft.rfft if onesided else np.fft.fft)(pieces * window).transpose(0, 2, 1))


def inverse_short_transform(e, length=None):
    pieces = np.fft.irfft(e.transpose(0, 2, 1), 16)
    y, n = np.zeros((2, 40)), np.zeros(40)
    for i in range(7):
        y[:, 4 * i:4 * i + 16] += pieces[:, i]
        n[4 * i:4 * i + 16] += 1
    return f32((y / n)[:, 8:32])


def scatter_diagonal(z, w_d):
    y = z.copy()
    y[[0, 1, 2], [1, 2, 3]] = w_d
    return y


CASES = [
    ("view.default(p, [2, 3, 4, 2]); view_as_complex.default($0); mul.Tensor($1, v);"
     " view_as_real.default($2); flatten.using_ints($3, 2)", rotate),
    ("view_as_complex.default(q)", lambda q: q[..., 0] + 1j * q[..., 1]),
    ("view_as_real.default(z)", join),
    ("view_as_real.default(d)", join),
    ("complex.default(x, y)", lambda x, y: x + 1j * y),
    ("polar.default(x, y)", lambda x, y: (x * np.exp(1j * y)).astype(np.complex64)),
    ("real.default(z)", lambda z: z.real),
    ("imag.default(z)", lambda z: z.imag),
    ("real.default(x)", lambda x: x),
    ("conj.default(z)", np.conj),
    ("_conj.default(z)", np.conj),
    ("resolve_conj.default(z)", lambda z: z),
    ("abs.default(z)", np.abs),
    ("abs.default(odd)", np.abs),
    ("angle.default(z)", np.angle),
    ("angle.default(odd)", np.angle),
    ("add.Tensor(z, w)", lambda z, w: z + w),
    ("add.Tensor(z, w, alpha=2)", lambda z, w: z + 2 * w),
    ("add.Tensor(z, w, alpha=complex(0.5, 2))", lambda z, w: z + np.complex64(0.5 + 2j) * w),
    ("add.Tensor(x, w, alpha=complex(0, -1))", lambda x, w: x - np.complex64(1j) * w),
    ("sub.Tensor(z, x, alpha=complex(3, 1))", lambda z, x: z - np.complex64(3 + 1j) * x),
    ("rsub.Scalar(z, 1.5, complex(0, 2))",
     lambda z: np.float32(1.5) - np.complex64(2j) * z),
    ("add.Tensor(z, x)", lambda z, x: z + x),
    ("add.Tensor(z, 1.5)", lambda z: z + np.float32(1.5)),
    ("add.Tensor(z, d)", lambda z, d: z + d),
    ("sub.Tensor(z, v)", lambda z, v: z - v),
    ("sub.Tensor(x, z)", lambda x, z: x - z),
    ("rsub.Scalar(z, 2)", lambda z: 2 - z),
    ("mul.Tensor(z, w)", lambda z, w: z * w),
    ("mul.Tensor(z, x)", lambda z, x: z * x),
    ("mul.Tensor(z, d)", lambda z, d: z * d),
    ("mul.Scalar(z, 3)", lambda z: z * np.float32(3)),
    ("div.Tensor(z, w)", lambda z, w: z / w),
    ("div.Tensor(z, x)", lambda z, x: z / x),
    ("div.Tensor(x, z)", lambda x, z: x / z),
    ("div.Scalar(z, 4)", lambda z: z / np.float32(4)),
    unary("reciprocal"),
    unary("square"),
    unary("exp"),
    unary("log"),
    unary("sqrt"),
    ("sqrt.default(odd)", np.sqrt),
    unary("sin"),
    unary("cos"),
    unary("sinh"),
    unary("cosh"),
    ("sigmoid.default(z)", lambda z: 1 / (1 + np.exp(-z))),
    ("neg.default(z)", lambda z: -z),
    ("sgn.default(z)", lambda z: z / np.abs(z)),
    ("pow.Tensor_Scalar(z, 2)", lambda z: z ** 2),
    ("pow.Tensor_Scalar(z, 3)", lambda z: z * z * z),
    ("pow.Tensor_Scalar(z, -1)", lambda z: 1 / z),
    ("pow.Tensor_Scalar(d, 0.3)", lambda d: d ** 0.3),
    ("eq.Tensor(z, w)", np.equal),
    ("ne.Tensor(z, w)", np.not_equal),
    ("isnan.default(far)", np.isnan),
    ("isinf.default(far)", np.isinf),
    ("isfinite.default(far)", np.isfinite),
    ("mm.default(z, m)", lambda z, m: z @ m),
    ("bmm.default(b, c)", lambda b, c: b @ c),
    ("matmul.default(b, m)", lambda b, m: b @ m),
    ("matmul.default(x, m)", lambda x, m: x @ m),
    ("matmul.default(z, right)", lambda z, right: z @ right),
    ("mm.default(rows, to)", lambda rows, to: rows @ to),
    ("mm.default(rows_d, to_d)", lambda rows_d, to_d: rows_d @ to_d),
    ("einsum.default('ij,jk->ki', [z, m])", lambda z, m: (z @ m).T),
    ("vdot.default(v, v)", lambda v: np.vdot(v, v)),
    ("dot.default(v, v)", lambda v: np.dot(v, v)),
    ("linalg_vector_norm.default(z)", lambda z: np.float32(np.linalg.norm(z))),
    ("adjoint.default(b)", lambda b: np.conj(b.transpose(0, 2, 1))),
    ("view.default(z, [2, 6])", lambda z: z.reshape(2, 6)),
    ("permute.default(b, [2, 0, 1])", lambda b: b.transpose(2, 0, 1)),
    ("new_empty_strided.default(z, [3, 4], [4, 1]); copy.default($0, w)", lambda z, w: w),
    # Copies in another order of axes: pairs are transposed as words of 64 bits, or row by row.
    *((f"permute.default(turned, {list(axes)}); clone.default($0)",
       lambda z, axes=axes: z.transpose(axes))
      for axes in ((0, 2, 1), (2, 0, 1), (2, 1, 0), (1, 0, 2))),
    ("permute.default(turned_d, [2, 0, 1])", lambda z: z.transpose(2, 0, 1)),
    ("permute.default(s_turned, [2, 1, 0])", lambda z: z.transpose(2, 1, 0)),
    ("transpose.int(s_turned, 1, 2); clone.default($0)", lambda z: z.transpose(0, 2, 1)),
    ("permute.default(turned_4, [3, 0, 2, 1])", lambda z: z.transpose(3, 0, 2, 1)),
    ("transpose.int(turned_4, 2, 3); clone.default($0); mul.Tensor($1, $1)",
     lambda z: z.transpose(0, 1, 3, 2) ** 2),
    ("slice.Tensor(turned, 1, 2, 31); slice.Tensor($0, 2, 1, 21); permute.default($1, [2, 0, 1])",
     lambda z: z[:, 2:31, 1:].transpose(2, 0, 1)),
    ("slice.Tensor(turned, 2, 0, 21, 3); permute.default($0, [2, 1, 0])",
     lambda z: z[..., ::3].transpose(2, 1, 0)),
    ("fft_fft.default(turned); permute.default($0, [0, 2, 1]); clone.default($1); "
     "fft_ifft.default($2)",
     lambda z: c64(np.fft.ifft(np.fft.fft(z).transpose(0, 2, 1)))),
    ("slice.Tensor(z, 1, 1, 3)", lambda z: z[:, 1:3]),
    ("select.int(b, 1, 2)", lambda b: b[:, 2]),
    ("cat.default([z, x], 1)", lambda z, x: np.concatenate([z, x], 1)),
    ("stack.default([z, w], 0)", lambda z, w: np.stack([z, w])),
    ("split.Tensor(b, 2, 1) -> 0,1", lambda b: (b[:, :2], b[:, 2:])),
    ("unbind.int(z) -> 0,2", lambda z: (z[0], z[2])),
    ("flip.default(z, [0])", lambda z: z[::-1]),
    ("roll.default(z, [1], [1])", lambda z: np.roll(z, 1, 1)),
    ("expand.default(v, [3, 4])", lambda v: np.broadcast_to(v, (3, 4))),
    ("index.Tensor(z, [i])", lambda z, i: z[i]),
    ("gather.default(z, 0, i)",
     lambda z, i: np.take_along_axis(z[:, :2], i, 0)),
    ("where.self(k, z, w)", np.where),
    ("where.self(k, z, x)", np.where),
    ("masked_fill.Scalar(z, k, 1.5)", lambda z, k: np.where(k, np.complex64(1.5), z)),
    ("constant_pad_nd.default(z, [1, 2], 3.0)",
     lambda z: np.pad(z, [(0, 0), (1, 2)], constant_values=3)),
    ("sum.dim_IntList(b, [1, 2])", lambda b: b.sum((1, 2))),
    ("mean.dim(b, [0])", lambda b: b.mean(0)),
    ("cumsum.default(z, 1)", lambda z: np.cumsum(z, 1)),
    ("zeros_like.default(z)", np.zeros_like),
    ("ones_like.default(z)", np.ones_like),
    ("full.default([2], 3, dtype=torch.complex64)", lambda: np.full(2, 3, np.complex64)),
    ("zeros.default([2], dtype=torch.complex128)", lambda: np.zeros(2, np.complex128)),
    ("_to_copy.default(x, dtype=torch.complex64)", lambda x: x.astype(np.complex64)),
    ("_to_copy.default(z, dtype=torch.complex128)", lambda z: z.astype(np.complex128)),
    ("_to_copy.default(z, dtype=torch.float32)", lambda z: z.real),
    ("_to_copy.default(odd, dtype=torch.bool)", lambda z: z.astype(bool)),
    ("prims.convert_element_type.default(x, torch.complex64)", c64),
    ("prims.convert_element_type.default(i, torch.complex128)", lambda i: i + 0j),
    ("prims.convert_element_type.default(d, torch.complex64)", c64),
    ("prims.convert_element_type.default(z, torch.float64)", lambda z: z.real.astype(float)),
    ("prims.convert_element_type.default(odd, torch.bool)", lambda z: z.astype(bool)),
    ("mul.Scalar(z, complex(0.5, -2))", lambda z: z * np.complex64(0.5 - 2j)),
    ("mul.Scalar(x, complex(0, 1))", lambda x: x * np.complex64(1j)),
    ("scalar_tensor.default(complex(3, -1), dtype=torch.complex64)", lambda: np.complex64(3 - 1j)),
    ("full.default([2], complex(3, -1), dtype=torch.complex64)",
     lambda: np.full(2, 3 - 1j, np.complex64)),
    ("diagonal_scatter.default(z, w_d, 1)", scatter_diagonal),
    ("mul.Tensor(s_z, s_z); view_as_real.default($0)", lambda z: join(z * z)),
    ("linear.default(z, w)", lambda z, w: z @ w.T),
    ("fft_fft.default(z)", lambda z: c64(np.fft.fft(z))),
    ("fft_fft.default(d)", np.fft.fft),
    ("fft_fft.default(f, 8, 0)", lambda f: c64(np.fft.fft(f, 8, 0))),
    ("fft_fft.default(f, 8, 1, 'ortho')", lambda f: c64(np.fft.fft(f, 8, 1, "ortho"))),
    ("fft_ifft.default(z)", lambda z: c64(np.fft.ifft(z))),
    ("fft_ifft.default(z, None, 0, 'forward')",
     lambda z: c64(np.fft.ifft(z, axis=0, norm="forward"))),
    ("fft_fft.default(l)", lambda l: c64(np.fft.fft(l))),
    ("fft_ifft.default(l)", lambda l: c64(np.fft.ifft(l))),
    ("fft_fft.default(o)", lambda o: c64(np.fft.fft(o))),
    ("fft_rfft.default(f)", lambda f: c64(np.fft.rfft(f))),
    ("fft_rfft.default(n)", lambda n: c64(np.fft.rfft(n))),
    ("fft_rfft.default(g, None, 1)", lambda g: c64(np.fft.rfft(g, axis=1))),
    ("fft_irfft.default(h)", lambda h: f32(np.fft.irfft(h))),
    ("fft_irfft.default(h, 13)", lambda h: f32(np.fft.irfft(h, 13))),
    ("fft_irfft.default(h, 6, 1)", lambda h: f32(np.fft.irfft(h, 6, 1))),
    ("fft_irfft.default(l)", lambda l: f32(np.fft.irfft(l))),
    ("fft_irfft.default(l, 597)", lambda l: f32(np.fft.irfft(l, 597))),
    ("fft_hfft.default(h)", lambda h: f32(np.fft.hfft(h))),
    ("fft_ihfft.default(f)", lambda f: c64(np.fft.ihfft(f))),
    ("fft_fft2.default(g)", lambda g: c64(np.fft.fft2(g))),
    ("fft_ifft2.default(h)", lambda h: c64(np.fft.ifft2(h))),
    ("fft_rfft2.default(g)", lambda g: c64(np.fft.rfft2(g))),
    ("fft_irfft2.default(h)", lambda h: f32(np.fft.irfft2(h))),
    ("fft_rfft2.default(g, [8, 4], [0, 1], 'ortho')",
     lambda g: c64(np.fft.rfft2(g, [8, 4], [0, 1], "ortho"))),
    ("fft_fftn.default(g)", lambda g: c64(np.fft.fftn(g))),
    ("fft_ifftn.default(h, [3, 4])", lambda h: c64(np.fft.ifftn(h, [3, 4], [1, 2]))),
    ("fft_rfftn.default(g)", lambda g: c64(np.fft.rfftn(g))),
    ("fft_irfftn.default(h)", lambda h: f32(np.fft.irfftn(h))),
    ("_fft_r2c.default(g, [1, 2], 0, True)", lambda g: c64(np.fft.rfft2(g))),
    ("_fft_r2c.default(g, [2], 2, False)", lambda g: c64(np.fft.fft(g, norm="forward"))),
    ("_fft_c2c.default(h, [1, 2], 1, False)", lambda h: c64(np.fft.ifft2(h, norm="ortho"))),
    ("_fft_c2r.default(h, [1, 2], 2, 12)", lambda h: f32(np.fft.irfft2(h))),
    ("fft_fftshift.default(g)", np.fft.fftshift),
    ("fft_ifftshift.default(g, [1])", lambda g: np.fft.ifftshift(g, [1])),
    ("fft_fftshift.default(z)", np.fft.fftshift),
    ("fft_fftfreq.default(7, 0.5)", lambda: f32(np.fft.fftfreq(7, 0.5))),
    ("fft_fftfreq.default(8)", lambda: f32(np.fft.fftfreq(8))),
    ("fft_rfftfreq.default(8, 2.0)", lambda: f32(np.fft.rfftfreq(8, 2.0))),
    ("fft_rfft.default(s_f)", lambda s_f: c64(np.fft.rfft(s_f))),
    ("fft_fft.default(s_h); fft_ifft.default($0)", lambda s_h: s_h),
    ("fft_irfft.default(s_h, 8)", lambda s_h: f32(np.fft.irfft(s_h, 8))),
    ("stft.center(t, 16, 4, 8, u, return_complex=True)", short_transform),
    ("stft.default(t, 16, 4, 8, u, False, False, True)",
     lambda t, u: short_transform(t, u, False, False)),
    ("istft.default(e, 16)", inverse_short_transform),
    ("istft.default(e, 16, length=20)", lambda e: inverse_short_transform(e)[:, :20]),
]

CASES += [
    ("hann_window.default(9)", lambda: f32(np.hanning(10)[:9])),
    ("hann_window.periodic(9, False)", lambda: f32(np.hanning(9))),
    ("hamming_window.periodic(8, False)", lambda: f32(np.hamming(8))),
    ("hamming_window.periodic_alpha_beta(8, False, 0.6, 0.4)",
     lambda: f32(0.6 - 0.4 * np.cos(2 * np.pi * np.arange(8) / 7))),
    ("blackman_window.periodic(8, False, dtype=torch.float64)", lambda: np.blackman(8)),
    ("bartlett_window.periodic(8, False)", lambda: f32(np.bartlett(8))),
    ("bartlett_window.default(1)", lambda: np.ones(1, np.float32)),
    ("mul.Tensor(z, complex(0, 1.0))", lambda z: z * 1j),
    ("add.Tensor(d, complex(-0.1, 1))", lambda d: d + (-0.1 + 1j)),
]

# Matrices, of which the real ones have twice the rows.  The right-hand side [2, 4] of four matrices
# of two rows is then as large as these without their columns, and no vectors.
CASES += [
    ("linalg_inv.default(sq)", np.linalg.inv),
    ("inverse.default(pure)", np.linalg.inv),
    ("linalg_inv_ex.default(sq_d) -> 0,1", lambda a: (np.linalg.inv(a), np.int32(0))),
    ("linalg_inv_ex.default(low) -> 1", lambda a: np.int32(2)),
    ("linalg_solve.default(sq, cols)", np.linalg.solve),
    ("linalg_solve.default(sq, col)", lambda a, b: np.linalg.solve(a, b[..., None])[..., 0]),
    ("linalg_solve.default(sq, one)", lambda a, b: np.linalg.solve(a, np.stack([b, b]))),
    ("linalg_solve.default(four, wide)", lambda a, b: np.linalg.solve(a, np.stack([b] * 4))),
    ("linalg_solve.default(sq, right, left=False)",
     lambda a, b: (b.astype(np.complex128) @ np.linalg.inv(a.astype(np.complex128)))
     .astype(np.complex64)),
    ("_linalg_solve_ex.default(sq_d, cols_d) -> 0,3",
     lambda a, b: (np.linalg.solve(a, b), np.int32(0))),
    ("_linalg_solve_ex.default(low, one) -> 3", lambda a, b: np.int32(2)),
    ("linalg_solve.default(sq, one); mul.Tensor($0, $0); real.default($1)",
     lambda a, b: (np.linalg.solve(a, np.stack([b, b])) ** 2).real),
]

# Sums of thousands of elements, as far as f32 goes.
CASES += [
    ("fft_fft.default(r); div.Tensor($0, 45.3)", lambda r: c64(np.fft.fft(r) / 45.3)),
]
