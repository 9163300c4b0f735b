"""Collect the cases of one suite with pytest, and run those that the runner asks for, in turn.

Started by run.py with one JSON argument. Requests are read from descriptor `ask`, a line each (the
id of a case, or an empty line to end); answers are written to descriptor `tell`, a JSON object a
line: {"ready": [ids], "broken": {file: error}}, then one {"case": ...} for each request. With
"dying": true the device's context is lost, and the process ends after the answer.
"""

import gc
import importlib.abc
import importlib.util
import json
import os
import sys
import time

PLAIN = 600  # characters of an error that are kept in the table of results


def take_the_name_of_triton(internal_testing):
    """Put Nereid where `import triton` looks.

    `internal_testing` is the path of Triton's own `triton/_internal_testing.py`, the helpers of its
    unit tests: a part of that suite, not of the language.
    """
    import nereid

    nereid.install_as_triton()
    sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "cases"))
    import cublas_by_torch

    cublas_by_torch.give()
    if not internal_testing or importlib.util.find_spec("triton._internal_testing"):
        return

    class Finder(importlib.abc.MetaPathFinder):
        def find_spec(self, name, path=None, target=None):
            if name != "triton._internal_testing":
                return None
            return importlib.util.spec_from_file_location(name, internal_testing)

    sys.meta_path.insert(0, Finder())


def lone_packages(packages):
    """Make packages whose `__init__` is not run: {name: folder}.

    The kernels of some libraries can be imported without the library's own start, which asks for
    compiled extensions or other distributions.
    """
    import types

    for name, folder in packages.items():
        module = types.ModuleType(name)
        module.__path__ = [folder]
        module.__spec__ = importlib.util.spec_from_loader(name, None, is_package=True)
        sys.modules[name] = module


def short(text):
    """The line of an exception's text that says the most: the first error, or its first line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        return ""
    head = lines[0]
    for line in lines:
        if "error:" in line and line is not head:
            kind = head.split(":")[0] if ":" in head else ""
            return (kind + ": " + line if kind and kind not in line else line)[:PLAIN]
    if head.endswith(":") and len(lines) > 1:
        return (head + " " + lines[1])[:PLAIN]
    return head[:PLAIN]


class Plugin:
    """Replaces pytest's loop over the cases by one that takes its orders from the runner."""

    def __init__(self, ask, tell):
        self.ask = os.fdopen(ask, "r")
        self.tell = os.fdopen(tell, "w", buffering=1)
        self.broken = {}
        self.reports = []

    def send(self, value):
        self.tell.write(json.dumps(value) + "\n")
        self.tell.flush()

    def pytest_collectreport(self, report):
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            text = crash.message if crash else str(report.longrepr)
            last = [line[1:].strip() for line in text.splitlines() if line.startswith("E ")]
            self.broken[report.nodeid] = short(last[-1] if last else text)

    def pytest_runtest_logreport(self, report):
        self.reports.append(report)

    def pytest_runtestloop(self, session):
        items = {item.nodeid: item for item in session.items}
        self.send({"ready": list(items), "broken": self.broken})
        for line in self.ask:
            case = line.rstrip("\n")
            if not case:
                break
            answer = {"case": case, "outcome": "missing", "seconds": 0.0, "error": ""}
            dying = False
            if case in items:
                dying = self.run(items[case], answer)
            if dying:
                answer["dying"] = True
            self.send(answer)
            if dying:
                os._exit(0)
        os._exit(0)  # neither pytest's summary nor the library's own end is of use here

    def run(self, item, answer):
        """Run one case; true if the device can't be used afterwards."""
        self.reports = []
        start = time.monotonic()
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        answer["seconds"] = round(time.monotonic() - start, 3)
        outcome = "passed"
        for report in self.reports:
            if report.skipped:
                outcome = "xfailed" if hasattr(report, "wasxfail") else "skipped"
                if isinstance(report.longrepr, tuple):
                    answer["error"] = str(report.longrepr[2])[:PLAIN]
            if report.failed:
                outcome = "failed" if report.when == "call" else "error"
                crash = getattr(report.longrepr, "reprcrash", None)
                text = crash.message if crash else str(report.longrepr)
                answer["error"] = short(text)
                answer["at"] = f"{crash.path}:{crash.lineno}" if crash else ""
                answer["text"] = str(report.longrepr)[-4000:]
                break
        answer["outcome"] = outcome
        return lost_device(outcome)


def forget_failure():
    """Frees the tensors in the frames of a failed case, which pytest keeps for a debugger."""
    for name in ("last_type", "last_value", "last_traceback", "last_exc"):
        vars(sys).pop(name, None)
    gc.collect()


def lost_device(outcome):
    """Whether the CUDA context has failed for good; frees torch's cache if it has grown."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available() or not torch.cuda.is_initialized():
        return False
    try:
        if outcome not in ("passed", "skipped"):
            forget_failure()
            torch.cuda.synchronize()
        if torch.cuda.memory_reserved() > 4 << 30:
            torch.cuda.empty_cache()
    except Exception:
        return True
    return False


def main():
    order = json.loads(sys.argv[1])
    sys.path[:0] = order["path"]
    if order["side"] == "nereid":
        take_the_name_of_triton(order.get("internal_testing"))
    lone_packages(order.get("lone", {}))
    for file in order.get("prelude", []):
        spec = importlib.util.spec_from_file_location("conformance_prelude", file)
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
    os.chdir(order["folder"])
    import pytest

    plugin = Plugin(order["ask"], order["tell"])
    arguments = ["-q", "-p", "no:cacheprovider", "--continue-on-collection-errors", "--color=no"]
    arguments += ["--rootdir=" + order["folder"], "--tb=short", "-W", "ignore"]
    arguments += order["arguments"]
    pytest.main(arguments + order["files"], plugins=[plugin])
    plugin.send({"ready": [], "broken": plugin.broken or {"": "nothing was collected"}})


if __name__ == "__main__":
    main()
