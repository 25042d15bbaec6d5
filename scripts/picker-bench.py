#!/usr/bin/env python3
"""Measures the picker beside fzf and nnn in a folder of 100,000 names; one object of JSON a line.

usage: picker-bench.py AMBIT [--names N] [--keys N] [--folder DIR]

Each program has a pseudo-terminal of the same kind, of 100 by 40 characters. A frame is over when the terminal has been silent for 25
ms; its time is that of its last byte. Programs that are not installed are skipped by name.
"""
import argparse, fcntl, json, os, pty, re, select, shutil, struct, subprocess, sys, tempfile, termios, time

parser = argparse.ArgumentParser()
parser.add_argument("ambit")
parser.add_argument("--names", type=int, default=100_000)
parser.add_argument("--keys", type=int, default=200)
parser.add_argument("--folder", default="/var/tmp")
options = parser.parse_args()
ambit = os.path.abspath(options.ambit)
SILENCE = 0.025


class Program:
    def __init__(self, words, folder, environment):
        self.master, slave = pty.openpty()
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
        self.marker, marker = os.pipe()

        def prepare():
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

        self.output = b""
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            words, cwd=folder, env=environment, stdin=slave, stdout=marker, stderr=slave, preexec_fn=prepare)
        os.close(slave)
        os.close(marker)

    def take(self, seconds):
        if not select.select([self.master], [], [], seconds)[0]: return b""
        try: data = os.read(self.master, 1 << 16)
        except OSError: return b""
        self.output += data
        return data

    def until(self, pattern, since):
        """Seconds until the terminal has got this."""
        end = time.monotonic() + 60
        while not re.search(pattern, self.output, re.S):
            if time.monotonic() > end: raise SystemExit(f"picker-bench: {pattern!r} does not come; there is {self.output[-300:]!r}")
            self.take(0.5)
        return time.monotonic() - since

    def settle(self, least=0.3):
        end = time.monotonic() + least
        while time.monotonic() < end:
            if self.take(0.05): end = time.monotonic() + least

    def press(self, key):
        """Seconds from a key to the last byte of its frame; None: nothing was drawn."""
        start = time.monotonic()
        os.write(self.master, key)
        last = None
        wait = 0.5
        while self.take(wait):
            last = time.monotonic()
            wait = SILENCE
        return last and last - start

    def memory(self, name):
        """The most MiB that the process of that name, or any below it, had in memory."""
        most = 0
        todo = [self.process.pid]
        while todo:
            pid = todo.pop()
            try:
                status = open(f"/proc/{pid}/status").read()
                todo += map(int, open(f"/proc/{pid}/task/{pid}/children").read().split())
            except OSError: continue
            if re.search(rf"^Name:\t{name}$", status, re.M): most = max(most, int(re.search(r"VmHWM:\s*(\d+)", status)[1]) / 1024)
        return most

    def end(self, key):
        os.write(self.master, key)
        try: self.process.wait(10)
        except subprocess.TimeoutExpired: self.process.kill()
        self.process.wait()
        os.close(self.master)
        os.close(self.marker)


def percentile(samples, percent):
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)] if ordered else None


WALK = [b"\x1b[B"] * 3 + [b"\x1b[6~"] + [b"\x1b[A"]
# Letters that leave many, then few; then the way back.
FILTER = [b"r", b"e", b"p", b"4", b"2"] + [b"\x7f"] * 5


def keys(program, kinds):
    samples = []
    for index in range(options.keys):
        sample = program.press(kinds[index % len(kinds)])
        if sample: samples.append(sample)
    return samples


def say(measure, unit, value, peer="", other=None, aim=None):
    print(json.dumps({"measure": measure, "unit": unit, "ambit": value, "peer": peer, "other": other, "aim": aim}), flush=True)


base = tempfile.mkdtemp(prefix="ambit-picker-bench-", dir=options.folder)
try:
    big, small = f"{base}/big", f"{base}/small"
    for folder, count in ((big, options.names), (small, 30)):
        os.mkdir(folder)
        for index in range(count): os.close(os.open(f"{folder}/Report {index * 7919 % count:06d} draft.txt", os.O_CREAT | os.O_WRONLY))
    environment = dict(os.environ, TERM="xterm-256color", AMBIT_HOME=f"{base}/home")
    environment.pop("NO_COLOR", None)
    first = rb"Report 000000 draft.txt.*Report 00002\d draft.txt"
    ask = [ambit, "run", "--", "/bin/sh", "-c", "echo; exec ambitctl pick"]

    def picker(folder):
        program = Program(ask, folder, environment)
        os.read(program.marker, 1)
        return program, program.until(first, time.monotonic()) * 1000

    def samples(folder, rounds):
        found = []
        for round in range(rounds + 1):
            program, time = picker(folder)
            program.settle()
            program.end(b"\x03")
            if round: found.append(time)
        return percentile(found, 50)

    mine = {"first": samples(big, 7), "open": samples(small, 11)}
    program, _ = picker(big)
    program.settle(0.6)
    mine["walk"] = percentile(keys(program, WALK), 99) * 1000
    mine["filter"] = percentile(keys(program, FILTER), 99) * 1000
    mine["memory"] = program.memory("ambit")
    program.end(b"\x1b\x03")

    peers = {}
    for name, words, leave in (("fzf", ["/bin/sh", "-c", "ls | fzf --layout=reverse --no-mouse"], b"\x03"), ("nnn", ["nnn", "-C"], b"q")):
        if not shutil.which(name):
            print(f"picker-bench: {name} is not installed; it is left out", file=sys.stderr)
            continue
        found = []
        for round in range(4):
            other = dict(environment)
            program = Program(words, big, other)
            # nnn draws on its standard output.
            if name == "nnn":
                program.end(b"q")
                program = Program(["/bin/sh", "-c", "exec nnn -C >/dev/tty"], big, other)
            found.append(program.until(first, program.started) * 1000)
            program.settle()
            if round < 3: program.end(leave)
        peers[name] = {"first": percentile(found, 50), "walk": percentile(keys(program, WALK), 99) * 1000}
        if name == "nnn": program.press(b"/")
        peers[name]["filter"] = percentile(keys(program, FILTER), 99) * 1000
        peers[name]["memory"] = program.memory(name)
        program.end(b"\x1b\x1bq" if name == "nnn" else leave)

    names = f"{options.names:,} names"
    for key, measure, unit, aim in (
        ("first", f"{names}: from the app's ask to the first frame", "ms", 50), ("walk", f"{names}: key to frame, p99", "ms", 16),
        ("filter", f"{names}: key to frame while filtering, p99", "ms", 16), ("memory", f"{names}: memory", "MiB", 60)):
        say(measure, unit, mine[key], aim=aim)
        for name, values in peers.items(): say(measure.replace("the app's ask", "the start"), unit, mine[key], name, values[key])
    say("30 names: from the app's ask to the first frame", "ms", mine["open"], aim=30)
finally:
    subprocess.run([ambit, "broker", "stop"], env=dict(os.environ, AMBIT_HOME=f"{base}/home"), capture_output=True)
    shutil.rmtree(base, ignore_errors=True)
