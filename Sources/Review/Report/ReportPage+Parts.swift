internal import Foundation
internal import Pages

// The parts that several sections share.
extension ReportPage {
  /// A column's heading and the kind of its contents, which decides its width and its alignment.
  struct Column {
    enum Kind: String {
      case app = "cell-app"
      case document = "cell-document"
      case words = "cell-words"
      case word = "cell-word"
      case time = "time"
      case number = "n"
    }

    let heading: String
    let kind: Kind

    init(_ heading: String, _ kind: Kind) { (self.heading, self.kind) = (heading, kind) }
  }

  mutating func table(_ id: String, _ caption: String, filter: String? = nil, _ columns: [Column]) {
    // No landmark: the sections are. It has a name because it takes the focus, so that it can be scrolled by keyboard.
    html.open("div", ["class": "scroll", "role": "group", "aria-label": caption, "tabindex": "0"])
    if let filter {
      html.open("table", ["id": id, "data-filter": filter])
    } else {
      html.open("table", ["id": id])
    }
    html.element("caption", caption)
    html.open("thead")
    html.open("tr")
    for column in columns {
      html.element("th", ["scope": "col", "class": column.kind.rawValue], column.heading)
    }
    html.close("tr")
    html.close("thead")
    html.open("tbody")
  }

  mutating func endTable() {
    html.close("tbody")
    html.close("table")
    html.close("div")
  }

  mutating func count(_ number: Int) { html.element("td", ["class": "n"], number == 0 ? "–" : grouped(number)) }

  mutating func appCell(_ name: String?, _ id: String) {
    html.element("th", ["scope": "row"]) {
      $0.element("span", ["class": "name"]) { $0.quote(name ?? id) }
      if name != nil { $0.element("span", ["class": "where path"]) { $0.quote(id) } }
    }
  }

  /// A document by its name, with the folder that it lies in.
  func document(_ path: String, isFolder: Bool = false, _ html: inout HTMLText) {
    let (folder, name) = split(path)
    html.element("span", ["class": "name"]) { $0.quote(isFolder ? name + "/" : name) }
    html.element("span", ["class": "where path"]) { $0.quote(folder) }
  }

  func split(_ path: String) -> (folder: String, name: String) {
    let bytes = Array(path.utf8)
    guard let last = bytes.lastIndex(of: UInt8(ascii: "/")), last + 1 < bytes.count else {
      return ("", path.isEmpty ? "(not named)" : path)
    }
    return (
      last == 0 ? "/" : String(decoding: bytes[..<last], as: UTF8.self),
      String(decoding: bytes[(last + 1)...], as: UTF8.self)
    )
  }

  /// A length in a picture, with one digit behind the point where there is something.
  func number(_ length: Double) -> String {
    let tenths = Int((length * 10).rounded())
    if tenths % 10 == 0 { return String(tenths / 10) }
    return "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
  }
}

extension RecordedAccess {
  /// In a narrow column.
  var brief: String { self == .readOnly ? "read" : "read, write" }
}
