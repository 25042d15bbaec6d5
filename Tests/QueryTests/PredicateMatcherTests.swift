import Foundation
import Query
import TestSupport
import Testing

@Suite struct `A predicate` {
  static let letter = MetadataRecord(
    path: "/home/user/Documents/Work/Résumé 2.txt", size: 1200, created: 1_000_000_000,
    modified: 2_000_000_000_000_000_000,
    container: "Editor")
  static let folder = MetadataRecord(path: "/home/user/Documents/Work", kind: .folder, modified: 5)
  static let picture = MetadataRecord(
    isExternal: true, path: "/documents/abc/PHOTO.JPG", size: 0, isWritable: false, container: "Photos",
    reference: "/home/user/Documents/PHOTO.JPG.ambitref", grant: "abc")

  /// A format, and whether it is true of the letter, the folder and the picture.
  static let table: [(String, Bool, Bool, Bool)] = [
    ("TRUEPREDICATE", true, true, true),
    ("FALSEPREDICATE", false, false, false),
    ("kMDItemFSName == 'Work'", false, true, false),
    ("kMDItemFSName ==[c] 'work'", false, true, false),
    ("kMDItemFSName != 'Work'", true, false, true),
    ("kMDItemFSName ==[cd] 'resume 2.TXT'", true, false, false),
    ("kMDItemFSName ==[d] 'Resume 2.txt'", true, false, false),
    ("kMDItemFSName == 'Re\u{301}sume\u{301} 2.txt'", true, false, false),
    ("kMDItemFSName CONTAINS 'sum'", true, false, false),
    ("kMDItemFSName CONTAINS[cd] 'ESUME'", true, false, false),
    ("kMDItemFSName BEGINSWITH 'R'", true, false, false),
    ("kMDItemFSName BEGINSWITH[c] 'w'", false, true, false),
    ("kMDItemFSName ENDSWITH[c] '.jpg'", false, false, true),
    ("kMDItemFSName ENDSWITH '.jpg'", false, false, false),
    ("kMDItemFSName LIKE '*.txt'", true, false, false),
    ("kMDItemFSName LIKE[c] '?????.jpg'", false, false, true),
    ("kMDItemFSName LIKE '????'", false, true, false),
    ("kMDItemFSName LIKE '*'", true, true, true),
    ("kMDItemFSName LIKE 'W*r*k'", false, true, false),
    ("kMDItemFSName MATCHES '.*\\\\.(txt|md)'", true, false, false),
    ("kMDItemFSName MATCHES 'W.{3}'", false, true, false),
    ("kMDItemFSName MATCHES 'ork'", false, false, false),
    ("kMDItemFSName MATCHES[c] '[a-z]+\\\\.jp(e)?g'", false, false, true),
    ("kMDItemFSName MATCHES '(?i)photo.*'", false, false, true),
    ("kMDItemFSName MATCHES '^\\\\w+$'", false, true, false),
    ("kMDItemFSName MATCHES '[^.]*'", false, true, false),
    ("kMDItemFSName IN {'Work', 'PHOTO.JPG'}", false, true, true),
    ("kMDItemFSName IN[c] {'work'}", false, true, false),
    ("'ork' IN kMDItemFSName", false, true, false),
    ("kMDItemDisplayName == 'PHOTO'", false, false, true),
    ("kMDItemDisplayName == 'Work'", false, true, false),
    ("kMDItemPath BEGINSWITH '/documents/'", false, false, true),
    ("kMDItemFSSize > 1000", true, false, false),
    ("kMDItemFSSize >= 1200 AND kMDItemFSSize <= 1200.0", true, false, false),
    ("kMDItemFSSize == 0", false, false, true),
    ("kMDItemFSSize < 1", false, false, true),
    ("kMDItemFSSize == nil", false, true, false),
    ("kMDItemFSSize != nil", true, false, true),
    ("kMDItemFSSize BETWEEN {1000, 1200}", true, false, false),
    ("1000 < kMDItemFSSize", true, false, false),
    ("kMDItemFSSize != 5", true, true, true),
    ("kMDItemFSName == 5", false, false, false),
    ("kMDItemFSName > 5", false, false, false),
    ("kMDItemFSName < 'S'", true, false, true),
    ("kMDItemContentType == 'public.jpeg'", false, false, true),
    ("kMDItemContentTypeTree == 'public.image'", false, false, true),
    ("ANY kMDItemContentTypeTree == 'public.item'", true, true, true),
    ("'public.text' IN kMDItemContentTypeTree", true, false, false),
    ("NSMetadataUbiquitousItemIsExternalDocumentKey == YES", false, false, true),
    ("NSMetadataUbiquitousItemIsExternalDocumentKey == 0", true, true, false),
    ("NSMetadataUbiquitousItemContainerDisplayNameKey == 'Photos'", false, false, true),
    ("NSMetadataUbiquitousItemURLInLocalContainerKey != nil", false, false, true),
    ("unknownKey == 1", false, false, false),
    ("unknownKey == nil", true, true, true),
    ("kMDItemFSName == 'Work' OR kMDItemFSSize == 0", false, true, true),
    ("NOT kMDItemFSName == 'Work' AND kMDItemFSSize > 5", true, false, false),
    ("kMDItemFSName CONTAINS ''", true, true, true),
  ]

  @Test(arguments: table) func `is evaluated for each item`(_ row: (String, Bool, Bool, Bool)) throws {
    let matcher = PredicateMatcher(try PredicateParser.parse(row.0))
    #expect(matcher.matches(Self.letter) == row.1, "\(row.0): letter")
    #expect(matcher.matches(Self.folder) == row.2, "\(row.0): folder")
    #expect(matcher.matches(Self.picture) == row.3, "\(row.0): picture")
  }

  @Test func `compares dates as Foundation counts them`() throws {
    let date = Date(timeIntervalSince1970: 2_000_000_000)
    func matches(_ format: String, _ date: Date) throws -> Bool {
      let value = MetadataValue.date(date.timeIntervalSinceReferenceDate)
      return PredicateMatcher(try PredicateParser.parse(format, [.value(value)])).matches(Self.letter)
    }
    #expect(try matches("kMDItemFSContentChangeDate == %@", date))
    #expect(try matches("kMDItemFSContentChangeDate >= %@", date))
    #expect(try !matches("kMDItemFSContentChangeDate > %@", date))
    #expect(try matches("kMDItemFSContentChangeDate < %@", date.addingTimeInterval(0.001)))
    #expect(try !matches("kMDItemFSCreationDate > %@", date))
  }

  /// A pattern that would take a backtracking engine longer than anybody lives.
  @Test func `never takes long for a pattern`() throws {
    let name = String(repeating: "a", count: 250) + "!"
    let record = MetadataRecord(path: "/home/user/Documents/\(name)")
    for pattern in ["(a+)+$", "(a|a)*b", "(a?){64}a{64}b", "([a-z]*)*x"] {
      let comparison = MetadataComparison(
        .key(MetadataAttribute.name.rawValue), .matches, .value(.text(pattern)))
      #expect(try !TextPattern(pattern, .matches, []).matches(name))
      #expect(!PredicateMatcher(.comparison(comparison)).matches(record))
    }
  }

  @Test(arguments: [
    "(", ")", "[", "a{2,1}", "a**", "*", "\\", "\\1", "a{999}", "[z-a]", "(?<x>a)", "a*+",
    "((((((((){64}){64}){64}){64}){64}){64}){64}){64}",
  ])
  func `refuses a pattern that it does not have`(_ pattern: String) {
    #expect(throws: PatternError.self) { try TextPattern(pattern, .matches, []) }
  }

  /// The index of names has their folded form. Whatever is compared in another form is found in that one as well.
  @Test func `finds in the folded form what any form finds`() {
    let forms: [TextOptions] = [[], .caseInsensitive, .diacriticInsensitive]
    func agree(_ text: String) -> Bool {
      let folded = SearchText.folded(text, .both)
      return forms.allSatisfy { SearchText.folded(SearchText.folded(text, $0), .both) == folded }
    }
    let scalars = (UInt32(0)...0x2FFFF).compactMap(Unicode.Scalar.init).map { "x\($0)y" }
    // Many at once, since a call takes longer than its text; one at a time where they differ.
    let wrong = stride(from: 0, to: scalars.count, by: 512).flatMap { start in
      let texts = scalars[start..<min(start + 512, scalars.count)]
      return agree(texts.joined()) ? [] : texts.filter { !agree($0) }
    }
    #expect(wrong.isEmpty, "\(wrong.prefix(20))")
  }
}
