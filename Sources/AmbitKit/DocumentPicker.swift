public import Foundation
internal import Wire

/// Asks the user to choose documents. The choosing happens in another process, outside the sandbox: the app learns of
/// nothing that was not chosen.
///
///     let picker = DocumentPicker(forOpeningContentTypes: [.plainText])
///     picker.delegate = self
///     picker.present()
///
/// or, without a delegate, `try DocumentPicker.pick(allowsMultipleSelection: true)`.
public final class DocumentPicker {
  /// The meaning of the user's choice. This version does `open`; the others say so when they are presented.
  public enum Mode: Sendable {
    case `import`, open, exportToService, moveToService
  }

  /// Is told of the user's choice after the picker was presented.
  public weak var delegate: (any DocumentPickerDelegate)?
  /// One document unless set (`PCK-8`).
  public var allowsMultipleSelection = false
  /// The app will not write: the documents are handed over for reading only.
  public var isReadOnly = false
  /// Shown to the user above the documents.
  public var message: String?
  /// The process for which picked documents are started, where the policy starts them.
  public var counted = SecurityScope.Counted.thisProcess
  /// The meaning of the choice; as given when the picker was made.
  public let documentPickerMode: Mode
  /// The types that may be chosen; as given when the picker was made.
  public let contentTypes: [UTType]

  /// - Parameters:
  ///   - contentTypes: the types that may be chosen; only files with one of these types (`PCK-7`).
  ///     With `.folder`, a folder.
  ///   - asCopy: the app wants a copy and not the original. Not in this version.
  public init(forOpeningContentTypes contentTypes: [UTType], asCopy: Bool = false) {
    self.contentTypes = contentTypes
    documentPickerMode = asCopy ? .import : .open
  }

  /// The older form, with types by their identifiers, for example `public.plain-text`.
  public init(documentTypes: [String], in mode: Mode) {
    contentTypes = documentTypes.map(UTType.init(importedAs:))
    documentPickerMode = mode
  }

  /// Shows the picker, waits until the user has chosen, and tells the delegate, on this thread.
  public func present() {
    do {
      let urls = try pick()
      delegate?.documentPicker(self, didPickDocumentsAt: urls)
    } catch let error as CocoaError where error.code == .userCancelled {
      delegate?.documentPickerWasCancelled(self)
    } catch {
      delegate?.documentPicker(self, didFailWithError: error)
    }
  }

  /// Shows the picker and waits until the user has chosen.
  ///
  /// - Returns: scoped URLs of the chosen documents, at least one. Their scopes are not started.
  /// - Throws: `CocoaError`: `userCancelled`; `featureUnsupported` when no user can be asked, or for functions that
  ///   this version does not have; `fileReadNoPermission` when the choice cannot be granted.
  public func pick() throws -> [URL] {
    let call = try self.call()
    do {
      let picked: PickerInterface.PickReply = try Broker.call(PickerInterface.pick, call)
      return try picked.documents.map { try URL(document: $0) }
    } catch let error as WireError { throw error.cocoa() }
  }

  /// Refuses impossible requests before the user is asked (`PCK-20`).
  private func call() throws -> PickerInterface.PickCall {
    guard documentPickerMode == .open else {
      throw CocoaError.notInThisVersion("the picker's mode “\(documentPickerMode)”; it does “open”")
    }
    var extensions: [String] = []
    for type in contentTypes {
      guard let known = type.extensions else {
        throw CocoaError.notInThisVersion("the type \(type.identifier); use UTType(filenameExtension:)")
      }
      extensions += known
    }
    let isFolder = contentTypes.contains(.folder)
    guard !isFolder || contentTypes.count == 1 else {
      throw CocoaError.notInThisVersion("a choice between folders and files in one picker")
    }
    let isAny = contentTypes.contains { $0.extensions?.isEmpty == true }
    return PickerInterface.PickCall(
      multiple: allowsMultipleSelection, kind: isFolder ? .folder : .file,
      access: isReadOnly ? .readOnly : .readWrite, types: isAny || extensions.isEmpty ? nil : extensions,
      message: message, process: counted.message)
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
