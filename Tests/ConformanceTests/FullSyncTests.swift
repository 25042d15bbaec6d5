import Audit
import Foundation
import TestSupport
import Testing

/// A policy that wants every decision on the disk before it is answered.
@Suite(.waiting) struct FullSyncTests {
  @Test(arguments: TestUser.one(.ordinary))
  func `AUD-4: under a policy that says so, an answer waits until its decision is on the disk`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "text\n")
      let policy = "\(world.home)/full.toml"
      try world.write("inherits = \"default\"\n[audit]\nsync = \"full\"\n", to: policy)
      let held = "\(world.home)/held"
      let app = try world.start(
        saving: [document], options: ["--policy", policy], environment: ["AMBIT_FAULT": "hold syncDue \(held)"],
        """
        echo picked; read -r line
        ambitctl start "$u" && cat "$p"
        """)
      try Deadline.wait(for: "the document to be picked") { app.allOutput.contains("picked\n") }
      #expect(try world.audit(.start).isEmpty)
      try world.write("", to: held)
      try app.send("go\n")
      try Deadline.wait(for: "the start to be decided") { try !world.audit(.start).isEmpty }
      #expect(app.allOutput == "picked\n")
      try FileManager.default.removeItem(atPath: held)
      let outcome = try app.outcome()
      #expect(outcome.output == "picked\ntext\n", "\(outcome)")
    }
  }

  /// Under “strict” a save is a copy, and answered when that is done.
  @Test(arguments: TestUser.one(.root), ["default", "strict"])
  func `AUD-4: so does the answer to a save`(user: TestUser, base: String) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "old\n")
      let policy = "\(world.home)/full.toml"
      try world.write("inherits = \"\(base)\"\n[audit]\nsync = \"full\"\n", to: policy)
      let held = "\(world.home)/held"
      let app = try world.start(
        saving: [document], options: ["--policy", policy], environment: ["AMBIT_FAULT": "hold syncDue \(held)"],
        """
        open; echo new >t; echo ready; read -r line
        mv t letter.txt && echo saved
        """)
      try Deadline.wait(for: "the app to be ready") { app.allOutput.contains("ready\n") }
      try world.write("", to: held)
      try app.send("go\n")
      try Deadline.wait(for: "the save to be decided") { try !world.audit(.replaced).isEmpty }
      #expect(app.allOutput == "ready\n")
      try FileManager.default.removeItem(atPath: held)
      let outcome = try app.outcome()
      #expect(outcome.output == "ready\nsaved\n", "\(outcome)")
      #expect(try world.read(document) == "new\n")
    }
  }
}
