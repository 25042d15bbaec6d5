import Foundation
import TestSupport
import Testing

/// `ambit versions`: an app's save leaves a version, and the user goes back.
@Suite(.serialized, .waiting)
struct VersionCommandTests {
  @Test func `DOC-15: versions are listed, shown, restored and removed`() throws {
    try Workspace.with(.root) { world in
      let file = try world.document("essay.txt", "once")
      let save = "U=$(ambitctl pick) && ambitctl with \"$U\" -- sed -i s/once/twice/ {}"
      #expect(try world.ambit("run", "--pick", file, "--", "sh", "-c", save).exit == .status(0))
      #expect(try world.read(file) == "twice")

      func versions() throws -> [[String: Any]] {
        let list = try world.ambit("versions", "list", file, "--format", "json")
        let object = try JSONSerialization.jsonObject(with: Data(list.output.utf8)) as? [String: Any]
        return object?["versions"] as? [[String: Any]] ?? []
      }
      #expect(try versions().map { $0["cause"] as? String } == ["saved"])
      #expect(try world.ambit("versions", file).output.contains("saved over"))
      #expect(try world.ambit("versions", "show", file, "1").output == "once")

      let restored = try world.ambit("versions", "restore", file, "1")
      #expect(restored.exit == .status(0), "\(restored.errors)")
      #expect(try world.read(file) == "once")
      // What it had is a version, so that this can be taken back.
      let newest = try #require(try versions().first?["id"] as? String)
      #expect(try world.ambit("versions", "show", file, newest).output == "twice")
      #expect(try versions().count == 2)

      let absent = try world.ambit("versions", "show", file, "9")
      #expect(absent.exit == .status(1) && absent.errors.contains("it has 1 to 2"), "\(absent.errors)")
      #expect(try world.ambit("versions", "remove", file, "2").output == "1 version is forgotten.\n")
      #expect(try world.ambit("versions", "remove", file, "--all").exit == .status(0))
      #expect(try world.ambit("versions", file).output == "essay.txt has no earlier versions.\n")
    }
  }
}
