import Foundation
import TestSupport
import Testing

/// `[network] access`: nothing, the app's own loopback, or the host's network.
@Suite(.serialized, .waiting, .timeLimit(.minutes(20)))
struct NetworkTests {
  private static let script = #"""
    import errno, http.client, os, socket, subprocess, sys, threading, time
    def attempt(name, body):
      try: answer = body()
      except OSError as error: answer = errno.errorcode.get(error.errno, str(error))
      print(name, "ok" if answer is None else answer, flush=True)
    def serve():
      open("/home/user/Documents/page", "w").write("the page")
      server = subprocess.Popen([sys.executable, "-I", "-u", "-m", "http.server", "--bind", "127.0.0.1", "-d", "/home/user/Documents", "8080"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
      server.stdout.readline()
      try:
        page = http.client.HTTPConnection("localhost", 8080, timeout=20); page.request("GET", "/page")
        return page.getresponse().read().decode()
      finally: server.terminate(); server.wait()
    attempt("socket", lambda: socket.socket().close())
    attempt("http", serve)
    def refused():
      with socket.socket() as place: place.connect(("127.0.0.1", 8081))
    attempt("refused", refused)
    def host():
      with socket.socket() as place: place.connect(("127.0.0.1", int(sys.argv[1])))
    attempt("host", host)
    def route():
      with socket.socket(type=socket.SOCK_DGRAM) as place: place.connect(("192.0.2.1", 80))
    attempt("route", route)
    def datagrams():
      with socket.socket(type=socket.SOCK_DGRAM) as one, socket.socket(type=socket.SOCK_DGRAM) as other:
        one.bind(("127.0.0.1", 0)); other.sendto(b"hello", one.getsockname()); return one.recv(9).decode()
    attempt("udp", datagrams)
    def six():
      with socket.create_server(("::1", 0), family=socket.AF_INET6) as server:
        with socket.socket(socket.AF_INET6) as place: place.connect(server.getsockname())
    attempt("six", six)
    def abstract():
      with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as place:
        server.bind("\0own"); server.listen(1); place.connect("\0own")
    attempt("abstract", abstract)
    attempt("netlink", lambda: socket.socket(socket.AF_NETLINK).close())
    # One that waits keeps no other waiting.
    def waiting():
      full = socket.create_server(("127.0.0.1", 0), backlog=0); kept = []
      for _ in range(3):
        place = socket.socket(); place.setblocking(False); kept.append(place)
        try: place.connect(full.getsockname())
        except BlockingIOError: pass
      time.sleep(0.1)
      threading.Thread(target=lambda: socket.socket().connect(full.getsockname()), daemon=True).start()
      time.sleep(0.1)
      with socket.create_server(("127.0.0.1", 0)) as server: socket.socket().connect(server.getsockname())
    attempt("waiting", waiting)
    print("end", flush=True); os._exit(0)
    """#

  private func answers(_ world: Workspace, _ options: [String], bundle: String? = nil, port: Int) throws -> [String:
    String]
  {
    let program =
      bundle.map { [$0, Self.script, "\(port)"] } ?? ["/usr/bin/python3", "-I", "-c", Self.script, "\(port)"]
    let outcome = try world.run([try Products.path("ambit"), "run"] + options + program, patience: .seconds(60))
    let lines = outcome.output.split(separator: "\n")
    #expect(lines.last == "end", "\(outcome)")
    return Dictionary(
      lines.compactMap { line -> (String, String)? in
        let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
        return parts.count == 2 ? (parts[0], parts[1]) : nil
      }, uniquingKeysWith: { $1 })
  }

  /// A service on the host's loopback.
  private final class Service {
    private let process: ChildProcess
    let port: Int
    var isReached: Bool { process.allOutput.contains("reached") }

    init(_ world: Workspace) throws {
      let script = """
        import socket
        server = socket.create_server(("127.0.0.1", 0)); print(server.getsockname()[1], flush=True)
        while True: server.accept()[0].close(); print("reached", flush=True)
        """
      process = try world.start(["/usr/bin/python3", "-I", "-c", script])
      port = try #require(Int(try process.readLine().trimmingCharacters(in: .whitespacesAndNewlines)))
    }
  }

  @Test(arguments: TestUser.all)
  func `none, loopback and host open what they say`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let service = try Service(world)
      for access in ["none", "loopback", "host"] {
        try world.write("inherits = \"default\"\nnetwork.access = \"\(access)\"\n", to: "\(world.home)/\(access).toml")
      }
      let loopback = try answers(world, ["--policy", "loopback.toml"], port: service.port)
      let wanted = [
        "socket": "ok", "http": "the page", "refused": "ECONNREFUSED", "host": "ECONNREFUSED", "route": "ENETUNREACH",
        "udp": "hello", "abstract": "ok", "netlink": "EAFNOSUPPORT", "waiting": "ok",
      ]
      #expect(loopback.filter { wanted.keys.contains($0.key) } == wanted)
      // As far as the machine has IPv6 at all.
      #expect(["ok", "EADDRNOTAVAIL", "EAFNOSUPPORT"].contains(loopback["six"]))
      #expect(!service.isReached, "the app's loopback is not the host's")

      let none = try answers(world, ["--policy", "none.toml", "--container", "io.none"], port: service.port)
      let refused = none.filter { $0.value == "EAFNOSUPPORT" }.keys
      #expect(Set(refused).isSuperset(of: ["socket", "refused", "host", "route", "udp", "netlink"]), "\(none)")
      #expect(none["abstract"] == "ok" && none["http"] != "the page")

      // The control: with the host's network the same program reaches the service.
      let host = try answers(world, ["--policy", "host.toml", "--container", "io.host"], port: service.port)
      #expect(host["host"] == "ok" && host["abstract"] == "EPERM", "\(host)")
      try Deadline.wait(.seconds(5), for: "the service to be reached") { service.isReached }
    }
  }

  @Test func `a loopback of its own is a network layer in full`() throws {
    try Workspace.with(TestUser.all[0]) { world in
      try world.write("network.access = \"loopback\"\n", to: "\(world.home)/loopback.toml")
      let plan = try world.ambit("plan", "--policy", "loopback.toml", "--format", "json", "/bin/sh")
      let layers = JSON(plan.output)?["layers"]?.array ?? []
      #expect(layers.first { $0["layer"] == "network" }?["enforcement"] == "full", "\(plan)")
      #expect(try world.ambit("plan", "--policy", "loopback.toml", "/bin/sh").output.contains("the app's own loopback"))
      try world.write(
        "inherits = \"default\"\nnetwork.access = \"loopback\"\nrequire.layers = [\"network\"]\n",
        to: "\(world.home)/required.toml")
      #expect(try world.ambit("run", "--policy", "required.toml", "/bin/true").exit == .status(0))
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `an entitlement opens what the policy says`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let service = try Service(world)
      let entitlements = """
        <?xml version="1.0" encoding="UTF-8"?>
        <plist version="1.0"><dict><key>com.apple.security.network.client</key><true/></dict></plist>

        """
      let bundle = try world.bundle(
        "Net", identifier: "io.ambit.tests.net", script: "#!/bin/sh\nexec /usr/bin/python3 -I -c \"$@\"\n",
        entitlements: entitlements)
      try world.write(
        "inherits = \"default\"\nnetwork.entitled = \"loopback\"\nentitlements.trust = \"declared\"\n",
        to: "\(world.home)/p.toml")
      let lesser = try answers(world, ["--policy", "p.toml"], bundle: bundle, port: service.port)
      #expect(lesser["http"] == "the page" && lesser["host"] == "ECONNREFUSED", "\(lesser)")
      #expect(!service.isReached)
      let usual = try answers(world, ["--allow-entitlement", "network.client"], bundle: bundle, port: service.port)
      #expect(usual["host"] == "ok", "\(usual)")
      // Without the entitlement it opens nothing.
      let without = try answers(world, ["--policy", "p.toml", "--container", "io.without"], port: service.port)
      #expect(without["socket"] == "EAFNOSUPPORT", "\(without)")
    }
  }
}
