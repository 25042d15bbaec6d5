import Audit
import Foundation
import TestSupport
import Testing

/// What Ambit says beforehand against what happens.
@Suite(.serialized, .waiting)
struct WhyTests {
  private func verdict(_ world: Workspace, _ arguments: String...) throws -> String {
    let answer = try world.run([try Products.path("ambit"), "why", "--format", "json"] + arguments)
    let said = try #require(JSON(answer.output), "\(answer)")
    let verdict = said["verdict"]?.string ?? ""
    #expect(answer.exit == .status(["allowed": 0, "refused": 1][verdict] ?? 2), "\(answer)")
    return "\(verdict) \(said["rule"]?.string?.split(separator: " ").first ?? "")"
  }

  @Test(arguments: TestUser.one(.root))
  func `AUD-1: ambit why knows what the user granted, with a broker and without, and starts none`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      // The tests' folders lie where the app has a folder of its own.
      let notGranted = "allowed /tmp"
      let letter = try world.document("letter.txt", "text")
      let other = try world.document("other.txt", "text")
      let folder = "\(world.home)/Folder"
      try world.makeFolder(folder)
      try world.write("in", to: "\(folder)/in.txt")
      let app = try world.bundle("Probe", identifier: Workspace.identifier("Probe"))
      #expect(try verdict(world, app, "read", letter) == notGranted)
      #expect(try world.probe().finish() == .status(0))
      for document in [letter, folder] {
        let given = try world.ambit("grant", Workspace.identifier("Probe"), document)
        try #require(given.exit == .status(0), "\(given)")
      }
      let given = try world.ambit("grant", "--read-only", Workspace.identifier("Probe"), other)
      try #require(given.exit == .status(0), "\(given)")
      let grant = try #require(try world.audit(.grant).first?.grant)
      func expectAnswers() throws {
        #expect(try verdict(world, app, "read", letter) == "allowed grant")
        #expect(try verdict(world, app, "write", letter) == "allowed grant")
        #expect(try verdict(world, app, "write", "/documents/\(grant)/letter.txt") == "allowed grant")
        #expect(try verdict(world, app, "create", "/documents/\(grant)/beside") == "allowed grant")
        #expect(try verdict(world, app, "read", "\(folder)/in.txt") == "allowed grant")
        #expect(try verdict(world, app, "create", "\(folder)/new") == "allowed grant")
        #expect(try verdict(world, app, "connect", "\(folder)/socket") == "refused sockets")
        #expect(try verdict(world, app, "read", other) == "allowed grant")
        #expect(try verdict(world, app, "write", other) == "refused grant")
        #expect(try verdict(world, app, "read", "\(world.home)/Papers") == notGranted)
        #expect(try verdict(world, "/bin/sh", "read", letter) == notGranted)
      }
      try expectAnswers()
      #expect(try world.ambit("broker", "stop").exit == .status(0))
      try expectAnswers()
      #expect(try world.brokerProcess() == nil)
      try world.rename(letter, to: "\(world.home)/elsewhere.txt")
      #expect(try verdict(world, app, "read", letter) == "unknown grant")
      #expect(try world.ambit("revoke", grant).exit == .status(0))
      #expect(try verdict(world, app, "read", letter) == notGranted)
    }
  }

  @Test func `AUD-13: ambit why knows where an app can connect to`() throws {
    try Workspace.with(.root) { world in
      for access in ["none", "loopback", "host"] {
        let policy = "\(world.home)/\(access).toml"
        try world.write("[network]\naccess = \"\(access)\"\n", to: policy)
        func verdict(_ target: String) throws -> String {
          try self.verdict(world, "--policy", policy, "/bin/sh", "connect", target)
        }
        let (near, far, name, abstract) = (
          try verdict("127.0.0.1:80"), try verdict("[2001:db8::1]:443"), try verdict("example.org:443"),
          try verdict("@name")
        )
        switch access {
        case "none": #expect([near, far, name] == Array(repeating: "refused network", count: 3))
        case "loopback": #expect([near, far, name] == ["allowed network", "refused network", "unknown network"])
        default: #expect([near, far, name] == Array(repeating: "allowed network", count: 3))
        }
        #expect(abstract == (access == "host" ? "refused sockets" : "allowed sockets"))
        #expect(try verdict("/home/user/socket") == "allowed /home/user")
      }
    }
  }

  @Test func `ambit why connect takes no word for a path that may be an address without its port`() throws {
    try Workspace.with(.root) { world in
      for word in ["example.org", "example.org:", "example.org:99999"] {
        let answer = try world.ambit("why", "/bin/sh", "connect", word)
        #expect(answer.exit == .status(64) && answer.output.isEmpty, "\(answer)")
        #expect(answer.errors.contains("HOST:PORT"), "\(answer)")
      }
    }
  }

  @Test func `ambit why knows calls by name, and an unknown one is an error`() throws {
    try Workspace.with(.root) { world in
      for (call, status) in [("read", 0), ("ioctl", 0), ("ptrace", 1), ("clone3", 1), ("keyctl", 1)]
        as [(String, Int32)]
      {
        #expect(try world.ambit("why", "/bin/sh", "call", call).exit == .status(status), "\(call)")
      }
      let unknown = try world.ambit("why", "/bin/sh", "call", "nonsense")
      #expect(unknown.exit == .status(125))
      #expect(unknown.errors.contains("nonsense: there is no such system call"))
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `ambit plan makes nothing, and shows what a launch then has`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let answer = try world.ambit("plan", "--format", "json", "/bin/sh")
      let plan = try #require(JSON(answer.output), "\(answer)")
      #expect(!FileManager.default.fileExists(atPath: "\(world.ambitHome)/data"))
      let outcome = try world.ambit("run", "/bin/sh", "-c", "ls -a / /home /run/ambit; env; cat /proc/self/mounts")
      for entry in plan["root"]?.array ?? [] {
        let path = entry["path"]?.string ?? ""
        guard path.split(separator: "/").count == 1 else { continue }
        #expect(outcome.output.contains("\n\(path.dropFirst())\n"), "\(path)")
      }
      let identifier = try #require(plan["environment"]?["AMBIT_APP"]?.string)
      #expect(identifier.hasPrefix("program.sh-"))
      #expect(outcome.output.contains("AMBIT_APP=\(identifier)\n"))
      let text = try world.ambit("plan", "/bin/sh").output
      for word in ["What it sees", "documents appear here", "landlock", "not enforced", "anything else"] {
        #expect(text.contains(word), "\(word)")
      }
      let layers = plan["layers"]?.array ?? []
      #expect(layers.count > 10)
      for layer in layers {
        #expect((layer["enforcement"] == "full") == (layer["reason"]?.string == nil), "\(layer)")
        let name = try #require(layer["layer"]?.string)
        #expect(text.contains("  \(name) "))
      }
      // Two that hold wherever Ambit runs, and one that the default policy does not ask for.
      #expect(layers.first { $0["layer"] == "seccomp" }?["enforcement"] == "full")
      #expect(layers.first { $0["layer"] == "network" }?["enforcement"] == "full")
      #expect(layers.first { $0["layer"] == "observer" }?["enforcement"] == "notEnforced")
    }
  }

  @Test func `ambit learn writes the policy under which the app is refused nothing any more`() throws {
    try Workspace.with(.root) { world in
      if let theirs = HostFolder() {
        let policy = "\(world.home)/learned.toml"
        let script = "head -c 12 '\(theirs.file)'"
        #expect(try world.ambit("run", "/bin/sh", "-c", script).output.isEmpty)
        let learned = try world.ambit("learn", "--output", policy, "/bin/sh", "-c", script)
        #expect(learned.exit == .status(0), "\(learned)")
        #expect(try world.read(policy).contains("\"\(theirs.file)\""))
        #expect(try world.ambit("run", "--policy", policy, "/bin/sh", "-c", script).output == "the user's o")
        let again = try world.ambit("learn", "--policy", policy, "/bin/sh", "-c", script)
        #expect(again.output.contains("Nothing was refused"), "\(again)")
      } else {
        #expect(geteuid() != 0, "root may write in such a place")
      }

      let network = try world.ambit("learn", "/usr/bin/python3", "-c", "import socket; socket.socket(2)")
      #expect(network.output.contains("access = \"host\"  # RISKY"), "\(network)")
    }
  }
}
