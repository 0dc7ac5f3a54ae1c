"""`make fuzz-parsers`: each parser for its share of some seconds, with coverage feedback, under sanitizers.

The library has to be built with gcc's address and undefined-behaviour sanitizers. Inputs that reach new code
are kept in build/fuzz; one that breaks a promise, or takes too long or too much memory, is written into
tests/fuzz/corpus/<parser>, from where the tests replay it.
"""

from __future__ import annotations

import argparse
import os
import re
import secrets
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1] / "workflow")]

BUILT = HERE.parents[1] / "build" / "fuzz"
LIMITS = ["-timeout=30", "-rss_limit_mb=6000", "-max_len=4096"]
# too large an allocation is a MemoryError of Python's, and the way to libFuzzer comes before libasan
ASAN = ["detect_leaks=0", "abort_on_error=1", "allocator_may_return_null=1", "verify_asan_link_order=0"]
NAMES = ("libsvm", "table", "splits", "idx", "mat", "csv", "model", "npz", "arrays", "registry")
INSTRUMENTED = ["svmselect", "data", "yaml"]  # Python code whose branches are counted


def mutate(name, arguments):
    """Fuzz one parser in this process, which libFuzzer ends."""
    import atheris

    with atheris.instrument_imports(include=INSTRUMENTED):
        from fuzz.parsers import PARSERS

    build = BUILT / name
    build.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(PARSERS[name].seeds):
        (build / f"seed-{number}").write_bytes(seed)
    corpus = HERE / "corpus" / name
    corpus.mkdir(parents=True, exist_ok=True)
    atheris.Setup([name, *LIMITS, f"-artifact_prefix={corpus}/", *arguments, str(build)], PARSERS[name].check)
    atheris.Fuzz()


def preloaded(library):
    """The environment of a process with a library, the sanitizers and, before them, the way to libFuzzer."""
    import atheris

    core = next(Path(atheris.__file__).parent.glob("core_with_libfuzzer*.so"))
    BUILT.mkdir(parents=True, exist_ok=True)
    way = BUILT / "coverage.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", way, HERE / "coverage.c", "-ldl"], check=True)
    libraries = [
        subprocess.run(
            ["gcc", f"-print-file-name={name}"], check=True, capture_output=True, text=True
        ).stdout.strip()
        for name in ("libasan.so", "libubsan.so")
    ]
    return {
        **os.environ,
        "PYTHONPATH": str(library),
        "FUZZ_CORE": str(core),
        "LD_PRELOAD": ":".join([str(way), *libraries]),
        "ASAN_OPTIONS": ":".join(ASAN),
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
        "PYTHONMALLOC": "malloc",
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=int, default=600, help="of all parsers together")
    parser.add_argument("--seed", type=int, default=None, help="a new one by default")
    parser.add_argument("--parser", action="append", choices=NAMES, help="only this one; may be repeated")
    parser.add_argument("--library", type=Path, required=True, help="folder of the library with sanitizers")
    options = parser.parse_args()
    names = options.parser or NAMES
    seed = secrets.randbelow(2**31) + 1 if options.seed is None else options.seed
    share = max(options.seconds // len(names), 1)
    environment, failed = preloaded(options.library.resolve()), []
    for name in names:
        print(f"== {name}, {share} s, seed {seed}", flush=True)
        command = [sys.executable, __file__, "mutate", name, f"-seed={seed}", f"-max_total_time={share}"]
        log = BUILT / f"{name}.log"
        with open(log, "w") as file:
            status = subprocess.run(
                command, env=environment, stdout=file, stderr=subprocess.STDOUT, check=False
            ).returncode
        lines = log.read_text(errors="replace").splitlines()
        said = lines[-60:] if status else [line for line in lines if re.match(r"Done|#\d+\s+DONE", line)]
        print("\n".join(said), flush=True)
        if status:
            failed.append(name)
    print(f"seed {seed}: {len(names)} parsers, {share} s each, failed: {', '.join(failed) or 'none'}")
    return 1 if failed else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["mutate"]:
        mutate(sys.argv[2], sys.argv[3:])
    else:
        sys.exit(main())
