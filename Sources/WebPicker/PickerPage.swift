internal import Foundation
internal import Kernel
package import PickerUI
internal import UserFiles

/// The page of the web picker: plain HTML, which works with a keyboard, with a screen reader and without scripts.
package struct PickerPage {
  let request: PickerRequest
  /// Absolute path of the pages, with a slash at its end.
  let base: String

  package init(_ request: PickerRequest, base: String) { (self.request, self.base) = (request, base) }

  static let headers = [
    "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
    "Content-Security-Policy":
      "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  ]

  /// - Parameters:
  ///   - filter: as the user wrote it.
  ///   - fault: why the last choice was refused.
  ///   - done: the outcome of the last act.
  package func folder(
    _ listing: PickerListing, filter: String = "", hidden: Bool = false, fault: String? = nil,
    done: String? = nil
  ) -> String {
    var body = "<h1>\(Self.escaped(request.heading))</h1>\n"
    if let words = request.words { body += "<blockquote>\(Self.escaped(words))</blockquote>\n" }
    if let alert = fault ?? (done == nil ? request.warning : nil) {
      body += "<p role=\"alert\">\(Self.escaped(alert))</p>\n"
    }
    if let done { body += "<p role=\"status\">\(Self.escaped(done))</p>\n" }
    body += places(listing)
    let at = Self.encoded(Self.field(listing.place))
    body += """
      <form method="get" action="\(base)"><input type="hidden" name="at" value="\(at)">
      <label>Names with <input name="filter" value="\(Self.escaped(filter))"></label>
      <label><input type="checkbox" name="hidden" value="1"\(hidden ? " checked" : "")> hidden files</label>
      <button>Show</button></form>
      <form method="post" action="\(base)choose"><input type="hidden" name="at" value="\(at)">
      <fieldset><legend>\(legend(listing))</legend><ul>

      """
    if let own = listing.own, request.kind == .folder { body += row(own, isChoice: true, nil) }
    for entry in listing.rows { body += row(entry, isChoice: !entry.isFolder, listing.place) }
    body += "</ul></fieldset>\n<p>"
    body += "<button name=\"do\" value=\"choose\">Choose</button> <button name=\"do\" value=\"cancel\">Cancel</button>"
    if request.creates {
      let folder = listing.own.flatMap { own in own.file.map { Self.choice($0, own.path) } } ?? ""
      body += " <input type=\"hidden\" name=\"folder\" value=\"\(Self.escaped(folder))\">"
      body += "<button name=\"do\" value=\"create\">New document here</button>"
    }
    body += buttons
    if request.isPestering {
      body += " <button name=\"do\" value=\"end\">End the app, it asks again and again</button>"
    }
    return page(request.heading, body + "</p></form>\n")
  }

  private func places(_ listing: PickerListing) -> String {
    var links: [String] = []
    if let parent = listing.parent { links.append(link("Folder above", .folder(parent))) }
    if !request.recents.isEmpty, listing.place != .recents { links.append(link("Recent documents", .recents)) }
    if request.acts != .none {
      links += UserPlace.allCases.filter { listing.place != .user($0) }.map { link($0.title, .user($0)) }
    }
    links += request.places.map { link("Documents of \($0.label)", .folder($0.path)) }
    let kind = if case .folder = listing.place { "Folder" } else { "Place" }
    let here = "<p>\(kind) <strong>\(Self.escaped(listing.name))</strong></p>"
    return "<nav aria-label=\"Places\">\(here)<p>\(links.joined(separator: " · "))</p></nav>\n"
  }

  private func legend(_ listing: PickerListing) -> String {
    let count = listing.rows.count == 1 ? "1 item" : "\(listing.rows.count) items"
    return listing.left > 0 ? "\(count), \(listing.left) more are not shown" : count
  }

  /// - Parameter place: that of the list, for a row with actions.
  private func row(_ row: PickerListing.Row, isChoice: Bool, _ place: PickerListing.Place?) -> String {
    let name = Self.escaped(row.name)
    var facts = [row.target.map { "leads to \($0)" }, row.size].compactMap(\.self).map(Self.escaped)
      .joined(separator: ", ")
    if !facts.isEmpty { facts = " <small>\(facts)</small>" }
    for tag in row.tags {
      let dot = tag.colour.map { "<span class=\"dot \($0.rawValue)\" aria-hidden=\"true\"></span>" } ?? ""
      facts += " <small>\(dot)\(Self.escaped(tag.name))</small>"
    }
    if let place, let file = row.file, hasActions {
      let at = Self.encoded(Self.encoded(Self.field(place)))
      facts +=
        " <a href=\"\(base)actions?at=\(at)&amp;file=\(Self.encoded(Self.choice(file, row.path)))\""
        + " aria-label=\"Actions for \(name)\">Actions</a>"
    }
    guard isChoice else { return "<li>\(link("\(row.name)/", .folder(row.path)))\(facts)</li>\n" }
    guard row.refusal == nil, let file = row.file else {
      let reason = Self.escaped(row.refusal ?? "It cannot be opened.")
      return "<li><span aria-disabled=\"true\">\(name)</span>\(facts) <em>\(reason)</em></li>\n"
    }
    let control = request.multiple ? "checkbox" : "radio"
    let value = Self.escaped(Self.choice(file, row.path))
    return "<li><label><input type=\"\(control)\" name=\"pick\" value=\"\(value)\"> \(name)</label>\(facts)</li>\n"
  }

  private func link(_ text: String, _ place: PickerListing.Place) -> String {
    return "<a href=\"\(base)?at=\(Self.encoded(Self.encoded(Self.field(place))))\">\(Self.escaped(text))</a>"
  }

  /// A place as the value of a field; a path begins with a slash.
  static func field(_ place: PickerListing.Place) -> String {
    switch place {
    case .folder(let path): path
    case .recents: "recents"
    case .user(let place): place.rawValue
    }
  }

  static func place(_ field: String) -> PickerListing.Place {
    if let place = UserPlace(rawValue: field) { return .user(place) }
    return field == "recents" ? .recents : .folder(field.removingPercentEncoding ?? field)
  }

  /// In letters that no browser changes on the way: it would write the end of a line in another way.
  static func choice(_ file: String, _ path: String) -> String { "\(file) \(encoded(path))" }

  static func encoded(_ text: String) -> String {
    let plain = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")
    return text.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
  }

  /// The page at the end, or in place of one that there is not.
  static func end(_ sentence: String) -> String {
    page(sentence, "<h1>\(escaped(sentence))</h1>\n<p>You can close this page.</p>\n")
  }

  static func page(_ title: String, _ body: String, scheme: String = "light dark", accent: String = "#2f6fde") -> String
  {
    """
    <!doctype html>
    <html lang="en"><head><meta charset="utf-8"><title>\(escaped(title))</title>
    <meta name="viewport" content="width=device-width"><style>
    :root { color-scheme: \(scheme); font: 1rem/1.5 system-ui, sans-serif; accent-color: \(accent) }
    body { max-width: 46rem; margin: 2rem auto; padding: 0 1rem } h1 { font-size: 1.3rem; line-height: 1.3 }
    fieldset { border: 1px solid color-mix(in srgb, currentColor 25%, transparent); border-radius: .6rem }
    ul { list-style: none; padding: 0; margin: 0 } legend, small, em, nav { opacity: .8 }
    li { padding: .3rem .4rem; border-radius: .4rem; overflow-wrap: anywhere } li:has(:checked) { background: #2f6fde2a }
    li > label { display: inline-block; min-width: 60% } blockquote { margin-left: 1rem; font-style: italic }
    [role=alert] { border-left: .3rem solid #c33; padding-left: .7rem } [aria-disabled] { opacity: .6 }
    .dot { display: inline-block; width: .7em; height: .7em; border-radius: 50%; margin-right: .25em }
    .red { background: #e5484d } .orange { background: #f0892b } .yellow { background: #f2c230 } .green { background: #46a758 }
    .blue { background: #3e7bfa } .purple { background: #8e4ec6 } .grey { background: #8b8d98 }
    button, input { font: inherit } button { padding: .2rem .9rem; border-radius: .4rem }
    </style></head><body><main>
    \(body)</main></body></html>

    """
  }

  static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
      .replacing("\"", with: "&quot;").replacing("'", with: "&#39;")
  }
}

/// The fields of a form, as a browser sends them (`application/x-www-form-urlencoded`).
package struct FormFields {
  private let pairs: [(name: String, value: String)]

  package init(_ body: String) {
    pairs = body.split(separator: "&").compactMap { pair in
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      func decoded(_ text: Substring) -> String? { text.replacing("+", with: " ").removingPercentEncoding }
      guard let name = decoded(parts[0]), let value = decoded(parts.count > 1 ? parts[1] : "") else { return nil }
      return (name, value)
    }
  }

  package func all(_ name: String) -> [String] { pairs.filter { $0.name == name }.map(\.value) }
  package func first(_ name: String) -> String? { all(name).first }
}
