#!/usr/bin/env python3
"""Takes the first lesson in a terminal, as a learner does: reads the task, does it, makes a mistake on the way.

usage: lesson-drive.py AMBIT [--times N]

Without --times the screen is checked. With it the lesson is taken N times, and two figures are printed: milliseconds until the first
task stands on the screen, and milliseconds from the learner's Enter to the lesson's answer.
"""
import os
import pty
import re
import select
import shutil
import statistics
import sys
import tempfile
import time

PATIENCE = 30.0


class Terminal:
    """A program in a pseudo-terminal, and everything that it has shown."""

    def __init__(self, words, environment):
        self.shown = ""
        self.process, self.master = pty.fork()
        if self.process == 0:
            os.execvpe(words[0], words, environment)

    def type(self, text):
        self.mark = len(self.shown)
        os.write(self.master, (text + "\r").encode())

    def wait(self, pattern, since=None):
        """Milliseconds until the pattern is shown, after what was typed last."""
        start = time.monotonic()
        while True:
            found = re.search(pattern, plain(self.shown[self.mark if since is None else since:]))
            if found:
                return (time.monotonic() - start) * 1000, found
            if time.monotonic() - start > PATIENCE:
                sys.exit(f"lesson: {pattern!r} did not appear; the screen had:\n{plain(self.shown)[-2000:]}")
            if select.select([self.master], [], [], 0.005)[0]:
                try:
                    self.shown += os.read(self.master, 65536).decode(errors="replace")
                except OSError:
                    time.sleep(0.01)

    def end(self):
        os.close(self.master)
        _, status = os.waitpid(self.process, 0)
        return os.waitstatus_to_exitcode(status)


def plain(text):
    """The text without escape sequences; lines that were wrapped are put together."""
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b[=>]|\r", "", text)
    return text


def take(ambit, home):
    environment = {
        "PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": home, "TERM": "xterm-256color", "LANG": "C.UTF-8",
        "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")),
    }
    terminal = Terminal([ambit, "lesson", "open", "1"], environment)
    terminal.mark = 0
    start, _ = terminal.wait(r"▸ [\s\S]*app\$ ", since=0)
    path = re.search(r"(/\S+/home/Letter\.txt)", plain(terminal.shown)).group(1)
    # A mistake, and the hint that fits it.
    terminal.type("cat Letter.txt")
    wrong, _ = terminal.wait(r"\? That looks")
    terminal.wait(r"app\$ ")
    terminal.type(f"cat {path}")
    right, _ = terminal.wait(r"✓ ")
    terminal.wait(r"▸ [\s\S]*app\$ ")
    terminal.type(f"echo hello > {os.path.dirname(path)}/note.txt")
    terminal.wait(r"✓ ")
    terminal.wait(r"▸ [\s\S]*app\$ ")
    terminal.type("echo hello > ~/Documents/note.txt")
    terminal.wait(r"✓ ")
    return terminal, start, max(wrong, right)


def main():
    ambit = os.path.abspath(sys.argv[1])
    times = int(sys.argv[3]) if sys.argv[2:3] == ["--times"] else 1
    starts, reactions = [], []
    for _ in range(times):
        home = tempfile.mkdtemp(prefix="ambit-lesson-")
        try:
            terminal, start, reaction = take(ambit, home)
            starts.append(start)
            reactions.append(reaction)
            if times == 1:
                terminal.wait(r"Done: ")
            else:
                terminal.type("exit")
            status = terminal.end()
            if times == 1 and status != 0:
                sys.exit(f"lesson: it ended with status {status}")
        finally:
            shutil.rmtree(home, ignore_errors=True)
    if times > 1:
        print(f"lesson: first task on the screen   {statistics.median(starts):6.0f} ms (aim: 300)")
        print(f"lesson: answer to what was done    {statistics.median(reactions):6.0f} ms (aim: 200)")
    else:
        print("lesson: the first one can be taken")


main()
