"""Python imports this at its start: the processes that tests start have Nereid for Triton, too."""

import os

if os.environ.get("CONFORMANCE_SIDE") == "nereid":
    import nereid

    nereid.install_as_triton()
