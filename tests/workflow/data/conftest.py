"""What the data tests share: small registries and a local web server."""

import gzip
import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import yaml
from data.registry import load_registry


@pytest.fixture
def no_mirror(monkeypatch):
    monkeypatch.delenv("SVMSELECT_MIRROR", raising=False)


def sha256(content):
    return hashlib.sha256(content).hexdigest()


TABLE = b"0.5,1.0,a\n1.5,2.0,b\n2.5,3.0,a\n3.5,4.0,b\n"


@pytest.fixture
def small_set():
    """A registry entry, as in the YAML file, of a table of 4 rows; and the table."""
    entry = {
        "title": "Small",
        "features": 2,
        "rows": 4,
        "classes": {-1: 2, 1: 2},
        "labels": {"a": 1, "b": -1},
        "splits": {"train": 2, "test": 2, "realisations": 3, "seed": 5},
        "licence": "none",
        "citation": "nobody",
        "sources": [
            {
                "folder": "small",
                "format": "table",
                "options": {"delimiter": ",", "missing": "?"},
                "files": {"data": {"name": "small.csv", "sha256": sha256(TABLE)}},
            }
        ],
    }
    return entry, TABLE


@pytest.fixture
def as_registry(tmp_path):
    """Write entries to a registry file and load it."""

    def load(**entries):
        path = tmp_path / "datasets.yaml"
        path.write_text(yaml.safe_dump(entries))
        return load_registry(path)

    return load


class _Handler(BaseHTTPRequestHandler):
    """Gives the next answer planned for the path, and the last one for ever; 404 where none is planned, and
    nothing at all where the body is None. A callable in the place of the body is called to answer."""

    def do_GET(self):
        self.server.requests.append(self.path)
        plan = self.server.plan.get(self.path, [(404, b"")])
        status, body, *claimed = plan.pop(0) if len(plan) > 1 else plan[0]
        if body is None:
            self.server.ends.wait(60)
            return
        if callable(body):
            body(self)
            return
        self.send_response(status)
        self.send_header("Content-Length", str(claimed[0] if claimed else len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@pytest.fixture
def web(monkeypatch):
    """A web server on this machine: `plan[path]` lists (status, body[, content length claimed])."""
    monkeypatch.setattr("pooch.core.time.sleep", lambda seconds: None)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.plan, server.requests, server.ends = {}, [], threading.Event()
    server.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.ends.set()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def file(tmp_path):
    """Write a file of a user's and return its path."""

    def write(content, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def packed():
    return lambda content: gzip.compress(content, mtime=0)
