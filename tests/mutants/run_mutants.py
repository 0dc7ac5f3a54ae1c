"""How many small faults in the core the tests find: ``make mutants``.

Of each module a sample of its mutants is drawn with a recorded seed. A mutant is built beside the other
modules in a scratch folder (Cython: only the changed module is compiled), then the tests run on it, the
nearest first, until one fails. Results are appended to ``results.csv`` as they come, so a run that was
stopped goes on where it was; ``score.md`` sums them up.
"""

from __future__ import annotations

import argparse
import collections
import csv
import hashlib
import json
import os
import queue
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mutants.modules import LIBRARY, MODULES, ROOT, WIDER, exemption, files, nearest
from mutants.mutate import Mutation, apply, mutations
from mutants.score import FIELDS, RESULTS, SCORE, read, report

SCRATCH = ROOT / "build" / "mutants"
SECONDS = 90  # of one test, before it counts as hanging
TOGETHER = 3600  # of a program that runs tests
HANGS = "a test that hangs"
# the tests that run now, and whether they are to end
RUNNING: set[subprocess.Popen] = set()
STOPPED = threading.Event()
KILLERS = 6  # tests that found other mutants of the module and are tried before all others
MEMORY = 12 * 2**30


@dataclass(frozen=True)
class Mutant:
    """A fault of a file of a module."""

    module: str
    file: str
    fault: Mutation

    @property
    def key(self) -> tuple[str, ...]:
        """What names it in the results."""
        fault = self.fault
        return self.file, str(fault.line), str(fault.column), fault.old, fault.new


def sample(module: str, n: int, seed: int) -> tuple[list[Mutant], int]:
    """The first n of all mutants of a module in an order that the seed draws, and how many there are."""
    everything = []
    for file in files(module):
        source = (LIBRARY / file).read_text()
        everything += [(fault, file, source.splitlines()[fault.line - 1]) for fault in mutations(source)]
    random.Random(f"{seed} {module}").shuffle(everything)
    # left out after the draw: another reason to leave out a line changes nothing else
    counted = [Mutant(module, file, fault) for fault, file, line in everything if not exemption(line)]
    return counted[:n], len(counted)


class Workshop:
    """A scratch copy of the library that is whole but for one fault at a time."""

    def __init__(self, number: int):
        self.folder = SCRATCH / str(number)
        self.source, self.build, self.path = (self.folder / name for name in ("source", "build", "path"))
        self.faulty = None  # the file that has a fault
        originals = [ROOT / "meson.build", ROOT / "meson.options"]
        originals += [path for path in (ROOT / "src").rglob("*") if path.is_file() and path.suffix != ".pyc"]
        for path in originals:
            # one that is the same keeps its time stamp, by which ninja knows what to compile
            write(self.source / path.relative_to(ROOT), path.read_bytes())
        shutil.rmtree(self.path, ignore_errors=True)
        shutil.copytree(LIBRARY, self.path / "svmselect", ignore=shutil.ignore_patterns("__pycache__"))
        if not (self.build / "build.ninja").is_file():
            self._tool("meson", "setup", self.build, self.source, check=True)
        if not self._compile():
            raise RuntimeError(f"the library without a fault does not compile in {self.build}")

    def _tool(self, *words, check=False):
        """Run a program of the environment; return the finished process."""
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        return subprocess.run(
            list(map(str, words)),
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            check=check,
        )

    def _compile(self) -> bool:
        """Compile what changed, and put the compiled modules in place; whether that could be done."""
        if self._tool("ninja", "-C", self.build).returncode != 0:
            return False
        for built in (self.build / "src" / "svmselect").glob("*.so"):
            (source,) = LIBRARY.rglob(f"{built.name.split('.')[0]}.pyx")
            target = self.path / "svmselect" / source.relative_to(LIBRARY).parent / built.name
            if not target.exists() or target.stat().st_mtime_ns != built.stat().st_mtime_ns:
                target.unlink(missing_ok=True)
                shutil.copy2(built, target)
        return True

    def put(self, file: str, text: str) -> bool:
        """Give one file of the library this text, all others their own; whether it could be built."""
        compiles = self._write(self.faulty, (LIBRARY / self.faulty).read_text()) if self.faulty else False
        compiles |= self._write(file, text)
        self.faulty = file
        if file.endswith(".py"):
            try:
                compile(text, file, "exec")
            except SyntaxError:
                return False
        return self._compile() if compiles else True

    def _write(self, file: str, text: str) -> bool:
        """Write a file of the library; whether something has to be compiled."""
        if file.endswith(".py"):
            write(self.path / "svmselect" / file, text.encode())
            return False
        write(self.source / "src" / "svmselect" / file, text.encode())
        return True

    def test(self, tests: list[str]) -> tuple[str, str]:
        """Run tests on the library as it is: "passed" or "failed", and what failed."""
        command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "--tb=no", "-rfE", *tests]
        command += ["-p", "no:cacheprovider", "-p", "no:xdist", f"--basetemp={self.folder / 'temp'}"]
        command += ["-o", f"timeout={SECONDS}", "-o", f"faulthandler_timeout={SECONDS + 30}"]
        environment = {
            **os.environ,
            "PYTHONPATH": str(self.path),
            "PYTHONDONTWRITEBYTECODE": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        log = self.folder / "tests.log"
        for _ in range(2):
            status = self._run(command, environment, log)
            if STOPPED.is_set():
                raise SystemExit("stopped")
            if status is None:
                return "failed", HANGS
            # from outside, as when the machine's memory is short
            if status != -signal.SIGKILL:
                break
        return verdict(status, log.read_text(errors="replace"))

    def _run(self, command, environment, log) -> int | None:
        """Run a program with its children; its exit status, None if it was ended for its time."""
        with log.open("w") as out:
            process = subprocess.Popen(
                ["bash", "-c", f'ulimit -v {MEMORY // 1024} -c 0; exec "$@"', "bash", *command],
                cwd=ROOT,
                env=environment,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        RUNNING.add(process)
        try:
            return process.wait(TOGETHER)
        except subprocess.TimeoutExpired:
            return None
        finally:
            RUNNING.discard(process)
            kill(process)


def kill(process: subprocess.Popen) -> None:
    """End a program and its children."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def write(path: Path, content: bytes) -> None:
    """Write a file unless it holds that already; its time stamp is new, however fast faults follow."""
    if path.is_file() and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    now = time.time_ns()
    os.utime(path, ns=(now, now))


def verdict(status: int, text: str) -> tuple[str, str]:
    """What a run of pytest says, from its exit status and what it printed."""
    if status == 0:
        return "passed", ""
    failed = re.search(r"^(?:FAILED|ERROR) (\S+(?:\[.*\])?)(?: - .*)?$", text, flags=re.MULTILINE)
    if failed:
        return "failed", failed[1]
    if "Timeout" in text:
        return "failed", HANGS
    if status == 4 and "not found: " in text:  # a test of an earlier result, which there is no more
        return "passed", ""
    if status == 4 and "while loading conftest" in text:
        return "failed", "an error on import"
    if status < 0 or status > 128 or "Fatal Python error" in text:
        return "failed", f"a crash (status {status})"
    raise RuntimeError(f"pytest ended with status {status}:\n{text[-2000:]}")


class Run:
    """Mutants, one after another in each of some workshops."""

    def __init__(self, arguments, commits: dict[str, str]):
        self.arguments, self.commits = arguments, commits
        self.lock = threading.Lock()
        self.killers = collections.defaultdict(collections.Counter)
        for row in read(arguments.results):
            if "::" in row["killed_by"]:
                self.killers[row["module"]][row["killed_by"]] += 1
        self.stages = {}
        self.workshops = queue.SimpleQueue()

    def open(self) -> None:
        """Build the workshops, and plan which tests a mutant has to pass."""
        with ThreadPoolExecutor(self.arguments.jobs) as pool:
            shops = list(pool.map(Workshop, range(self.arguments.jobs)))
        for shop in shops:
            self.workshops.put(shop)
        self.baseline(shops[0])
        for module in self.arguments.modules:
            near = nearest(module)
            rest = [f"--deselect={test}" if "::" in test else f"--ignore={test}" for test in near]
            self.stages[module] = [near]
            if not self.arguments.near:
                self.stages[module].append([*WIDER, *rest])

    def baseline(self, shop: Workshop) -> None:
        """See that every test passes without a fault, but for those that are known to."""
        known = SCRATCH / "baseline.json"
        passed = json.loads(known.read_text()) if known.is_file() else {}
        now = {test: digest(test) for test in claim_tests(WIDER)}
        if new := [test for test in now if passed.get(test) != now[test]]:
            outcome, name = shop.test(new)
            if outcome == "failed":
                raise SystemExit(f"{name} fails on the library without a fault")
            known.write_text(json.dumps(now))
            self.say(f"tests that pass without a fault: {len(new)} files")

    def say(self, sentence: str) -> None:
        print(f"{time.strftime('%H:%M:%S')} {sentence}", flush=True)

    def run_tests(self, shop: Workshop, mutant: Mutant) -> tuple[str, str]:
        """Whether the tests find a mutant, and which of them."""
        text = apply((LIBRARY / mutant.file).read_text(), mutant.fault)
        if not shop.put(mutant.file, text):
            return "invalid", ""
        with self.lock:
            known = [name for name, _ in self.killers[mutant.module].most_common(KILLERS)]
        for tests in [*([known] if known else []), *self.stages[mutant.module]]:
            outcome, name = shop.test(tests)
            if outcome == "failed":
                return "killed", name
        return "survived", ""

    def one(self, mutant: Mutant) -> None:
        begin = time.monotonic()
        shop = self.workshops.get()
        try:
            outcome, name = self.run_tests(shop, mutant)
        finally:
            self.workshops.put(shop)
        fault = mutant.fault
        source = (LIBRARY / mutant.file).read_text().splitlines()[fault.line - 1].strip()
        row = {
            "commit": self.commits[mutant.module],
            "seed": self.arguments.seed,
            "module": mutant.module,
            "file": mutant.file,
            "line": fault.line,
            "column": fault.column,
            "old": fault.old,
            "new": fault.new,
            "source": source,
            "verdict": outcome,
            "killed_by": name,
            "seconds": round(time.monotonic() - begin),
            "reason": "",
        }
        with self.lock:
            if "::" in name:
                self.killers[mutant.module][name] += 1
            new = not self.arguments.results.exists()
            with self.arguments.results.open("a", newline="") as file:
                writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
                if new:
                    writer.writeheader()
                writer.writerow(row)
        place, change = f"{mutant.file}:{fault.line}", f"{fault.old!r:.40} -> {fault.new!r}"
        self.say(f"{outcome:8} {row['seconds']:4} s  {place}  {change}  {name}")


def claim_tests(places: list[str]) -> list[str]:
    """The files of some tests, folders of them among these."""
    folders = [place for place in places if (ROOT / place).is_dir()]
    results = [path for folder in folders for path in sorted((ROOT / folder).rglob("test_*.py"))]
    return [*(str(path.relative_to(ROOT)) for path in results), *(p for p in places if p not in folders)]


def digest(test: str) -> str:
    """What decides whether a test passes: the library, the test, and what it shares with others."""
    place = ROOT / test.split("::")[0]
    shared = [path for path in place.parent.glob("*.py") if not path.name.startswith("test_")]
    paths = [*(ROOT / "src").rglob("*.p*"), *ROOT.glob("tests/*.py"), *shared, place]
    content = b"".join(path.read_bytes() for path in sorted(set(paths)) if path.suffix != ".pyc")
    return hashlib.sha256(content).hexdigest()


def last_commit(module: str) -> str:
    """The last commit that changed a module; its files must be as committed."""

    def git(*words):
        return subprocess.run(
            ["git", *words], cwd=ROOT, check=True, capture_output=True, text=True
        ).stdout.strip()

    places = ["--", *(str(LIBRARY / file) for file in files(module))]
    if changed := git("status", "--porcelain", *places):
        raise SystemExit(f"{module} is not as committed, so no commit can be named:\n{changed}")
    return git("log", "-1", "--format=%H", *places)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--modules", nargs="+", choices=MODULES, default=list(MODULES), metavar="MODULE")
    parser.add_argument("--sample", type=int, default=30, help="mutants of each module (default 30)")
    parser.add_argument("--seed", type=int, default=20, help="of the sample (default 20)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="mutants at once")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument(
        "--near",
        action="store_true",
        help="the nearest tests alone: --again tries the others on what survives",
    )
    parser.add_argument(
        "--again", action="store_true", help="judge those anew that survived without a reason"
    )
    arguments = parser.parse_args()
    commits = {module: last_commit(module) for module in MODULES}
    rows = read(arguments.results)
    for row in rows:
        now = commits[row["module"]], str(arguments.seed)
        if (row["commit"], row["seed"]) != now:
            raise SystemExit(
                f"{arguments.results} has {row['module']} at commit {row['commit']} with seed {row['seed']}; "
                f"this is {now[0]} with seed {now[1]}: delete the rows of that module, and it begins anew"
            )
    if arguments.again:
        rows = [row for row in rows if row["verdict"] != "survived" or row["reason"]]
        with arguments.results.open("w", newline="") as file:
            writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    done = {(row["file"], row["line"], row["column"], row["old"], row["new"]) for row in rows}
    totals, todo = {}, []
    for module in MODULES:
        drawn, totals[module] = sample(module, arguments.sample, arguments.seed)
        if module in arguments.modules:
            todo += [mutant for mutant in drawn if mutant.key not in done]
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit("stopped; the same command goes on"))
    run = Run(arguments, commits)
    run.say(f"seed {arguments.seed}: {len(todo)} mutants to judge, {len(done)} are judged")
    if todo:
        run.open()
        with ThreadPoolExecutor(arguments.jobs) as pool:
            try:
                for future in [pool.submit(run.one, mutant) for mutant in todo]:
                    future.result()
            except BaseException:
                STOPPED.set()
                for process in list(RUNNING):
                    kill(process)
                pool.shutdown(cancel_futures=True)
                raise
    text = report(read(arguments.results), totals)
    if arguments.results == RESULTS:
        SCORE.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
