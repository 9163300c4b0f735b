"""What a test script counts: checks that hold, and those that don't, which are told at once."""
passed = failed = 0


def check(ok, what):
    global passed, failed
    if ok:
        passed += 1
    else:
        failed += 1
        print("FAIL", what, flush=True)
    return ok


def report():
    """Says how many checks there were; the exit status."""
    print(f"{passed} passed, {failed} failed")
    return failed > 0
