#!/usr/bin/env python3
"""Which operands of products are boxes of tensors: those whose loads a box equals whatever the
launch.  Each kernel is one product; it differs in how A is read, or in how the tiles of a
persistent product are stored.

    maps.py [NAME...]
"""
import os, pathlib, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
import tally  # noqa: E402

NEREID = os.environ.get("NEREID", str(ROOT / "build/nereid"))
SIG = ("a=*bf16:16,b=*bf16:16,c=*fp32:16,table=*i32:16,m=i32:16,n=i32:16,k=i32:16,sa=i32:16,"
       "sb=i32:16,number=i32:16")
SOURCE = """import triton
import triton.language as tl


@triton.jit
def product(a, b, c, table, m, n, k, sa, sb, number):
    i, s = tl.arange(0, 64), tl.arange(0, 32)
    pid = tl.program_id(0)
    {before}
    at, from_a = {at}, {base}
    row = at + i
    acc = tl.zeros((64, 64), tl.float32)
    for start in range(0, k, 32):
        inside = {mask}
        x = tl.load(from_a + row[:, None] * sa + (start + s)[None, :], mask=inside, other=0.0)
        y = tl.load(b + (start + s)[:, None] * sb + i[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(c + pid * 4096 + i[:, None] * 64 + i[None, :], acc)
"""
BOTH = "(row < m)[:, None] & (start + s < k)[None, :]"
ROWS = "(row < m)[:, None]"
GROUPED = """group = pid // (8 * tl.cdiv(n, 64))
    rows = min(tl.cdiv(m, 64) - group * 8, 8)
    across = pid % (8 * tl.cdiv(n, 64)) // rows
    tile = group * 8 + pid % (8 * tl.cdiv(n, 64)) % rows"""
MOST = 2**31 - 1
BOX = "[32 of %k, 64 of %m by 2*%sa]"


def reads(at="pid * 64", base="a", mask=BOTH, before="pass"):
    return SOURCE.format(at=at, base=base, mask=mask, before=before)


# Each a source, and A's map; "": it is none.
CASES = {
    "plain": (reads(), BOX),
    "grouped order": (reads("tile * 64", before=GROUPED), BOX),
    "grouped order, the columns": (reads("across * 64", before=GROUPED), BOX),
    "clamped": (reads("max(pid - 3, 0) * 64"), BOX),
    "a negative row": (reads("pid * 64 - 3"), ""),
    "a negative row without a mask": (reads("pid * 64 - 3", mask="tl.full((64, 32), 1, tl.int1)"),
                                      ""),
    "a negative row that the mask takes away":
        (reads("pid * 64 - 3", mask=BOTH + " & (row >= 0)[:, None]"), BOX),
    "from the last row on": (reads("(m // 64 - 1 - pid) * 64"), ""),
    "from the last program on": (reads("(tl.num_programs(0) - 1 - pid) * 64"), BOX),
    "from the last of the other axis on": (reads("(tl.num_programs(1) - 1 - pid) * 64"), ""),
    "from one before on": (reads("(tl.num_programs(0) - 2 - pid) * 64"), ""),
    "from the last block on": (reads("(last - 1 - pid % last) * 64",
                                     before="last = tl.cdiv(m, 64)"), BOX),
    "from the eighth on": (reads("(7 - pid % 8) * 64"), BOX),
    "from the seventh of eight on": (reads("(6 - pid % 8) * 64"), ""),
    "from the last program on, by turns": (reads("(last - 1 - pid % (last * 4) // 4) * 64",
                                                 before="last = tl.num_programs(0)"), BOX),
    "from the last program on, by others": (reads("(last - 1 - pid % (last * 4) // 2) * 64",
                                                  before="last = tl.num_programs(0)"), ""),
    "a row of an argument": (reads("number"), BOX + " natural %number"),
    "rows of two arguments": (reads("number + pid * n"), BOX + " natural %n, %number"),
    "a row of a table": (reads("tl.load(table + pid)"), ""),
    "a column of an argument": (reads(base="a + number", mask=ROWS),
                                f"[32 of {MOST}, 64 of %m by 2*%sa] natural %number"),
    "elements beyond 31 bits": (reads(base="a + pid.to(tl.int64) * 16777216", mask=ROWS),
                                f"[32 of {MOST}, 64 of %m by 2*%sa, 1 of {MOST} by 33554432]"),
    "elements in 64 bits": (reads(base="a + pid.to(tl.int64) * 4096", mask=ROWS),
                            f"[32 of {MOST}, 64 of %m by 2*%sa, 1 of {MOST} by 8192]"),
    "an offset of 64 bits": (reads(base="a + tl.minimum(pid.to(tl.int64) * 4096, 8192)",
                                   mask=ROWS), ""),
    "elements of a row": (reads(base="a + pid * 1024", mask=ROWS),
                          f"[32 of {MOST}, 64 of %m by 2*%sa]"),
    "a column that is no multiple of 16 bytes": (reads(base="a + pid % 3", mask=ROWS), ""),
    "a column of 16 bytes": (reads(base="a + pid % 3 * 8", mask=ROWS),
                             f"[32 of {MOST}, 64 of %m by 2*%sa]"),
    "written before": (reads(before="tl.store(a + i, tl.zeros((64,), tl.bfloat16))"), ""),
}


IMAGES = """import triton
import triton.language as tl


@triton.jit
def product(a, b, c, table, m, n, k, sa, sb, number):
    s, o = tl.arange(0, 32), tl.arange(0, 64)
    i = {row}
    pid = tl.program_id(0)
    image, y, x = {place}
    acc = tl.zeros((64, 64), tl.float32)
    for step in range(9):
        h, w = y + (step // 3 - 1), x + (step % 3 - 1)
        at = ((image * 20 + h) * 12 + w) * 32
        v = tl.load(a + at[:, None] + s[None, :], mask=({mask})[:, None], other=0.0)
        u = tl.load(b + (step * 32 + s[:, None]) * 64 + o[None, :])
        acc = tl.dot(v, u, acc)
    tl.store(c + pid * 4096 + o[:, None] * 64 + o[None, :], acc)
"""


def image(place="pid // 9 * 2 + i // 32, pid // 3 % 3 * 8 + i // 4 % 8, pid % 3 * 4 + i % 4",
          mask="(image < m) & (h.to(tl.uint32) < 20) & (w.to(tl.uint32) < 12)", row="o"):
    return IMAGES.format(place=place, mask=mask, row=row)


ROW = f"[32 of {2**31 - 1}, "
# Each a source, and A's map: rows of a tile are parts of images of 20 by 12 pixels.
PARTS = {
    "parts of images": (image(), ROW + "4 of 12 by 64, 8 of 20 by 768, 2 of %m by 15360]"),
    "signed comparisons": (image(mask="(image < m) & (h >= 0) & (h < 20) & (0 <= w) & (w <= 11)"),
                           ROW + "4 of 12 by 64, 8 of 20 by 768, 2 of %m by 15360]"),
    "a part of one image": (image("pid // 9, pid // 3 % 3 * 8 + i // 8, pid % 3 * 8 + i % 8"),
                            ROW + "8 of 12 by 64, 8 of 20 by 768, 1 of %m by 15360]"),
    "a pixel of each image": (image("i, pid // 12, pid % 12"),
                              ROW + "64 of %m by 15360, 1 of 20 by 768, 1 of 12 by 64]"),
    "a column that may be before the image":
        (image(mask="(image < m) & (h.to(tl.uint32) < 20) & (w < 12)"), ""),
    "a row that may be before the image":
        (image(mask="(image < m) & (h < 20) & (w.to(tl.uint32) < 12)"), ""),
    "rows of three pixels": (image("pid * 8 + i // 12, i // 3 % 4, pid % 3 * 4 + i % 3"), ""),
    "a part of the pixels": (image("i // 16, i // 4 % 2, i % 4"), ""),
    "pixels twice": (image("i // 16, i // 2 % 8, i % 4"), ""),
    "another pixel than the mask's":
        (image(mask="(image < m) & (h.to(tl.uint32) < 20) & ((w + 1).to(tl.uint32) < 12)"), ""),
    "a mask of whole rows": (image(mask="(image < m) & (i < number)"), ""),
    "every second pixel": (image("i // 32, i // 4 % 8, 2 * (i % 4)"), ""),
    "pixels in the order of a table": (image(row="tl.load(table + o)"), ""),
}


NARROW = """import triton
import triton.language as tl


@triton.jit
def product(a, b, c, table, m, n, k, sa, sb, number):
    i, o, s = tl.arange(0, 16), tl.arange(0, 64), tl.arange(0, {k})
    acc = tl.zeros((16, 64), tl.float32)
    for start in range(0, k, {k}):
        x = tl.load(a + i[:, None] + (start + s)[None, :] * sa, mask=(i < m)[:, None])
        y = tl.load(b + (start + s)[:, None] * sb + o[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(c + i[:, None] * 64 + o[None, :], acc)
"""
# Each a source, and A's map: 16 rows of A^T.
ROWS_OF_32_BYTES = {
    "128 rows of 32 bytes": (NARROW.format(k=128), ""),
    "64 rows of 32 bytes": (NARROW.format(k=64), f"[16 of %m, 64 of {MOST} by 2*%sa]"),
}


TILES = """import triton
import triton.language as tl


@triton.jit
def product(a, b, c, table, m, n, k, sa, sb, number):
    i, s = tl.arange(0, 64), tl.arange(0, 32)
    {before}
    for tile in tl.range(tl.program_id(0), {tiles}, tl.num_programs(0)):
        row = tile * 64 + i
        acc = tl.zeros((64, 64), tl.float32)
        for start in range(0, {end}, 32):
            x = tl.load(a + row[:, None] * sa + (start + s)[None, :], mask=(row < m)[:, None])
            y = tl.load(b + (start + s)[:, None] * sb + i[None, :])
            acc = tl.dot(x, y, acc)
        {store}
    {after}
"""


def writes(store="tl.store({at}, acc, mask={mask})", at="c + row[:, None] * sb + i[None, :]",
           mask="(row < m)[:, None] & (i < n)[None, :]", tiles="tl.cdiv(m, 64)", before="pass",
           after="pass", end="k"):
    return TILES.format(store=store.format(at=at, mask=mask), tiles=tiles, before=before,
                        after=after, end=end)


C_BOX = "[32 of %n, 64 of %m by 4*%sb]"
# Each a source, and C's map.
STORES = {
    "stored tiles": (writes(), C_BOX),
    "tiles in two halves": (writes(mask="((row < m) & (row >= 0))[:, None] & (i < n)[None, :]"),
                            C_BOX),
    "tiles without a mask": (writes(mask="None"), f"[32 of {MOST}, 64 of {MOST} by 4*%sb]"),
    "turned tiles": (writes(at="c + row[:, None] + i[None, :] * sb"),
                     "[32 of %m, 64 of %n by 4*%sb]"),
    "tiles of several lengths": (writes(end="tl.minimum(k, tile % 4 * 32)"), C_BOX),
    "one tile": (writes(tiles="tl.program_id(0) + 1"), C_BOX),
    "a row of an argument": (writes(at="c + (row[:, None] + number) * sb + i[None, :]",
                                    mask="(i < n)[None, :]"), ""),
    "every second column": (writes(at="c + row[:, None] * sb + 2 * i[None, :]"), ""),
    "added to": (writes("tl.store({at}, acc + tl.load({at}), mask={mask})"), ""),
    "an atomic after": (writes(after="tl.atomic_add(table, 1)"), ""),
    "read after": (writes(after="tl.store(table + i, tl.load(c + i).to(tl.int32))"), ""),
    "written before": (writes(before="tl.store(c + i, i.to(tl.float32))"), ""),
    "through a pointer of a table":
        (writes(after="tl.store(tl.load(table).to(tl.int64).to(tl.pointer_type(tl.int32)), 1)"),
         ""),
    "atomically": (writes("tl.atomic_add({at}, acc, mask={mask})"), ""),
    "told to stay in the cache": (writes("tl.store({at}, acc, mask={mask}, "
                                         "cache_modifier='.cg')"), ""),
}


# What is known of the arguments, whether all rows must be known to begin at multiples of 16 bytes,
# A's and B's maps.
B_BOX = f"[64 of {MOST}, 32 of {MOST} by 2*%sb]"
KNOWN = {
    "nothing": ("i32", "i32", False, BOX + B_BOX),
    "nothing, known rows": ("i32", "i32", True, ""),
    "all": ("i32:8", "i32:8", True, BOX + B_BOX),
    "rows of A at 8 bytes": ("i32:4", "i32:8", True, B_BOX),
    "rows of B at 8 bytes": ("i32:8", "i32:4", True, BOX),
    "rows of A at 2 bytes": ("i32", "i32:8", True, B_BOX),
}


def compile(path, *options):
    done = subprocess.run([NEREID, "compile", path, "--target", "sm_90a", *options],
                          capture_output=True, text=True)
    return done.stdout if not done.returncode else done.stderr


def maps_of(text, name=""):
    lines = [line for line in text.splitlines() if line.startswith("  map ")]
    return "".join(line[line.index("["):] for line in lines if f" at %{name}" in line)


def map_of(name, folder, source):
    path = pathlib.Path(folder, "product.py")
    path.write_text(source)
    return maps_of(compile(path, "--sig", SIG, "--emit", "thread"), name + " ")


def maps_if_known(folder, a, b, known_rows):
    """By way of tile IR, which a launch compiles."""
    path, tile = pathlib.Path(folder, "product.py"), pathlib.Path(folder, "product.tile")
    path.write_text(reads())
    sig = SIG.replace("sa=i32:16,sb=i32:16", f"sa={a},sb={b}").replace("k=i32:16", f"k={a}")
    text = compile(path, "--sig", sig, "--emit", "tile")
    if known_rows:
        text = text.replace("{num_warps 4", "{num_warps 4, known_rows")
    tile.write_text(text)
    return maps_of(compile(tile, "--emit", "thread"))


with tempfile.TemporaryDirectory() as folder:
    for array, cases in (("a", CASES), ("a", PARTS), ("a", ROWS_OF_32_BYTES), ("c", STORES)):
        for name, (source, expected) in cases.items():
            if len(sys.argv) > 1 and name not in sys.argv[1:]:
                continue
            got = map_of(array, folder, source)
            tally.check(got == expected, f"{name}: {got!r} instead of {expected!r}")
    for name, (a, b, known_rows, expected) in KNOWN.items():
        got = maps_if_known(folder, a, b, known_rows)
        tally.check(got == expected, f"{name}: {got!r} instead of {expected!r}")
sys.exit(tally.report())
