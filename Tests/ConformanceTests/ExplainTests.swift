import Foundation
import TestSupport
import Testing

/// What `ambit audit explain` and `audit diff` say, held against what then happens in a sandbox.
@Suite(.serialized, .waiting, .timeLimit(.minutes(20)))
struct ExplainTests {
  /// Tries each thing and says whether it worked. Its arguments: a port on the host's loopback, that service's process, and a
  /// folder of the user's.
  private static let script = #"""
    import os, shutil, socket, subprocess, sys, time
    port, process, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    def attempt(name, body):
      try: answer = body()
      except OSError: answer = False
      print(name, "yes" if answer is None or answer else "no", flush=True)
    def connect(): socket.create_connection(("127.0.0.1", port), timeout=20).close()
    def own():
      with socket.create_server(("127.0.0.1", 0)) as server: socket.create_connection(server.getsockname(), timeout=20).close()
    def run():
      shutil.copy("/usr/bin/true", "/home/user/own"); os.chmod("/home/user/own", 0o755)
      return subprocess.run(["/home/user/own"]).returncode == 0
    def twenty():
      children = []
      try:
        for _ in range(20):
          child = os.fork()
          if child == 0: time.sleep(60); os._exit(0)
          children.append(child)
      finally:
        for child in children: os.kill(child, 9); os.waitpid(child, 0)
    def hundred():
      kept = [open("/dev/null") for _ in range(100)]
    def large():
      with open("/home/user/large", "wb") as file: file.write(b"x" * 65536)
    def system():
      with open("/usr/share/ambit-test", "w") as file: file.write("x")
    attempt("hostLoopback", connect)
    attempt("ownLoopback", own)
    attempt("runOwn", run)
    attempt("processes", twenty)
    attempt("openFiles", hundred)
    attempt("largestFile", large)
    attempt("writePath", system)
    attempt("readPath", lambda: os.listdir(folder) != [])
    attempt("seeVariable", lambda: os.environ.get("HINT") == "seen")
    attempt("givenVariable", lambda: os.environ.get("GIVEN") == "from the policy")
    attempt("seeProcesses", lambda: os.kill(process, 0))
    """#

  /// What of it the script tries, in numbers that an ability has to reach.
  private static let needed = ["processes": 24, "openFiles": 110, "largestFile": 65536]

  private static func policies(_ folder: String) -> [String] {
    [
      """
      inherits = "default"
      network.access = "host"
      files.execute = true
      limits.processes = 512
      limits.open_files = 1024
      system.read_only = ["\(folder)"]
      environment.pass = ["HI*"]
      environment.set = { GIVEN = "from the policy" }
      """,
      """
      inherits = "default"
      network.access = "loopback"
      limits.processes = 12
      limits.open_files = 64
      limits.file_size = 4096
      environment.pass = ["LANG", "HINTS"]
      """,
      "",
    ]
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `What is said to be possible is, and what is said to be impossible is not`(user: TestUser) throws {
    try Workspace.with(user) { world in
      try world.document("letter.txt", "dear")
      let folder = "\(world.home)/Papers"
      let server = """
        import os, socket
        server = socket.create_server(("127.0.0.1", 0)); print(server.getsockname()[1], os.getpid(), flush=True)
        while True: server.accept()[0].close()
        """
      let service = try world.start(["/usr/bin/python3", "-I", "-c", server])
      let place = try service.readLine().split(whereSeparator: \.isWhitespace).map(String.init)

      var answers: [String: Set<String>] = [:]
      for (number, text) in Self.policies(folder).enumerated() {
        let policy = "\(world.home)/p\(number).toml"
        try world.write(text, to: policy)
        let explained = try world.ambit("audit", "explain", "--format", "json", "/usr/bin/python3@\(policy)")
        let said = try #require(JSON(explained.output)?["abilities"]?.array, "\(explained)")
        let happened = try world.ambit(
          "run", "--policy", policy, "/usr/bin/python3", "-I", "-c", Self.script, place[0], place[1], folder,
          environment: ["HINT": "seen"], patience: .seconds(60))
        let lines = happened.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        try #require(lines.count == 11, "\(happened)")
        for line in lines {
          answers[line[0], default: []].insert(line[1])
          let isSaid = said.contains { Self.says($0, line[0], folder) }
          #expect(isSaid == (line[1] == "yes"), "\(line) under policy \(number): \(happened)")
        }
      }
      // Each works under some policy and fails under another, but for what no policy opens.
      for (attempt, seen) in answers {
        #expect(seen == (["writePath", "seeProcesses"].contains(attempt) ? ["no"] : ["yes", "no"]), "\(attempt)")
      }
    }
  }

  /// Whether an entry of an explanation says that the script's attempt works.
  private static func says(_ entry: JSON, _ attempt: String, _ folder: String) -> Bool {
    guard entry["ability"]?.string == attempt else { return false }
    switch attempt {
    case "readPath": if entry["subject"]?.string != folder { return false }
    case "seeVariable": if !["HINT", "HI*"].contains(entry["subject"]?.string) { return false }
    case "givenVariable": if entry["subject"]?.string != "GIVEN" { return false }
    default: break
    }
    if entry["extent"] == "upTo" { return entry["amount"]?.int ?? 0 >= needed[attempt] ?? 0 }
    return entry["extent"] == "yes"
  }

  @Test func `audit diff says by its exit status whether anything widens`() throws {
    try Workspace.with(.root) { world in
      let app = try world.bundle(
        "Notes", identifier: "org.example.notes",
        entitlements: """
          <?xml version="1.0" encoding="UTF-8"?>
          <plist version="1.0"><dict><key>com.apple.security.network.client</key><true/></dict></plist>
          """)
      func status(_ words: String...) throws -> ChildProcess.Exit {
        try world.run([try Products.path("ambit"), "audit", "diff"] + words).exit
      }
      #expect(try status("strict", "strict") == .status(0))
      #expect(try status("strict", "default") == .status(1))
      #expect(try status("default", "strict") == .status(2))
      #expect(try status("--fail-on", "widening", "default", "strict") == .status(0))
      #expect(try status("--fail-on", "widening", "strict", "default") == .status(1))
      #expect(try status("--fail-on", "never", "strict", "default") == .status(0))
      #expect(try status("default", "nonsense") == .status(125))
      let answer = try world.ambit("audit", "diff", "--format", "json", app, "strict")
      let changes = try #require(JSON(answer.output)?["changes"]?.array, "\(answer)")
      let network = try #require(changes.first { $0["ability"] == "connectOut" })
      #expect(network["change"] == "impossible" && network["before"]?["extent"] == "ifAllowed")
      #expect(network["decisions"]?.array?.first?["file"] == "built-in:strict")
      #expect(answer.exit == .status(2))
    }
  }

  @Test func `audit explain of a folder lists its apps by their exposure, and what cannot be read behind them`() throws
  {
    try Workspace.with(.root) { world in
      try world.bundle("Quiet", identifier: "org.example.quiet")
      try world.bundle(
        "Loud", identifier: "org.example.loud",
        entitlements: """
          <?xml version="1.0" encoding="UTF-8"?>
          <plist version="1.0"><dict><key>com.apple.security.network.client</key><true/></dict></plist>
          """)
      let broken = try world.bundle("Broken", identifier: "org.example.broken")
      try world.write("nonsense", to: "\(broken)/Info.plist")
      // As macOS has them, and so not to be launched here.
      let mac = "\(world.folder)/Applications/more/Mac.app/Contents"
      try world.makeFolder(mac)
      try world.write(
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <plist version="1.0"><dict><key>CFBundleIdentifier</key><string>org.example.mac</string>
        <key>CFBundleExecutable</key><string>Mac</string><key>UISupportsDocumentBrowser</key><true/></dict></plist>
        """, to: "\(mac)/Info.plist")
      let answer = try world.ambit("audit", "explain", "--format", "json", "--bulk", "\(world.folder)/Applications")
      #expect(answer.exit == .status(0))
      let lines = answer.output.split(separator: "\n").compactMap { JSON(String($0)) }
      #expect(
        lines.map { $0["identifier"]?.string } == ["org.example.loud", "org.example.mac", "org.example.quiet", nil],
        "\(answer)")
      #expect(lines.last?["problem"]?.string?.contains("Broken.app/Info.plist") == true)
      let empty = try world.ambit("audit", "explain", "--bulk", "\(world.home)/Papers")
      #expect(empty.exit == .status(125) && empty.errors.contains("There is no app"), "\(empty)")
    }
  }

  @Test func `audit explain names the file and the line of what is wrong with a policy`() throws {
    try Workspace.with(.root) { world in
      try world.write("inherits = \"default\"\n[scopes]\nlimt = 4\n", to: "\(world.home)/p.toml")
      let answer = try world.ambit("audit", "explain", "\(world.home)/p.toml")
      #expect(answer.exit == .status(125))
      #expect(answer.errors.contains("\(world.home)/p.toml:3:1: unknown key \"limt\""), "\(answer)")
      let nothing = try world.ambit("audit", "explain", "nonsense")
      #expect(nothing.errors.contains("There is no policy called \"nonsense\""), "\(nothing)")
    }
  }
}
