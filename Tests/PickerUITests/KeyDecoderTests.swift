import TestSupport
import Testing

@testable import PickerUI

@Suite struct KeyDecoderTests {
  static let table: [(String, [Key])] = [
    ("a", [.text("a")]),
    ("é日👍", [.text("é"), .text("日"), .text("👍")]),
    ("\u{1B}[A\u{1B}[B\u{1B}[C\u{1B}[D", [.up, .down, .right, .left]),
    ("\u{1B}OA\u{1B}OB\u{1B}OC\u{1B}OD", [.up, .down, .right, .left]),
    ("\u{1B}[H\u{1B}[F\u{1B}OH\u{1B}OF", [.home, .end, .home, .end]),
    ("\u{1B}[1~\u{1B}[4~\u{1B}[7~\u{1B}[8~", [.home, .end, .home, .end]),
    ("\u{1B}[5~\u{1B}[6~\u{1B}[3~", [.pageUp, .pageDown, .delete]),
    ("\u{1B}[1;5A\u{1B}[1;2D", [.up, .left]),
    ("\u{1B}[Z", [.backTab]),
    // Ctrl-J, and Ctrl-C after half a sequence.
    ("\n\u{1B}[1;\u{03}\u{1B}O\u{03}", [.control("j"), .control("c"), .control("c")]),
    ("\r\t\u{7F} ", [.enter, .tab, .backspace, .text(" ")]),
    ("\u{03}\u{08}\u{15}", [.control("c"), .control("h"), .control("u")]),
    ("\u{1B}.x", [.alt("."), .text("x")]),
    ("\u{1B}\u{7F}", [.control("w")]),
    ("\u{1B}[<0;3;7M\u{1B}[<0;3;7m", [.mouse(.press, column: 2, row: 6)]),
    ("\u{1B}[<64;1;1M\u{1B}[<65;1;1M", [.mouse(.wheelUp, column: 0, row: 0), .mouse(.wheelDown, column: 0, row: 0)]),
    ("\u{1B}[<0;0;1M\u{1B}[<2;1;1M\u{1B}[<1M\u{1B}[<;;Mx", [.text("x")]),
    ("\u{1B}\u{1B}[A", [.escape, .up]),
    // Function keys, a mouse report's head and answers to queries are no keys of ours.
    ("\u{1B}[15~\u{1B}OP\u{1B}[[Ax", [.text("x")]),
    ("\u{1B}[?62;1;4cx", [.text("x")]),
    ("\u{1B}[24;80Rx", [.text("x")]),
    ("\u{1B}]11;rgb:0000/0000\u{07}x", [.text("x")]),
    ("\u{1B}]l evil\r\u{1B}\\x", [.text("x")]),
    ("\u{1B}P1$r0m\u{1B}\\x", [.text("x")]),
    // Reports of the mouse, whose coordinates look like keys; of the focus; of a key that is let go of.
    ("\u{1B}[M !!x\u{1B}[M#\u{E9}\u{E9}x\u{1B}[M \0!x", [.text("x"), .text("x"), .text("x")]),
    (
      "\u{1B}[<0;3;4M\u{1B}[<0;3;4m\u{1B}[32;3;4M\u{1B}[t!!\u{1B}[T!!!!!!x",
      [.mouse(.press, column: 2, row: 3), .text("x")]
    ),
    ("\u{1B}[M \u{3}\u{1B}[M\r", [.control("c"), .enter]),
    ("\u{1B}[I\u{1B}[O\u{1B}[1;1:3A\u{1B}[3;1:3~\u{1B}[13;1:3ux", [.text("x")]),
    // kitty's keys, and xterm's.
    ("\u{1B}[27u\u{1B}[13u\u{1B}[9u\u{1B}[9;2u\u{1B}[127u", [.escape, .enter, .tab, .backTab, .backspace]),
    ("\u{1B}[99;5u\u{1B}[117;5:1u\u{1B}[104;69u", [.control("c"), .control("u"), .control("h")]),
    (
      "\u{1B}[97;;97u\u{1B}[97:65;2u\u{1B}[97;2u\u{1B}[46;3u\u{1B}[97;9u",
      [.text("a"), .text("A"), .text("A"), .alt(".")]
    ),
    ("\u{1B}[57414u\u{1B}[57419;1:1u\u{1B}[57358u\u{1B}[1;1:2B", [.enter, .up, .down]),
    ("\u{1B}[27;5;99~\u{1B}[27;1;27~\u{1B}[27;2;65~\u{1B}[27;5;91~", [.control("c"), .escape, .text("A"), .escape]),
    ("\u{1B}[?1u\u{1B}[>1ux", [.text("x")]),
    ("\u{1B}[200~a\u{1B}[99;5u\u{1B}[98u\u{1B}[201~", [.pasted("a"), .control("c")]),
    // A paste is text without Enter, whatever is in it.
    ("\u{1B}[200~a\r\tb\u{1B}[A\u{1B}[201~\r", [.pasted("a"), .pasted("b"), .enter]),
    ("\u{1B}[200~é\u{1B}[201~é", [.pasted("é"), .text("é")]),
  ]

  @Test(arguments: table)
  func `Bytes become keys, wherever the reads cut them`(bytes: String, keys: [Key]) {
    let bytes = Array(bytes.utf8)
    for cut in 0...bytes.count {
      var decoder = KeyDecoder()
      let found = decoder.feed(bytes[..<cut]) + decoder.feed(bytes[cut...])
      #expect(found == keys, "cut at \(cut)")
      #expect(!decoder.isWaiting)
    }
    var decoder = KeyDecoder()
    #expect(bytes.flatMap { decoder.feed([$0]) } == keys, "byte by byte")
  }

  @Test func `Escape alone waits for company, and is Escape when none comes`() {
    var decoder = KeyDecoder()
    #expect(decoder.feed([0x1B]) == [])
    #expect(decoder.isWaiting)
    #expect(decoder.timeout() == [.escape])
    #expect(!decoder.isWaiting)
    #expect(decoder.feed(Array("[A".utf8)) == [.text("["), .text("A")])
  }

  @Test(arguments: ["\u{1B}[", "\u{1B}[1;", "\u{1B}O", "\u{1B}]11;rgb", "\u{1B}[["])
  func `Half a sequence is nothing, and what follows is whole`(half: String) {
    var decoder = KeyDecoder()
    #expect(decoder.feed(Array(half.utf8)) == [])
    #expect(decoder.timeout() == [])
    #expect(decoder.feed([0x61]) == [.text("a")])
  }

  @Test func `Backspace is whatever byte the terminal erases with`() {
    var decoder = KeyDecoder(erase: 8)
    #expect(decoder.feed([8, 0x7F]) == [.backspace, .backspace])
  }

  @Test func `A paste goes on over a pause, and control C still cancels`() {
    var decoder = KeyDecoder()
    #expect(decoder.feed(Array("\u{1B}[200~a".utf8)) == [.pasted("a")])
    #expect(decoder.timeout() == [])
    #expect(decoder.feed(Array("\rb\u{03}".utf8)) == [.pasted("b"), .control("c")])
  }

  @Test func `Bytes that are not UTF-8 are no text, and do not swallow what follows`() {
    let broken: [[UInt8]] = [[0x80], [0xC3], [0xE2, 0x82], [0xFF], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xC2, 0x9B]]
    for bytes in broken {
      var decoder = KeyDecoder()
      #expect(decoder.feed(bytes + Array("aé".utf8)) == [.text("a"), .text("é")], "\(bytes)")
    }
  }

  @Test func `Random bytes leave the decoder sane and never longer than they came`() {
    var random = Seeded(seed: 7)
    for _ in 0..<500 {
      var decoder = KeyDecoder()
      let bytes = (0..<200).map { _ in UInt8.random(in: 0...255, using: &random) }
      #expect(decoder.feed(bytes).count <= bytes.count)
      _ = decoder.timeout()
      #expect(!decoder.isWaiting)
    }
  }
}
