"""Print the hash of the library's sources, or write it to a file: source_hash.py [FILE].

The build writes it into the package as ``svmselect/source_hash.txt``, so an installed library can be compared
with a checkout.
"""

import hashlib
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]


def source_hash(project=PROJECT):
    """Return the SHA-256 of the names and bytes of all files that the library is built from."""
    folder = project / "src" / "svmselect"
    paths = [path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    digest = hashlib.sha256()
    for path in [project / "meson.build", *sorted(paths)]:
        content = path.read_bytes()
        digest.update(f"{path.relative_to(project).as_posix()} {len(content)}\n".encode() + content)
    return digest.hexdigest()


if __name__ == "__main__":
    if sys.argv[1:]:
        Path(sys.argv[1]).write_text(source_hash() + "\n")
    else:
        print(source_hash())
