"""Raw files of a data set: from a mirror or upstream, verified, in place only when all of them are good.

In the destination a file lies at <folder>/<name>, as in a mirror, decompressed. <data set>.json beside the
folders records where the files came from and their hashes; it is written last.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import lzma
import os
import shutil
import tempfile
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from svmselect.atomic import replacing

from data.registry import Entry, File, Source

MIRROR_VARIABLE = "SVMSELECT_MIRROR"
RETRIES = 3
PATIENCE = 30  # seconds without a byte after which a server counts as stalled
MOST_REDIRECTS = 5
CHUNK = 1 << 16


class _NotThere(Exception):
    """The place does not have the file: another may."""


class _Unreachable(Exception):
    """The place did not answer, broke off, or refused."""


class _TooLong(Exception):
    """The place sends more than the registry allows; holds the first bytes."""


@dataclass
class _Capped:
    """A file that refuses more than so many bytes."""

    file: IO[bytes]
    most: int
    head: bytes = b""

    def write(self, block: bytes) -> None:
        self.head = self.head or bytes(block[:512])
        if self.file.tell() + len(block) > self.most:
            raise _TooLong(self.head)
        self.file.write(block)

    def flush(self) -> None:
        self.file.flush()


@dataclass
class _Job:
    """One call of `fetch`: what it is for, and what has been tried."""

    entry: Entry
    dest: Path
    staging: Path
    progress: bool
    tried: list[str] = field(default_factory=list)


def fetch(
    entry: Entry, dest: str | Path, mirror: str | Path | None = None, progress: bool = True
) -> list[Path]:
    """Put the verified raw files of a data set into a folder.

    The mirror is tried first, source by source in the order of the registry, then the upstream addresses.
    Files that an earlier call put into `dest` are kept if they still have the right hash.

    Parameters
    ----------
    entry : Entry
    dest : str or Path
        Folder; created. Several data sets can share one.
    mirror : str, Path or None, default None
        Folder, or http(s) address, laid out as <mirror>/<folder>/<file>, files plain or with `.gz`. By
        default the value of the environment variable SVMSELECT_MIRROR, if set.
    progress : bool, default True
        Show a progress bar for downloads.

    Returns
    -------
    list of Path
        The raw files, decompressed, in the order of the registry; [] for generated and bundled sets.

    Raises
    ------
    ValueError
        A file does not have the hash that the registry states, or is larger than it allows (no more than that
        is received or unpacked); or the mirror is a folder that does not exist.
    ConnectionError
        No source could be reached.

    Examples
    --------
    >>> from data.fetch import fetch
    >>> from data.registry import load_registry
    >>> entry = load_registry("config/datasets.yaml")["heart"]
    >>> fetch(entry, "resources/raw")  # doctest: +SKIP
    """
    dest = Path(dest)
    if not entry.sources:
        dest.mkdir(parents=True, exist_ok=True)
        _write_record(entry, dest, "generated" if entry.generator is not None else "bundled", "", [])
        return []
    mirror = str(mirror or os.environ.get(MIRROR_VARIABLE, ""))
    is_url = mirror.startswith(("http://", "https://"))
    if mirror and not is_url and not Path(mirror).is_dir():
        raise ValueError(f"the mirror folder {mirror} does not exist (argument mirror, or {MIRROR_VARIABLE})")
    if (present := _already_there(entry, dest)) is not None:
        return present

    is_new = not dest.exists()
    dest.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(dir=dest, prefix=".fetch-") as staging:
            job = _Job(entry, dest, Path(staging), progress)
            origin, source, staged = _first_source(job, mirror)
            paths = [_path(dest, source, file) for file in source.files]
            for temporary, path in zip(staged, paths, strict=True):
                path.parent.mkdir(exist_ok=True)
                os.replace(temporary, path)
            _write_record(entry, dest, origin, source.folder, paths)
    except BaseException:
        if is_new and not any(dest.iterdir()):
            dest.rmdir()
        raise
    return paths


def fetched_files(entry: Entry, dest: str | Path) -> tuple[Source, str, dict[str, Path]]:
    """The source that `fetch` used, its origin ("mirror" or "upstream"), and its files by role, verified.

    Raises a `ValueError` where `fetch` has not run, or a file has changed since.
    """
    record_path = Path(dest) / f"{entry.name}.json"
    record = _read_record(record_path)
    if record is None:
        raise ValueError(f"data set {entry.name!r} has not been fetched into {dest}")
    for source in entry.sources:
        if source.folder == record["folder"] and [file.name for file in source.files] == list(
            record["files"]
        ):
            paths = {file.role: _path(Path(dest), source, file) for file in source.files}
            for file in source.files:
                path, expected = paths[file.role], record["files"][file.name]
                if file.sha256 not in (None, expected) or not path.is_file() or _sha256(path) != expected:
                    raise ValueError(
                        f"data set {entry.name!r}: the raw file {path} is missing or not what was fetched; "
                        "fetch it again"
                    )
            return source, record["origin"], paths
    raise ValueError(
        f"data set {entry.name!r}: {record_path} names no source of the registry; fetch it again"
    )


def _already_there(entry: Entry, dest: Path) -> list[Path] | None:
    """The files of the data set if an earlier call put them into `dest` and they are as they were."""
    try:
        source, _, paths = fetched_files(entry, dest)
    except ValueError:
        return None
    return [paths[file.role] for file in source.files]


def _first_source(job: _Job, mirror: str) -> tuple[str, Source, list[Path]]:
    """The first source that has all its files, the mirror's first; the files lie in the staging folder."""
    entry = job.entry
    for origin in ("mirror", "upstream") if mirror else ("upstream",):
        for source in entry.sources:
            try:
                if origin == "mirror":
                    return origin, source, [_from_mirror(job, source, file, mirror) for file in source.files]
                return origin, source, [_from_upstream(job, source, file) for file in source.files]
            except _NotThere:
                continue
            except _Unreachable as reason:
                warnings.warn(f"the mirror {mirror} cannot be used: {reason}", stacklevel=3)
                break
    raise _no_source(job, mirror)


def _from_mirror(job: _Job, source: Source, file: File, mirror: str) -> Path:
    """One file of the mirror, plain or gzip; what is there must be right."""
    # A file whose hash is that of the gzip file cannot be verified without it.
    for suffix in ("", ".gz") if file.sha256 is not None else (".gz",):
        place = f"{mirror.rstrip('/')}/{source.folder}/{file.name}{suffix}"
        try:
            if mirror.startswith(("http://", "https://")):
                received = _download(job, place, file, _packed(file.bytes))
            else:
                received = Path(place)
                if not received.is_file():
                    raise _NotThere("no such file")
        except _NotThere as reason:
            job.tried.append(f"{place} ({reason})")
            continue
        except _Unreachable as reason:
            job.tried.append(f"{place} ({reason})")
            raise
        return _verified(job, file, received, None, place)
    raise _NotThere


def _from_upstream(job: _Job, source: Source, file: File) -> Path:
    """One file from the first of its addresses that gives the right content."""
    # Data sets can share a file (benchmarks.mat): it is downloaded once.
    shared = _path(job.dest, source, file)
    if file.sha256 is not None and shared.is_file() and _sha256(shared) == file.sha256:
        return Path(shutil.copyfile(shared, job.staging / f"{file.role}-{file.name}"))
    wrong: ValueError | None = None
    for url in file.urls:
        try:
            most = _packed(file.bytes) if url.member is None else url.bytes
            received = _download(job, url.address, file, most)
            return _verified(job, file, received, url.member, url.address)
        except (_NotThere, _Unreachable) as reason:
            job.tried.append(f"{url.address} ({reason})")
        except ValueError as error:
            wrong = error
    if wrong is not None:
        raise wrong
    raise _NotThere


def _no_source(job: _Job, mirror: str) -> ConnectionError:
    entry = job.entry
    required_files = " or ".join(
        " and ".join(f"{source.folder}/{file.name}" for file in source.files) for source in entry.sources
    )
    tried = f"tried {'; '.join(job.tried)}" if job.tried else "no address to download it from is known"
    return ConnectionError(
        f"data set {entry.name!r} could not be fetched: {tried}; set {MIRROR_VARIABLE} to a folder or "
        f"http(s) address that holds {required_files}"
        + (f" (now {mirror})" if mirror else "")
        + (f"; the data set's page is {entry.homepage}" if entry.homepage else "")
    )


def _packed(size: int) -> int:
    """The most bytes of a file that holds so many, plain or compressed, or of an HTML page in its place."""
    return size + size // 1000 + 2**16


def _download(job: _Job, url: str, file: File, most: int) -> Path:
    """Download with retries into the staging folder, at most so many bytes."""
    # here, because they take a second to import and most jobs download nothing
    import pooch
    import requests
    import urllib3

    class Downloader(pooch.HTTPDownloader):
        """pooch's with bounds: it asks once for a file that is not there, and stops after some redirects and
        at some size."""

        def __call__(self, url, output_file, pooch, check_only=False):
            redirects = 0

            def count(response, **options):
                nonlocal redirects
                redirects += response.is_redirect
                if redirects > MOST_REDIRECTS:
                    raise _Unreachable(f"more than {MOST_REDIRECTS} redirects")

            self.kwargs["hooks"] = {"response": count}
            try:
                with open(output_file, "wb") as out:
                    super().__call__(url, _Capped(out, most), pooch, check_only)
            except requests.HTTPError as error:
                if error.response is not None and error.response.status_code in (404, 410):
                    raise _NotThere(f"HTTP {error.response.status_code}") from error
                raise

    name = file.name
    store = pooch.create(
        job.staging / "download",
        base_url="",
        registry={name: None},
        urls={name: url},
        retry_if_failed=RETRIES,
    )
    (job.staging / "download" / name).unlink(missing_ok=True)
    # a body that is compressed on the way would only have to be unpacked twice
    headers = {"Accept-Encoding": "identity"}
    downloader = Downloader(progressbar=job.progress, chunk_size=CHUNK, timeout=PATIENCE, headers=headers)
    try:
        return Path(store.fetch(name, downloader=downloader))
    except requests.RequestException as error:
        status = getattr(error.response, "status_code", None)
        raise _Unreachable(f"HTTP {status}" if status else type(error).__name__) from error
    except (urllib3.exceptions.HTTPError, ValueError) as error:
        # of an address or a header that makes no sense, which requests does not catch
        raise _Unreachable(" ".join(str(error).split())) from error
    except _TooLong as error:
        raise _wrong(job, file, url, f"it has more than {most} bytes", error.args[0]) from None


def _verified(job: _Job, file: File, received: Path, member: str | None, place: str) -> Path:
    """Unpack what was received into the staging folder; its content must have the hash of the registry."""
    staged = job.staging / f"{file.role}-{file.name}"
    digest = hashlib.sha256()
    problem = ""
    with open(received, "rb") as start:
        head = start.read(512)
    try:
        with open(staged, "wb") as out:
            capped = _Capped(out, file.bytes)
            for block in _content(received, member):
                capped.write(block)
                digest.update(block)
    except _TooLong:
        raise _wrong(job, file, place, f"its content has more than {file.bytes} bytes", head) from None
    except (
        EOFError,
        OSError,
        zlib.error,
        lzma.LZMAError,
        zipfile.BadZipFile,
        KeyError,
        RuntimeError,
    ) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the fault is this machine's, not the file's
        problem = f"; it cannot be unpacked ({' '.join(str(error).split())})"
    if file.sha256_gz is not None:
        kind, expected, checksum = "gzip file", file.sha256_gz, _sha256(received)
    elif problem:
        kind, expected, checksum = "file", file.sha256, _sha256(received)
    else:
        kind, expected, checksum = "content", file.sha256, digest.hexdigest()
    if checksum == expected and not problem:
        return staged
    finding = f"found {checksum} ({kind} of {received.stat().st_size} bytes)"
    raise _wrong(job, file, place, f"expected the sha256 {expected}, {finding}{problem}", head)


def _wrong(job: _Job, file: File, place: str, why: str, head: bytes) -> ValueError:
    """Return the error for a file that starts with `head`."""
    if head.lstrip().lower().startswith((b"<!doctype html", b"<html")):
        why += "; it is an HTML page"
    where = f"data set {job.entry.name!r}: the file {file.name} from {place}"
    return ValueError(f"{where} is not the one in the registry: {why}")


def _content(path: Path, member: str | None) -> Iterator[bytes]:
    """The decompressed content, block by block: of a zip member, of a gzip file, or of a plain file."""
    if member is not None:
        with zipfile.ZipFile(path) as archive, archive.open(member) as stream:
            yield from _blocks(stream)
        return
    with open(path, "rb") as plain:
        is_gzip = plain.read(2) == b"\x1f\x8b"
        plain.seek(0)
        if is_gzip:
            with gzip.open(plain) as stream:
                yield from _blocks(stream)
        else:
            yield from _blocks(plain)


def _blocks(stream: IO[bytes] | gzip.GzipFile) -> Iterator[bytes]:
    while block := stream.read(CHUNK):
        yield block


def _path(dest: Path, source: Source, file: File) -> Path:
    return dest / source.folder / file.name


def _sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write_record(entry: Entry, dest: Path, origin: str, folder: str, paths: list[Path]) -> None:
    record = {"origin": origin, "folder": folder, "files": {path.name: _sha256(path) for path in paths}}
    with replacing(dest / f"{entry.name}.json") as file:
        file.write((json.dumps(record, indent=1) + "\n").encode())


def _read_record(path: Path) -> dict | None:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    keys = {"origin": str, "folder": str, "files": dict}
    if not isinstance(record, dict) or not all(
        isinstance(record.get(key), kind) for key, kind in keys.items()
    ):
        return None
    return record
