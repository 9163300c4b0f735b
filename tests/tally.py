"""What a test script counts: checks that hold, and what is said of those that don't."""
passed, failures = 0, []


def check(ok, what):
    global passed
    passed += bool(ok)
    if not ok:
        failures.append(what)


def report():
    """Says what failed and how many checks there were; the exit status."""
    for what in failures:
        print("FAIL", what)
    print(f"{passed} passed, {len(failures)} failed")
    return bool(failures)
