import Testing

@testable import Thumbnails

@Suite struct `Pictures of strangers` {
  private static let picture = PNG(width: 2, height: 1, pixels: [255, 0, 0, 255, 0, 255, 0, 128])

  /// A chunk with its checksum, made by the encoder itself.
  private static func inserted(_ chunk: [UInt8], after header: Int = 33) -> [UInt8] {
    let bytes = picture.encoded
    return Array(bytes[..<header]) + chunk + Array(bytes[header...])
  }

  @Test func `A picture is read as it was written, with its texts`() throws {
    var picture = Self.picture
    picture.texts = ["Thumb::URI": "file:///a%20b", "Software": "Ambit"]
    let read = try PNG(picture.encoded, longest: 2)
    #expect(read == picture)
    #expect((read.width, read.height) == (2, 1))
  }

  @Test func `Every byte that is changed or missing makes it damaged, and nothing else happens`() throws {
    let bytes = Self.picture.encoded
    for index in bytes.indices {
      var changed = bytes
      changed[index] ^= 0x40
      #expect(throws: PNG.Fault.self) { try PNG(changed, longest: 1024) }
      #expect(throws: PNG.Fault.self) { try PNG(Array(bytes[..<index]), longest: 1024) }
    }
  }

  @Test func `More pixels than were asked for are refused by the header alone`() {
    let large = PNG(width: 1, height: 300, pixels: Array(repeating: 0, count: 1200))
    #expect(throws: PNG.Fault.tooLarge(width: 1, height: 300)) { try PNG(large.encoded, longest: 256) }
  }

  @Test func `Chunks that no picture needs are dropped, and so is everything behind the end`() throws {
    var texted = Self.picture
    texted.texts = ["a": "b"]
    // The text's chunk, with another name of the same length: an unknown chunk needs its own checksum, so it is taken from a file.
    let bytes = texted.encoded + Array("rest".utf8)
    #expect(try PNG(bytes, longest: 2).encoded == texted.encoded)
  }

  @Test(arguments: [[], [0x89], Array("GIF89a".utf8), [UInt8](repeating: 0, count: 100)] as [[UInt8]])
  func `What is no picture is none`(bytes: [UInt8]) {
    #expect(throws: PNG.Fault.notPNG) { try PNG(bytes, longest: 10) }
  }

  @Test func `A second header is damage: a decoder might take its size`() {
    let header = Array(Self.picture.encoded[8..<33])
    #expect(throws: PNG.Fault.damaged) { try PNG(Self.inserted(header), longest: 10) }
  }

  @Test func `A length that leads beyond the file is damage`() {
    var bytes = Self.picture.encoded
    bytes[8] = 0xFF
    #expect(throws: PNG.Fault.damaged) { try PNG(bytes, longest: 10) }
  }
}

@Suite struct `The choice of a program` {
  private static let own = Thumbnailer(
    kind: .app("org.example.notes"), program: "/Apps/N.app/PlugIns/T.appex/T", arguments: [],
    types: ["org.example.note"], smallest: 200)
  private static let system = Thumbnailer(
    kind: .system("x.thumbnailer"), program: "/usr/bin/x", arguments: [], types: ["text/plain"])

  private func choice(_ type: String, exporter: String?, size: Int = 256) -> (String?, [String]) {
    let (chosen, passed) = ThumbnailRules.choice(
      [Self.own, Self.system], type: type, mimeType: "text/plain", exporter: exporter, size: size)
    return (chosen?.name, passed.map(\.reason))
  }

  @Test func `THM-1: an extension is asked for the very type that its app exports`() {
    #expect(choice("org.example.note", exporter: "org.example.notes").0 == "org.example.notes")
    // A type that conforms to it is another type.
    #expect(choice("org.example.note.draft", exporter: "org.example.notes").0 == "x.thumbnailer")
    let (chosen, passed) = choice("org.example.note", exporter: "org.example.other")
    #expect(chosen == "x.thumbnailer")
    #expect(passed == ["its app does not export org.example.note"])
    #expect(choice("org.example.note", exporter: nil).0 == "x.thumbnailer")
  }

  @Test func `THM-2: smaller requests than its least dimension do not call it`() {
    #expect(choice("org.example.note", exporter: "org.example.notes", size: 128).0 == "x.thumbnailer")
    #expect(choice("org.example.note", exporter: "org.example.notes", size: 200).0 == "org.example.notes")
  }

  @Test func `A system's file says command and types; what only a shell understands is no command`() {
    let file = ThumbnailerFile(
      "# c\n[Thumbnailer Entry]\nTryExec = draw\nExec=draw --size %s \"a b\" %u %o\nMimeType=image/png;image/x;\n[Other]\nExec=no\n"
    )
    #expect(file?.words == ["draw", "--size", "%s", "a b", "%u", "%o"])
    #expect(file?.mimeTypes == ["image/png", "image/x"])
    #expect(file?.tryExec == "draw")
    for command in ["sh -c 'x'", "a | b", "a > b", "a $(b)", "a `b`", "a; b", "a \"b", ""] {
      #expect(ThumbnailerFile("[Thumbnailer Entry]\nExec=\(command)\nMimeType=a/b;\n") == nil, "\(command)")
    }
    #expect(ThumbnailerFile("[Thumbnailer Entry]\nExec=a\n") == nil)
  }

  @Test func `Arguments have the document, the size and the picture in their places`() {
    let thumbnailer = Thumbnailer(
      kind: .system("x"), program: "/x", arguments: ["-s", "%s", "%u", "%i", "--to=%o", "100%%", "%x", "%"], types: [])
    #expect(
      thumbnailer.arguments(document: "/d/a b", size: 256, output: "/o.png")
        == ["-s", "256", "file:///d/a%20b", "/d/a b", "--to=/o.png", "100%", "", ""])
  }
}
