#!/usr/bin/env python3
"""Two devices, a cloud and brokers that are killed and cut off at random: in the end all agree, and nothing is lost or torn.

usage: cloud-test.py FOLDER-OF-PROGRAMS [--operations N] [--seed S]

A user on each device writes, renames, moves and deletes documents. Each write has a content of its own, and it is known which content
the user had before. In the end each written content is current, or kept as a conflict version, or it is the one that a later write
began with, or a user who had it deleted the document.
"""
import argparse, hashlib, os, random, shutil, signal, subprocess, sys, tempfile, time

parser = argparse.ArgumentParser()
parser.add_argument("programs")
parser.add_argument("--operations", type=int, default=5000)
parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
options = parser.parse_args()
ambit = os.path.join(os.path.abspath(options.programs), "ambit")
chance = random.Random(options.seed)
NAMES = ["Letter.txt", "letter.txt", "Essay.txt", "Notes.md", "Plan.txt", "Trip.txt"]
FOLDERS = ["Work", "Home"]


class Device:
    def __init__(self, base, name):
        self.name, self.folder, self.home = name, f"{base}/{name}", f"{base}/home-{name}"
        self.base, self.process, self.log = base, None, open(f"{base}/{name}.log", "ab")
        os.makedirs(self.folder)
        os.makedirs(self.home)
        self.environment = dict(os.environ, HOME=self.home, AMBIT_HOME=f"{self.home}/ambit", AMBIT_BROKER_IDLE="600")

    def run(self, *words):
        return subprocess.run([ambit, *words], env=self.environment, capture_output=True, text=True, timeout=60)

    def start(self):
        self.process = subprocess.Popen(
            [ambit, "cloud", "sync", self.folder, "--cloud", f"{self.base}/cloud.socket", "--device", self.name, "--trace"],
            env=self.environment, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def kill_broker(self):
        for entry in os.listdir("/proc"):
            if not entry.isdigit(): continue
            try:
                with open(f"/proc/{entry}/environ", "rb") as file: environment = file.read()
                with open(f"/proc/{entry}/cmdline", "rb") as file: words = file.read().split(b"\0")
            except OSError: continue
            if words[1:3] == [b"broker", b"serve"] and f"AMBIT_HOME={self.home}/ambit".encode() in environment.split(b"\0"):
                os.kill(int(entry), signal.SIGKILL)

    def paths(self):
        found = []
        for place, folders, files in os.walk(self.folder):
            folders[:] = [each for each in folders if not each.startswith(".")]
            found += [os.path.join(place, each) for each in files if not each.startswith(".")]
        return sorted(found)

    def tree(self):
        tree = {}
        for place, folders, files in os.walk(self.folder):
            folders[:] = [each for each in folders if not each.startswith(".")]
            for each in folders: tree[os.path.relpath(os.path.join(place, each), self.folder) + "/"] = ""
            for each in files:
                if each.startswith("."): continue
                with open(os.path.join(place, each)) as file: tree[os.path.relpath(os.path.join(place, each), self.folder)] = file.read()
        return tree


def content(number):
    text = f"write {number} "
    return text + hashlib.sha256(text.encode()).hexdigest() * chance.choice([1, 1, 40, 400]) + "\n"


with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as base:
    devices = [Device(base, "laptop"), Device(base, "phone")]
    server, log = None, open(f"{base}/server.log", "ab")

    def serve():
        global server
        server = subprocess.Popen([ambit, "cloud", "serve", f"{base}/cloud.socket", "--store", f"{base}/store"],
                                  stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    writes, places, bases, gone = {}, {}, set(), set()
    counts = dict.fromkeys(["write", "move", "delete", "folder", "kill device", "kill cloud", "kill broker", "offline"], 0)

    def read(path):
        try:
            with open(path) as file: return file.read()
        except OSError: return None

    def operate(device):
        paths, kind = device.paths(), chance.random()
        if kind < 0.62 or not paths:
            fresh = not paths or chance.random() < 0.25
            place = os.path.join(device.folder, chance.choice(["", "", *FOLDERS]))
            path = os.path.join(place, chance.choice(NAMES)) if fresh else chance.choice(paths)
            if not os.path.isdir(os.path.dirname(path)): return
            text = content(len(writes))
            temporary = os.path.join(device.folder, f".new{len(writes)}")
            with open(temporary, "w") as file: file.write(text)
            # The user replaces what they see: the former content is known by its file, whatever the device does meanwhile.
            if fresh:
                try: os.link(temporary, path)
                except OSError: return os.remove(temporary)
                os.remove(temporary)
            else:
                former = exchange(temporary, path)
                if former is None: return os.remove(temporary)
                bases.add(former)
                os.remove(temporary)
            places[len(writes)] = f"{time.monotonic():.4f} {device.name} {os.path.relpath(path, device.folder)} fresh={fresh} {os.stat(path).st_ino if os.path.exists(path) else 0}"
            writes[len(writes)] = text
            counts["write"] += 1
        elif kind < 0.78:
            path, place = chance.choice(paths), os.path.join(device.folder, chance.choice(["", *FOLDERS]))
            target = os.path.join(place, chance.choice(NAMES))
            if os.path.isdir(place) and not os.path.exists(target):
                try: subprocess.run(["mv", "-nT", path, target], check=True, capture_output=True)
                except subprocess.CalledProcessError: return
                counts["move"] += 1
        elif kind < 0.9:
            aside = os.path.join(device.folder, ".gone")
            try: os.rename(chance.choice(paths), aside)
            except OSError: return
            gone.add(read(aside))
            os.remove(aside)
            counts["delete"] += 1
        else:
            try: os.mkdir(os.path.join(device.folder, chance.choice(FOLDERS)))
            except OSError: return
            counts["folder"] += 1

    def exchange(one, other):
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.renameat2(-100, one.encode(), -100, other.encode(), 2) != 0: return None
        return read(one)

    def disturb():
        kind = chance.randrange(5)
        device = chance.choice(devices)
        if kind <= 1:
            device.kill()
            if chance.random() < 0.5: time.sleep(chance.random() * 0.2)
            device.start()
            counts["kill device"] += 1
        elif kind == 2:
            server.kill()
            server.wait()
            if chance.random() < 0.5: time.sleep(chance.random() * 0.3)
            serve()
            counts["kill cloud"] += 1
        elif kind == 3:
            device.kill_broker()
            counts["kill broker"] += 1
        else:
            devices[0].run("cloud", "set", f"{base}/cloud.socket", "--offline" if chance.random() < 0.6 else "--no-offline")
            counts["offline"] += 1

    def say(name):
        print(f"--- {name}")
        with open(f"{base}/{name}.log") as file: print("".join(file.readlines()[-15:]))
        if "KEEP_LOGS" in os.environ: shutil.copy(f"{base}/{name}.log", os.environ["KEEP_LOGS"])

    failed = []
    try:
        serve()
        for device in devices: device.start()
        began = time.monotonic()
        for number in range(options.operations):
            operate(chance.choice(devices))
            if chance.random() < 0.02: disturb()
            time.sleep(chance.choice([0, 0.002, 0.01, 0.02]))
        seconds = time.monotonic() - began
        # All heals.
        due = time.monotonic() + 180
        isSame = False
        while not isSame and time.monotonic() < due:
            for device in devices:
                if device.process.poll() is not None: device.start()
            if server.poll() is not None: serve()
            devices[0].run("cloud", "set", f"{base}/cloud.socket", "--no-offline")
            time.sleep(1)
            trees = [device.tree() for device in devices]
            isSame = trees[0] == trees[1]
            if isSame:
                # Both say so, too.
                for device in devices: device.kill()
                done = [device.run("cloud", "sync", device.folder, "--cloud", f"{base}/cloud.socket", "--device", device.name,
                                   "--once", "--timeout", "20", "--quiet") for device in devices]
                isSame = all(each.returncode == 0 for each in done) and devices[0].tree() == devices[1].tree()
                if not isSame:
                    for device in devices: device.start()
        trees = [device.tree() for device in devices]
        if not isSame:
            failed.append("the devices do not agree: " + ", ".join(
                sorted(path for path in trees[0].keys() | trees[1].keys() if trees[0].get(path) != trees[1].get(path))[:10]))
        kept = set()
        for device in devices:
            versions = f"{device.home}/ambit/state/versions"
            for place, _, files in os.walk(versions):
                for each in files: kept.add(read(os.path.join(place, each)))
        known = set(writes.values())
        for path, text in trees[0].items():
            if not path.endswith("/") and text not in known: failed.append(f"{path} is torn: {text[:60]!r}, {len(text)} characters")
        safe = set(trees[0].values()) | kept | bases | gone
        lost = [number for number, text in writes.items() if text not in safe]
        for number in lost[:10]: failed.append(f"write {number} is lost: {places[number]}, {hashlib.sha256(writes[number].encode()).hexdigest()}")
        conflicts = len(kept & known)
        print(f"{options.operations} operations in {seconds:.0f} s (seed {options.seed}): "
              + ", ".join(f"{count} {name}" for name, count in counts.items())
              + f"; {len(trees[0])} items at the end, {conflicts} contents kept as conflicts")
        if failed:
            for name in ["laptop", "phone", "server"]: say(name)
    finally:
        for device in devices:
            if device.process and device.process.poll() is None: device.kill()
            device.run("broker", "stop")
        if server and server.poll() is None:
            server.kill()
            server.wait()
    for sentence in failed: print(f"FAILED: {sentence}")
    print("ok" if not failed else f"{len(failed)} failures")
    sys.exit(1 if failed else 0)
