internal import CSeccomp
package import Kernel
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

extension SeccompProgram {
  /// The kernel takes no longer program (`BPF_MAXINSNS`).
  package static let maximumInstructions = 4096

  /// Compiles rules of which several may name the same call: of those that match, the strictest wins, and the default only
  /// where none does.
  ///
  /// libseccomp does not promise that: there a rule without conditions swallows those with some, and of two without, the
  /// first wins, with any answer. In another author's profile, either may turn a refusal into a permission.
  ///
  /// Calls that this machine does not have are left out. Of another architecture than the native one every call ends
  /// the process.
  package init(strictest rules: [SeccompRule], otherwise: SeccompAction) throws(KernelError) {
    var answers: [UInt32: [SeccompRule]] = [:]
    for rule in rules {
      let number = unsafe seccomp_syscall_resolve_name(rule.call)
      if number >= 0 { answers[UInt32(number), default: []].append(rule) }
    }
    var code = FilterCode()
    code.append(.load, UInt32(FilterCode.architectureOffset))
    code.append(.jumpIfEqual, seccomp_arch_native(), 1, 0)
    code.append(.answer, SeccompAction.kill.raw)
    code.append(.load, 0)
    let segments = Self.segments(answers, otherwise)
    code.search(segments[...])
    guard code.count <= Self.maximumInstructions else {
      throw KernelError(
        "seccomp", "a filter of \(code.count) instructions, more than \(Self.maximumInstructions)",
        errno: Errno(rawValue: E2BIG))
    }
    self.init(bytes: code.bytes)
  }

  /// The numbers of all calls, cut where the answer changes. The first begins at 0; each ends where the next one begins.
  private static func segments(_ answers: [UInt32: [SeccompRule]], _ otherwise: SeccompAction) -> [FilterCode.Segment] {
    var segments = [FilterCode.Segment(start: 0, rules: [], otherwise: otherwise)]
    func append(_ segment: FilterCode.Segment) {
      if segments.last?.start == segment.start { segments.removeLast() }
      if let last = segments.last, last.isSame(as: segment) { return }
      segments.append(segment)
    }
    for number in answers.keys.sorted() {
      // The strictest first; a rule without conditions has the last word. Of equals, the file's order holds.
      var rules: [SeccompRule] = []
      var last = otherwise
      let sorted = (answers[number] ?? []).enumerated().sorted {
        ($0.element.action.rank, $0.offset) < ($1.element.action.rank, $1.offset)
      }
      for (_, rule) in sorted {
        if rule.conditions.isEmpty {
          last = rule.action
          break
        }
        rules.append(rule)
      }
      append(.init(start: number, rules: rules, otherwise: last))
      append(.init(start: number + 1, rules: [], otherwise: otherwise))
    }
    return segments
  }
}
