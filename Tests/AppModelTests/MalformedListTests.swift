import Foundation
import TestSupport
import Testing

@testable import AppModel

@Suite struct `A property list that is damaged is refused with file, key path and expectation` {
  private static func sentence(_ bytes: [UInt8]) -> String {
    do throws(AppBundleError) {
      _ = try PropertyListFile(bytes: bytes, path: "Info.plist")
      return "taken"
    } catch { return error.description }
  }

  private static func sentence(_ body: String) -> String { sentence(Array(Fixture.list(body).utf8)) }

  @Test(arguments: ["\u{301}", "&#x301;"])
  func `a text in it has no endless row of marks`(_ mark: String) {
    let row = "a" + String(repeating: mark, count: 129)
    for body in ["<key>\(row)</key><string/>", "<key>A</key><string>\(row)</string>"] {
      let sentence = Self.sentence(body)
      #expect(sentence.contains("more than 128 combining marks in a row"), "\(sentence)")
    }
  }

  private static func refusal(_ reason: String) -> String {
    "Info.plist is not a property list (XML or binary) with a dictionary at its top: \(reason). Mend or replace the file."
  }

  @Test(arguments: [
    (
      "<key>A</key><array><dict><key>B</key><integer>1e9</integer></dict></array>",
      "line 3, A[0].B: expected a whole number of at most 64 bits in <integer>, and found \"1e9\""
    ),
    (
      "<key>A</key><integer>18446744073709551616</integer>",
      "line 3, A: expected a whole number of at most 64 bits in <integer>, and found \"18446744073709551616\""
    ),
    (
      "<key>A</key><integer>-9223372036854775809</integer>",
      "line 3, A: expected a whole number of at most 64 bits in <integer>, and found \"-9223372036854775809\""
    ),
    ("<key>A</key><integer/>", "line 3, A: expected a whole number of at most 64 bits in <integer>, and found \"\""),
    ("<key>A</key><real>much</real>", "line 3, A: expected a number in <real>, and found \"much\""),
    (
      "<key>A</key><date>2024-02-30T00:00:00Z</date>",
      "line 3, A: expected a date such as 2025-06-01T09:30:00Z in <date>, and found \"2024-02-30T00:00:00Z\""
    ),
    (
      "<key>A</key><date>NaN</date>",
      "line 3, A: expected a date such as 2025-06-01T09:30:00Z in <date>, and found \"NaN\""
    ),
    ("<key>A</key><data>AAE</data>", "line 3, A: expected base64 in <data>, and found \"AAE\""),
    ("<key>A</key><data>AA?=</data>", "line 3, A: expected base64 in <data>, and found \"AA?=\""),
    (
      "<key>A</key><true/>\n\n<key>A</key><false/>",
      "line 5, A: expected each key once, and this one is on line 3 already"
    ),
    (
      "<key>A</key><dict><key>x.y</key><true/><key>x.y</key><true/></dict>",
      "line 3, A[\"x.y\"]: expected each key once, and this one is on line 3 already"
    ),
    ("<key>A</key><key>B</key>", "line 3, A: expected a value, and found a <key>"),
    ("<string>A</string>", "line 3: expected <key> or </dict>, and found <string>"),
    ("<key>A</key><object/>", "line 3, A: expected a value, and found <object>, which property lists do not have"),
    ("<key>A</key><array>text</array>", "line 3, A[0]: expected a value or </array>, and found \"text</array></di\""),
    ("<key>A</key><string>a<b/></string>", "line 3, A: expected text and </string>, and found \"<b/></string></d\""),
    (
      "<key>A</key><string>&bomb;</string>",
      "line 3, A: expected &lt; &gt; &amp; &apos; &quot; or a character's number, and found \"&bomb;\""
    ),
    (
      "<key>A</key><string>&#xD800;</string>",
      "line 3, A: expected &lt; &gt; &amp; &apos; &quot; or a character's number, and found \"&#xD800;\""
    ),
    (
      "<key>A</key><string>a & b</string>",
      "line 3, A: expected an entity such as &amp;, and found \"& b</string></di\""
    ),
  ])
  func `a value that is none`(body: String, reason: String) {
    #expect(Self.sentence(body) == Self.refusal(reason))
  }

  @Test func `entities of a DTD are not taken, however many they would come to`() {
    let bomb = """
      <?xml version="1.0"?>
      <!DOCTYPE plist [
      <!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">
      ]>
      <plist><dict><key>A</key><string>&c;</string></dict></plist>
      """
    #expect(
      Self.sentence(Array(bomb.utf8))
        == Self.refusal(
          "line 2: expected a DOCTYPE without declarations of its own, and it has some; no property list needs any"))
  }

  @Test func `values within each other without end`() {
    for (open, close) in [("<array>", "</array>"), ("<dict><key>k</key>", "</dict>")] {
      let deep = String(repeating: open, count: 5000) + "<true/>" + String(repeating: close, count: 5000)
      let sentence = Self.sentence("<key>A</key>\(deep)")
      #expect(sentence.contains("line 3, A"))
      #expect(sentence.contains("expected at most 64 values within each other, and more are"))
    }
  }

  @Test func `a file that is cut anywhere`() throws {
    for name in ["hand-written.Info.plist", "mac-viewer.Info.plist", "watch.Info.plist", "localized.Info.plist"] {
      let whole = try ManifestFixtures.bytes(name)
      for count in 0..<whole.count {
        let sentence = Self.sentence(Array(whole[..<count]))
        // What comes behind the list can be missing.
        if sentence == "taken" {
          #expect(count > whole.count - 30, "\(name) at \(count)")
        } else {
          #expect(sentence.hasPrefix("Info.plist is not a property list"), "\(name) at \(count): \(sentence)")
        }
      }
    }
  }

  @Test func `a signature's header that says something else than is there`() throws {
    let plist = Array(Fixture.list("").utf8)
    func blob(_ length: Int, _ rest: [UInt8]) -> [UInt8] {
      [0xFA, 0xDE, 0x71, 0x71] + (0..<4).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * $0)) } + rest
    }
    #expect(Self.sentence(blob(plist.count + 8, plist)) == "taken")
    #expect(Self.sentence(blob(plist.count + 8, plist + [0x0A])) == "taken", "a line break of the terminal's")
    #expect(
      Self.sentence(blob(plist.count + 9, plist))
        == Self.refusal("its header says \(plist.count + 9) bytes of entitlements, and there are \(plist.count + 8)"))
    #expect(Self.sentence(blob(8, plist)).contains("its header says 8 bytes of entitlements, and more follow them"))
    #expect(Self.sentence(blob(8, [])) == Self.refusal("its entitlements are empty"))
    #expect(Self.sentence(Array(blob(8, [])[..<6])) == Self.refusal("it ends within the header of its entitlements"))
    let inner = blob(plist.count + 8, plist)
    #expect(Self.sentence(blob(inner.count + 8, inner)) == Self.refusal("its entitlements have a header twice"))
  }

  // MARK: - Binary

  /// A binary list of objects as they are, all offsets and references of one byte; the first is at its top.
  private static func binary(_ objects: [[UInt8]], top: UInt8 = 0) -> [UInt8] {
    var bytes = Array("bplist00".utf8)
    var offsets: [UInt8] = []
    for object in objects {
      offsets.append(UInt8(bytes.count))
      bytes += object
    }
    let table = UInt8(bytes.count)
    bytes += offsets + [0, 0, 0, 0, 0, 0, 1, 1]
    for number in [UInt8(objects.count), top, table] { bytes += [0, 0, 0, 0, 0, 0, 0, number] }
    return bytes
  }

  /// A key, in ASCII.
  private static func key(_ text: String) -> [UInt8] { [0x50 | UInt8(text.utf8.count)] + Array(text.utf8) }

  @Test func `a dictionary that has itself in it`() {
    let sentence = Self.sentence(Self.binary([[0xD1, 1, 2], Self.key("A"), [0xA1, 0]]))
    #expect(sentence == Self.refusal("A[0]: expected a value, and found one that it is itself a part of"))
  }

  @Test func `a value that is told ten times as often at each of forty depths`() {
    var objects: [[UInt8]] = [[0xD1, 1, 2], Self.key("A")]
    for depth in 0..<20 { objects.append([0xAA] + Array(repeating: UInt8(3 + depth), count: 10)) }
    objects.append([0x09])
    #expect(Self.sentence(Self.binary(objects)).contains("expected at most 200000 values"))
  }

  @Test(
    arguments: [
      (
        [[0xD1, 1, 2], [0x51, 0x41], [0x33, 0x7F, 0xF8, 0, 0, 0, 0, 0, 0]],
        "A: expected a date, and its number of seconds is nan"
      ),
      (
        [[0xD1, 1, 2], [0x51, 0x41], [0x33, 0x7F, 0xF0, 0, 0, 0, 0, 0, 0]],
        "A: expected a date, and its number of seconds is inf"
      ),
      ([[0xD1, 1, 2], [0x51, 0x41], [0x00]], "A: expected a value, and found the marker 0x0"),
      ([[0xD1, 1, 2], [0x51, 0x41], [0x15]], "A: expected a whole number of at most 64 bits, and it has 256"),
      ([[0xD1, 1, 9], [0x51, 0x41]], "A: expected one of 2 objects, and it refers to number 9"),
      ([[0xD1, 1, 1], [0x09]], "expected a string for a key, and found a boolean"),
      ([[0xD2, 1, 1, 2, 2], [0x51, 0x41], [0x09]], "A: expected each key once, and this one is there twice"),
      (
        [[0xD1, 1, 2], [0x51, 0x41], [0x5F, 0x11, 0x7F, 0xFF]], "A: expected 32767 bytes, and the file ends before them"
      ),
      ([[0xD1, 1, 2], [0x51, 0x41], [0x51, 0xFF]], "A: expected a string, and its bytes are no text"),
      ([[0xD1, 1, 2], [0x51, 0x41], [0x61, 0xD8, 0x00]], "A: expected a string, and its characters are none"),
      ([[0xD1, 1, 2], [0x51, 0x41], [0x4F, 0x09]], "A: expected a length, and found none"),
      ([[0xA0]], "at its top is an array"),
    ] as [([[UInt8]], String)])
  func `a binary list with an object that is none`(objects: [[UInt8]], reason: String) {
    #expect(Self.sentence(Self.binary(objects)) == Self.refusal(reason))
  }

  // MARK: - Anything at all

  @Test func `no mutation of any of the fixtures ends the reader, the listing or what checks it`() throws {
    var random = Seeded(seed: 7)
    let names = try ManifestFixtures.names().filter { $0 != "big.Info.plist" }
    let files = try names.map { try ManifestFixtures.bytes($0) }
    var taken = 0
    for round in 0..<4000 {
      var bytes = files[round % files.count]
      for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
        let at = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<5, using: &random) {
        case 0: bytes[at] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 2: bytes.remove(at: at)
        case 3: bytes.insert(UInt8.random(in: 0...255, using: &random), at: at)
        default:
          let other = files[Int.random(in: 0..<files.count, using: &random)]
          let from = Int.random(in: 0..<other.count, using: &random)
          bytes.replaceSubrange(at..<bytes.count, with: other[from...])
        }
      }
      do throws(AppBundleError) {
        let list = try PropertyListFile(bytes: bytes, path: "F")
        taken += 1
        let listing = ManifestListing(list)
        #expect(Set(listing.rows.map(\.path)).count == listing.rows.count)
        for fault in ShapeFault.all(in: list) { #expect(!fault.sentence.isEmpty) }
      } catch {
        #expect(error.description.hasPrefix("F is not a property list"))
      }
    }
    #expect(taken > 100, "the damage must leave some lists whole, or this shows nothing")
  }
}
