import Foundation
import Kernel
import Testing
import Wire

/// Python's module “varlink”, a client that Ambit's authors did not write, reads the descriptions and calls.
@Suite struct `A foreign client` {
  /// The Python that has the module: named by AMBIT_PYTHON, or `python3`.
  static func python() throws -> String {
    let name = ProcessInfo.processInfo.environment["AMBIT_PYTHON"] ?? "python3"
    let (status, _, errors) = try run(name, ["-c", "import varlink"])
    guard status == 0 else {
      throw Missing(
        description: """
          \(name) has no module “varlink”: run `python3 -m venv .venv && .venv/bin/pip install varlink`, then the \
          tests again with AMBIT_PYTHON=.venv/bin/python3. (\(errors.split(separator: "\n").last ?? ""))
          """)
    }
    return name
  }

  struct Missing: Error, CustomStringConvertible { let description: String }

  static func run(_ program: String, _ arguments: [String]) throws -> (Int32, String, String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [program] + arguments
    let (output, errors) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    let out = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    let err = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, out, err)
  }

  static let script = """
    import json, sys, varlink
    client = varlink.Client(address=sys.argv[1])
    service = client.open("org.varlink.service")
    info = service.GetInfo()
    print(info["product"], *info["interfaces"])
    for name in info["interfaces"]:
        description = service.GetInterfaceDescription(name)["description"]
        interface = varlink.Interface(description)
        print(name, *sorted(m for m in interface.members if isinstance(interface.members[m], varlink.scanner._Method)))
    access = client.open("io.ambit.Access")
    print(access.Start("t0ken", "script.py:1"))
    try:
        access.Start("full", None)
    except varlink.VarlinkError as error:
        print(error.error(), error.parameters()["limit"], error.parameters()["holders"][0]["name"])
    # The client checks parameters itself; this goes past it.
    access._send_message(json.dumps({"method": "io.ambit.Access.Stop", "parameters": {"scope": 7}}).encode())
    try:
        access._next_varlink_message()
    except varlink.VarlinkError as error:
        print(error.error(), error.parameters())
    picker = client.open("io.ambit.Picker")
    print([d["name"] for d in picker.Pick(mode="open", multiple=True)["documents"]])
    """

  @Test func `introspects the interfaces and calls them`() throws {
    let python = try Self.python()
    let folder = try TemporaryFolder()
    let server = try TestServer(in: folder) { connection, call, _ in
      switch (call.member, call.parameters["scope"]) {
      case ("Start", "full"):
        let holder = HolderMessage(
          grant: "1", path: "/documents/1/a.txt", name: "a.txt", count: 1, since: "2026-01-01T00:00:00Z", caller: nil)
        connection.send(Reply(AccessInterface.Failure.limitReached(limit: 8, holders: [holder])))
      case ("Start", _): connection.send(Reply(AccessInterface.StartReply(path: "/documents/1/a.txt", count: 1)))
      default:
        let documents = ["ä.txt", "b c.md"].map {
          DocumentMessage(scope: "s", grant: "1", name: $0, kind: .file, access: .readWrite)
        }
        connection.send(Reply(PickerInterface.PickReply(documents: documents)))
      }
    }
    defer { server.stop() }
    let (status, output, errors) = try Self.run(python, ["-c", Self.script, server.address])
    #expect(status == 0, "\(errors)")
    #expect(
      output == """
        Ambit broker org.varlink.service io.ambit.Picker io.ambit.Access io.ambit.Bookmarks io.ambit.Transfer io.ambit.Coordination io.ambit.Versions io.ambit.Query io.ambit.Opening io.ambit.Index io.ambit.Thumbnails io.ambit.Provider
        org.varlink.service GetInfo GetInterfaceDescription
        io.ambit.Picker Create Pick Rename
        io.ambit.Access Events HostPath Kept Open Path Release Start Status Stop
        io.ambit.Bookmarks Create CreateContained Resolve ResolveReference Values
        io.ambit.Transfer Pass Redeem
        io.ambit.Coordination Access Answer Done Leave Moved Present Unsaved
        io.ambit.Versions Contents Keep List Open Remove Resolve
        io.ambit.Query Barrier Resolve Run
        io.ambit.Opening Discard Next
        io.ambit.Index Delete Put
        io.ambit.Thumbnails Get Put
        io.ambit.Provider Answer Evict Part Progress Serve Signal
        {'path': '/documents/1/a.txt', 'count': 1}
        io.ambit.Access.LimitReached 8 a.txt
        org.varlink.service.InvalidParameter {'parameter': 'scope'}
        ['ä.txt', 'b c.md']

        """)
  }
}
