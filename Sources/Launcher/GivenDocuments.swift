internal import Kernel
package import Wire

/// A document that the user gives an app with its launch.
package struct GivenDocument: Equatable, Sendable {
  package enum How: String, CaseIterable, Sendable {
    /// `--give`.
    case give
    /// `--give-read`.
    case giveRead
    /// `--give-folder`.
    case giveFolder
    /// `--give-folder-read`.
    case giveFolderRead
    /// `--open`: as `ambit open` has it.
    case open
    /// `--open-read`.
    case openRead

    /// - Parameter option: as on the command line.
    package init?(option: String) {
      guard let how = Self.allCases.first(where: { $0.option == option }) else { return nil }
      self = how
    }

    package var option: String {
      switch self {
      case .give: "--give"
      case .giveRead: "--give-read"
      case .giveFolder: "--give-folder"
      case .giveFolderRead: "--give-folder-read"
      case .open: "--open"
      case .openRead: "--open-read"
      }
    }
  }

  package let how: How
  package let path: String

  package init(_ how: How, _ path: String) { (self.how, self.path) = (how, path) }

  /// Documents in the order in which a command line names them; the parser knows them by their options.
  ///
  /// - Parameter options: the documents that were found, by option.
  package static func inOrder(_ words: [String], options: [GivenDocument]) -> [GivenDocument] {
    var rest = options
    var ordered: [GivenDocument] = []
    for (index, word) in words.enumerated() where !rest.isEmpty {
      let found = rest.firstIndex { each in
        word == "\(each.how.option)=\(each.path)"
          || word == each.how.option && index + 1 < words.count && words[index + 1] == each.path
      }
      if let found { ordered.append(rest.remove(at: found)) }
    }
    return ordered + rest
  }

  package var message: LauncherInterface.Given {
    .init(
      how: isOpening ? .open : .give,
      access: [.giveRead, .giveFolderRead, .openRead].contains(how) ? .readOnly : .readWrite,
      folder: how == .giveFolder || how == .giveFolderRead)
  }

  /// “ambit open” is how the user said it; the option is between programs.
  private var isOpening: Bool { how == .open || how == .openRead }

  func opened() throws(Failure) -> Descriptor {
    do throws(KernelError) { return try Descriptor.open(path, flags: .path) } catch {
      let subject = isOpening ? "\(path)" : "\(how.option) \(path):"
      throw Failure("\(subject) cannot be opened: \(error.errno). Name a document that is there.")
    }
  }

  /// That the app does not get it, and why.
  ///
  /// - Parameter app: where the app lies.
  package func refusal(_ reason: String, app: String) -> String {
    guard isOpening else { return "\(how.option) \(path) cannot be given to it: \(reason)" }
    let option = (how == .open ? How.give : .giveRead).option
    // A reason that names an option says what to do.
    let hint =
      reason.contains("--give")
      ? " of ambit run" : ". To give it the document itself: ambit run \(option) \(path) \(app)"
    return "\(path) cannot be opened with \(app): \(reason)\(hint)"
  }
}

/// The places of given documents in an app's arguments: `{}`.
package enum DocumentPlaces {
  package static let mark = "{}"

  /// The arguments with the paths of the documents in their places. One document stands at every place. Of several, each has its
  /// own place; or a single argument is the place of all.
  ///
  /// - Returns: `nil` if the places are more or fewer than the documents.
  package static func filled(_ arguments: [String], with paths: [String]) -> [String]? {
    guard !paths.isEmpty else { return arguments }
    let places = arguments.reduce(0) { $0 + $1.split(at: mark).count - 1 }
    if places == 0 { return arguments }
    if paths.count == 1 { return arguments.map { $0.split(at: mark).joined(separator: paths[0]) } }
    if places == 1, arguments.contains(mark) { return arguments.flatMap { $0 == mark ? paths : [$0] } }
    guard places == paths.count else { return nil }
    var rest = paths[...]
    return arguments.map { argument in
      let parts = argument.split(at: mark)
      return parts.dropFirst().reduce(parts[0]) { $0 + (rest.popFirst() ?? "") + $1 }
    }
  }

  /// The fault of a command line; `nil`: there is none.
  package static func fault(_ arguments: [String], documents: Int) -> String? {
    guard filled(arguments, with: Array(repeating: "", count: documents)) == nil else { return nil }
    return
      "\(documents) documents are given, and {} stands at another number of places. Write one {} for each, in their order, or a "
      + "single argument {} for all."
  }
}

extension String {
  /// The parts between the occurrences of a mark; one, if it does not occur. The launcher has no Foundation.
  fileprivate func split(at mark: String) -> [String] {
    let (bytes, mark) = (Array(utf8), Array(mark.utf8))
    var (parts, start, index): ([String], Int, Int) = ([], 0, 0)
    while index + mark.count <= bytes.count {
      if bytes[index..<index + mark.count].elementsEqual(mark) {
        parts.append(String(decoding: bytes[start..<index], as: UTF8.self))
        index += mark.count
        start = index
      } else {
        index += 1
      }
    }
    return parts + [String(decoding: bytes[start...], as: UTF8.self)]
  }
}
