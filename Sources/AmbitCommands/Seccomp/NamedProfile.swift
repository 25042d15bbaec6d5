internal import Kernel
internal import Launcher
internal import Seccomp

/// A profile by its word on the command line.
struct NamedProfile {
  /// As the user said it.
  let name: String
  let profile: SeccompProfile
  /// Of a file; Ambit's own have none.
  let evaluated: OCIProfile.Evaluated?

  /// Ambit's own, for an app without the internet. It holds under every other.
  static let floor = SeccompProfile.standard(network: false)

  init(_ word: String, on machine: OCIProfile.Machine = .current) throws(Failure) {
    name = word
    switch word {
    case "standard": (profile, evaluated) = (Self.floor, nil)
    case "observed": (profile, evaluated) = (Self.floor.observed, nil)
    default:
      do throws(OCIProfileError) {
        let found = try OCIProfile(contentsOf: word).evaluated(on: machine)
        (profile, evaluated) = (found.profile, found)
      } catch {
        throw Failure("The seccomp profile \(error)")
      }
    }
  }

  /// Whether the call stays refused under any content of this profile.
  func isHeldBack(_ call: String) -> Bool {
    evaluated != nil && profile.explanation(of: call).canPass && !Self.floor.explanation(of: call).canPass
  }

  static func check(call: String) throws(Failure) {
    guard SeccompProgram.unknown(in: [SeccompRule(call, .allow)]).isEmpty else {
      throw Failure("\(call): there is no such system call. Names are those of syscalls(2), such as openat or ptrace.")
    }
  }
}

extension SeccompProfile.Explanation {
  /// The possible outcomes, as the end of “the call …”.
  var sentence: String { outcomes.map(\.sentence).sorted().joined(separator: " or ") }
}
