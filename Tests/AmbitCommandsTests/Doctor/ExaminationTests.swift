import Folders
import Foundation
import Kernel
import Testing

@testable import AmbitCommands

@Suite struct ExaminationTests {
  @Test func `What this machine is made of is found out by trying`() {
    let facts = Facts.gather()
    // Every kernel on which these tests can run has a /proc to read and a processor.
    #expect(!facts.kernelRelease.isEmpty && facts.kernelRelease != "unknown")
    #expect(facts.namespaces.map(\.name) == ["user"] + Facts.sandboxNamespaces)
    #expect(facts.libseccomp.contains("."))
    #expect(facts.checks.allSatisfy { !$0.found.isEmpty })
    for probe in [facts.clone3, facts.openat2, facts.openTree, facts.seccompErrno, facts.fileHandle] {
      #expect(probe != .absent("not tried"))
    }
  }

  @Test func `A probe tells what is not there from what is`() {
    #expect(Probe.sandbox(["no-such-namespace"]) == .absent("no namespace is called no-such-namespace"))
    #expect(!Probe.open("/no/such/device").isPresent)
    #expect(Probe.open("/dev/null").isPresent)
    // /proc has no file handles, on any kernel.
    #expect(!Probe.fileHandle(of: "/proc/self/status").isPresent)
    #expect(Probe.fileSystem(of: "/proc") == 0x9FA0)
    #expect(Probe.fileSystem(of: "/no/such/path") == nil)
  }

  @Test func `The runtime folder that is judged is the one that the sockets go to`() throws {
    func runtime(_ environment: [String: String]) -> Facts.Runtime {
      Facts.runtime(AmbitFolders(environment: environment, home: "/home/user"), environment: environment)
    }
    #expect(runtime([:]) == .unset)
    #expect(runtime(["XDG_RUNTIME_DIR": "relative"]) == .unset)
    #expect(runtime(["XDG_RUNTIME_DIR": "/tmp"]) == .session(try #require(Facts.folder("/tmp"))))
    #expect(runtime(["XDG_RUNTIME_DIR": "/tmp", "AMBIT_HOME": "/x"]) == .elsewhere("/x/run"))
  }

  @Test func `A folder that does not exist yet is judged by the one above it, and not made`() throws {
    let root = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: root) }
    let folder = try #require(Facts.folder(root + "/a/b"))
    #expect(folder.existing == root)
    #expect(folder.path == root + "/a/b")
    #expect(folder.isWritable)
    #expect(!FileManager.default.fileExists(atPath: root + "/a"))

    // A file is in the way: nothing can be made in it, whoever asks.
    try Data().write(to: URL(filePath: root + "/file"))
    #expect(try #require(Facts.folder(root + "/file/state")).isWritable == false)
  }
}
