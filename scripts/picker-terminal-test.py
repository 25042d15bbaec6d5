#!/usr/bin/env python3
"""Presses keys in the full-screen picker and reads its screen: in tmux, and in a terminal of its own with pyte for eyes.

usage: picker-terminal-test.py FOLDER-OF-PROGRAMS [--quick]

It needs tmux and the Python package pyte. Keys and screens are tried at two sizes, with colours and without; then a hundred
thousand names that mean harm are paged through (--quick: ten thousand), and terminals that answer no query. Lines that begin
with “apart” are no failures: there the tables of widths of the picker and of Python's wcwidth differ, and the row stays a row.
"""
import collections, fcntl, itertools, multiprocessing, os, random, re, select, shlex, shutil, signal, struct, subprocess, sys, tempfile, termios
import time, unicodedata, zlib

try:
    import pyte
    from wcwidth import wcwidth
except ImportError:
    raise SystemExit("picker-terminal-test: the Python package pyte is missing (pip install pyte)")
words = [word for word in sys.argv[1:] if word != "--quick"]
if len(words) != 1:
    raise SystemExit("usage: picker-terminal-test.py FOLDER-OF-PROGRAMS [--quick]")
PROGRAMS = os.path.abspath(words[0])
QUICK = "--quick" in sys.argv
PANES = [(80, 24, True), (80, 24, False), (200, 50, True), (200, 50, False)][::3 if QUICK else 1]
NAMES, PER_FOLDER = (10_000 if QUICK else 100_000), 2_000
AGE = time.time() - 3.5 * 86400  # “3 days ago”, for as long as this runs
started = time.monotonic()
failures = 0


def check(holds, claim, found=None):
    global failures
    print(("ok      " if holds else "FAILED  ") + claim + ("" if holds or found is None else f": {found}"), flush=True)
    failures += not holds
    return holds


def part(text):
    print(f"{text} ({time.monotonic() - started:.0f} s)", flush=True)


# --- A terminal of our own -------------------------------------------------------------------------------------------------------

WIDTHS = {}


def width(character):
    if character not in WIDTHS: WIDTHS[character] = wcwidth(character)
    return WIDTHS[character]


class Emulator(pyte.Screen):
    """pyte's screen; pyte itself drops the rest of a line at a character without width."""

    def __init__(self, columns, rows):
        self.looks = {}
        super().__init__(columns, rows)
        self.wrapped = 0
        self.stray = 0

    def draw(self, data):
        line, attributes = self.buffer[self.cursor.y], self.cursor.attrs[1:]
        wraps = pyte.modes.DECAWM in self.mode
        cells = self.looks.setdefault(attributes, {})
        for character in data:
            columns = width(character)
            if columns < 1:
                if self.cursor.x == 0:
                    self.stray += 1
                    continue
                at = self.cursor.x - 1
                if not line[at].data and at: at -= 1
                line[at] = line[at]._replace(data=line[at].data + character)
                continue
            if self.cursor.x + columns > self.columns:
                if wraps:
                    self.wrapped += 1
                    self.carriage_return()
                    self.linefeed()
                    line = self.buffer[self.cursor.y]
                else:
                    self.cursor.x = self.columns - columns
            if not (cell := cells.get(character)): cell = cells[character] = pyte.screens.Char(character, *attributes)
            line[self.cursor.x] = cell
            if columns == 2: line[self.cursor.x + 1] = pyte.screens.Char("", *attributes)
            self.cursor.x += columns

    def row(self, index):
        line = self.buffer[index]
        return "".join([line[column].data for column in range(self.columns)])


def scalars(*categories):
    return {chr(code) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) in categories}


TOKEN = re.compile(r"\x1b\[(?P<row>\d+);1H|\x1b\[K|\x1b\[2J|\x1b\[(?P<style>[\d;]*)m|(?P<text>[^\x00-\x1f\x7f-\x9f]+)")
UNSEEN = scalars("Cc", "Cf", "Cs", "Zl", "Zp")
# U+1171E has become a spacing mark in Unicode 15.1; Python may not know that yet.
RAISED = scalars("Mn", "Me") - {"\U0001171e"}
TOWER = re.compile("[" + "".join(sorted(RAISED)) + "]{5}")
OPENING, OPENED, CLOSING = b"\x18\x1b\\", b"\x1b[?1000;1006h", b"\x1b[?1000;1006l"


def modes(data, before={7: True, 25: True}):
    """The private modes after these bytes."""
    now = dict(before)
    for numbers, final in re.findall(rb"\x1b\[\?([\d;]+)([hl])", data):
        for number in numbers.split(b";"): now[int(number)] = final == b"h"
    return {number for number, isOn in now.items() if isOn}


class Terminal:
    """A picker in a terminal that never answers anything."""
    all = []

    def __init__(self, world, folder, *options, columns=80, rows=24, term="xterm-256color", extra={}, app=None):
        self.master, slave = os.openpty()
        self.columns, self.rows = columns, rows
        self.resize(columns, rows)
        self.before = termios.tcgetattr(slave)
        self.slave = slave
        environment = dict(world.environment, TERM=term, **extra)
        self.asked = time.monotonic()
        self.answer, answer = os.pipe()
        self.process = subprocess.Popen(
            [f"{PROGRAMS}/ambit", "run", "--", *([app] if app else [f"{PROGRAMS}/ambitctl", "pick", *options])],
            cwd=folder, env=environment, stdin=slave, stdout=answer, stderr=slave, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(slave, termios.TIOCSCTTY, 0))
        os.close(answer)
        Terminal.all.append(self.process)
        self.raw = b""
        self.times = []  # how many bytes there were before each piece, and when it came

    def resize(self, columns, rows):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def press(self, keys):
        os.write(self.master, keys)

    def take(self, seconds):
        """What the terminal gets within that time; nothing at the end."""
        if not select.select([self.master], [], [], seconds)[0]: return b""
        try: data = os.read(self.master, 1 << 16)
        except OSError: return b""
        if data: self.times.append((len(self.raw), time.monotonic()))
        self.raw += data
        return data

    def isIdle(self):
        try:
            with open(f"/proc/{self.process.pid}/stat") as file: return file.read().rsplit(")", 1)[1].split()[0] == "S"
        except OSError: return True

    def settle(self, patience=3.0):
        """Reads until the picker waits again; so long at most, if it has nothing to say."""
        got, end = b"", time.monotonic() + patience
        while time.monotonic() < end:
            data = self.take(0.002 if got else 0.01)
            got += data
            if got and not data and self.isIdle(): break
        return got

    def wait(self, pattern, seconds=30):
        """Until the bytes have this."""
        end = time.monotonic() + seconds
        while not re.search(pattern, self.raw, re.S):
            if time.monotonic() > end or (not self.take(0.2) and self.process.poll() is not None):
                raise SystemExit(f"picker-terminal-test: {pattern!r} does not come; there is {self.raw[-300:]!r}")

    def frame(self):
        """The first frame, whole: the last line has been drawn."""
        self.wait(re.escape(OPENED) + rb".*\x1b\[%d;1H\x1b\[K[^\x1b]*\x1b?[^\n]" % self.rows)
        self.settle(0.3)

    def end(self, seconds=30):
        """The app's status and its output."""
        end = time.monotonic() + seconds
        while self.process.poll() is None and time.monotonic() < end: self.take(0.05)
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(30)
            raise SystemExit("picker-terminal-test: the app does not end")
        while self.take(0.05): pass
        output = b""
        while data := os.read(self.answer, 4096): output += data
        self.after = termios.tcgetattr(self.slave)
        for number in (self.master, self.slave, self.answer): os.close(number)
        return self.process.returncode, output.decode()


class Reader:
    """Reads the picker's bytes strictly: places, styles and text, and nothing else; and has pyte draw them."""

    def __init__(self, columns=80, rows=24):
        self.screen = Emulator(columns, rows)
        self.screen.reset_mode(25, 7, private=True)
        self.rest = b""
        self.styles, self.sequences, self.problems = set(), set(), []
        self.texts, self.drawn = {}, set()
        self.at = None
        self.text = ""

    def problem(self, what, where):
        if len(self.problems) < 20: self.problems.append(f"{what}: {where!r}")

    def feed(self, data):
        data = self.rest + data
        # Half a character, or half a sequence, waits for the rest.
        cut = len(data)
        escape = data.rfind(b"\x1b")
        if escape >= 0 and not re.match(rb"\x1b\[[\d;]*[A-Za-z]|\x1b[^\[]", data[escape:]): cut = escape
        else:
            for back in range(1, min(4, cut) + 1):
                byte = data[-back]
                if byte < 0x80: break
                if byte >= 0xC0:
                    if back < (2 if byte < 0xE0 else 3 if byte < 0xF0 else 4): cut -= back
                    break
        data, self.rest = data[:cut], data[cut:]
        try: text = data.decode()
        except UnicodeDecodeError as error:
            self.problem("no UTF-8", data[max(0, error.start - 40):error.end + 40])
            text = data.decode(errors="replace")
        at = 0
        while at < len(text):
            token = TOKEN.match(text, at)
            if not token:
                self.problem("a control of a stranger's", text[max(0, at - 60):at + 40])
                at += 1
                continue
            at = token.end()
            if token["text"] is not None:
                self.text += token["text"]
                self.screen.draw(token["text"])
                if not token["text"].isascii():
                    if found := UNSEEN.intersection(token["text"]):
                        self.problem(f"U+{ord(min(found)):04X} is drawn", token["text"])
                    if not RAISED.isdisjoint(token["text"]) and TOWER.search(token["text"]): self.problem("five marks on a character", token["text"])
            elif token["row"]:
                self.finish()
                self.text = ""
                self.at = int(token["row"]) - 1
                if self.at >= self.screen.lines: self.problem("a row below the screen", token[0])
                self.screen.cursor_position(self.at + 1, 1)
            elif token["style"] is not None:
                self.styles.add(token["style"])
                self.screen.select_graphic_rendition(*[int(number or 0) for number in token["style"].split(";")])
            else:
                self.sequences.add(token[0][1:])
                if token[0] == "\x1b[K": self.screen.erase_in_line(0)
                else: self.screen.erase_in_display(2)
        if self.screen.cursor.y != (self.at or 0): self.problem("the cursor has left its row", self.text)

    def finish(self):
        if self.at is not None:
            self.texts[self.at] = self.text
            self.drawn.add(self.at)

    def state(self):
        screen = self.screen
        return (screen.cursor.hidden, frozenset(screen.mode), screen.title, screen.icon_name, screen.margins, screen.charset,
                screen.wrapped)


# --- Names -----------------------------------------------------------------------------------------------------------------------

dice = random.Random(25)
pick = dice.choice
some = lambda low, high: dice.randint(low, high)
joined = lambda alphabet, low=1, high=12: "".join(pick(alphabet) for _ in range(some(low, high)))
characters = lambda *ranges: [chr(code) for low, high in ranges for code in range(low, high + 1)]
LETTERS = characters((0x41, 0x5A), (0x61, 0x7A))
C0, C1 = [chr(code) for code in range(1, 0x20)], characters((0x80, 0x9F))
BIDI = characters((0x202A, 0x202E), (0x2066, 0x2069), (0x200E, 0x200F)) + ["\u061c"]
UNSEEN_ONES = (characters((0x200B, 0x200D), (0x2060, 0x2064), (0x206A, 0x206F), (0xFE00, 0xFE0F), (0xE0020, 0xE007F), (0xE0100, 0xE010F),
                          (0xFFF9, 0xFFFB)) + list("\ufeff\u00ad\u034f\u180e\u3164\uffa0\u115f\u1160\u2800\u00a0\u2028\u2029\U0001d173"))
MARKS = [chr(code) for code in range(0x300, 0x20000) if unicodedata.category(chr(code)) in ("Mn", "Me")] + characters((0x20D0, 0x20E4))
WIDE = characters((0x3041, 0x3096), (0x4E00, 0x4EFF), (0xAC00, 0xACFF), (0xFF01, 0xFF5E), (0x1100, 0x1112), (0x1161, 0x1175),
                  (0x11A8, 0x11C2), (0x20000, 0x20080), (0x1F900, 0x1F9FF), (0x2329, 0x232A), (0x3000, 0x3003))
RIGHT_TO_LEFT = characters((0x5D0, 0x5EA), (0x620, 0x64A), (0x64B, 0x652), (0x660, 0x669), (0x710, 0x72F), (0x7C0, 0x7EA), (0x1E900, 0x1E943),
                           (0x600, 0x605), (0xFDF0, 0xFDFD))
EMOJI = characters((0x1F600, 0x1F64F), (0x1F466, 0x1F469), (0x2600, 0x2610), (0x1F1E6, 0x1F1FF), (0x1F3FB, 0x1F3FF)) + list("❤☺0#*©™♂♀⚕")
FINALS = "ABCDEFGHIJKLMPSTXZ@`abcdefghilmnpqrstuwxyz{|}~"


def sequence():
    parameters = ";".join(str(pick([0, 1, 2, 5, 7, 10, 24, 25, 31, 80, 1000, 1006, 1049, 2004, 99999])) for _ in range(some(0, 3)))
    introducer = pick(["\x1b[", "\x1b[", "\x9b", "\x1b[?", "\x1b[>", "\x1b[!", "\x1b[=", "\x1b[<"])
    return pick([introducer + parameters + pick(["", "", " ", "$", "'", "\""]) + pick(FINALS), "\x1b" + pick("c78DEHMNOZ=>#()*+%nol|}~ "),
                 "\x1b(0", "\x1b#8", "\x1bc", "\x1b[2J", "\x1b[24;1H", "\x1b[?7h", "\x1b[?25h", "\x1b[6n", "\x1b[c", "\x1b[?1049l", "\x1b"])


def message():
    body = pick(["52;c;aGFybQ==", "52;c;?", "8;;file:~", "8;id=1;http:x", "0;harm", "2;harm", "1;harm", "4;1;?", "10;?", "133;A", "777;notify;a;b",
                 "9;harm", "1337;File=:QQ==", "L harm", "50;?", "104", "P00000000"])
    return pick(["\x1b]", "\x1b]", "\x9d", "\x1bP", "\x1b_", "\x1b^", "\x1bX", "\x90", "\x9f", "\x1bk"]) + body + pick(
        ["\x07", "\x1b\\", "\x9c", "", "\x18", "\x1b"])


def brokenText():
    return b"".join(pick([bytes([some(0x80, 0xFF)]), b"\xc0\xaf", b"\xe0\x80\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"\xf0\x9f\x98", b"\xff",
                          b"\x9b2J", b"\x9d0;harm\x07", b"a", "é".encode(), "\U0010fe9b".encode(), b"\x1b\xc2", b"\xc2\x9b"]) for _ in range(some(1, 14)))


def family():
    return "\u200d".join(pick(EMOJI) + pick(["", "\ufe0f", "\ufe0e", "\U0001f3fd", "\u20e3"]) for _ in range(some(1, 5)))


def full(letters):
    text = b""
    while len(text + (more := pick(letters).encode())) <= 255: text += more
    return text


def sweep():
    """Characters one by one: first those that are not one column wide."""
    blocks = [(0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3), (0xD800, 0xF8FF), (0x17000, 0x187F7)]
    odd, usual = [], []
    for code in sorted(set(range(0xA0, 0x20000)).difference(*(range(low, high + 1) for low, high in blocks))):
        character = chr(code)
        if unicodedata.category(character) not in ("Cn", "Cf", "Cc"): (odd if wcwidth(character) != 1 else usual).append(character)
    dice.shuffle(odd), dice.shuffle(usual)
    return itertools.cycle(odd + usual)


SWEEP = sweep()
KINDS = {
    "C0": lambda: joined(C0 + LETTERS[:8]), "C1": lambda: joined(C1 + LETTERS[:8]),
    "escape sequences": lambda: "".join(pick(LETTERS) + sequence() for _ in range(some(1, 4))),
    "operating system commands": lambda: "".join(pick(LETTERS) + message() for _ in range(some(1, 3))),
    "directions": lambda: joined(BIDI + LETTERS[:12], 1, 20), "unseen characters": lambda: joined(UNSEEN_ONES + LETTERS[:8], 1, 40),
    "floods of marks": lambda: "".join(pick(LETTERS + ["", "\u0e01", "\x01", "\u200d"]) + joined(MARKS, 1, pick([6, 30, 70])) for _ in range(some(1, 3))),
    "255 bytes": lambda: full(pick([LETTERS, WIDE, MARKS, EMOJI, C0 + C1, [pick(LETTERS)], [pick(WIDE)], ["\u1161"], ["\u200d"], ["\ufe0f"]])),
    "no UTF-8": brokenText, "lines, tabs, DEL": lambda: joined(list("\n\r\t\x7f\b\f\v\x0e\x0f\x05") + LETTERS[:6], 1, 20),
    "wide": lambda: joined(WIDE, 1, 50), "emoji": lambda: "".join(family() for _ in range(some(1, 4))),
    "right to left": lambda: joined(RIGHT_TO_LEFT + [" ", "."], 1, 40),
    "one character": lambda: next(SWEEP) * 6, "one more": lambda: next(SWEEP) * 6,
    "the picker's own look": lambda: joined(["▸ ", "✓", "…", "“", "”", " → ", "/", "→", "\u3000", "   ", "3 days ago", "\\x1b[2J", "\U0010fe9b", "Esc cancel · ", "~"], 1, 9),
    "mixed": lambda: "".join(pick([joined(C0), joined(MARKS), joined(WIDE), family(), sequence(), message(), joined(BIDI), "abc"]) for _ in range(5)),
}
HARMLESS = lambda: joined(LETTERS + [" ", "-", "_"], 1, 60)


def bytesOf(text):
    return text if isinstance(text, bytes) else text.encode()


def fit(name, room):
    return name[:room].replace(b"/", b"_").replace(b"\0", b"_")


class Names:
    """Folders of names, each with a number that is found again on the screen."""

    def __init__(self, base):
        self.base = base
        self.number = 0
        self.made = {b"", b".", b".."}
        self.kinds = {}  # the kind of a number
        self.counts = collections.Counter()
        self.sweep = {}  # the one character of a number
        os.makedirs(base)

    def name(self, kind, make, ending, early):
        self.number += 1
        tag = b"%06d" % self.number
        content = bytesOf(make())
        if kind == "one character": self.sweep[self.number] = content[:len(content) // 6].decode()
        self.kinds[self.number] = kind
        self.counts[kind] += 1
        if early: return tag + b"-" + fit(content, 255 - 7 - len(ending)) + ending
        return fit(content, 255 - 7 - len(ending)) + b"-" + tag + ending

    def folder(self, count, kinds):
        """One folder of so many names, with a name of such a kind itself."""
        kind = pick([kind for kind in kinds if kind != "one more"])
        folder = self.base + b"/" + self.name(kind, kinds[kind], b"", True)
        os.mkdir(folder)
        first = self.number + 1
        turn = list(kinds.items())
        for index in range(count):
            kind, make = turn[index % len(turn)]
            if kind == "one more": kind = "one character"
            shape = some(1, 60)
            path = folder + b"/"
            if shape == 1:
                path += self.name(kind, make, b"", some(0, 1))
                os.mkdir(path)
            elif shape == 2:
                path += self.name(kind, make, b".txt", True)
                target = pick([b"nowhere-", b"/etc/", b"../", b""]) + fit(bytesOf(make()), 200)
                os.symlink(target or b"x", path)
            elif shape == 3:
                path += self.name(kind, make, b".txt", some(0, 1))
                os.mkfifo(path)
            else:
                # Some have no number: then nothing that is harmless is in them. They are counted by their rows.
                path += (fit(bytesOf(make()), 255) if shape == 4 else
                         self.name(kind, make, pick([b".txt", b".txt", b".txt", b""]), some(0, 1)))
                if path[len(folder) + 1:] in self.made:
                    path = folder + b"/" + self.name(kind, make, b".txt", some(0, 1))
                os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
            self.made.add(path[len(folder) + 1:])
            os.utime(path, (AGE, AGE), follow_symlinks=False)
        os.utime(folder, (AGE, AGE))
        return folder, range(first, self.number + 1)


# --- Hostile names ---------------------------------------------------------------------------------------------------------------

class Tour:
    """Pages through folders of names, and looks at every frame."""
    TOP, LIST = 5, 17

    def __init__(self, terminal):
        self.terminal = terminal
        self.reader = Reader()
        self.titles, self.helps, self.tails, self.feet = set(), set(), set(), set()
        self.learning = True
        self.problems = []
        self.frames = self.rows = self.shown = 0
        self.apart = collections.Counter()
        self.cut = collections.Counter()
        self.differences = {}  # a character, and by how many columns wcwidth's table exceeds the picker's
        self.pending = terminal.raw.split(OPENED, 1)[1]
        self.opening = terminal.raw.split(OPENED, 1)[0]
        terminal.raw = b""
        self.reader.feed(self.pending)
        self.reader.finish()
        self.quiet = self.reader.state()

    def problem(self, text):
        if len(self.problems) < 20: self.problems.append(text)

    def press(self, keys, patience=3.0):
        self.terminal.press(keys)
        self.update(patience)

    def update(self, patience=0.05):
        data = self.terminal.settle(patience)
        self.terminal.raw = b""
        self.reader.feed(data)
        self.reader.finish()

    def frame(self, items, cursor, names=None):
        """One frame; looked at again if it seems not to be whole."""
        self.frames += 1
        for _ in range(6):
            found = self.look(items, cursor)
            if not found: break
            self.update(0.1)
        for text in found: self.problem(text)

    def look(self, items, cursor):
        screen, found = self.reader.screen, []
        rows = [screen.row(index) for index in range(24)]
        frame = (rows[0], rows[1], rows[3], rows[4])
        if self.learning:
            self.titles.add(frame)
            self.helps.add(rows[23])
        if frame not in self.titles: found.append(f"the lines above the list are {frame}")
        if not re.match(r"(~/|…)", rows[2]) or not rows[2].rstrip().endswith(f" {items} items"): found.append(f"the line of the place is {rows[2]!r}")
        if rows[23] not in self.helps and not rows[22].startswith("“"): found.append(f"the last line is {rows[23]!r}")
        if rows[22].strip() and not re.match(r"→ |Marked: |“", rows[22]): found.append(f"the line of messages is {rows[22]!r}")
        if self.reader.state() != self.quiet: found.append(f"modes, title or cursor are {self.reader.state()}")
        for index in range(min(self.LIST, items)):
            row, at = rows[self.TOP + index], self.TOP + index
            text = self.reader.texts.get(at, "")
            isUnder = index == cursor
            if not re.match("▸[ ✓] " if isUnder else " [ ✓] ", row): found.append(f"row {index} (of {cursor}) begins with {row[:6]!r}")
            if self.learning: self.tails.add(row[57:])
            if row[57:] in self.tails and len(row) >= 80: continue
            # Marks make a row longer in characters, and not in columns.
            cells = screen.buffer[at]
            if "".join(cells[column].data or " " for column in range(57, 80)) in self.tails: continue
            columns, expected = sum(max(0, width(character)) for character in text), 80 if isUnder else 79
            if columns == expected: found.append(f"row {index} is {row!r}")
        return found

    def count(self, indices, cursor, tags, numbered):
        """The rows that are new in this frame."""
        for index in indices:
            at = self.TOP + index
            self.rows += 1
            text = self.reader.texts.get(at, "")
            number = next((int(found) for found in re.findall(r"\d{6}", text) if int(found) in tags), None)
            if number: numbered.add(number)
            expected = 80 if index == cursor else 79
            columns = len(text) if text.isascii() else sum([max(0, width(character)) for character in text])
            # The rows of pipes and of links to nothing end early.
            if columns == expected or not text.rstrip().endswith("3 days ago"): continue
            kind = self.names.kinds.get(number, "without number")
            self.apart[kind] += 1
            if columns > 80: self.cut[kind] += 1
            character = self.names.sweep.get(number)
            if character and text.count(character) == 6: self.differences[character] = (columns - expected) / 6

    def visit(self, count, tags):
        """The folder that is shown, from its first row to its last."""
        numbered = set()
        step, scroll = self.LIST - 1, 0
        self.frame(count, 0)
        self.count(range(min(count, self.LIST)), 0, tags, numbered)
        cursor, page = 0, 0
        while scroll < count - self.LIST:
            self.reader.drawn.clear()
            self.press(b"\x1b[6~")
            for _ in range(20):
                # Rows are drawn in their order.
                if self.TOP + self.LIST - 1 in self.reader.drawn: break
                self.update(0.05)
            page += 1
            old, scroll, cursor = scroll, min(scroll + step, count - self.LIST), min(cursor + step, count - 1)
            self.frame(count, cursor - scroll)
            self.count(range(self.LIST - (scroll - old), self.LIST), cursor - scroll, tags, numbered)
            if page % 8 == 0 and cursor - scroll < self.LIST - 2 and scroll < count - self.LIST:
                # The name on the line of marks, or in the sentence that says why not; and the mark goes again.
                under = self.TOP + cursor - scroll
                self.press(b"\t")
                for _ in range(20):
                    if self.reader.screen.row(22).strip(): break
                    self.update(0.05)
                if self.reader.screen.row(under)[:1] == "▸":
                    if not self.reader.screen.row(22).startswith("“"): self.problem(f"after Tab there is {self.reader.screen.row(22)!r}")
                    self.frame(count, cursor - scroll)
                    continue
                self.frame(count, cursor + 1 - scroll)
                if self.reader.screen.row(under)[:2] != " ✓": self.problem(f"a marked row is {self.reader.screen.row(under)!r}")
                self.press(b"\x1b[A\t")
                cursor += 1
                self.frame(count, cursor - scroll)
                if self.reader.screen.row(under)[:2] != "  ": self.problem(f"a row that was marked is {self.reader.screen.row(under)!r}")
        self.shown += count
        # On a busy machine a frame may have been read before it was whole: such a name is looked for by its number.
        for number in sorted(set(tags) - numbered)[:20]:
            self.press(b"\x1b[H%06d" % number)
            for _ in range(20):
                if any(f"{number:06d}" in self.reader.screen.row(index) for index in range(self.TOP, self.TOP + self.LIST)):
                    numbered.add(number)
                    break
                self.update(0.05)
            self.press(b"\x15")
        missing = set(tags) - numbered
        if missing: self.problem(f"{len(missing)} names have not been seen, as number {min(missing)} ({self.names.kinds[min(missing)]})")
        return numbered


def wide(world):
    """Names of characters that take two columns push nothing out of sight."""
    folder = f"{world.home}/wide"
    os.mkdir(folder)
    letters = "\u4e00\uac00\uff21\U0001f9e6\u2329\u268a\u4dc0\U00017000\U00018b00\U00018d00\U0001aff0\U0001b000\U0001d300\U0001f200\U00020000"
    for letter in letters: os.symlink("/nowhere/at/all.txt", f"{folder}/{letter * 40}.txt")
    terminal = Terminal(world, folder, "--type", "txt")
    terminal.frame()
    reader = Reader()
    reader.feed(terminal.raw.split(OPENED, 1)[1])
    rows = [reader.screen.row(index) for index in range(5, 22)]
    hidden = [f"U+{ord(letter):04X}" for letter in letters for row in rows if letter in row and not row.rstrip().endswith("at/all.txt")]
    terminal.press(b"\x03")
    terminal.end()
    check(not hidden, "the row of a link with a name of wide characters says where it leads", f"not with {', '.join(hidden)}")
    untold = []
    for letter in letters[::3 if QUICK else 1]:
        app = f"{world.home}/{letter * 40}"
        with open(app, "w") as file: file.write("#!/bin/sh\nexec ambitctl pick\n")
        os.chmod(app, 0o755)
        terminal = Terminal(world, world.documents, app=app)
        terminal.frame()
        reader = Reader()
        reader.feed(terminal.raw.split(OPENED, 1)[1])
        title = " ".join(reader.screen.row(index).strip() for index in range(3))
        if "asks for a document to open, read and write" not in title: untold.append(f"U+{ord(letter):04X}")
        terminal.press(b"\x03")
        terminal.end()
    check(not untold, "the title says what an app with a name of wide characters asks for", f"not with {', '.join(untold)}")


def sizes(world):
    """A few hostile names at other sizes, down to the smallest."""
    for columns, rows in [(24, 8), (200, 50), (31, 9), (63, 16)][:2 if QUICK else 4]:
        terminal = Terminal(world, world.few, "--multiple", "--type", "txt", "--message", "These words are the app's own.", columns=columns, rows=rows)
        terminal.frame()
        reader = Reader(columns, rows)
        reader.feed(terminal.raw.split(OPENED, 1)[1])
        first, bad = reader.state(), []
        top = next(index for index in range(rows) if reader.screen.row(index).startswith("▸"))
        above = lambda: [row for row in map(reader.screen.row, range(top)) if not re.match("~|…", row)]
        title = above()
        for _ in range(15 if QUICK else 60):
            # The row is marked, or says why not; and the next one.
            for keys in (b"\t", b"\x1b[B"):
                terminal.raw = b""
                terminal.press(keys)
                terminal.settle(0.3)
                reader.feed(terminal.raw)
                if (above() != title or reader.state() != first) and len(bad) < 3: bad.append([reader.screen.row(index) for index in range(rows)])
            under = [index for index in range(top, rows) if reader.screen.row(index).startswith("▸")]
            if len(under) != 1 and len(bad) < 3: bad.append(f"{len(under)} cursors")
        terminal.raw = b""
        terminal.press(b"\x03")
        status, output = terminal.end()
        check(not bad and not reader.problems and not reader.screen.stray and not reader.screen.wrapped and status == 1,
              f"{columns}×{rows}: hostile names, and sentences and marks with them, stay in their lines", (bad, reader.problems[:3], reader.screen.stray))


def ranges(found):
    """Characters as ranges of numbers."""
    codes, result = sorted(map(ord, found)), []
    for code in codes:
        if result and code - result[-1][1] <= 16: result[-1][1] = code
        else: result.append([code, code])
    return ", ".join(f"{low:04X}" if low == high else f"{low:04X}–{high:04X}" for low, high in result[:24]) + (
        f" and {len(result) - 24} ranges more" if len(result) > 24 else "")


def make(base, pipe):
    names = Names(base)
    folders = [names.folder(400, {"harmless": HARMLESS})]
    for _ in range(NAMES // PER_FOLDER): folders.append(names.folder(PER_FOLDER, KINDS))
    names.different, names.made = len(names.made) - 400 - 3, None
    pipe.send((names, folders))


def hostile(world, maker, pipe):
    names, folders = pipe.recv()
    maker.join()
    part(f"there are {names.different} different names in {len(folders) - 1} folders")
    terminal = Terminal(world, names.base, "--multiple", "--type", "txt")
    terminal.frame()
    tour = Tour(terminal)
    tour.names = names
    opening = tour.opening
    time.sleep(0.4)
    tour.press(b"\x08", 0.5)
    begun = time.monotonic()
    for index, (folder, tags) in enumerate(folders):
        count = len(os.listdir(folder))
        if index: tour.press(b"\x1b[B")
        tour.press(b"\r")
        if index == 0:
            # Harmless names: what is seen and sent now is all that may be seen and sent later.
            for keys in (b"\t", b"\x1b[A", b"\t", b"\x1b[H"):
                tour.press(keys, 0.5)
                tour.helps.add(tour.reader.screen.row(23))
        tour.visit(count, tags)
        if index == 0:
            tour.learning = False
            styles, sequences = set(tour.reader.styles), set(tour.reader.sequences)
            tour.shown, tour.frames, tour.rows = 0, 0, 0
            tour.apart.clear(), tour.cut.clear()
        tour.press(b"\x1b[D")
    terminal.raw = b""
    terminal.press(b"\x03")
    status, output = terminal.end()
    seconds = time.monotonic() - begun
    check(not tour.reader.problems, "no byte but the picker's own sequences and harmless text reaches the terminal",
          " | ".join(tour.reader.problems[:5]))
    check(tour.reader.styles <= styles and tour.reader.sequences <= sequences, "the sequences are those of harmless names",
          (tour.reader.styles - styles, tour.reader.sequences - sequences))
    check(not tour.problems, "title, frame, rows and footer of each frame are as with harmless names", " | ".join(tour.problems[:5]))
    check(tour.reader.screen.wrapped == 0 and tour.reader.screen.stray == 0, "no row wraps, and no mark falls on another row",
          (tour.reader.screen.wrapped, tour.reader.screen.stray))
    check(status == 1 and output == "" and re.fullmatch(re.escape(CLOSING) + rb".*\x1b\[\?1049l\x1b\[[\d;?]*r\x1b\[[\d;?]*r", terminal.raw, re.S)
          and modes(opening + OPENED + terminal.raw) == {7, 25}, "the end is the usual one", (status, output, terminal.raw))
    check(tour.shown >= NAMES and tour.rows == tour.shown and names.different >= NAMES, f"{tour.shown} hostile names were shown, in {tour.frames} frames, "
          f"{seconds:.0f} s", tour.rows)
    print("        " + ", ".join(f"{kind} {count}" for kind, count in sorted(names.counts.items()) if kind != "harmless"))
    if tour.apart:
        print(f"apart   {sum(tour.apart.values())} rows are not as wide to wcwidth as to the picker: "
              + ", ".join(f"{kind} {count}" for kind, count in tour.apart.most_common()))
        print(f"apart   {sum(tour.cut.values())} of them would be wider than the screen, and were cut at its edge: "
              + ", ".join(f"{kind} {count}" for kind, count in tour.cut.most_common()))
    by = collections.defaultdict(list)
    for character, difference in tour.differences.items(): by[difference].append(character)
    for difference, found in sorted(by.items()):
        print(f"apart   {len(found)} characters, {abs(difference):g} columns {'more' if difference > 0 else 'less'} to wcwidth: U+{ranges(found)}")


# --- tmux ------------------------------------------------------------------------------------------------------------------------

FLAGS = " ".join("#{%s}" % flag for flag in (
    "alternate_on cursor_flag insert_flag keypad_cursor_flag keypad_flag mouse_any_flag mouse_sgr_flag mouse_utf8_flag origin_flag "
    "wrap_flag scroll_region_upper scroll_region_lower pane_title").split())


class Pane:
    def __init__(self, world, folder, columns, rows):
        self.world, self.size = world, (columns, rows)
        self.tmux("new-session", "-d", "-s", "pane", "-x", str(columns), "-y", str(rows), "-c", folder, "sh")
        self.tmux("set-option", "-s", "set-clipboard", "on")
        self.tmux("send-keys", "-t", "pane", "PS1=; clear; echo before the picker", "Enter")
        self.until(lambda: self.lines()[0] == "before the picker", "a shell in tmux")

    def tmux(self, *words):
        return subprocess.run(["tmux", "-f", "/dev/null", *words], env=self.world.environment, check=True, capture_output=True, text=True,
                              timeout=30).stdout

    def flags(self): return self.tmux("display-message", "-p", "-t", "pane", FLAGS).rstrip("\n")

    def screen(self):
        """The pane, colours and all, as pyte sees it."""
        columns, rows = self.size
        screen = Emulator(columns, rows)
        text = self.tmux("capture-pane", "-e", "-p", "-t", "pane").rstrip("\n").split("\n")
        stream = pyte.Stream(screen)
        for index, line in enumerate(text[:rows]): stream.feed(f"\x1b[{index + 1};1H{line}")
        return screen

    def lines(self):
        screen = self.screen()
        return [screen.row(index).rstrip() for index in range(self.size[1])]

    def cells(self):
        """Characters and looks, without those of spaces at the end of a line, which tmux leaves away."""
        screen = self.screen()
        return [[screen.buffer[row][column] for column in range(len(screen.row(row).rstrip()))] for row in range(self.size[1])]

    def keys(self, *names): self.tmux("send-keys", "-t", "pane", *names)

    def until(self, holds, what, seconds=10):
        end = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > end: return False
            time.sleep(0.03)
        return True

    def sees(self, claim, pattern, *names):
        """Presses these keys, and waits for the screen."""
        if names: self.keys(*names)
        holds = self.until(lambda: re.search(pattern, "\n".join(self.lines()), re.M), claim, 4)
        return check(holds, f"{self.label}: {claim}", None if holds else " / ".join(filter(None, self.lines())))

    def start(self, command, chooses=False):
        self.keys(f"clear; {command}; echo status=$?", "Enter")
        self.until(lambda: "Type to filter" in "\n".join(self.lines()) and self.lines()[-1] != "", "the picker", 20)
        if chooses: time.sleep(0.4)  # it chooses nothing at once

    def resize(self, columns, rows):
        self.size = (columns, rows)
        self.tmux("resize-window", "-t", "pane", "-x", str(columns), "-y", str(rows))

    def close(self): self.tmux("kill-session", "-t", "pane")


def panes(world, columns, rows, colours):
    pane = Pane(world, world.documents, columns, rows)
    pane.label = label = f"{columns}×{rows}, {'colours' if colours else 'NO_COLOR'}"
    start = f"{'' if colours else 'NO_COLOR=1 '}ambit run -- ambitctl pick --type txt"
    before, own = pane.flags(), "before the picker"
    pane.keys("clear; echo before the picker", "Enter")
    pane.start("echo before the picker; " + start, chooses=True)
    lines, first, screen = pane.lines(), pane.cells(), pane.screen()
    listed = [line[2:].split("  ")[0] for line in lines[5:5 + 8]]
    check(lines[0].endswith("asks for a document to open, read and write") and "ambitctl" in lines[0], f"{label}: the title says who asks for what", lines[0])
    check(lines[2].startswith("~/documents") and lines[2].endswith(" 8 items") and len(lines[2]) == columns, f"{label}: the folder and its count", lines[2])
    check(lines[3].startswith("Type to filter") and lines[3].endswith("only .txt"), f"{label}: the line of the filter", lines[3])
    check([name.split(" → ")[0] for name in listed] == ["Archive/", "sub/", "a2.txt", "a10.txt", "letter.txt", "nowhere.txt", "pipe.txt", "song.mp3"],
          f"{label}: folders first, and names sorted", listed)
    check(lines[5].startswith("▸ Archive/") and lines[-1].startswith("Enter open folder · Esc cancel"), f"{label}: the cursor is on the first row", lines[5])
    looks = {cell.fg for row in first for cell in row}
    check(looks > {"default"} if colours else looks == {"default"}, f"{label}: {'colours' if colours else 'no colours'}", looks)
    check(screen.buffer[5][0].reverse and screen.buffer[0][0].bold, f"{label}: the cursor's row is reversed, and the title bold")
    flags = pane.flags().split(" ")
    check(flags[:2] == ["1", "0"], f"{label}: a screen of its own, without a cursor", flags)

    pane.sees("Down moves the cursor", r"^▸ sub/", "Down")
    pane.sees("Up moves it back", r"^▸ Archive/", "Up")
    pane.sees("Ctrl-N and Ctrl-P move it, too", r"^▸ sub/", "C-n", "C-n", "C-p")
    pane.sees("Ctrl-K moves it up", r"^▸ Archive/", "C-k")
    pane.sees("End and Home go to the ends", r"^▸ song\.mp3", "End")
    pane.keys("Up")
    pane.sees("Ctrl-J moves it down, as the help says", r"^▸ song\.mp3", "C-j")
    pane.sees("Home goes to the first row", r"^▸ Archive/", "Home")
    pane.sees("j is typed text", r"^Filter: j", "j")
    pane.sees("k, too", r"^Filter: jk", "k")
    pane.sees("Escape clears the filter, and nothing else", r"^Type to filter[^▸]*^▸ Archive/", "Escape")
    pane.sees("typing filters", r" 1 of 8\n(.*\n)*▸ letter\.txt", "l", "e", "t", "t")
    check("song.mp3" not in "\n".join(pane.lines()), f"{label}: the other names are gone")
    pane.sees("Backspace takes a letter back", r"^Filter: let\b", "BSpace")
    pane.sees("a filter without matches says so", r"Nothing here matches", "z", "z")
    pane.sees("Escape shows all of them again", r"8 items\n(.*\n)*.*song\.mp3", "Escape")
    pane.sees("? shows the keys", r"^  Ctrl-H, Alt-\. +show hidden files", "?")
    pane.sees("any key goes back to the list", r"^▸ Archive/", "x")
    pane.sees("Ctrl-H shows hidden files", r"9 items\n(.*\n)*.*\.hidden\.txt", "C-h")
    pane.sees("and hides them", r"8 items", "C-h")
    check(".hidden.txt" not in "\n".join(pane.lines()), f"{label}: they are gone")
    pane.sees("Enter on a song says why it cannot be chosen", r"^“song\.mp3” cannot be chosen; the app asks for \.txt\.", "End", "Enter")
    pane.sees("Enter on a pipe, too", r"^“pipe\.txt” is neither a file nor a folder\.", "Up", "Enter")
    pane.sees("and on a link to nothing", r"^“nowhere\.txt” is a link that leads nowhere\.", "Up", "Enter")
    pane.sees("Enter goes into a folder", r"^~/documents/sub +1 item", "Home", "Down", "Enter")
    pane.sees("Left goes back, to the same row", r"^~/documents .*\n(.*\n)*▸ sub/", "Left")
    pane.keys("Home")
    pane.sees("the first row again", r"^▸ Archive/")

    check(pane.until(lambda: pane.cells() == first, "the first frame"), f"{label}: the screen is as at first")
    pane.resize(100, 30)
    pane.sees("a larger window is filled", r"\A“ambitctl”(.*\n){2}~/documents {80,} 8 items\n(.*\n)*Enter open folder.*\Z")
    larger = pane.cells()
    pane.resize(40, 12)
    pane.sees("a small one has fewer lines, and all of them", r"\A“ambitctl” asks for a document to open,\nread and write\n~/documents +8 items\n.*only \.txt\n▸ Archive/(.*\n)*Enter.*\Z")
    pane.resize(20, 5)
    pane.sees("one that is too small says so", r"\AThis window is too\n")
    pane.keys("Enter")
    pane.resize(columns, rows)
    check(pane.until(lambda: pane.cells() == first, "the first frame"), f"{label}: back at its size, the screen is as at first")
    pane.keys("l")
    pane.sees("a filter before the end", r"^Filter: l")
    pane.keys("Escape")
    pane.sees("Escape clears it first", r"^Type to filter")
    pane.sees("Escape then cancels, and the app hears of it", r"^status=1$", "Escape")
    lines = [line for line in pane.lines() if line and "clear;" not in line]
    check(lines == ["before the picker", "status=1"], f"{label}: the screen of before is back", lines)
    check(pane.flags() == before, f"{label}: cursor, mouse, keys and wrapping are as before", (pane.flags(), before))

    pane.resize(100, 30)
    pane.start(start)
    check(pane.until(lambda: pane.cells() == larger, "the same frame", 4), f"{label}: a picker that began in the larger window looks the same")
    pane.resize(columns, rows)
    pane.sees("a filter", r"^Filter: le", "l", "e")
    pane.sees("Ctrl-C cancels in spite of it", r"^status=1$", "C-c")
    pane.start(start)
    pane.sees("the help, once more", r"^  Ctrl-H, Alt-\.", "?")
    pane.sees("Ctrl-C cancels there, too", r"^status=1$", "C-c")
    pane.start(start, chooses=True)
    pane.sees("a document is found", r"^▸ letter\.txt", "l", "e", "t")
    pane.sees("Enter chooses it, and the app has it", r"^file:///\S*letter\.txt(.*\n)+status=0$", "Enter")
    check(pane.flags() == before, f"{label}: the terminal is as before", (pane.flags(), before))

    # The same names as below in a terminal that many people have.
    pane.keys(f"cd {shlex.quote(world.few)}", "Enter")
    pane.start(start)
    lines = pane.lines()
    top, last, count = lines[:2] + lines[3:5], re.compile("(Enter [a-z ]+ · )?Esc cancel · "), len(os.listdir(os.fsencode(world.few)))
    bad = []
    for page in range(count // (rows - 9) + 2):
        lines = pane.lines()
        if lines[:2] + lines[3:5] != top or not last.match(lines[-1]): bad.append("\n".join(lines))
        pane.keys("PageDown")
        time.sleep(0.03)
    pane.keys("End")
    time.sleep(0.1)
    lines = pane.lines()
    check(not bad and lines[:2] + lines[3:5] == top, f"{label}: {count} hostile names change nothing around the list", bad[:1])
    pane.sees("Ctrl-C cancels", r"^status=1$", "C-c")
    check(pane.flags() == before, f"{label}: title and modes are as before", (pane.flags(), before))
    check(pane.tmux("list-buffers") == "", f"{label}: the clipboard is empty")
    pane.close()


# --- Terminals of their own ------------------------------------------------------------------------------------------------------

def ends(world):
    """The ends of a picker, in bytes."""
    for label, keys in [("in the list", []), ("in a filter", [b"let"]), ("in the help", [b"?"]), ("in a paste without an end", [b"\x1b[200~abc"]),
                        ("after half a sequence", [b"\x1b[1;"]), ("after half a message", [b"\x1b]52;c;"]), ("in a small window", [(20, 5)]),
                        ("at once", None)]:
        terminal = Terminal(world, world.documents, "--type", "txt")
        terminal.frame()
        for key in keys or []:
            if isinstance(key, tuple): terminal.resize(*key)
            else: terminal.press(key)
            terminal.settle(0.4)
            time.sleep(0.1)
        terminal.press(b"\x03")
        status, output = terminal.end()
        body = terminal.raw[terminal.raw.index(OPENING):]
        check(status == 1 and output == "", f"Ctrl-C cancels {label}", (status, output))
        check(modes(body) == {7, 25} and body.endswith(b"r") and CLOSING in body and b"\x1b[?1049l" in body and b"\x1b[<1u" in body,
              f"and gives the terminal back {label}: cursor, wrapping, no mouse, the screen of before", body[-200:])
        if not check(terminal.after == terminal.before, f"and its settings {label}", (terminal.before, terminal.after)): break
    kept = []
    for half in [b"\x1b", b"\x1b[1;", b"\x1bO", b"\x1b[[", b"\x1b]52;c;"]:
        terminal = Terminal(world, world.documents, "--type", "txt")
        terminal.frame()
        terminal.press(half + b"\x03")
        end = time.monotonic() + 0.5
        while terminal.process.poll() is None and time.monotonic() < end: terminal.take(0.05)
        if terminal.process.poll() is None: kept.append(half)
        # Once more, alone.
        if half in kept: terminal.press(b"\x03")
        terminal.end()
    check(not kept, "Ctrl-C cancels even where half a sequence stands straight before it", kept)
    terminal = Terminal(world, world.documents, "--type", "txt")
    terminal.wait(re.escape(OPENED) + rb".*letter")
    terminal.press(b"\r")
    terminal.wait(rb"The picker has only just opened", 5)
    check(True, "an Enter in the first moment opens and chooses nothing")
    time.sleep(0.4)
    terminal.press(b"let")
    terminal.settle(0.5)
    terminal.press(b"\r")
    status, output = terminal.end()
    check(status == 0 and "letter.txt" in output, "a later one chooses", (status, output))
    body = terminal.raw[terminal.raw.index(OPENING):]
    check(modes(body) == {7, 25} and terminal.after == terminal.before, "and the terminal is as before", body[-200:])
    reader = Reader()
    reader.feed(body.split(OPENED, 1)[1].split(CLOSING, 1)[0])
    check(not reader.problems, "only places, styles and text in between", reader.problems)
    terminal = Terminal(world, world.documents, "--type", "txt", extra={"NO_COLOR": "1"})
    terminal.frame()
    terminal.press(b"letter")
    terminal.settle(0.5)
    terminal.press(b"\x03")
    terminal.end()
    body = terminal.raw[terminal.raw.index(OPENING):]
    reader = Reader()
    reader.feed(body.split(OPENED, 1)[1].split(CLOSING, 1)[0])
    check(not [style for style in reader.styles if re.search(r"(^|;)[349]\d", style)], "with NO_COLOR no byte of a colour is sent", reader.styles)


def picture(width, height):
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + b"".join(bytes([255 * column // width, 255 * row // height, 128]) for column in range(width)) for row in range(height))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows))
            + chunk(b"IEND", b""))


def views(world):
    """Orders, the grid and the preview, over names and contents that mean harm: every byte is read strictly."""
    def opened(folder, columns, rows):
        terminal = Terminal(world, folder, columns=columns, rows=rows, extra={"COLORTERM": "truecolor"})
        terminal.frame()
        reader = Reader(columns, rows)
        reader.feed(terminal.raw[terminal.raw.index(OPENED) + len(OPENED):])
        def press(key, patience=1.0):
            terminal.press(key)
            reader.feed(terminal.settle(patience))
        return terminal, reader, press
    def text(reader): return "\n".join(reader.screen.row(index) for index in range(reader.screen.lines))
    def close(terminal, reader, claim):
        terminal.press(b"\x03")
        status, _ = terminal.end()
        check(status == 1 and not reader.problems, claim, (status, reader.problems[:5]))
    for columns, rows in [(80, 24), (200, 50)]:
        size = f"{columns}×{rows}"
        terminal, reader, press = opened(world.few, columns, rows)
        press(b"\x07")
        check(sum("▸" in reader.screen.row(row) for row in range(rows)) >= 1 and "Backspace parent" in text(reader), f"{size}: Ctrl-G shows a grid")
        for _ in range(12): press(b"\x1b[6~")
        for key in [b"\x1b[C", b"\x1b[B", b"\x1b[D", b"\x1b[A", b"\x1b[H", b"\x1b[F"] * 3: press(key)
        close(terminal, reader, f"{size}: hostile names are harmless in a grid")
        terminal, reader, press = opened(world.few, columns, rows)
        seen = []
        for key in [b"\x13"] * 4 + [b"\x1bd", b"\x1bd", b"\x1bs", b"\x1bk", b"\x1bk", b"\x1bn"]:
            press(key)
            seen.append((re.search(r"by (\w+ .) · ", text(reader)) or ["", ""])[1])
        check(seen == ["date ↓", "size ↓", "kind ↑", "", "date ↓", "date ↑", "size ↓", "kind ↑", "kind ↓", ""], f"{size}: keys of the orders", seen)
        close(terminal, reader, f"{size}: hostile names are harmless in every order")
        terminal, reader, press = opened(world.previews, columns, rows)
        press(b"\x14")
        for claim, pattern in [("a folder's names", r"inner"), ("a picture in colours", "▀|▄|█"), ("a text", r"harmless words")]:
            end = time.monotonic() + 20
            while not re.search(pattern, text(reader)) and time.monotonic() < end: reader.feed(terminal.take(0.2))
            check(re.search(pattern, text(reader)), f"{size}: the preview shows {claim}", text(reader))
            press(b"\x1b[B")
        close(terminal, reader, f"{size}: nothing of a document commands the terminal")
        terminal, reader, press = opened(world.few, columns, rows)
        press(b"\x14")
        for _ in range(20): press(b"\x1b[B", 0.4)
        close(terminal, reader, f"{size}: previews under hostile names are harmless")


def silent(world):
    for term in ["xterm-256color", "vt100", "linux", ""]:
        label = f"TERM={term}" if term else "TERM of nothing"
        terminal = Terminal(world, world.documents, "--type", "txt", term=term)
        terminal.wait(re.escape(OPENED) + rb".*\x1b\[24;1H\x1b\[K\x1b\[2mEnter open folder[^\x1b]*\x1b\[0m")
        at = terminal.raw.index(OPENING)
        first = max(when for offset, when in terminal.times if offset <= at)
        took = terminal.times[-1][1] - first
        check(took < 0.5, f"{label}, no answers: the first frame is whole {took * 1000:.0f} ms after the first byte "
              f"({(first - terminal.asked) * 1000:.0f} ms after the command)", took)
        check(not re.search(rb"\x1b\[[>=?]?[\d;]*[cnq]|\x1b\[\?[\d;]*\$p|\x1b\][\d;]*\?", terminal.raw[at:]), f"{label}: nothing is asked of the terminal")
        time.sleep(0.4)
        down = b"\x1bOB" if term == "vt100" else b"\x1b[B"
        terminal.press(down * 2)
        terminal.settle(0.5)
        terminal.press(b"\r")
        status, output = terminal.end()
        check(status == 0 and "a2.txt" in output, f"{label}: two rows down, Enter chooses", (status, output))
    terminal = Terminal(world, world.documents, "--type", "txt", term="dumb")
    terminal.wait(rb"\? for help: $")
    took = terminal.times[-1][1] - terminal.times[0][1]
    check(took < 0.5, f"TERM=dumb: lines, {took * 1000:.0f} ms after the first byte", took)
    number = re.search(rb"^(\d+) letter\.txt", terminal.raw, re.M)
    terminal.press((number[1] if number else b"q") + b"\r")
    status, output = terminal.end()
    check(status == 0 and "letter.txt" in output, "TERM=dumb: a number chooses", (status, output))
    check(not re.search(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", terminal.raw), "TERM=dumb: there is no control but ends of lines", terminal.raw)
    check(terminal.after == terminal.before, "TERM=dumb: the settings are as before")
    terminal = Terminal(world, world.few, term="dumb")
    terminal.wait(rb"\? for help: $")
    for _ in range(20):
        terminal.press(b"\r")
        terminal.settle(0.5)
        if b"These are all" in terminal.raw: break
    text = terminal.raw.decode(errors="surrogateescape").replace("\r\n", "\n")
    terminal.press(b"\x03")
    status, output = terminal.end()
    check(status == 1 and not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff]", text) and UNSEEN.isdisjoint(text.replace("\n", "")),
          "TERM=dumb: hostile names are harmless, and Ctrl-C cancels", status)
    terminal = Terminal(world, world.documents, term="dumb", extra={"AMBIT_PICKER": "screen"})
    status, output = terminal.end()
    check(status == 2 and b"dumb" in terminal.raw, "TERM=dumb: a screen that is asked for in spite of it is refused, with a reason", (status, terminal.raw))


class World:
    def __init__(self, folder):
        self.home, self.documents, self.few = f"{folder}/home", f"{folder}/home/documents", f"{folder}/home/few"
        os.makedirs(f"{self.documents}/sub"), os.makedirs(f"{self.documents}/Archive")
        for name in ["letter.txt", "song.mp3", "a10.txt", "a2.txt", ".hidden.txt", "sub/inner.txt"]:
            with open(f"{self.documents}/{name}", "w") as file: file.write("words\n")
        os.symlink("absent", f"{self.documents}/nowhere.txt")
        os.mkfifo(f"{self.documents}/pipe.txt")
        for name in [*os.listdir(self.documents), "."]: os.utime(f"{self.documents}/{name}", (AGE, AGE), follow_symlinks=False)
        names = Names(os.fsencode(f"{folder}/home/made"))
        made, _ = names.folder(300, KINDS)
        os.rename(made, self.few)
        self.previews = f"{folder}/home/previews"
        os.makedirs(f"{self.previews}/a folder")
        for index in range(5): open(f"{self.previews}/a folder/inner\x1b[2J{index}", "w").close()
        with open(f"{self.previews}/b.png", "wb") as file: file.write(picture(64, 48))
        with open(f"{self.previews}/c.txt", "w") as file: file.write("harmless words\n" + "".join(f"\x1b[2J\x1b]0;harm\x07{sequence()}{message()}\n" for _ in range(3)))
        self.environment = {name: value for name, value in os.environ.items() if name not in ("TMUX", "NO_COLOR", "AMBIT_PICKER")}
        self.environment.update(HOME=self.home, AMBIT_HOME=f"{folder}/ambit", TMUX_TMPDIR=folder, TERM="xterm-256color", LC_ALL="C.UTF-8",
                                PATH=f"{PROGRAMS}:{os.environ['PATH']}")


def processes(folder, but=None):
    """The command lines of those that have this folder for their own."""
    found = []
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{number}/environ", "rb") as file: environment = file.read()
            with open(f"/proc/{number}/cmdline", "rb") as file: command = file.read().replace(b"\0", b" ").decode(errors="replace")
        except OSError: continue
        if f"AMBIT_HOME={folder}/".encode() in environment and not (but and but in command): found.append(command)
    return found


signal.signal(signal.SIGTERM, lambda *_: sys.exit("picker-terminal-test: ended by a signal"))
folder = tempfile.mkdtemp(prefix="ambit-screen-")
try:
    world, maker = World(folder), None
    try:
        # Meanwhile the names are made.
        pipe, end = multiprocessing.Pipe(False)
        maker = multiprocessing.get_context("fork").Process(target=make, args=(os.fsencode(world.home) + b"/names", end))
        maker.start()
        part("keys and screens, in tmux")
        for columns, rows, colours in PANES: panes(world, columns, rows, colours)
        part("the end, in bytes")
        ends(world)
        part("orders, the grid and the preview")
        views(world)
        part("terminals that answer nothing")
        silent(world)
        part("names that mean harm")
        wide(world)
        sizes(world)
        hostile(world, maker, pipe)
    finally:
        # The pickers first: one that is left would start a broker again.
        subprocess.run(["tmux", "kill-server"], env=world.environment, capture_output=True)
        for process in [process for process in Terminal.all if process.poll() is None]:
            process.terminate()
            process.wait(30)
        if maker and maker.is_alive():
            maker.terminate()
            maker.join()
        for _ in range(50):
            if not (left := processes(folder, but="broker")): break
            time.sleep(0.1)
        subprocess.run([f"{PROGRAMS}/ambit", "broker", "stop"], env=world.environment, capture_output=True, timeout=60)
        for _ in range(50):
            if not (left := processes(folder)): break
            time.sleep(0.1)
        check(not left, "no process is left", left)
finally:
    shutil.rmtree(os.fsencode(folder), ignore_errors=True)
print(f"picker-terminal-test: {failures} failed, {time.monotonic() - started:.0f} s" if failures
      else f"picker-terminal-test: all hold, {time.monotonic() - started:.0f} s")
sys.exit(1 if failures else 0)
