internal import AmbitKit
internal import Foundation

/// The document of scenarios: a text in a file, or in the file `text` of a package. It writes down what happens to it.
@MainActor final class Essay: Document {
  private(set) var text = ""
  let isPackage: Bool
  /// The wrapper of the package, as it was read or written last.
  private var package: FileWrapper?
  /// The error of the next save.
  var failure: String?
  /// The extension of another type to save as.
  var ending: String?
  /// A picture is written with it: a square in the colour of its length.
  var drawsPicture = false
  private(set) var events: [String] = []

  init(_ url: URL, package: Bool) {
    isPackage = package
    super.init(fileURL: url)
    // Scenarios save when they say so.
    autosavingDelay = 3600
    _ = NotificationCenter.default.addObserver(
      forName: Document.stateChangedNotification, object: self, queue: nil
    ) { [weak self] notification in
      let hasInfo = notification.userInfo != nil
      MainActor.assumeIsolated { self.map { $0.note("state \($0.words)\(hasInfo ? " with information" : "")") } }
    }
  }

  func note(_ event: String) { events.append(event) }

  /// The state's facts.
  var words: String {
    let names: [(State, String)] = [
      (.closed, "closed"), (.inConflict, "in conflict"), (.savingError, "saving error"),
      (.editingDisabled, "editing disabled"), (.progressAvailable, "progress available"),
    ]
    let present = names.filter { documentState.contains($0.0) }.map(\.1)
    return present.isEmpty ? "normal" : present.joined(separator: ", ")
  }

  /// Types a text; a step back leads to the former one.
  func type(_ new: String) {
    let former = text
    text = new
    undoManager.registerUndo(withTarget: self) { $0.type(former) }
    undoManager.setActionName("Typing")
  }

  override func contents(forType typeName: String) throws -> Any {
    if let failure {
      self.failure = nil
      throw CocoaError(.fileWriteUnknown, userInfo: [NSLocalizedDescriptionKey: failure])
    }
    guard isPackage else { return Data(text.utf8) }
    let wrapper = package ?? FileWrapper(directoryWithFileWrappers: [:])
    if let former = wrapper.fileWrappers?["text"] { wrapper.removeFileWrapper(former) }
    wrapper.addRegularFile(withContents: Data(text.utf8), preferredFilename: "text")
    package = wrapper
    return wrapper
  }

  override func load(fromContents contents: Any, ofType typeName: String?) throws {
    note("load")
    switch contents {
    case let data as Data: text = String(decoding: data, as: UTF8.self)
    case let wrapper as FileWrapper:
      package = wrapper
      text = wrapper.fileWrappers?["text"]?.regularFileContents.map { String(decoding: $0, as: UTF8.self) } ?? ""
    default: throw CocoaError(.fileReadCorruptFile)
    }
  }

  override func fileAttributesToWrite(to url: URL, for saveOperation: SaveOperation) throws -> [AnyHashable: Any] {
    guard drawsPicture else { return [:] }
    var picture = ThumbnailBitmap(width: 200, height: 200)
    let red = UInt8(truncatingIfNeeded: text.utf8.count)
    picture.fill(x: 0, y: 0, width: 200, height: 200, red: red, green: 0, blue: 0)
    return [URLResourceKey.thumbnailDictionaryKey: [URLThumbnailDictionaryItem.NSThumbnail1024x1024SizeKey: picture]]
  }

  override var savingFileType: String? { ending.flatMap { UTType(filenameExtension: $0)?.identifier } ?? fileType }

  override func fileNameExtension(forType typeName: String?, saveOperation: SaveOperation) -> String {
    ending ?? super.fileNameExtension(forType: typeName, saveOperation: saveOperation)
  }

  override func disableEditing() { note("disable editing (\(words))") }
  override func enableEditing() { note("enable editing") }

  override func handleError(_ error: any Error, userInteractionPermitted: Bool) {
    note("error \(error.localizedDescription)")
    super.handleError(error, userInteractionPermitted: userInteractionPermitted)
  }
}
