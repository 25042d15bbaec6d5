import Audit
import Foundation
import Kernel
import TestSupport
import Testing

/// A document that the host renames while an app runs has two names there: URLs from before go on with the old one.
@Suite(.waiting) struct RenamedDocumentTests {
  @Test(arguments: TestUser.inTurn(["readOnly", "readWrite", "folder"]))
  func `BMK-1, TOK-8: a URL from before a rename starts, and the document is at its path`(
    user: TestUser, what: String
  ) throws {
    try Workspace.with(user) { world in
      let letter = try world.document("Papers/letters/letter.txt", "text")
      let document = what == "folder" ? "\(world.home)/Papers/letters" : letter
      let pick =
        what == "readOnly" ? "--read-only" : what == "folder" ? "--folder" : ""
      let file = what == "folder" ? "/letter.txt" : ""
      // Answers each line with what is done with the older URL and with the newer one.
      let app = try world.start(
        saving: [document], pick: pick,
        """
        ambitctl start "$u"; b=$(ambitctl bookmark create "$u"); ambitctl stop "$u"; echo ready; read -r line
        n=$(ambitctl bookmark resolve <<<"$b" 2>/dev/null); q=$(ambitctl path "$n")
        echo "${p##*/} ${q##*/}"
        ambitctl start "$u"; cat "$p\(file)"; echo " old"; ambitctl start "$n"; cat "$q\(file)"; echo " new"
        \(what == "readOnly" ? "" : "echo +more >>\"$p\(file)\"; cat \"$q\(file)\"")
        \(what == "readWrite" ? "echo saved >\"$p.new\"; mv \"$p.new\" \"$p\"; cat \"$q\"; ls -A \"${p%/*}\"" : "")
        ambitctl stop "$u"; cat "$p\(file)" >/dev/null && echo started
        ambitctl stop "$n"; cat "$p\(file)" "$q\(file)" 2>&1 | grep -c denied
        ambitctl start "$n"; cat "$p\(file)" "$q\(file)" >/dev/null && echo again; ambitctl stop "$n"; echo end
        """)
      #expect(try app.readLine() == "ready")
      let renamed = (document as NSString).deletingLastPathComponent + "/renamed"
      try world.rename(document, to: renamed)
      try app.send("\n")
      let name = (document as NSString).lastPathComponent
      var expected = "\(name) renamed\ntext old\ntext new\n"
      if what != "readOnly" { expected += "text+more\n" }
      if what == "readWrite" { expected += "saved\n\(name)\nrenamed\n" }
      expected += "started\n2\nagain\n"
      #expect(try app.wait(forOutput: "end\n") == expected, "\(app.allErrors)")
      #expect(try app.outcome().exit == .status(0))
      if what == "readWrite" { #expect(try world.read(renamed) == "saved\n") }
      #expect(try world.staged() == [])
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `TOK-16: what is held of a document under an older name outlives its scope, and is said`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let letter = try world.document("letter.txt", "text")
      let app = try world.start(
        saving: [letter],
        """
        ambitctl start "$u"; b=$(ambitctl bookmark create "$u"); ambitctl stop "$u"; echo ready; read -r line
        n=$(ambitctl bookmark resolve <<<"$b" 2>/dev/null); ambitctl start "$u"; exec 5<>"$p"; ambitctl stop "$u"; echo end
        read -r line
        """)
      #expect(try app.readLine() == "ready")
      try world.rename(letter, to: "\(world.home)/Papers/renamed.txt")
      try app.send("\n")
      try app.wait(forOutput: "end\n")
      #expect(try world.audit(.outlived).last?.detail["holders"]?.contains("read and write") == true)
      _ = try app.outcome()
    }
  }
}
