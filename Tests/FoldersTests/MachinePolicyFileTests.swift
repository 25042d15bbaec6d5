import Foundation
import Kernel
import TestSupport
import Testing

@testable import Folders

@Suite struct MachinePolicyFileTests {
  private func status(_ mode: UInt32, owner: UInt32) throws -> FileStatus {
    var status = try Descriptor.open("/", flags: [.path, .directory]).status()
    status.mode = mode
    status.userID = owner
    return status
  }

  @Test(
    arguments: [
      (0o100644, 0, nil), (0o100400, 0, nil), (0o100664, 0, "can be written by others than root (chmod go-w)"),
      (0o100606, 0, "can be written by others than root (chmod go-w)"),
      (0o100644, 1000, "belongs to user 1000 and has to belong to root (chown root)"), (0o040755, 0, "is no file"),
      (0o010644, 0, "is no file"),
    ] as [(UInt32, UInt32, String?)])
  func `only root may have written it, and nobody else may`(mode: UInt32, owner: UInt32, fault: String?) throws {
    #expect(MachinePolicyFile.fault(try status(mode, owner: owner), root: 0) == fault)
    if mode & 0o170000 == 0o100000 {
      #expect(MachinePolicyFile.fault(try status(mode, owner: owner), root: nil) == nil)
    }
  }

  @Test func `none is none, and one that cannot be read stops everything`() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("ambit-machine-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appendingPathComponent("policy.toml").path
    #expect(try MachinePolicyFile.read(path, onlyFromRoot: false) == nil)
    #expect(try MachinePolicyFile.read("\(path)/below", onlyFromRoot: false) == nil)
    try Data("scopes.limit = 1".utf8).write(to: URL(fileURLWithPath: path))
    #expect(try MachinePolicyFile.read(path, onlyFromRoot: false)?.bytes == Array("scopes.limit = 1".utf8))
    #expect(try MachinePolicyFile.read("\(path)/below", onlyFromRoot: false) == nil)
    // A folder, and a pipe, which nobody may wait for.
    #expect(throws: StateError.self) { try MachinePolicyFile.read(folder.path, onlyFromRoot: false) }
    let pipe = folder.appendingPathComponent("pipe").path
    #expect(unsafe mkfifo(pipe, 0o600) == 0)
    #expect(throws: StateError.self) { try MachinePolicyFile.read(pipe, onlyFromRoot: false) }
  }

  @Test func `a link that leads nowhere is not none: somebody meant one to be`() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("ambit-machine-\(UUID().uuidString)")
      .path
    for name in ["", "/there"] {
      try FileManager.default.createDirectory(atPath: folder + name, withIntermediateDirectories: true)
    }
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for (link, target) in [("policy.toml", "nowhere"), ("gone", "nowhere/at/all"), ("kept", "there")] {
      try FileManager.default.createSymbolicLink(atPath: "\(folder)/\(link)", withDestinationPath: target)
    }
    for (name, link) in [("policy.toml", "policy.toml"), ("gone/policy.toml", "gone"), ("gone/a/b", "gone")] {
      let error = #expect(throws: StateError.self) {
        try MachinePolicyFile.read("\(folder)/\(name)", onlyFromRoot: false)
      }
      #expect(error?.description.contains("the link \(folder)/\(link) leads nowhere") == true, "\(error as Any)")
    }
    // One that leads to a folder without it is none.
    #expect(try MachinePolicyFile.read("\(folder)/kept/policy.toml", onlyFromRoot: false) == nil)
  }

  @Test func `there is a further one under AMBIT_HOME only`() {
    #expect(AmbitFolders(environment: [:], home: "/home/ada").furtherMachinePolicy == nil)
    #expect(
      AmbitFolders(environment: ["AMBIT_HOME": "/a"], home: "/home/ada").furtherMachinePolicy
        == "/a/machine-policy.toml")
  }
}
