import Kernel
import TestSupport
import Testing

@testable import UserFiles

@Suite struct `Names of copies` {
  @Test(arguments: [
    ("Essay.txt", "Essay 2.txt"), ("Essay 2.txt", "Essay 3.txt"), ("Essay 9.txt", "Essay 10.txt"), ("notes", "notes 2"),
    ("Essay 02.txt", "Essay 02 2.txt"), ("Essay 1.txt", "Essay 1 2.txt"), ("2.txt", "2 2.txt"), (" 3", " 3 2"),
    (".profile", ".profile 2"), ("Book2", "Book2 2"), ("Tax 2026", "Tax 2027"), ("Tax 123456", "Tax 123456 2"),
    ("archive.tar.gz", "archive.tar 2.gz"),
  ])
  func `a duplicate has the next number, and never the original's name`(name: String, first: String) {
    #expect(Array(NameProposals(duplicating: name).prefix(1)) == [first])
  }

  @Test func `PCK-17: a taken name gets a number, within the bytes of a name`() {
    #expect(Array(NameProposals("Essay.txt").prefix(3)) == ["Essay.txt", "Essay 2.txt", "Essay 3.txt"])
    let long = String(repeating: "ä", count: 200) + ".txt"
    let name = Array(NameProposals(long, longest: 245).prefix(2))[1]
    #expect(name.utf8.count <= 245 && name.hasSuffix(" 2.txt"))
  }

  @Test(arguments: ["", ".", "..", "a/b", "a\0", "a\n", String(repeating: "x", count: 256)])
  func `some names no file can have`(name: String) { #expect(FileNameRule.refusal(name) != nil) }

  @Test(arguments: ["a", ".a", "…", "-rf", "Essay 2.txt"])
  func `others it can`(name: String) { #expect(FileNameRule.refusal(name) == nil) }
}

@Suite struct `Records of trashed files` {
  @Test(arguments: ["/home/a/Essay.txt", "a b/ü%.txt", "x\ny", "\u{10FEFF}"])
  func `come back as they were written`(path: String) throws {
    let info = TrashInfo(path: path, date: "2026-11-26T20:00:00")
    #expect(TrashInfo(Array(info.text.utf8)) == info)
    #expect(info.text.utf8.allSatisfy { $0 < 0x7F })
  }

  @Test func `those of other programs are read`() throws {
    let text =
      "[Trash Info]\nPath=foo/bar/meow%20of.bow-wow\r\nDeletionDate=20040831T22:32:08\nPath=second\n[Other]\nX=1\n"
    let info = try #require(TrashInfo(Array(text.utf8)))
    // The specification's own example has a date that its form does not allow.
    #expect(info.path == "foo/bar/meow of.bow-wow" && info.date == "")
  }

  @Test(arguments: [
    "", "Path=/a", "[Trash Info]\n", "[Trash Info]\nPath=\n", "[Trash Info]\nPath=%zz", "[Trash Info]\nPath=/a%0",
    "[Trash Info]\nPath=/a%00b", "[Trash info]\nPath=/a", "[Trash Info]\n[Other]\nPath=/a\n",
  ])
  func `anything else is none`(text: String) { #expect(TrashInfo(Array(text.utf8)) == nil) }

  @Test func `a record is bounded`() {
    #expect(TrashInfo(Array("[Trash Info]\nPath=/\(String(repeating: "x", count: TrashInfo.limit))".utf8)) == nil)
  }
}

@Suite struct `Tags` {
  @Test func `are the parts between commas, each once`() {
    let tags = FileTags(Array("red, Tax ,,RED,\u{7}bell,blue".utf8))
    #expect(tags.tags.map(\.name) == ["red", "Tax", "blue"])
    #expect(tags.value.map { String(decoding: $0, as: UTF8.self) } == "red,Tax,blue,\u{7}bell")
    #expect(FileTags([]).value == nil)
  }

  @Test func `of other programs that are none here are kept, byte by byte`() {
    let foreign: [UInt8] = [0xFF, 0xFE]
    var tags = FileTags(foreign + Array(",red,".utf8) + Array(repeating: 0x78, count: 100))
    #expect(tags.tags.map(\.name) == ["red"])
    tags.remove(tags.tags[0])
    #expect(tags.value == foreign + [0x2C] + Array(repeating: 0x78, count: 100))
  }

  @Test func `have colours by their names`() {
    #expect(FileTag("Red")?.colour == .red && FileTag("gray")?.colour == .grey && FileTag("tax")?.colour == nil)
  }

  @Test(arguments: ["", "  ", "a,b", "a\u{1B}[m", String(repeating: "x", count: 65)])
  func `some words are none`(text: String) { #expect(FileTag(text) == nil && FileTag.refusal(text) != nil) }

  @Test func `are bounded, and removed without regard to case`() throws {
    var tags = FileTags(Array((0..<40).map { "t\($0)" }.joined(separator: ",").utf8))
    #expect(tags.tags.count == FileTags.most)
    let (isMore, isRemoved) = (
      tags.add(try #require(FileTag("more"))), tags.remove(try #require(FileTag("T3")))
    )
    #expect(!isMore && isRemoved && !tags.answers("t3 "))
    #expect(tags.answers("T1") && !tags.answers("x"))
  }
}

@Suite struct `Favourites on the disk` {
  private func favourite(_ path: String, _ inode: UInt64) -> Favourite {
    Favourite(
      path: path, volume: Array(repeating: 7, count: 16), handle: FileHandle(type: 1, bytes: [1, 2, 255]), inode: inode,
      birth: -5)
  }

  @Test func `come back as they were, at their newest path`() throws {
    var favourites = Favourites()
    for (path, inode) in [("/a b\n", 1), ("/c", 2), ("/new", 1)] as [(String, UInt64)] {
      let isAdded = favourites.add(favourite(path, inode))
      #expect(isAdded)
    }
    #expect(favourites.all.map(\.path) == ["/new", "/c"])
    #expect(Favourites(favourites.text) == favourites)
    let removed = [favourites.remove { $0.inode == 2 }, favourites.remove { $0.inode == 2 }]
    #expect(removed == [true, false])
  }

  @Test func `damaged lines are left out, and another form is none`() throws {
    var favourites = Favourites()
    _ = favourites.add(favourite("/a", 1))
    let text = favourites.text
    #expect(Favourites(text + "x\n07 1:00 1 1 /b\n" + text)?.all.map(\.path) == ["/a", "/a"])
    #expect(Favourites("") == nil && Favourites("ambit-favourites 2\n") == nil)
  }

  @Test func `are bounded`() {
    var favourites = Favourites()
    for number in 0..<Favourites.most { _ = favourites.add(favourite("/\(number)", UInt64(number))) }
    let isAdded = favourites.add(favourite("/more", 1 << 40))
    #expect(!isAdded && favourites.all.count == Favourites.most)
  }
}
