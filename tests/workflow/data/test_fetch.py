"""Fetching: mirrors, downloads, and what happens to a wrong file. No network but this machine's own."""

import contextlib
import gzip
import hashlib
import io
import itertools
import sys
import zipfile

import pytest
from data.dataset import Dataset
from data.fetch import RETRIES, fetch
from data.prepare import prepare

HTML = b"<!DOCTYPE html><html><body>Moved</body></html>"


def files_in(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def small(as_registry, small_set, web):
    """Entry `small`, its file offered at two addresses of the web server."""
    entry, _ = small_set
    addresses = [f"{web.address}/up/small.csv", f"{web.address}/other/small.csv"]
    entry["sources"][0]["files"]["data"]["urls"] = addresses
    return as_registry(small=entry)["small"]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "mirror" / "small").mkdir(parents=True)
    return tmp_path / "mirror"


@pytest.mark.parametrize("gz", [False, True])
@pytest.mark.parametrize("by", ["argument", "environment", "web"])
def test_mirror(small, small_set, folder, tmp_path, web, packed, monkeypatch, gz, by):
    content = packed(small_set[1]) if gz else small_set[1]
    name = "small.csv.gz" if gz else "small.csv"
    monkeypatch.delenv("SVMSELECT_MIRROR", raising=False)
    place = folder
    (folder / "small" / name).write_bytes(content)
    if by == "environment":
        monkeypatch.setenv("SVMSELECT_MIRROR", str(folder))
        place = None
    if by == "web":
        place = f"{web.address}/mirror"
        web.plan[f"/mirror/small/{name}"] = [(200, content)]
    paths = fetch(small, tmp_path / "raw", mirror=place, progress=False)
    assert paths == [tmp_path / "raw" / "small" / "small.csv"]
    assert paths[0].read_bytes() == small_set[1]
    assert files_in(tmp_path / "raw") == ["small.json", "small/small.csv"]
    prepare(small, tmp_path / "raw", tmp_path / "small.npz")
    assert Dataset.load(tmp_path / "small.npz").source == "mirror"


@pytest.mark.parametrize("gz", [False, True])
def test_upstream_after_two_failures(small, small_set, tmp_path, web, packed, no_mirror, gz):
    good = packed(small_set[1]) if gz else small_set[1]
    web.plan["/up/small.csv"] = [(503, b""), (503, b""), (200, good)]
    (path,) = fetch(small, tmp_path / "raw", progress=True)
    assert path.read_bytes() == small_set[1]
    assert web.requests == ["/up/small.csv"] * 3
    prepare(small, tmp_path / "raw", tmp_path / "small.npz")
    assert Dataset.load(tmp_path / "small.npz").source == "upstream"


def test_a_file_already_there_is_not_fetched_again_unless_damaged(small, small_set, tmp_path, web, no_mirror):
    web.plan["/up/small.csv"] = [(200, small_set[1])]
    (path,) = fetch(small, tmp_path / "raw", progress=False)
    assert fetch(small, tmp_path / "raw", progress=False) == [path]
    assert len(web.requests) == 1
    path.write_bytes(b"damaged")
    with pytest.raises(
        ValueError, match=r"'small': the raw file .*small\.csv is missing or not what was fetched"
    ):
        prepare(small, tmp_path / "raw", tmp_path / "small.npz")
    assert not (tmp_path / "small.npz").exists()
    fetch(small, tmp_path / "raw", progress=False)
    assert path.read_bytes() == small_set[1]


def test_second_address(small, small_set, tmp_path, web, no_mirror):
    web.plan["/up/small.csv"] = [(200, HTML)]
    web.plan["/other/small.csv"] = [(200, small_set[1])]
    (path,) = fetch(small, tmp_path / "raw", progress=False)
    assert path.read_bytes() == small_set[1]


def test_mirror_without_the_file_falls_through(small, small_set, folder, tmp_path, web):
    web.plan["/up/small.csv"] = [(200, small_set[1])]
    fetch(small, tmp_path / "raw", mirror=folder, progress=False)
    prepare(small, tmp_path / "raw", tmp_path / "small.npz")
    assert Dataset.load(tmp_path / "small.npz").source == "upstream"


def test_mirror_that_is_down_is_warned_about(small, small_set, tmp_path, web):
    web.plan["/up/small.csv"] = [(200, small_set[1])]
    web.plan["/down/small/small.csv"] = [(500, b"")]
    with pytest.warns(UserWarning, match=r"the mirror http://127.*/down cannot be used: HTTP 500"):
        fetch(small, tmp_path / "raw", mirror=f"{web.address}/down", progress=False)


WRONG = {
    "altered": lambda good, pack: good.replace(b"1.5", b"1.6"),
    "truncated": lambda good, pack: good[:-5],
    "empty": lambda good, pack: b"",
    "html": lambda good, pack: HTML,
    "truncated gzip": lambda good, pack: pack(good)[:-12],
    "damaged gzip": lambda good, pack: pack(good)[:14] + b"\xff\xff\xff" + pack(good)[17:],
    "altered gzip": lambda good, pack: pack(good + b"1,2,a\n"),
}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("place", ["folder", "web mirror", "upstream"])
def test_wrong_file(small, small_set, folder, tmp_path, web, packed, monkeypatch, place, wrong):
    monkeypatch.delenv("SVMSELECT_MIRROR", raising=False)
    content = WRONG[wrong](small_set[1], packed)
    # The right file elsewhere does not hide the wrong one of a mirror.
    web.plan["/up/small.csv"] = [(200, content if place == "upstream" else small_set[1])]
    web.plan["/mirror/small/small.csv"] = [(200, content)]
    (folder / "small" / "small.csv").write_bytes(content)
    where = {"folder": folder, "web mirror": f"{web.address}/mirror", "upstream": None}[place]
    with pytest.raises(ValueError) as error:
        fetch(small, tmp_path / "raw", mirror=where, progress=False)
    sentence = str(error.value)
    assert sentence.startswith("data set 'small': the file small.csv from ") and "\n" not in sentence
    assert f"expected the sha256 {hashlib.sha256(small_set[1]).hexdigest()}, found " in sentence
    assert ("HTML page" in sentence) == (wrong == "html")
    if wrong in ("altered", "truncated", "html"):
        assert f"found {hashlib.sha256(content).hexdigest()}" in sentence
    assert not (tmp_path / "raw").exists()


def test_connection_that_breaks_off(small, small_set, tmp_path, web, no_mirror):
    web.plan["/up/small.csv"] = [(200, small_set[1][:10], len(small_set[1]))]
    with pytest.raises(ConnectionError, match="'small' could not be fetched"):
        fetch(small, tmp_path / "raw", progress=False)
    assert not (tmp_path / "raw").exists()


def test_nothing_reachable(small, folder, tmp_path, web):
    with pytest.raises(ConnectionError) as error:
        fetch(small, tmp_path / "raw", mirror=folder, progress=False)
    sentence = str(error.value)
    assert "\n" not in sentence and "data set 'small' could not be fetched" in sentence
    for part in (
        "small/small.csv (no such file)",
        "/up/small.csv (HTTP 404)",
        "set SVMSELECT_MIRROR",
        str(folder),
    ):
        assert part in sentence
    assert web.requests == ["/up/small.csv", "/other/small.csv"]  # a missing file is asked for once
    assert not (tmp_path / "raw").exists()


def test_no_mirror_and_no_address(as_registry, small_set, tmp_path, no_mirror):
    small_set[0]["homepage"] = "https://example.org/small"
    entry = as_registry(small=small_set[0])["small"]
    with pytest.raises(
        ConnectionError, match=r"no address.*SVMSELECT_MIRROR.*small/small\.csv.*example\.org"
    ):
        fetch(entry, tmp_path / "raw")


def test_mirror_folder_that_does_not_exist(small, tmp_path):
    with pytest.raises(ValueError, match=r"the mirror folder .*nowhere does not exist.*SVMSELECT_MIRROR"):
        fetch(small, tmp_path / "raw", mirror=tmp_path / "nowhere")


def test_a_set_of_two_files_is_fetched_whole_or_not_at_all(as_registry, small_set, tmp_path, web, no_mirror):
    source = small_set[0]["sources"][0]
    source["files"] = {
        role: {
            "name": f"{role}.txt",
            "sha256": hashlib.sha256(role.encode()).hexdigest(),
            "urls": [f"{web.address}/{role}.txt"],
        }
        for role in ("data", "labels")
    }
    entry = as_registry(small=small_set[0])["small"]
    web.plan = {"/data.txt": [(200, b"data")], "/labels.txt": [(200, b"wrong")]}
    (tmp_path / "raw").mkdir()
    with pytest.raises(ValueError, match=r"the file labels\.txt"):
        fetch(entry, tmp_path / "raw", progress=False)
    assert files_in(tmp_path / "raw") == []
    web.plan["/labels.txt"] = [(200, b"labels")]
    assert [path.read_bytes() for path in fetch(entry, tmp_path / "raw", progress=False)] == [
        b"data",
        b"labels",
    ]


def test_member_of_a_zip_archive(as_registry, small_set, tmp_path, web, no_mirror):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("inside/small.csv", small_set[1])
    file = small_set[0]["sources"][0]["files"]["data"]
    file["urls"] = [{"zip": f"{web.address}/small.zip", "member": "inside/small.csv"}]
    entry = as_registry(small=small_set[0])["small"]
    for wrong in (HTML, archive.getvalue()[:-30]):
        web.plan["/small.zip"] = [(200, wrong)]
        with pytest.raises(ValueError, match=r"the file small\.csv from .*small\.zip is not the one"):
            fetch(entry, tmp_path / "raw", progress=False)
    web.plan["/small.zip"] = [(200, archive.getvalue())]
    (path,) = fetch(entry, tmp_path / "raw", progress=False)
    assert path.read_bytes() == small_set[1]


def test_member_with_the_path_of_another_folder_stays_in_its_place(
    as_registry, small_set, tmp_path, web, no_mirror
):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("../../small.csv", small_set[1])
        file.writestr("/tmp/other.csv", b"not asked for")
    file = small_set[0]["sources"][0]["files"]["data"]
    file["urls"] = [{"zip": f"{web.address}/small.zip", "member": "../../small.csv"}]
    web.plan["/small.zip"] = [(200, archive.getvalue())]
    (tmp_path / "deep" / "er").mkdir(parents=True)
    before = set(files_in(tmp_path))
    fetch(as_registry(small=small_set[0])["small"], tmp_path / "deep" / "er" / "raw", progress=False)
    # datasets.yaml is the registry of this test
    assert set(files_in(tmp_path)) - before == {
        "datasets.yaml",
        "deep/er/raw/small.json",
        "deep/er/raw/small/small.csv",
    }


@pytest.mark.slow
def test_server_that_stalls(small, small_set, tmp_path, web, no_mirror, monkeypatch):
    """It takes the connection and says nothing: given up after a time, the other address is tried."""
    monkeypatch.setattr(sys.modules["data.fetch"], "PATIENCE", 0.3)
    web.plan["/up/small.csv"] = [(200, None)]
    web.plan["/other/small.csv"] = [(200, small_set[1])]
    (path,) = fetch(small, tmp_path / "raw", progress=False)
    assert path.read_bytes() == small_set[1]
    assert web.requests == ["/up/small.csv"] * (RETRIES + 1) + ["/other/small.csv"]
    web.plan["/other/small.csv"] = [(200, None)]
    with pytest.raises(ConnectionError, match=r"'small' could not be fetched: .*small\.csv \(ReadTimeout\)"):
        fetch(small, tmp_path / "new", progress=False)
    assert not (tmp_path / "new").exists()


def test_no_network_at_all(small, tmp_path, no_mirror, monkeypatch):
    def refused(*arguments, **options):
        raise OSError(101, "Network is unreachable")

    monkeypatch.setattr("pooch.core.time.sleep", lambda seconds: None)
    monkeypatch.setattr("socket.socket.connect", refused)
    with pytest.raises(ConnectionError) as caught:
        fetch(small, tmp_path / "raw", progress=False)
    sentence = str(caught.value)
    assert sentence.startswith("data set 'small' could not be fetched: tried http://127.0.0.1")
    assert "(ConnectionError)" in sentence and "SVMSELECT_MIRROR" in sentence and "\n" not in sentence
    assert not (tmp_path / "raw").exists()


def test_file_known_by_the_hash_of_its_gzip_file(as_registry, small_set, folder, tmp_path, packed):
    content = packed(small_set[1])
    file = small_set[0]["sources"][0]["files"]["data"]
    del file["sha256"]
    file["sha256_gz"] = hashlib.sha256(content).hexdigest()
    entry = as_registry(small=small_set[0])["small"]
    (folder / "small" / "small.csv.gz").write_bytes(gzip.compress(small_set[1], 1, mtime=7))
    with pytest.raises(ValueError, match=f"expected the sha256 {file['sha256_gz']}"):
        fetch(entry, tmp_path / "raw", mirror=folder)
    (folder / "small" / "small.csv.gz").write_bytes(content)
    (path,) = fetch(entry, tmp_path / "raw", mirror=folder)
    assert path.read_bytes() == small_set[1]
    prepare(entry, tmp_path / "raw", tmp_path / "small.npz")


@pytest.fixture
def sized(as_registry, small_set, web):
    """Entry `small` with the size of its file stated."""
    file = small_set[0]["sources"][0]["files"]["data"]
    file |= {"bytes": len(small_set[1]), "urls": [f"{web.address}/up/small.csv"]}
    return as_registry(small=small_set[0])["small"]


def answer(handler, body, **headers):
    handler.send_response(200)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    with contextlib.suppress(OSError):  # the client has seen enough
        for block in body:
            handler.wfile.write(block)


ZEROS = bytes(2**16)
BOMBS = {
    "endless": (lambda handler: answer(handler, itertools.repeat(ZEROS)), "it has more than 65576 bytes"),
    "false length": (
        lambda handler: answer(handler, [ZEROS] * 100, Content_Length=str(100 * len(ZEROS))),
        "it has more than 65576 bytes",
    ),
    "encoded": (
        lambda handler: answer(handler, [gzip.compress(bytes(2**25))], Content_Encoding="gzip"),
        "it has more than 65576 bytes",
    ),
    "gzip": (
        lambda handler: answer(handler, [gzip.compress(bytes(2**25))]),
        "content has more than 40 bytes",
    ),
    "a byte too much": (lambda handler: answer(handler, [bytes(41)]), "content has more than 40 bytes"),
    "HTML": (lambda handler: answer(handler, [HTML, ZEROS, ZEROS]), "it is an HTML page"),
}


@pytest.fixture
def most_on_disk(monkeypatch, tmp_path):
    """The largest file that was ever written below the folder of the test, by watching every write."""
    largest = [0]
    capped = sys.modules["data.fetch"]._Capped
    write = capped.write

    def watched(self, block):
        try:
            write(self, block)
        finally:
            self.file.flush()
            files = [path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()]
            largest[0] = max(largest[0], *files)

    monkeypatch.setattr(capped, "write", watched)
    return largest


@pytest.mark.parametrize("bomb", BOMBS)
@pytest.mark.parametrize("place", ["mirror", "upstream"])
def test_no_more_than_the_registry_says_is_received_or_unpacked(
    sized, tmp_path, web, no_mirror, most_on_disk, place, bomb
):
    send, sentence = BOMBS[bomb]
    for path in ("/up/small.csv", "/mirror/small/small.csv"):
        web.plan[path] = [(200, send)]
    mirror = f"{web.address}/mirror" if place == "mirror" else None
    with pytest.raises(
        ValueError, match=r"'small': the file small\.csv from http.* is not the one"
    ) as caught:
        fetch(sized, tmp_path / "raw", mirror=mirror, progress=False)
    assert sentence in str(caught.value) and "\n" not in str(caught.value)
    assert len(web.requests) == 1 and not (tmp_path / "raw").exists()
    assert most_on_disk[0] <= 40 + 2**16


def test_a_bomb_in_a_mirror_folder(sized, folder, tmp_path, most_on_disk):
    (folder / "small" / "small.csv.gz").write_bytes(gzip.compress(bytes(2**20)))
    with pytest.raises(ValueError, match="its content has more than 40 bytes"):
        fetch(sized, tmp_path / "raw", mirror=folder)
    assert most_on_disk[0] < 2**12 and not (tmp_path / "raw").exists()


def test_a_file_of_the_stated_size_is_taken_however_it_comes(sized, small_set, tmp_path, web, no_mirror):
    good = small_set[1]
    stored = gzip.compress(good, 0)  # larger than what it holds
    for number, send in enumerate(
        [
            lambda handler: answer(handler, [good]),
            lambda handler: answer(handler, [stored]),
            lambda handler: answer(handler, [gzip.compress(good)], Content_Encoding="gzip"),
        ]
    ):
        web.plan["/up/small.csv"] = [(200, send)]
        (path,) = fetch(sized, tmp_path / f"raw-{number}", progress=False)
        assert path.read_bytes() == good


def test_an_archive_larger_than_stated_is_refused(as_registry, small_set, tmp_path, web, no_mirror):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("inside/small.csv", small_set[1])
        file.writestr("other", bytes(2**10))
    file = small_set[0]["sources"][0]["files"]["data"]
    url = {"zip": f"{web.address}/small.zip", "member": "inside/small.csv", "bytes": 2**10}
    file |= {"bytes": len(small_set[1]), "urls": [url]}
    web.plan["/small.zip"] = [(200, archive.getvalue())]
    with pytest.raises(ValueError, match="it has more than 1024 bytes"):
        fetch(as_registry(small=small_set[0])["small"], tmp_path / "raw", progress=False)
    url["bytes"] = 2**12
    (path,) = fetch(as_registry(small=small_set[0])["small"], tmp_path / "raw", progress=False)
    assert path.read_bytes() == small_set[1]


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_damaged_archive_is_a_sentence(as_registry, small_set, tmp_path, web, no_mirror, method):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", method) as file:
        file.writestr("small.csv", small_set[1] * 50)
    content = bytearray(archive.getvalue())
    content[45:60] = b"\xff" * 15
    web.plan["/small.zip"] = [(200, bytes(content))]
    url = {"zip": f"{web.address}/small.zip", "member": "small.csv"}
    small_set[0]["sources"][0]["files"]["data"]["urls"] = [url]
    with pytest.raises(ValueError, match=r"small\.zip is not the one in the registry.*cannot be unpacked"):
        fetch(as_registry(small=small_set[0])["small"], tmp_path / "raw", progress=False)


def redirect(address):
    def send(handler):
        handler.send_response(302)
        handler.send_header("Location", address)
        handler.end_headers()

    return send


def test_some_redirects_are_followed(small, small_set, tmp_path, web, no_mirror):
    for number in range(5):
        web.plan[f"/{number}"] = [(302, redirect(f"{web.address}/{number + 1}"))]
    web.plan["/up/small.csv"] = [(302, redirect(f"{web.address}/1"))]
    web.plan["/5"] = [(200, small_set[1])]
    (path,) = fetch(small, tmp_path / "raw", progress=False)
    assert path.read_bytes() == small_set[1]
    assert web.requests == ["/up/small.csv", "/1", "/2", "/3", "/4", "/5"]


def test_endless_redirects_are_given_up(small, small_set, tmp_path, web, no_mirror):
    web.plan["/up/small.csv"] = [(302, redirect(f"{web.address}/up/small.csv"))]
    with pytest.raises(ConnectionError, match=r"small\.csv \(more than 5 redirects\)"):
        fetch(small, tmp_path / "raw", progress=False)
    assert web.requests == ["/up/small.csv"] * 6 + ["/other/small.csv"]
    assert not (tmp_path / "raw").exists()


def test_sources_of_the_mirror_come_before_upstream(as_registry, small_set, folder, tmp_path, web):
    """First source upstream only, second in the mirror: the mirror's is taken."""
    entry, content = small_set
    best = {**entry["sources"][0], "folder": "best"}
    best["files"] = {"data": {**best["files"]["data"], "urls": [f"{web.address}/best"]}}
    entry["sources"].insert(0, best)
    web.plan["/best"] = [(200, content)]
    (folder / "small" / "small.csv").write_bytes(content)
    (path,) = fetch(as_registry(small=entry)["small"], tmp_path / "raw", mirror=folder, progress=False)
    assert path.parent.name == "small" and web.requests == []


def test_shared_file_is_downloaded_once(as_registry, small_set, tmp_path, web, no_mirror):
    entry, content = small_set
    entry["sources"][0]["files"]["data"]["urls"] = [f"{web.address}/small.csv"]
    web.plan["/small.csv"] = [(200, content)]
    for one in as_registry(first=entry, second=entry).values():
        fetch(one, tmp_path / "raw", progress=False)
        prepare(one, tmp_path / "raw", tmp_path / f"{one.name}.npz")
    assert web.requests == ["/small.csv"]


def test_sets_without_files(registry, tmp_path, no_mirror):
    for name in ("iris-versicolor", "twonorm-generated", "titanic-table"):
        assert fetch(registry[name], tmp_path / "raw") == []
        assert (tmp_path / "raw" / f"{name}.json").is_file()


def test_prepare_before_fetch(small, tmp_path):
    with pytest.raises(ValueError, match="'small' has not been fetched"):
        prepare(small, tmp_path / "raw", tmp_path / "small.npz")


def test_an_address_or_a_header_that_makes_no_sense_names_the_data_set(
    small_set, as_registry, tmp_path, web, no_mirror
):
    entry = small_set[0]
    web.plan["/small.csv"] = [(200, small_set[1], "abc")]
    for address in (f"{web.address}/small.csv", f"http://{'a' * 70}.com/small.csv"):
        entry["sources"][0]["files"]["data"]["urls"] = [address]
        with pytest.raises(ConnectionError, match="data set 'small' could not be fetched: tried") as caught:
            fetch(as_registry(small=entry)["small"], tmp_path / "raw", progress=True)
        assert address in str(caught.value) and "\n" not in str(caught.value)
