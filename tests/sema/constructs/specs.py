# nereid: --sig p=*fp32
# Modules that host code finds by their names.
import importlib, importlib.util, sys
import triton, triton.language as tl

try:
    tried = importlib.import_module("triton.language.extra.no_such_module")
except (ImportError, ModuleNotFoundError):
    tried = importlib.import_module("triton.language.math")


def find(name):
    for place in ("triton.language.no_such_module", "triton.language.extra.libdevice"):
        spec = importlib.util.find_spec(place)
        if spec is None:
            continue
        return getattr(spec.loader.load_module(), name)
    raise ImportError(name)


def executed(name):
    spec = importlib.util.find_spec(name)
    if spec is None or spec.loader is None:
        return None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    assert spec.loader is not None
    spec.loader.exec_module(module)
    return module


found = find("rsqrt")
loaded = executed("triton.language.extra.cuda.libdevice") or executed("triton.language.math")
relative = importlib.import_module(".math", "triton.language")
relative_named = importlib.import_module(".extra.libdevice", package="triton.language")
imported = __import__("triton.language.math", fromlist=["exp"])
top = __import__("triton.language.math")
known = sys.modules["triton.language"]
reloaded = importlib.reload(tl)
if importlib.util.find_spec("triton.no_such_module"):
    chosen = tl.no_such_name
else:
    chosen = tl.floor


@triton.jit
def kernel(p):
    x = tl.load(p)
    x = tried.exp2(x) + found(x) + loaded.rsqrt(x) + relative.exp2(x) + relative_named.floor(x)
    x += imported.ceil(x) + top.language.sqrt(x) + known.abs(x) + reloaded.rsqrt(x) + chosen(x)
    tl.store(p, x)
