#!/usr/bin/env python3
"""`nereid cache`: what it shows and removes, its limit with one process and with several, and that
nothing damaged, unknown or outside of the cache is ever touched, or ends it."""
import os, pathlib, random, re, shutil, sqlite3, subprocess, sys, tempfile, time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
import tally  # noqa: E402

NEREID = os.path.abspath(os.environ.get("NEREID", ROOT / "build/nereid"))
KERNEL = ROOT / "examples/kernels/vector_add.py"
ENTRY = 15 << 10  # about the size of a library of one small kernel
DATABASE = "code-2.db"


class Cache:
    """A cache of its own, in a folder of `base`."""

    def __init__(self, base):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=base))
        self.path = self.folder / DATABASE

    def run(self, *arguments, **env):
        env = {**os.environ, "NEREID_CACHE_DIR": str(self.folder), **env}
        return subprocess.run([NEREID, *arguments], capture_output=True, text=True,
                              errors="replace", env=env)

    def cache(self, *arguments, **env):
        return self.run("cache", *arguments, **env)

    def command(self, block):
        return ["run", str(KERNEL), "--device", "cpu", "x_ptr=ones:f32[64]", "n=64",
                "y_ptr=zeros:f32[64]", "out_ptr=empty:f32[64]", "-D", f"BLOCK={block}",
                "--grid", "cdiv(n, BLOCK)"]

    def compile(self, *blocks, **env):
        for block in blocks:
            done = self.run(*self.command(block), **env)
            tally.check(done.returncode == 0, f"run: {done.stderr}")

    def sql(self, text):
        db = sqlite3.connect(self.path)
        rows = db.execute(text).fetchall()
        db.commit()
        db.close()
        return rows

    def libraries(self):
        return [r[0] for r in self.sql("SELECT name FROM code WHERE kind = 'library'")]


def equal(got, expected, what):
    tally.check(got == expected, f"{what}: {got!r}, expected {expected!r}")


def lines(done):
    return done.stdout.splitlines()


def test_empty(base):
    c = Cache(base)
    equal(lines(c.cache())[2].split(), ["all", "0", "0B"], "an empty cache")
    tally.check(not c.path.exists(), "looking makes no file")
    for verb in ("list", "clear", "limit"):
        equal(c.cache(verb).returncode, 0, f"{verb} of an empty cache")
    equal(c.cache(NEREID_CACHE_DIR="").stdout, "off\n", "a cache that is off")
    done = c.cache("clear", NEREID_CACHE_DIR="")
    tally.check(done.returncode == 2 and "is disabled" in done.stderr, f"off: {done.stderr}")


def test_list(base):
    c = Cache(base)
    c.compile(16, 32)
    rows = [line.split() for line in lines(c.cache("list"))]
    equal(rows[0], "last used kind size target name".split(), "the head of the list")
    equal([row[1::2] for row in rows[1:]], 2 * [["library", "cpu"]], "kinds and targets")
    equal([row[4] for row in rows[1:]], ["vector_add", "vector_add"], "names")
    time_form = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"
    tally.check(all(re.fullmatch(time_form, row[0]) for row in rows[1:]), "times")
    total = lines(c.cache())[-2].split()
    tally.check(total[:2] == ["all", "2"] and total[2].endswith("KiB"), f"the total: {total}")
    equal(len(lines(c.cache("list", "--kind", "cubin"))), 1, "of another kind")
    equal(len(lines(c.cache("list", "--older-than", "1h"))), 1, "of another age")


def test_clear(base):
    c = Cache(base)
    c.run("records", "import", str(ROOT / "tests/runtime/records/one.records"))
    records = (c.folder / "records.db").read_bytes()
    c.compile(16, 32)
    c.sql(f"UPDATE code SET used = {int(time.time()) - 8 * 86400} WHERE rowid = 1")
    tally.check(lines(c.cache("clear", "--kind", "cubin"))[0].startswith("removed 0 "), "a kind")
    tally.check(lines(c.cache("clear", "--older-than", "1w"))[0].startswith("removed 1 "), "an age")
    full = c.path.stat().st_size
    tally.check(lines(c.cache("clear"))[0].startswith("removed 1 entry, "), "the rest")
    tally.check(c.path.stat().st_size < full - ENTRY // 2, "the file has become smaller")
    equal((c.folder / "records.db").read_bytes(), records, "records stay")
    c.compile(16)
    equal(len(c.libraries()), 1, "a cache that was cleared is used again")


def test_left(base):
    """Files of earlier versions and damaged ones go; newer ones, folders, links and others stay."""
    c = Cache(base)
    outside = pathlib.Path(tempfile.mkdtemp(dir=base), "precious.db")
    outside.write_text("precious")
    left = ["code-1.db", "code-1.db-journal", "code-2.db.damaged-12-34",
            "code-2.db.damaged-12-34-journal", "code-9.db.damaged-1-2"]
    kept = ["code-3.db", "records.db.damaged-1-2", "notes.txt", "code-1.db.mine", "code-x.db",
            "code-2.db.damaged-", "code-2.db.damaged-1-", "acode-1.db", "code-.db"]
    for name in left + kept:
        (c.folder / name).write_text("x" * 10)
    os.symlink(outside, c.folder / "code-0.db")
    os.symlink(outside.parent, c.folder / "code-2.db.damaged-5-6")
    (c.folder / "code-00.db").mkdir()
    shown = lines(c.cache())[-1]
    tally.check(shown.startswith("5 damaged or earlier files, 50B"), f"they are shown: {shown}")
    c.cache("clear", "--kind", "tool")
    tally.check((c.folder / left[0]).exists(), "a filter is about entries")
    equal(c.cache("clear").stdout, "removed 5 entries, 50B\n", "they are removed")
    now = {p.name for p in c.folder.iterdir()}
    equal(now, {*kept, "code-0.db", "code-00.db", "code-2.db.damaged-5-6"}, "all others stay")
    equal(outside.read_text(), "precious", "links are not followed")


def test_limit(base):
    c = Cache(base)
    c.compile(1, 2, 4, 8, NEREID_CACHE_LIMIT="0")
    names = c.sql("SELECT hex(key) FROM code ORDER BY rowid")
    now = int(time.time())
    for i, age in enumerate([4000, 1000, 3000, 2000]):
        c.sql(f"UPDATE code SET used = {now - age} WHERE rowid = {i + 1}")
    # Two entries are left: a tenth of the limit becomes free.
    largest = max(size for size, in c.sql("SELECT size FROM code"))
    half = str(2 * largest * 10 // 9 // 1024 + 2)
    tally.check("removed 2 entries" in c.cache("limit", half + "K").stdout, "a lower limit evicts")
    equal(c.sql("SELECT hex(key) FROM code ORDER BY rowid"), [names[1], names[3]],
                "the least recently used go")
    c.compile(2)  # it becomes the last used, 8 is the oldest
    c.sql(f"UPDATE code SET used = {now - 500} WHERE hex(key) = '{names[3][0]}'")
    c.compile(16)
    tally.check(names[1] in c.sql("SELECT hex(key) FROM code"), "a hit counts as a use")
    tally.check(names[3] not in c.sql("SELECT hex(key) FROM code"), "a write evicts")
    equal(c.cache("limit").stdout, half + "KiB\n", "the limit is kept")
    tally.check("(NEREID_CACHE_LIMIT)" in c.cache("limit", NEREID_CACHE_LIMIT="1G").stdout,
                "a variable goes before it")
    c.compile(64, NEREID_CACHE_LIMIT="1K")
    equal(c.libraries(), [], "an entry beyond the limit is not kept")
    c.cache("limit", "0")
    equal(c.cache("limit").stdout, "none\n", "no limit")
    for bad in ("2", "-1G", "G", "1X", "1GG", "", "nan", "1e9T", "0.0000001K"):
        equal(c.cache("limit", bad).returncode, 2, f"limit {bad!r}")
        done = c.cache(NEREID_CACHE_LIMIT=bad)
        tally.check(done.returncode == 0 and done.stderr.count("warning") == 1,
                    f"NEREID_CACHE_LIMIT={bad!r}: {done.stderr}")
    for good in ("0", "500M", "2GiB", "1.5g", "10MB", "1T"):
        equal(c.cache("limit", good).returncode, 0, f"limit {good!r}")


def bytes_read(run):
    """What `run` and the processes that it waits for read by calls."""
    def count():
        return int(re.search(r"rchar: (\d+)", pathlib.Path("/proc/self/io").read_text())[1])
    before = count()
    run()
    return count() - before


def test_many(base):
    """What a process puts does not make it read all entries, of which a page of the file has one:
    neither below the limit nor where the file is larger than it and the entries are not."""
    c, rows, size = Cache(base), 12000, 2500
    c.compile(1)
    c.sql("INSERT INTO code WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE "
          f"i < {rows}) SELECT randomblob(16), 'kernel', 'old', '', {size}, i, 0, zeroblob({size})"
          " FROM n")
    file = c.path.stat().st_size
    few = file // 3
    got = bytes_read(lambda: c.compile(2))
    tally.check(got < few, f"below the limit {got} bytes are read, of {file}")
    limit = {"NEREID_CACHE_LIMIT": str((size + 500) * rows >> 20) + "M"}
    c.compile(4, **limit)  # which makes the index
    got = bytes_read(lambda: c.compile(8, **limit))
    tally.check(got < few, f"near the limit {got} bytes are read, of {file}")
    equal(c.sql("SELECT count(*) FROM code"), [(rows + 4,)], "entries that fit the limit")
    c.compile(16, NEREID_CACHE_LIMIT=f"{size * rows >> 20}M")
    left, oldest = c.sql("SELECT count(*), min(used) FROM code")[0]
    tally.check(0.8 * rows < left < 0.95 * rows and oldest > 1,
                f"beyond the limit the oldest tenth goes: {left} left, from {oldest} on")


def test_processes(base):
    """Many write, read, clear and limit at once: each run is right, and the limit holds."""
    c = Cache(base)
    c.cache("limit", f"{4 * ENTRY >> 10}K")
    env = {**os.environ, "NEREID_CACHE_DIR": str(c.folder)}
    blocks = [1, 2, 4, 8, 16, 32, 64]
    commands = [c.command(b) for b in 3 * blocks]
    commands += 4 * [["cache"], ["cache", "list"], ["cache", "clear", "--older-than", "0s"],
                     ["cache", "limit", f"{4 * ENTRY >> 10}K"]]
    random.Random(1).shuffle(commands)
    for i in range(0, len(commands), 8):
        some = [subprocess.Popen([NEREID, *x], env=env, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True) for x in commands[i : i + 8]]
        for process in some:
            out, err = process.communicate()
            tally.check(process.returncode == 0 and not err, f"{process.args}: {err}")
            if process.args[1] == "run":
                tally.check("sum 64" in out, f"{process.args}: {out}")
    size = c.sql("SELECT sum(size) FROM code")[0][0] or 0
    tally.check(size <= 4 * ENTRY, f"{size} bytes of entries are within the limit")
    equal(c.sql("PRAGMA integrity_check"), [("ok",)], "the database is whole")


def test_odd_rows(base):
    """Columns hold other types than they should, as those of a damaged database may."""
    c = Cache(base)
    c.compile(16)
    c.sql("INSERT INTO code VALUES(x'01', NULL, NULL, NULL, 'much', 'never', 'x', NULL)")
    c.sql("INSERT INTO code VALUES(NULL, x'ff', 1.5, x'00', -5, -1, NULL, 'text')")
    name = "two\nlines\x1b[31m"
    c.sql(f"INSERT INTO code VALUES('k', 'later kind', '{name}', 't', 9e18, 9e18, 1, x'00')")
    equal(len(lines(c.cache("list"))), 5, "an entry is a line")
    tally.check("\x1b" not in c.cache("list").stdout, "names control no terminal")
    for verb in ([], ["list"], ["limit", "1M"], ["limit"], ["clear"]):
        done = c.cache(*verb)
        tally.check(done.returncode in (0, 1) and "Traceback" not in done.stderr,
                    f"{verb}: {done.returncode} {done.stderr}")
    c.compile(16)


def test_damage(base):
    c = Cache(base)
    c.compile(16)
    whole, rng = c.path.read_bytes(), random.Random(2)
    for i in range(40):
        data = bytearray(whole[: rng.choice([len(whole), rng.randrange(len(whole))])])
        for _ in range(rng.randrange(1, 40)):
            if data:
                within = rng.choice([120, 8192, 1 << 20])
                data[rng.randrange(min(len(data), within))] = rng.randrange(256)
        c.path.write_bytes(data)
        done = c.cache(*rng.choice([[], ["list"], ["clear"], ["limit", "1M"], ["limit"]]))
        tally.check(done.returncode in (0, 1) and "Sanitizer" not in done.stderr,
                    f"damage {i}: {done.returncode} {done.stderr}")
    for left in c.folder.glob("code-*"):
        left.unlink()
    c.path.mkdir()
    for verb in ([], ["list"], ["clear"], ["limit", "1M"]):
        done = c.cache(*verb)
        tally.check(done.returncode == 1 and done.stderr.count("\n") == 1,
                    f"a folder: {done.stderr}")


def test_links(base):
    """A cache that is a link is the one it leads to; only entries are removed there."""
    c, other = Cache(base), Cache(base)
    other.compile(16)
    os.symlink(other.path, c.path)
    equal(c.cache("clear").stdout.split(",")[0], "removed 1 entry", "the linked cache is cleared")
    tally.check(c.path.is_symlink() and other.path.exists(), "the link and its file stay")


if shutil.which("cc") is None:
    print("1 skipped: no cc")
else:
    with tempfile.TemporaryDirectory() as base:
        for test in (test_empty, test_list, test_clear, test_left, test_limit, test_many,
                     test_processes, test_odd_rows, test_damage, test_links):
            test(base)
sys.exit(tally.report())
