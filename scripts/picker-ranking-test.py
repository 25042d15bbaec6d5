#!/usr/bin/env python3
"""Holds the picker's filter against fzf's: the same names, in the same order.

usage: picker-ranking-test.py FOLDER-OF-PROGRAMS [--seed N] [--queries N]

It needs fzf, and drives the picker's numbered lines (ambit browse --plain). The names and queries are random; each query is held
against all names of a folder. Ambit differs on purpose in three points, which the queries leave out: a letter with an accent that
Unicode does not take apart (“ø”) is not found by the bare one, “|” is a letter like any other, and a name that is the filter itself
comes along even where the signs in it ask for something else.
"""
import argparse, os, pty, random, re, select, shutil, subprocess, sys, tempfile, termios, time

parser = argparse.ArgumentParser()
parser.add_argument("programs")
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--queries", type=int, default=2000)
options = parser.parse_args()
programs = os.path.abspath(options.programs)
fzf = shutil.which("fzf")
if not fzf: raise SystemExit("picker-ranking-test: fzf is missing (Debian: apt-get install fzf)")
version = subprocess.run([fzf, "--version"], capture_output=True, text=True).stdout.strip()

LETTERS = "aabbcoteABTé1207  --__..,;:'!^$#(日"
WORDS = ["notes", "Letter", "fooBar", "draft", "2024", "v2", "photo", "IMG", "final", "copy", "txt", "md", "été", "Ö", "日本"]
JOINS = ["", "-", "_", ".", " ", ",", ":", "  "]


def name(chance):
    if chance.random() < 0.5: return "".join(chance.choice(LETTERS) for _ in range(chance.randint(1, 16)))
    return "".join(chance.choice(WORDS) + chance.choice(JOINS) for _ in range(chance.randint(1, 4)))


def word(chance, names):
    source = chance.choice(names)
    start = chance.randrange(len(source))
    text = source[start : start + chance.randint(1, 8)]
    if chance.random() < 0.5: text = "".join(letter for letter in text if chance.random() < 0.6)
    if chance.random() < 0.5: text = text.lower()
    if chance.random() < 0.1: text = "".join(chance.choice(LETTERS) for _ in range(chance.randint(1, 3)))
    text = text.replace(" ", "\\ " if chance.random() < 0.3 else " ")
    return chance.choice(["", "", "", "", "'", "^", "!", "!^", "!'"]) + text + chance.choice(["", "", "", "", "", "$"])


class Lines:
    """ambit browse --plain in a terminal."""

    def __init__(self, folder, home):
        self.master, slave = pty.openpty()
        settings = termios.tcgetattr(slave)
        settings[3] &= ~termios.ECHO
        termios.tcsetattr(slave, termios.TCSANOW, settings)
        environment = {"HOME": home, "PATH": os.environ["PATH"], "TERM": "xterm", "LC_ALL": "C.UTF-8"}
        for name in ("XDG_STATE_HOME", "XDG_RUNTIME_DIR"):
            environment[name] = f"{home}/{name}"
            os.makedirs(environment[name], mode=0o700, exist_ok=True)
        def prepare():
            os.setsid()
            import fcntl
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        self.process = subprocess.Popen(
            [f"{programs}/ambit", "browse", "--plain", folder], stdin=slave, stdout=slave, stderr=slave, env=environment,
            preexec_fn=prepare)
        os.close(slave)
        self.rest = ""
        self.heard = b""

    def hear(self):
        """To the next question."""
        end = time.monotonic() + 60
        while not self.heard.endswith(b"? for help: "):
            if not select.select([self.master], [], [], max(0, end - time.monotonic()))[0]:
                raise SystemExit(f"picker-ranking-test: the picker is silent after {self.heard[-300:]!r}")
            self.heard += os.read(self.master, 1 << 16)
        text, self.heard = self.heard.decode().replace("\r", ""), b""
        return text.split("\n")

    def rows(self, lines):
        found, more = [], False
        for line in lines:
            if row := re.fullmatch(r"(\d+) (.*), \d+ B", line): found.append(row[2])
            more |= line.endswith(" more: press Enter.")
        return found + (self.rows(self.say("")) if more else [])

    def say(self, line):
        os.write(self.master, line.encode() + b"\n")
        return self.hear()

    def end(self):
        os.write(self.master, b"q\n")
        self.process.wait(60)
        os.close(self.master)


chance = random.Random(options.seed)
wrong = asked = pairs = answers = 0
home = tempfile.mkdtemp(prefix="ambit-ranking-")
try:
    while asked < options.queries:
        folder = f"{home}/names-{asked}"
        os.mkdir(folder)
        for made in {name(chance) for _ in range(60)} - {".", ".."}:
            # Names that begin with a dot are hidden, or not, by the filter.
            if not made.startswith("."): open(f"{folder}/{made}", "w").close()
        lines = Lines(folder, home)
        order = lines.rows(lines.hear())
        if sorted(order) != sorted(os.listdir(folder)): raise SystemExit("picker-ranking-test: the list is not the folder's")
        for _ in range(min(50, options.queries - asked)):
            query = " ".join(word(chance, order) for _ in range(chance.choice([1, 1, 1, 2, 3])))
            # Lines that are no filters: numbers, paths, answers; and names that are the query, see above.
            if re.fullmatch(r"[-\d ,]*|q|x|\?|\.\..*|\.[ho]|[/~+].*", query) or query in order or "|" in query: continue
            # A dot shows hidden names, and a hash looks for tags.
            if query.endswith("\\") or query.startswith((".", "^.", "'.", "#", "tag:")): continue
            asked += 1
            pairs += len(order)
            wanted = subprocess.run(
                [fzf, "--filter", query], input="\n".join(order) + "\n", capture_output=True, text=True,
                env={"LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"]}).stdout.split("\n")[:-1]
            found = lines.rows(lines.say(query))
            answers += len(wanted)
            if found != wanted:
                wrong += 1
                if wrong <= 10:
                    print(f"FAILED  {query!r}\n  fzf   {wanted}\n  Ambit {found}")
        lines.end()
        shutil.rmtree(folder)
finally:
    shutil.rmtree(home, ignore_errors=True)
print(f"fzf {version}: {asked} queries, {pairs} pairs of a name and a query, {answers} matches: {wrong} queries answered otherwise")
sys.exit(wrong != 0)
