#!/usr/bin/env python3
"""Lives of the simulation, played again with real processes and files: both have to end in the same state.

usage: cloud-real.py FOLDER-OF-PROGRAMS [--first N] [--every N] [--seeds N] [--steps N]

`ambit cloud simulate --acts` prints the acts of a seed's users, its offline spells, and its kills; after each of them the simulated devices
settle. This program does the same to a real cloud, with brokers, folders and SIGKILL, and waits at the same places. A device goes offline
by a relay of its own, which cuts its connections. In the end each device has to have the documents and contents that the simulation
says, and the conflict versions have to be the same.

Compared are paths, contents, and the contents of conflict versions. Not replayed are lost and repeated messages and half-done batches:
they need the simulation's network.
"""
import argparse, hashlib, json, os, re, shutil, signal, socket, subprocess, sys, tempfile, threading, time

parser = argparse.ArgumentParser()
parser.add_argument("programs")
parser.add_argument("--first", type=int, default=1000)
parser.add_argument("--every", type=int, default=1000)
parser.add_argument("--seeds", type=int, default=10)
parser.add_argument("--steps", type=int, default=120)
options = parser.parse_args()
ambit = os.path.join(os.path.abspath(options.programs), "ambit")


class Relay:
    """A socket of one device: passes bytes and descriptors on to the cloud, as long as the device is online."""
    def __init__(self, path, cloud):
        self.cloud, self.online, self.pairs, self.lock = cloud, True, set(), threading.Lock()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(64)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try: near, _ = self.listener.accept()
            except OSError: return
            far = socket.socket(socket.AF_UNIX)
            try:
                if not self.online: raise OSError
                far.connect(self.cloud)
            except OSError:
                near.close()
                far.close()
                continue
            with self.lock: self.pairs.add((near, far))
            for one, other in [(near, far), (far, near)]:
                threading.Thread(target=self.carry, args=(one, other, (near, far)), daemon=True).start()

    def carry(self, one, other, pair):
        try:
            while True:
                data, files, _, _ = socket.recv_fds(one, 1 << 16, 253)
                if not data: break
                sent = socket.send_fds(other, [data], files)
                for file in files: os.close(file)
                other.sendall(data[sent:])
        except OSError: pass
        self.cut([pair])

    def cut(self, pairs):
        for pair in pairs:
            for end in pair:
                try: end.shutdown(socket.SHUT_RDWR)
                except OSError: pass
        with self.lock: self.pairs.difference_update(pairs)

    def set(self, online):
        self.online = online
        if not online:
            with self.lock: pairs = list(self.pairs)
            self.cut(pairs)


class Device:
    def __init__(self, base, name):
        self.name, self.folder, self.home, self.base = name, f"{base}/{name}", f"{base}/home-{name}", base
        os.makedirs(self.folder)
        os.makedirs(self.home)
        self.log = f"{base}/{name}.log"
        self.environment = dict(os.environ, HOME=self.home, AMBIT_HOME=f"{self.home}/ambit", AMBIT_BROKER_IDLE="600")
        self.relay = Relay(f"{base}/{name}.socket", f"{base}/cloud.socket")
        self.start()

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [ambit, "cloud", "sync", self.folder, "--cloud", f"{self.base}/{self.name}.socket", "--device", self.name, "--trace"],
                env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def path(self, inner): return os.path.join(self.folder, inner)

    def listing(self):
        lines = []
        for place, folders, files in os.walk(self.folder):
            folders[:] = [each for each in folders if not each.startswith(".")]
            for each in folders: lines.append(os.path.relpath(os.path.join(place, each), self.folder) + "/")
            for each in files:
                if each.startswith("."): continue
                with open(os.path.join(place, each)) as file:
                    lines.append(os.path.relpath(os.path.join(place, each), self.folder) + " " + file.read())
        return sorted(lines)

    def kept(self):
        found = set()
        for place, _, files in os.walk(f"{self.home}/ambit/state/versions"):
            for each in files:
                with open(os.path.join(place, each)) as file: found.add(file.read())
        return found

    def is_settled(self):
        with open(self.log, "rb") as file:
            file.seek(max(0, os.path.getsize(self.log) - 400))
            last = file.read().decode(errors="replace").rstrip().rpartition("\n")[2]
        return not self.relay.online or "the same as the cloud" in last


def play(seed):
    """- Returns: the sentences that say where the real end differs."""
    asked = subprocess.run(
        [ambit, "cloud", "simulate", "--acts", "--first", str(seed), "--steps", str(options.steps)], capture_output=True, text=True)
    if asked.returncode != 0: return [f"the simulation fails: {asked.stdout}{asked.stderr}"], 0
    life = json.loads(asked.stdout)
    failed, base = [], tempfile.mkdtemp(prefix="cloud-real-")
    devices, server = {}, None

    def serve():
        process = subprocess.Popen(
            [ambit, "cloud", "serve", f"{base}/cloud.socket", "--store", f"{base}/store"], stdin=subprocess.DEVNULL,
            stdout=open(f"{base}/server.log", "ab"), stderr=subprocess.STDOUT)
        while True:
            probe = socket.socket(socket.AF_UNIX)
            try:
                probe.connect(f"{base}/cloud.socket")
                probe.close()
                return process
            except OSError: time.sleep(0.01)

    def settle():
        """All logs are quiet, and each device that is online has said that it is the same as the cloud."""
        due, quiet, before = time.monotonic() + 90, time.monotonic(), None
        while time.monotonic() < due:
            sizes = [os.path.getsize(device.log) for device in devices.values()]
            if sizes != before or not all(device.is_settled() for device in devices.values()):
                before, quiet = sizes, time.monotonic()
            if time.monotonic() - quiet > 0.25: return True
            time.sleep(0.02)
        return False

    try:
        server = serve()
        for name in ["A", "B", "C"][:life["devices"]]: devices[name] = Device(base, name)
        if not settle(): failed.append("the devices do not settle at the start")
        for number, act in enumerate(life["acts"]):
            device, verb, words = devices.get(act[0]), act[1], act[2:]
            if verb == "write":
                with open(device.path(words[0]), "w") as file: file.write(words[1])
            elif verb == "save":
                with open(device.path(".new"), "w") as file: file.write(words[1])
                os.rename(device.path(".new"), device.path(words[0]))
            elif verb == "mkdir": os.mkdir(device.path(words[0]))
            elif verb == "move": os.rename(device.path(words[0]), device.path(words[1]))
            elif verb == "delete":
                if os.path.isdir(device.path(words[0])): shutil.rmtree(device.path(words[0]))
                else: os.remove(device.path(words[0]))
            elif verb == "offline": device.relay.set(False)
            elif verb == "online": device.relay.set(True)
            elif verb == "crash":
                device.kill()
                device.start()
            else:
                server.kill()
                server.wait()
                server = serve()
            if not settle():
                failed.append(f"the devices do not settle after act {number}: {act}")
                break
        for device in devices.values():
            listing = device.listing()
            if listing != life["listing"]:
                failed.append(f"{device.name} has {sorted(set(listing) - set(life['listing']))} and lacks "
                              f"{sorted(set(life['listing']) - set(listing))}")
        kept = set().union(*(device.kept() for device in devices.values()))
        # A version store keeps other versions as well: the simulation's have to be among them.
        if not set(life["kept"]) <= kept: failed.append(f"conflicts {sorted(set(life['kept']) - kept)} are not kept")
        return failed, len(life["acts"])
    except Exception as error:
        return failed + [f"act {number} {act}: {error}"], len(life["acts"])
    finally:
        for device in devices.values():
            if device.process.poll() is None: device.kill()
            subprocess.run([ambit, "broker", "stop"], env=device.environment, capture_output=True)
            device.relay.listener.close()
        if server:
            server.kill()
            server.wait()
        if failed and "KEEP_LOGS" in os.environ:
            for each in os.listdir(base):
                if each.endswith(".log"): shutil.copy(f"{base}/{each}", f"{os.environ['KEEP_LOGS']}/{seed}-{each}")
        shutil.rmtree(base, ignore_errors=True)


count = 0
for index in range(options.seeds):
    seed = options.first + index * options.every
    began = time.monotonic()
    failed, acts = play(seed)
    print(f"seed {seed}: {acts} acts in {time.monotonic() - began:.0f} s, {'the same end' if not failed else 'ANOTHER END'}", flush=True)
    for sentence in failed: print(f"  {sentence}", flush=True)
    count += bool(failed)
print("ok" if not count else f"{count} of {options.seeds} seeds differ")
sys.exit(1 if count else 0)
