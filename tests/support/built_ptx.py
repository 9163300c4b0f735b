"""The PTX in the C of a project that `nereid build` wrote."""
import re


def built_ptx(project):
    """(target, name of the kernel, PTX) of each kernel, in the order of the files."""
    for file in sorted(project.glob("kernels_sm_*.c")):
        target = file.stem.removeprefix("kernels_")
        for name, body in re.findall(r"char (\w+)_ptx\[\] =\n(.*?);\n\n", file.read_text(), re.S):
            text = "".join(re.findall(r'^    "(.*)"$', body, re.M)).replace("\\n", "\n")
            yield target, name, re.sub(r"\\(.)", r"\1", text)
