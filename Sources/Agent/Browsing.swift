internal import AmbitKit
internal import Foundation

/// Remembers what a browser tells its delegate.
private class BrowserDelegate: UIDocumentBrowserViewControllerDelegate {
  var events: [String] = []
  var urls: [URL] = []

  func documentBrowser(_ controller: UIDocumentBrowserViewController, didPickDocumentsAt documentURLs: [URL]) {
    events.append("picked \(documentURLs.map(\.lastPathComponent).joined(separator: " "))")
    urls = documentURLs
  }

  func documentBrowser(
    _ controller: UIDocumentBrowserViewController, didImportDocumentAt sourceURL: URL,
    toDestinationURL destinationURL: URL
  ) {
    events.append("imported \(sourceURL.lastPathComponent) to \(destinationURL.lastPathComponent)")
    urls = [destinationURL]
  }

  func documentBrowser(
    _ controller: UIDocumentBrowserViewController, failedToImportDocumentAt documentURL: URL, error: (any Error)?
  ) { events.append("failed \(documentURL.lastPathComponent): \(error?.localizedDescription ?? "")") }

  func documentBrowserWasCancelled(_ controller: UIDocumentBrowserViewController) { events.append("left") }

  func documentBrowser(_ controller: UIDocumentBrowserViewController, didFailWithError error: any Error) {
    events.append("error: \(error.localizedDescription)")
  }
}

/// Makes new documents of a file that the request names.
private final class MakingDelegate: BrowserDelegate, UIDocumentBrowserCreationDelegate {
  let file: URL?
  let mode: UIDocumentBrowserViewController.ImportMode
  /// A document to put it next to.
  let neighbour: URL?

  init(_ file: URL?, _ mode: UIDocumentBrowserViewController.ImportMode, nextTo neighbour: URL?) {
    (self.file, self.mode, self.neighbour) = (file, mode, neighbour)
  }

  func documentBrowser(
    _ controller: UIDocumentBrowserViewController,
    didRequestDocumentCreationWithHandler importHandler:
      @escaping (URL?, UIDocumentBrowserViewController.ImportMode) ->
      Void
  ) {
    events.append("asked for a new document")
    guard let neighbour, let file else {
      importHandler(file, mode)
      // It counts once.
      importHandler(file, mode)
      return
    }
    importHandler(nil, .none)
    controller.importDocument(at: file, nextToDocumentAt: neighbour, mode: mode) { url, error in
      events.append(url.map { "placed \($0.lastPathComponent)" } ?? "failed: \(error?.localizedDescription ?? "")")
      urls = url.map { [$0] } ?? []
    }
  }
}

/// The document browser, as an app's own code would use it.
extension Session {
  mutating func browserAct(_ act: String, _ request: [String: Any]) throws -> [String: Any]? {
    switch act {
    case "browse":
      let delegate = BrowserDelegate()
      return try browse(request, delegate)
    case "browseCreate":
      let modes: [String: UIDocumentBrowserViewController.ImportMode] = ["copy": .copy, "move": .move, "none": .none]
      guard let mode = modes[request["mode"] as? String ?? "copy"] else { throw Usage(sentence: "copy, move or none") }
      let file = (request["file"] as? String).map { URL(fileURLWithPath: $0) }
      let neighbour = try (request["beside"] as? String).map { try url(["of": $0]) }
      let delegate = MakingDelegate(file, mode, nextTo: neighbour)
      return try browse(request, delegate)
    case "renameDocument":
      var answer: [String: Any] = [:]
      var renamed: URL?
      UIDocumentBrowserViewController(forOpening: nil).renameDocument(
        at: try url(request), proposedName: try text("name", request)
      ) { url, error in
        renamed = url
        if let error { answer = Self.describe(error) }
      }
      guard let renamed else { return answer }
      return try keep([renamed], request).merging(["done": true]) { _, new in new }
    case "reveal":
      let delegate = BrowserDelegate()
      let browser = UIDocumentBrowserViewController(forOpening: nil)
      browser.delegate = delegate
      var told: String?
      browser.revealDocument(at: try url(request), importIfNeeded: request["import"] as? Bool ?? false) { url, error in
        told = url?.lastPathComponent ?? error.map { "error: \($0.localizedDescription)" } ?? "nil"
        delegate.events.append("completed \(told ?? "")")
      }
      var answer: [String: Any] = ["done": true, "text": delegate.events.joined(separator: "\n")]
      if let url = delegate.urls.first { answer.merge(try keep([url], request)) { _, new in new } }
      return answer
    default: return nil
    }
  }

  private mutating func browse<Delegate: BrowserDelegate>(_ request: [String: Any], _ delegate: Delegate) throws
    -> [String: Any]
  {
    let types = (request["type"] as? String).flatMap { UTType(filenameExtension: $0) }.map { [$0] }
    let browser = UIDocumentBrowserViewController(forOpening: types)
    browser.delegate = delegate
    browser.allowsDocumentCreation = request["creates"] as? Bool ?? true
    browser.allowsPickingMultipleItems = request["multiple"] as? Bool ?? false
    let goesOn = try browser.present()
    var answer: [String: Any] = [
      "done": true, "text": delegate.events.joined(separator: "\n"), "goesOn": goesOn,
    ]
    if !delegate.urls.isEmpty { answer.merge(try keep(delegate.urls, request)) { _, new in new } }
    return answer
  }
}
