import Testing

@testable import Scenario

@Suite struct TOMLPlacesTests {
  typealias Step = TOMLPlaces.Step

  @Test func `each key and element is found where it stands`() {
    let text = """
      # comment with = and [brackets]
      a = "x # not a comment"   # a comment
      "quoted key" = 'it''s'
      b.c = 3
      [t]
        list = [ 1, "two]", [3],
          { k = "}", l.m = 2 } ] # end
      long = \"\"\"
      x = 1
      \"\"\"
      [[s]]
      v = 1
      [[s]]
      w = { y = 1, z = [{ q = 2 }] }
      [[s.do]]
      r = 1
      [[s.do]]
      r = 2
      """.replacing("'it''s'", with: "'its'")
    let places = TOMLPlaces.find(in: text)
    let table: [([Step], Int, Int)] = [
      ([.key("a")], 2, 1), ([.key("quoted key")], 3, 1), ([.key("b"), .key("c")], 4, 1),
      ([.key("t"), .key("list")], 6, 3), ([.key("t"), .key("list"), .index(1)], 6, 15),
      ([.key("t"), .key("list"), .index(2), .index(0)], 6, 24),
      ([.key("t"), .key("list"), .index(3), .key("k")], 7, 7),
      ([.key("t"), .key("list"), .index(3), .key("l"), .key("m")], 7, 16),
      ([.key("t"), .key("long")], 8, 1), ([.key("s"), .index(0), .key("v")], 12, 1),
      ([.key("s"), .index(1), .key("w"), .key("z"), .index(0), .key("q")], 14, 21),
      ([.key("s"), .index(1), .key("do"), .index(1), .key("r")], 18, 1),
    ]
    for (path, line, column) in table { #expect(places[path] == Place(line: line, column: column), "\(path)") }
    #expect(places[[.key("x")]] == nil)
  }

  @Test func `any text is passed through to its end`() {
    let alphabet = Array("a=.\"'[]{},#\n\\ 1")
    for _ in 0..<2000 {
      _ = TOMLPlaces.find(in: String((0..<Int.random(in: 0...30)).map { _ in alphabet.randomElement() ?? "a" }))
    }
  }
}
