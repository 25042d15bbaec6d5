import Audit
import Foundation
import TestSupport
import Testing

/// Group B of the catalogue: the picker.
@Suite(.serialized, .waiting)
struct PickerTests {
  @Test(arguments: TestUser.one(.ordinary))
  func `PCK-1: open mode gives a scoped URL to the original, and leaves a reference`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "first")
      let app = try world.probe(picks: [document])
      let answer = try app.pick()
      #expect(answer["urls"]?.array?.count == 1)
      #expect(try app.start())
      // The original, not a copy: each side sees what the other wrote.
      try world.write("second", to: document)
      #expect(try app.read().content == "second")
      #expect(try app.tell("append", ["of": "a", "text": ", third"]).isDone)
      #expect(try world.read(document) == "second, third")
      #expect(try app.tell("references")["paths"]?.strings == ["/home/user/Documents/letter.txt.ambitref"])
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `PCK-8: one URL unless several were asked for, and those in one callback`(user: TestUser) throws {
    try Workspace.with(user) { world in
      for name in ["a.txt", "b.txt", "c.txt"] { try world.document(name, name) }
      let answers = "\(world.home)/answers.toml"
      try world.write(
        """
        [[answer]]
        pick = ["Papers/a.txt"]
        [[answer]]
        pick = ["Papers/a.txt", "Papers/b.txt", "Papers/c.txt"]
        [[answer]]
        pick = ["Papers/a.txt", "Papers/b.txt"]

        """, to: answers)
      let app = try world.probe(options: ["--answers", answers])
      let one = try app.tell("pick", ["as": "a"])
      #expect(one["didPick"] == 1)
      #expect(one["urls"]?.array?.count == 1)
      let several = try app.tell("pick", ["as": "b", "multiple": true])
      #expect(several["didPick"] == 1)
      #expect(several["wasCancelled"] == 0)
      #expect(several["urls"]?.array?.count == 3)
      for (name, content) in [("b", "a.txt"), ("b1", "b.txt"), ("b2", "c.txt")] {
        #expect(try app.start(name))
        #expect(try app.read(name).content == content)
      }
      // Two for an app that asked for one are none.
      let tooMany = try app.tell("pick", ["as": "c"])
      #expect(tooMany["didPick"] == 0)
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `PCK-9: after a cancelled pick there is one callback, and nothing else`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "text")
      let answers = "\(world.home)/answers.toml"
      try world.write("[[answer]]\ncancel = true\n[[answer]]\npick = [\"\(document)\"]\n", to: answers)
      let app = try world.probe(options: ["--answers", answers])
      let answer = try app.tell("pick", ["as": "a"])
      #expect(answer["wasCancelled"] == 1)
      #expect(answer["didPick"] == 0)
      #expect(answer["urls"] == nil)
      #expect(try app.tell("references")["paths"]?.array == [])
      #expect(try app.tell("list", ["path": "/home/user/Documents"])["names"]?.array == [])
      #expect(try world.audit(.grant).isEmpty)
      #expect(try world.audit(.pick).isEmpty)
      #expect(try world.audit(.pickCancelled).map(\.rule) == ["PCK-9"])
      // The control: the next answer is a document.
      try app.pick()
      #expect(try world.audit(.grant).count == 1)
    }
  }

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
