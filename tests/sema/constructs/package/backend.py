"""The language, or stand-ins for it where the machine has none: which of both the file can't say."""
import os

from package.detect import HAS_LANGUAGE, LanguageStandIn, StandIn

if os.environ.get("PACKAGE_DOCS") == "1" or HAS_LANGUAGE:
    import triton
    import triton.language as tl
    from triton.language.extra import libdevice
else:
    triton = StandIn()
    tl = LanguageStandIn()
    libdevice = LanguageStandIn()
