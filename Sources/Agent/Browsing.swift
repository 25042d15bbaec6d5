internal import AmbitKit
internal import Foundation

/// Remembers what a browser tells its delegate.
@MainActor private class BrowserDelegate: UIDocumentBrowserViewControllerDelegate {
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
@MainActor private final class MakingDelegate: BrowserDelegate, UIDocumentBrowserCreationDelegate {
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

/// The outcome of a browser's act, as plain data.
private struct Browsed: Sendable {
  var events: [String] = []
  var urls: [URL] = []
  var goesOn: Bool?
}

/// The document browser, as an app's own code would use it.
extension Session {
  mutating func browserAct(_ act: String, _ request: [String: Any]) throws -> [String: Any]? {
    switch act {
    case "browse", "browseCreate":
      let modes: [String: UIDocumentBrowserViewController.ImportMode] = ["copy": .copy, "move": .move, "none": .none]
      guard let mode = modes[request["mode"] as? String ?? "copy"] else { throw Usage(sentence: "copy, move or none") }
      let file = (request["file"] as? String).map { URL(fileURLWithPath: $0) }
      let neighbour = try (request["beside"] as? String).map { try url(["of": $0]) }
      let wishes = Wishes(
        makes: act == "browseCreate", file: file, mode: mode, neighbour: neighbour,
        types: (request["type"] as? String).flatMap { UTType(filenameExtension: $0) }.map { [$0] },
        creates: request["creates"] as? Bool ?? true, multiple: request["multiple"] as? Bool ?? false,
        acts: request["action"] != nil)
      let browsed = try MainActor.assumeIsolated { try Self.browse(wishes) }
      var answer: [String: Any] = [
        "done": true, "text": browsed.events.joined(separator: "\n"), "goesOn": browsed.goesOn ?? false,
      ]
      if !browsed.urls.isEmpty { answer.merge(try keep(browsed.urls, request)) { _, new in new } }
      return answer
    case "renameDocument":
      let (url, name) = (try url(request), try text("name", request))
      let (renamed, refusal) = MainActor.assumeIsolated {
        var outcome: (URL?, NSError?)
        UIDocumentBrowserViewController(forOpening: nil).renameDocument(at: url, proposedName: name) {
          outcome = ($0, $1 as NSError?)
        }
        return outcome
      }
      guard let renamed else { return refusal.map { Self.describe($0) } ?? [:] }
      return try keep([renamed], request).merging(["done": true]) { _, new in new }
    case "reveal":
      let (url, imports) = (try url(request), request["import"] as? Bool ?? false)
      let browsed = MainActor.assumeIsolated {
        let delegate = BrowserDelegate()
        let browser = UIDocumentBrowserViewController(forOpening: nil)
        browser.delegate = delegate
        browser.revealDocument(at: url, importIfNeeded: imports) { url, error in
          let told = url?.lastPathComponent ?? error.map { "error: \($0.localizedDescription)" } ?? "nil"
          delegate.events.append("completed \(told)")
        }
        return Browsed(events: delegate.events, urls: Array(delegate.urls.prefix(1)))
      }
      var answer: [String: Any] = ["done": true, "text": browsed.events.joined(separator: "\n")]
      if !browsed.urls.isEmpty { answer.merge(try keep(browsed.urls, request)) { _, new in new } }
      return answer
    default: return nil
    }
  }

  private struct Wishes: Sendable {
    let makes: Bool
    let file: URL?
    let mode: UIDocumentBrowserViewController.ImportMode
    let neighbour: URL?
    let types: [UTType]?
    let creates: Bool
    let multiple: Bool
    let acts: Bool
  }

  @MainActor private static func browse(_ wishes: Wishes) throws -> Browsed {
    let delegate =
      wishes.makes ? MakingDelegate(wishes.file, wishes.mode, nextTo: wishes.neighbour) : BrowserDelegate()
    let browser = UIDocumentBrowserViewController(forOpening: wishes.types)
    browser.delegate = delegate
    browser.allowsDocumentCreation = wishes.creates
    browser.allowsPickingMultipleItems = wishes.multiple
    if wishes.acts {
      browser.customActions = [
        UIDocumentBrowserAction(
          identifier: "count", localizedTitle: "Count", availability: [.menu],
          supportedContentTypes: ["public.plain-text"]
        ) { urls in
          delegate.events.append((["count"] + urls.map(\.lastPathComponent)).joined(separator: " "))
          delegate.urls = urls
        }
      ]
      browser.additionalTrailingNavigationBarButtonItems = [
        UIBarButtonItem(title: "Settings", primaryAction: UIAction { _ in delegate.events.append("settings") })
      ]
    }
    let goesOn = try browser.present()
    return Browsed(events: delegate.events, urls: delegate.urls, goesOn: goesOn)
  }
}
