import Audit
import Foundation
import Kernel
import ScopedAccess
import TestSupport
import Testing

/// A broker that starts after one that died while it wrote to a document in place.
@Suite(.waiting) struct InPlaceRecoveryTests {
  @Test(arguments: TestUser.one(.root))
  func `puts the old content back before it serves, and says so`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let path = try world.document("letter.txt", "the old text")
      let recovery = "\(world.ambitHome)/state/recovery"
      try world.makeFolder(recovery)
      let file = try Descriptor.open(path, flags: .readWrite)
      _ = try InPlaceSave(
        of: file, FileIdentity(of: file), at: path,
        by: Descriptor.open(try world.document("new.txt", "the new text, and more of it"), flags: .read),
        keepingIn: Descriptor.open(recovery, flags: [.read, .directory]))
      for name in try FileManager.default.contentsOfDirectory(atPath: recovery) { try user.own("\(recovery)/\(name)") }
      try file.rewind()
      try file.writeAll(Array("the new t".utf8))

      #expect(try world.ambit("run", "/bin/true").exit == .status(0))
      #expect(try world.read(path) == "the old text")
      let event = try #require(try world.audit(.replaced).first)
      #expect(event.result == .failed && event.document?.path == path)
      #expect(event.reason?.contains("has its old content again") == true)
      #expect(event.detail[AuditEvent.Fact.inPlace] == "true")
      // The content that was found is beside.
      let left = try FileManager.default.contentsOfDirectory(atPath: recovery)
      #expect(left.count == 1 && left[0].hasSuffix(".found"))
      #expect(try world.read("\(recovery)/\(left[0])") == "the new text")
    }
  }
}
