package import Kernel
internal import Paths

/// A word that the user has put on a file.
package struct FileTag: Sendable, Hashable {
  package let name: String

  /// The colours that a tag has by its name, as in the Finder.
  package enum Colour: String, Sendable, CaseIterable { case red, orange, yellow, green, blue, purple, grey }

  package var colour: Colour? {
    let plain = name.lowercased()
    return Colour(rawValue: plain == "gray" ? "grey" : plain)
  }

  /// Bytes of a name.
  package static let longest = 64

  /// - Returns: `nil` where the text is no tag; see ``refusal(_:)``.
  package init?(_ text: String) {
    guard Self.refusal(text) == nil else { return nil }
    name = Self.trimmed(text)
  }

  /// Why a text is no tag, as a sentence.
  package static func refusal(_ text: String) -> String? {
    let name = trimmed(text)
    if name.isEmpty { return "A tag needs a name." }
    if name.utf8.count > longest { return "A tag's name has \(longest) bytes at most." }
    // A comma stands between two tags of a file.
    if name.contains(",") { return "A tag has no comma in its name." }
    if name.unicodeScalars.contains(where: { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }) {
      return "A tag has no control characters in its name."
    }
    return nil
  }

  private static func trimmed(_ text: String) -> String {
    String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }

  /// Names are the same without regard to case.
  package func isSame(as other: FileTag) -> Bool { name.lowercased() == other.name.lowercased() }
}

/// The tags of a file, in their order: the extended attribute `user.xdg.tags`, with commas between (freedesktop.org, common extended
/// attributes). Dolphin and Baloo know them too.
package struct FileTags: Sendable, Equatable {
  package private(set) var tags: [FileTag] = []
  /// Other programs' entries that are no tags here. A change keeps them.
  private var others: [[UInt8]] = []

  package static let attribute = "user.xdg.tags"
  package static let most = 32
  /// Bytes that are read: other programs may have written more than this rule would.
  package static let limit = 4096

  package init() {}

  /// The tags of a value, as far as it is well formed.
  package init(_ value: [UInt8]) {
    for part in value.prefix(Self.limit).split(separator: 0x2C) {
      if let tag = String(validating: part, as: UTF8.self).flatMap({ FileTag($0) }), tags.count < Self.most {
        add(tag)
      } else {
        others.append(Array(part))
      }
    }
  }

  /// - Returns: false if it has it already, or has as many as it may.
  @discardableResult package mutating func add(_ tag: FileTag) -> Bool {
    guard tags.count < Self.most, !tags.contains(where: tag.isSame) else { return false }
    tags.append(tag)
    return true
  }

  /// - Returns: false if it has no such tag.
  @discardableResult package mutating func remove(_ tag: FileTag) -> Bool {
    let before = tags.count
    tags.removeAll(where: tag.isSame)
    return tags.count < before
  }

  /// Adds it, or removes it if it is there.
  package mutating func toggle(_ tag: FileTag) { if !remove(tag) { add(tag) } }

  /// `nil`: none.
  package var value: [UInt8]? {
    let all = tags.map { Array($0.name.utf8) } + others
    return all.isEmpty ? nil : Array(all.joined(separator: [0x2C]))
  }

  /// Whether one of them has a name that begins so, without regard to case.
  package func answers(_ beginning: String) -> Bool {
    let wanted = beginning.lowercased()
    return tags.contains { $0.name.lowercased().hasPrefix(wanted) }
  }
}

extension Descriptor {
  /// The tags of an open file; none where they cannot be read.
  package var fileTags: FileTags {
    ((try? attribute(FileTags.attribute, limit: FileTags.limit)) ?? nil).map { FileTags($0) } ?? FileTags()
  }

  /// The same of an entry of this folder.
  package func fileTags(of entry: String) -> FileTags {
    ((try? attribute(FileTags.attribute, of: entry, limit: FileTags.limit)) ?? nil).map { FileTags($0) } ?? FileTags()
  }

  /// - Throws: `EOPNOTSUPP` where the file system has no attributes of users.
  package func setFileTags(_ tags: FileTags) throws(KernelError) {
    try setAttribute(FileTags.attribute, tags.value)
  }
}

/// Looks for tagged files in folders, within bounds: nothing is followed, no mount is entered, and hidden folders are left out.
package struct TaggedFiles {
  /// Entries that are looked at.
  package static let mostEntries = 200_000
  package static let mostFound = 1000

  /// - Parameter isWanted: asked of each file's tags that has any.
  /// - Returns: paths below the folder, relative to it; `isWhole`: it has been everywhere.
  package static func find(
    in folder: Descriptor, where isWanted: (FileTags) -> Bool
  ) throws(KernelError) -> (paths: [String], isWhole: Bool) {
    var found: [String] = []
    var left = mostEntries
    var folders = [""]
    while let place = folders.popLast() {
      guard left > 0, found.count < mostFound else { return (found, false) }
      let open: Descriptor
      do throws(KernelError) {
        open = try Descriptor.open(
          place.isEmpty ? "." : place, below: folder, flags: [.read, .directory, .noFollow],
          resolve: [.beneath, .noSymlinks, .sameMount])
      } catch {
        if place.isEmpty { throw error }
        continue
      }
      guard let entries = try? DirectoryReader.entries(of: open, limit: left) else { continue }
      left -= entries.count
      for entry in entries where entry.kind == .regular || entry.kind == .directory {
        let path = place.isEmpty ? entry.name : place.path(of: entry.name)
        let tags = open.fileTags(of: entry.name)
        if !tags.tags.isEmpty, isWanted(tags), found.count < mostFound { found.append(path) }
        if entry.kind == .directory, !entry.name.isHiddenName { folders.append(path) }
      }
    }
    return (found, left > 0 && found.count < mostFound)
  }
}
