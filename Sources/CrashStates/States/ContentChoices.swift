/// What a crash may have left of one file's content.
///
/// Writes since the last `fsync(2)` reach the disk in any order, each whole, not at all, or in part: up to a block's border or to its
/// middle, or from there on. Sizes change in order, and may be ahead of the content, which is zeros then.
struct ContentChoices: Sendable {
  /// The part of a write that is on the disk.
  enum Part: Equatable, Sendable {
    case whole, nothing
    /// So many bytes of its beginning, or all after them.
    case before(Int), after(Int)
  }

  /// Bytes that reach the disk together (`statfs(2)`, `f_bsize` of nearly every file system).
  static let block = 4096
  /// Borders within one write at which it may tear. Of more, evenly spread ones are taken.
  static let mostCuts = 64

  private struct Change: Sendable {
    let step: Int
    let operation: Trace.Operation
    /// The file's size after it, if it changed that.
    var size: Int?
    /// It cut something off.
    var cuts = false
    /// Parts that may be on the disk; the whole first. Empty for a change of the size alone.
    var parts: [Part] = []
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
        change.parts = Self.parts(offset, bytes.count)
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

  /// Where a write may tear.
  private static func parts(_ offset: Int, _ count: Int) -> [Part] {
    var cuts = Set(stride(from: (offset / block + 1) * block, to: offset + count, by: block).map { $0 - offset })
    if count > 1 { cuts.insert(count / 2) }
    var chosen = cuts.sorted()
    if chosen.count > mostCuts { chosen = (0..<mostCuts).map { chosen[$0 * chosen.count / mostCuts] } }
    return [.whole, .nothing] + chosen.flatMap { [.before($0), .after($0)] }
  }

  /// Whether all of the content is safe.
  var isSettled: Bool { changes.isEmpty }

  /// How many choices each axis has: first how many of the last sizes are lost, then for each write its part.
  var axes: [Int] { [sizes.count] + changes.filter { !$0.parts.isEmpty }.map(\.parts.count) }

  /// The choice that loses everything from a step on, and nothing before it.
  func choice(losingFrom step: Int) -> [Int] {
    [changes.count { $0.size != nil && $0.step >= step }]
      + changes.filter { !$0.parts.isEmpty }.map { $0.step >= step ? 1 : 0 }
  }

  /// The fate of each of its steps that is not safe.
  func fates(_ choice: [Int]) -> [(step: Int, fate: StepFate)] {
    var result: [(step: Int, fate: StepFate)] = []
    walk(choice) { change, part, hasSize in
      let fate: StepFate
      switch part {
      case .whole where hasSize: fate = .kept
      case .whole: fate = .sizeLost
      case .nothing: fate = change.size != nil && hasSize && !change.parts.isEmpty ? .contentLost : .lost
      case .before(let count): fate = .torn(count, isBeginning: true)
      case .after(let count): fate = .torn(count, isBeginning: false)
      }
      result.append((change.step, fate))
    }
    return result
  }

  /// The content that a choice leaves.
  func content(_ choice: [Int]) -> [UInt8] {
    var content = base
    walk(choice) { change, part, hasSize in
      switch change.operation {
      case .write(_, let offset, let bytes):
        switch part {
        case .whole: content.place(bytes[...], at: offset)
        case .nothing: break
        case .before(let count): content.place(bytes[..<count], at: offset)
        case .after(let count): content.place(bytes[count...], at: offset + count)
        }
      case .resize(_, let size) where hasSize: content.resize(to: size)
      default: break
      }
    }
    content.resize(to: sizes[max(0, sizes.count - 1 - (choice.first ?? 0))])
    return content
  }

  /// - Parameter body: a change, the part of it that counts, and whether its size is on the disk.
  private func walk(_ choice: [Int], _ body: (Change, Part, Bool) -> Void) {
    var sizesLeft = sizes.count - 1 - (choice.first ?? 0)
    var axis = 1
    // The blocks of later writes belong to the file that was cut. Without the cut they are not in it.
    var isCutLost = false
    for change in changes {
      var part = Part.nothing
      if !change.parts.isEmpty {
        part = axis < choice.count ? change.parts[choice[axis]] : .whole
        axis += 1
      }
      var hasSize = true
      if change.size != nil {
        hasSize = sizesLeft > 0
        sizesLeft -= 1
        if change.cuts, !hasSize { isCutLost = true }
      }
      if change.parts.isEmpty { part = hasSize ? .whole : .nothing } else if isCutLost { part = .nothing }
      body(change, part, hasSize)
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
  /// A write's first bytes, or those after so many.
  case torn(Int, isBeginning: Bool)
  /// It changes nothing on the disk.
  case none
}
