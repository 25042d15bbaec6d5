import Foundation
import Kernel
import TestSupport

@testable import Seccomp

/// Runs a filter as the kernel does: the words of `struct seccomp_data` are loaded, compared and answered for.
struct FilterMachine {
  private let instructions: [(code: UInt16, ifTrue: Int, ifFalse: Int, value: UInt32)]

  init(_ program: SeccompProgram) {
    instructions = stride(from: 0, to: program.bytes.count, by: 8).map { start in
      let bytes = program.bytes[start..<start + 8].map { $0 }
      let value = UInt32(bytes[4]) | UInt32(bytes[5]) << 8 | UInt32(bytes[6]) << 16 | UInt32(bytes[7]) << 24
      return (UInt16(bytes[0]) | UInt16(bytes[1]) << 8, Int(bytes[2]), Int(bytes[3]), value)
    }
  }

  /// - Returns: what the kernel would be told; `nil` for a program that it would not take.
  func answer(number: UInt32, architecture: UInt32, _ arguments: [UInt64]) -> UInt32? {
    var data: [UInt32] = [number, architecture, 0, 0]
    for argument in arguments {
      data += [UInt32(truncatingIfNeeded: argument), UInt32(truncatingIfNeeded: argument >> 32)]
    }
    var accumulator: UInt32 = 0
    var position = 0
    while instructions.indices.contains(position) {
      let (code, ifTrue, ifFalse, value) = instructions[position]
      position += 1
      switch code {
      case 0x20: accumulator = data[Int(value) / 4]
      case 0x54: accumulator &= value
      case 0x05: position += Int(value)
      case 0x15: position += accumulator == value ? ifTrue : ifFalse
      case 0x25: position += accumulator > value ? ifTrue : ifFalse
      case 0x35: position += accumulator >= value ? ifTrue : ifFalse
      case 0x06: return value
      default: return nil
      }
    }
    return nil
  }
}

extension SeccompCondition {
  /// What a comparison means, said once more and simply.
  func holds(for arguments: [UInt64]) -> Bool {
    let value = arguments[Int(argument)]
    return switch test {
    case .equal(let wanted): UInt32(truncatingIfNeeded: value) == wanted
    case .masked(let mask, let wanted): UInt32(truncatingIfNeeded: value) & mask == wanted
    case .whole(.notEqual(let other)): value != other
    case .whole(.less(let other)): value < other
    case .whole(.lessOrEqual(let other)): value <= other
    case .whole(.equal(let other)): value == other
    case .whole(.greaterOrEqual(let other)): value >= other
    case .whole(.greater(let other)): value > other
    case .whole(.masked(let mask, let other)): value & mask == other
    }
  }
}

/// What rules come to, said simply: the strictest of those that match, and the default where none does.
func modelled(_ rules: [SeccompRule], otherwise: SeccompAction, _ call: String, _ arguments: [UInt64]) -> SeccompAction
{
  let matching = rules.filter { $0.call == call && $0.conditions.allSatisfy { $0.holds(for: arguments) } }
  var best: SeccompAction?
  for rule in matching where best.map({ rule.action.rank < $0.rank }) ?? true { best = rule.action }
  return best ?? otherwise
}

extension OCIProfile {
  init(_ text: String) throws { try self.init(parsing: Array(text.utf8), file: "p.json") }
}
