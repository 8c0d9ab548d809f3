"""A real headless Chromium, driven through its debugging pipe; nothing but the standard library."""

import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe"),
)
SECONDS = 60.0
"""How long anything may take, on a machine that has much else to do."""


def find_chromium():
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One page in a browser of its own."""

    def __init__(self, width=1280, height=1000):
        self._profile = tempfile.mkdtemp(prefix="gevolve-chromium-")
        into, self._in = os.pipe()
        self._out, out = os.pipe()
        command = [find_chromium(), *FLAGS, f"--user-data-dir={self._profile}", "about:blank"]
        # The browser reads commands from 3 and writes answers to 4.
        self._process = subprocess.Popen(
            ["bash", "-c", f'exec "$0" "$@" 3<&{into} 4>&{out}', *command],
            pass_fds=(into, out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        os.close(into)
        os.close(out)
        self._rest = b""
        self._number = 0
        self._session = None
        self.problems = []
        """What the console complained of."""
        pages = self.send("Target.getTargets")["targetInfos"]
        page = next(one["targetId"] for one in pages if one["type"] == "page")
        attached = self.send("Target.attachToTarget", targetId=page, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Runtime", "Log", "Page", "Network"):
            self.send(f"{domain}.enable")
        self.resize(width, height)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._in)
        os.close(self._out)
        shutil.rmtree(self._profile, ignore_errors=True)

    def resize(self, width, height):
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip

    def send(self, method, **params):
        """Send a command and wait for its answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._in, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]
            self._note(answer)

    def _receive(self):
        deadline = time.monotonic() + SECONDS
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._out], [], [], deadline - time.monotonic())
            assert ready, "the browser does not answer"
            data = os.read(self._out, 1 << 20)
            assert data, "the browser has ended"
            self._rest += data
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)

    def _note(self, event):
        params = event.get("params", {})
        match event.get("method"):
            case "Runtime.exceptionThrown":
                details = params["exceptionDetails"]
                self.problems.append(details.get("exception", {}).get("description", details))
            case "Runtime.consoleAPICalled" if params["type"] in ("error", "warning", "assert"):
                self.problems.append(str(params["args"]))
            case "Log.entryAdded" if params["entry"]["level"] in ("error", "warning"):
                self.problems.append(params["entry"]["text"])

    def open(self, url):
        self.send("Page.navigate", url=url)

    def run(self, script):
        """The value of a JavaScript expression."""
        answer = self.send("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, script, what=None):
        """Wait until an expression is true; gives its value."""
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            value = self.run(script)
            if value:
                return value
            time.sleep(0.05)
        raise AssertionError(f"never true: {what or script}; console: {self.problems}")
