/// Reads a page as strictly as a page of Ambit's is written: every element closed where it belongs, every attribute in quotes, none
/// but the five entities. What is not so is an error, so that markup that came in with a text cannot pass as the page's own.
struct PageReader {
  final class Element {
    let name: String
    let attributes: [(name: String, value: String)]
    var children: [Node] = []

    init(_ name: String, _ attributes: [(name: String, value: String)]) {
      (self.name, self.attributes) = (name, attributes)
    }

    subscript(attribute: String) -> String? { attributes.first { $0.name == attribute }?.value }
  }

  enum Node {
    case element(Element)
    case text(String)
  }

  struct Broken: Error, CustomStringConvertible {
    let description: String
  }

  private static let void: Set<String> = ["meta", "input"]
  private static let raw: Set<String> = ["style", "script"]
  private static let entities: [String: Unicode.Scalar] = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "#39": "'"]

  private let scalars: [Unicode.Scalar]
  private var place = 0

  private init(_ text: String) { scalars = Array(text.unicodeScalars) }

  static func read(_ text: String) throws -> Element {
    var reader = PageReader(text)
    let root = Element("", [])
    try reader.readContent(of: root)
    guard reader.place == reader.scalars.count else {
      throw Broken(description: "something is closed that is not open")
    }
    return root
  }

  private mutating func readContent(of parent: Element) throws {
    while place < scalars.count {
      guard scalars[place] == "<" else {
        parent.children.append(.text(try readText(until: "<")))
        continue
      }
      if peek("</") { return }
      if peek("<!DOCTYPE html>") {
        place += 15
        continue
      }
      parent.children.append(.element(try readElement()))
    }
  }

  private mutating func readElement() throws -> Element {
    place += 1
    let name = readName()
    guard !name.isEmpty else { throw Broken(description: "a < that begins no element, at \(place)") }
    var attributes: [(name: String, value: String)] = []
    while place < scalars.count, scalars[place] == " " {
      place += 1
      let attribute = readName()
      guard !attribute.isEmpty, peek("=\"") else { throw Broken(description: "<\(name)> has a broken attribute") }
      place += 2
      attributes.append((attribute, try readText(until: "\"")))
      place += 1
    }
    let element = Element(name, attributes)
    if peek("/>") {
      place += 2
      return element
    }
    guard peek(">") else { throw Broken(description: "<\(name)> does not end") }
    place += 1
    if Self.void.contains(name) { return element }
    if Self.raw.contains(name) {
      let start = place
      while place < scalars.count, !peek("</") { place += 1 }
      element.children.append(.text(Self.string(scalars[start..<place])))
    } else {
      try readContent(of: element)
    }
    guard peek("</\(name)>") else { throw Broken(description: "<\(name)> is not closed where it ends, at \(place)") }
    place += name.unicodeScalars.count + 3
    return element
  }

  private mutating func readText(until end: Unicode.Scalar) throws -> String {
    var text: [Unicode.Scalar] = []
    while place < scalars.count, scalars[place] != end {
      let scalar = scalars[place]
      place += 1
      switch scalar {
      case "<", ">": throw Broken(description: "a bare \(scalar) in a text, at \(place)")
      case "&":
        guard let close = scalars[place...].firstIndex(of: ";"),
          let meant = Self.entities[Self.string(scalars[place..<close])]
        else { throw Broken(description: "an entity that is none of the five, at \(place)") }
        text.append(meant)
        place = close + 1
      default: text.append(scalar)
      }
    }
    return Self.string(text[...])
  }

  private mutating func readName() -> String {
    let start = place
    while place < scalars.count, scalars[place].isASCII,
      scalars[place].properties.isAlphabetic || "-0123456789".unicodeScalars.contains(scalars[place])
    {
      place += 1
    }
    return Self.string(scalars[start..<place])
  }

  private func peek(_ text: String) -> Bool { scalars[place...].starts(with: text.unicodeScalars) }

  private static func string(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
    var view = String.UnicodeScalarView()
    view.append(contentsOf: scalars)
    return String(view)
  }
}

extension PageReader.Element {
  /// This element and all below it, in the page's order.
  var all: [PageReader.Element] {
    [self]
      + children.flatMap { child -> [PageReader.Element] in
        if case .element(let element) = child { element.all } else { [] }
      }
  }

  func all(_ name: String) -> [PageReader.Element] { all.filter { $0.name == name } }

  /// What a person reads, with characters that are shown by number as those characters.
  var text: String {
    if self["class"] == "u", case .text(let number)? = children.first,
      let value = UInt32(number.dropFirst(2), radix: 16),
      let scalar = Unicode.Scalar(value)
    {
      return String(Character(scalar))
    }
    var view = String.UnicodeScalarView()
    for child in children {
      switch child {
      case .text(let text): view.append(contentsOf: text.unicodeScalars)
      case .element(let element): view.append(contentsOf: element.text.unicodeScalars)
      }
    }
    return String(view)
  }
}
