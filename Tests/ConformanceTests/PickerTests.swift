import Audit
import TestSupport
import Testing

/// Group B of the catalogue: the picker.
@Suite(.serialized, .waiting)
struct PickerTests {
  @Test(arguments: TestUser.one(.ordinary))
  func `PCK-22: a person's answer in the picker is recorded as the user's`(user: TestUser) throws {
    try Workspace.with(user) { world in
      try world.document("letter.txt", "from the terminal")
      let path = try world.bundle("Probe", identifier: Workspace.identifier("Probe"))
      let terminal = try world.terminal([try Products.path("ambit"), "run", path])
      try terminal.type(#"{"do":"pick","as":"a"}"# + "\n")
      try terminal.see("Papers")
      try terminal.type("Papers")
      // A picker that has only just opened takes no choice: a person may have been typing for something else.
      try terminal.press("\r", until: "letter.txt")
      try terminal.type("letter\r")
      try terminal.see(#""didPick":1"#)
      try terminal.type(#"{"do":"start","of":"a"}"# + "\n" + #"{"do":"read","of":"a"}"# + "\n")
      try terminal.see("from the terminal")
      #expect(try world.audit(.grant).map(\.how) == ["user"])
      try terminal.type("\u{4}")
      #expect(try terminal.process.waitForExit() == .status(0))
      #expect(terminal.isCooked)
    }
  }
}
