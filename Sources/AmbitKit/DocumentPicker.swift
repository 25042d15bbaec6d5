public import Foundation
internal import Wire

/// Asks the user to choose documents. The choosing happens in another process, outside the sandbox: the app learns of
/// nothing that was not chosen.
///
///     let picker = DocumentPicker(forOpeningContentTypes: [.plainText])
///     picker.delegate = self
///     present(picker, animated: true)
///
/// or, without a delegate, `try DocumentPicker.pick(allowsMultipleSelection: true)`.
open class DocumentPicker: UIViewController {
  /// The meaning of the user's choice.
  public enum Mode: Sendable {
    /// A copy in the app's container, which goes when the app ends (`PCK-2`).
    case `import`
    /// The original (`PCK-1`).
    case open
    /// A copy of the app's files, in a folder of the user's. The app has no access to it (`PCK-6`).
    case exportToService
    /// The app's files themselves, in a folder of the user's. The app goes on with them there (`PCK-5`).
    case moveToService
  }

  /// Is told of the user's choice after the picker was presented.
  public weak var delegate: (any DocumentPickerDelegate)?
  /// One document unless set (`PCK-8`).
  public var allowsMultipleSelection = false
  /// The app will not write: the documents are handed over for reading only.
  public var isReadOnly = false
  /// Shown to the user above the documents.
  public var message: String?
  /// Where the picker starts: in this folder, or in the folder around this document, if it is one that the app was given (`PCK-12`).
  /// Otherwise it starts where the user chose last.
  public var directoryURL: URL?
  /// The process for which picked documents are started, where the policy starts them.
  public var counted = SecurityScope.Counted.thisProcess
  /// The meaning of the choice; as given when the picker was made.
  public let documentPickerMode: Mode
  /// The types that may be chosen; as given when the picker was made.
  public let contentTypes: [UTType]
  /// Only files with one of these extensions; `nil`: the content types say which.
  private var filenameExtensions: [String]?
  /// The app's own files that are exported or moved; as given when the picker was made.
  public let urls: [URL]

  /// - Parameters:
  ///   - contentTypes: the types that may be chosen; only files with one of these types (`PCK-7`).
  ///     With `.folder`, a folder.
  ///   - asCopy: the app wants a copy and not the original.
  public init(forOpeningContentTypes contentTypes: [UTType], asCopy: Bool = false) {
    self.contentTypes = contentTypes
    urls = []
    documentPickerMode = asCopy ? .import : .open
    super.init()
  }

  /// Only files with these very extensions, whatever their types are. Ambit's addition.
  public convenience init(forOpeningFilenameExtensions extensions: [String], asCopy: Bool = false) {
    self.init(forOpeningContentTypes: [], asCopy: asCopy)
    filenameExtensions = extensions
  }

  /// Lets the user choose a folder for files of the app's container.
  ///
  /// - Parameters:
  ///   - urls: files or folders in the app's container, at least one.
  ///   - asCopy: the files stay where they are, and a copy is made. Otherwise they are moved, and the app gets access to them there.
  public init(forExporting urls: [URL], asCopy: Bool = false) {
    self.urls = urls
    contentTypes = []
    documentPickerMode = asCopy ? .exportToService : .moveToService
    super.init()
  }

  /// The older form.
  public convenience init(urls: [URL], in mode: Mode) {
    self.init(forExporting: urls, asCopy: mode != .moveToService)
  }

  /// The older form.
  public convenience init(url: URL, in mode: Mode) { self.init(urls: [url], in: mode) }

  /// The older form, with types by their identifiers, for example `public.plain-text`.
  public init(documentTypes: [String], in mode: Mode) {
    contentTypes = documentTypes.map { UTType(importedAs: $0) }
    urls = []
    documentPickerMode = mode
    super.init()
  }

  /// Shows the picker, waits until the user has chosen, and tells the delegate, on this thread.
  public func present() { tell(Result { try pick() }) }

  override func beginPresentation() {
    Presented(controller: self).begin(ask: { try $0.pick() }, tell: { $0.tell($1) })
  }

  private func tell(_ answer: Result<[URL], any Error>) {
    do {
      delegate?.documentPicker(self, didPickDocumentsAt: try answer.get())
    } catch let error as CocoaError where error.code == .userCancelled {
      delegate?.documentPickerWasCancelled(self)
    } catch {
      delegate?.documentPicker(self, didFailWithError: error)
    }
  }

  /// Shows the picker and waits until the user has chosen.
  ///
  /// - Returns: scoped URLs of the chosen or moved documents, at least one; their scopes are not started. Of an import: URLs of the
  ///   copies, which need no scope. Of an export: URLs with the names that the copies got, which open nothing.
  /// - Throws: `CocoaError`: `userCancelled`; `featureUnsupported` when no user can be asked, or for functions that
  ///   this version does not have; `fileReadNoPermission` when the choice cannot be granted.
  public func pick() throws -> [URL] {
    let call = try self.call()
    do {
      let picked: PickerInterface.PickReply = try Broker.call(PickerInterface.pick, call)
      if documentPickerMode == .import || documentPickerMode == .exportToService {
        return (picked.copies ?? []).map { URL(fileURLWithPath: $0.path ?? "/exported/\($0.name)") }
      }
      return try picked.documents.map { try URL(document: $0) }
    } catch let error as WireError { throw error.cocoa() }
  }

  /// The same as a browser, an app's first screen.
  func browse(_ browser: PickerInterface.Browser) throws -> PickerInterface.PickReply {
    var call = try self.call()
    call.browser = browser
    do { return try Broker.call(PickerInterface.pick, call) } catch { throw error.cocoa() }
  }

  /// Refuses impossible requests before the user is asked (`PCK-20`).
  private func call() throws -> PickerInterface.PickCall {
    let isHanding = documentPickerMode == .exportToService || documentPickerMode == .moveToService
    guard isHanding == !urls.isEmpty, urls.allSatisfy(\.isFileURL) else {
      throw CocoaError.make(
        .fileReadUnknown, .EINVAL, urls.first,
        isHanding ? "To export or to move, name at least one file." : "Files are named for exporting and moving only.")
    }
    let directory = directoryURL.flatMap { $0.isFileURL ? $0.standardizedFileURL.path : nil }
    guard !isHanding else {
      return PickerInterface.PickCall(
        mode: documentPickerMode == .exportToService ? .export : .move, message: message, process: counted.message,
        sources: urls.map { $0.standardizedFileURL.path }, directory: directory)
    }
    for type in contentTypes where !type.isDeclared && !type.isDynamic {
      throw CocoaError.make(
        .featureUnsupported, .EINVAL, nil,
        "The type \(type.identifier) is declared nowhere. Declare it in Info.plist, or use UTType(filenameExtension:).")
    }
    let extensions = filenameExtensions ?? contentTypes.compactMap(\.pickedExtensions).flatMap(\.self)
    let isFolder = contentTypes.contains(.folder)
    guard !isFolder || contentTypes.count == 1 else {
      throw CocoaError.notInThisVersion("a choice between folders and files in one picker")
    }
    let isAny = contentTypes.contains { $0.pickedExtensions == nil }
    guard isAny || isFolder || contentTypes.isEmpty || !extensions.isEmpty else {
      let names = contentTypes.map(\.identifier).joined(separator: ", ")
      throw CocoaError.make(
        .featureUnsupported, .EINVAL, nil, "No file can be chosen: \(names) have no filename extension.")
    }
    return PickerInterface.PickCall(
      mode: documentPickerMode == .import ? .import : .open, multiple: allowsMultipleSelection,
      kind: isFolder ? .folder : .file,
      access: isReadOnly ? .readOnly : .readWrite, types: isAny || extensions.isEmpty ? nil : extensions,
      message: message, process: counted.message, directory: directory)
  }

  /// Asks the user for documents and waits. See the instance's method for errors.
  public static func pick(
    _ contentTypes: [UTType] = [.item], allowsMultipleSelection: Bool = false, isReadOnly: Bool = false,
    message: String? = nil
  ) throws -> [URL] {
    let picker = DocumentPicker(forOpeningContentTypes: contentTypes)
    picker.allowsMultipleSelection = allowsMultipleSelection
    picker.isReadOnly = isReadOnly
    picker.message = message
    return try picker.pick()
  }

  /// The same for asynchronous code; waits on a thread of its own.
  public static func pick(
    _ contentTypes: [UTType] = [.item], allowsMultipleSelection: Bool = false, isReadOnly: Bool = false,
    message: String? = nil
  ) async throws -> [URL] {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread {
        continuation.resume(
          with: Result {
            try pick(
              contentTypes, allowsMultipleSelection: allowsMultipleSelection, isReadOnly: isReadOnly, message: message)
          })
      }
    }
  }
}

/// Is told of the user's choice.
public protocol DocumentPickerDelegate: AnyObject {
  /// The user chose: one URL, or several when `allowsMultipleSelection` was set, in one call (`PCK-8`).
  func documentPicker(_ controller: DocumentPicker, didPickDocumentsAt urls: [URL])
  /// The user chose nothing. Called once; nothing was granted (`PCK-9`).
  func documentPickerWasCancelled(_ controller: DocumentPicker)
  /// The user could not be asked. Ambit's addition; a delegate that does not implement it is told of a cancelled
  /// picker, and the reason goes to standard error.
  func documentPicker(_ controller: DocumentPicker, didFailWithError error: any Error)
}

extension DocumentPickerDelegate {
  /// Nothing happens.
  public func documentPickerWasCancelled(_ controller: DocumentPicker) {}

  /// Writes the reason to standard error and tells of a cancelled picker.
  public func documentPicker(_ controller: DocumentPicker, didFailWithError error: any Error) {
    try? FileHandle.standardError.write(contentsOf: Data("document picker: \(error.localizedDescription)\n".utf8))
    documentPickerWasCancelled(controller)
  }
}

/// Apple's name.
public typealias UIDocumentPickerViewController = DocumentPicker
/// Apple's name.
public typealias UIDocumentPickerDelegate = DocumentPickerDelegate
/// Apple's name.
public typealias UIDocumentPickerMode = DocumentPicker.Mode
