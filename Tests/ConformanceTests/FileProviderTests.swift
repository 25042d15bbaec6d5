import Audit
import Foundation
import TestSupport
import Testing

/// File providers in real sandboxes: contents that come when they are read.
@Suite(.serialized, .waitingLong)
struct FileProviderTests {
  private static let identifier = "org.example.cloud"

  private func bundle(_ world: Workspace, _ behaviour: String) throws -> String {
    try world.providerBundle(Self.identifier, behaviour)
  }

  private func enabled(_ world: Workspace, _ behaviour: String = "good") throws -> String {
    try world.enabledProvider(Self.identifier, behaviour)
  }

  private func words(_ size: Int) -> String {
    String(decoding: (0..<size).map { UInt8(ascii: "a") + UInt8($0 % 26) }, as: UTF8.self)
  }

  /// Runs an app with a document that it has started; `$P` is the path, `$U` the URL.
  private func app(_ world: Workspace, _ document: String, _ script: String) throws -> Outcome {
    let start = "U=$(ambitctl pick) && ambitctl start \"$U\" >&2 && P=$(ambitctl path \"$U\") && "
    return try world.ambit("run", "--pick", document, "--", "sh", "-c", start + script, patience: .seconds(60))
  }

  @Test(arguments: TestUser.all)
  func `PRV-1, COO-26: a coordinated read brings the content, and any other read gets an error`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let folder = try enabled(world)
      for (name, size) in [("empty", 0), ("page", 4096), ("above", 4097)] {
        let run = try app(
          world, "\(folder)/\(name).txt", "(cat \"$P\" || echo no) && ambitctl coordinate read \"$U\" -- cat {}")
        #expect(run.exit == .status(0), "\(run.errors)")
        #expect(run.output == "no\n\(words(size))")
        // From then on every program has it.
        #expect(try world.read("\(folder)/\(name).txt") == words(size))
      }
      // It stays the same document, and goes again.
      #expect(try world.ambit("provider", "evict", "\(folder)/page.txt").exit == .status(0))
      let again = try world.ambit("provider", "get", "\(folder)/page.txt")
      #expect(again.exit == .status(0), "\(again.errors)")
      #expect(try world.read("\(folder)/page.txt") == words(4096))
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `PRV-4, PRV-13: a write returns, the provider hears of it, and what it has not got is not evicted`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let folder = try enabled(world)
      let run = try app(
        world, "\(folder)/letter.txt",
        "ambitctl coordinate write \"$U\" -- sh -c 'printf changed > \"$1\"' sh {}")
      #expect(run.exit == .status(0), "\(run.errors)")
      #expect(try world.read("\(folder)/letter.txt") == "changed")
      let told = "\(world.container("provider.\(Self.identifier)"))/changed-letter.txt"
      let due = ContinuousClock.now + .seconds(30)
      while (try? world.read(told)) != "changed", ContinuousClock.now < due { usleep(50_000) }
      #expect(try world.read(told) == "changed")
      // The log has it all.
      func events() throws -> [String] { try world.audit(.provider).map { "\($0.how ?? "") \($0.rule ?? "")" } }
      while try events().count < 3, ContinuousClock.now < due { usleep(50_000) }
      #expect(try events() == ["enabled PRV-19", "brought PRV-1", "sent PRV-4"])
      // Open, it stays.
      let file = try #require(FileHandle(forReadingAtPath: "\(folder)/letter.txt"))
      let refused = try world.ambit("provider", "evict", "\(folder)/letter.txt")
      #expect(refused.exit == .status(1))
      #expect(refused.errors.contains("a program has it open"))
      try file.close()
      // So does a change of a program that coordinates nothing, until the provider has it.
      try world.write("by hand", to: "\(folder)/letter.txt")
      let unsent = try world.ambit("provider", "evict", "\(folder)/letter.txt")
      #expect(unsent.errors.contains("has not got the last changes"), "\(unsent.errors)")
      while (try? world.read(told)) != "by hand", ContinuousClock.now < due { usleep(50_000) }
      #expect(try world.read(told) == "by hand")
      while try events().count < 4, ContinuousClock.now < due { usleep(50_000) }
      // A further name, too.
      try FileManager.default.linkItem(atPath: "\(folder)/letter.txt", toPath: "\(world.home)/further")
      #expect(try world.ambit("provider", "evict", "\(folder)/letter.txt").errors.contains("further names"))
      // And an item that the provider lets nobody evict.
      #expect(try world.ambit("provider", "get", "\(folder)/one.txt").exit == .status(0))
      let kept = try world.ambit("provider", "evict", "\(folder)/one.txt")
      #expect(kept.exit == .status(1) && kept.errors.contains("wants it kept here"), "\(kept.errors)")
      #expect(try world.run(["/usr/bin/stat", "-c", "%a", "\(folder)/one.txt"]).output == "400\n")
      // The provider allows more, and the content is the same.
      let container = world.container("provider.\(Self.identifier)")
      try world.write("", to: "\(container)/allow")
      #expect(try world.ambit("provider", "refresh", "Cloud").exit == .status(0))
      #expect(try world.run(["/usr/bin/stat", "-c", "%a", "\(folder)/one.txt"]).output == "600\n")
      #expect(try world.ambit("provider", "evict", "\(folder)/one.txt").exit == .status(0))
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `What is made, renamed and deleted in the folder reaches the provider; PRV-12: a name that is taken gives way`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let folder = try enabled(world, "snippets")
      func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder).sorted() }
      let new = try world.document("New.txt", "new")
      #expect(try world.ambit("cp", new, "\(folder)/New.txt").exit == .status(0))
      #expect(try world.ambit("mv", "\(folder)/New.txt", "\(folder)/Renamed.txt").exit == .status(0))
      #expect(try world.ambit("rm", "\(folder)/Address.txt").exit == .status(0))
      // By hand, with a name that the provider has in other letters.
      try world.write("by hand", to: "\(folder)/greeting.TXT")
      #expect(try world.ambit("provider", "refresh", "Cloud", patience: .seconds(60)).exit == .status(0))
      #expect(try names() == ["Closing.txt", "Greeting.txt", "Renamed.txt", "greeting 2.TXT"])
      // The provider has it all: switched off and on again, it shows the same.
      #expect(try world.ambit("provider", "disable", "Cloud").exit == .status(0))
      #expect(!FileManager.default.fileExists(atPath: folder))
      _ = try enabled(world, "snippets")
      #expect(try names() == ["Closing.txt", "Greeting.txt", "Renamed.txt", "greeting 2.TXT"])
      #expect(try world.ambit("provider", "get", "\(folder)/Renamed.txt").exit == .status(0))
      #expect(try world.read("\(folder)/Renamed.txt") == "new")
    }
  }

  @Test func `PCK-16: a document that is exported beside a provider's goes to the provider`() throws {
    try Workspace.with(.root) { world in
      let folder = try enabled(world, "snippets")
      let run = try world.ambit(
        "run", "--pick", folder, "--", "sh", "-c", "echo exported > Letter.txt && ambitctl export Letter.txt",
        patience: .seconds(60))
      #expect(run.exit == .status(0), "\(run.errors)")
      #expect(try world.ambit("provider", "refresh", "Cloud", patience: .seconds(60)).exit == .status(0))
      #expect(
        try world.audit(.provider).contains { $0.how == "created" && $0.document?.path == "\(folder)/Letter.txt" })
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `The broker enforces capabilities, and PRV-15: a deletion that the provider rejects is taken back`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let folder = try enabled(world)
      let write = "ambitctl coordinate write \"$U\" -- sh -c 'echo changed > \"$1\"' sh {} || echo refused"
      let run = try app(world, "\(folder)/one.txt", "ambitctl coordinate read \"$U\" -- cat {} && \(write)")
      #expect(run.output == "arefused\n", "\(run.output) \(run.errors)")
      let removal = try world.ambit("rm", "\(folder)/one.txt")
      #expect(removal.exit != .status(0))
      #expect(removal.errors.contains("does not allow it (deleting)"), "\(removal.errors)")
      #expect(try world.read("\(folder)/one.txt") == "a")
      // By hand nothing holds it up, and so it comes back.
      try FileManager.default.removeItem(atPath: "\(folder)/one.txt")
      #expect(try world.ambit("rm", "\(folder)/letter.txt").exit == .status(0))
      #expect(try world.ambit("provider", "refresh", "Cloud", patience: .seconds(60)).exit == .status(0))
      for (name, size) in [("one", 1), ("letter", 12)] {
        let status = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(name).txt")
        #expect(status[.size] as? Int == size)
        #expect(status[.posixPermissions] as? Int == 0)
      }
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `PCK-2: an import brings the content, and copies no zeros; the provider's own error reaches the reader`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let folder = try enabled(world)
      let run = try world.ambit(
        "run", "--pick", "\(folder)/page.txt", "--", "sh", "-c", "cat \"$(ambitctl pick --import)\"",
        patience: .seconds(60))
      #expect(run.output == words(4096), "\(run.errors)")
    }
    try Workspace.with(user) { world in
      let folder = try enabled(world, "offline")
      let run = try world.ambit(
        "run", "--pick", "\(folder)/page.txt", "--", "sh", "-c", "ambitctl pick --import", patience: .seconds(60))
      let read = try app(world, "\(folder)/letter.txt", "ambitctl coordinate read \"$U\" -- cat {}")
      for run in [run, read] {
        #expect(run.exit != .status(0))
        #expect(run.errors.contains("The server sleeps."), "\(run.errors)")
      }
    }
  }

  @Test(arguments: TestUser.all)
  func `PRV-1: a large content, which is copied while it is written, arrives whole`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let size = 40 << 20
      let folder = try enabled(world, "\(size)-bytes")
      let got = try world.ambit("provider", "get", "\(folder)/large.bin")
      #expect(got.exit == .status(0), "\(got)")
      let content = try Data(contentsOf: URL(filePath: "\(folder)/large.bin"))
      let piece = Data((0..<(1 << 20)).map { UInt8(ascii: "a") + UInt8($0 % 26) })
      #expect(content.count == size)
      #expect((0..<40).allSatisfy { content[($0 << 20)..<(($0 + 1) << 20)] == piece })
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `OIP-5: a content whose reader left at any moment comes for the next one`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let size = 128 << 20
      let document = "\(try enabled(world, "\(size)-bytes"))/large.bin"
      for milliseconds in [20, 60, 100, 140, 180, 240, 300, 400] as [UInt32] {
        let first = try world.start([Products.path("ambit"), "provider", "get", document])
        first.closeInput()
        usleep(milliseconds * 1000)
        first.signal(SIGINT)
        _ = try first.waitForExit(patience: .seconds(30))
        let second = try world.ambit("provider", "get", document)
        #expect(second.exit == .status(0), "after \(milliseconds) ms: \(second)")
        let status = try FileManager.default.attributesOfItem(atPath: document)
        #expect(status[.size] as? Int == size && status[.posixPermissions] as? Int == 0o600)
        #expect(try world.ambit("provider", "evict", document).exit == .status(0))
      }
    }
  }

  @Test
  func `PRV-13: what was used longest ago gives room first, and what is open stays; a folder's eviction stops there`()
    throws
  {
    try Workspace.with(.root) { world in
      let folder = try enabled(world)
      // Sizes: 4095, 4096, 4097 bytes.
      for name in ["below", "page", "above"] {
        #expect(try world.ambit("provider", "get", "\(folder)/\(name).txt").exit == .status(0))
      }
      func isHere(_ name: String) -> Bool {
        ((try? FileManager.default.attributesOfItem(atPath: "\(folder)/\(name).txt")[.posixPermissions]) as? Int) != 0
      }
      let all = try world.ambit("provider", "evict", "--keep", "1 MiB", folder)
      #expect(all.output.hasSuffix("0 bytes are free, 12288 bytes are here\n"), "\(all)")
      let oldest = try world.ambit("provider", "evict", "--keep", "10 KiB", folder)
      #expect(oldest.output.hasSuffix("4095 bytes are free, 8193 bytes are here\n"), "\(oldest)")
      #expect(!isHere("below") && isHere("page") && isHere("above"))
      let open = try #require(FileHandle(forReadingAtPath: "\(folder)/page.txt"))
      let rest = try world.ambit("provider", "evict", "--keep", "0 B", "\(world.home)/CloudStorage")
      #expect(rest.output.hasSuffix("4097 bytes are free, 4096 bytes are here\n"), "\(rest)")
      try open.close()
      #expect(isHere("page") && !isHere("above"))

      for name in ["above", "letter"] {
        #expect(try world.ambit("provider", "get", "\(folder)/\(name).txt").exit == .status(0))
      }
      let second = try #require(FileHandle(forReadingAtPath: "\(folder)/letter.txt"))
      let stopped = try world.ambit("provider", "evict", folder)
      #expect(stopped.exit == .status(1) && stopped.errors.contains("letter.txt"), "\(stopped)")
      #expect(try world.ambit("provider", "list").output.contains("2 here"))
      try second.close()
      #expect(try world.ambit("provider", "evict", folder).exit == .status(0))
      #expect(try world.ambit("provider", "list").output.contains("0 here"))
      #expect(try world.ambit("provider", "evict", "--keep", "much", folder).exit == .status(64))
    }
  }

  @Test(.enabled(if: try Feature.root.isHere(geteuid() == 0), "needs root"))
  func `PRV-13: on a full disk a content takes the room of those that were used longest ago`() throws {
    try Workspace.with(.root) { world in
      let place = "\(world.home)/CloudStorage"
      try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
      // Four pages: two documents of one page, and one of two.
      try DiskImage.run("mount", "-t", "tmpfs", "-o", "size=16k", "none", place)
      defer {
        _ = try? world.ambit("broker", "stop")
        _ = try? DiskImage.run("umount", "--lazy", place)
      }
      let folder = try enabled(world)
      for name in ["page", "below", "above"] {
        #expect(try world.ambit("provider", "get", "\(folder)/\(name).txt").exit == .status(0))
      }
      let last = try world.ambit("provider", "get", "\(folder)/letter.txt")
      #expect(last.exit == .status(0), "\(last)")
      #expect(try world.read("\(folder)/letter.txt") == words(12))
      #expect(try world.read("\(folder)/below.txt") == words(4095))
      let list = try world.ambit("provider", "list").output
      #expect(list.contains("3 here"), "\(list)")
      try Deadline.wait(for: "one eviction in the log") {
        try world.audit(.provider).filter { $0.how == "evicted" }.count == 1
      }
    }
  }

  @Test func `DOC-10: a document says how far its content has come, and only then`() throws {
    try Workspace.with(.root) { world in
      let folder = try enabled(world, "slow")
      let run = try world.probe(picks: ["\(folder)/page.txt"])
      _ = try run.tell("pick", ["as": "a"])
      let opened = try run.tell("openDocument", ["of": "a", "document": "d"], patience: .seconds(30))
      #expect(opened["done"]?.bool == true, "\(opened.text)")
      let events = try run.tell("document", ["document": "d", "events": .bool(true)])["text"]?.string ?? ""
      let states = events.split(separator: "\n").filter { $0.hasPrefix("state") }
      #expect(states == ["state closed, progress available", "state closed", "state normal"], "\(events)")
      #expect(try run.finish() == .status(0))
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `OIP-5: opening ends while the document comes, and nothing is half there`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let folder = try enabled(world, "slow")
      func awaitMark(_ name: String) throws {
        let home = world.container("provider.\(Self.identifier)")
        try Deadline.wait(for: name) { FileManager.default.fileExists(atPath: "\(home)/\(name)") }
      }
      func cancel(_ arguments: [String], _ name: String) throws {
        let opening = try world.start([Products.path("ambit")] + arguments)
        opening.closeInput()
        try awaitMark("started-\(name)")
        opening.signal(SIGINT)
        _ = try opening.waitForExit(patience: .seconds(30))
        try awaitMark("stopped-\(name)")
      }
      // By the user who brings it, and by one who opens a copy with an app.
      try cancel(["provider", "get", "\(folder)/page.txt"], "page.txt")
      try cancel(
        ["run", "--pick", "\(folder)/letter.txt", "--", "sh", "-c", "ambitctl pick --import"], "letter.txt")
      for name in ["page", "letter"] {
        let status = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(name).txt")
        #expect(status[.posixPermissions] as? Int == 0)
      }
      #expect(try world.audit(.provider).compactMap(\.how) == ["enabled", "cancelled", "cancelled"])
      // Another reader takes over from one that goes.
      let first = try world.start([Products.path("ambit"), "provider", "get", "\(folder)/page.txt"])
      first.closeInput()
      usleep(300_000)
      let second = try world.start([Products.path("ambit"), "provider", "get", "\(folder)/page.txt"])
      second.closeInput()
      usleep(300_000)
      first.signal(SIGINT)
      #expect(try second.waitForExit(patience: .seconds(30)) == .status(0))
      #expect(try world.read("\(folder)/page.txt") == words(4096))
    }
  }

  @Test func `A suspended extension ends with the broker that launched it`() throws {
    try Workspace.with(.root) { world in
      #expect(try world.ambit("provider", "get", "\(try enabled(world))/page.txt").exit == .status(0))
      func extensions() throws -> [String] {
        try world.instances().filter { $0["bundleIdentifier"]?.string?.hasPrefix("provider.") == true }
          .compactMap { $0["instance"]?.string }
      }
      let instance = try #require(try extensions().first)
      #expect(try world.ambit("suspend", instance).exit == .status(0))
      let broker = try #require(try world.brokerProcess())
      #expect(kill(broker, SIGKILL) == 0)
      try Deadline.wait(for: "the extension to end") {
        try world.brokerProcess().map { $0 != broker } == true && !extensions().contains(instance)
      }
    }
  }

  @Test(.enabled(if: try Feature.root.isHere(geteuid() == 0), "needs root"))
  func `PRV-22: any program of root's gets the content, or an error, and never zeros`() throws {
    try Workspace.with(.root) { world in
      let folder = try enabled(world)
      let map =
        "import mmap,sys; f=open(sys.argv[1],'rb'); sys.stdout.write(mmap.mmap(f.fileno(),0,prot=mmap.PROT_READ)[:].decode())"
      let programs: [(String, [String])] = [
        ("above", ["cat"]), ("page", ["dd", "status=none", "bs=512"]), ("below", ["python3", "-c", map]),
        ("letter", ["grep", "-h", ""]), ("one", ["head"]),
      ]
      for (name, program) in programs {
        let file = "\(folder)/\(name).txt"
        let words = program[0] == "dd" ? program + ["if=\(file)"] : program + [file]
        let run = try world.run(["/usr/bin/env"] + words)
        let size = try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int
        #expect(run.output.trimmingCharacters(in: .newlines) == self.words(size ?? 0), "\(program[0]): \(run.errors)")
      }
      // Programs that look for holes, also after an eviction.
      for program in [
        ["cp", "--sparse=always", "\(folder)/page.txt", "\(world.home)/copy"],
        ["sh", "-c", "tar -cSf - -C \(folder) page.txt | tar -xOf - > \(world.home)/copy"],
      ] {
        #expect(try world.ambit("provider", "evict", "\(folder)/page.txt").exit == .status(0))
        #expect(try world.run(["/usr/bin/env"] + program).exit == .status(0))
        #expect(try world.read("\(world.home)/copy") == words(4096))
      }
      // Without a guard for a moment, they wait for the next one.
      #expect(try world.ambit("provider", "evict", "\(folder)/page.txt").exit == .status(0))
      let broker = try #require(try world.brokerProcess())
      for guardian in ProcessTable.children(of: broker)
      where ProcessTable.commandLine(guardian).contains("broker guard") {
        kill(guardian, SIGKILL)
      }
      let again = try world.run(["/usr/bin/env", "cat", "\(folder)/page.txt"])
      #expect(again.output == words(4096) || again.errors.contains("Input/output error"), "\(again)")
    }
    try Workspace.with(.root) { world in
      let folder = try enabled(world, "offline")
      let run = try world.run(["/usr/bin/env", "cat", "\(folder)/letter.txt"])
      #expect(run.output.isEmpty)
      #expect(run.errors.contains("Input/output error"), "\(run.errors)")
    }
  }

  @Test func `MDQ-11, REF-5: attributes need no content, a query shows if it is here, and there is no reference`()
    throws
  {
    try Workspace.with(.root) { world in
      let folder = try enabled(world)
      let run = try app(world, "\(folder)/page.txt", "stat -c '%s %Y' \"$P\" && ambitctl references")
      #expect(run.output == "4096 1400000000\n", "\(run.output) \(run.errors)")
      #expect(try world.audit(.provider).compactMap(\.how) == ["enabled"])
      #expect(try world.audit(.reference).isEmpty)
      let ask = "ambitctl query \"kMDItemFSName == 'page.txt'\" --format json | grep -o 'Status[NC][A-Za-z]*'"
      for _ in 0..<2 {
        let run = try app(
          world, "\(folder)/page.txt", "\(ask) && ambitctl coordinate read \"$U\" -- true && \(ask)")
        #expect(run.output == "StatusNotDownloaded\nStatusCurrent\n", "\(run.output) \(run.errors)")
        #expect(try world.ambit("provider", "evict", "\(folder)/page.txt").exit == .status(0))
      }
      // A document that no provider has gets one.
      let own = try app(world, try world.document("own.txt", "own"), "ambitctl references")
      #expect(own.output.contains("own.txt"), "\(own.output)")
    }
  }

  @Test func `PRV-8: an expired page starts the list anew`() throws {
    try Workspace.with(.root) { world in
      let folder = try enabled(world, "forgetful")
      let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
      #expect(names == ["Folder", "above.txt", "below.txt", "empty.txt", "letter.txt", "one.txt", "page.txt"])
    }
  }

  @Test func `PRV-19: a provider that is not enabled is never launched`() throws {
    try Workspace.with(.root) { world in
      _ = try bundle(world, "good")
      let refused = try world.ambit("provider", "refresh", Self.identifier)
      #expect(refused.exit == .status(1))
      #expect(refused.errors.contains("is enabled"))
      #expect(!FileManager.default.fileExists(atPath: world.container("provider.\(Self.identifier)")))
      let folder = try enabled(world)
      #expect(try world.ambit("provider", "disable", Self.identifier).exit == .status(0))
      #expect(!FileManager.default.fileExists(atPath: folder))
    }
  }

  @Test(arguments: ["lies", "nothing", "dies", "link", "pipe"])
  func `PRV-7: a provider that gives something else harms nothing`(behaviour: String) throws {
    try Workspace.with(.root) { world in
      let folder = try enabled(world, behaviour)
      let refused = try world.ambit("provider", "get", "\(folder)/letter.txt", patience: .seconds(60))
      #expect(refused.exit == .status(1))
      #expect(refused.errors.contains("Cloud") || refused.errors.contains(Self.identifier), "\(refused.errors)")
      let status = try FileManager.default.attributesOfItem(atPath: "\(folder)/letter.txt")
      #expect(status[.posixPermissions] as? Int == 0)
      #expect(status[.size] as? Int == 12)
    }
  }

  @Test func `a provider that never completes is named after a bounded wait, and holds up no one else`() throws {
    try Workspace.with(.root) { world in
      let folder = try enabled(world, "silent")
      let waiting = try world.start([Products.path("ambit"), "provider", "get", "\(folder)/letter.txt"])
      waiting.closeInput()
      // Meanwhile the broker serves, and a reader that goes away leaves nothing behind.
      let other = try world.start([Products.path("ambit"), "provider", "get", "\(folder)/page.txt"])
      #expect(try world.ambit("provider", "list").output.contains("running"))
      other.signal(SIGKILL)
      #expect(try waiting.waitForExit(patience: .seconds(60)) == .status(1))
      #expect(waiting.allErrors.contains("has not answered and made no progress for 20 s"), "\(waiting.allErrors)")
      #expect(waiting.allErrors.contains(Self.identifier))
    }
  }

  @Test func `PRV-8: pages that are longer than a message are shown whole`() throws {
    try Workspace.with(.root) { world in
      // A placeholder of a broker that was killed before it noted the item.
      let folder = "\(world.home)/CloudStorage/\(Self.identifier)"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      let date = Date(timeIntervalSince1970: 1_400_000_000)
      let shut: [FileAttributeKey: Any] = [.posixPermissions: 0, .modificationDate: date]
      try Data(count: 12).write(to: URL(fileURLWithPath: "\(folder)/7.txt"))
      try FileManager.default.setAttributes(shut, ofItemAtPath: "\(folder)/7.txt")
      // A file of the user's own that is shut as well, and is not removed for an item's sake.
      try "my own".write(toFile: "\(folder)/8.txt", atomically: false, encoding: .utf8)
      try FileManager.default.setAttributes(shut, ofItemAtPath: "\(folder)/8.txt")
      // A thousand on each page.
      let shown = try world.ambit(
        "provider", "enable", bundle(world, "1500-items"), patience: .seconds(60))
      #expect(shown.errors.contains("“8.txt” cannot be shown: EEXIST"), "\(shown.errors)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 1500)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: "\(folder)/8.txt")
      #expect(try world.read("\(folder)/8.txt") == "my own")
      #expect(!shown.errors.contains("7.txt"), "\(shown.errors)")
      #expect(try world.ambit("provider", "identify", "\(folder)/7.txt").exit == .status(0))
    }
  }

  @Test func `PRV-16: names that are none, sizes that are none and pages without end are named`() throws {
    try Workspace.with(.root) { world in
      let named = try world.ambit("provider", "enable", bundle(world, "names"), patience: .seconds(60))
      for word in ["no slash", "control characters", "255 bytes", "not named", "has its name", "a size is"] {
        #expect(named.errors.contains(word), "\(word): \(named.errors)")
      }
      #expect(!FileManager.default.fileExists(atPath: "\(world.home)/escape.txt"))
    }
    try Workspace.with(.root) { world in
      let huge = try world.ambit("provider", "enable", bundle(world, "huge"), patience: .seconds(60))
      #expect(huge.exit == .status(1))
      #expect(huge.errors.contains(Self.identifier))
    }
    try Workspace.with(.root) { world in
      let flooded = try world.ambit("provider", "enable", bundle(world, "flood"), patience: .seconds(60))
      #expect(flooded.exit == .status(1))
      #expect(flooded.errors.contains("pages without end"))
    }
  }

  @Test func `PRV-20: the validator finds a provider that keeps the contract, and one that does not`() throws {
    try Workspace.with(.root) { world in
      _ = try enabled(world)
      let kept = try world.ambit("provider", "validate", "--format", "tap", "Cloud", patience: .seconds(60))
      #expect(kept.exit == .status(0), "\(kept.output)")
      let untried = kept.output.split(separator: "\n").filter { $0.contains("# SKIP") }
      #expect(untried.count == 18 && untried.allSatisfy { $0.hasPrefix("ok ") }, "\(untried)")
    }
    try Workspace.with(.root) { world in
      _ = try enabled(world, "snippets")
      let kept = try world.ambit("provider", "validate", "--changes", "Cloud", patience: .seconds(60))
      #expect(kept.exit == .status(0), "\(kept.output)")
      #expect(kept.output.contains("77 of 77 rules hold for 3 items."))
    }
    try Workspace.with(.root) { world in
      _ = try enabled(world, "lies")
      let broken = try world.ambit("provider", "validate", "--format", "tap", "Cloud", patience: .seconds(60))
      #expect(broken.exit == .status(1))
      let failed = broken.output.split(separator: "\n").filter { $0.hasPrefix("not ok") }
      #expect(failed.count == 1 && failed[0].contains("content-size"), "\(failed)")
    }
  }
}
