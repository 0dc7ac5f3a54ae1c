"""A headless Chromium that tests look at pages with."""

import contextlib
import itertools
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


def chromium():
    """Path of the browser, or None."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class Browser:
    """A headless Chromium, driven over its debugging pipe."""

    def __init__(self, program):
        self.ids, self.events = itertools.count(1), []
        # a process of the browser may write into it until it is gone
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        options += [
            "--disable-dev-shm-usage",
            f"--user-data-dir={self.profile.name}",
            "--remote-debugging-pipe",
        ]
        # the pipe's two ends are file descriptors 3 and 4 of the browser
        shell = f'exec "$0" "$@" 3<&{to_browser} 4>&{from_browser}'
        self.process = subprocess.Popen(
            ["bash", "-c", shell, program, *options, "about:blank"],
            pass_fds=(to_browser, from_browser),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(to_browser)
        os.close(from_browser)
        self.buffer, self.session = b"", None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method, **params):
        number = next(self.ids)
        message = {"id": number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == number:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def receive(self, seconds=600):
        until = time.monotonic() + seconds
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.read_end], [], [], until - time.monotonic())
            assert ready, "the browser does not answer"
            self.buffer += os.read(self.read_end, 1 << 20)
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def open(self, path, size, dark=False, query="", media=""):
        """Load a file at a width and height, as on paper where the `media` are "print", and wait until it is
        loaded."""
        width, height = size
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        still = {"name": "prefers-reduced-motion", "value": "reduce"}
        self.call("Emulation.setEmulatedMedia", media=media, features=[scheme, still])
        self.events.clear()
        self.call("Page.navigate", url=path.as_uri() + query)
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.events.append(self.receive())

    def value(self, expression):
        """Value of a JavaScript expression."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def complaints(self):
        """What went to the console, and what was asked from outside the page."""
        results = []
        for event in self.events:
            method, params = event["method"], event["params"]
            if method in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"):
                results.append(params)
            elif method == "Network.requestWillBeSent":
                address = params["request"]["url"]
                if not address.startswith(("file:", "data:")):
                    results.append(address)
        return results

    def findings(self, axe):
        """What the script of the accessibility checker `axe` finds on this page that is serious or critical:
        the name of the rule, how often, and a place."""
        self.value(axe + "; null")
        return self.value(
            """axe.run({resultTypes: ['violations']}).then(found => found.violations
                 .filter(one => ['serious', 'critical'].includes(one.impact))
                 .map(one => [one.id, one.nodes.length, one.nodes[0].html]))"""
        )

    def close(self):
        self.process.terminate()
        self.process.wait(timeout=30)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        os.close(self.write_end)
        os.close(self.read_end)
        self.profile.cleanup()
