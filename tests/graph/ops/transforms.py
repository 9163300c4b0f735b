"""Fourier transforms of many lengths: kernels of one radix and of several, along any axis."""
import numpy as np

rng = np.random.default_rng(43)


def real(*shape, dtype=np.float32):
    return rng.normal(size=shape).astype(dtype)


def normal(*shape, dtype=np.complex64):
    return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)


# Rows that are fewer than a vector's lanes, as many, and more by one; radices up to 32, also
# primes; odd and even lengths, two and three radices.
LENGTHS = {"a": (3, 2), "b": (16, 3), "c": (17, 8), "d": (5, 31), "e": (17, 32), "f": (4, 45),
           "g": (33, 64), "h": (2, 400), "i": (17, 210), "j": (2, 1331), "k": (1, 2048)}
ARRAYS = {name: real(*shape) for name, shape in LENGTHS.items()}
ARRAYS |= {f"z{name}": normal(*shape) for name, shape in LENGTHS.items() if name != "k"}
ARRAYS |= {
    "l": real(3, 12, 20),
    "m": normal(2, 48, 17),
    "n": normal(2, 6, 3),
    "o": real(17, 60, dtype=np.float64),
    "p": normal(5, 36, dtype=np.complex128),
    "q": real(2, 300),
    "s": normal(4, 3, 10),
    "s_x": real(3, 91),
    "s_y": normal(2, 5, 19),
    "u": real(1, 3000),
    "zu": normal(1, 3000),
    "v": real(2, 16 * 37),
    "w": real(1, 12000),
    "y": normal(1, 521),
    "hann": np.hanning(64).astype(np.float32),
    "hann_z": np.hanning(45).astype(np.float32),
    "signal": real(3, 700),
    "hann_512": np.hanning(512).astype(np.float32),
}
# Lengths by vectors along rows: rows of the scratch that are fewer than lanes, three radices, f64;
# and lengths that are convolutions with chirps.
LONG = {"la": (3, 512), "lb": (2, 480), "lc": (1, 2304), "ld": (3, 101), "le": (2, 202)}
ARRAYS |= {name: real(*shape) for name, shape in LONG.items()}
ARRAYS |= {f"z{name}": normal(*shape) for name, shape in LONG.items()}
ARRAYS |= {
    "half_la": normal(3, 257),
    "half_lb": normal(2, 241),
    "half_ld": normal(3, 51),
    "half_le": normal(2, 102),
    "long_row": normal(1, 8208),
    "wide": real(3, 96, dtype=np.float64),
    "zwide": normal(2, 112, dtype=np.complex128),
    "zprime": normal(2, 97, dtype=np.complex128),
    "middle": real(2, 101, 3),
    "zmiddle": normal(2, 101, 3),
    # Lanes that are neighbours in memory, by two radices and three: halves of spectra end between
    # the results of the last one, or within them.
    "near_a": real(2, 64, 19), "near_b": real(1, 1331, 3), "near_c": real(1, 48, 33),
    "near_d": real(2, 105, 5, dtype=np.float64),
    # Rows that are transformed two at a time: by two radices and three, with runs of 16 elements.
    "two_a": normal(4, 64), "two_b": real(2, 3, 2, 128), "two_c": normal(2, 320),
    "two_d": real(6, 256), "two_e": normal(4, 16, dtype=np.complex128),
    "two_f": real(2, 32, dtype=np.float64), "two_g": real(2, 1024), "ramp_256": real(256),
    "windows": real(2, 5, 3, 40), "zwindows": normal(4, 2, 3),
    # Halves of spectra that are filled with zeros: of even and odd lengths.
    "part_a": normal(3, 33), "part_b": normal(2, 5, 23, dtype=np.complex128),
    "part_c": normal(2, 33, 17), "part_e": normal(1, 52),
    "znear_a": normal(2, 33, 19), "znear_b": normal(1, 666, 3), "znear_c": normal(1, 2310, 2),
}


def c64(x):
    return x.astype(np.complex64)


def framed(x, length, hop):
    return np.stack([x[:, i:i + length] for i in range(0, x.shape[1] - length + 1, hop)], 1)


def overlapped(x, total, hop):
    """[N, windows, M, length] added along an axis where windows overlap: [N, total, M]"""
    y = np.zeros((x.shape[0], total, x.shape[2]), x.dtype)
    for i in range(x.shape[1]):
        y[:, i * hop:i * hop + x.shape[3]] += x[:, i].transpose(0, 2, 1)
    return y


def filled(x, n, axis=-1):
    pads = [(0, 0)] * x.ndim
    pads[axis] = (0, n - x.shape[axis])
    return np.pad(x, pads)


def real_part(name, shape, axis, axes, scaling=0, dtype="complex64"):
    """The gradient of a transform of real elements, as autograd has it."""
    size = shape[axis] // 2 + 1
    return (f"full.default({list(shape)}, 0, dtype=torch.{dtype}); "
            f"slice_scatter.default($0, {name}, {axis}, 0, {size}); "
            f"_fft_c2c.default($1, {list(axes)}, {scaling}, False); view_as_real.default($2); "
            f"select.int($3, {len(shape)}, 0)")


CASES = [(f"fft_rfft.default({name})", lambda x: c64(np.fft.rfft(x))) for name in LENGTHS]
CASES += [
    *((real_part("part_a", (3, n), 1, [1]),
       lambda x, n=n: np.fft.ifft(filled(x, n)).real.astype(np.float32) * n) for n in (64, 65)),
    (real_part("part_b", (2, 5, 45), 2, [1, 2], 1, "complex128"),
     lambda x: np.fft.ifft2(filled(x, 45), norm="ortho").real),
    (real_part("part_c", (2, 64, 17), 1, [2, 1, 0], 2),
     lambda x: np.fft.ifftn(filled(x, 64, 1)).real.astype(np.float32)),
    (real_part("part_e", (1, 103), 1, [1], 2),
     lambda x: np.fft.ifft(filled(x, 103)).real.astype(np.float32)),
    ("fft_rfft.default(two_b); mul.Tensor($0, $0); view_as_real.default($1); select.int($2, 4, 1)",
     lambda x: c64(np.fft.rfft(x) ** 2).imag),
    ("fft_irfft2.default(part_c, [64, 32])",
     lambda x: np.fft.irfft2(x, (64, 32)).astype(np.float32)),
]
CASES += [(f"fft_fft.default(z{name})", lambda x: c64(np.fft.fft(x)))
          for name in LENGTHS if name != "k"]
CASES += [(f"fft_irfft.default(z{name}, {n})",
           lambda x, n=n: np.fft.irfft(x, n).astype(np.float32))
          for name, (_, m) in LENGTHS.items() for n in (2 * m - 1, 2 * m - 2) if name in "abcfgi"]
CASES += [(f"fft_rfft.default({name})", lambda x: c64(np.fft.rfft(x))) for name in LONG]
CASES += [(f"fft_fft.default(z{name})", lambda x: c64(np.fft.fft(x))) for name in LONG]
CASES += [(f"fft_irfft.default(half_{name}, {n})",
           lambda x, n=n: np.fft.irfft(x, n).astype(np.float32))
          for name, n in (("la", 512), ("lb", 480), ("ld", 101), ("ld", 100), ("le", 202))]
CASES += [
    ("fft_fft.default(long_row)", lambda x: c64(np.fft.fft(x))),
    ("fft_rfft.default(wide)", np.fft.rfft),
    ("fft_ifft.default(zwide)", np.fft.ifft),
    ("fft_irfft.default(zwide, 222)", lambda x: np.fft.irfft(x, 222)),
    ("fft_irfft.default(zwide, 192, -1, 'ortho')",
     lambda x: np.fft.irfft(x, 192, norm="ortho")),
    ("fft_fft.default(zprime, None, -1, 'forward')", lambda x: np.fft.fft(x, norm="forward")),
    ("fft_rfft.default(la, None, -1, 'ortho')", lambda x: c64(np.fft.rfft(x, norm="ortho"))),
    ("fft_rfft.default(middle, None, 1)", lambda x: c64(np.fft.rfft(x, axis=1))),
    ("fft_ifft.default(zmiddle, None, 1)", lambda x: c64(np.fft.ifft(x, axis=1))),
    ("fft_irfft.default(zmiddle, 97, 1)",
     lambda x: np.fft.irfft(x, 97, axis=1).astype(np.float32)),
    *((f"fft_rfft.default(near_{name}, None, 1)", lambda x: c64(np.fft.rfft(x, axis=1)))
      for name in "abc"),
    ("fft_rfft.default(near_d, None, 1)", lambda x: np.fft.rfft(x, axis=1)),
    *((f"fft_irfft.default(znear_{name}, {n}, 1)",
       lambda x, n=n: np.fft.irfft(x, n, axis=1).astype(np.float32))
      for name, n in (("a", 64), ("a", 65), ("b", 1331), ("b", 1330), ("c", 4000))),
    ("fft_ifft.default(znear_c, None, 1, 'ortho')",
     lambda x: c64(np.fft.ifft(x, axis=1, norm="ortho"))),
    ("fft_fft.default(znear_a, None, 1); permute.default($0, [0, 2, 1])",
     lambda x: c64(np.fft.fft(x, axis=1).transpose(0, 2, 1))),
    ("fft_rfft.default(near_a, None, 0); permute.default($0, [1, 2, 0])",
     lambda x: c64(np.fft.rfft(x, axis=0).transpose(1, 2, 0))),
    *((f"fft_fft.default(two_{name})", np.fft.fft) for name in "e"),
    *((f"fft_ifft.default(two_{name})", lambda x: c64(np.fft.ifft(x))) for name in "ac"),
    *((f"fft_rfft.default(two_{name})", lambda x: c64(np.fft.rfft(x))) for name in "bd"),
    ("fft_rfft.default(two_f, None, -1, 'ortho')", lambda x: np.fft.rfft(x, norm="ortho")),
    *((f"fft_irfft.default(two_{name}, {n})",
       lambda x, n=n: np.fft.irfft(x, n).astype(np.float32)) for name, n in (("a", 126), ("a", 128),
                                                                          ("c", 384))),
    ("fft_irfft.default(two_e, 32)", lambda x: np.fft.irfft(x, 32)),
    ("slice.Tensor(two_c, 1, 7, 200); fft_irfft.default($0, 256, -1, 'forward')",
     lambda x: np.fft.irfft(x[:, 7:200], 256, norm="forward").astype(np.float32)),
    ("fft_fft2.default(two_a)", lambda x: c64(np.fft.fft2(x))),
    ("fft_rfft2.default(two_b)", lambda x: c64(np.fft.rfft2(x))),
    ("unfold.default(two_g, 1, 256, 64); slice.Tensor($0, 1, 0, 12); mul.Tensor($1, ramp_256); "
     "fft_rfft.default($2)", lambda x, w: c64(np.fft.rfft(framed(x, 256, 64)[:, :12] * w))),
    ("slice.Tensor(two_a, 1, 0, 64); fft_fft.default($0); abs.default($1)",
     lambda x: np.abs(c64(np.fft.fft(x)))),
    # Windows that overlap as rows of few terms, or by a search among many; with gaps between, and
    # elements after the last one.
    *((f"unfold_backward.default(windows, [2, {total}, 3], 1, 40, {hop})",
       lambda x, total=total, hop=hop: overlapped(x, total, hop))
      for hop, total in ((20, 120), (16, 110), (40, 200), (43, 215), (1, 44), (2, 49))),
    ("unfold_backward.default(zwindows, [4, 4], -1, 3, 1)",
     lambda x: overlapped(x[:, :, None], 4, 1)[..., 0]),
    ("mul.Tensor(la, hann_512); fft_rfft.default($0); abs.default($1)",
     lambda x, w: np.abs(np.fft.rfft(x * w)).astype(np.float32)),
    ("mul.Tensor(zla, hann_512); fft_fft.default($0)", lambda x, w: c64(np.fft.fft(x * w))),
    ("fft_fft.default(zla); mul.Tensor($0, $0); fft_ifft.default($1)",
     lambda x: c64(np.fft.ifft(np.fft.fft(x) ** 2))),
    ("fft_rfft.default(la); mul.Tensor($0, half_la); fft_irfft.default($1, 512)",
     lambda x, h: np.fft.irfft(np.fft.rfft(x) * h, 512).astype(np.float32)),
    ("slice.Tensor(zlb, 1, 3, 259); fft_fft.default($0)", lambda x: c64(np.fft.fft(x[:, 3:259]))),
    ("fft_ifft.default(zf)", lambda x: c64(np.fft.ifft(x))),
    ("fft_ifft.default(zh, None, -1, 'ortho')", lambda x: c64(np.fft.ifft(x, norm="ortho"))),
    ("fft_rfft.default(l, None, 1)", lambda x: c64(np.fft.rfft(x, axis=1))),
    ("fft_rfft.default(l, 40, 2)", lambda x: c64(np.fft.rfft(x, 40))),
    ("fft_fft.default(m, None, 1)", lambda x: c64(np.fft.fft(x, axis=1))),
    ("fft_fft.default(n, None, 1)", lambda x: c64(np.fft.fft(x, axis=1))),
    ("fft_fft2.default(m)", lambda x: c64(np.fft.fft2(x))),
    ("fft_fftn.default(s)", lambda x: c64(np.fft.fftn(x))),
    ("fft_irfft.default(m, 40, 1)",
     lambda x: np.fft.irfft(x, 40, axis=1).astype(np.float32)),
    ("fft_irfft2.default(m, None, [-2, -1], 'ortho')",
     lambda x: np.fft.irfft2(x, norm="ortho").astype(np.float32)),
    ("fft_hfft.default(s)", lambda x: np.fft.hfft(x).astype(np.float32)),
    ("fft_rfft.default(h); fft_irfft.default($0)", lambda x: x),
    ("fft_fft.default(l)", lambda x: c64(np.fft.fft(x))),
    ("fft_ifft.default(l, None, 1)", lambda x: c64(np.fft.ifft(x, axis=1))),
    # Few rows, long ones, and lengths with large primes: two steps, products, chirps.
    ("fft_rfft.default(u)", lambda x: c64(np.fft.rfft(x))),
    ("fft_fft.default(zu)", lambda x: c64(np.fft.fft(x))),
    ("fft_irfft.default(zu, 5998)", lambda x: np.fft.irfft(x, 5998).astype(np.float32)),
    ("fft_rfft.default(v)", lambda x: c64(np.fft.rfft(x))),
    ("fft_rfft.default(w, None, -1, 'ortho')", lambda x: c64(np.fft.rfft(x, norm="ortho"))),
    ("fft_fft.default(y)", lambda x: c64(np.fft.fft(x))),
    ("fft_rfft.default(o)", np.fft.rfft),
    ("fft_fft.default(p)", np.fft.fft),
    # Operands that are views: parts of rows, columns, every second element.
    ("slice.Tensor(q, 1, 3, 259); fft_rfft.default($0)", lambda x: c64(np.fft.rfft(x[:, 3:259]))),
    ("slice.Tensor(q, 1, 0, 300, 2); fft_rfft.default($0)", lambda x: c64(np.fft.rfft(x[:, ::2]))),
    ("flip.default(q, [1]); fft_rfft.default($0)", lambda x: c64(np.fft.rfft(x[:, ::-1]))),
    ("flip.default(l, [0]); fft_rfft.default($0, None, 1)",
     lambda x: c64(np.fft.rfft(x[::-1], axis=1))),
    ("expand.default(u, [3, 3000]); fft_rfft.default($0, 60)",
     lambda x: c64(np.fft.rfft(np.broadcast_to(x, (3, 3000)), 60))),
    ("transpose.int(g, 0, 1); fft_rfft.default($0)", lambda x: c64(np.fft.rfft(x.T))),
    ("unfold.default(q, 1, 64, 20); fft_rfft.default($0)",
     lambda x: c64(np.fft.rfft(np.stack([x[:, i:i + 64] for i in range(0, 237, 20)], 1)))),
    # Windows of rows, and of pieces of one signal and of several; one that is no window.
    ("mul.Tensor(zf, hann_z); fft_fft.default($0)", lambda x, w: c64(np.fft.fft(x * w))),
    ("unfold.default(q, 1, 64, 20); mul.Tensor(hann, $0); fft_rfft.default($1)",
     lambda x, w: c64(np.fft.rfft(framed(x, 64, 20) * w))),
    ("unfold.default(signal, 1, 64, 20); mul.Tensor($0, hann); fft_rfft.default($1)",
     lambda x, w: c64(np.fft.rfft(framed(x, 64, 20) * w))),
    ("unfold.default(signal, 1, 31, 20); fft_rfft.default($0)",
     lambda x: c64(np.fft.rfft(framed(x, 31, 20)))),
    ("mul.Tensor(g, hann); fft_rfft.default($0); fft_fft.default($1, None, 0)",
     lambda x, w: c64(np.fft.fft(np.fft.rfft(x * w), axis=0))),
    # Windows that are views: the first elements, others, a matrix, one element, reversed.
    ("slice.Tensor(hann, 0, 0, 45); mul.Tensor(zf, $0); fft_fft.default($1)",
     lambda w, x: c64(np.fft.fft(x * w[:45]))),
    ("slice.Tensor(hann, 0, 7, 52); mul.Tensor(zf, $0); fft_fft.default($1)",
     lambda w, x: c64(np.fft.fft(x * w[7:52]))),
    ("view.default(l, [720]); slice.Tensor($0, 0, 0, 64); mul.Tensor($1, g); fft_rfft.default($2)",
     lambda v, x: c64(np.fft.rfft(x * v.reshape(-1)[:64]))),
    ("slice.Tensor(hann, 0, 3, 4); expand.default($0, [64]); mul.Tensor(g, $1); "
     "fft_rfft.default($2)", lambda w, x: c64(np.fft.rfft(x * w[3]))),
    ("flip.default(hann, [0]); mul.Tensor(g, $0); fft_rfft.default($1)",
     lambda w, x: c64(np.fft.rfft(x * w[::-1]))),
    ("exp.default(hann); mul.Tensor(g, $0); fft_rfft.default($1)",
     lambda w, x: c64(np.fft.rfft(x * np.exp(w)))),
    # Copies in another order of axes, with which the kernel writes.
    ("fft_rfft.default(l, None, 1); permute.default($0, [0, 2, 1]); clone.default($1)",
     lambda x: c64(np.fft.rfft(x, axis=1).transpose(0, 2, 1))),
    ("fft_fft.default(m, None, 1); permute.default($0, [0, 2, 1]); clone.default($1); "
     "abs.default($2)", lambda x: np.abs(c64(np.fft.fft(x, axis=1))).transpose(0, 2, 1)),
    ("fft_fft.default(s, None, 0); permute.default($0, [1, 2, 0]); clone.default($1); "
     "permute.default($2, [2, 0, 1])", lambda x: c64(np.fft.fft(x, axis=0))),
    ("fft_fft.default(s, None, 0); permute.default($0, [2, 1, 0]); clone.default($1)",
     lambda x: c64(np.fft.fft(x, axis=0).transpose(2, 1, 0))),
    ("fft_fft.default(s_y, None, 1); permute.default($0, [0, 2, 1]); clone.default($1)",
     lambda x: c64(np.fft.fft(x, axis=1).transpose(0, 2, 1))),
    # Sizes of the run: rows, frames, columns.
    ("unfold.default(s_x, 1, 32, 8); fft_rfft.default($0)",
     lambda x: c64(np.fft.rfft(np.stack([x[:, i:i + 32] for i in range(0, 60, 8)], 1)))),
    ("unfold.default(s_x, 1, 48, 8); fft_rfft.default($0); fft_irfft.default($1, 48)",
     lambda x: np.stack([x[:, i:i + 48] for i in range(0, 44, 8)], 1)),
    ("fft_rfft.default(s_x, 40)", lambda x: c64(np.fft.rfft(x, 40))),
    ("fft_fft.default(s_y, 24, 1)", lambda x: c64(np.fft.fft(x, 24, axis=1))),
    # What reads the parts, and two transforms of one operand.
    ("fft_rfft.default(h); abs.default($0)", lambda x: np.abs(np.fft.rfft(x)).astype(np.float32)),
    ("fft_rfft.default(g); fft_fft.default($0, None, 0)",
     lambda x: c64(np.fft.fft(np.fft.rfft(x), axis=0))),
    ("fft_fft.default(zg); fft_ifft.default(zg); add.Tensor($0, $1)",
     lambda x: c64(np.fft.fft(x) + np.fft.ifft(x))),
]
