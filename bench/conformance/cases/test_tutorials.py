"""Triton's tutorials 01 to 09 as scripts, and the pytest cases of 06."""

import importlib.util
import os
import subprocess
import sys
import tempfile

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
SIDE = os.environ.get("CONFORMANCE_SIDE", "triton")
FOLDER = os.path.join(os.environ["CONFORMANCE_COPIES"], "triton/python/tutorials")
SCRIPTS = [
    ["01-vector-add.py"],
    ["02-fused-softmax.py"],
    ["03-matrix-multiplication.py"],
    ["04-low-memory-dropout.py"],
    ["05-layer-norm.py"],
    ["06-fused-attention.py"],
    ["07-extern-functions.py"],
    ["08-grouped-gemm.py"],
    ["09-persistent-matmul.py"],
    ["09-persistent-matmul.py", "--prec", "fp8"],
]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda s: " ".join(s))
def test_script(script):
    driver = [sys.executable, os.path.join(HERE, "tutorial.py"), SIDE]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            driver + [os.path.join(FOLDER, script[0])] + script[1:],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=folder,
        )
    text = done.stdout.decode("utf-8", "replace")
    print(text[-4000:])
    lines = [line for line in text.splitlines() if line.strip()]
    assert done.returncode == 0, lines[-1] if lines else f"ended with {done.returncode}"
    wrong = [line for line in lines if "❌" in line]
    assert not wrong, "; ".join(wrong)
    for line in lines:
        if line.startswith("The maximum difference between torch and triton is "):
            assert float(line.split()[-1]) < 1e-6, line


def attention():
    """The module of tutorial 06."""
    path = os.path.join(FOLDER, "06-fused-attention.py")
    spec = importlib.util.spec_from_file_location("fused_attention", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


try:
    test_op = attention().test_op  # with the parameters of the tutorial
except Exception as error:
    message = f"{type(error).__name__}: {error}"

    def test_op():
        raise AssertionError("tutorial 06 can't be imported: " + message)
