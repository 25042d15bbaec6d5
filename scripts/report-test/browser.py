"""Chromium, driven over a pipe by the DevTools protocol: nothing listens, nothing is installed, and it is gone afterwards."""

import base64
import json
import os
import shutil
import signal
import subprocess
import tempfile


class Failed(Exception):
    pass


class Browser:
    def __init__(self, program):
        self.profile = tempfile.mkdtemp(prefix="report-test-")
        commands, self.out = os.pipe()
        self.source, answers = os.pipe()

        def place():
            # Copies first: one of the four may itself be 3 or 4.
            one, other = os.dup(commands), os.dup(answers)
            os.dup2(one, 3)
            os.dup2(other, 4)

        words = [
            program, "--headless=new", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
            "--disable-background-networking", "--remote-debugging-pipe", f"--user-data-dir={self.profile}", "about:blank",
        ]
        if os.geteuid() == 0:
            words.insert(1, "--no-sandbox")
        self.process = subprocess.Popen(
            words, preexec_fn=place, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(commands)
        os.close(answers)
        self.number, self.pending, self.session, self.events = 0, b"", None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log", "Accessibility", "DOM"):
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def _next(self):
        while b"\0" not in self.pending:
            piece = os.read(self.source, 1 << 16)
            if not piece:
                raise Failed("the browser has gone")
            self.pending += piece
        message, self.pending = self.pending.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **arguments):
        self.number += 1
        message = {"id": self.number, "method": method, "params": arguments}
        if self.session:
            message["sessionId"] = self.session
        text = json.dumps(message).encode() + b"\0"
        while text:
            text = text[os.write(self.out, text):]
        while True:
            answer = self._next()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise Failed(f"{method}: {answer['error'].get('message')}")
                return answer["result"]
            self.events.append(answer)

    def load(self, path, width=1280, height=900):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        # Away from the page first: another fragment of the same page would not be loaded anew.
        self._go("about:blank")
        self.events.clear()
        self._go(f"file://{path}")

    def _go(self, address):
        start = len(self.events)
        self.call("Page.navigate", url=address)
        while not any(each.get("method") == "Page.loadEventFired" for each in self.events[start:]):
            self.events.append(self._next())

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise Failed(f"the page's script: {answer['exceptionDetails'].get('text')} in {expression[:80]}")
        return answer["result"].get("value")

    def press(self, key, code):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)

    def media(self, name="", **features):
        pairs = [{"name": each.replace("_", "-"), "value": value} for each, value in features.items()]
        self.call("Emulation.setEmulatedMedia", media=name, features=pairs)

    def picture(self, path, most=12000):
        """The whole page, in pieces that a viewer can show."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        height, step, pieces = min(size["height"], most), 1800, []
        for number, top in enumerate(range(0, int(height), step)):
            clip = {"x": 0, "y": top, "width": size["width"], "height": min(step, height - top), "scale": 1}
            data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)["data"]
            pieces.append(f"{path}-{number + 1}.png")
            with open(pieces[-1], "wb") as file:
                file.write(base64.b64decode(data))
        return pieces

    def pdf(self, path):
        data = base64.b64decode(self.call("Page.printToPDF", printBackground=False, preferCSSPageSize=True)["data"])
        with open(path, "wb") as file:
            file.write(data)
        return data
