import FileProviders
import TestSupport
import Testing

/// PRV-20: each check of the validator finds a provider that breaks its rule, and a good one has no findings.
struct ProviderValidationTests {
  private typealias Page = ProviderTranscript.Page

  private static func good() -> ProviderTranscript {
    let folder = ProviderItem(
      identifier: "f", filename: "Folder", isFolder: true, contentType: "public.folder", version: "",
      capabilities: [.contentEnumerating])
    let (a, b) = (item("a"), item("b", in: "f"))
    var transcript = ProviderTranscript()
    transcript.listings = [.init("root", [Page([folder], next: "2"), Page([a])]), .init("f", [Page([b])])]
    transcript.again = transcript.listings
    transcript.items = ["f": .answered(folder), "a": .answered(a), "b": .answered(b)]
    transcript.contents = ["a": [.answered(3), .answered(3)], "b": [.answered(3), .answered(3)]]
    transcript.unknownItem = .failed("noSuchItem")
    transcript.unknownContent = .failed("noSuchItem")
    transcript.unknownFolder = .failed("noSuchItem")
    transcript.documentListed = .failed("noSuchItem")
    transcript.unknownPage = .failed("pageExpired")
    for identifier in ["a", "b"] {
      transcript.places[identifier] = (
        .answered("/home/user/File Provider Storage/\(identifier)/x.txt"), .answered(identifier)
      )
    }
    transcript.placeOutside = .failed("nothing")
    (transcript.anchor, transcript.changesSince) = ("MQ==", .answered(0))
    transcript.unknownAnchor = .failed("syncAnchorExpired")
    var (recent, thrown) = (item("a"), item("t", in: ProviderItem.trash))
    recent.marks = [.recent]
    thrown.marks = [.trashed]
    transcript.workingSet = .init(ProviderItem.workingSet, [Page([recent])])
    transcript.trash = .init(ProviderItem.trash, [Page([thrown])])
    var change = ProviderTranscript.Change()
    change.names = ("new.txt", "newer.txt")
    change.sizes = (5, 7)
    var made = item("n")
    (made.filename, made.size) = ("new.txt", 5)
    (change.made, change.found) = (.answered(made), .answered(made))
    change.listed = ["f", "a", "n"]
    change.content = .answered(5)
    change.collision = .failed("filenameCollision")
    (made.version, made.size) = ("2", 7)
    (change.written, change.rewritten) = (.answered(made), .answered(7))
    made.filename = "newer.txt"
    (change.renamed, change.foundRenamed) = (.answered(made), .answered(made))
    (change.moveOfUnknown, change.deletionOfUnknown) = (.failed("noSuchItem"), .failed("noSuchItem"))
    (change.deleted, change.afterwards) = (.answered(0), .failed("noSuchItem"))
    change.listedAfterwards = ["f", "a"]
    transcript.change = change
    transcript.now = 1_400_000_000_000_000_000
    return transcript
  }

  private static func item(_ identifier: String, in parent: String = "root") -> ProviderItem {
    ProviderItem(
      identifier: identifier, parent: parent, filename: "\(identifier).txt", contentType: "public.plain-text", size: 3)
  }

  /// With this done to an item everywhere.
  private static func broken(_ change: (inout ProviderItem) -> Void) -> ProviderTranscript {
    var transcript = good()
    var item = item("a")
    change(&item)
    transcript.listings[0].pages[1] = Page([item])
    transcript.again = transcript.listings
    transcript.items["a"] = nil
    transcript.contents["a"] = nil
    transcript.items[item.identifier] = .answered(item)
    return transcript
  }

  private static func broken(all change: (inout ProviderTranscript) -> Void) -> ProviderTranscript {
    var transcript = good()
    change(&transcript)
    return transcript
  }

  /// With this done to the change that was tried.
  private static func broken(change: (inout ProviderTranscript.Change, ProviderItem) -> Void) -> ProviderTranscript {
    var transcript = good()
    guard var tried = transcript.change, case .answered(let made)? = tried.made else { return transcript }
    change(&tried, made)
    transcript.change = tried
    return transcript
  }

  private static func item(_ made: ProviderItem, _ change: (inout ProviderItem) -> Void)
    -> ProviderTranscript.Reply<ProviderItem>
  {
    var item = made
    change(&item)
    return .answered(item)
  }

  /// A transcript that breaks just the rule of each check.
  private static let cases: [String: ProviderTranscript] = [
    "identifier-there": broken { $0.identifier = "" },
    "identifier-not-reserved": broken { $0.identifier = "NSFileProviderTrashContainerItemIdentifier" },
    "identifier-short": broken { $0.identifier = String(repeating: "i", count: 1025) },
    "identifier-text": broken { $0.identifier = "a\u{7}" },
    "identifier-unique": broken(all: {
      $0.listings[1].pages[0].items[0] = item("a", in: "f")
      $0.listings[0].pages[1].items[0].parent = "root"
      $0.again = $0.listings
      $0.items = [:]
    }),
    "name-there": broken { $0.filename = "" },
    "name-no-slash": broken { $0.filename = "a/b" },
    "name-no-control": broken { $0.filename = "a\nb" },
    "name-short": broken { $0.filename = String(repeating: "n", count: 256) },
    "name-no-dots": broken { $0.filename = ".." },
    "name-plain": broken { $0.filename = "a\u{202E}txt.exe" },
    "name-edges": broken { $0.filename = "a " },
    "name-not-ambits": broken { $0.filename = ".ambit-x" },
    "name-unique": broken { $0.filename = "FOLDER" },
    "parent-is-folder": broken { $0.parent = "f" },
    "no-circle": broken(all: {
      let circle = ProviderItem(
        identifier: "f", parent: "f", filename: "Folder", isFolder: true, version: "",
        capabilities: [.contentEnumerating])
      $0.listings = [.init("root", [Page([item("a")])]), .init("f", [Page([circle])])]
      $0.again = $0.listings
      $0.items = [:]
      $0.contents = [:]
    }),
    "tree-depth": broken(all: { transcript in
      let folders = (0..<66).map { number in
        ProviderItem(
          identifier: "d\(number)", parent: number == 0 ? "root" : "d\(number - 1)", filename: "d", isFolder: true,
          version: "",
          capabilities: [.contentEnumerating])
      }
      transcript.listings =
        folders.map { .init($0.parent, [Page([$0])]) } + [.init("d65", [Page([item("e", in: "d65")])])]
      transcript.again = transcript.listings
      (transcript.items, transcript.contents) = ([:], [:])
    }),
    "item-count": broken(all: { transcript in
      transcript.listings[0].pages[0] = Page(
        transcript.listings[0].pages[0].items + (0...60_000).map { item("m\($0)") }, next: "2")
      transcript.listings[0].pages[1] = Page(
        transcript.listings[0].pages[1].items + (0...60_000).map { item("o\($0)") })
      transcript.again = transcript.listings
    }),
    "root-listed": broken(all: {
      $0.listings = [.init("root", [], error: "serverUnreachable")]
      $0.again = []
      ($0.items, $0.contents) = ([:], [:])
    }),
    "folders-listed": broken(all: {
      $0.listings[1] = .init("f", [], error: "noSuchItem")
      $0.again = $0.listings
      ($0.items["b"], $0.contents["b"]) = (nil, nil)
    }),
    "size-sane": broken { $0.size = -1 },
    "folder-no-size": broken {
      ($0.isFolder, $0.size, $0.contentType, $0.capabilities) = (true, 5, nil, [.contentEnumerating])
    },
    "version-there": broken { $0.version = "" },
    "version-short": broken { $0.version = String(repeating: "v", count: 1001) },
    "date-sane": broken { $0.modified = 1_500_000_000_000_000_000 },
    "type-well-formed": broken { $0.contentType = "text/plain" },
    "folder-type": broken(all: { transcript in
      transcript.listings[0].pages[0].items[0].contentType = "public.data"
      transcript.again = transcript.listings
      transcript.items["f"] = .answered(transcript.listings[0].pages[0].items[0])
    }),
    "capability-of-kind": broken { $0.capabilities = [.reading, .addingSubItems] },
    "capability-reading": broken { $0.capabilities = [.writing] },
    "capability-enumerating": broken { ($0.isFolder, $0.size, $0.contentType, $0.capabilities) = (true, 0, nil, []) },
    "pages-end": broken(all: {
      $0.listings[0].pages = [Page([$0.listings[0].items[0]], next: "2"), Page([$0.listings[0].items[1]], next: "2")]
    }),
    "page-size": broken(all: {
      let many = (0...100_000).map { number in item("m\(number)") }
      $0.listings[0].pages = [Page($0.listings[0].items + many)]
      $0.again = $0.listings
    }),
    "page-name-short": broken(all: { $0.listings[0].pages[0].next = String(repeating: "p", count: 700) }),
    "pages-disjoint": broken(all: {
      $0.listings[0].pages.append(Page([item("a")]))
      $0.again = $0.listings
    }),
    "page-name-there": broken(all: { $0.listings[0].pages[0].next = "" }),
    "page-not-empty": broken(all: { $0.listings[0].pages.insert(Page([], next: "0"), at: 0) }),
    "page-unknown": broken(all: { $0.unknownPage = .failed("cannotSynchronize") }),
    "size-stable": broken(all: { $0.again[0].pages[1].items[0].size = 9 }),
    "date-stable": broken(all: { $0.again[0].pages[1].items[0].modified = 9 }),
    "name-stable": broken(all: { $0.again[0].pages[1].items[0].filename = "other.txt" }),
    "listing-stable": broken(all: { $0.again[0].pages[1].items = [] }),
    "version-stable": broken(all: { $0.again[0].pages[1].items[0].version = "9" }),
    "item-found": broken(all: { $0.items["a"] = .failed("noSuchItem") }),
    "item-same": broken(all: {
      var other = item("a")
      other.size = 4
      $0.items["a"] = .answered(other)
    }),
    "unknown-item": broken(all: { $0.unknownItem = .answered(item("x")) }),
    "unknown-content": broken(all: { $0.unknownContent = .answered(1) }),
    "unknown-folder": broken(all: { $0.unknownFolder = .failed("cannotSynchronize") }),
    "document-not-listed": broken(all: { $0.documentListed = .answered(0) }),
    "content-comes": broken(all: { $0.contents["a"] = [.failed("it is not there"), .answered(3)] }),
    "content-size": broken(all: { $0.contents["a"] = [.answered(2), .answered(2)] }),
    "content-again": broken(all: { $0.contents["a"] = [.answered(3), .answered(4)] }),
    "place-there": broken(all: { $0.places["a"]?.path = .answered("/etc/passwd") }),
    "place-back": broken(all: { $0.places["a"]?.back = .answered("b") }),
    "place-outside": broken(all: { $0.placeOutside = .answered("a") }),
    "anchor-short": broken(all: { $0.anchor = String(repeating: "x", count: 700) }),
    "anchor-quiet": broken(all: { $0.changesSince = .answered(1) }),
    "anchor-unknown": broken(all: { $0.unknownAnchor = .answered(0) }),
    "working-set-marks": broken(all: { $0.workingSet?.pages[0].items[0].marks = [] }),
    "trash-parent": broken(all: { $0.trash?.pages[0].items[0].parent = "root" }),
    "create-answers": broken(change: { change, _ in change.made = .failed("cannotSynchronize") }),
    "create-name": broken(change: { $0.made = item($1) { $0.filename = "other.txt" } }),
    "create-parent": broken(change: { $0.made = item($1) { $0.parent = "f" } }),
    "create-size": broken(change: { $0.made = item($1) { $0.size = 4 } }),
    "create-found": broken(change: { change, _ in change.found = .failed("noSuchItem") }),
    "create-listed": broken(change: { change, _ in change.listed = ["f", "a"] }),
    "create-content": broken(change: { change, _ in change.content = .answered(4) }),
    "create-collision": broken(change: { $0.collision = item($1) { $0.identifier = "o" } }),
    "write-version": broken(change: { $0.written = item($1) { $0.size = 7 } }),
    "write-content": broken(change: { change, _ in change.rewritten = .answered(5) }),
    "rename-answers": broken(change: { change, _ in
      (change.renamed, change.foundRenamed) = (.failed("cannotSynchronize"), nil)
    }),
    "rename-identifier": broken(change: { $0.renamed = item($1) { $0.identifier = "o" } }),
    "rename-found": broken(change: { $0.foundRenamed = .answered($1) }),
    "rename-unknown": broken(change: { $0.moveOfUnknown = .answered($1) }),
    "delete-answers": broken(change: { change, _ in change.deleted = .failed("cannotSynchronize") }),
    "delete-gone": broken(change: { $0.afterwards = .answered($1) }),
    "delete-unlisted": broken(change: { change, _ in change.listedAfterwards = ["f", "a", "n"] }),
    "delete-unknown": broken(change: { change, _ in change.deletionOfUnknown = .failed("cannotSynchronize") }),
  ]

  private func broken(_ transcript: ProviderTranscript, _ checks: [ProviderCheck] = ProviderCheck.all) -> [String] {
    checks.filter { !$0.outcome(transcript).findings.isEmpty }.map(\.name)
  }

  @Test("PRV-20: a provider that keeps the contract has no findings") func keeps() {
    #expect(broken(Self.good()) == [])
  }

  @Test("PRV-20: without a document that comes and goes, the rules about that are not tried, and all others are")
  func untried() {
    let transcript = Self.broken(all: { $0.change = nil })
    let untried = ProviderCheck.all.filter { $0.outcome(transcript) == .untried }.map(\.name)
    #expect(untried == ProviderCheck.all.map(\.name).filter { Self.isAboutChange($0) })
    #expect(ProviderCheck.all.allSatisfy { untried.contains($0.name) || $0.outcome(transcript) == .holds })
  }

  private static func isAboutChange(_ name: String) -> Bool {
    ["create-", "write-", "rename-", "delete-"].contains { name.hasPrefix($0) }
  }

  @Test("PRV-20: a provider that breaks one rule is found by the check of that rule, and by no other")
  func breaks() {
    for check in ProviderCheck.all {
      guard let transcript = Self.cases[check.name] else {
        Issue.record("there is no case for \(check.name)")
        continue
      }
      // A hundred thousand items take each check a while.
      let isLarge = check.name == "page-size" && !Rounds.areAll
      #expect(broken(transcript, isLarge ? [check] : ProviderCheck.all) == [check.name])
    }
    #expect(Self.cases.count == ProviderCheck.all.count)
    #expect(ProviderCheck.all.count >= 60)
  }
}
