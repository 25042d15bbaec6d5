internal import Paths
internal import Wire

/// The files in the arguments of `cp`, `mv` or `rm`, as GNU coreutils and busybox read them.
///
/// A word that begins with a dash is an option, until “--”. `-t`, `-S` and their long forms have a value; `-T` and
/// `--parents` change the meaning of files. All other words are files, the last of which is the target of `cp` and `mv`.
struct FileArguments: Equatable {
  enum Program: String, CaseIterable { case cp, mv, rm }

  /// Where one source goes. `rm` has no targets.
  struct Step: Equatable {
    let source: String
    let target: String?
  }

  let program: Program
  private(set) var steps: [Step] = []

  /// - Parameter isFolder: whether a path leads to a folder.
  init(_ program: Program, _ arguments: [String], isFolder: (String) -> Bool) {
    self.program = program
    var reading = Reading(program)
    for word in arguments { reading.take(word) }
    guard program != .rm else {
      steps = reading.files.map { Step(source: $0, target: nil) }
      return
    }
    var sources = reading.files
    let target: String
    var isInto = true
    if let folder = reading.folder {
      target = folder
    } else {
      guard sources.count >= 2, let last = sources.popLast() else { return }
      target = last
      isInto = !reading.targetIsFile && isFolder(last)
    }
    steps = sources.map { source in
      Step(source: source, target: isInto ? Self.place(of: source, in: target, reading.keepsParents) : target)
    }
  }

  /// `.`, `..` and `/` have no name: their contents go into the folder itself.
  private static func place(of source: String, in folder: String, _ keepsParents: Bool) -> String {
    let path = source.withoutTrailingSlashes
    guard let name = path.pathNames.last, name != ".", name != ".." else { return folder }
    return folder.path(of: keepsParents ? path.pathNames.joined(separator: "/") : name)
  }

  /// The arguments, one after the other.
  private struct Reading {
    let program: Program
    var files: [String] = []
    var folder: String?
    var targetIsFile = false
    var keepsParents = false
    private var areFilesOnly = false
    private var awaited: Awaited?

    private enum Awaited { case folder, suffix }

    init(_ program: Program) { self.program = program }

    mutating func take(_ word: String) {
      if let value = awaited {
        awaited = nil
        if value == .folder { folder = word }
      } else if areFilesOnly || !word.hasPrefix("-") || word == "-" {
        files.append(word)
      } else if word == "--" {
        areFilesOnly = true
      } else if word.hasPrefix("--") {
        takeLong(word)
      } else if program != .rm {
        takeShort(word.dropFirst())
      }
    }

    /// A long option may be shortened, and carries its value behind “=” or in the next word.
    private mutating func takeLong(_ word: String) {
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let value = parts.count == 2 ? String(parts[1]) : nil
      func means(_ name: String, from least: String) -> Bool { parts[0].hasPrefix(least) && name.hasPrefix(parts[0]) }
      if program == .rm { return }
      if means("--target-directory", from: "--t") {
        if let value { folder = value } else { awaited = .folder }
      } else if means("--suffix", from: "--su"), value == nil {
        awaited = .suffix
      } else if means("--no-target-directory", from: "--no-t") {
        targetIsFile = true
      } else if program == .cp, means("--parents", from: "--pa") {
        keepsParents = true
      }
    }

    /// Several options may stand together; a value is the rest of the word, or the next one.
    private mutating func takeShort(_ letters: Substring) {
      for (offset, letter) in letters.enumerated() {
        let rest = letters.dropFirst(offset + 1)
        switch letter {
        case "t":
          if rest.isEmpty { awaited = .folder } else { folder = String(rest) }
          return
        case "S":
          if rest.isEmpty { awaited = .suffix }
          return
        case "T": targetIsFile = true
        default: break
        }
      }
    }
  }
}
