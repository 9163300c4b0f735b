#!/usr/bin/env python3
"""Every command with every kind of wrong command line, file and place to write: the status is 2 for
wrong usage and 1 for the kernel, the model and the run, after one error message."""
import os, pathlib, re, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
import tally  # noqa: E402

NEREID = os.path.abspath(os.environ.get("NEREID", ROOT / "build/nereid"))
KERNEL = str(ROOT / "examples/kernels/vector_add.py")
MODEL = str(ROOT / "tests/models/mlp/model.pt2")
INPUT = str(ROOT / "tests/models/mlp/input_0.npy")
RECORDS = str(ROOT / "tests/runtime/records/one.records")
VALUES = ["x_ptr=ones:f32[64]", "y_ptr=ones:f32[64]", "out_ptr=empty:f32[64]", "n=64"]
LAUNCH = [*VALUES, "-D", "BLOCK=64", "--grid", "1", "--device", "interp"]
PROBLEM, USAGE = 1, 2

# The arguments of each command that takes a file, with FILE for it; they end in status 0.
RIGHT = {
    "compile": ["FILE", "--sig", "x_ptr=*fp32,y_ptr=*fp32,out_ptr=*fp32,n=i32", "-D", "BLOCK=64"],
    "run": ["FILE", *LAUNCH],
    "tune": ["FILE", *VALUES, "--space", "BLOCK=32,64", "--grid", "1", "--device", "cpu",
             "--budget", "0"],
    "estimate": ["FILE", *VALUES, "-D", "BLOCK=64", "--grid", "1", "--target", "cpu"],
    "bench": ["FILE", "x_ptr=ones:f32[n]", "y_ptr=ones:f32[n]", "out_ptr=empty:f32[n]", "--x",
              "n=64,128", "-D", "BLOCK=64", "--grid", "cdiv(n, 64)", "--device", "interp"],
    "list": ["FILE"],
    "graph": ["FILE", INPUT, "--device", "interp"],
    "build": ["FILE", "-o", "DIR", "--target", "cpu"],
    "records": ["import", "FILE"],
}
KERNELS = ("compile", "run", "tune", "estimate", "bench", "list")
FILES = {"graph": MODEL, "build": MODEL, "records": RECORDS}
# Options that take lists, whose members may be no value of a candidate's.
LISTS = {("tune", "--num-warps"), ("tune", "--num-stages")}
# Options that name a file to write, or a folder for files.
OUTPUTS = {"compile": ["-o"], "tune": ["--json", "--report"], "bench": ["-o", "--json"],
           "graph": ["--out-dir", "--dump-dir", "--trace"], "build": ["-o"]}
# Options that name a file to read.
INPUTS = {"bench": ["--peer"], "graph": ["--weights", "--rewrite", "--compare"],
          "build": ["--weights"]}
# It goes on with the other sizes of a sweep: a message for each that is left out.
SWEEPS = ("bench",)
TEXT = "Python 3 text, but no kernel of it has this name: (\n"


class Machine:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.env = {**os.environ, "NEREID_CACHE_DIR": str(self.folder / "cache")}

    def run(self, *arguments, stdout=subprocess.PIPE, **env):
        return subprocess.run([NEREID, *map(str, arguments)], stdout=stdout, text=True,
                              stderr=subprocess.PIPE, errors="replace", env={**self.env, **env},
                              cwd=self.folder, stdin=subprocess.DEVNULL)

    def right(self, command, file=None):
        """The arguments with which it ends in 0, or those with another file."""
        file = file if file is not None else FILES.get(command, KERNEL)
        return [command, *(str(file) if a == "FILE" else a for a in RIGHT.get(command, []))]

    def refused(self, status, what, *arguments, **more):
        """The status, and one error: the first line of what is said, whose other lines belong to
        it."""
        done = self.run(*arguments, **more)
        lines = done.stderr.splitlines()
        errors = [i for i, line in enumerate(lines) if re.match(r"(\S.*: )?error: ", line)]
        one = errors[:1] == [0] and (len(errors) == 1 or arguments[0] in SWEEPS)
        one = one and len(re.findall("(?:^|: )error: ", lines[0])) == 1
        tally.check(done.returncode == status and one,
                    f"{what}: {' '.join(map(str, arguments))}: status {done.returncode}, not "
                    f"{status}: {done.stderr!r}")


def commands(machine):
    return re.findall(r"(?m)^  ([a-z]+) +\S.*$", machine.run("help").stdout.split("\nExit")[0])


def options(machine, command):
    """(name, value, is repeatable?) of each."""
    text = re.sub(r"\n {20,}", " ", machine.run("help", command).stdout.split("Options:")[1])
    for line in text.splitlines():
        found = re.match(r"  (?:-\w, )?(--?[\w-]+) ([A-Z]\S*|) ", line)
        if found:
            yield found[1], found[2], "(repeatable)" in line


def check_right(machine):
    """What is changed below is right as it stands."""
    for command in RIGHT:
        done = machine.run(*machine.right(command))
        tally.check(done.returncode == 0, f"{command}: {done.returncode} {done.stderr}")


def check_usage(machine, command):
    right = machine.right(command)
    machine.refused(USAGE, "unknown option", *right, "--nonsense")
    machine.refused(USAGE, "unknown short option", *right, "-Z")
    surplus = INPUT if command == "graph" else "surplus"
    machine.refused(USAGE, "an operand too many", *right, *6 * [surplus])
    if command not in ("records", "cache", "info"):
        machine.refused(USAGE, "no operand", command)
        machine.refused(USAGE, "an empty operand", command, "")
    for name, value, repeats in options(machine, command):
        if value:
            machine.refused(USAGE, "no value", *right, name)
        elif name.startswith("--"):
            machine.refused(USAGE, "a value of a flag", *right, f"{name}=1")
        if value and not repeats and name not in ("--color", "--diagnostics"):
            machine.refused(USAGE, "given twice", command, name, "1", name, "1")
    for name in ("--color", "--diagnostics"):
        machine.refused(USAGE, "no such choice", *right, name, "perhaps")


def check_values(machine, command):
    """Values that no option takes."""
    if command not in RIGHT:
        return
    wrong = {"--device": "gpu", "--target": "sm_1", "--mode": "fast", "--emit": "llvm",
             "--num-warps": "3", "--num-stages": "many", "--maxnreg": "-1", "--dtype": "f4",
             "--tol": "small", "--budget": "soon", "--range": "s0", "--grid": "(", "--sig": "x",
             "-D": "BLOCK", "--space": "BLOCK", "--x": "n", "--import-path": "none/there"}
    for name, value, _ in options(machine, command):
        if name not in wrong or (command, name) in LISTS:
            continue
        right = machine.right(command)
        if name in right and name not in ("-D", "--sig", "--space"):
            at = right.index(name)
            del right[at : at + 2]
        machine.refused(USAGE, "a wrong value", *right, name, wrong[name])


def check_files(machine, command):
    folder = machine.folder
    for what, file in (("a missing file", folder / "none.py"), ("a folder", folder),
                       ("an empty file", "/dev/null"), ("text", folder / "text.py"),
                       ("bytes", folder / "bytes.py")):
        machine.refused(PROBLEM, what, *machine.right(command, file))
    if os.geteuid():
        machine.refused(PROBLEM, "no permission", *machine.right(command, folder / "secret.py"))
    for option in INPUTS.get(command, []):
        machine.refused(PROBLEM, f"{option}: a missing file", *machine.right(command), option,
                        folder / "none")


def check_kernels(machine, command):
    folder = machine.folder
    machine.refused(PROBLEM, "a syntax error", *machine.right(command, folder / "syntax.py"))
    if command == "list":
        return
    machine.refused(PROBLEM, "an error of types", *machine.right(command, folder / "types.py"))
    machine.refused(USAGE, "an unknown kernel", *machine.right(command, KERNEL + ":nobody"))
    right = machine.right(command)
    machine.refused(USAGE, "an unknown constexpr", *right, "-D", "BLOK=1")
    if command != "compile":
        machine.refused(USAGE, "an unknown argument", *right, "z_ptr=1")
        machine.refused(USAGE, "a wrong value",
                        *("n=many" if a == "n=64" else a for a in right),
                        *(["y_ptr=many"] if command == "bench" else []))
    if command in ("run", "tune", "bench"):
        machine.refused(PROBLEM, "an array that is missing",
                        *("x_ptr=@none.npy" if a.startswith("x_ptr=") else a for a in right))


def check_outputs(machine, command):
    for option in OUTPUTS.get(command, []):
        nowhere = machine.folder / "none/there/x"
        for what, path in (("no folder", nowhere), ("no file", "/dev/full")):
            right = machine.right(command)
            if option in right:
                del right[right.index(option) : right.index(option) + 2]
            machine.refused(PROBLEM, f"{option}: {what}", *right, option, path)


def check_stdout(machine, command):
    """Output that cannot be written, of commands that print some."""
    if command in ("build", "records"):
        return
    operand = {"completion": ["bash"], "explain": ["E_CLI_MESSAGE"]}.get(command, [])
    right = machine.right(command) + operand
    with open("/dev/full", "w") as full:
        machine.refused(PROBLEM, "a full disk", *right, stdout=full)
        machine.refused(PROBLEM, "a full disk", "help", command, stdout=full)


def check_environment(machine):
    none = str(machine.folder / "none")
    cpu = [*machine.right("run")[:-1], "cpu"]
    machine.refused(USAGE, "no number of threads", *cpu, NEREID_THREADS="x")
    machine.refused(PROBLEM, "no compiler", *cpu, CC=none)
    machine.refused(PROBLEM, "no compiler of C", *cpu, CC="/bin/true", NEREID_CACHE_DIR="")
    machine.refused(PROBLEM, "no GPU", *cpu[:-1], "cuda", NEREID_LIBCUDA=none)
    machine.refused(PROBLEM, "no ptxas", *machine.right("compile"), "--emit", "cubin",
                    NEREID_PTXAS="", NEREID_LIBCUDA=none)
    machine.refused(PROBLEM, "no temporary folder", *cpu, TMPDIR=none, NEREID_CACHE_DIR="")
    for verb in (["cache", "clear"], ["cache", "limit", "1G"], ["records", "export", "x"]):
        machine.refused(USAGE, "a cache that is off", *verb, NEREID_CACHE_DIR="")
    machine.refused(PROBLEM, "no folder of a cache", "cache", "limit", "1G",
                    NEREID_CACHE_DIR="/dev/null/x")


def write_files(folder):
    kernel = pathlib.Path(KERNEL).read_text()
    (folder / "text.py").write_text(TEXT)
    (folder / "bytes.py").write_bytes(b"\x7fELF\x00\xff\xfe" * 50)
    (folder / "syntax.py").write_text(kernel.replace("x + y", "x + + * y"))
    (folder / "types.py").write_text(kernel.replace("x + y", "x + unknown"))
    (folder / "secret.py").write_text(kernel)
    (folder / "secret.py").chmod(0)


with tempfile.TemporaryDirectory() as name:
    machine = Machine(name)
    write_files(machine.folder)
    check_right(machine)
    names = commands(machine)
    tally.check({*RIGHT} < {*names}, f"commands that the help lists: {names}")
    machine.refused(USAGE, "an unknown command", "nonsense")
    machine.refused(USAGE, "help of an unknown command", "help", "nonsense")
    for command in names:
        check_usage(machine, command)
        check_values(machine, command)
        check_stdout(machine, command)
        if command in RIGHT:
            check_files(machine, command)
            check_outputs(machine, command)
        if command in KERNELS:
            check_kernels(machine, command)
    check_environment(machine)
sys.exit(tally.report())
