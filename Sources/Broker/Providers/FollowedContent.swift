internal import BrokerCore
internal import Cryptography
internal import Kernel
internal import Synchronization
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// A content that is copied into its placeholder while its provider still writes it, in a thread of its own. A provider may write in any
/// order. So the copied pieces are compared at the end, and copied again where the content has changed.
final class FollowedContent: Sendable {
  /// Bytes. A smaller content is copied when it is whole: that is quick.
  static let least = 16 << 20

  /// The placeholder, and the content that it gets.
  struct Order: Sendable {
    let size: Int
    /// Nanoseconds since 1970.
    let modified: Int
    let isWritable: Bool
    let place: @Sendable () throws(KernelError) -> Descriptor
    /// The file that the provider writes, when there is one.
    let source: @Sendable () -> Descriptor?
  }

  private enum Stage {
    case coming
    case whole(Descriptor)
    case unwanted
  }

  private let order: Order
  private let stage = Mutex(Stage.coming)
  private let rest = Mutex<Result<Void, KernelError>?>(nil)

  init(_ order: Order) { self.order = order }

  /// The provider has finished.
  func finish(with content: Descriptor) { stage.withLock { $0 = .whole(content) } }

  /// The content does not come. What is in the placeholder goes.
  func giveUp() { stage.withLock { $0 = .unwanted } }

  // MARK: The thread

  /// Copies until the content is there, or is given up: `ECANCELED`.
  func carryOut(_ beat: Jobs.Heartbeat) -> Result<Void, KernelError> {
    var look = Look()
    var beginning: Beginning?
    var pause = Self.shortestPause
    while beat.beat() {
      switch stage.withLock({ $0 }) {
      case .unwanted: return ended(beginning)
      case .whole(let content):
        return Result { () throws(KernelError) in try complete(content, beginning, beat) }
      case .coming: break
      }
      var isGrowing = false
      do throws(KernelError) {
        if beginning == nil, let source = look.growingFile(order.source) { beginning = try begin(source) }
        isGrowing = try beginning?.copyNext() ?? false
      } catch {
        // The whole content is copied later, and has the same error if that lasts.
        beginning?.filling.giveUp()
        beginning = nil
        look.isOver = true
      }
      pause = isGrowing ? Self.shortestPause : min(pause * 2, Self.longestPause)
      if !isGrowing { usleep(pause) }
    }
    return ended(beginning)
  }

  /// Microseconds.
  private static var shortestPause: UInt32 { 500 }
  private static var longestPause: UInt32 { 64_000 }

  private func ended(_ beginning: Beginning?) -> Result<Void, KernelError> {
    beginning?.filling.giveUp()
    return .failure(KernelError("copy_file_range", errno: .canceled))
  }

  /// A look for a file that becomes larger. One that does not may be of an earlier version.
  private struct Look {
    var isOver = false
    private var last: FileStatus?

    mutating func growingFile(_ find: () -> Descriptor?) -> Descriptor? {
      guard !isOver, let file = find(), let status = try? file.status() else { return nil }
      defer { last = status }
      guard let last, last.isOfSameFile(as: status), last.size < status.size else { return nil }
      return file
    }
  }

  private func begin(_ source: Descriptor) throws(KernelError) -> Beginning {
    let filling = try PlaceholderFilling(order.place(), size: order.size, modified: order.modified)
    // Where files share their blocks, the copy takes no time.
    guard try !filling.shares(source) else {
      filling.giveUp()
      throw KernelError("copy_file_range", errno: .fileExists)
    }
    return Beginning(source: source, filling: filling, size: UInt64(order.size))
  }

  private func complete(
    _ content: Descriptor, _ beginning: Beginning?, _ beat: Jobs.Heartbeat
  ) throws(KernelError) {
    let status = try content.status()
    guard var beginning, try status.isOfSameFile(as: beginning.source.status()), status.size == UInt64(order.size)
    else {
      beginning?.filling.giveUp()
      return try Placeholder.fill(
        order.place(), with: content, size: order.size, modified: order.modified, isWritable: order.isWritable,
        while: beat.beat, beforeDisk: beat.waitForDisk)
    }
    let (filling, end) = (beginning.filling, beginning.end)
    @Sendable func copyRest() {
      let result = Result { () throws(KernelError) in try filling.copy(content, from: end, while: beat.beat) }
      rest.withLock { $0 = result }
    }
    do throws(KernelError) {
      let worker = try? Worker(copyRest)
      let compared = Result { () throws(KernelError) in try beginning.compare(while: beat.beat) }
      if let worker { worker.finish() } else { copyRest() }
      try compared.get()
      try rest.withLock { $0 }?.get()
      try filling.finish(isWritable: order.isWritable, beforeDisk: beat.waitForDisk)
    } catch {
      filling.giveUp()
      throw error
    }
  }

  /// The pieces that were copied before the content was whole.
  private struct Beginning {
    let source: Descriptor
    let filling: PlaceholderFilling
    /// Bytes of the whole content.
    let size: UInt64
    private var codes: [UInt64] = []
    private var mac = UMAC64()
    private var piece = [UInt8](repeating: 0, count: 256 << 10)
    /// Pieces.
    private static var writtenAtOnce: Int { 128 }

    init(source: Descriptor, filling: PlaceholderFilling, size: UInt64) {
      (self.source, self.filling, self.size) = (source, filling, size)
    }

    var end: UInt64 { UInt64(codes.count * piece.count) }

    /// - Returns: `false`: the next piece is not there yet.
    mutating func copyNext() throws(KernelError) -> Bool {
      let next = end..<(end + UInt64(piece.count))
      guard next.upperBound <= size, source.isDense(next), try source.readBytes(into: &piece, at: end) == piece.count
      else {
        return false
      }
      try filling.write(piece, at: end)
      codes.append(mac.code(of: piece, number: UInt64(codes.count)))
      if codes.count.isMultiple(of: Self.writtenAtOnce) { filling.beginWriting() }
      return true
    }

    /// Copies the pieces again that have changed.
    ///
    /// - Throws: `EIO`: the content became shorter.
    mutating func compare(while isWanted: () -> Bool) throws(KernelError) {
      for (number, code) in codes.enumerated() {
        guard isWanted() else { throw KernelError("copy_file_range", errno: .canceled) }
        let offset = UInt64(number * piece.count)
        guard try source.readBytes(into: &piece, at: offset) == piece.count else {
          throw KernelError("copy_file_range", errno: .ioError)
        }
        if mac.code(of: piece, number: UInt64(number)) != code { try filling.write(piece, at: offset) }
      }
    }
  }
}

extension FileStatus {
  fileprivate func isOfSameFile(as other: FileStatus) -> Bool { inode == other.inode && device == other.device }
}
