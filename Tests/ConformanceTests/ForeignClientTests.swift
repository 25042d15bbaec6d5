import Foundation
import TestSupport
import Testing

/// Python's module “varlink”, a client that Ambit's authors did not write, inside a sandbox.
@Suite(.serialized, .waiting)
struct ForeignClientTests {
  /// Where the client's module lies, as the tests' own `python3` finds it.
  private static func module() throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    let python = ProcessInfo.processInfo.environment["AMBIT_PYTHON"] ?? "python3"
    process.arguments = [python, "-c", "import varlink; print(list(varlink.__path__)[0])"]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let path = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "python3 has no module “varlink”: run “make test”, which fetches it")
    return path.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  private static let script = """
    #!/usr/bin/python3
    import os, varlink
    client = varlink.Client(address=os.environ["AMBIT_ADDRESS"])
    service = client.open("org.varlink.service")
    info = service.GetInfo()
    print(info["product"], *info["interfaces"])
    for name in info["interfaces"]:
        varlink.Interface(service.GetInterfaceDescription(name)["description"])
    picker = client.open("io.ambit.Picker")
    document = picker.Pick(mode="open")["documents"][0]
    def attempt():
        try:
            return open(document["path"]).read()
        except OSError as error:
            return type(error).__name__
    print(attempt())
    access = client.open("io.ambit.Access")
    print(access.Start(document["scope"], "script.py:1")["count"], attempt())
    holder = access.Status()["holders"][0]
    print(holder["name"], holder["caller"])
    print(access.Stop(document["scope"])["count"], attempt())
    try:
        access.Start("somebody else's", None)
    except varlink.VarlinkError as error:
        print(error.error())
    try:
        client.open("io.ambit.Launcher")
    except varlink.error.InterfaceNotFound as error:
        print("no", error.parameters()["interface"])

    """

  @Test(arguments: TestUser.one(.root))
  func `introspects the broker from inside a sandbox, and uses a document with it`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "dear reader")
      let bundle = try world.bundle("Foreign", identifier: "org.example.foreign", script: Self.script)
      try FileManager.default.copyItem(atPath: try Self.module(), toPath: "\(bundle)/varlink")
      let outcome = try world.ambit("run", "--pick", document, bundle)
      #expect(
        outcome.output == """
          Ambit broker org.varlink.service io.ambit.Picker io.ambit.Access io.ambit.Bookmarks io.ambit.Transfer io.ambit.Coordination io.ambit.Versions io.ambit.Query io.ambit.Opening io.ambit.Index io.ambit.Thumbnails io.ambit.Provider
          PermissionError
          1 dear reader
          letter.txt script.py:1
          0 PermissionError
          io.ambit.Access.InvalidScope
          no io.ambit.Launcher

          """, "\(outcome)")
    }
  }
}
