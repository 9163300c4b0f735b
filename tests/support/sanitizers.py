"""What drivers under `make stress` tell the sanitizers of the programs that they start."""
import os


def leave_faults():
    """A fault that a test makes reaches the handler or the parent, and is no report of theirs."""
    said = os.environ.get("ASAN_OPTIONS", "")
    os.environ["ASAN_OPTIONS"] = f"{said}:handle_segv=0:handle_sigbus=0"
