"""Stop in a sentence if this machine lacks what `make` needs before it installs anything."""

import os
import shlex
import shutil
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path


def missing():
    """Yield a sentence for each of Python 3.11, its headers, `ensurepip` and a C compiler that is missing."""
    version = "{}.{}".format(*sys.version_info)
    if tuple(sys.version_info) < (3, 11):
        yield f"svmselect needs Python 3.11 or newer; {sys.executable} is {version}."
    if not Path(sysconfig.get_path("include"), "Python.h").exists():
        yield f"Python.h, of the headers of Python {version}, is missing: install them (Debian: python3-dev)."
    if find_spec("ensurepip") is None:
        yield f"Python {version} has no ensurepip, which venv needs: install it (Debian: python3-venv)."
    compilers = [shlex.split(os.environ["CC"])[0]] if os.environ.get("CC") else ["cc", "gcc", "clang"]
    if not any(map(shutil.which, compilers)):
        yield f"No C compiler is on PATH ({', '.join(compilers)}): install one (Debian: gcc, libc6-dev)."


if __name__ == "__main__":
    sys.exit("\n".join(missing()) or None)
