import Audit
import Foundation
import TestSupport
import Testing

/// `/etc/ambit/policy.toml` itself, in a mount namespace whose `/etc` is the machine's with that file in it.
@Suite(.serialized, .waiting, .enabled(if: try Feature.root.isHere(geteuid() == 0), "needs root"))
struct MachinePolicyFileTests {
  /// Runs a script in which `ambit` is Ambit, where `/etc` has such a file; the broker that it starts lives there as well.
  ///
  /// - Parameter make: makes `policy.toml` in the folder that becomes `/etc/ambit`.
  private func run(_ script: String, in world: Workspace, with make: (_ folder: String) throws -> Void) throws
    -> Outcome
  {
    let etc = "\(world.folder)/etc-\(UUID().uuidString)"
    // Root's, as the machine's own would be.
    try FileManager.default.createDirectory(atPath: "\(etc)/ambit", withIntermediateDirectories: true)
    try make("\(etc)/ambit")
    let ambit = try Products.path("ambit")
    return try world.run(
      script: "ambit() { '\(ambit)' \"$@\"; }; \(script); code=$?; ambit broker stop >/dev/null 2>&1; exit $code",
      afterMounting: "mount -t overlay overlay -o 'lowerdir=\(etc):/etc' /etc")
  }

  private func write(_ text: String, to path: String, mode: mode_t = 0o644, owner: uid_t = 0) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    try #require(unsafe chown(path, owner, owner) == 0 && chmod(path, mode) == 0)
  }

  private static let limit = "[scopes]\nlimit = 3\n\n[environment]\npass = [\"LANG\"]\n"

  @Test(arguments: TestUser.all)
  func `what root wrote there holds for every launch, whatever the user's own policy says`(user: TestUser) throws {
    try Workspace.with(user) { world in
      try world.write("[environment]\npass = [\"SECRET\"]\n[scopes]\nlimit = 9\n", to: "\(world.home)/mine.toml")
      let outcome = try run(
        "export SECRET=told; ambit run --policy mine.toml /bin/sh -c 'echo \"secret=$SECRET\"' && "
          + "ambit policy show --format json mine.toml", in: world
      ) { folder in try write(Self.limit, to: "\(folder)/policy.toml") }
      #expect(outcome.exit == .status(0), "\(outcome)")
      #expect(outcome.output.hasPrefix("secret=\n"), "\(outcome)")
      let shown = try #require(JSON(String(outcome.output.dropFirst("secret=\n".count))), "\(outcome)")
      let field = try #require(shown["fields"]?.array?.first { $0["field"] == "scopes.limit" })
      #expect(field["value"] == "3" && field["narrowedFrom"] == "9" && field["narrowedBy"] == "/etc/ambit/policy.toml")
      #expect(field["narrowedLine"] == 2)
      let launch = try #require(try world.audit(.launch).first)
      #expect(launch.detail[AuditEvent.Fact.limit] == "3")
      #expect(launch.detail["narrowed"]?.contains("scopes.limit = 3") == true)
      // The control: the same without it.
      let control = try run(
        "export SECRET=told; ambit run --policy mine.toml /bin/sh -c 'echo \"secret=$SECRET\"'", in: world
      ) {
        _ in
      }
      #expect(control.output == "secret=told\n", "\(control)")
      #expect(try world.audit(.launch).last?.detail[AuditEvent.Fact.limit] == "9")
    }
  }

  @Test(arguments: TestUser.all)
  func `what others than root can write, or have written, is refused, and nothing is launched`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let own = "\(world.home)/own.toml"
      try write(Self.limit, to: own, owner: user.id == 0 ? 12_345 : user.id)
      let cases: [(String, String, (String) throws -> Void)] = [
        ("writable by its group", "can be written by others than root", { try write(Self.limit, to: $0, mode: 0o664) }),
        ("writable by all", "can be written by others than root", { try write(Self.limit, to: $0, mode: 0o646) }),
        ("the user's", "has to belong to root", { try write(Self.limit, to: $0, owner: user.id == 0 ? 1 : user.id) }),
        (
          "a link to the user's", "has to belong to root",
          { path in
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: own)
          }
        ),
        (
          "a folder", "is no file",
          { path in
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
          }
        ),
        ("with a mistake in it", "policy.toml:1:2", { try write("[scope]\nlimit = 3\n", to: $0) }),
      ]
      for (name, reason, make) in cases {
        let outcome = try run("ambit run /bin/echo ran", in: world) { try make("\($0)/policy.toml") }
        #expect(outcome.exit == .status(125) && outcome.output.isEmpty, "\(name): \(outcome)")
        #expect(
          outcome.errors.contains("/etc/ambit/policy.toml") && outcome.errors.contains(reason), "\(name): \(outcome)")
      }
      // In a user namespace all owners that it has no number for are one: there this cannot be told from root's.
      if user == .root {
        let another = try run("ambit run /bin/echo ran", in: world) {
          try write(Self.limit, to: "\($0)/policy.toml", owner: 12_345)
        }
        #expect(another.exit == .status(125) && another.errors.contains("has to belong to root"), "\(another)")
      } else {
        let unreadable = try run("ambit run /bin/echo ran", in: world) {
          try write(Self.limit, to: "\($0)/policy.toml", mode: 0o600)
        }
        #expect(unreadable.exit == .status(125) && unreadable.errors.contains("cannot be read"), "\(unreadable)")
      }
      // No log was begun, or it has no launch.
      let begun = ["sqlite", "journal"].contains {
        FileManager.default.fileExists(atPath: "\(world.ambitHome)/state/audit.\($0)")
      }
      #expect(try !begun || world.audit(.launch).isEmpty)
      #expect(try run("ambit run /bin/echo ran", in: world) { _ in }.output == "ran\n")
    }
  }
}
