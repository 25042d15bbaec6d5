import SystemPackage
import Testing

@testable import Kernel

/// Names are bytes to the kernel, and texts here.
@Suite struct `Names as texts` {
  static let names: [[UInt8]] = [
    [], Array("letter.txt".utf8), Array("Bäume 🌳".utf8), [0xE9], Array("caf".utf8) + [0xE9] + Array(".txt".utf8),
    // Cut off, overlong, a surrogate, beyond the last scalar.
    [0xC3], [0xE2, 0x82], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xF0, 0x9F, 0x8C],
    // The scalars that stand for bytes, themselves, and those beside them.
    Array("\u{10FE80}\u{10FEFF}".utf8), Array("\u{10FE7F}\u{10FF00}".utf8), [0x80, 0xFF, 0x41, 0xFE],
  ]

  @Test(arguments: names) func `every name comes back as it was`(bytes: [UInt8]) {
    let text = String(kernel: bytes)
    #expect(text.kernelBytes == bytes)
    #expect(text.kernel == bytes.map(CChar.init(bitPattern:)) + [0])
    if let plain = String(validating: bytes, as: UTF8.self), !bytes.starts(with: "\u{10FE80}".utf8) {
      #expect(text.isText && Array(text.utf8) == Array(plain.utf8) && text.shown == plain && text.repaired == plain)
    } else {
      #expect(!text.isText)
    }
  }

  @Test func `no two names have the same text`() {
    var random = SystemRandomNumberGenerator()
    // Those that decoding is made of, so that some are whole and most are not.
    let choice: [UInt8] = [0x41, 0x80, 0xBA, 0xBB, 0x8F, 0xC3, 0xA9, 0xE2, 0x82, 0xAC, 0xF4, 0xF0, 0xFF]
    // Texts are equal that look alike (U+2000 and U+2002): what counts is what is written.
    var seen: [[UInt8]: [UInt8]] = [:]
    for _ in 0..<20_000 {
      let bytes = (0..<Int.random(in: 1...6, using: &random)).map { _ in choice.randomElement(using: &random) ?? 0 }
      let text = String(kernel: bytes)
      #expect(text.kernelBytes == bytes)
      if let other = seen[Array(text.utf8)] { #expect(other == bytes) }
      seen[Array(text.utf8)] = bytes
    }
  }

  @Test func `a text with a NUL leads nowhere, and not to what its beginning names`() {
    for path in ["/tmp/..\0", "/\0", "\0", "/tmp\0/x"] {
      let error = #expect(throws: KernelError.self) { try Descriptor.open(path, flags: [.path]) }
      #expect(error?.errno == .fileNameTooLong)
    }
  }

  @Test func `people are shown the byte, programs a sign that one is missing`() {
    let text = String(kernel: Array("caf".utf8) + [0xE9] + Array(".txt".utf8))
    #expect(text.shown == "caf\\xE9.txt" && text.repaired == "caf\u{FFFD}.txt")
    #expect("\(KernelError("open", text, errno: .noSuchFileOrDirectory))".hasPrefix("open caf\\xE9.txt: "))
  }

  /// Who makes a text by hand gets no byte by it that means something in a path.
  @Test func `a text made by hand leads nowhere else`() {
    let scalars = (UInt32(0x10FE00)...0x10FE7F).compactMap(Unicode.Scalar.init)
    let text = String(String.UnicodeScalarView(scalars))
    #expect(text.kernelBytes == Array(text.utf8))
  }

  @Test func `what has such a name is made, read, renamed and removed`() throws {
    let folder = try Folder()
    let all = try Descriptor.open(folder.path, flags: [.read, .directory])
    let (one, other) = (String(kernel: [0x61, 0xE9]), String(kernel: [0x61, 0xE8]))
    _ = try Descriptor.open(one, below: all, flags: [.write, .create, .exclusive], mode: 0o600)
    let made = try Descriptor.open(one, below: all, flags: .place)
    #expect(made.currentPath == "\(folder.path)/\(one)" && made.currentPath?.kernelBytes.last == 0xE9)
    #expect(try DirectoryReader.entries(of: all).map(\.name) == [one])
    var scan = FolderScan()
    #expect(try scan.read(all) { _, _ in true }.entries.map(\.name) == [one])
    let isWhole = try scan.eachPart(of: all) { $0.map(\.name) == [one] }
    #expect(isWhole)
    try all.rename(one, to: other)
    #expect(all.hasRegularFile(other) && !all.hasRegularFile(one))
    try all.makeDirectory(one, mode: 0o700)
    let inner = try Descriptor.open(one, below: all, flags: [.read, .directory])
    try inner.makeDirectory(other, mode: 0o700)
    try all.removeContents()
    #expect(try DirectoryReader.entries(of: all).isEmpty)
  }
}
