#!/usr/bin/env python3
"""Draws thumbnails of documents, and by programs, that mean harm: each is contained, and each has its cause.

  thumbnails-test.py AMBIT [--verbose]

AMBIT is the program. Everything is made in a folder of its own, which goes at the end. Each case says which layer is expected to stop it
(document, choice, program, picture), a part of the cause, or “drawn” where a picture is right. Afterwards nothing that a case
should not reach may have changed, and no process, container or grant may be left.
"""
import glob
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

ambit = os.path.abspath(sys.argv[1])
verbose = "--verbose" in sys.argv
base = tempfile.mkdtemp(prefix="ambit-thumbnails-")
docs, data = os.path.join(base, "docs"), os.path.join(base, "data")
os.makedirs(os.path.join(data, "thumbnailers"))
os.makedirs(docs)
environment = dict(os.environ, AMBIT_HOME=os.path.join(base, "ambit"), XDG_CACHE_HOME=os.path.join(base, "cache"),
                   XDG_DATA_HOME=data, HOME=base)
secret = os.path.join(base, "secret")
with open(secret, "w") as file:
    file.write("untouched")


def chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def png(width, height, body=None, more=b""):
    body = zlib.compress(b"".join(b"\0" + bytes(width * 3) for _ in range(height))) if body is None else body
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) + more
            + chunk(b"IDAT", body) + chunk(b"IEND", b""))


def bmp(width, height, content=b""):
    return b"BM" + struct.pack("<IHHI", 54 + len(content), 0, 0, 54) + struct.pack(
        "<IiiHHIIiiII", 40, width, height, 1, 24, 0, 0, 0, 0, 0, 0) + content


def svg(body, attributes='width="10" height="10"', before=""):
    return (f'<?xml version="1.0"?>{before}<svg xmlns="http://www.w3.org/2000/svg" '
            f'xmlns:xlink="http://www.w3.org/1999/xlink" {attributes}>{body}</svg>').encode()


bomb = "<!DOCTYPE svg [" + '<!ENTITY a0 "aaaaaaaaaa">' + "".join(
    f'<!ENTITY a{n} "{"&a%d;" % (n - 1) * 10}">' for n in range(1, 10)) + "]>"
good = png(4, 4)

# Documents for the system's own programs: name, content. The outcome is one of those named; nothing else may happen.
images = [
    ("giant.png", png(60000, 60000, zlib.compress(b"\0" * 1000))),
    ("wide.png", png(2147483647, 1, zlib.compress(b"\0"))),
    ("bomb.png", png(20000, 20000, zlib.compress(b"\0" * (20000 * 100)))),
    ("empty.png", b""),
    ("short.png", good[:20]),
    ("noise.png", b"\x89PNG\r\n\x1a\n" + os.urandom(4000)),
    ("crc.png", good[:30] + b"\xff" + good[31:]),
    ("texts.png", png(4, 4, more=b"".join(chunk(b"tEXt", b"k\0" + b"v" * 1000) for _ in range(500)))),
    ("ztxt.png", png(4, 4, more=chunk(b"zTXt", b"k\0\0" + zlib.compress(b"\0" * (64 << 20))))),
    ("iccp.png", png(4, 4, more=chunk(b"iCCP", b"k\0\0" + zlib.compress(b"\0" * (64 << 20))))),
    ("zero.png", png(0, 0, zlib.compress(b"\0"))),
    ("giant.bmp", bmp(40000, 40000)),
    ("negative.bmp", bmp(-5, -5, bytes(100))),
    ("short.bmp", bmp(100, 100)),
    ("giant.gif", b"GIF89a" + struct.pack("<HHBBB", 65535, 65535, 0x80, 0, 0) + bytes(6) + b"\x2c"
     + struct.pack("<HHHHB", 0, 0, 65535, 65535, 0) + b"\x02\x02\x44\x01\x00\x3b"),
    ("frames.gif", b"GIF89a" + struct.pack("<HHBBB", 2000, 2000, 0x80, 0, 0) + bytes(6)
     + (b"\x2c" + struct.pack("<HHHHB", 0, 0, 2000, 2000, 0) + b"\x02\x02\x44\x01\x00") * 2000 + b"\x3b"),
    ("loop.gif", b"GIF89a" + bytes(2000)),
    ("noise.jpg", b"\xff\xd8\xff\xe0" + os.urandom(5000)),
    ("giant.jpg", b"\xff\xd8\xff\xc0\x00\x11\x08\xff\xff\xff\xff\x03\x01\x22\x00\x02\x11\x01\x03\x11\x01\xff\xd9"),
    ("empty.jpg", b"\xff\xd8\xff\xd9"),
    ("loop.tiff", b"II*\0\x08\0\0\0\x00\x00\x08\0\0\0"),
    ("giant.tiff", b"II*\0\x08\0\0\0" + struct.pack("<H", 2) + struct.pack("<HHII", 256, 4, 1, 0xFFFFFFF0)
     + struct.pack("<HHII", 257, 4, 1, 0xFFFFFFF0) + bytes(4)),
    ("noise.ico", b"\0\0\1\0\xff\xff" + os.urandom(2000)),
    ("giant.pnm", b"P6 99999 99999 255\n"),
    ("short.ppm", b"P6 10 10 255\n" + bytes(5)),
    ("nested.xpm", b"/* XPM */\nstatic char *x[] = {\n\"60000 60000 2 1\",\n\"a c #000\",\n};"),
    ("bomb.svg", svg("<text>&a9;</text>", before=bomb)),
    ("self.svg", svg('<g id="a"><use xlink:href="#a"/></g><use xlink:href="#a"/>')),
    ("uses.svg", svg("".join(
        f'<g id="g{n}">' + f'<use xlink:href="#g{n - 1}"/>' * 20 + "</g>" for n in range(1, 12))
        + '<g id="g0"><rect width="1" height="1"/></g><use xlink:href="#g11"/>')),
    ("deep.svg", svg("<g>" * 100000 + "</g>" * 100000)),
    ("giant.svg", svg("", 'width="1e9" height="1e9"')),
    ("nan.svg", svg('<rect width="NaN" height="1e999"/>', 'width="NaN" height="-1"')),
    ("file.svg", svg(f'<image width="9" height="9" xlink:href="file://{secret}"/>')),
    ("entity.svg", svg("<text>&x;</text>", before=f'<!DOCTYPE svg [<!ENTITY x SYSTEM "file://{secret}">]>')),
    ("http.svg", svg('<image width="9" height="9" xlink:href="http://127.0.0.1:1/x.png"/>')),
    ("filter.svg", svg(
        '<filter id="f"><feGaussianBlur stdDeviation="99999"/></filter><rect filter="url(#f)" width="9999" height="9999"/>',
        'width="9999" height="9999"')),
    ("css.svg", svg("<style>" + "a{}" * 200000 + "</style>")),
    ("binary.svg", os.urandom(3000)),
]

# Programs: what they do with the document $1 and the picture $2, and what has to come of it.
programs = [
    ("good", 'cp "$1" "$2"', "drawn", None),
    ("nothing", "true", "picture", "wrote none"),
    ("fails", "echo 'cannot draw' >&2; exit 3", "program", "cannot draw"),
    ("signal", "kill -SEGV $$", "program", "signal 11"),
    ("sleeps", "sleep 60", "program", "time was over"),
    ("spins", "while :; do :; done", "program", None),
    ("forks", "f() { f | f & }; f; sleep 60", "program", None),
    ("background", 'sleep 1000 & cp "$1" "$2"', "drawn", None),
    ("stops", "kill -STOP $$", "program", "time was over"),
    ("eats", "python3 -c 'x = []\nwhile True: x.append(bytearray(1 << 24))'", "program", None),
    ("fills", 'cat /dev/zero > "$2"', "program", None),
    ("files", "i=0; while :; do : > ~/tmp/$i; i=$((i + 1)); done", "program", None),
    ("large", 'head -c 9000000 /dev/zero > "$2"', "picture", "larger than"),
    ("text", 'echo hello > "$2"', "picture", "no PNG"),
    ("link", f'ln -s {secret} "$2"', "picture", "wrote none"),
    ("linkfolder", f'rm -rf ~/tmp; ln -s {base} ~/tmp', "picture", "wrote none"),
    ("fifo", 'mkfifo "$2"', "picture", None),
    ("folder", 'mkdir "$2"', "picture", None),
    ("device", 'mknod "$2" c 1 5', "program", None),
    ("huge", f"printf '{''.join(chr(92) + format(b, '03o') for b in png(5000, 1, zlib.compress(bytes(15001))))}' > \"$2\"",
     "picture", "5000"),
    ("damaged", 'head -c 40 "$1" > "$2"', "picture", "damaged"),
    ("secret", f'cat {secret} > "$2"', "program", None),
    ("writes", 'echo x > "$1"', "program", "Read-only"),
    ("network", "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", 1), 2)'", "program", None),
    ("broker", 'ambitctl pick', "program", None),
    ("remembers", 'echo x > ~/seen; cp "$1" "$2"', "drawn", None),
    ("recalls", 'cat ~/seen > "$2"', "program", None),
    ("speaks", "head -c 100000000 /dev/zero >&2; exit 1", "program", None),
    ("escapes", "printf '\\033[2J\\033]0;owned\\007' >&2; exit 1", "program", None),
    ("absent", None, "choice", "no program here draws"),
]

cases = []
for name, content in images:
    with open(os.path.join(docs, name), "wb") as file:
        file.write(content)
    cases.append((name, None, None))
for name, script, layer, cause in programs:
    kind = f"application/x-harm-{name}"
    path = os.path.join(docs, f"document.harm{name}")
    with open(path, "wb") as file:
        file.write(good)
    os.makedirs(os.path.join(data, "mime", "packages"), exist_ok=True)
    with open(os.path.join(data, "mime", "packages", f"{name}.xml"), "w") as file:
        file.write(f'<?xml version="1.0"?><mime-info xmlns="http://www.freedesktop.org/standards/shared-mime-info">'
                   f'<mime-type type="{kind}"><glob pattern="*.harm{name}"/></mime-type></mime-info>')
    if script is not None:
        program = os.path.join(data, f"draw-{name}")
        with open(program, "w") as file:
            file.write(f"#!/bin/sh\n{script}\n")
        os.chmod(program, 0o755)
        with open(os.path.join(data, "thumbnailers", f"{name}.thumbnailer"), "w") as file:
            file.write(f"[Thumbnailer Entry]\nExec={program} %i %o\nMimeType={kind};\n")
    cases.append((f"document.harm{name}", layer, cause))
subprocess.run(["update-mime-database", os.path.join(data, "mime")], check=True, capture_output=True)

faults, outcomes = [], {}
for name, layer, cause in cases:
    path = os.path.join(docs, name)
    before = open(path, "rb").read()
    run = subprocess.run([ambit, "thumbnail", "--timeout", "3", "--format", "json", path], env=environment,
                         capture_output=True, timeout=120)
    try:
        answer = json.loads(run.stdout)
    except ValueError:
        faults.append(f"{name}: no answer: {run.stdout[:200]} {run.stderr[:300]}")
        continue
    seen = answer.get("layer", "drawn")
    outcomes[seen] = outcomes.get(seen, 0) + 1
    if verbose:
        print(f"{name:28} {seen:8} {answer.get('cause', '')[:110]}")
    if layer and seen != layer or cause and cause not in answer.get("cause", ""):
        faults.append(f"{name}: expected {layer}: {cause}; seen {answer}")
    if not layer and seen not in ("drawn", "program", "picture", "choice"):
        faults.append(f"{name}: seen {answer}")
    if seen != "drawn" and not answer.get("cause"):
        faults.append(f"{name}: no cause")
    if any(ord(character) < 32 for character in answer.get("cause", "")):
        faults.append(f"{name}: the cause has control characters")
    if open(path, "rb").read() != before:
        faults.append(f"{name}: the document was changed")
if open(secret).read() != "untouched":
    faults.append("the secret was changed")
left = glob.glob(os.path.join(base, "ambit", "**", "thumbnail.r*"), recursive=True)
if left:
    faults.append(f"containers are left: {left}")
apps = subprocess.run([ambit, "app", "list"], env=environment, capture_output=True, text=True).stdout
if "thumbnail.r" in apps:
    faults.append(f"apps are left: {apps}")
subprocess.run([ambit, "broker", "stop"], env=environment, capture_output=True)
shutil.rmtree(base, ignore_errors=True)

print(f"{len(cases)} cases: " + ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items())))
for fault in faults:
    print(f"✘ {fault}")
sys.exit(1 if faults else 0)
