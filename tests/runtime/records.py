#!/usr/bin/env python3
"""`nereid records` on many machines: the same bytes whatever the order, and nothing lost or half
done with many processes, after kills, on a full disk and on one that can only be read."""
import itertools, json, os, pathlib, random, re, shutil, signal, subprocess, sys, tempfile, time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from tally import check, report  # noqa: E402
from tuner import measured_home  # noqa: E402

NEREID = os.path.abspath(os.environ.get("NEREID", ROOT / "build/nereid"))
STATUSES = ("ok", "compile", "resources", "timeout", "fault", "wrong")
skipped = []


class Machine:
    """A home with a database of its own."""

    def __init__(self, folder):
        self.folder = folder
        self.env = dict(os.environ, NEREID_CACHE_DIR=str(folder))

    def start(self, *args, **how):
        return subprocess.Popen([NEREID, "records", *map(str, args)], env=self.env,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how)

    def run(self, *args):
        """The status, output and messages."""
        process = self.start(*args)
        out, err = process.communicate()
        return process.returncode, out, err.decode(errors="replace")

    def must(self, *args):
        status, out, err = self.run(*args)
        check(status == 0, f"records {args}: status {status}: {err}")
        return out

    def export(self):
        return self.must("export", "-")


def record(rng, config):
    status = rng.choice(STATUSES)
    us = rng.choice((12.5, 0.1, 1e6, rng.uniform(1, 1000)))
    return (f'  config "{config}" {status} median {us!r} spread {rng.random()!r}'
            f' runs {rng.randint(1, 3)} taken "20{rng.randint(10, 12)}-02-03T04:05:06Z"'
            f' ir "{rng.randint(0, 1):032x}" version "{rng.choice("ab")}"'
            f' code "{rng.randint(0, 1):032x}" reason "{rng.choice(("", "one", "two"))}"\n')


def problem(name):
    return f'problem kernel "{name}" signature "*f32" sizes "n=1" device "a device" driver "1"\n'


def random_file(path, seed, records=40):
    """Few values each, so that keys meet; in no order."""
    rng, text = random.Random(seed), "nereid records 1 # by hand\n"
    for _ in range(4):
        text += problem(rng.choice("pqr"))
        text += "".join(record(rng, f"B={rng.randint(1, 4)}") for _ in range(records // 4))
    path.write_text(text)
    return path


def large_file(path, name, count):
    rng = random.Random(name)
    lines = [record(rng, f"B={i}") for i in range(count)]
    path.write_text("nereid records 1\n" + problem(name) + "".join(lines))
    return path


def merged(machine, *files):
    return machine.must("merge", *files)


def test_merging(tmp):
    anyone = Machine(tmp / "anyone")
    files = [random_file(tmp / f"{i}.records", i) for i in range(4)]
    orders = {merged(anyone, *order) for order in itertools.permutations(files)}
    check(len(orders) == 1, "merging depends on the order")
    everything = orders.pop()
    left, right = tmp / "left", tmp / "right"
    anyone.must("merge", files[0], files[1], "-o", left)
    anyone.must("merge", files[3], files[2], "-o", right)
    check(merged(anyone, right, left) == everything, "merging is not associative")
    check(merged(anyone, left, left) == left.read_bytes(), "merging twice changes something")
    check(not anyone.folder.exists(), "merging files makes a database")
    return files, everything


def test_machines(tmp, files, everything):
    """What was imported in any order, or by way of other machines, is exported as one text."""
    one, two = Machine(tmp / "one"), Machine(tmp / "two")
    for path in files:
        one.must("import", path)
    for path in reversed(files):
        two.must("import", path)
        two.must("import", path)
    check(one.export() == everything, "a machine exports other bytes than merging gives")
    check(two.export() == everything, "two machines export different bytes")
    three, path = Machine(tmp / "three"), tmp / "exported"
    one.must("export", path)
    check(b"read: 0 new, 0 better" not in three.must("import", path), "an import without effect")
    check(three.export() == path.read_bytes(), "importing what was exported changes it")
    listed = one.must()
    check(listed.count(b"a device") == everything.count(b"problem kernel"), "a list of problems")


def test_processes(tmp):
    """Sixteen imports into one database at once, half of what each brings being its own."""
    shared = random_file(tmp / "shared", "shared").read_text()
    files = []
    for i in range(16):
        own = large_file(tmp / f"own{i}", f"own{i}", 50)
        own.write_text(own.read_text() + shared.partition("\n")[2])
        files.append(own)
    home = Machine(tmp / "home")
    running = [home.start("import", path) for path in files]
    for process in running:
        err = process.communicate()[1]
        check(process.returncode == 0 and not err, f"an import among many: {err}")
    check(home.export() == merged(home, *files), "many processes lose records")


def test_kills(tmp):
    """An import that is killed has added all or nothing, and hinders nobody."""
    home, before = Machine(tmp / "killed"), random_file(tmp / "before", "before")
    path = large_file(tmp / "large", "large", 4000)
    home.must("import", before)
    small, all_of_it = merged(home, before), merged(home, before, path)
    start = time.monotonic()
    Machine(tmp / "unhindered").must("import", path)
    needed = time.monotonic() - start
    done = cut = 0
    for i in range(24):
        shutil.rmtree(tmp / "copy", ignore_errors=True)
        shutil.copytree(home.folder, tmp / "copy")
        copy = Machine(tmp / "copy")
        process = copy.start("import", path)
        time.sleep(needed * (0.4 + 0.7 * i / 24))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        left = copy.export()
        done += left == all_of_it
        cut += left == small
        copy.must("import", path)
        check(copy.export() == all_of_it, "after a kill an import is not whole")
    check(done + cut == 24, f"{24 - done - cut} killed imports left something in between")


KERNEL = """
import triton
import triton.language as tl

@triton.jit
def scale(x, n, K: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) * K, mask=i < n)
"""


def sure(text):
    """An export whose times are certain, as on a machine without other load."""
    return re.sub(rb" spread \S+ runs \d+", b" spread 0 runs 100", text)


def test_tuning(tmp):
    """Sixteen tuners of one kernel, each with a constant of its own, and one database."""
    if not any(map(shutil.which, ("cc", "gcc", "clang"))):
        skipped.append("no cc")
        return
    home, kernel = Machine(tmp / "tuned"), tmp / "scale.py"
    shutil.copytree(measured_home(), home.folder, dirs_exist_ok=True)
    kernel.write_text(KERNEL)
    command = [NEREID, "tune", kernel, "x=ones:f32[256]", "n=256", "--grid", "cdiv(n, BLOCK)",
               "--space", "BLOCK=64,128", "--device", "cpu", "--json", "-", "-D"]
    tune = lambda i: subprocess.Popen(command + [f"K={i}"], env=home.env, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, text=True)
    first = []
    for process in [tune(i) for i in range(16)]:
        out, err = process.communicate()
        check(process.returncode == 0, f"a tuner among many: {err}")
        first.append(json.loads(out)["candidates"])
    records = home.export()
    check(records.count(b"\n  config") == 32, "many tuners lose records")
    # Among so many processes any time may be uncertain, which would be measured again.
    path = tmp / "sure"
    path.write_bytes(sure(records))
    home.must("import", path)
    for i, before in enumerate(first):
        least = min(candidate["median_us"] for candidate in before)
        fastest = [c["config"] for c in before if c["median_us"] == least]
        again = json.loads(tune(i).communicate()[0])
        check(again["source"] == "records", "what was tuned is tuned again")
        check(again["best"] in fastest, "records choose another configuration")


MOUNT = """
set -e
mount -t tmpfs -o size=256k tmpfs "$1"
"$2" records import "$3"
if "$2" records import "$4"; then echo "it fits"; fi
"$2" records export "$5"
mount -o remount,ro "$1"
"$2" records export "$6"
if "$2" records import "$3"; then :; fi
if "$2" records import "$4"; then echo "it was written"; fi
"$2" records
"""


def test_disk(tmp):
    """A file system of 256 KiB that gets full, and then can only be read."""
    if subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", str(tmp)],
                      capture_output=True).returncode:
        skipped.append("no file system may be mounted here")
        return
    home, small = Machine(tmp / "disk"), random_file(tmp / "small", "small")
    home.folder.mkdir()
    large = large_file(tmp / "too-large", "large", 4000)
    args = [home.folder, NEREID, small, large, tmp / "full", tmp / "ro"]
    done = subprocess.run(["unshare", "-rm", "sh", "-c", MOUNT, "sh", *map(str, args)],
                          env=home.env, capture_output=True, text=True)
    check(done.returncode == 0, f"on a full disk: {done.stderr}")
    check("it fits" not in done.stdout and "it was written" not in done.stdout, done.stdout)
    check("database or disk is full" in done.stderr, f"no word of a full disk: {done.stderr}")
    check("is read-only: " in done.stderr, f"no word of a file to be read: {done.stderr}")
    check("can only be read" in done.stdout, f"nor in the list: {done.stdout}")
    expected = merged(home, small)
    check((tmp / "full").read_bytes() == expected, "a full disk loses records")
    check((tmp / "ro").read_bytes() == expected, "a disk that can only be read loses records")


def test_hostile(tmp):
    """Files that no sane program writes are refused with a place, or read."""
    home, rng, path = Machine(tmp / "hostile"), random.Random(5), tmp / "bad"
    good = random_file(tmp / "good", "good").read_bytes()
    bad = [rng.randbytes(100000), b"\0" * 100000, good[:-20], good + b'"',
           good.replace(b"runs 1", b"runs " + b"9" * 100000, 1),
           good.replace(b"median 12.5", b"median 1e-" + b"9" * 100000, 1),
           good + b"problem " * 100000, good + b"(" * 1000000, b'"' + b"x" * 1000000,
           b"nereid records 1\n" + b"\n" * 1000000 + b"x"]
    for i, data in enumerate(bad):
        path.write_bytes(data)
        status, _, err = home.run("import", path)
        check(status == 1 and err.startswith(f"{path}:") and ": error: " in err,
              f"hostile file {i}: status {status}: {err[:300]}")
    check(not home.folder.exists(), "a file that is refused makes a database")
    long = b"nereid records 1\n" + problem("x" * 300000).encode() + good.partition(b"\n")[2]
    path.write_bytes(long + b"# comment " * 100000)
    home.must("import", path)
    check(home.export() == merged(home, path), "a long name is not kept")


def test_many(tmp):
    """Fifty thousand records."""
    home, path = Machine(tmp / "many"), large_file(tmp / "lines", "lines", 50000)
    start = time.monotonic()
    home.must("import", path)
    check(home.export() == merged(home, path), "many records are not all kept")
    check(time.monotonic() - start < 60, "many records take more than a minute")


def main():
    with tempfile.TemporaryDirectory() as name:
        tmp = pathlib.Path(name)
        files, everything = test_merging(tmp)
        test_machines(tmp, files, everything)
        for test in (test_processes, test_tuning, test_kills, test_disk, test_hostile, test_many):
            test(tmp)
    for text in skipped:
        print("1 skipped:", text)
    return report()


sys.exit(main())
