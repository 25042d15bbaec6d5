/// Instructions of a filter, as they are written one after the other (`seccomp(2)`, `struct sock_filter`).
struct FilterCode {
  enum Operation: UInt16 {
    /// The word at an offset of `struct seccomp_data`.
    case load = 0x20
    case and = 0x54
    case jump = 0x05
    case jumpIfEqual = 0x15
    case jumpIfGreater = 0x25
    case jumpIfGreaterOrEqual = 0x35
    case answer = 0x06
  }

  /// Neighbouring calls with the same answer: that of the first rule that matches, else `otherwise`.
  struct Segment {
    let start: UInt32
    let rules: [SeccompRule]
    let otherwise: SeccompAction

    func isSame(as other: Segment) -> Bool {
      otherwise == other.otherwise && rules.map(\.action) == other.rules.map(\.action)
        && rules.map(\.conditions) == other.rules.map(\.conditions)
    }
  }

  static let architectureOffset = 4

  private struct Instruction {
    var operation: Operation
    var ifTrue: UInt8
    var ifFalse: UInt8
    var value: UInt32
  }

  private var instructions: [Instruction] = []
  var count: Int { instructions.count }

  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count * 8)
    func append(_ value: some FixedWidthInteger) {
      // The kernel's own order, whichever that is.
      var rest = value
      unsafe withUnsafeBytes(of: &rest) { unsafe bytes.append(contentsOf: $0) }
    }
    for instruction in instructions {
      append(instruction.operation.rawValue)
      append(instruction.ifTrue)
      append(instruction.ifFalse)
      append(instruction.value)
    }
    return bytes
  }

  /// - Parameters: how many instructions to leave out, if the comparison holds and if it does not.
  mutating func append(_ operation: Operation, _ value: UInt32, _ ifTrue: UInt8 = 0, _ ifFalse: UInt8 = 0) {
    instructions.append(Instruction(operation: operation, ifTrue: ifTrue, ifFalse: ifFalse, value: value))
  }

  /// Finds the segment of the number that is loaded, by halves: a few comparisons for any call.
  mutating func search(_ segments: ArraySlice<Segment>) {
    guard let first = segments.first else { return }
    if segments.count == 1 { return append(first) }
    let middle = segments.startIndex + segments.count / 2
    // Over the next instruction if below; that one leads as far as need be, which a comparison cannot.
    append(.jumpIfGreaterOrEqual, segments[middle].start, 0, 1)
    let far = count
    append(.jump, 0)
    search(segments[..<middle])
    instructions[far].value = UInt32(count - far - 1)
    search(segments[middle...])
  }

  private mutating func append(_ segment: Segment) {
    for rule in segment.rules { append(rule) }
    append(.answer, segment.otherwise.raw)
  }

  private enum Target { case next, match, fail }

  /// A rule: its answer if all conditions hold, else the code behind it. Six conditions are at most 43 instructions, well
  /// within the reach of a comparison's jump.
  private mutating func append(_ rule: SeccompRule) {
    let start = count
    /// The jumps that still lack their length: to the rule's end, or to the next condition.
    var failing: [(index: Int, ifTrue: Bool)] = []
    for condition in rule.conditions.prefix(6) {
      var matching: [(index: Int, ifTrue: Bool)] = []
      func compare(_ operation: Operation, _ value: UInt32, _ ifTrue: Target, _ ifFalse: Target) {
        for (target, branch) in [(ifTrue, true), (ifFalse, false)] {
          if target == .match { matching.append((count, branch)) }
          if target == .fail { failing.append((count, branch)) }
        }
        append(operation, value)
      }
      func load(high: Bool) { append(.load, Self.offset(of: condition.argument, high: high)) }
      /// The upper half decides unless it is equal; then the lower one does.
      func order(_ value: UInt64, above: Target, below: Target, _ last: Operation, _ ifTrue: Target, _ ifFalse: Target)
      {
        load(high: true)
        compare(.jumpIfGreater, UInt32(truncatingIfNeeded: value >> 32), above, .next)
        compare(.jumpIfEqual, UInt32(truncatingIfNeeded: value >> 32), .next, below)
        load(high: false)
        compare(last, UInt32(truncatingIfNeeded: value), ifTrue, ifFalse)
      }
      func equal(_ mask: UInt64?, _ value: UInt64, different: Target, same: Target) {
        for shift in [UInt64(32), 0] {
          load(high: shift == 32)
          if let mask { append(.and, UInt32(truncatingIfNeeded: mask >> shift)) }
          compare(
            .jumpIfEqual, UInt32(truncatingIfNeeded: value >> shift), shift == 32 ? .next : same, different)
        }
      }
      switch condition.test {
      case .equal(let value):
        load(high: false)
        compare(.jumpIfEqual, value, .next, .fail)
      case .masked(let mask, let value):
        load(high: false)
        append(.and, mask)
        compare(.jumpIfEqual, value, .next, .fail)
      case .whole(.equal(let value)): equal(nil, value, different: .fail, same: .next)
      case .whole(.notEqual(let value)): equal(nil, value, different: .match, same: .fail)
      case .whole(.masked(let mask, let value)): equal(mask, value, different: .fail, same: .next)
      case .whole(.greater(let value)): order(value, above: .match, below: .fail, .jumpIfGreater, .next, .fail)
      case .whole(.greaterOrEqual(let value)):
        order(value, above: .match, below: .fail, .jumpIfGreaterOrEqual, .next, .fail)
      case .whole(.less(let value)): order(value, above: .fail, below: .match, .jumpIfGreaterOrEqual, .fail, .next)
      case .whole(.lessOrEqual(let value)): order(value, above: .fail, below: .match, .jumpIfGreater, .fail, .next)
      }
      land(matching)
    }
    append(.answer, rule.action.raw)
    land(failing)
    assert(count - start < 256)
  }

  /// Lets branches lead to here.
  private mutating func land(_ branches: [(index: Int, ifTrue: Bool)]) {
    for (index, ifTrue) in branches {
      let distance = UInt8(count - index - 1)
      if ifTrue { instructions[index].ifTrue = distance } else { instructions[index].ifFalse = distance }
    }
  }

  /// `struct seccomp_data`: number, architecture, instruction pointer, six arguments of eight bytes.
  private static func offset(of argument: UInt32, high: Bool) -> UInt32 {
    let isUpperFirst = UInt16(1).bigEndian == 1
    return 16 + 8 * argument + (high == isUpperFirst ? 0 : 4)
  }
}
