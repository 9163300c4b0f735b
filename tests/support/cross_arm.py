"""The program for 64-bit Arm: cross-compiled into build/arm, run by an emulator.

Libraries for Arm are those of `sh setup.sh arm`; ARM_CPPFLAGS and ARM_LDFLAGS tell of others, and
ARM_SYSROOT the folder of Arm's C library.  The program's kernels are compiled by the cross
compiler, which knows no -march=native: one of MACHINES stands for it.
"""
import fcntl, os, pathlib, shlex, shutil, subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
PREFIX = "aarch64-linux-gnu-"
PROGRAM = ROOT / "build/arm/python/nereid/bin/nereid"
SYSROOT = os.environ.get("ARM_SYSROOT", "/usr/aarch64-linux-gnu")
LIBRARIES = ROOT / "build/arm-libraries/usr"
FLAGS = {name: os.environ.get("ARM_" + name, own if LIBRARIES.exists() else "") for name, own in {
    "CPPFLAGS": f"-isystem {LIBRARIES}/include",
    "LDFLAGS": f"-L{LIBRARIES}/lib/aarch64-linux-gnu"}.items()}
# The first machines of this kind, and those with products of bytes and arithmetic of 16 bits.
MACHINES = ("armv8-a", "armv8.2-a+dotprod+fp16")


def emulator():
    """The words before a program for Arm; none where there is no emulator of it."""
    program = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")
    return [program, "-L", SYSROOT] if program else []


def missing():
    """The reason for which the program can't be built or run here."""
    if not shutil.which(PREFIX + "gcc"):
        return f"no {PREFIX}gcc"
    if not emulator():
        return "no qemu-aarch64"
    libraries = ["sqlite3", "xxhash", "minizip", "z", "protobuf-c"]
    command = [PREFIX + "gcc", "-x", "c", "-", "-o", os.devnull, *FLAGS["LDFLAGS"].split(),
               "-Wl,-Bstatic", *("-l" + name for name in libraries), "-Wl,-Bdynamic", "-lm"]
    done = subprocess.run(command, input="int main(void) { return 0; }", text=True,
                          capture_output=True)
    return f"no libraries for Arm: {done.stderr[-200:]}" if done.returncode else None


def build(*files):
    """What make prints if it fails to build the files, which are named from the root.  One at a
    time builds."""
    environment = {k: v for k, v in os.environ.items()
                   if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    ccache = [shutil.which("ccache")] if shutil.which("ccache") else []
    words = ["make", f"-j{os.cpu_count()}", "B=build/arm", f"LD={PREFIX}ld",
             f"CC={shlex.join([*ccache, PREFIX + 'gcc'])}", f"OBJCOPY={PREFIX}objcopy",
             *(f"{k}={v}" for k, v in FLAGS.items()), *map(str, files)]
    (ROOT / "build").mkdir(exist_ok=True)
    with open(ROOT / "build/arm.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run(words, cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
    return done.stdout[-2000:] if done.returncode else ""


def script(path, text):
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return str(path)


def variables(folder, machine, here):
    """What a driver of tests needs in its environment to run device `cpu` on an emulated machine.
    Other devices are those of the program `here`, which is faster."""
    folder = pathlib.Path(folder)
    there = shlex.join([*emulator(), str(PROGRAM)])
    program = script(folder / "nereid", f"""
case " $* " in
  *" --device cpu "*) exec {there} "$@" ;;
  *) exec {shlex.quote(str(here))} "$@" ;;
esac
""")
    compiler = script(folder / "cc", f"""
for word; do
  shift
  [ "$word" != -march=native ] || word=-march={machine}
  set -- "$@" "$word"
done
exec {PREFIX}gcc "$@"
""")
    return {"NEREID": program, "CC": compiler, "CC_FOR_BUILD": os.environ.get("CC", "cc"),
            "NEREID_CACHE_DIR": "", "NEREID_CPU": "cpu:4"}
