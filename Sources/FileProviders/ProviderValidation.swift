internal import Paths

/// One rule of the provider's contract. A check names the fault; it says nothing if the rule holds.
package struct ProviderCheck: Sendable {
  package let name: String
  /// The rule, as a sentence.
  package let rule: String
  /// The way to mend it.
  package let remedy: String
  let findings: @Sendable (ProviderTranscript) -> [String]

  init(
    _ name: String, _ rule: String, _ remedy: String, _ findings: @escaping @Sendable (ProviderTranscript) -> [String]
  ) { (self.name, self.rule, self.remedy, self.findings) = (name, rule, remedy, findings) }

  /// A rule of single items.
  private static func each(
    _ name: String, _ rule: String, _ remedy: String, _ isBroken: @escaping @Sendable (ProviderItem) -> Bool
  ) -> ProviderCheck {
    ProviderCheck(name, rule, remedy) { transcript in
      transcript.all.filter { isBroken($0.item) }.map { "\(Self.name($0.item)) breaks it" }
    }
  }

  private static func name(_ item: ProviderItem) -> String {
    "“\(item.filename.prefix(60))” (\(item.identifier.prefix(60)))"
  }

  private static func isControl(_ text: String) -> Bool {
    text.unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }
  }

  package enum Outcome: Sendable, Equatable {
    case holds
    /// The fault.
    case broken([String])
    /// It is about a document that comes and goes, and none did.
    case untried

    package var findings: [String] { if case .broken(let findings) = self { findings } else { [] } }
  }

  package func outcome(_ transcript: ProviderTranscript) -> Outcome {
    if transcript.change == nil, Self.namesOfChanges.contains(name) { return .untried }
    let findings = findings(transcript)
    return findings.isEmpty ? .holds : .broken(findings)
  }

  private static let namesOfChanges = Set(changes.map(\.name))

  // MARK: The rules

  package static let all: [ProviderCheck] =
    identifiers + names + tree + attributes + pages + answers + contents + places + changes

  private static let identifiers: [ProviderCheck] = [
    each("identifier-there", "Each item has an identifier.", "Give it one that stays.") { $0.identifier.isEmpty },
    each(
      "identifier-not-reserved", "The identifiers of root, working set and trash are reserved (PRV-10).",
      "Use another one."
    ) {
      ProviderItem.reserved.contains($0.identifier)
    },
    each("identifier-short", "An identifier has 1,024 bytes at most.", "Keep a table of short ones.") {
      $0.identifier.utf8.count > ProviderItem.longestText
    },
    each("identifier-text", "An identifier has no control characters in it.", "Encode what it is made of.") {
      isControl($0.identifier)
    },
    ProviderCheck("identifier-unique", "Two items do not have one identifier.", "Number them.") { transcript in
      var seen: [String: String] = [:]
      return transcript.all.compactMap { item, folder in
        defer { seen[item.identifier] = "\(folder)/\(item.filename)" }
        return seen[item.identifier].flatMap {
          $0 == "\(folder)/\(item.filename)" ? nil : "\(name(item)) is also \($0.prefix(80))"
        }
      }
    },
  ]

  private static let names: [ProviderCheck] = [
    each("name-there", "Each item has a name.", "Name it.") { $0.filename.isEmpty },
    each("name-no-slash", "A name has no slash in it.", "Write another letter for it.") {
      $0.filename.hasSlash
    },
    each("name-no-control", "A name has no control characters in it.", "Leave them out.") { isControl($0.filename) },
    each("name-short", "A name has 255 bytes at most.", "Cut it before its extension.") {
      $0.filename.utf8.count > 255
    },
    each("name-no-dots", "A name is not “.” or “..”.", "Name it.") { [".", ".."].contains($0.filename) },
    each(
      "name-plain", "A name does not turn the direction of a text, and has nothing invisible in it.", "Leave it out."
    ) {
      $0.filename.unicodeScalars.contains {
        [0x061C, 0x200B, 0x200E, 0x200F, 0xFEFF].contains($0.value) || (0x202A...0x202E).contains($0.value)
          || (0x2066...0x2069).contains($0.value)
      }
    },
    each("name-edges", "A name does not begin or end with a space.", "Cut the spaces off.") {
      $0.filename.hasPrefix(" ") || $0.filename.hasSuffix(" ")
    },
    each("name-not-ambits", "Names that begin with “.ambit-” are Ambit's own.", "Name it in another way.") {
      $0.filename.hasPrefix(".ambit-")
    },
    ProviderCheck(
      "name-unique", "Two items of a folder do not have one name; case does not count (PRV-12).", "Rename one."
    ) { transcript in
      transcript.listings.flatMap { listing in
        var seen: [String: String] = [:]
        return listing.items.compactMap { item -> String? in
          let key = item.filename.lowercased()
          defer { seen[key] = item.identifier }
          return seen[key].flatMap { $0 == item.identifier ? nil : "\(name(item)) has the name of \($0.prefix(60))" }
        }
      }
    },
  ]

  private static let tree: [ProviderCheck] = [
    ProviderCheck(
      "parent-is-folder", "An item's parent is the folder that lists it.", "Answer the identifier of that folder."
    ) { transcript in
      transcript.all.filter { $0.item.parent != $0.folder }.map {
        "\(name($0.item)) is listed in \($0.folder.prefix(60))"
      }
    },
    ProviderCheck("no-circle", "No folder is in itself.", "Look at its parents.") { transcript in
      let parents = Dictionary(transcript.all.map { ($0.item.identifier, $0.item.parent) }) { first, _ in first }
      // Each folder is walked once, and not once for each item that names it.
      var verdicts: [String: Bool] = [:]
      return transcript.all.compactMap { item, _ in
        var (at, way) = (item.parent, [String]())
        var onWay: Set<String> = []
        while at != ProviderItem.root, verdicts[at] == nil, let next = parents[at], onWay.insert(at).inserted {
          way.append(at)
          at = next
        }
        let isInCircle = verdicts[at] ?? onWay.contains(at)
        for each in way { verdicts[each] = isInCircle }
        return isInCircle ? "\(name(item)) is in a circle" : nil
      }
    },
    ProviderCheck("tree-depth", "Folders are 64 deep at most.", "Show fewer levels.") { transcript in
      let parents = Dictionary(transcript.all.map { ($0.item.identifier, $0.item.parent) }) { first, _ in first }
      return transcript.all.compactMap { item, _ in
        var (at, steps) = (item.parent, 0)
        while at != ProviderItem.root, let next = parents[at], steps <= 65 { (at, steps) = (next, steps + 1) }
        // A circle is another fault.
        return steps == 65 && parents.count > 65 ? "\(name(item)) is deeper" : nil
      }
    },
    ProviderCheck("item-count", "A provider has 100,000 items at most.", "Show a part of them.") { transcript in
      let count = transcript.all.count
      return count > 100_000 && !transcript.listings.flatMap(\.pages).contains { $0.items.count > 100_000 }
        ? ["it has \(count)"] : []
    },
    ProviderCheck("root-listed", "The root can be listed.", "Answer an enumerator for the root, if it is empty too.") {
      transcript in
      let root = transcript.listings.first { $0.folder == ProviderItem.root }
      if let error = root?.error { return ["it answered \(error)"] }
      return root == nil ? ["it was not listed"] : []
    },
    ProviderCheck("folders-listed", "Each folder can be listed.", "Answer an enumerator for each folder.") {
      transcript in
      let failed = transcript.listings.filter { $0.folder != ProviderItem.root }
      return failed.compactMap { each in each.error.map { "\(each.folder.prefix(60)) answered \($0)" } }
    },
  ]

  private static let attributes: [ProviderCheck] = [
    each("size-sane", "A size is 0 bytes or more, and not beyond all disks.", "Answer the size of the content.") {
      $0.size < 0 || $0.size > ProviderItem.largest
    },
    each("folder-no-size", "A folder has no size.", "Answer none.") { $0.isFolder && $0.size != 0 },
    each("version-there", "A document has a version.", "Answer one that changes with the content.") {
      !$0.isFolder && $0.version.isEmpty
    },
    each("version-short", "A version has 1,000 bytes at most (PRV-16).", "Use a digest.") {
      $0.version.utf8.count > 1000
    },
    ProviderCheck("date-sane", "No document was changed before 1970 or after tomorrow.", "Answer a date of this world.")
    {
      transcript in
      transcript.all.filter { $0.item.modified < 0 || $0.item.modified > transcript.now + 86_400_000_000_000 }
        .map { "\(name($0.item)) breaks it" }
    },
    each("type-well-formed", "A type is a uniform type identifier.", "Answer one such as public.plain-text.") { item in
      guard let type = item.contentType else { return false }
      return !type.contains(".") || type.unicodeScalars.contains { !$0.isASCII || $0.value <= 0x20 || $0 == "/" }
    },
    each("folder-type", "A folder's type is public.folder, or none is said.", "Answer UTType.folder.") {
      $0.isFolder && !["public.folder", nil].contains($0.contentType)
    },
    each(
      "capability-of-kind", "A document has no capability of a folder, and a folder none of a document.",
      "Leave it out."
    ) {
      !$0.capabilities.isDisjoint(with: $0.isFolder ? [.reading, .writing] : [.contentEnumerating, .addingSubItems])
    },
    each("capability-reading", "A document can be read.", "Add allowsReading.") {
      !$0.isFolder && !$0.capabilities.contains(.reading)
    },
    each("capability-enumerating", "A folder can be listed.", "Add allowsContentEnumerating.") {
      $0.isFolder && !$0.capabilities.contains(.contentEnumerating)
    },
  ]

  private static let pages: [ProviderCheck] = [
    ProviderCheck("pages-end", "The pages of a folder end (PRV-8).", "Answer no page after the last one.") {
      transcript in
      transcript.listings.compactMap { listing in
        let next = listing.pages.compactMap(\.next)
        return Set(next).count < next.count ? "a page of \(listing.folder.prefix(60)) follows itself" : nil
      }
    },
    ProviderCheck("page-size", "A page has 100,000 items at most (PRV-16).", "Make more pages.") { transcript in
      transcript.listings.flatMap(\.pages).filter { $0.items.count > 100_000 }.map { "one has \($0.items.count)" }
    },
    ProviderCheck("page-name-short", "The name of a page has 500 bytes at most.", "Keep the place in a table.") {
      transcript in
      transcript.listings.flatMap(\.pages).compactMap(\.next).filter { $0.utf8.count > 668 }
        .map { "one has \($0.utf8.count) bytes of base64" }
    },
    ProviderCheck("pages-disjoint", "An item is on one page.", "Begin each page behind the last item.") { transcript in
      transcript.listings.flatMap { listing in
        var seen: Set<String> = []
        return listing.items.filter { !seen.insert($0.identifier).inserted }.map { "\(name($0)) is listed twice" }
      }
    },
    ProviderCheck("page-name-there", "The name of a page is not empty.", "Answer nil after the last page.") {
      transcript in
      transcript.listings.filter { $0.pages.contains { $0.next == "" } }.map {
        "\($0.folder.prefix(60)) has such a page"
      }
    },
    ProviderCheck("page-not-empty", "A page that another one follows has items.", "Leave empty pages out.") {
      transcript in
      transcript.listings.filter { $0.pages.contains { $0.items.isEmpty && $0.next != nil } }
        .map { "\($0.folder.prefix(60)) has an empty page" }
    },
    ProviderCheck("page-unknown", "A page that it does not have is answered with pageExpired (PRV-8).", "Throw it.") {
      if case .failed(let word)? = $0.unknownPage, word != "pageExpired" { return ["it answered \(word.prefix(60))"] }
      return []
    },
    same("size-stable", "Without a change, a size stays.", "Answer the size of the content.") { $0.size },
    same("date-stable", "Without a change, a date stays.", "Do not answer the present time.") { $0.modified },
    same("name-stable", "Without a change, a name stays.", "Keep it.") { $0.filename },
    ProviderCheck("listing-stable", "Without a change, a second listing has the same items.", "Sort them.") {
      transcript in
      transcript.again.compactMap { listing in
        let before = transcript.listings.first { $0.folder == listing.folder }?.items.map(\.identifier).sorted()
        return before == listing.items.map(\.identifier).sorted() ? nil : "\(listing.folder.prefix(60)) has others"
      }
    },
    ProviderCheck("version-stable", "Without a change, a version stays.", "Do not make it of the time.") { transcript in
      let before = Dictionary(transcript.all.map { ($0.item.identifier, $0.item.version) }) { first, _ in first }
      let changed = transcript.again.flatMap(\.items).filter { item in
        before[item.identifier].map { $0 != item.version } ?? false
      }
      return changed.map { "\(name($0)) has another one" }
    },
  ]

  /// A value that stays from one listing to the next.
  private static func same<Value: Equatable>(
    _ check: String, _ rule: String, _ remedy: String, _ value: @escaping @Sendable (ProviderItem) -> Value
  ) -> ProviderCheck {
    ProviderCheck(check, rule, remedy) { transcript in
      let before = Dictionary(transcript.all.map { ($0.item.identifier, $0.item) }) { first, _ in first }
      return transcript.again.flatMap(\.items)
        .filter { item in before[item.identifier].map { value($0) != value(item) } ?? false }
        .map { "\(name($0)) has another one" }
    }
  }

  private static let answers: [ProviderCheck] = [
    ProviderCheck("item-found", "Each listed item is found by its identifier.", "Answer it in item(for:).") {
      transcript in
      transcript.items.compactMap { identifier, reply in
        if case .failed(let word) = reply { return "\(identifier.prefix(60)) answered \(word)" }
        return nil
      }
    },
    ProviderCheck("item-same", "An item is the same in its folder and by its identifier.", "Make both in one place.") {
      transcript in
      let listed = Dictionary(transcript.all.map { ($0.item.identifier, $0.item) }) { first, _ in first }
      return transcript.items.compactMap { identifier, reply in
        guard case .answered(let item) = reply, let other = listed[identifier], other != item else { return nil }
        return "\(name(item)) differs"
      }
    },
    ProviderCheck("unknown-item", "An identifier that it does not have is answered with noSuchItem.", "Throw it.") {
      expect("noSuchItem", $0.unknownItem)
    },
    ProviderCheck("unknown-content", "Content of an unknown item is answered with an error.", "Pass the error on.") {
      if case .answered? = $0.unknownContent { return ["it gave content"] }
      return []
    },
    ProviderCheck("unknown-folder", "An unknown folder is answered with noSuchItem.", "Throw it.") {
      expect("noSuchItem", $0.unknownFolder)
    },
    ProviderCheck("document-not-listed", "A document has no listing.", "Throw noSuchItem for documents.") {
      if case .answered? = $0.documentListed { return ["it was listed"] }
      return []
    },
  ]

  private static let contents: [ProviderCheck] = [
    ProviderCheck("content-comes", "The content of each document comes.", "Write it at the URL, then call the handler.")
    {
      transcript in
      transcript.contents.compactMap { identifier, replies in
        if case .failed(let word)? = replies.first { return "\(identifier.prefix(60)) answered \(word)" }
        return nil
      }
    },
    ProviderCheck(
      "content-size", "A content has the size that its item says.", "Write all of it, or answer the true size."
    ) {
      transcript in
      let sizes = Dictionary(transcript.all.map { ($0.item.identifier, $0.item.size) }) { first, _ in first }
      return transcript.contents.compactMap { identifier, replies in
        guard case .answered(let bytes)? = replies.first, let size = sizes[identifier], size != bytes else {
          return nil
        }
        return "\(identifier.prefix(60)) has \(bytes) bytes and says \(size)"
      }
    },
    ProviderCheck("content-again", "A content comes a second time, the same.", "Do not throw it away.") { transcript in
      transcript.contents.compactMap { identifier, replies in
        guard replies.count > 1, case .answered(let first) = replies[0] else { return nil }
        if case .answered(let second) = replies[1], first == second { return nil }
        return "\(identifier.prefix(60)) did not"
      }
    },
  ]

  static func expect<Value>(_ word: String, _ reply: ProviderTranscript.Reply<Value>?) -> [String] {
    switch reply {
    case .failed(word)?, nil: []
    case .failed(let other)?: ["it answered \(other.prefix(60))"]
    case .answered?: ["it answered an item"]
    }
  }
}
