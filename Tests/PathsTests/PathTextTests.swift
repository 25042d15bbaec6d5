import Paths
import TestSupport
import Testing

struct PathTextTests {
  @Test func `a line has no controls, and a hidden name is one by its first byte`() {
    #expect("a\n\u{1b}[2Jb\u{202e}c".withoutControls == "a  [2Jb c" && "ü✓".withoutControls == "ü✓")
    #expect(".a".isHiddenName && ".\u{301}a".isHiddenName && !"a.".isHiddenName && !"".isHiddenName)
  }

  @Test func `a text is cut to a number of bytes, between two scalars`() {
    #expect("abc".cut(toBytes: 3) == "abc" && "abc".cut(toBytes: 2) == "ab" && "abc".cut(toBytes: 0).isEmpty)
    #expect("a✓b".cut(toBytes: 3) == "a" && "a✓b".cut(toBytes: 4) == "a✓" && "✓".cut(toBytes: 2).isEmpty)
    // One character.
    let accents = "e" + String(repeating: "\u{301}", count: 10_000)
    #expect(accents.count == 1 && accents.cut(toBytes: 200).utf8.count == 199)
  }

  @Test func `an accent that a name begins with is the name's, and the slash before it a slash`() {
    let path = "/srv/\u{301}plan.txt"
    #expect(path.pathNames == ["srv", "\u{301}plan.txt"])
    #expect(path.lastPathName.utf8.elementsEqual("\u{301}plan.txt".utf8))
    #expect(path.parentPath == "/srv")
    #expect(path.lies(below: "/srv") && path.lies(below: "/") && !path.lies(below: "/sr"))
    #expect(path.path(within: "/srv").isSamePath(as: "\u{301}plan.txt"))
    #expect("/\u{301}".isAbsolutePath && "a/\u{301}".hasSlash && "/srv/\u{301}/".withoutTrailingSlashes.hasSlash)
  }

  @Test func `two spellings of a name are two names`() {
    let (composed, decomposed) = ("/srv/caf\u{E9}", "/srv/cafe\u{301}")
    // To Swift they are the same text.
    #expect(composed == decomposed)
    #expect(!composed.isSamePath(as: decomposed))
    #expect(!"\(composed)/x".lies(below: decomposed) && !composed.lies(within: decomposed))
    #expect(PathKey(composed) != PathKey(decomposed))
    #expect(Set([PathKey(composed), PathKey(decomposed), PathKey(composed)]).count == 2)
    let (none, empty): (String?, String?) = (nil, "")
    #expect(none.isSamePath(as: none) && !empty.isSamePath(as: none) && empty.isSamePath(as: empty))
  }

  @Test(
    arguments: [
      ("/", [], "/", "/", "/"), ("", [], "", nil, ""), ("a", ["a"], "a", nil, "a"), ("/a", ["a"], "a", "/", "/a"),
      ("/a/", ["a"], "a", "/a", "/a"), ("//", [], "//", "/", "/"), ("/a//b", ["a", "b"], "b", "/a/", "/a//b"),
      ("a/b//", ["a", "b"], "b", "a/b/", "a/b"),
    ] as [(String, [String], String, String?, String)])
  func `names, the last one, the folder and what is without slashes at its end`(
    path: String, names: [String], last: String, parent: String?, trimmed: String
  ) {
    #expect(path.pathNames == names)
    #expect(path.lastPathName == last)
    #expect(path.parentPath == parent)
    #expect(path.withoutTrailingSlashes == trimmed)
  }

  @Test func `a folder holds what lies below it, itself within it, and nothing that only begins alike`() {
    #expect("/a".lies(within: "/a") && !"/a".lies(below: "/a"))
    #expect("/a/b/c".path(within: "/a") == "b/c" && "/a".path(within: "/a") == "" && "/ab".path(within: "/a") == nil)
    #expect("/a".path(within: "/") == "a" && "/".path(within: "/") == "" && !"/".lies(below: "/"))
    #expect("/a".path(of: "b") == "/a/b" && "/".path(of: "b") == "/b")
  }

  /// The model has bytes, and nothing else.
  @Test(arguments: 0..<64) func `whatever a path has in it, it is taken apart as its bytes are`(seed: Int) throws {
    var random = Seeded(seed: UInt64(seed))
    let parts = [
      "/", "//", "a", "\u{301}", "e\u{301}", "\u{E9}", ".", "..", "\u{212A}", "K", "\u{10FEE9}", " ", "\u{1F3FD}",
    ]
    for _ in 0..<200 {
      func text() -> String {
        (0..<Int.random(in: 0...8, using: &random)).map { _ in parts.randomElement(using: &random) ?? "" }.joined()
      }
      let (path, folder) = (text(), text())
      let (bytes, outer) = (Array(path.utf8), Array(folder.utf8))
      let slash = UInt8(ascii: "/")
      func strings(_ pieces: [ArraySlice<UInt8>]) -> [[UInt8]] { pieces.map(Array.init) }
      #expect(path.pathNames.map { Array($0.utf8) } == strings(bytes.split(separator: slash)))
      #expect(
        path.pathParts.map { Array($0.utf8) }
          == strings(bytes.split(separator: slash, omittingEmptySubsequences: false)))
      let last = bytes.lastIndex(of: slash)
      #expect(
        path.parentPath.map { Array($0.utf8) } == last.map { $0 == 0 ? [slash] : Array(bytes[..<$0]) })
      #expect(path.hasSlash == (last != nil) && path.isAbsolutePath == (bytes.first == slash))
      let isWithin =
        bytes.starts(with: outer)
        && (bytes.count == outer.count || outer.last == slash || bytes[outer.count] == slash)
      #expect(path.lies(within: folder) == isWithin, "\(path) in \(folder)")
      #expect(
        path.lies(below: folder) == (isWithin && bytes.dropFirst(outer.count).contains { $0 != slash }),
        "\(path) below \(folder)")
      #expect((PathKey(path) == PathKey(folder)) == (bytes == outer))
      #expect((PathKey(path) < PathKey(folder)) == bytes.lexicographicallyPrecedes(outer))
    }
  }
}
