"""The suites: where their parts are in the folder of fetched copies, and how they are collected."""

import os

CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cases")

# Cases listed apart: a heading, where to look (the case's id, its test function's text, or what it
# failed with here), and a pattern. The first that matches counts.
IR = (
    r"""\.asm\b|["'](ttir|ttgir|llir|ptx|cubin|sass)["']"""
    r"""|filecheck|run_parser|FileCheck|\.(ttir|ttgir|llir)\b"""
)
IR_FILES = r"test_(frontend|line_info|compile_only|reproducer|pipeliner)\.py"
APART = {
    "triton": [
        ("warp roles", "case", r"test_warp_specialization\.py"),
        ("Triton's own IR", "case", IR_FILES),
        ("Triton's own IR", "text", IR),
    ],
}


class Suite:
    """One suite: `folder` below the folder of copies, files to collect, paths to import from."""

    def __init__(
        self, name, folder, files, path=(), arguments=(), prelude=(), lone=None, limit=150, aim=""
    ):
        self.name = name
        self.folder = folder
        self.files = files
        self.path = path
        self.arguments = arguments
        self.prelude = prelude
        self.lone = lone or {}
        self.aim = aim
        self.limit = limit  # seconds a case may take

    def order(self, copies, side, device):
        """What a worker is told, as a dict of JSON values; `copies` is the folder of copies."""
        inside = lambda p: p if os.path.isabs(p) else os.path.join(copies, p)
        arguments = [a.replace("DEVICE", device) for a in self.arguments]
        testing = os.path.join(copies, "triton/python/triton/_internal_testing.py")
        return {
            "side": side,
            "folder": inside(self.folder),
            "files": list(self.files),
            "path": [inside(p) for p in self.path],
            "arguments": arguments,
            "prelude": list(self.prelude),
            "lone": {name: inside(p) for name, p in self.lone.items()},
            "internal_testing": testing if os.path.exists(testing) else "",
        }


SUITES = [
    Suite("liger", "liger", ["test/transformers"], ["liger/src", "liger"], aim="98%"),
    Suite("fla", "fla/tests", ["ops", "modules"], ["fla"], aim="90%"),
    Suite(
        "triton",
        "triton/python/test",
        ["unit/language", "regression"],
        arguments=["--device=DEVICE"],
        aim="95%",
    ),
    Suite("roles", CASES, ["test_roles.py"], ["triton/python/test/unit/language"], aim="all"),
    Suite("tutorials", CASES, ["test_tutorials.py"], limit=400, aim="all"),
    Suite(
        "unsloth",
        CASES,
        ["test_unsloth.py"],
        ["unsloth"],
        prelude=[os.path.join(CASES, "unsloth_alone.py")],
        lone={"unsloth": "unsloth/unsloth"},
        aim="all",
    ),
    Suite(
        "mamba",
        "mamba/tests",
        ["ops/triton"],
        ["mamba"],
        lone={"mamba_ssm": "mamba/mamba_ssm", "mamba_ssm.ops": "mamba/mamba_ssm/ops"},
        aim="all",
    ),
]


def find(name):
    """The suite of this name."""
    for suite in SUITES:
        if suite.name == name:
            return suite
    raise SystemExit(f"there is no suite {name!r}: {', '.join(s.name for s in SUITES)}")
