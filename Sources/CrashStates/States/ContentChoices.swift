/// What a crash may have left of one file's content.
///
/// The blocks of writes since the last `fsync(2)` reach the disk in any order, each whole, not at all, or one half of it. Sizes change
/// in order, and may be ahead of the content, which is zeros then.
struct ContentChoices: Sendable {
  /// The part of a fragment that is on the disk, by the number of its choice.
  private enum Part: Int, Sendable { case whole, nothing, firstHalf, secondHalf }

  /// Bytes of a write that lie in one block, as offsets in the write.
  private struct Fragment: Sendable {
    let bytes: Range<Int>

    /// A single byte has no halves.
    var choices: Int { bytes.count > 1 ? 4 : 2 }

    func kept(_ part: Part) -> Range<Int> {
      let middle = bytes.lowerBound + bytes.count / 2
      return switch part {
      case .whole: bytes
      case .nothing: bytes.lowerBound..<bytes.lowerBound
      case .firstHalf: bytes.lowerBound..<middle
      case .secondHalf: middle..<bytes.upperBound
      }
    }
  }

  /// Bytes that reach the disk together (`statfs(2)`, `f_bsize` of nearly every file system).
  static let block = 4096
  /// Fragments of one write. In a larger one, several blocks are one fragment.
  static let mostFragments = 64

  private struct Change: Sendable {
    let step: Int
    let operation: Trace.Operation
    /// The file's size after it, if it changed that.
    var size: Int?
    /// It cut something off.
    var cuts = false
    /// Empty for a change of the size alone.
    var fragments: [Fragment] = []
  }

  let file: FileTree.ID
  /// The content that is safe.
  private let base: [UInt8]
  private let changes: [Change]
  /// The sizes of the file in order, the safe one first.
  private let sizes: [Int]

  /// The steps that are about files, put in order once for all files.
  struct Index: Sendable {
    /// Of each file, those that change it.
    private(set) var steps: [FileTree.ID: [Int]] = [:]
    /// The first step that no sync covers.
    private(set) var safe: [FileTree.ID: Int] = [:]
    private(set) var allSafe = 0

    /// - Parameter point: the crash comes before this step.
    init(_ trace: Trace, before point: Int) {
      for number in 0..<point {
        switch trace.steps[number].operation {
        case .sync(let file, let since): safe[file] = max(safe[file] ?? 0, since)
        case .syncAll(let since): allSafe = max(allSafe, since)
        case .write(let file, _, _), .resize(let file, _): steps[file, default: []].append(number)
        default: continue
        }
      }
    }
  }

  init(of file: FileTree.ID, _ trace: Trace, _ index: Index) {
    self.file = file
    let safe = max(index.safe[file] ?? 0, index.allSafe)
    var base: [UInt8] = []
    if case .file(let content)? = trace.initial.nodes[file] { base = content }
    var changes: [Change] = []
    var size = 0
    var sizes: [Int] = []
    for number in index.steps[file] ?? [] {
      let operation = trace.steps[number].operation
      if number < safe {
        switch operation {
        case .write(_, let offset, let bytes): base.place(bytes[...], at: offset)
        case .resize(_, let size): base.resize(to: size)
        default: continue
        }
        continue
      }
      if changes.isEmpty { (size, sizes) = (base.count, [base.count]) }
      var change = Change(step: number, operation: operation)
      switch operation {
      case .write(_, let offset, let bytes):
        if offset + bytes.count > size { change.size = offset + bytes.count }
        change.fragments = Self.fragments(offset, bytes.count)
      case .resize(_, let new) where new != size: (change.size, change.cuts) = (new, new < size)
      default: break
      }
      if let new = change.size {
        size = new
        sizes.append(new)
      }
      changes.append(change)
    }
    (self.base, self.changes) = (base, changes)
    self.sizes = sizes.isEmpty ? [base.count] : sizes
  }

  private static func fragments(_ offset: Int, _ count: Int) -> [Fragment] {
    var borders = stride(from: (offset / block + 1) * block, to: offset + count, by: block).map { $0 - offset }
    let most = mostFragments - 1
    if borders.count > most { borders = (0..<most).map { borders[$0 * borders.count / most] } }
    return zip([0] + borders, borders + [count]).map { Fragment(bytes: $0..<$1) }
  }

  /// Whether all of the content is safe.
  var isSettled: Bool { changes.isEmpty }

  /// How many choices each axis has: first how many of the last sizes are lost, then for each fragment its part.
  var axes: [Int] { [sizes.count] + changes.flatMap { $0.fragments.map(\.choices) } }

  /// The choice that loses everything from a step on, and nothing before it.
  func choice(losingFrom step: Int) -> [Int] {
    let sizesLost = changes.count { $0.size != nil && $0.step >= step }
    return [sizesLost] + changes.flatMap { change in change.fragments.map { _ in change.step >= step ? 1 : 0 } }
  }

  /// The fate of each of its steps that is not safe.
  func fates(_ choice: [Int]) -> [(step: Int, fate: StepFate)] {
    var result: [(step: Int, fate: StepFate)] = []
    walk(choice) { change, kept, hasSize in
      let (here, all) = (kept.reduce(0) { $0 + $1.count }, change.fragments.reduce(0) { $0 + $1.bytes.count })
      let fate: StepFate
      if change.fragments.isEmpty {
        fate = hasSize ? .kept : .lost
      } else if here == 0 {
        fate = change.size != nil && hasSize ? .contentLost : .lost
      } else {
        fate = here < all ? .torn(here, of: all) : hasSize ? .kept : .sizeLost
      }
      result.append((change.step, fate))
    }
    return result
  }

  /// The content that a choice leaves.
  func content(_ choice: [Int]) -> [UInt8] {
    var content = base
    walk(choice) { change, kept, hasSize in
      switch change.operation {
      case .write(_, let offset, let bytes):
        for part in kept where !part.isEmpty { content.place(bytes[part], at: offset + part.lowerBound) }
      case .resize(_, let size) where hasSize: content.resize(to: size)
      default: break
      }
    }
    content.resize(to: sizes[max(0, sizes.count - 1 - (choice.first ?? 0))])
    return content
  }

  /// - Parameter body: a change, the parts of its bytes that are on the disk, and whether its size is.
  private func walk(_ choice: [Int], _ body: (Change, _ kept: [Range<Int>], _ hasSize: Bool) -> Void) {
    var sizesLeft = sizes.count - 1 - (choice.first ?? 0)
    var axis = 1
    // The blocks of later writes belong to the file that was cut. Without the cut they are not in it.
    var isCutLost = false
    for change in changes {
      var hasSize = true
      if change.size != nil {
        hasSize = sizesLeft > 0
        sizesLeft -= 1
        if change.cuts, !hasSize { isCutLost = true }
      }
      var kept: [Range<Int>] = []
      for fragment in change.fragments {
        let part = axis < choice.count ? Part(rawValue: choice[axis]) ?? .whole : .whole
        axis += 1
        if !isCutLost { kept.append(fragment.kept(part)) }
      }
      body(change, kept, hasSize)
    }
  }
}

/// What became of a step.
package enum StepFate: Equatable, Sendable {
  /// On the disk: by chance, or because a sync has made it so.
  case kept, safe
  case lost
  /// Of a write, the file's size alone is on the disk: zeros.
  case contentLost
  /// The content is on the disk, behind the file's end.
  case sizeLost
  /// So many of a write's bytes are on the disk.
  case torn(Int, of: Int)
  /// It changes nothing on the disk.
  case none
}
