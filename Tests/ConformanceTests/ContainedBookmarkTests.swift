import Audit
import TestSupport
import Testing

/// Bookmarks of what lies in the app's own container.
@Suite(.serialized, .waiting)
struct ContainedBookmarkTests {
  @Test(arguments: TestUser.one(.root))
  func `a container's bookmark reaches nothing but the container`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let app = try world.probe()
      #expect(try app.tell("link", ["path": "/home/user/out", "text": "/etc"]).isDone)
      for path in [
        "../\(Workspace.identifier("Probe"))/Library", "out/passwd", "/etc/passwd", "..", "", ".", "Library/../..",
      ] {
        let call = #"{"method":"io.ambit.Bookmarks.CreateContained","parameters":{"path":"\#(path)"}}"#
        let reply = try app.tell("raw", ["text": .string(call)])["reply"]?.string
        #expect(reply?.contains("NotFound") == true, "\(path): \(reply ?? "-")")
      }
      #expect(try world.audit(.bookmarkCreated).isEmpty)
    }
  }
}
