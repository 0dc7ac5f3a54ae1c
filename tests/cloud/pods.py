"""The part of Kubernetes' API that Snakemake calls, on this machine's loopback.

A job is run as a process, in an empty folder and with the variables of its secrets, so that it shares no file
with the process that submitted it.
"""

import base64
import json
import os
import re
import signal
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import yaml


class Kubernetes:
    """The cluster, as a context.

    Parameters
    ----------
    folder : Path
        Folders of pods, and the configuration of clients.

    Attributes
    ----------
    jobs : list of dict
        What was submitted.
    environment : dict of str to str
        What tells clients where it is.
    """

    def __init__(self, folder):
        self.folder = Path(folder)
        self.jobs, self._secrets, self._processes = [], {}, {}
        self._programs = self.folder / "bin"
        self._programs.mkdir(parents=True)
        # Snakemake's command begins with `pip install` of the plugin, which this environment has
        pip = self._programs / "pip"
        pip.write_text(f'#!/bin/sh\nexec {sys.executable} -m pip show --quiet "$4"\n')
        pip.chmod(0o755)

    def __enter__(self):
        cluster = self

        class Handler(BaseHTTPRequestHandler):
            def _answer(self):
                size = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(size)) if size else {}
                result = cluster._answer(self.command, self.path.partition("?")[0], body)
                text = json.dumps(result or {"kind": "Status", "code": 404}).encode()
                self.send_response(200 if result else 404)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = do_DELETE = _answer

            def log_message(self, *words):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        Thread(target=self._server.serve_forever, daemon=True).start()
        path = self.folder / "kubeconfig"
        address = f"http://127.0.0.1:{self._server.server_port}"
        config = {
            "current-context": "here",
            "clusters": [{"name": "here", "cluster": {"server": address}}],
            "users": [{"name": "me", "user": {}}],
            "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me"}}],
        }
        path.write_text(yaml.safe_dump(config))
        self.environment = {"KUBECONFIG": str(path)}
        return self

    def __exit__(self, *error):
        for process in self._processes.values():
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        self._server.shutdown()
        self._server.server_close()

    def logs(self):
        """What all pods said."""
        return "".join(path.read_text() for path in self.folder.glob("*/log"))

    def _answer(self, verb, path, body):
        """The answer to a request; None if there is none."""
        name = path.rpartition("/")[2]
        match verb, re.sub(r"namespaces/[a-z]+/", "", path).split("/")[1:]:
            case "POST", ["api", "v1", "secrets"]:
                self._secrets[body["metadata"]["name"]] = body["data"]
                return body
            case "DELETE", ["api", "v1", "secrets", _]:
                return {"kind": "Status"} if self._secrets.pop(name, None) is not None else None
            case "POST", ["apis", "batch", "v1", "jobs"]:
                self.jobs.append(body)
                self._processes[body["metadata"]["name"]] = self._start(body)
                return body
            case "GET", ["apis", "batch", "v1", "jobs", job, "status"]:
                code = self._processes[job].poll()
                status = {} if code is None else {"failed" if code else "succeeded": 1}
                return {"metadata": {"name": job}, "status": status}
            case "DELETE", ["apis", "batch", "v1", "jobs", _]:
                return {"kind": "Status"}
            case "GET", ["api", "v1", "pods"]:
                return {"kind": "PodList", "items": []}

    def _start(self, job):
        (container,) = job["spec"]["template"]["spec"]["containers"]
        folder = self.folder / job["metadata"]["name"]
        (folder / "home").mkdir(parents=True)
        (folder / "workdir").mkdir()
        variables = {}
        for entry in container["env"]:
            secret = entry["valueFrom"]["secretKeyRef"]
            variables[entry["name"]] = base64.b64decode(self._secrets[secret["name"]][secret["key"]]).decode()
        path = f"{self._programs}:{Path(sys.executable).parent}:/usr/bin:/bin"
        with open(folder / "log", "w") as log:
            return subprocess.Popen(
                [*container["command"], *container["args"]],
                cwd=folder / "workdir",
                env={**variables, "PATH": path, "HOME": str(folder / "home")},
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
