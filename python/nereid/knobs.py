"""Settings, each a variable of the environment, by Triton's names: `knobs.runtime.interpret`.

    nereid.knobs.runtime.interpret = True          # or NEREID_INTERPRET=1
    nereid.knobs.runtime.launch_enter_hook.add(f)  # f(metadata) before each launch
    with nereid.knobs.cache.scope():
        nereid.knobs.cache.dir = "/tmp/cache"      # or NEREID_CACHE_DIR

A setting is read from its variable whenever it is asked for; one that is assigned keeps its value,
and the variable gets it too, for processes that are started later.  Where Nereid has a variable of
its own, Triton's counts only while Nereid stands in for it.  Those that this compiler has
no use for are kept, and do nothing: docs/python.md says which are in use.
"""

from __future__ import annotations

import contextlib
import os
import sys

from nereid import _nereid

propagate_env: bool = True

# Variables that the library reads, which follow those of Triton's names.
_FOLLOW = {"TRITON_CACHE_DIR": "NEREID_CACHE_DIR", "TRITON_INTERPRET": "NEREID_INTERPRET",
           "TRITON_PRINT_AUTOTUNING": "NEREID_PRINT_AUTOTUNING", "TRITON_DEBUG": "NEREID_DEBUG"}


class Env:
    """`env`: a setting that is assigned it is read from its variable again."""


env = Env()


def getenv(key: str, default=None):
    """A variable's value; one that is empty counts as one that is not set."""
    own = _FOLLOW.get(key)
    if own and (os.environ.get(own) or not _stands_in()):
        return os.environ.get(own) or default
    return os.environ.get(key) or default


def _stands_in() -> bool:
    """Is `import triton` this package?"""
    drop_in = sys.modules.get("nereid.drop_in")
    return drop_in is not None and drop_in.installed()


def getenv_bool(key: str, default=False):
    """Whether a variable is 1, true or on."""
    value = getenv(key)
    return default if value is None else value.lower() in ("1", "true", "on", "y", "yes")


def setenv(key: str, value: str | None) -> None:
    """Sets a variable, or removes it."""
    if not propagate_env:
        return
    for name in filter(None, (key, _FOLLOW.get(key))):
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def toenv(value):
    """(the text of a variable,) for a value; None if variables can't hold it."""
    if value is None:
        return (None,)
    if type(value) is bool:
        return ("1" if value else "0",)
    return (str(value),) if type(value) in (str, int) else None


class env_base:
    """A setting of a class of settings."""

    def __init__(self, key: str, default=None):
        self.key, self.default = key, default

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, obj, owner=None):
        if obj is None:
            return self
        if self.name in obj.__dict__:
            return self.transform(obj.__dict__[self.name])
        return self.get()

    def __set__(self, obj, value):
        if isinstance(value, Env):
            obj.__dict__.pop(self.name, None)
            return
        obj.__dict__[self.name] = value
        text = toenv(value)
        if text:
            setenv(self.key, text[0])

    def __delete__(self, obj):
        obj.__dict__.pop(self.name, None)

    def get(self):
        return getenv(self.key, self.default)

    def transform(self, value):
        return value


class env_str(env_base):
    """A text."""


class env_opt_str(env_base):
    """A text or None."""


class env_str_callable_default(env_base):
    """A text, whose default a function gives."""

    def get(self):
        return getenv(self.key) or self.default()


class env_bool(env_base):
    """True or False."""

    def __init__(self, key: str, default: bool = False):
        super().__init__(key, default)

    def get(self):
        return getenv_bool(self.key, self.default)


class env_opt_bool(env_base):
    """True, False or None."""

    def get(self):
        return getenv_bool(self.key, None)


class env_int(env_base):
    """A number."""

    def __init__(self, key: str, default: int = 0):
        super().__init__(key, default)

    def get(self):
        value = getenv(self.key)
        try:
            return self.default if value is None else int(value)
        except ValueError as error:
            raise RuntimeError(f"Unable to use {self.key}={value}: expected int") from error


class env_class(env_base):
    """A class that a variable names as MODULE:CLASS, derived from one of a name."""

    def get(self):
        value = getenv(self.key)
        if value is None:
            return None
        module, colon, name = value.partition(":")
        if not colon:
            raise RuntimeError(f"Unable to read {self.key}: '{value}' is not MODULE:CLASS")
        import importlib

        found = getattr(importlib.import_module(module), name)
        if self.default not in (c.__name__ for c in found.mro()):
            raise RuntimeError(
                f"Unable to use '{value}' from {self.key}: not of type '{self.default}'"
            )
        return found


class NvidiaTool:
    """A program of the CUDA toolkit: its path, and its version, such as "12.8"."""

    def __init__(self, path: str, version: str):
        self.path, self.version = path, version

    def __repr__(self):
        return f"NvidiaTool(path={self.path!r}, version={self.version!r})"

    @staticmethod
    def from_path(path: str) -> NvidiaTool | None:
        """The tool at a path; None if there is none."""
        import re
        import subprocess

        try:
            text = subprocess.check_output([path, "--version"], text=True, stderr=subprocess.STDOUT)
        except (OSError, subprocess.CalledProcessError):
            return None
        found = re.search(r"release (\d+\.\d+)", text)
        return NvidiaTool(path, found[1]) if found else None


class env_nvidia_tool(env_base):
    """A program of the CUDA toolkit: where its variable says, in PATH, or in /usr/local/cuda."""

    def __init__(self, program: str):
        super().__init__(f"TRITON_{program.upper().replace('-', '_')}_PATH")
        self.program = program

    def get(self):
        return self.transform(getenv(self.key))

    def transform(self, value):
        import shutil

        for path in (value, shutil.which(self.program), f"/usr/local/cuda/bin/{self.program}"):
            tool = NvidiaTool.from_path(path) if path else None
            if tool:
                return tool
        raise RuntimeError(f"Cannot find {self.program}: set {self.key}")


class base_knobs:
    """A class of settings."""

    @property
    def knob_descriptors(self) -> dict:
        return {name: k for name, k in vars(type(self)).items() if isinstance(k, env_base)}

    @property
    def knobs(self) -> dict:
        return {name: getattr(self, name) for name in self.knob_descriptors}

    def copy(self):
        other = type(self)()
        other.__dict__.update(self.__dict__)
        return other

    def reset(self):
        for name in self.knob_descriptors:
            delattr(self, name)
        return self

    @contextlib.contextmanager
    def scope(self):
        """Within it settings may be assigned; at its end they are what they were."""
        keys = [k.key for k in self.knob_descriptors.values()]
        keys += [_FOLLOW[key] for key in keys if key in _FOLLOW]
        variables = {key: os.environ.get(key) for key in keys}
        values = dict(self.__dict__)
        try:
            yield
        finally:
            self.__dict__.clear()
            self.__dict__.update(values)
            for key, value in variables.items():
                if value is None:
                    os.environ.pop(key, None)
                else:
                    os.environ[key] = value
            self._restored()

    def _restored(self) -> None:
        """Called at the end of a scope."""


# ---- hooks of launches ----


class LazyDict:
    """Metadata of a launch, whose dear parts are computed when somebody asks."""

    def __init__(self, data: dict):
        self.data, self.extras = data, []

    def get(self) -> dict:
        for function, args in self.extras:
            self.data = self.data | function(*args)
        self.extras.clear()
        return self.data

    def add(self, function, args) -> None:
        self.extras.append((function, args))


class HookChain:
    """Functions that are called in their order, or in the reversed one."""

    def __init__(self, reversed: bool = False):
        self.calls: list = []
        self.reversed = reversed

    def add(self, func) -> None:
        if func not in self.calls:
            self.calls.append(func)
        _connect()

    def remove(self, func) -> None:
        if func in self.calls:
            self.calls.remove(func)
        _connect()

    def __call__(self, *args, **kwargs) -> None:
        for call in self.calls[::-1] if self.reversed else list(self.calls):
            call(*args, **kwargs)


def _metadata(compiled, grid: tuple, stream: int, bound: dict) -> LazyDict:
    lazy = LazyDict({"name": compiled.name, "function": compiled.kernel, "stream": stream})
    more = getattr(compiled.fn, "launch_metadata", None)
    if more:
        lazy.add(more, (grid, compiled.metadata, bound))
    return lazy


def _enter(compiled, grid, stream, bound):
    if runtime.nvtx:
        _nvtx.push(compiled.name)
    hook = runtime.launch_enter_hook
    if hook and getattr(hook, "calls", True):
        hook(_metadata(compiled, grid, stream, bound))


def _exit(compiled, grid, stream, bound):
    hook = runtime.launch_exit_hook
    try:
        if hook and getattr(hook, "calls", True):
            hook(_metadata(compiled, grid, stream, bound))
    finally:
        if runtime.nvtx:
            _nvtx.pop()


def _is_used(hook) -> bool:
    return bool(hook) and bool(getattr(hook, "calls", True))


def _connect() -> None:
    """Hooks that do nothing cost a launch nothing: it knows of none."""
    _nereid.set_debug(bool(runtime.debug))
    used = runtime.nvtx or _is_used(runtime.launch_enter_hook) or _is_used(runtime.launch_exit_hook)
    _nereid.set_launch_hooks(*((_enter, _exit) if used else (None, None)))


class _Nvtx:
    """Ranges of NVIDIA's tools extension, of whichever library is there."""

    NAMES = ("libnvToolsExt.so.1", "libnvToolsExt.so", "libnvtx3interop.so")

    def __init__(self):
        self._library = None
        self._looked = False

    def _find(self):
        import ctypes
        import glob

        torch = sys.modules.get("torch")
        if torch is not None and getattr(torch.version, "cuda", None):
            return torch.cuda.nvtx
        folders = [os.environ.get("CUDA_HOME") or "/usr/local/cuda"]
        found = [p for f in folders for n in self.NAMES for p in glob.glob(f"{f}/lib64/{n}")]
        for name in (*self.NAMES, *found):
            try:
                library = ctypes.CDLL(name)
            except OSError:
                continue
            if hasattr(library, "nvtxRangePushA"):
                return library
        import warnings

        warnings.warn("NEREID_NVTX is set, but there is no PyTorch for CUDA and no libnvToolsExt: "
                      "launches have no ranges")
        return None

    def _call(self, ours: str, theirs: str, *args):
        if not self._looked:
            self._looked, self._library = True, self._find()
        if self._library is None:
            return
        if hasattr(self._library, ours):
            getattr(self._library, ours)(*args)
        else:
            getattr(self._library, theirs)(*(a.encode() for a in args))

    def push(self, name: str) -> None:
        self._call("range_push", "nvtxRangePushA", name)

    def pop(self) -> None:
        self._call("range_pop", "nvtxRangePop")


_nvtx = _Nvtx()


# ---- the classes of settings ----


class build_knobs(base_knobs):
    """The C compiler."""

    cc = env_opt_str("CC")
    cudacrt_path = env_opt_str("TRITON_CUDACRT_PATH")
    cudart_path = env_opt_str("TRITON_CUDART_PATH")
    impl = None

    @property
    def backend_dirs(self) -> set:
        return {path for path in (self.cudacrt_path, self.cudart_path) if path is not None}


class redis_knobs(base_knobs):
    """A cache on a server, which is not here."""

    key_format = env_str("TRITON_REDIS_KEY_FORMAT", "triton:{key}:{filename}")
    host = env_str("TRITON_REDIS_HOST", "localhost")
    port = env_int("TRITON_REDIS_PORT", 6379)


class cache_knobs(base_knobs):
    """Folders of files that are kept."""

    home_dir = env_str("TRITON_HOME", os.path.expanduser("~/"))
    dump_dir = env_str_callable_default("TRITON_DUMP_DIR", lambda: cache.get_triton_dir("dump"))
    override_dir = env_str_callable_default(
        "TRITON_OVERRIDE_DIR", lambda: cache.get_triton_dir("override")
    )
    dir = env_str_callable_default("TRITON_CACHE_DIR", lambda: cache.get_triton_dir("cache"))
    manager_class = env_class("TRITON_CACHE_MANAGER", "CacheManager")
    remote_manager_class = env_class("TRITON_REMOTE_CACHE_BACKEND", "RemoteCacheBackend")

    def get_triton_dir(self, name: str) -> str:
        return os.path.join(self.home_dir, ".triton", name)


class compilation_knobs(base_knobs):
    """The compiler."""

    override = env_bool("TRITON_KERNEL_OVERRIDE")
    dump_ir = env_bool("TRITON_KERNEL_DUMP")
    store_binary_only = env_bool("TRITON_STORE_BINARY_ONLY")
    always_compile = env_bool("TRITON_ALWAYS_COMPILE")
    use_ir_loc = env_opt_str("USE_IR_LOC")
    enable_asan = env_bool("TRITON_ENABLE_ASAN")
    disable_line_info = env_bool("TRITON_DISABLE_LINE_INFO")
    front_end_debugging = env_bool("TRITON_FRONT_END_DEBUGGING")
    allow_non_constexpr_globals = env_bool("TRITON_ALLOW_NON_CONSTEXPR_GLOBALS")
    instrumentation_mode: str = getenv("TRITON_INSTRUMENTATION_MODE", "")
    listener = None


class autotuning_knobs(base_knobs):
    """The autotuner."""

    cache = env_bool("TRITON_CACHE_AUTOTUNING")
    print = env_bool("TRITON_PRINT_AUTOTUNING")


class runtime_knobs(base_knobs):
    """Launches."""

    interpret = env_bool("TRITON_INTERPRET")
    debug: bool = getenv_bool("TRITON_DEBUG")
    override_arch = env_opt_str("TRITON_OVERRIDE_ARCH")
    nvtx = env_bool("NEREID_NVTX")  # a range of NVIDIA's tools around each launch
    kernel_load_start_hook = HookChain()
    kernel_load_end_hook = HookChain(reversed=True)
    # Called before (the kernel is not compiled if it returns true) and after a kernel is compiled,
    # with key=, repr=, fn=, compile=, is_manual_warmup=, already_compiled=.
    jit_cache_hook = None
    jit_post_compile_hook = None
    add_stages_inspection_hook = None

    def __init__(self):
        self.__dict__["launch_enter_hook"] = HookChain()
        self.__dict__["launch_exit_hook"] = HookChain(reversed=True)

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        if name in ("launch_enter_hook", "launch_exit_hook", "nvtx", "debug"):
            _connect()

    def _restored(self) -> None:
        _connect()


class language_knobs(base_knobs):
    """The language."""

    fp32_default = env_opt_str("TRITON_F32_DEFAULT")
    default_fp_fusion = env_bool("TRITON_DEFAULT_FP_FUSION", True)


class nvidia_knobs(base_knobs):
    """NVIDIA's tools."""

    cuobjdump = env_nvidia_tool("cuobjdump")
    nvdisasm = env_nvidia_tool("nvdisasm")
    ptxas = env_nvidia_tool("ptxas")
    ptxas_blackwell = env_nvidia_tool("ptxas-blackwell")
    dump_nvptx = env_bool("NVPTX_ENABLE_DUMP")
    disable_ptxas_opt = env_bool("DISABLE_PTXAS_OPT")
    ptxas_options = env_opt_str("PTXAS_OPTIONS")
    libdevice_path = env_opt_str("TRITON_LIBDEVICE_PATH")
    libcuda_path = env_opt_str("TRITON_LIBCUDA_PATH")
    mock_ptx_version = env_opt_str("TRITON_MOCK_PTX_VERSION")


class amd_knobs(base_knobs):
    """AMD's GPUs, which are not here."""

    use_buffer_ops = env_bool("AMDGCN_USE_BUFFER_OPS", True)
    use_buffer_atomics = env_bool("AMDGCN_USE_BUFFER_ATOMICS", True)
    use_block_pingpong = env_opt_bool("TRITON_HIP_USE_BLOCK_PINGPONG")
    use_async_copy = env_opt_bool("TRITON_HIP_USE_ASYNC_COPY")
    dump_amdgcn = env_bool("AMDGCN_ENABLE_DUMP")


class proton_knobs(base_knobs):
    """Triton's profiler, which is not here."""

    disable = env_bool("TRITON_PROTON_DISABLE", False)
    enable_nvtx = env_bool("TRITON_ENABLE_NVTX", True)


build = build_knobs()
redis = redis_knobs()
cache = cache_knobs()
compilation = compilation_knobs()
autotuning = autotuning_knobs()
runtime = runtime_knobs()
language = language_knobs()
nvidia = nvidia_knobs()
amd = amd_knobs()
proton = proton_knobs()
_connect()


def refresh_knobs() -> None:
    """Reads the variables again that are read once."""
    runtime.debug = getenv_bool("TRITON_DEBUG")
    compilation.instrumentation_mode = getenv("TRITON_INSTRUMENTATION_MODE", "")
