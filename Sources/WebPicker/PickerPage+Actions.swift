internal import Kernel
package import PickerUI
internal import UserFiles

/// The actions on one file, as forms without scripts.
extension PickerPage {
  var hasActions: Bool { request.acts != .none || request.actions.contains(where: \.documents) }

  /// The actions as a web page.
  static func actions(_ request: PickerRequest, at place: PickerListing.Place) -> [FileAction] {
    guard request.acts != .none else { return [] }
    let isCollection = if case .folder = place { false } else { true }
    return FileAction.offered(
      isUsers: request.acts == .all, isCollection: isCollection, isTrash: place == .user(.trash)
    ).filter { ![.copyPath, .reveal].contains($0) }
  }

  /// - Parameters:
  ///   - choice: the file as the row had it.
  ///   - document: the very file.
  package func actions(
    _ choice: String, _ document: PickedDocument, at place: PickerListing.Place, fault: String? = nil
  )
    -> String
  {
    let title = "Actions for \(document.label)"
    var body = "<h1>\(Self.escaped(title))</h1>\n"
    if let fault { body += "<p role=\"alert\">\(Self.escaped(fault))</p>\n" }
    body += "<p><small>\(Self.escaped(document.shownPath))</small></p>\n"
    let tags = document.tagNames
    if !tags.isEmpty { body += "<p>Tags: \(Self.escaped(tags.joined(separator: ", ")))</p>\n" }
    let fields =
      "<input type=\"hidden\" name=\"at\" value=\"\(Self.encoded(Self.field(place)))\">"
      + "<input type=\"hidden\" name=\"file\" value=\"\(Self.escaped(choice))\">"
    for action in Self.actions(request, at: place) {
      body += "<form method=\"post\" action=\"\(base)act\">\(fields)"
      if let question = action.question {
        let old = action == .rename ? document.name : ""
        body += "<label>\(question) <input name=\"line\" value=\"\(Self.escaped(old))\"></label> "
      }
      body += "<button name=\"act\" value=\"\(action.rawValue)\">\(Self.escaped(action.title))</button></form>\n"
    }
    for action in request.actions where action.documents && request.takes(document, for: action) {
      body += "<form method=\"post\" action=\"\(base)act\">\(fields)"
      body += "<button name=\"own\" value=\"\(Self.escaped(action.identifier))\">"
      body += "\(Self.escaped(action.label)), \(action.origin)</button></form>\n"
    }
    body += "<p><a href=\"\(base)?at=\(Self.encoded(Self.encoded(Self.field(place))))\">Back to the list</a></p>\n"
    return page(title, body)
  }

  /// Buttons of the app's own, below the list.
  var buttons: String {
    request.actions.filter { !$0.documents }.map {
      " <button name=\"own\" value=\"\(Self.escaped($0.identifier))\">\(Self.escaped($0.label)), \($0.origin)</button>"
    }.joined()
  }

  /// In the colours that the app asks for.
  func page(_ title: String, _ body: String) -> String {
    let scheme =
      switch request.style {
      case .white, .light: "light"
      case .dark: "dark"
      case nil: "light dark"
      }
    return Self.page(title, body, scheme: scheme, accent: request.tint?.text ?? "#2f6fde")
  }
}
