"""The functions of `nereid.language.extra.libdevice`, under the name that Triton gives them too."""

from nereid.language.extra.libdevice import *
