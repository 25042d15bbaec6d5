"""What the adapters share: the read loop, the agent as a child process, and the end of everything.

An adapter is a subclass of `Adapter` with a `system`, its `capabilities`, `version`, `absent` and `command`; everything else has a
default. docs/reference/adapters.md describes the protocol, docs/how-to/add-your-system.md how to write one.
"""
import ctypes
import glob
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from typing import Dict, List, NoReturn, Optional

# What scripts/conform-deps.sh has built, and the packages of PyPI that it has fetched, each in a folder of its own.
TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
# `ambit conform` runs a copy of this folder, where every user can read it, and says where these are.
BUILT = os.environ.get("AMBIT_ADAPTERS") or os.path.join(TOP, ".build", "adapters")
PACKAGES = os.path.join(BUILT, "python")
sys.path += glob.glob(os.path.join(PACKAGES, "*"))

# Long enough for `watched` and `run`, which wait themselves.
ANSWER_SECONDS = 90.0
START_SECONDS = 20.0
END_SECONDS = 5.0

Answer = Dict[str, object]
DONE: Answer = {"done": True}

libc = ctypes.CDLL(None, use_errno=True)
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36


class Unsupported(Exception):
    """The system has no notion of this. The message says what exactly it has not."""


class Failure(Exception):
    """The system should have done it and did not. The message is the system's own, where it gives one."""


class Document:
    """A file or folder of the user's, granted to one app."""

    def __init__(self, request: Answer) -> None:
        self.path = str(request["path"])
        self.name = os.path.basename(self.path)
        self.folder = request["kind"] == "folder"
        self.writable = request["access"] == "write"
        self.label = str(request["as"])
        # Where the app sees it. Many systems show it where it is.
        self.shown = self.path


class App:
    """One app of a scenario: its container and documents last longer than its process."""

    def __init__(self, name: str, container: str) -> None:
        self.name = name
        self.container = container
        self.shown = container
        self.documents: Dict[str, Document] = {}
        self.process: Optional[subprocess.Popen] = None
        self.unread = b""


class Adapter:
    """One system. `main` runs it."""

    system = ""
    capabilities: List[str] = []
    # How `end` with `kill` begins. A system that has to clear up after an app gets a signal that lets it.
    end_signal = signal.SIGKILL

    # What a subclass says of its system.

    def version(self) -> str:
        """The system's version, as it says itself."""
        return ""

    def absent(self) -> Optional[str]:
        """Why the system cannot run here, or None."""
        return None

    def command(self, app: App) -> List[str]:
        """The program and arguments that run `self.agent` for this app."""
        raise NotImplementedError

    @staticmethod
    def inside(plan: Answer) -> None:
        """Confines this process, a child of the adapter, and becomes the agent. For systems that are libraries: then `command`
        is `self.launcher(app)`."""
        raise NotImplementedError

    def environment(self, app: App) -> Dict[str, str]:
        """The environment of that program. A system that passes it on passes all of it on."""
        return dict(os.environ)

    def show(self, app: App, document: Document) -> None:
        """Sets `document.shown`, or refuses the grant."""

    def ended(self, app: App) -> None:
        """Does what is left to do when an app's process has ended."""

    def clean(self) -> None:
        """Ends what `setUp` began. Called once more when there is nothing to end."""

    # Requests. A subclass overrides those for which its system has more to do.

    def hello(self, request: Answer) -> Answer:
        reason = self.absent()
        if reason:
            return {"absent": reason}
        return {"done": True, "system": self.system, "version": self.version(), "capabilities": self.capabilities}

    def setUp(self, request: Answer) -> Answer:
        self.folder, self.home, agent = (str(request[key]) for key in ("folder", "home", "agent"))
        # A build's folder is often a link, and not every system shows what a link leads to.
        self.agent = os.path.realpath(agent)
        return DONE

    def launch(self, request: Answer) -> Answer:
        app = self.app(request)
        if app.process:
            raise Failure(f"{app.name} runs already")
        self.begin(app)
        return {"done": True, "container": app.shown, "hostContainer": app.container}

    def grant(self, request: Answer) -> Answer:
        app, document = self.app(request), Document(request)
        if app.process and "later" not in self.capabilities:
            raise Unsupported(f"{self.system} grants nothing while the app runs")
        self.show(app, document)
        app.documents[document.label] = document
        return {"done": True, "path": document.shown}

    def act(self, request: Answer) -> Answer:
        return self.ask(self.app(request), request["request"])

    def start(self, request: Answer) -> Answer:
        raise Unsupported(f"{self.system} has no scopes")

    def stop(self, request: Answer) -> Answer:
        raise Unsupported(f"{self.system} has no scopes")

    def revoke(self, request: Answer) -> Answer:
        raise Unsupported(f"{self.system} takes nothing back while the app runs")

    def end(self, request: Answer) -> Answer:
        app = self.app(request)
        if not app.process:
            raise Failure(f"{app.name} does not run")
        self.finish(app, by_itself=request.get("how") == "close")
        return DONE

    def tearDown(self, request: Answer) -> Answer:
        self.clear()
        return DONE

    # What subclasses can use.

    def app(self, request: Answer) -> App:
        name = str(request["app"])
        if name not in self.apps:
            container = os.path.join(self.folder, "containers", name)
            os.makedirs(container, exist_ok=True)
            self.apps[name] = App(name, container)
        return self.apps[name]

    def ask(self, app: App, request: object) -> Answer:
        """Sends one request to the app's agent and returns its answer."""
        if not app.process:
            raise Failure(f"{app.name} does not run")
        self.send(app, request)
        return json.loads(self.line(app, ANSWER_SECONDS))

    def launcher(self, app: App) -> List[str]:
        """The adapter's own program, which calls `inside` with what the app may use."""
        plan = {
            "agent": self.agent, "container": app.container,
            "documents": [{"path": document.path, "folder": document.folder, "writable": document.writable, "shown": document.shown}
                          for document in app.documents.values()],
        }
        return [sys.executable, "-B", os.path.realpath(sys.argv[0]), "inside", json.dumps(plan)]

    # The rest is the adapter's own.

    def __init__(self) -> None:
        self.apps: Dict[str, App] = {}
        self.folder = self.home = self.agent = ""

    def begin(self, app: App) -> None:
        """Starts the agent, and waits for an answer so that a system's own failure shows at the launch."""
        app.unread = b""
        with open(os.path.join(self.folder, app.name + ".errors"), "wb") as errors:
            app.process = start_child(self.command(app), self.environment(app), subprocess.PIPE, subprocess.PIPE, errors)
        self.send(app, {"do": "pid"})
        self.line(app, START_SECONDS)

    def send(self, app: App, request: object) -> None:
        try:
            app.process.stdin.write(json.dumps(request).encode() + b"\n")
            app.process.stdin.flush()
        except BrokenPipeError:
            self.fail(app, "the app has ended")

    def line(self, app: App, seconds: float) -> bytes:
        until = time.monotonic() + seconds
        while b"\n" not in app.unread:
            ready, _, _ = select.select([app.process.stdout], [], [], max(0.0, until - time.monotonic()))
            if not ready:
                self.fail(app, f"no answer within {seconds:.0f} seconds")
            block = os.read(app.process.stdout.fileno(), 65536)
            if not block:
                self.fail(app, "the app has ended")
            app.unread += block
        line, app.unread = app.unread.split(b"\n", 1)
        return line

    def fail(self, app: App, reason: str) -> NoReturn:
        """Ends the app, and says the last that the system said."""
        status = self.finish(app, by_itself=False)
        try:
            with open(os.path.join(self.folder, app.name + ".errors"), errors="replace") as file:
                said = [line.strip() for line in file if line.strip()]
        except OSError:
            said = []
        raise Failure(": ".join([reason] + said[-3:]) if said else f"{reason} (status {status})")

    def finish(self, app: App, by_itself: bool) -> Optional[int]:
        """Ends the app, its process group with it."""
        process, app.process = app.process, None
        status = end_child(process, by_itself, self.end_signal)
        if "later" not in self.capabilities:
            app.documents.clear()
        self.ended(app)
        if by_itself and status is None:
            raise Failure(f"{app.name} did not leave when its input ended")
        return status

    def clear(self) -> None:
        """Ends everything of the scenario. Each step is taken whatever became of the one before."""
        for app in list(self.apps.values()):
            if app.process:
                self.finish(app, by_itself=False)
        self.apps.clear()
        try:
            self.clean()
        finally:
            end_descendants()
            if self.folder:
                empty(self.folder)
            self.folder = ""

    def answer(self, line: bytes) -> Answer:
        try:
            request = json.loads(line)
            name = request["do"]
            if name not in ("hello", "setUp", "launch", "grant", "act", "start", "stop", "revoke", "end", "tearDown"):
                return {"unsupported": f"no request is called “{name}”"}
            return getattr(self, name)(request)
        except Unsupported as reason:
            return {"unsupported": str(reason)}
        except Failure as reason:
            return {"error": str(reason)}
        except Exception as reason:  # Whatever an adapter did not think of is its answer, not its end.
            return {"error": f"{type(reason).__name__}: {reason}"}

    @classmethod
    def main(cls) -> None:
        """Answers requests until the input ends or a signal comes, and leaves nothing behind."""
        if sys.argv[1:2] == ["inside"]:
            return cls.inside(json.loads(sys.argv[2]))
        # A signal ends the loop once. A second one, or one that comes while the adapter leaves already, changes nothing.
        leaving: List[int] = []

        def leave(number: int, frame: object) -> None:
            if not leaving:
                leaving.append(number)
                sys.exit(128 + number)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, leave)
        # Processes that a system has left to themselves come to the adapter, which ends them.
        libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        adapter = cls()
        try:
            try:
                for line in iter(sys.stdin.buffer.readline, b""):
                    print(json.dumps(adapter.answer(line)), flush=True)
            except BrokenPipeError:
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            finally:
                leaving.append(0)
        finally:
            adapter.clear()


def start_child(
    command: List[str], environment: Dict[str, str], stdin, stdout, stderr, on_death: int = signal.SIGKILL
) -> subprocess.Popen:
    """Starts a program as the leader of a session of its own, which gets a signal when the adapter is killed."""
    def prepare() -> None:
        libc.prctl(PR_SET_PDEATHSIG, on_death, 0, 0, 0)
    return subprocess.Popen(
        command, env=environment, stdin=stdin, stdout=stdout, stderr=stderr, start_new_session=True, preexec_fn=prepare)


def end_child(process: subprocess.Popen, by_itself: bool, first: int = signal.SIGKILL) -> Optional[int]:
    """Ends a child and all that it started. None if it was to leave by itself and did not."""
    status = None
    started = descendants(process.pid)
    if not by_itself and first == signal.SIGKILL:
        # What runs under a system goes before the system: without it, some cannot even leave.
        for pid in started:
            kill(pid)
    if not by_itself:
        kill_group(process.pid, first)
    try:
        process.stdin.close()
    except OSError:  # What was not written yet has no reader.
        pass
    if by_itself or first != signal.SIGKILL:
        try:
            status = process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            pass
    kill_group(process.pid, signal.SIGKILL)
    process.wait()
    # By now a number may be another process's. One of the adapter's own it is only below the adapter.
    for pid in set(started) & set(descendants(os.getpid())):
        kill(pid)
    process.stdout.close()
    return status if by_itself else process.returncode


def descendants(of: int) -> List[int]:
    """The processes below one, as /proc shows them."""
    children: Dict[int, List[int]] = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat") as file:
                parent = int(file.read().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue
        children.setdefault(parent, []).append(int(name))
    found, waiting = [], [of]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def kill_group(pid: int, number: int) -> None:
    try:
        os.killpg(pid, number)
    except OSError:
        pass


def kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        pass


def end_descendants() -> None:
    """Kills what still runs below the adapter, until nothing does."""
    until = time.monotonic() + END_SECONDS
    while time.monotonic() < until:
        left = descendants(os.getpid())
        if not left:
            return
        for pid in left:
            kill(pid)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.01)


def empty(folder: str) -> None:
    """Removes what is in a folder, and leaves the folder."""
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path, ignore_errors=True)
        else:
            os.unlink(path)


def system_folders() -> List[str]:
    """Where programs and libraries lie. A link into /usr is none of its own."""
    names = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
    return [name for name in names if os.path.isdir(name) and not os.path.islink(name)]


def bubblewrap(home: str) -> List[str]:
    """The command line of bubblewrap before anything is granted: new namespaces, /usr alone, no environment."""
    arguments = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv",
                 "--setenv", "PATH", "/usr/bin:/bin", "--setenv", "HOME", home, "--ro-bind", "/usr", "/usr"]
    for name in ("/bin", "/sbin", "/lib", "/lib32", "/lib64"):
        if os.path.islink(name):
            arguments += ["--symlink", os.readlink(name), name]
        else:
            arguments += ["--ro-bind-try", name, name]
    return arguments + ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]


def first_line(command: List[str]) -> str:
    """What a program prints first, such as its version."""
    result = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    lines = result.stdout.decode(errors="replace").strip().splitlines()
    return lines[0].strip() if lines else ""


def trial(command: List[str]) -> Optional[str]:
    """Runs a command that ought to succeed. Why it did not, or None."""
    try:
        result = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as reason:
        return str(reason)
    if result.returncode == 0:
        return None
    lines = [line.strip() for line in result.stderr.decode(errors="replace").splitlines() if line.strip()]
    errors = [line for line in lines if "rror" in line] or lines[-1:]
    return errors[0] if errors else f"{command[0]} ended with status {result.returncode}"
