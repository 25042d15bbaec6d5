import Audit
import Foundation
import TestSupport
import Testing

/// The rest of a file provider's contract, in real sandboxes: identifiers, changes, the working set, the trash, forms and pictures.
@Suite(.serialized, .waiting)
struct ProviderContractTests {
  private static let identifier = "org.example.cloud"

  /// The container of the provider's extension.
  private func memory(_ world: Workspace) -> String { world.container("provider.\(Self.identifier)") }

  private func refresh(_ world: Workspace) throws -> Outcome {
    try world.ambit("provider", "refresh", "Cloud", patience: .seconds(60))
  }

  private func names(_ folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
  }

  private func waitUntil(_ isTrue: () throws -> Bool) throws -> Bool {
    let due = ContinuousClock.now + .seconds(30)
    while try !isTrue() {
      guard ContinuousClock.now < due else { return false }
      usleep(50_000)
    }
    return true
  }

  // MARK: Identifiers

  @Test(arguments: TestUser.one(.ordinary))
  func `PRV-3, PRV-21: a document and its identifier lead to each other, and to other devices only if declared`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let folder = try world.enabledProvider(Self.identifier, "snippets")
      let path = "\(folder)/Greeting.txt"
      #expect(try world.ambit("provider", "identify", path).output == "\(Self.identifier)  greeting\n")
      #expect(try world.ambit("provider", "locate", "Cloud", "greeting").output == "\(path)\n")
      // Also after a rename.
      #expect(try world.ambit("mv", path, "\(folder)/Hello.txt").exit == .status(0))
      #expect(try refresh(world).exit == .status(0))
      #expect(try world.ambit("provider", "locate", "Cloud", "greeting").output == "\(folder)/Hello.txt\n")
      let other = try world.document("other.txt", "x")
      #expect(try world.ambit("provider", "identify", other).exit == .status(1))
      #expect(try world.ambit("provider", "locate", "Cloud", "no-such-item").exit == .status(1))
      let link = try world.ambit("provider", "identify", "--link", "\(folder)/Hello.txt")
      #expect(link.exit == .status(1) && link.errors.contains("PRV-21"), "\(link.errors)")
    }
    try Workspace.with(user) { world in
      let folder = try world.enabledProvider(Self.identifier, "good", acrossDevices: true)
      let link = try world.ambit("provider", "identify", "--link", "\(folder)/page.txt").output
      try Workspace.with(user) { other in
        let there = try other.enabledProvider(Self.identifier, "good", acrossDevices: true)
        let found = try other.ambit("provider", "locate", link.trimmingCharacters(in: .newlines))
        #expect(found.output == "\(there)/page.txt\n", "\(found.errors)")
      }
    }
  }

  @Test func `BMK-16: a bookmark leads to a document that its provider shows anew, and nowhere without the provider`()
    throws
  {
    try Workspace.with(.root) { world in
      let folder = try world.enabledProvider(Self.identifier, "good")
      let run = try world.ambit(
        "run", "--pick", "\(folder)/page.txt", "--container", "org.example.reader", "--", "sh", "-c",
        "U=$(ambitctl pick) && ambitctl start \"$U\" >&2 && ambitctl bookmark create \"$U\" > bookmark",
        patience: .seconds(60))
      #expect(run.exit == .status(0), "\(run.errors)")
      func resolve() throws -> Outcome {
        try world.ambit(
          "run", "--container", "org.example.reader", "--", "sh", "-c",
          "U=$(ambitctl bookmark resolve bookmark) && ambitctl start \"$U\" >&2 && ambitctl coordinate read \"$U\" -- wc -c {}",
          patience: .seconds(90))
      }
      #expect(try world.ambit("provider", "disable", "Cloud").exit == .status(0))
      let without = try resolve()
      #expect(without.exit != .status(0))
      // The same item, as another file.
      _ = try world.enabledProvider(Self.identifier, "good")
      let again = try resolve()
      #expect(again.exit == .status(0), "\(again.errors)")
      #expect(again.output.contains("4096"))
    }
  }

  @Test func `PRV-2: a read of metadata asks for a placeholder, and brings nothing`() throws {
    try Workspace.with(.root) { world in
      let folder = try world.enabledProvider(Self.identifier, "good")
      let run = try world.probe(picks: ["\(folder)/page.txt"])
      let place = try run.tell("pick", ["as": "a"])["path"]?.string ?? ""
      _ = try run.tell("start", ["of": "a"])
      _ = try run.tell(
        "coordinate",
        ["name": "c", "read": .array([.string(place)]), "options": .array(["immediatelyAvailableMetadataOnly"])],
        patience: .seconds(30))
      #expect(try run.finish() == .status(0))
      #expect(FileManager.default.fileExists(atPath: "\(memory(world))/placeholder-page.txt"))
      #expect(try world.audit(.provider).compactMap(\.how) == ["enabled"])
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `PRV-5: when the last process stops its access, the provider is told`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let folder = try world.enabledProvider(Self.identifier, "good")
      let run = try world.ambit(
        "run", "--pick", "\(folder)/page.txt", "--", "sh", "-c",
        "U=$(ambitctl pick) && ambitctl start \"$U\" >&2 && ambitctl coordinate read \"$U\" -- cat {} > /dev/null && "
          + "ambitctl stop \"$U\"", patience: .seconds(60))
      #expect(run.exit == .status(0), "\(run.errors)")
      #expect(try waitUntil { FileManager.default.fileExists(atPath: "\(memory(world))/stopped-page.txt") })
      // The document keeps its content.
      #expect(try world.ambit("provider", "list").output.contains("1 here"))
    }
  }

  @Test func `PRV-18: a provider that coordinates with its own identifier does not wait for its reader`() throws {
    try Workspace.with(.root) { world in
      let folder = try world.enabledProvider(Self.identifier, "coordinates")
      let run = try world.ambit(
        "run", "--pick", "\(folder)/letter.txt", "--", "sh", "-c",
        "U=$(ambitctl pick) && ambitctl start \"$U\" >&2 && ambitctl coordinate read \"$U\" -- cat {}",
        patience: .seconds(60))
      #expect(run.output == "abcdefghijkl", "\(run.errors)")
    }
  }

  // MARK: Changes

  @Test
  func `PRV-9: changes are told from an anchor, in parts; an expired anchor lists anew; without end, they are ended`()
    throws
  {
    try Workspace.with(.root) { world in
      let folder = try world.enabledProvider(Self.identifier, "changes")
      #expect(try names(folder) == ["Item 0.txt"])
      func listings() throws -> Int { try world.read("\(memory(world))/listed").count }
      #expect(try listings() == 1)
      // Four changes, one after the other, and one item goes again.
      try world.write("4", to: "\(memory(world))/state")
      #expect(try refresh(world).exit == .status(0))
      #expect(try names(folder) == ["Item 0.txt", "Item 2.txt", "Item 3.txt", "Item 4.txt"])
      #expect(try listings() == 1)
      try world.write("5", to: "\(memory(world))/oldest")
      try world.write("5", to: "\(memory(world))/state")
      #expect(try refresh(world).exit == .status(0))
      #expect(try names(folder).count == 5)
      #expect(try listings() == 2)
      try world.write("", to: "\(memory(world))/endless")
      let endless = try refresh(world)
      #expect(endless.exit == .status(1))
      #expect(endless.errors.contains("changes without end"), "\(endless.errors)")
      #expect(try names(folder).count == 5)
    }
  }

  @Test(arguments: TestUser.all)
  func `PRV-9: a document that is not here shows its new size, and comes with it`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let folder = try world.enabledProvider(Self.identifier, "changes")
      let document = "\(folder)/Item 0.txt"
      func size() throws -> Int? { try FileManager.default.attributesOfItem(atPath: document)[.size] as? Int }
      #expect(try size() == 12)
      try world.write("7", to: "\(memory(world))/size")
      try world.write("1", to: "\(memory(world))/oldest")
      let refreshed = try refresh(world)
      #expect(refreshed.exit == .status(0) && refreshed.errors.isEmpty, "\(refreshed)")
      #expect(try size() == 7)
      let got = try world.ambit("provider", "get", document)
      #expect(got.exit == .status(0), "\(got)")
      #expect(try Data(contentsOf: URL(filePath: document)) == Data("abcdefg".utf8))
    }
  }

  @Test func `PRV-10: an enumerator is told when it is no longer needed`() throws {
    try Workspace.with(.root) { world in
      _ = try world.enabledProvider(Self.identifier, "good")
      #expect(try waitUntil { FileManager.default.fileExists(atPath: "\(memory(world))/invalidated") })
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `PRV-11, MDQ-11: the working set is there without a listing; the trash gives back what it took`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let folder = try world.enabledProvider(Self.identifier, "working")
      let plan = try FileManager.default.attributesOfItem(atPath: "\(folder)/Deep/Plan.txt")
      #expect(plan[.size] as? Int == 4 && plan[.posixPermissions] as? Int == 0)
      let set = try world.ambit("provider", "working-set", "Cloud").output
      #expect(
        set == """
          IDENTIFIER  NAME       MARKS
          plan        Plan.txt   favorite, recent
          notes       Notes.txt  shared, tagged

          """)
      // The trash, and back.
      let put = try world.ambit("provider", "trash", "--put", "\(folder)/page.txt")
      #expect(put.exit == .status(0), "\(put.errors)")
      #expect(!FileManager.default.fileExists(atPath: "\(folder)/page.txt"))
      #expect(try world.ambit("provider", "trash", "Cloud").output.hasSuffix("\npage        page.txt  trashed\n"))
      #expect(try world.ambit("provider", "working-set", "Cloud").output.contains("page        page.txt   trashed"))
      #expect(try refresh(world).exit == .status(0))
      #expect(!FileManager.default.fileExists(atPath: "\(folder)/page.txt"))
      let restored = try world.ambit("provider", "restore", "Cloud", "page")
      #expect(restored.output == "\(folder)/page.txt\n", "\(restored.errors)")
      #expect(try world.ambit("provider", "get", "\(folder)/page.txt", patience: .seconds(60)).exit == .status(0))
      // One that does not let itself be thrown away stays.
      let kept = try world.ambit("provider", "trash", "--put", "\(folder)/one.txt")
      #expect(kept.exit == .status(1) && kept.errors.contains("does not allow it"), "\(kept.errors)")
    }
  }

  // MARK: Forms

  @Test(arguments: TestUser.one(.root))
  func `PRV-14: no room and no server are said, and changes without a sign-in stay here until they can go`(
    user: TestUser
  ) throws {
    for (behaviour, reason) in [("full", "The account is full."), ("offline", "The server sleeps.")] {
      try Workspace.with(user) { world in
        let folder = try world.enabledProvider(Self.identifier, behaviour)
        let got = try world.ambit("provider", "get", "\(folder)/page.txt", patience: .seconds(60))
        #expect(got.exit == .status(1) && got.errors.contains(reason) && got.errors.contains("Cloud"), "\(got.errors)")
      }
    }
    try Workspace.with(user) { world in
      let folder = try world.enabledProvider(Self.identifier, "locked")
      try "a new one".write(toFile: "\(folder)/new.txt", atomically: false, encoding: .utf8)
      try FileManager.default.moveItem(atPath: "\(folder)/above.txt", toPath: "\(folder)/higher.txt")
      try FileManager.default.removeItem(atPath: "\(folder)/below.txt")
      #expect(try refresh(world).exit == .status(0))
      let changed = ["Folder", "empty.txt", "higher.txt", "letter.txt", "new.txt", "one.txt", "page.txt"]
      #expect(try names(folder) == changed)
      #expect(!FileManager.default.fileExists(atPath: "\(memory(world))/imported"))
      let ambit = try Products.path("ambit")
      let signIn = "printf 'ada\\ntulip\\n\\n' | \(ambit) provider sign-in --stdin Cloud"
      #expect(try world.run(["/bin/sh", "-c", signIn]).exit == .status(0))
      for (act, told) in [("imported", "a new one"), ("renamed", "above higher.txt"), ("deleted", "below")] {
        let place = "\(memory(world))/\(act)"
        #expect(try waitUntil { (try? String(contentsOfFile: place, encoding: .utf8)) == told }, "\(act)")
      }
      #expect(try names(folder) == changed)
      #expect(try String(contentsOfFile: "\(folder)/new.txt", encoding: .utf8) == "a new one")
      // The copies that the extension was handed do not stay.
      let storage = "\(memory(world))/File Provider Storage"
      #expect(
        try waitUntil {
          try !FileManager.default.contentsOfDirectory(atPath: storage).contains { $0.hasPrefix("new") }
        })
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `PRV-14: a missing sign-in is asked for in the app's flow, and the answers are in no log`(user: TestUser) throws
  {
    try Workspace.with(user) { world in
      let folder = try world.enabledProvider(Self.identifier, "locked")
      let answers = try world.document(
        "answers.toml",
        """
        [[answer]]
        pick = ["\(folder)/letter.txt"]
        [[answer]]
        fill = ["user=ada", "word=rose"]
        [[answer]]
        fill = ["user=ada", "word=tulip", "place=south"]
        """)
      let read =
        "U=$(ambitctl pick) && ambitctl start \"$U\" >&2 && ambitctl coordinate read \"$U\" -- cat {}"
      let run = try world.ambit("run", "--answers", answers, "--", "sh", "-c", read, patience: .seconds(60))
      #expect(run.output == "abcdefghijkl", "\(run.errors)")
      #expect(!run.errors.contains("tulip"))
      let log = try world.ambit("audit", "log", "--format", "json").output
      #expect(!log.contains("tulip") && !log.contains("rose"))
    }
    try Workspace.with(user) { world in
      let folder = try world.enabledProvider(Self.identifier, "locked")
      let locked = try world.ambit("provider", "get", "\(folder)/page.txt", patience: .seconds(60))
      #expect(locked.exit == .status(1) && locked.errors.contains("provider sign-in"), "\(locked.errors)")
      func signIn(_ word: String) throws -> Outcome {
        try world.run(
          ["/bin/sh", "-c", "printf 'ada\\n\(word)\\n\\n' | \(Products.path("ambit")) provider sign-in --stdin Cloud"])
      }
      let wrong = try signIn("rose")
      #expect(wrong.exit == .status(1) && wrong.errors.contains("The password is another one."), "\(wrong.errors)")
      let right = try signIn("tulip")
      #expect(right.exit == .status(0), "\(right.errors)")
      #expect(try world.ambit("provider", "get", "\(folder)/page.txt", patience: .seconds(60)).exit == .status(0))
    }
  }

  // MARK: The provider's own picker

  private func pick(_ world: Workspace, _ answers: String, _ words: String = "") throws -> Outcome {
    let file = try world.document("answers.toml", answers)
    let read = "U=$(ambitctl pick \(words)) && ambitctl start \"$U\" >&2 && ambitctl coordinate read \"$U\" -- cat {}"
    return try world.ambit("run", "--answers", file, "--", "sh", "-c", read, patience: .seconds(60))
  }

  private static let own = "[[answer]]\naction = \"io.ambit.provider:\(identifier)\"\n"

  @Test(arguments: TestUser.one(.root))
  func `PRV-7: a provider's own picker hands out a document of its own, and nothing else`(user: TestUser) throws {
    try Workspace.with(user) { world in
      _ = try world.enabledProvider(Self.identifier, "good")
      // Refused answers leave the form where it is.
      let chosen = try pick(
        world, Self.own + "[[answer]]\nfill = []\n[[answer]]\nfill = [\"items=letter\"]\n", "--type txt")
      #expect(chosen.exit == .status(0) && chosen.output == "abcdefghijkl", "\(chosen)")
      let grants = try world.audit(.grant)
      #expect(
        grants.count == 1 && grants[0].document?.path.hasSuffix("CloudStorage/\(Self.identifier)/letter.txt") == true)
      // Dismissed, nothing is chosen; the provider hears of it.
      let dismissed = try pick(world, Self.own + "[[answer]]\ncancel = true\n")
      #expect(dismissed.exit != .status(0) && dismissed.output.isEmpty)
      #expect(try waitUntil { FileManager.default.fileExists(atPath: "\(memory(world))/dismissed") })
      #expect(try world.audit(.grant).count == 1)
    }
    for (behaviour, reason) in [
      ("outside", "not the provider's own"), ("invents", "no document of its own"), ("crowded", "256 rows at most"),
    ] {
      try Workspace.with(user) { world in
        _ = try world.enabledProvider(Self.identifier, behaviour)
        let refused = try pick(world, Self.own + "[[answer]]\nfill = [\"items=letter\"]\n")
        #expect(refused.exit != .status(0) && refused.errors.contains(reason), "\(behaviour): \(refused.errors)")
        #expect(try world.audit(.grant).isEmpty)
      }
    }
  }

  // MARK: Pictures

  @Test func `THM-5: the provider draws remote documents, once for each version; what is no picture is refused`() throws
  {
    try Workspace.with(.root) { world in
      let folder = try world.enabledProvider(Self.identifier, "good")
      for _ in 0..<2 {
        let drawn = try world.ambit("thumbnail", "\(folder)/page.txt", patience: .seconds(60))
        #expect(drawn.exit == .status(0), "\(drawn.errors)")
        let bytes = try Data(
          contentsOf: URL(fileURLWithPath: drawn.output.trimmingCharacters(in: .newlines)))
        #expect(bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]))
      }
      #expect(try world.read("\(memory(world))/drawn") == "page 256\n")
      // The content has not come for it.
      #expect(try world.ambit("provider", "list").output.contains("0 here"))
    }
    for behaviour in ["lies", "large"] {
      try Workspace.with(.root) { world in
        let folder = try world.enabledProvider(Self.identifier, behaviour)
        let refused = try world.ambit("thumbnail", "\(folder)/page.txt", patience: .seconds(60))
        #expect(refused.exit == .status(1))
        #expect(refused.errors.contains("picture"), "\(refused.errors)")
      }
    }
  }
}
