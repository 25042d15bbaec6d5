import Kernel
import TestSupport
import Testing

@testable import Broker

@Suite struct `What an extension writes to its standard error` {
  private func lines(of text: String) throws -> [String] {
    var lines: [String] = []
    var pipe: (reading: Descriptor, writing: Descriptor)? = try Descriptor.pipe()
    let (reading, writer) = try {
      let ends = try #require(pipe)
      return (ends.reading, try Worker { [writing = ends.writing] in try? writing.writeAll(Array(text.utf8)) })
    }()
    // Only the writer has the other end now.
    pipe = nil
    ExtensionOutput.keep(reading) { lines.append($0) }
    writer.finish()
    return lines
  }

  @Test func `comes line by line, also without an end of the last one`() throws {
    #expect(try lines(of: "one\ntwo\n\nthree") == ["one", "two", "", "three"])
    #expect(try lines(of: "").isEmpty)
  }

  @Test func `is cut where it has no end`() throws {
    let lines = try lines(of: String(repeating: "0123456789\n", count: 100_000))
    #expect(lines.reduce(0) { $0 + $1.utf8.count + 1 } <= ExtensionOutput.most + 100)
    #expect(lines.last?.hasSuffix("… and more") == true)
  }
}
