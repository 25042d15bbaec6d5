import TestSupport
import Testing

@testable import PickerUI

/// What a picker's list is, said as simply as possible: no incremental filtering, no scrolling, strings for names.
private struct SimpleModel {
  var names: [String]
  var isFolder: Set<String>
  var choosable: Set<String>
  var filter = ""
  var hidden = false
  var cursor = 0
  var marks: Set<String> = []
  let request: PickerRequest

  var rows: [String] {
    let seen = names.filter { hidden || [".", "^.", "'."].contains { filter.hasPrefix($0) } || !$0.hasPrefix(".") }
    if filter.isEmpty { return (request.kind == .folder ? ["<here>"] : []) + seen }
    let query = FuzzyQuery(filter)
    let found = seen.enumerated().compactMap { place, name in
      var match = FuzzyMatch()
      let score = match.score(query, NameTable([Entry(name: FileName(name), kind: .file)]), 0)
      return score.map { (score: $0, length: name.filter { $0 != " " }.count, place: place, name: name) }
    }
    if !query.ranks { return found.map(\.name) }
    return found.sorted { ($1.score, $0.length, $0.place) < ($0.score, $1.length, $1.place) }.map(\.name)
  }

  mutating func clamp() { cursor = max(0, min(cursor, rows.count - 1)) }

  mutating func filterChanged() {
    cursor = filter.isEmpty ? 0 : rows.firstIndex { isFolder.contains($0) || choosable.contains($0) } ?? 0
  }
}

@Suite struct PickerRandomTests {
  private static let withPlaces: PickerRequest = {
    var asked = request()
    asked.places = [.init(name: "A", path: "/a"), .init(name: "B", path: "/b")]
    return asked
  }()

  private static let keys: [Key] =
    [
      .up, .down, .down, .home, .end, .pageUp, .pageDown, .enter, .tab, .tab, .text(" "), .backspace, .control("u"),
      .control("o"), .control("h"), .left, .right, .delete, .backTab, .control("w"), .control("r"), .alt("."),
      .alt("x"),
    ] + "ab.aB1/~!$'^".unicodeScalars.map { .text($0) } + "a /".unicodeScalars.map { .pasted($0) }

  /// A random folder's names: short ones of few letters, so that filters often match and often do not.
  private static func names(_ random: inout Seeded) -> [Entry] {
    let letters = Array("aAbB1.x")
    let names = Set(
      (0..<Int.random(in: 0...25, using: &random)).map { _ in
        String((0..<Int.random(in: 1...5, using: &random)).compactMap { _ in letters.randomElement(using: &random) })
      })
    let kinds: [EntryKind] = [.file, .file, .file, .folder, .folder, .special, .broken]
    return names.subtracting([".", ".."]).sorted().map { name in
      Entry(name: FileName(name), kind: kinds.randomElement(using: &random) ?? .file)
    }.sorted(by: Entry.precedes)
  }

  @Test(arguments: [
    request(), request(types: ["x", "a"]), request(multiple: true), request(multiple: true, types: ["x"]),
    request(kind: .folder), request(multiple: true, kind: .folder), withPlaces,
  ])
  func `Whatever is pressed, the picker agrees with a simple model and keeps its promises`(request: PickerRequest) {
    var random = Seeded(seed: 42)
    for _ in 0..<Rounds.few(8, of: 30) {
      var picker = PickerModel(request)
      var simple = SimpleModel(names: [], isFolder: [], choosable: [], request: request)
      var place = 0

      func enterNewFolder() {
        place += 1
        let entries = Self.names(&random)
        picker.show(folder: "/\(place)", isTop: false, entries: entries)
        simple.names = entries.map(\.name.text)
        simple.isFolder = Set(entries.filter { $0.kind == .folder }.map(\.name.text))
        simple.choosable = Set(
          entries.filter { entry in
            request.kind == .folder
              ? entry.kind == .folder
              : entry.kind == .file
                && (request.types ?? []).allSatisfy { _ in
                  request.types?.contains {
                    entry.name.text.lowercased().hasSuffix("." + $0) && entry.name.text.count > 2
                  }
                    ?? true
                }
          }.map(\.name.text))
        simple.filter = ""
        simple.cursor = 0
      }

      enterNewFolder()
      for _ in 0..<80 {
        if Int.random(in: 0..<8, using: &random) == 0 {
          picker.resize(listRows: Int.random(in: 0...12, using: &random))
        }
        let key = Self.keys.randomElement(using: &random) ?? .up
        let rows = simple.rows
        let under = rows.isEmpty ? nil : rows[simple.cursor]
        let page = max(1, picker.listRows - 1)
        let effect = picker.press(key)

        // The simple model's reading of the same key.
        switch key {
        case .up: simple.cursor -= 1
        case .down: simple.cursor += 1
        case .home: simple.cursor = 0
        case .end: simple.cursor = rows.count - 1
        case .pageUp: simple.cursor -= page
        case .pageDown: simple.cursor += page
        case .control("u"):
          simple.filter = ""
          simple.filterChanged()
        case .control("w"):
          while simple.filter.last == " " { simple.filter.removeLast() }
          while let last = simple.filter.last, last != " " { simple.filter.removeLast() }
          simple.filterChanged()
        case .backspace where !simple.filter.isEmpty:
          simple.filter.removeLast()
          simple.filterChanged()
        case .control("h"), .alt("."):
          simple.hidden.toggle()
          simple.cursor = under.flatMap { simple.rows.firstIndex(of: $0) } ?? 0
        case .text("/"), .pasted("/"):
          if simple.filter == "." {
            simple.filter = ""
            simple.filterChanged()
          }
        case .text(" ") where simple.filter.isEmpty && request.multiple: break
        case .text(let scalar), .pasted(let scalar):
          simple.filter.unicodeScalars.append(scalar)
          simple.filterChanged()
        default: break
        }
        simple.clamp()

        // Effects only where the simple model allows them.
        switch effect {
        case .enter(let name):
          #expect(simple.isFolder.contains(name.text))
          enterNewFolder()
        case .endApp, .create, .recents, .act, .appAction, .userPlace: Issue.record("the request allows none of them")
        case .parent, .top, .home: enterNewFolder()
        case .place(let place):
          #expect(key == .control("o") && request.places.contains(place))
          enterNewFolder()
        case .reload: picker.reload(entries: picker.entries)
        case .pick(.here): #expect(request.kind == .folder && under == "<here>")
        case .pick(.entry(let name)):
          #expect(key == .enter && under == name.text && simple.choosable.contains(name.text))
          #expect(simple.marks.isEmpty)
        case .mark(let target):
          #expect(request.multiple && [.tab, .text(" ")].contains(key))
          if case .entry(let name) = target { #expect(under == name.text && simple.choosable.contains(name.text)) }
          if Bool.random(using: &random) {
            picker.marked(target)
            simple.marks.insert("\(place) \(under ?? "")")
            simple.cursor += 1
            simple.clamp()
          } else {
            picker.say("refused")
          }
        case .unmark:
          #expect(simple.marks.remove("\(place) \(under ?? "")") != nil)
          simple.cursor += 1
          simple.clamp()
        case .finishMarked: #expect(key == .enter && !simple.marks.isEmpty)
        case .cancel: Issue.record("nothing here cancels")
        case nil: break
        }

        #expect(picker.filter == simple.filter)
        #expect(picker.rowNames == simple.rows.map { $0 == "<here>" ? "." : $0 }, "filter “\(simple.filter)”")
        #expect(picker.cursor == simple.cursor, "after \(key)")
        #expect(picker.marks.count == simple.marks.count)
        #expect(picker.rowCount == 0 || picker.visibleRows.contains(picker.cursor))
        #expect(picker.visibleRows.count == min(picker.rowCount, picker.listRows), "no room is wasted")
      }
    }
  }
}
