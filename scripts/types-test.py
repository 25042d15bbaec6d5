#!/usr/bin/env python3
"""Makes many small files, and compares the types that Ambit and GIO say they have, on the same database.

usage: types-test.py AMBIT [COUNT]

Exit status: 0, or 1 if a type differs for which no reason is known.
"""

import json
import os
import random
import subprocess
import sys
import tempfile

CONTENTS = [
    b"",
    b"some words\nand more\n",
    b"\x00\x01\x02\x03 binary",
    b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n",
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
    b"PK\x03\x04\x14\x00\x00\x00",
    b"\x1f\x8b\x08\x00\x00\x00\x00\x00",
    b"#!/bin/sh\necho\n",
    b"#!/usr/bin/python3\n",
    b"<?xml version='1.0'?>\n<svg xmlns='http://www.w3.org/2000/svg'/>\n",
    b"<!DOCTYPE html>\n<html></html>\n",
    b"GIF89a\x01\x00\x01\x00",
    b"RIFF\x00\x00\x00\x00WAVEfmt ",
    b"\x7fELF\x02\x01\x01\x00",
    b"SQLite format 3\x00",
    b"From: a@b\nSubject: c\n\n",
    b"%!PS-Adobe-3.0\n",
    b"{\"a\": 1}\n",
    b"\xef\xbb\xbfwith a byte order mark\n",
    "Grüße aus Köln\n".encode(),
]

# By design (docs/explanation/content-types.md): the MIME type that GIO says, and Ambit's answer.
KNOWN = {}  # (GIO, Ambit): reason


def names(count):
    """Names by the database's patterns, and some that it has none for."""
    patterns = []
    for folder in ("/usr/share/mime", "/usr/local/share/mime"):
        try:
            with open(f"{folder}/globs2", encoding="utf-8") as file:
                lines = [line.strip() for line in file if line[:1] != "#"]
        except OSError:
            continue
        patterns += [line.split(":")[2] for line in lines if line.count(":") >= 2]
    made = []
    for pattern in patterns:
        name = pattern.replace("*", "file").replace("[0-9]", "7").replace("[1-9]", "3").replace("?", "x")
        if "[" not in name and "/" not in name and name not in (".", ".."):
            made.append(name)
    made += ["noname", "no.such-extension", "UPPER.PNG", "x.tar.gz", "x.TAR.GZ", ".hidden", "two.txt.png", "a.b.c", "größe.txt"]
    random.Random(1).shuffle(made)
    return made[:count]


def main():
    ambit = os.path.abspath(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LC_ALL": "C.UTF-8"}
    with tempfile.TemporaryDirectory() as folder:
        environment["AMBIT_HOME"] = f"{folder}/ambit"
        files = []
        for number, name in enumerate(names(count)):
            place = f"{folder}/{number}"
            os.mkdir(place)
            with open(f"{place}/{name}", "wb") as file:
                file.write(CONTENTS[number % len(CONTENTS)])
            files.append(f"{place}/{name}")
        os.symlink("nowhere", f"{folder}/broken")
        os.mkfifo(f"{folder}/pipe")
        os.mkdir(f"{folder}/Papers")
        files += [f"{folder}/{name}" for name in ("broken", "pipe", "Papers")]
        theirs, ours = {}, {}
        for start in range(0, len(files), 200):
            part = files[start : start + 200]
            answer = subprocess.run(
                [ambit, "types", "explain", "--format", "json", *part], env=environment, stdout=subprocess.PIPE, check=True
            )
            for entry in json.loads(answer.stdout)["files"]:
                ours[entry["file"]] = entry
        for path in files:
            answer = subprocess.run(
                ["gio", "info", "-n", "-a", "standard::content-type", path], env=environment, stdout=subprocess.PIPE, check=True
            )
            for line in answer.stdout.decode().splitlines():
                if line.strip().startswith("standard::content-type:"):
                    theirs[path] = line.split(":", 3)[3].strip()
        differing, unexplained = [], 0
        for path in files:
            mine, other = ours[path].get("mimeType"), theirs.get(path)
            if mine == other:
                continue
            reason = reason_of(ours[path], other, path)
            if reason is None:
                unexplained += 1
            differing.append((os.path.basename(path), other, mine or ours[path]["type"], reason or "NOT EXPLAINED"))
        for name, other, mine, reason in differing:
            print(f"{name!r}: GIO says {other}, Ambit {mine}: {reason}")
        print(f"{len(files)} files, {len(files) - len(differing)} the same, {len(differing)} differ, {unexplained} without a reason")
        return 1 if unexplained else 0


def reason_of(entry, other, path):
    """Why Ambit says something else; None if that is a fault."""
    if entry["rule"] == "name" and os.path.isfile(path) and os.path.getsize(path) == 0 and other in ("text/plain", "application/x-zerosize"):
        return "an empty file goes by its name"
    if entry["rule"] == "dynamic":
        return "no type has the extension, so it gets one of its own"
    if other in ("application/x-zerosize", "text/plain", "application/octet-stream") and entry["rule"] == "fallback":
        return "nothing is known of it: text or octets, by another look at the bytes"
    if entry["rule"] == "name" and entry.get("mimeType") is None:
        return "a type of the system's own, which the database does not have"
    return KNOWN.get((other, entry.get("mimeType")))


if __name__ == "__main__":
    sys.exit(main())
