internal import Cryptography
internal import Foundation

/// A page that needs nothing else: no file, no network. Its own policy lets no other style and no other script run than its own.
extension HTMLText {
  /// The page from its beginning to the main part: head, skip link, title.
  ///
  /// - Parameter script: the page's own script; nil: it has none.
  package mutating func begin(title: String, style: String, script: String? = nil) {
    raw("<!DOCTYPE html>\n")
    open("html", ["lang": "en"])
    open("head")
    raw("<meta charset=\"utf-8\">\n")
    let scripts = script.map { "script-src '\(Self.hash($0))'; " } ?? ""
    empty(
      "meta",
      [
        "http-equiv": "Content-Security-Policy",
        "content": "default-src 'none'; style-src '\(Self.hash(style))'; \(scripts)base-uri 'none'; form-action 'none'",
      ])
    empty("meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"])
    empty("meta", ["name": "referrer", "content": "no-referrer"])
    empty("meta", ["name": "generator", "content": "ambit"])
    element("title", title)
    raw("<style>\(style)</style>\n")
    close("head")
    open("body")
    element("a", ["class": "skip", "href": "#main"], "Skip to the content")
  }

  package mutating func end() {
    close("body")
    close("html")
  }

  package static func hash(_ content: String) -> String {
    "sha256-" + Data(SHA256.digest(content)).base64EncodedString()
  }
}
