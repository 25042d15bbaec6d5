import Foundation
import TestSupport
import Testing

@testable import ContentTypes

/// With the database of this machine.
@Suite struct TypeDeciderTests {
  private let decider = TypeDecider.system
  private let database = MimeDatabase(folders: MimeDatabase.folders(environment: [:]))

  /// The beginning of a PDF file.
  private static let pdf = ["%PDF", "1.7\n"].joined(separator: "-")

  private func type(_ name: String, _ content: String? = nil) -> TypeDecision {
    let bytes = content.map { Array($0.utf8) }
    return decider.decide(name, .file(size: Int64(bytes?.count ?? 1))) { bytes }
  }

  @Test func `has every type of the database, without a circle, there and back`() {
    #expect(database.types.count > 500)
    for mime in database.types {
      let identifier = decider.tree.identifier(ofMimeType: mime)
      let declaration = decider.tree[identifier]
      #expect(declaration?.mimeTypes.contains(mime) == true, "\(mime): \(identifier)")
      for parent in declaration?.conformsTo ?? [] {
        #expect(decider.tree[parent] != nil, "\(identifier): \(parent)")
        #expect(!decider.tree.conforms(parent, to: identifier), "\(identifier): \(parent)")
      }
      if mime.hasPrefix("image/") { #expect(decider.tree.conforms(identifier, to: "public.image"), "\(mime)") }
    }
  }

  @Test(arguments: [
    ("a.txt", "public.plain-text", "text/plain"), ("a.png", "public.png", "image/png"),
    ("A.PNG", "public.png", "image/png"), ("Makefile", "public.make-source", "text/x-makefile"),
    ("a.tar.gz", "org.gnu.gnu-zip-tar-archive", "application/x-compressed-tar"),
    ("a.svg", "public.svg-image", "image/svg+xml"),
    ("a.gz", "org.gnu.gnu-zip-archive", "application/gzip"), ("a.odt", "org.oasis-open.opendocument.text", nil),
    ("a.blend", "org.freedesktop.mime.application.x-blender", "application/x-blender"),
  ])
  func `goes by the name`(name: String, identifier: String, mime: String?) {
    let found = type(name)
    #expect(found.identifier == identifier)
    if let mime { #expect(found.mimeType == mime) }
    #expect(found.rule == .name && found.candidates.first?.hasWon == true)
  }

  @Test func `goes by the content where the name says nothing`() {
    #expect(type("noname", Self.pdf).mimeType == "application/pdf")
    #expect(type("noname", Self.pdf).rule == .content)
    #expect(type("noname", "some words").identifier == "public.plain-text")
    #expect(type("noname", "\u{0}\u{1}").identifier == "public.data")
    // The name wins over what the content looks like.
    #expect(type("a.png", Self.pdf).identifier == "public.png")
    #expect(type("a.frobnicate", "\u{0}\u{1}").rule == .dynamic)
    #expect(decider.decide("Papers", .folder).identifier == "public.folder")
    #expect(decider.decide("A.rtfd", .folder).identifier == "com.apple.rtfd")
    #expect(decider.decide("pipe", .pipe).mimeType == "inode/fifo")
  }

  @Test func `an app's own type is decided by its extension, and named with the app`() {
    let own = TypeDeclaration(
      identifier: "org.a.note", conformsTo: ["public.text"], extensions: ["anote"], origin: .exported(by: "org.a"))
    let known = TypeDeclaration(
      identifier: "org.b.memo", conformsTo: ["public.data"], extensions: ["bmemo", "txt"],
      origin: .imported(by: "org.a"))
    let decider = decider.adding([own, known])
    let first = decider.decide("x.anote", .file(size: 1))
    #expect(first.identifier == "org.a.note" && first.rule == .exported)
    #expect(first.candidates.first?.reason.contains("org.a") == true)
    #expect(decider.decide("x.bmemo", .file(size: 1)).identifier == "org.b.memo")
    // What the machine knows goes before what an app says of somebody else's type; that is shown all the same.
    let text = decider.decide("x.txt", .file(size: 1))
    #expect(text.identifier == "public.plain-text" && text.candidates.map(\.identifier).contains("org.b.memo"))
  }

  @Test func `a broken cache answers nothing, and nothing else`() throws {
    let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: "/usr/share/mime/mime.cache")))
    #expect(MimeCache([]) == nil && MimeCache(Array(bytes.prefix(20))) == nil)
    var random = Seeded(seed: 7)
    for round in 0..<Rounds.few(60, of: 200) {
      var broken = bytes
      if round % 4 == 0 { broken = Array(bytes.prefix(Int.random(in: 40..<bytes.count, using: &random))) }
      for _ in 0..<64 {
        let at = Int.random(in: 4..<broken.count, using: &random)
        broken[at] = UInt8.random(in: .min ... .max, using: &random)
      }
      guard let cache = MimeCache(broken) else { continue }
      _ = cache.suffixMatches(Array("a.tar.gz".utf8), caseSensitive: false)
      _ = cache.sniff(Array(Self.pdf.utf8))
      if round < 20 { _ = (cache.aliases.count, cache.parents.count, cache.suffixes.count, cache.globs.count) }
    }
  }

  @Test func `patterns match as in a shell`() {
    #expect(Glob.matches("*.[1-9]", "ls.1") && !Glob.matches("*.[1-9]", "ls.0"))
    #expect(Glob.matches("core", "core") && Glob.matches("*~", "a~") && !Glob.matches("*~", "~a"))
    #expect(Glob.matches("a?c*", "abcd") && !Glob.matches("[!a]b", "ab") && Glob.matches("[!a]b", "cb"))
    #expect(Glob.matches("*a*b", "xaxxb") && !Glob.matches("*a*b", "xaxxbc"))
  }
}
