"""Builds the distribution nereid-compiler: `make` does the work.

    pip install .        the package and the program `nereid`
    pip install -e .     the same for those who change it: after an edit of C, `make python`
    pip wheel .          one wheel for all versions of Python from 3.10 on

The variables PASSED of the environment go to make.  For another machine, 64-bit Arm as an example,
they name its tools, and _PYTHON_HOST_PLATFORM=linux-aarch64 names it to setuptools.

What the wheel contains is in build/python (Makefile, "the Python package"); this file copies it,
and names the wheel after the C library that it needs.
"""
import fcntl, os, pathlib, re, shutil, subprocess, sys, sysconfig

from setuptools import Extension, find_namespace_packages, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist
from setuptools.errors import ExecError

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # before setuptools 70.1
    from wheel.bdist_wheel import bdist_wheel

BUILD = pathlib.Path("build")
BINARIES = ["nereid/_nereid.abi3.so", "nereid/bin/nereid"]
PASSED = ["CC", "CFLAGS", "CPPFLAGS", "LD", "LDFLAGS", "OBJCOPY", "GLIBC_FLOOR", "RE2C", "BISON",
          "PROTOC_C"]
# Made by re2c, bison and protoc-c.
GENERATED = ["parser/lexer.c", "parser/grammar.c", "parser/grammar.h",
             "import/onnx/onnx.pb-c.c", "import/onnx/onnx.pb-c.h"]
# The parts of the C library, which every Linux has (PEP 600).
SYSTEM = re.compile(r"lib(c|m|dl|pthread)\.so\.\d+|ld-linux[\w-]*\.so\.\d+")


def make(*targets):
    """Runs make; another build of the same folder waits."""
    words = ["make", f"-j{os.cpu_count()}", f"PYTHON={sys.executable}", *targets]
    words += [f"{name}={os.environ[name]}" for name in PASSED if os.environ.get(name)]
    include = sysconfig.get_path("include")
    if os.path.exists(f"{include}/Python.h"):
        words.append(f"PYTHON_INCLUDE={include}")
    # Another make may have started this program, whose options are not for this one.
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    with open(BUILD / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            subprocess.run(words, check=True, env=environment)
        except (OSError, subprocess.CalledProcessError) as error:
            raise ExecError(f"{error}\nThe lines above tell what is missing.  On Debian, `sh "
                            "setup.sh packages` installs all that a build needs.") from None


def made_names():
    """The files of the package that `make package-made` made, which are no sources."""
    names = BUILD / "python/made"
    return names.read_text().split() if names.exists() else []


class BuildPython(build_py):
    def run(self):
        # A module that was removed would stay there, and go into the wheel.
        if not self.editable_mode:
            shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()


class BuildExtension(build_ext):
    def run(self):
        if sysconfig.get_config_var("Py_GIL_DISABLED"):
            raise ExecError("Nereid does not support Python without the global interpreter lock "
                            "yet: use the usual build of Python, such as python3.14")
        make("package-made")
        for name in made_names():
            made = BUILD / "python" / name
            to = pathlib.Path("python" if self.inplace else self.build_lib, name)
            to.parent.mkdir(parents=True, exist_ok=True)
            to.unlink(missing_ok=True)
            if self.inplace:
                to.symlink_to(os.path.relpath(made, to.parent))
            else:
                shutil.copy2(made, to)

    def get_outputs(self):
        return [str(pathlib.Path(self.build_lib, name)) for name in made_names()]

    def get_output_mapping(self):
        return {}


def glibc_needed():
    """X of GLIBC_2.X that the files in the wheel need; None where they need other libraries."""
    newest = 0
    for name in BINARIES:
        command = ["readelf", "-VdW", str(BUILD / "python" / name)]
        try:
            text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        except (OSError, subprocess.CalledProcessError):
            return None
        if not all(map(SYSTEM.fullmatch, re.findall(r"\(NEEDED\).*\[(.*)\]", text))):
            return None
        newest = max(newest, *map(int, re.findall(r"GLIBC_2\.(\d+)", text)), 0)
    return newest or None


class Wheel(bdist_wheel):
    def finalize_options(self):
        super().finalize_options()
        self.py_limited_api = "cp310"

    def get_tag(self):
        python, abi, platform = super().get_tag()
        minor = glibc_needed() if platform.startswith("linux_") else None
        if minor:
            platform = platform.replace("linux_", f"manylinux_2_{max(minor, 17)}_", 1)
        return python, abi, platform


class SourceDistribution(sdist):
    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        make(*[f"{BUILD}/{name}" for name in GENERATED])
        for name in GENERATED:
            to = pathlib.Path(base_dir, "generated", name)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(BUILD / name, to)
        pathlib.Path(base_dir, "generated/version").write_text(version("--content"))


def version(*options):
    """That of the distribution, and a hash of the sources with --content."""
    try:
        return subprocess.run(["sh", "python/link/version", *options], stdout=subprocess.PIPE,
                              text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise ExecError(f"the version is not known: {error}") from None


BUILD.mkdir(exist_ok=True)
setup(
    version=version().strip(),
    package_dir={"": "python"},
    packages=find_namespace_packages("python", include=["nereid", "nereid.*"],
                                     exclude=["nereid.bin"]),
    package_data={"": ["py.typed", "*.pyi"]},
    include_package_data=False,
    ext_modules=[Extension("nereid._nereid", [], py_limited_api=True)],
    cmdclass={"build_py": BuildPython, "build_ext": BuildExtension, "bdist_wheel": Wheel,
              "sdist": SourceDistribution},
    options={"build": {"build_base": "build/wheel"}, "egg_info": {"egg_base": "build"}},
    zip_safe=False,
)
