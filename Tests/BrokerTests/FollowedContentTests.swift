import BrokerCore
import Foundation
import Kernel
import SystemPackage
import TestSupport
import Testing

@testable import Broker

#if canImport(Glibc)
  import Glibc
#endif

/// Contents that are copied while their provider writes them.
@Suite struct `Followed contents` {
  /// A placeholder, a content that grows, and the thread that follows it.
  private struct Following {
    let temporary: TemporaryFolder
    let place: Descriptor
    let content: FollowedContent
    let thread: OwnThread<Result<Void, KernelError>>
    var path: String { "\(temporary.path)/content" }

    init(size: Int) throws {
      let temporary = try TemporaryFolder()
      let folder = try Descriptor.open(temporary.path, flags: [.read, .directory])
      _ = try Placeholder.make("document", in: folder, by: nil, size: size, modified: 1_000_000_000)
      let place = try Descriptor.open("document", below: folder, flags: .place)
      let path = try temporary.write("content", "")
      let content = FollowedContent(
        .init(
          size: size, modified: 1_000_000_000, isWritable: true, place: { place },
          source: { try? Descriptor.open(path, flags: .read) }))
      (self.temporary, self.place, self.content) = (temporary, place, content)
      thread = OwnThread { content.carryOut(.init()) }
    }

    func write(_ bytes: Data, at offset: Int) throws {
      let file = try FileHandle(forUpdating: URL(filePath: path))
      try file.seek(toOffset: UInt64(offset))
      try file.write(contentsOf: bytes)
      try file.close()
    }

    /// Waits until the placeholder has so many bytes. It grows only when the content does after the first look.
    func awaitCopy(_ size: Int) throws {
      try Deadline.wait(for: "a copy of \(size) bytes") { try place.status().size == size }
    }

    func finish() throws -> KernelError? {
      content.finish(with: try Descriptor.open(path, flags: .read))
      return try thread.value().failure
    }

    func document() throws -> Data {
      #expect(try place.status().mode & 0o777 == 0o600 && place.status().modified == 1_000_000_000)
      return try Data(contentsOf: URL(filePath: "\(temporary.path)/document"))
    }

    /// Size and date are the placeholder's, and no byte of the disk is taken.
    func expectPlaceholder(of size: Int) throws {
      let status = try place.status()
      #expect(status.size == size && status.mode & 0o777 == 0 && status.modified == 1_000_000_000 && place.room == 0)
    }
  }

  private func bytes(_ count: Int, _ seed: UInt8) -> Data {
    Data((0..<count).map { UInt8(truncatingIfNeeded: $0 / 251) ^ UInt8(truncatingIfNeeded: $0) &+ seed })
  }
  private let piece = 256 << 10

  /// Begins with so many pieces that are followed.
  private func follow(_ whole: Data, pieces: Int) throws -> Following {
    let following = try Following(size: whole.count)
    try following.write(whole.prefix(100), at: 0)
    // It was seen with this size. Then it grows.
    usleep(200_000)
    try following.write(whole.prefix(pieces * piece), at: 0)
    try following.awaitCopy(pieces * piece)
    return following
  }

  @Test func `PRV-1: a content arrives as it is in the end, in whatever order it was written`() throws {
    var whole = bytes(5 * piece + 17, 1)
    let following = try follow(whole, pieces: 3)
    // Pieces that were copied change: a byte, and one at a border.
    for offset in [7, piece, 3 * piece - 1] {
      whole[offset] ^= 0xFF
      try following.write(whole[offset...offset], at: offset)
    }
    try following.write(whole.suffix(from: 3 * piece), at: 3 * piece)
    #expect(try following.finish() == nil)
    #expect(try following.document() == whole)
  }

  @Test func `PRV-1: a content in another file in the end is copied from there`() throws {
    let following = try follow(bytes(2 * piece + 1, 1), pieces: 2)
    let other = bytes(2 * piece + 1, 2)
    try other.write(to: URL(filePath: "\(following.path).new"))
    #expect(unsafe rename("\(following.path).new", following.path) == 0)
    #expect(try following.finish() == nil)
    #expect(try following.document() == other)
  }

  @Test func `PRV-1: holes stay holes, and what is written into them later arrives`() throws {
    let whole = bytes(piece, 1) + Data(count: 8 * piece) + bytes(piece, 3) + Data(count: 4 * piece)
    let following = try follow(whole, pieces: 1)
    let file = try Descriptor.open(following.path, flags: .readWrite)
    try file.cut(at: UInt64(whole.count))
    try following.write(bytes(piece, 3), at: 9 * piece)
    #expect(try following.finish() == nil)
    #expect(try following.document() == whole)
    #expect(following.place.room < 3 * piece)
  }

  @Test func `PRV-22: of a content that becomes shorter nothing can be read`() throws {
    let whole = bytes(3 * piece, 1)
    let following = try follow(whole, pieces: 2)
    try Descriptor.open(following.path, flags: .readWrite).cut(at: UInt64(piece))
    #expect(try following.finish()?.errno == .ioError)
    try following.expectPlaceholder(of: whole.count)
  }

  @Test func `PRV-22: a content that does not come leaves a placeholder`() throws {
    let whole = bytes(3 * piece, 1)
    let following = try follow(whole, pieces: 2)
    following.content.giveUp()
    #expect(try following.thread.value().failure?.errno == .canceled)
    try following.expectPlaceholder(of: whole.count)
  }

  @Test func `PRV-4: a document that can be read is not written over by a content that comes`() throws {
    let whole = bytes(3 * piece, 1)
    let following = try Following(size: whole.count)
    let path = "\(following.temporary.path)/document"
    #expect(unsafe chmod(path, 0o600) == 0)
    let own = try Descriptor.open(path, flags: .readWrite)
    try own.writeAll(Array("EDIT".utf8))
    for count in 1...3 {
      try following.write(whole.prefix(count * piece), at: 0)
      usleep(50_000)
    }
    #expect(try following.finish()?.errno == .fileExists)
    #expect(try Data(contentsOf: URL(filePath: path)).prefix(4) == Data("EDIT".utf8))
  }
}

extension Result {
  fileprivate var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
