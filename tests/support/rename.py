"""Kernels whose identifiers are all renamed, and names that a printer may not expect."""
import ast, keyword, pathlib, re, shlex, subprocess

# Names that a kernel may have, and that C, its headers, or the text of a unit have as well.
WORDS = """auto char const default do double enum extern goto inline int long register restrict
    short signed sizeof static struct switch typedef union unsigned void volatile asm typeof
    typeof_unqual alignas constexpr nullptr static_assert thread_local bool true false NULL main
    I complex imaginary errno stdin stdout stderr linux unix i386 major minor alloca assert offsetof
    vector pixel int32_t uint64_t size_t float_t jmp_buf FILE int8_t vf32 vi64 LANES VECTOR REPEAT
    EACH_LANE INLINE RARE UNROLL PRAGMA LINE PRINTF FAILED Part Team TeamBody Launch Share
    vload_f32 vstore_f32 vsplat_i32 vselect_f32 load_u64 min_i32 max_i32 lanes_below vfirst VALUE_i1
    NEREID_vload_f32 share_next share_of loop_trips trips_i32 globaltimer_read stream_end
    memcpy memset aligned_alloc free abort printf exp sqrtf sincosf floor write
    shared program grid args begin end threads stream at at_0 at_2 pid_0 launch self parts context
    team part first size l n k i r m v x p t q""".split()
# Registers, words and made names of PTX.
PTX_WORDS = """tid ntid laneid warpid ctaid smem clock clock64 lanemask_lt envreg0 pm0 WARP_SZ
    add mov bar call ret reg param entry func target version pragma pred p_x p_p_x x_0 x_1 r0 L0 L_1
    vprintf global local align b32 f32 u64 reserved_smem_offset_0 k_smem""".split()
UNICODE = "\u03b1 \u03b2 \u03b3x \u00e9t\u00e9 xcexb1 __x_ _ __ \u53d8\u91cf".split()


def header_macros():
    """Names of the macros of the C library's headers and of the compiler."""
    headers = "complex ctype errno float inttypes limits math signal stdbool stddef stdint stdio " \
              "stdlib string sys/types time unistd"
    text = "".join(f"#include <{h}.h>\n" for h in headers.split())
    done = subprocess.run(["cc", "-dM", "-E", "-x", "c", "-D_GNU_SOURCE", "-"], input=text,
                          capture_output=True, text=True)
    return sorted(set(re.findall(r"(?m)^#define (\w+)", done.stdout)))


class Rename(ast.NodeTransformer):
    """Every name that the file itself binds becomes another one of the same kind of use."""

    def __init__(self, names):
        self.names = names

    def new(self, name):
        return self.names.get(name, name)

    def visit_Name(self, node):
        node.id = self.new(node.id)
        return node

    def visit_arg(self, node):
        node.arg = self.new(node.arg)
        return self.generic_visit(node)

    def visit_FunctionDef(self, node):
        node.name = self.new(node.name)
        return self.generic_visit(node)

    def visit_Call(self, node):
        if isinstance(node.func, ast.Name):  # of a function of this file
            for keyword in node.keywords:
                keyword.arg = self.new(keyword.arg)
        return self.generic_visit(node)

    def words(self, text):
        """An expression of the command line."""
        return re.sub(r"[^\W\d]\w*", lambda found: self.new(found[0]), text)

    def value(self, text):
        return "fn:" + self.new(text[3:]) if text.startswith("fn:") else text

    def command(self, args, source):
        """The arguments of `nereid compile` for the renamed file."""
        _, _, kernel = args[0].partition(":")
        out = [source + (":" + self.new(kernel) if kernel else "")]
        for i, arg in enumerate(args[1:]):
            if args[i] == "--sig":
                pairs = (pair.partition("=") for pair in re.split(r",(?=\w+=)", arg))
                arg = ",".join(self.new(name) + "=" + type_ for name, _, type_ in pairs)
            elif args[i] == "-D":
                name, _, value = arg.partition("=")
                arg = self.new(name) + "=" + self.value(value)
            out.append(arg)
        return out


def bound_names(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def all_names(tree):
    """Names of any use: a new name that is one of them would change what the file means."""
    found = set(bound_names(tree)) | {"cdiv", "min", "max"}  # the last are --grid's
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.alias):
            found.add((node.asname or node.name).split(".")[0])
    return found


def renaming(tree, pool, rng):
    """Each bound name becomes one of the pool, in an order of chance, or if there are too few, one
    that is made of another new name as the printer of C makes its own."""
    bound, used = sorted(set(bound_names(tree))), all_names(tree)
    good = lambda name: name.isidentifier() and not keyword.iskeyword(name) and name not in used
    pool = sorted(filter(good, set(pool)))
    new = rng.sample(pool, min(len(pool), len(bound)))
    made = (f"{name}{end}" for end in ("_end", "_at", "_n", "_2", "_launch", "_range")
            for name in ["r", "i", "id", *new])
    while len(new) < len(bound):
        name = next(made)
        if name not in new and good(name):
            new.append(name)
    rng.shuffle(new)
    return Rename(dict(zip(bound, new)))


def renamed_source(source, rename, path):
    tree = ast.parse(pathlib.Path(source).read_text())
    pathlib.Path(path).write_text(ast.unparse(rename.visit(tree)))


def command(path):
    """What tests/support/golden.py says after `nereid compile`."""
    if path.suffix == ".args":
        return shlex.split(path.read_text(), comments=True)
    return [path.name] + shlex.split(" ".join(re.findall(r"(?m)^# nereid:(.*)", path.read_text())))
