"""Install the library's packages and those of dependency groups: install.py GROUP...

They go into the environment of the Python that runs this program, in the versions of requirements.lock. pip
installs uv, and uv installs the rest: both refuse an archive whose hash is not in that file.
"""

import os
import re
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]


def install_uv(lock):
    """Install the version of uv that a lock file lists, from an archive with one of its hashes."""
    (lines,) = re.findall(r"^uv==.*\n(?: .*\n)+", lock.read_text(), flags=re.MULTILINE)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "uv.txt"
        path.write_text(lines)
        subprocess.run([*PIP, "install", "--quiet", "--require-hashes", "--requirement", path], check=True)


def pip_index():
    """Return the package index of pip's settings as variables for uv, which does not read them."""
    url = os.environ.get("PIP_INDEX_URL")
    if url is None:
        setting = [*PIP, "config", "get", "global.index-url"]
        url = subprocess.run(setting, capture_output=True, text=True, check=False).stdout.strip()
    return {"UV_DEFAULT_INDEX": url} if url else {}


def main(*groups):
    """Install the packages of the library and of these dependency groups, and compile them to byte code.

    Where PYTHONDONTWRITEBYTECODE is set, every process would otherwise compile what it imports, seconds long.
    """
    if find_spec("uv") is None:
        install_uv(ROOT / "requirements.lock")
    command = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", sys.executable]
    command += ["--system-certs", "--compile-bytecode", "--require-hashes"]
    command += ["--constraint=requirements.lock", "--requirement=pyproject.toml"]
    command += [f"--group={group}" for group in ("lock", *groups)]
    subprocess.run(command, cwd=ROOT, env=pip_index() | os.environ, check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
