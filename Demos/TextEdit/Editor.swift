import AmbitKit
import Foundation

/// A text editor that does what an editor on Apple's systems does, with the same calls: it asks the user for a document,
/// starts and stops access to it, keeps a bookmark, and finds the document again after a relaunch.
///
/// It reads and writes documents by their path with the system's plain calls, so that its answers show what the sandbox
/// lets through.
final class Editor: DocumentPickerDelegate {
  static let help = """
    pick              ask the user for a document        pick many      for several
    start [N]         turn access on                     stop [N]       and off again
    read [N]          the document's text                append TEXT    one more line in it
    path [N], url [N] where it is, and its scoped URL    scopes         what access is on, of how much
    save-bookmark     keep the document                  restore        find it again
    bookmark          the bookmark itself, as base64     references     what lies in ~/Documents
    save-url          keep the URL as a string           restore-url    which does not work
    open PATH         any file, by its path              write PATH TEXT
    quit              N is a document's number, from 1; the last one picked or restored when left out
    """

  private var documents: [URL] = []
  /// What the picker's delegate was told.
  private var choice: Result<[URL], any Error> = .success([])

  private let library = URL(fileURLWithPath: ProcessInfo.processInfo.environment["HOME"] ?? "/", isDirectory: true)
    .appendingPathComponent("Library", isDirectory: true)
  private var bookmarkFile: URL { library.appendingPathComponent("bookmark") }
  private var urlFile: URL { library.appendingPathComponent("url") }

  func perform(_ command: String, _ argument: String) -> Answer {
    do {
      switch command {
      case "pick": return try pick(many: argument == "many")
      case "start": return try start(try document(argument))
      case "stop": return try stop(try document(argument))
      case "read": return .ok(try read(try document(argument)))
      case "append": return try append(argument, to: try document(""))
      case "path": return .ok(try document(argument).path)
      case "url": return .ok(try document(argument).absoluteString)
      case "scopes": return .ok(Self.describe(try SecurityScope.status()))
      case "save-bookmark": return try saveBookmark()
      case "bookmark": return .ok(try Data(contentsOf: bookmarkFile).base64EncodedString())
      case "restore": return try restore()
      case "save-url": return try saveURL()
      case "restore-url": return try restoreURL()
      case "references": return try references()
      case "open": return .ok("\(try TextFile.read(argument).utf8.count) bytes")
      case "write": return try write(argument)
      case "help": return .ok(Self.help)
      default: return .error(symbol: "EINVAL", message: "there is no command \(command); `help` lists them")
      }
    } catch {
      return Answer(error)
    }
  }

  /// The document of that number, or the current one.
  private func document(_ number: String) throws -> URL {
    guard !number.isEmpty else {
      guard let last = documents.last else { throw Refusal("no document is picked; `pick` one") }
      return last
    }
    guard let index = Int(number), documents.indices.contains(index - 1) else {
      throw Refusal("there are \(documents.count) documents, and no document \(number)")
    }
    return documents[index - 1]
  }

  // MARK: - The picker

  private func pick(many: Bool) throws -> Answer {
    let picker = DocumentPicker(forOpeningContentTypes: [.item])
    picker.allowsMultipleSelection = many
    picker.delegate = self
    picker.present()
    documents = try choice.get()
    let names = documents.map(\.lastPathComponent).joined(separator: ", ")
    return .ok(many ? "\(documents.count) documents: \(names)" : names)
  }

  func documentPicker(_ controller: DocumentPicker, didPickDocumentsAt urls: [URL]) { choice = .success(urls) }

  func documentPickerWasCancelled(_ controller: DocumentPicker) { choice = .failure(CocoaError(.userCancelled)) }

  func documentPicker(_ controller: DocumentPicker, didFailWithError error: any Error) { choice = .failure(error) }

  // MARK: - Access

  private func start(_ url: URL) throws -> Answer {
    if url.startAccessingSecurityScopedResource() { return .ok(url.lastPathComponent) }
    let error = SecurityScope.lastError ?? CocoaError(.fileReadUnknown)
    guard let status = unsafe error.userInfo[SecurityScope.statusErrorKey] as? SecurityScope.Status else { throw error }
    return .error(symbol: "EMFILE", message: "all in use: \(Self.describe(status))")
  }

  private func stop(_ url: URL) throws -> Answer {
    url.stopAccessingSecurityScopedResource()
    return .ok(url.lastPathComponent)
  }

  /// `8 of 8: 1.txt, …`
  private static func describe(_ status: SecurityScope.Status) -> String {
    let holders = status.holders.map { $0.count > 1 ? "\($0.name) (\($0.count) times)" : $0.name }
    return "\(status.used) of \(status.limit)" + (holders.isEmpty ? "" : ": " + holders.joined(separator: ", "))
  }

  private func read(_ url: URL) throws -> String {
    let text = try TextFile.read(url.path)
    return text.hasSuffix("\n") ? String(text.dropLast()) : text
  }

  private func append(_ text: String, to url: URL) throws -> Answer {
    try TextFile.append(text + "\n", to: url.path)
    return .ok("\(text.utf8.count + 1) bytes more")
  }

  private func write(_ argument: String) throws -> Answer {
    let words = argument.split(separator: " ", maxSplits: 1).map(String.init)
    guard words.count == 2 else { throw Refusal("write PATH TEXT") }
    try TextFile.replace(words[0], with: words[1] + "\n")
    return .ok("\(words[1].utf8.count + 1) bytes")
  }

  // MARK: - Finding it again

  private func saveBookmark() throws -> Answer {
    let data = try document("").bookmarkData(options: .withSecurityScope)
    try data.write(to: bookmarkFile)
    return .ok("\(data.count) bytes in ~/Library/bookmark")
  }

  private func restore() throws -> Answer {
    var isStale = false
    let data = try Data(contentsOf: bookmarkFile)
    let url = try URL(resolvingBookmarkData: data, options: .withSecurityScope, bookmarkDataIsStale: &isStale)
    documents = [url]
    return .ok(url.lastPathComponent + (isStale ? " (stale)" : ""))
  }

  private func saveURL() throws -> Answer {
    let text = try document("").absoluteString
    try TextFile.replace(urlFile.path, with: text)
    return .ok("\(text.utf8.count) characters in ~/Library/url")
  }

  /// What an app does that takes a scoped URL for an address: the string is whole, and is only a string.
  private func restoreURL() throws -> Answer {
    guard let url = URL(string: try TextFile.read(urlFile.path)) else { throw Refusal("~/Library/url holds no URL") }
    let isStarted = url.startAccessingSecurityScopedResource()
    do throws(SystemError) {
      let text = try TextFile.read(url.path)
      return .ok("start answered \(isStarted), and it reads \(text.utf8.count) bytes")
    } catch {
      return .error(symbol: error.symbol, message: "\(error.message); start answered \(isStarted)")
    }
  }

  private func references() throws -> Answer {
    let all = try DocumentReference.references().map { "\($0.name) is \(try $0.resolve().url.lastPathComponent)" }
    return .ok(all.joined(separator: ", "))
  }
}
