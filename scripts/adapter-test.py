#!/usr/bin/env python3
"""Holds each adapter of Conformance/Adapters one full conversation and prints what became of each step.

  adapter-test.py [--agent PROGRAM] [NAME or PATH ...]

Three conversations an adapter: one to its end, one that a SIGTERM ends in the middle, and one whose input ends in the middle. After
each, no process, mount or file of it may be left. Fails if an adapter does not do what its capabilities say. `none` confines nothing;
for it alone, the steps that need a refusal are expected to find none.
"""
import argparse
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from typing import Callable, Dict, List, Optional

TOP = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
ADAPTERS = os.path.join(TOP, "Conformance", "Adapters")
AGENT = os.path.join(TOP, ".build", "adapters", "plain-agent")
SECONDS = 60
STEPS = ["hello", "setUp", "file", "folder", "launch", "write", "read", "beside", "read-only", "later", "revoke", "kill", "relaunch",
         "close", "tearDown", "signal", "input"]
# What is refused nowhere without a sandbox.
REFUSALS = {"beside", "read-only", "revoke"}


class Wrong(Exception):
    """A step did not go as it should."""


class Conversation:
    """One adapter as a child, and a scratch folder of its own."""

    def __init__(self, program: str, agent: str) -> None:
        self.scratch = os.path.realpath(tempfile.mkdtemp(prefix="adapter-test-"))
        self.folder, self.home = os.path.join(self.scratch, "folder"), os.path.join(self.scratch, "home")
        os.makedirs(self.folder)
        for name, text in (("letter", "dear"), ("other", "secret"), ("late", "later"), ("album/song", "la"), ("fixed/book", "kept")):
            os.makedirs(os.path.dirname(os.path.join(self.home, name)), exist_ok=True)
            with open(os.path.join(self.home, name), "w") as file:
                file.write(text)
        self.errors = tempfile.TemporaryFile()
        self.agent = agent
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors)
        self.unread = b""

    def ask(self, do: str, **keys: object) -> Dict[str, object]:
        self.process.stdin.write(json.dumps({"do": do, **keys}).encode() + b"\n")
        self.process.stdin.flush()
        while b"\n" not in self.unread:
            if not select.select([self.process.stdout], [], [], SECONDS)[0]:
                raise Wrong(f"{do}: no answer within {SECONDS} seconds")
            block = os.read(self.process.stdout.fileno(), 65536)
            if not block:
                raise Wrong(f"{do}: the adapter has ended")
            self.unread += block
        line, self.unread = self.unread.split(b"\n", 1)
        return json.loads(line)

    def need(self, do: str, **keys: object) -> Dict[str, object]:
        answer = self.ask(do, **keys)
        if answer.get("done") is not True:
            raise Wrong(f"{do}: {json.dumps(answer, ensure_ascii=False)}")
        return answer

    def act(self, do: str, **keys: object) -> Dict[str, object]:
        return self.ask("act", app="editor", request={"do": do, **keys})

    def need_text(self, path: str, text: str) -> None:
        answer = self.act("read", path=path)
        if answer.get("text") != text:
            raise Wrong(f"{path} cannot be read: {answer}")

    def need_refusal(self, do: str, **keys: object) -> None:
        answer = self.act(do, **keys)
        if answer.get("done") is not False:
            raise Wrong(f"{do} {keys['path']}: {answer}")

    def grant(self, name: str, label: str, access: str = "write", kind: str = "file") -> str:
        path = os.path.join(self.home, name)
        return str(self.need("grant", app="editor", path=path, kind=kind, access=access, **{"as": label})["path"])

    def begin(self) -> None:
        self.need("setUp", folder=self.folder, home=self.home, agent=self.agent)

    def leave(self) -> None:
        """Ends the adapter's input and waits for its end."""
        if not self.process.stdin.closed:
            self.process.stdin.close()
        try:
            self.process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise Wrong("the adapter did not leave")

    def check_left(self) -> None:
        """Nothing of the scenario is there any more. Dying processes get a moment."""
        until = time.monotonic() + 3
        while True:
            left = processes_of(self.scratch) + mounts_of(self.scratch) + os.listdir(self.folder)
            if not left:
                return
            if time.monotonic() > until:
                raise Wrong(f"left behind: {'; '.join(left)}")
            time.sleep(0.05)

    def said(self) -> str:
        self.errors.seek(0)
        return self.errors.read().decode(errors="replace").strip()

    def discard(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        shutil.rmtree(self.scratch, ignore_errors=True)


def processes_of(scratch: str) -> List[str]:
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if int(pid) == os.getpid():
            continue
        for name in ("cmdline", "environ"):
            try:
                with open(f"/proc/{pid}/{name}", "rb") as file:
                    if scratch.encode() in file.read():
                        found.append(f"process {pid}")
                        break
            except OSError:
                pass
    return found


def mounts_of(scratch: str) -> List[str]:
    with open("/proc/self/mountinfo") as file:
        return [f"mount {line.split()[4]}" for line in file if scratch in line]


class Test:
    """One adapter's results: a word a step, and the reason of each that went wrong."""

    def __init__(self, program: str, agent: str) -> None:
        self.program, self.agent = program, agent
        self.name = os.path.basename(program)
        self.results: Dict[str, str] = {}
        self.reasons: List[str] = []
        self.version = ""
        self.absent: Optional[str] = None
        self.capabilities: List[str] = []
        self.launch_time = 0.0

    def step(self, name: str, carry_out: Callable[[], object]) -> bool:
        try:
            carry_out()
            self.results[name] = "yes"
            return True
        except Wrong as reason:
            expected = self.name == "none" and name in REFUSALS
            self.results[name] = "open" if expected else "NO"
            if not expected:
                self.reasons.append(f"{self.name}, {name}: {reason}")
            return False

    def has(self, capability: str) -> bool:
        return capability in self.capabilities

    def run(self) -> None:
        conversation = Conversation(self.program, self.agent)
        try:
            if self.step("hello", lambda: self.hello(conversation)) and not self.absent:
                self.whole(conversation)
        finally:
            conversation.discard()
        if self.absent or "launch" not in self.results:
            return
        for name, end in (("signal", lambda talk: talk.process.send_signal(signal.SIGTERM)), ("input", lambda talk: None)):
            conversation = Conversation(self.program, self.agent)
            try:
                self.step(name, lambda: self.interrupted(conversation, end))
            finally:
                conversation.discard()

    def hello(self, talk: Conversation) -> None:
        answer = talk.ask("hello", protocol=1)
        self.absent = answer.get("absent")
        if not self.absent and answer.get("done") is not True:
            raise Wrong(f"{answer} {talk.said()}")
        self.version = str(answer.get("version", ""))
        self.capabilities = list(answer.get("capabilities", []))

    def documents(self, talk: Conversation) -> None:
        """Everything that is granted before the launch."""
        self.letter = self.folder = self.fixed = None
        try:
            self.letter = talk.grant("letter", "letter")
            self.results["file"] = "yes"
        except Wrong as reason:
            self.results["file"] = "-" if "unsupported" in str(reason) else "NO"
            if self.results["file"] == "NO":
                self.reasons.append(f"{self.name}, file: {reason}")
        if self.has("folders"):
            self.step("folder", lambda: setattr(self, "folder", talk.grant("album", "album", kind="folder")))
        if self.has("read-only"):
            self.step("read-only", lambda: setattr(self, "fixed", self.grant_fixed(talk)))

    def grant_fixed(self, talk: Conversation) -> str:
        """A book to read, alone or, where files cannot be granted, in its folder."""
        if self.letter:
            return talk.grant("fixed/book", "fixed", access="read")
        return talk.grant("fixed", "fixed", access="read", kind="folder") + "/book"

    def launch(self, talk: Conversation) -> None:
        began = time.monotonic()
        answer = talk.need("launch", app="editor")
        self.launch_time = time.monotonic() - began
        self.container, self.host_container = str(answer["container"]), str(answer["hostContainer"])

    def write(self, talk: Conversation) -> None:
        talk.act("create", path=self.container + "/note", text="mine")
        with open(os.path.join(self.host_container, "note")) as file:
            if file.read() != "mine":
                raise Wrong("the container is not the host's")

    def read(self, talk: Conversation) -> None:
        if self.letter:
            talk.need_text(self.letter, "dear")
        if self.folder:
            talk.need_text(self.folder + "/song", "la")
        for path in filter(None, (self.letter, self.folder and self.folder + "/song")):
            answer = talk.act("append", path=path, text=" sir")
            if answer.get("done") is not True:
                raise Wrong(f"append {path}: {answer}")

    def beside(self, talk: Conversation) -> None:
        """Not by the host's path, and not beside the granted document."""
        talk.need_refusal("read", path=os.path.join(talk.home, "other"))
        for path in filter(None, (self.letter, self.folder)):
            talk.need_refusal("read", path=os.path.join(os.path.dirname(path), "other"))

    def read_only(self, talk: Conversation) -> None:
        talk.need_text(self.fixed, "kept")
        talk.need_refusal("write", path=self.fixed, text="changed")
        with open(os.path.join(talk.home, "fixed/book")) as file:
            if file.read() != "kept":
                raise Wrong("the document has changed")

    def later(self, talk: Conversation) -> None:
        talk.need_text(talk.grant("late", "late"), "later")

    def revoke(self, talk: Conversation) -> None:
        talk.need("revoke", app="editor", **{"as": "letter"})
        talk.need_refusal("read", path=self.letter)

    def relaunch(self, talk: Conversation) -> None:
        self.documents(talk)
        self.launch(talk)
        talk.need_text(self.container + "/note", "mine")

    def tear_down(self, talk: Conversation) -> None:
        talk.need("tearDown")
        if processes_of(talk.folder) or mounts_of(talk.folder) or os.listdir(talk.folder):
            talk.check_left()
        # The next scenario can follow.
        talk.begin()
        talk.need("launch", app="viewer")
        talk.need("tearDown")
        talk.leave()
        talk.check_left()

    def whole(self, talk: Conversation) -> None:
        if not self.step("setUp", talk.begin):
            return
        self.documents(talk)
        if self.step("launch", lambda: self.launch(talk)):
            if self.has("container"):
                self.step("write", lambda: self.write(talk))
            self.step("read", lambda: self.read(talk))
            self.step("beside", lambda: self.beside(talk))
            if self.fixed:
                self.step("read-only", lambda: self.read_only(talk))
            if self.has("later"):
                self.step("later", lambda: self.later(talk))
            if self.has("revoke"):
                self.step("revoke", lambda: self.revoke(talk))
            self.step("kill", lambda: talk.need("end", app="editor", how="kill"))
            kept = dict(self.results)
            if self.step("relaunch", lambda: self.relaunch(talk)):
                self.step("close", lambda: talk.need("end", app="editor", how="close"))
            # The second round of grants says nothing new of these.
            self.results.update({name: kept[name] for name in ("file", "folder", "read-only") if name in kept})
        self.step("tearDown", lambda: self.tear_down(talk))

    def interrupted(self, talk: Conversation, end: Callable[[Conversation], None]) -> None:
        talk.begin()
        talk.need("launch", app="editor")
        end(talk)
        talk.leave()
        talk.check_left()


def report(tests: List[Test]) -> None:
    present = [test for test in tests if not test.absent]
    rows = [["adapter", "version", *STEPS, "launch"]]
    for test in present:
        steps = [test.results.get(step, "-") for step in STEPS]
        rows.append([test.name, test.version, *steps, f"{test.launch_time * 1000:.0f} ms"])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
    for test in present:
        print(f"{test.name}: {', '.join(test.capabilities)}")
    for test in tests:
        if test.absent:
            print(f"{test.name}: absent: {test.absent}")
    for test in tests:
        for reason in test.reasons:
            print(reason)


def main() -> int:
    arguments = argparse.ArgumentParser(description="Holds each adapter one full conversation.")
    arguments.add_argument("--agent", default=AGENT)
    arguments.add_argument("adapters", nargs="*")
    chosen = arguments.parse_args()
    names = chosen.adapters or sorted(
        name for name in os.listdir(ADAPTERS) if os.access(os.path.join(ADAPTERS, name), os.X_OK) and "." not in name)
    tests = []
    for name in names:
        test = Test(name if "/" in name else os.path.join(ADAPTERS, name), os.path.realpath(chosen.agent))
        test.run()
        tests.append(test)
    report(tests)
    return 1 if any(test.reasons for test in tests) else 0


if __name__ == "__main__":
    sys.exit(main())
