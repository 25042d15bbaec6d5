import PickerUI
import Sandbox
import Testing
import Wire

@testable import Launcher

@Suite struct `What the tools hand to the launcher` {
  @Test func `comes out as it went in`() throws {
    let requests = [
      LaunchRequest(
        program: .file(path: "/bin/ls"), manifest: nil, arguments: ["-l", "--", ""], container: nil, policy: "default",
        answers: nil, trace: false),
      LaunchRequest(
        program: .bundle(path: "/Apps/Ed.app", executable: "Ed"),
        manifest: .init(
          identifier: "io.ambit.Ed", name: "Ed “it”\n", version: "1", networkClient: true, networkServer: false),
        arguments: [], container: "other", policy: "/p/x.toml", answers: [.pick(["a", "b"]), .cancel, .pick([])],
        trace: true, statusDescriptor: 7, seccomp: "/p/x.json", allowDegraded: [.landlock, .cpuTime],
        trust: .replace, allowEntitlements: ["io.ambit.pass-grants"]),
    ]
    for request in requests {
      let value = try JSONValue(parsing: Array(request.json.text.utf8))
      guard case .object(let json) = value else { return #expect(Bool(false), "an object is written") }
      #expect(try LaunchRequest(json: json, arguments: request.arguments) == request)
    }
  }

  @Test func `a policy's path is made absolute, and a name is left alone`() {
    func policy(_ text: String) -> String {
      LaunchRequest(
        program: .file(path: "/bin/ls"), manifest: nil, arguments: [], container: nil, policy: text, answers: nil,
        trace: false
      ).policy
    }
    #expect(policy("teach") == "teach")
    #expect(policy("/p/x.toml") == "/p/x.toml")
    #expect(policy("x.toml").hasPrefix("/") && policy("x.toml").hasSuffix("/x.toml"))
    #expect(policy("./p/x").hasSuffix("/./p/x"))
  }

  @Test func `a profile's path is made absolute, and the word for none is left alone`() {
    func profile(_ text: String?) -> String? {
      LaunchRequest(
        program: .file(path: "/bin/ls"), manifest: nil, arguments: [], container: nil, policy: "p", answers: nil,
        trace: false, seccomp: text
      ).seccomp
    }
    #expect(profile(nil) == nil)
    #expect(profile("standard") == "standard")
    #expect(profile("/p/x.json") == "/p/x.json")
    #expect(profile("./standard")?.hasPrefix("/") == true)
    #expect(profile("x")?.hasPrefix("/") == true && profile("x")?.hasSuffix("/x") == true)
  }
}
