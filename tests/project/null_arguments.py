#!/usr/bin/env python3
"""Every function of the public headers with each of its pointers NULL, where the header does not
say that it may be: NEREID_E_USAGE with a message, and out-parameters that are 0."""
import ctypes, os, pathlib, re, struct, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build"))
HEADERS = ["runtime/nereid.h", "runtime/nereid_tune.h", "model/nereid_graph.h"]
USAGE = -2
# Callbacks, contexts and options may be NULL everywhere, a stream where it is one of several
# arguments.
ANYWHERE = ("context", "on_message", "o")
MAY_BE_NULL = {
    ("nereid_module_find", "which"), ("nereid_device_on_message", "fn"),
    ("nereid_device_on_print", "fn"),
    ("nereid_stream_wrap", "native"), ("nereid_stream_native", "s"),
    ("nereid_device_is_capturing", "native"),
    ("nereid_launch_set_pointer", "p"), ("nereid_launch_set_value", "device_data"),
    ("nereid_image_assemble", "target"), ("nereid_image_source", "name"),
    ("nereid_kernel_run", "native_stream"),
    ("nereid_kernel_run", "args"), ("nereid_kernel_run", "extents"),
    ("nereid_launch_run_with", "args"), ("nereid_launch_run_with", "grid"),
    ("nereid_tune_round", "limit_us"),
    ("nereid_records_import", "change"), ("nereid_tuning_roof", "bandwidth"),
    ("nereid_tuning_roof", "flops"), ("nereid_estimate", "d"), ("nereid_estimate", "values"),
}
KINDS = {"int": ctypes.c_int, "int64_t": ctypes.c_int64, "size_t": ctypes.c_size_t,
         "double": ctypes.c_double, "uint64_t": ctypes.c_uint64}
SIZE = 4096


def functions():
    for header in HEADERS:
        text = re.sub(r"/\*.*?\*/", "", (ROOT / header).read_text(), flags=re.S)
        for result, name, params in re.findall(
                r"NEREID_API\s+([^;]*?)\b(nereid_\w+)\(([^;]*)\);", text):
            params = [] if params == "void" else [p.strip() for p in params.split(",")]
            yield result.strip(), name, [parameter(p) for p in params]


def parameter(text):
    """(type, name, is it a pointer?)"""
    found = re.match(r"(.*?)(\w+)(\[\d*\])?$", " ".join(text.split()))
    kind = found[1].strip()
    return kind, found[2], "*" in kind or found[3] is not None or kind.endswith("_fn")


def required(name, params):
    several = len(params) > 1
    for i, (kind, param, pointer) in enumerate(params):
        optional = param in ANYWHERE or (name, param) in MAY_BE_NULL
        optional |= "nereid_stream *" in kind and param == "s" and several
        if pointer and not optional:
            yield i


def is_out(kind):
    return "const" not in kind and (kind.count("*") > 1 or kind == "size_t *")


def call(library, result, name, params, null):
    """What is wrong with the call whose parameter `null` is NULL; empty if it is right."""
    function = getattr(library, name)
    pointer = "*" in result
    function.restype = None if result == "void" else ctypes.c_void_p if pointer else KINDS.get(
        result, ctypes.c_int)
    buffers = [ctypes.create_string_buffer(b"\1" * 8 if is_out(kind) else b"", SIZE)
               for kind, _, _ in params]
    args = [(ctypes.c_void_p(None) if i == null else buffers[i]) if is_pointer
            else KINDS.get(kind, ctypes.c_int)(1)
            for i, (kind, _, is_pointer) in enumerate(params)]
    got = function(*args)
    if result == "void":
        return ""
    if (library.nereid_error_code() != USAGE or
            b"NULL" not in ctypes.string_at(library.nereid_error_message())):
        return f"code {library.nereid_error_code()}"
    if result == "int" and got != USAGE or pointer and got:
        return f"gave {got}"
    left = [p[1] for i, p in enumerate(params) if is_out(p[0]) and i < null and
            struct.unpack("q", buffers[i].raw[:8])[0]]
    return f"left {left}" if left else ""


def in_child(body):
    """The text that `body` gives in a process of its own, or the signal that ended it."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.close(read)
        os.write(write, body().encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        text = pipe.read().decode()
    status = os.waitpid(child, 0)[1]
    return f"ended by {status}" if status else text


def main():
    # A library with sanitizers needs their own loaded before it (`make stress`).
    preload = os.environ.get("NEREID_PRELOAD")
    if preload and "LD_PRELOAD" not in os.environ:
        os.environ.update(LD_PRELOAD=preload, ASAN_OPTIONS="detect_leaks=0")
        os.execv(sys.executable, [sys.executable, *sys.argv])
    library = ctypes.CDLL(str(BUILD / "libnereid.so"))
    library.nereid_error_message.restype = ctypes.c_void_p
    failures, passed = [], 0
    for result, name, params in functions():
        nulls = list(required(name, params))
        if name.endswith(("_free", "_close")) or name == "nereid_free":  # do nothing
            nulls = [i for i, p in enumerate(params) if p[2]]
            result = "void"
        for i in nulls:
            wrong = in_child(lambda: call(library, result, name, params, i))
            passed += not wrong
            if wrong:
                failures.append(f"FAIL {name}, {params[i][1]} NULL: {wrong}")
    print("".join(f"{text}\n" for text in failures) + f"{passed} passed, {len(failures)} failed")
    return bool(failures)


sys.exit(main())
