"""What the tests of `nereid tune` share: machines of their own, real ones and a fake GPU, and the
kernels of cli/tuning.py."""
import atexit, functools, json, os, pathlib, pty, shlex, shutil, subprocess, tempfile
from tally import check

ROOT = pathlib.Path(__file__).resolve().parents[2]
NEREID = os.path.abspath(os.environ.get("NEREID", ROOT / "build" / "nereid"))
FILE = ROOT / "tests/cli/commands/tuning.py"
OK, HANGS, FAULTS, FAILS, WRONG, LARGE = range(6)  # the MODE of kernel `scale`


def scale(device, grid="cdiv(n, BLOCK)"):
    return [f"{FILE}:scale", "x=rand:f32[65536]", "y=zeros:f32[65536]", "n=65536", "--grid", grid,
            "--device", device]


def space(blocks, modes=(OK,)):
    join = lambda values: ",".join(map(str, values))
    return "--space", "BLOCK=" + join(blocks), "--space", "MODE=" + join(modes)


def by_config(tuning):
    return {tuple(c["config"].values()): c for c in tuning["candidates"]}


def on_terminal(args, env):
    """What it writes on a terminal, line by line as they are written over."""
    controller, terminal = pty.openpty()
    process = subprocess.Popen([NEREID, *map(str, args)], env=env, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=terminal)
    os.close(terminal)
    written = b""
    try:
        while part := os.read(controller, 4096):
            written += part
    except OSError:
        pass  # nobody holds the terminal any more
    os.close(controller)
    check(process.wait() == 0, f"on a terminal: {written}")
    return written.decode().split("\r\x1b[K")


def without_doubt(err):
    """Messages without notes that a time is uncertain: others may keep this machine busy."""
    doubt = " measures it again"
    return "".join(l for l in err.splitlines(True) if not l.rstrip().endswith(doubt))


@functools.cache
def measured_home():
    """A cache that has this machine's speed, which takes a second to measure, and nothing else."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    subprocess.run([NEREID, "graph", ROOT / "tests/models/mlp/model.pt2", "--explain", "--device",
                    "cpu"], env=dict(os.environ, NEREID_CACHE_DIR=folder), check=True,
                   stdout=subprocess.DEVNULL)
    return folder


class Machine:
    """A home with a database of its own."""

    def __init__(self, folder, device="cpu"):
        self.folder, self.device = folder, device
        if device == "cpu":
            shutil.copytree(measured_home(), folder, dirs_exist_ok=True)
        self.env = dict(os.environ, NEREID_CACHE_DIR=str(folder))

    def start(self, *args, command="tune", **how):
        how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": self.env, **how}
        return subprocess.Popen([NEREID, command, *map(str, args)], text=True, **how)

    def run(self, *args, **how):
        """The status, output and messages."""
        process = self.start(*args, **how)
        out, err = process.communicate()
        return process.returncode, out, err

    def tune(self, *args, kernel=None, disagree=False, **how):
        """What --json says, and no message but the note where half of the results differ."""
        kernel = kernel or scale(self.device)
        status, out, err = self.run(*kernel, *args, "--json", "-", **how)
        err = without_doubt(err)
        told = err.count("note: ") == 1 and "gave other results than the best" in err
        check(status == 0 and (told if disagree else not err), f"tune {args}: {status}: {err}")
        return json.loads(out) if status == 0 else {"candidates": [], "best": {}, "source": ""}

    def records(self):
        """As text."""
        status, out, err = self.run("export", "-", command="records")
        check(status == 0, f"records export: {err}")
        return out


def fake_gpu(tmp, folder, settings=""):
    """A machine whose driver is a fake one, with the driver's compiler instead of ptxas."""
    driver, machine = tmp / "libcuda.so", Machine(tmp / folder, "cuda")
    cc = shlex.split(os.environ.get("CC", "cc"))
    subprocess.run([*cc, "-shared", "-fPIC", "-o", driver, ROOT / "tests/support/fake_cuda.c"],
                   check=True)
    machine.env.update(NEREID_LIBCUDA=str(driver), NEREID_PTXAS="", FAKE_CUDA=settings)
    return machine
