#!/usr/bin/env python3
"""Carries out what pages tell their readers to write: each block behind `<!-- file: NAME -->` is written to that file, and used.

usage: howto-test.py AMBIT
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

PAGES = {
    "docs/tutorial/first-scenario.md": ["scenario", "run", "{file}"],
    "docs/how-to/write-a-lesson.md": ["lesson", "check", "{file}"],
    "docs/how-to/add-your-system.md": [
        "conform", "--under", "{name}", "--adapter", "{name}={file}", "--filter", "SBX-2-", "--user", "root" if os.geteuid() == 0 else "all"],
}
BLOCK = re.compile(r"<!-- file: (\S+) -->\s*```[a-z]*\n(.*?)^```", re.S | re.M)


def plain_agent(folder):
    """The agent without Swift, as scripts/conform-deps.sh builds it: a jail has no /proc to find a runtime by."""
    sources = glob.glob("Sources/CAgent/*.c") + ["Sources/agent-c/main.c"]
    subprocess.run(
        ["clang", "-O2", "-static", "-ISources/CAgent/include", *sources, "-o", os.path.join(folder, "plain-agent")], check=True)


def main():
    ambit = os.path.abspath(sys.argv[1])
    status = 0
    for page, words in PAGES.items():
        with open(page, encoding="utf-8") as file:
            blocks = BLOCK.findall(file.read())
        if not blocks:
            sys.exit(f"howto-test: {page} has no block behind <!-- file: NAME -->")
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            plain_agent(folder)
            for name, text in blocks:
                path = os.path.join(folder, name)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
                os.chmod(path, 0o755)
                # An adapter finds what all share beside it.
                environment = dict(os.environ, PYTHONPATH=os.path.abspath("Conformance/Adapters"), AMBIT_ADAPTERS=folder)
                command = [ambit] + [word.format(file=path, name=name.split(".")[0]) for word in words]
                done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
                holds = done.returncode == 0
                print(f"{'ok' if holds else 'FAILED'}  {page}: {name}")
                if not holds:
                    status = 1
                    print((done.stdout + done.stderr)[-2000:])
    sys.exit(status)


main()
