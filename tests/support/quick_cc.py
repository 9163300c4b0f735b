"""A quick C compiler for device cpu, where kernels run once: most of the time would go into -O2."""
import os, pathlib, shutil, subprocess

SOURCE = pathlib.Path(__file__).resolve().with_suffix(".c")


def write(folder, option="-O0"):
    """The path of a compiler that puts `option` in the last place, and keeps what it compiled in
    `folder`.  That of tests/run serves all drivers, which compile much that is the same."""
    compiler, path = os.environ.get("CC", "cc"), pathlib.Path(folder) / f"quick{option}"
    if pathlib.Path(compiler).name == path.name:
        return compiler
    first, *more = compiler.split()
    real = shutil.which(first)
    if not real:  # the bundle's tests may run on a machine without one
        return compiler
    words = {"REAL": " ".join([real, *more]), "OPTION": option, "KEPT": folder}
    macros = [f'-D{name}="{text}"' for name, text in words.items()]
    host = os.environ.get("CC_FOR_BUILD", "").split() or [real, *more]  # CC may be a cross compiler
    subprocess.run([*host, "-O1", *macros, "-o", path, SOURCE], check=True)
    return str(path)


def quick_compiler(folder, option="-O0", cached=True):
    """From here on kernels are compiled by it.  What was compiled is kept in `folder`, or not at
    all."""
    os.environ.update(CC=write(folder, option), NEREID_CACHE_DIR=str(folder) if cached else "")
