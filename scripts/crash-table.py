#!/usr/bin/env python3
"""Checks how everyday programs save, with `ambit crashcheck`, and prints a table (docs/how-to/check-a-save-for-crashes.md).

Programs that are not installed are left out, with a line on standard error. Nothing outside of a scratch folder is written to.

usage: crash-table.py [--ambit PROGRAM] [--states N] [--write] [NAME ...]
"""

import argparse
import json
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(ROOT, "docs/how-to/check-a-save-for-crashes.md")
BEGIN, END = "<!-- table: scripts/crash-table.py -->", "<!-- end of the table -->"
VERDICTS = ["whole-old", "whole-new", "torn", "lost", "missing"]
# Three blocks of a file system, so that a write can tear.
OLD = "".join(f"{number:04d} the old text\n" for number in range(600))
NEW = OLD.replace("old", "new")

GOOD = """
import os
with open('.t', 'w') as f:
    f.write(open('new').read()); f.flush(); os.fsync(f.fileno())
os.rename('.t', 'letter')
d = os.open('.', os.O_RDONLY); os.fsync(d)
"""
PLAIN = "open('letter', 'w').write(open('new').read())"
IN_PLACE = "import os; f = open('letter', 'r+'); f.write(open('new').read()); f.flush(); os.fsync(f.fileno())"
# Of files below /tmp vim makes no backup, unless it is told.
VIM = ["vim", "-N", "-u", "NONE", "-i", "NONE", "-n", "-es", "-c", "set backupskip="]
GIT = "git -C {} fsck --strict >&2 && git -C {} log --format=%s && git -C {} show HEAD:letter"
SQL = "sqlite3 {} 'pragma integrity_check; select count(*), sum(x) from t'"
INSERT = "insert into t select value from generate_series(1, 500)"
MAKE_TABLE = "create table t(x); insert into t select value from generate_series(1, 500)"


def case(name, tool, command, version, **more):
    return {"name": name, "tool": tool, "command": command, "version": version, **more}


CASES = [
    case("shell, `cat new >letter`", "sh", ["sh", "-c", "cat new >letter"], "sh"),
    case("shell, `cat new >>letter`", "sh", ["sh", "-c", "cat new >>letter"], "sh"),
    case("`cp new letter`", "cp", ["cp", "new", "letter"], "coreutils"),
    case("`mv new letter` (of a synced file)", "mv", ["mv", "new", "letter"], "coreutils"),
    case("`dd conv=fsync`", "dd", ["dd", "if=new", "of=letter", "bs=4k", "conv=fsync", "status=none"], "coreutils"),
    case("`sed -i`", "sed", ["sed", "-i", "s/old/new/", "letter"], "sed"),
    case("`perl -i`", "perl", ["perl", "-i", "-pe", "s/old/new/", "letter"], "perl"),
    case("Python, `open('letter', 'w')`", "python3", ["python3", "-c", PLAIN], "python"),
    case("Python, over the old text, `fsync`", "python3", ["python3", "-c", IN_PLACE], "python"),
    case("Python, new file, `fsync`, `rename`, `fsync` of the folder", "python3", ["python3", "-c", GOOD], "python"),
    case("vim, `:wq`", "vim", VIM + ["-c", "%s/old/new/", "-c", "wq", "letter"], "vim"),
    case("vim, `backupcopy=yes`", "vim", VIM + ["-c", "set backupcopy=yes", "-c", "%s/old/new/", "-c", "wq", "letter"], "vim"),
    case("vim, `backupcopy=no`", "vim", VIM + ["-c", "set backupcopy=no", "-c", "%s/old/new/", "-c", "wq", "letter"], "vim"),
    case("nano, Ctrl-S", "nano", [sys.executable, os.path.abspath(__file__), "--drive-nano"], "nano"),
    case("git commit", "git", ["git", "-C", ".", "commit", "-qam", "second"], "git", git=True),
    case("git commit, `core.fsync=all`", "git", ["git", "-C", ".", "-c", "core.fsync=all", "commit", "-qam", "second"], "git", git=True),
    case("sqlite3, rollback journal", "sqlite3", ["sqlite3", "letter", INSERT], "sqlite3", sql="delete"),
    case("sqlite3, rollback journal, `synchronous=extra`", "sqlite3", ["sqlite3", "letter", f"pragma synchronous=extra; {INSERT}"], "sqlite3", sql="delete"),
    case("sqlite3, WAL", "sqlite3", ["sqlite3", "letter", f"pragma synchronous=full; {INSERT}"], "sqlite3", sql="wal"),
    case("sqlite3, WAL, `synchronous=normal`", "sqlite3", ["sqlite3", "letter", f"pragma synchronous=normal; {INSERT}"], "sqlite3", sql="wal"),
]


def drive_nano():
    """Edits the letter on a terminal, as a person would."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ["TERM"] = "xterm"
        os.execvp("nano", ["nano", "--ignorercfiles", "letter"])
    seen = b""
    while b"the old text" not in seen:
        seen += os.read(terminal, 4096)
    os.write(terminal, b"x\x13\x18")
    try:
        while os.read(terminal, 4096):
            pass
    except OSError:
        pass
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def version(name):
    """The program's version, as it says it itself."""
    command = {"sh": ["readlink", "-f", "/bin/sh"], "coreutils": ["cp", "--version"], "python": ["python3", "--version"],
               "perl": ["perl", "-e", "print $^V"], "sqlite3": ["sqlite3", "--version"]}.get(name, [name, "--version"])
    text = subprocess.run(command, capture_output=True, text=True).stdout.strip().splitlines()[0]
    if name == "sh":
        return os.path.basename(text)
    found = re.search(r"\d+\.[\d.]*\d", text)
    return f"{name} {found.group(0) if found else text}"


def prepare(folder, each):
    def write(name, content):
        with open(os.path.join(folder, name), "w") as file:
            file.write(content)

    environment = {**os.environ, "HOME": folder, "LANG": "C.UTF-8", "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "a",
                   "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org"}
    stage = os.path.join(folder, "stage")
    os.mkdir(stage)
    if each.get("sql"):
        made = f"pragma journal_mode={each['sql']}; {MAKE_TABLE}"
        subprocess.run(["sqlite3", "letter", made], cwd=stage, env=environment, check=True, stdout=subprocess.DEVNULL)
    else:
        write("stage/letter", OLD)
        write("stage/new", NEW)
    if each.get("git"):
        os.remove(os.path.join(stage, "new"))
        for command in [["init", "-q"], ["add", "letter"], ["commit", "-qm", "first"]]:
            subprocess.run(["git"] + command, cwd=stage, env=environment, check=True)
        write("stage/letter", NEW)
    return stage, environment


def check(ambit, each, states):
    with tempfile.TemporaryDirectory(prefix="ambit-crash-table-") as folder:
        stage, environment = prepare(folder, each)
        command = [ambit, "crashcheck", "--format", "json", "--states", str(states), "--watch", "."]
        if each.get("git"):
            command += ["--reopen", GIT]
        else:
            command += ["--document", "letter"] + (["--reopen", SQL] if each.get("sql") else [])
        run = subprocess.run(command + ["--"] + each["command"], cwd=stage, env=environment, capture_output=True, text=True)
        try:
            return json.loads(run.stdout)
        except ValueError:
            sys.exit(f"crash-table: {each['name']}: {run.stderr or run.stdout}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ambit", default=os.path.join(ROOT, ".build/release/ambit"))
    parser.add_argument("--states", type=int, default=2000, help="states of each program, at most")
    parser.add_argument("--write", action="store_true", help="put the table into the page")
    parser.add_argument("--drive-nano", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*", help="only programs with one of these in their names")
    arguments = parser.parse_args()
    arguments.ambit = os.path.abspath(arguments.ambit)
    if arguments.drive_nano:
        sys.exit(drive_nano())
    rows = ["| save | version | " + " | ".join(["states"] + VERDICTS) + " |", "| --- | --- |" + " ---: |" * 6]
    for each in CASES:
        if arguments.names and not any(name in each["name"] for name in arguments.names):
            continue
        if not shutil.which(each["tool"]):
            print(f"crash-table: {each['tool']} is not here", file=sys.stderr)
            continue
        result = check(arguments.ambit, each, arguments.states)
        for gap in result["incomplete"]:
            print(f"crash-table: {each['name']}: {gap}", file=sys.stderr)
        counts = [str(result["verdicts"][name] or "–") for name in VERDICTS]
        states = str(result["states"]) + ("" if result["exhaustive"] else " of more")
        rows.append(f"| {each['name']} | {version(each['version'])} | " + " | ".join([states] + counts) + " |")
        print(rows[-1], flush=True) if not arguments.write else None
    if arguments.write:
        with open(PAGE) as file:
            before, rest = file.read().split(BEGIN)
        with open(PAGE, "w") as file:
            file.write(before + BEGIN + "\n" + "\n".join(rows) + "\n" + END + rest.split(END)[1])


main()
