"""Files that are replaced: complete or not at all, and nothing else is touched."""

import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from svmselect.atomic import replacing


def write(path, content=b"new"):
    with replacing(path) as file:
        file.write(content)


@pytest.fixture
def victim(tmp_path_factory):
    path = tmp_path_factory.mktemp("elsewhere") / "victim"
    path.write_bytes(b"precious")
    return path


@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002])
def test_a_file_has_the_mode_of_a_new_one(tmp_path, umask):
    former = os.umask(umask)
    try:
        write(tmp_path / "a/folder/file")
        write(tmp_path / "a/folder/file", b"newer")
    finally:
        os.umask(former)
    assert (tmp_path / "a/folder/file").read_bytes() == b"newer"
    assert stat.S_IMODE((tmp_path / "a/folder/file").stat().st_mode) == 0o666 & ~umask
    assert os.listdir(tmp_path / "a/folder") == ["file"]


@pytest.mark.parametrize("length", [1, 250, 255])
def test_a_name_may_be_as_long_as_the_file_system_lets_it(tmp_path, length):
    write(tmp_path / ("m" * length))
    assert os.listdir(tmp_path) == ["m" * length]


def test_a_link_is_replaced_and_its_target_is_untouched(tmp_path, victim):
    (tmp_path / "file").symlink_to(victim)
    write(tmp_path / "file")
    assert not (tmp_path / "file").is_symlink() and (tmp_path / "file").read_bytes() == b"new"
    assert victim.read_bytes() == b"precious"


@pytest.mark.parametrize("trap", ["link", "link to nothing", "file"])
def test_what_lies_at_the_temporary_name_is_neither_followed_nor_removed(tmp_path, victim, monkeypatch, trap):
    monkeypatch.setattr("secrets.token_hex", lambda n: "0" * 2 * n)
    temporary = tmp_path / f".svmselect-{'0' * 16}"
    if trap == "file":
        temporary.write_bytes(b"of another process")
    else:
        temporary.symlink_to(victim if trap == "link" else victim.with_name("nothing"))
    with pytest.raises(FileExistsError, match=f"{tmp_path}/file'"):
        write(tmp_path / "file")
    assert os.listdir(tmp_path) == [temporary.name] and victim.read_bytes() == b"precious"
    assert os.listdir(victim.parent) == ["victim"]


def test_writers_of_one_process_do_not_share_a_temporary_file(tmp_path):
    """So processes of two containers do not either, which may have one number."""
    content = [bytes([letter]) * 100_000 for letter in b"abcdefgh"]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(20):
            list(pool.map(lambda part: write(tmp_path / "file", part), content))
            assert (tmp_path / "file").read_bytes() in content
    assert os.listdir(tmp_path) == ["file"]
    with replacing(tmp_path / "file") as first, replacing(tmp_path / "file") as second:
        assert first.name != second.name and len({*os.listdir(tmp_path)}) == 3


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_block_that_fails_leaves_what_was_there(tmp_path, error):
    write(tmp_path / "file", b"old")
    with pytest.raises(error), replacing(tmp_path / "file") as file:
        file.write(b"half")
        raise error
    assert os.listdir(tmp_path) == ["file"] and (tmp_path / "file").read_bytes() == b"old"


def test_an_error_of_another_library_keeps_its_words(tmp_path):
    with pytest.raises(OSError, match=r"^the table is damaged$"), replacing(tmp_path / "file"):
        raise OSError("the table is damaged")


@pytest.mark.parametrize("kind", ["folder", "pipe", "link to a device", "standard output"])
def test_what_is_no_file_is_refused_and_stays(tmp_path, kind):
    path = tmp_path / "target"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/full" if kind == "link to a device" else "/proc/self/fd/1")
    before = path.lstat()
    with pytest.raises(ValueError, match=str(path)):
        write(path)
    assert os.listdir(tmp_path) == ["target"] and path.lstat()[:8] == before[:8]


FULL = """
import resource, signal, sys
from pathlib import Path
from svmselect.atomic import replacing

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    with replacing(Path(sys.argv[1])) as file:
        file.write(bytes(2000))  # still in the buffer when the block ends
except OSError as error:
    print(error.filename)
"""


def test_a_file_that_does_not_fit_is_named_and_what_was_there_stays(tmp_path):
    write(tmp_path / "file", b"old")
    command = [sys.executable, "-c", FULL, str(tmp_path / "file")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"{tmp_path}/file\n"
    assert os.listdir(tmp_path) == ["file"] and (tmp_path / "file").read_bytes() == b"old"
