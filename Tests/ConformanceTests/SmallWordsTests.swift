import Foundation
import TestSupport
import Testing

/// What is said to whoever has made a small mistake.
@Suite(.serialized, .waiting)
struct SmallWordsTests {
  @Test(arguments: TestUser.one(.ordinary))
  func `an app that was never launched is said to be unknown, which is no failure, and a folder is no bookmark`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let answer = try world.ambit("grants", "--app", "org.example.typo", "--format", "json")
      #expect(answer.exit == .status(0) && JSON(answer.output)?["grants"]?.array?.isEmpty == true, "\(answer)")
      #expect(answer.errors.contains("is called org.example.typo"), "\(answer)")
      let all = try world.ambit("grants")
      #expect(all.exit == .status(0) && all.errors.isEmpty, "\(all)")
      let folder = try world.ambit("bookmark", "inspect", ".")
      #expect(folder.exit != .status(0) && folder.errors.contains("is a folder"), "\(folder)")
    }
  }
}
