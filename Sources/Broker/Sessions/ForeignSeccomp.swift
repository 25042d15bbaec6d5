internal import AppModel
internal import Kernel
package import Policy
package import Seccomp
internal import Wire

/// A profile from a file of the user's, as it comes out for an app on this machine.
///
/// It is loaded behind Ambit's own filter, so that it can only take away from the calls that Ambit's lets through.
package struct ForeignSeccomp {
  package let file: String
  package let evaluated: OCIProfile.Evaluated

  /// - Throws: a failure of the launch, as a sentence.
  init(_ file: String) throws {
    self.file = file
    do throws(OCIProfileError) {
      evaluated = try OCIProfile(contentsOf: file).evaluated(on: .current)
    } catch {
      throw LauncherInterface.Failure.failed("The seccomp profile \(error)")
    }
    // The filter stands before the program does. Said here, since there it would look as if the program could not be run.
    guard evaluated.profile.explanation(of: "execve").canPass else {
      throw LauncherInterface.Failure.failed(
        "The seccomp profile \(file): it does not let execve through, so that no program could start under it. Allow it."
      )
    }
  }

  /// It lets seccomp(2) through, by which the next filter is loaded.
  var letsAnotherFollow: Bool { evaluated.profile.explanation(of: "seccomp").canPass }

  func program(_ cache: SeccompCache) throws -> SeccompProgram {
    do throws(KernelError) { return try cache.program(for: evaluated.profile, by: .strictest) } catch {
      throw LauncherInterface.Failure.failed(
        "The seccomp profile \(file): it cannot be compiled (\(error)). Take out comparisons of arguments.")
    }
  }
}

extension Capabilities {
  /// Why no app can be launched with these profiles on this machine; `nil` if they can be loaded.
  package var seccompFault: String? {
    do { _ = try foreignSeccomp } catch let failure as ErrorReply {
      return failure.reason ?? failure.name
    } catch {
      return "\(error)"
    }
    return nil
  }

  /// The files of the profiles that hold besides Ambit's own: the policy's, and those that machine-wide ones demand as well.
  var seccompProfiles: [String] { (seccompProfile.map { [$0] } ?? []) + furtherSeccompProfiles }

  /// The log's words for them.
  var seccompNames: String { seccompProfiles.isEmpty ? SeccompFile.none : seccompProfiles.joined(separator: " and ") }

  /// The profiles that hold besides Ambit's own, in the order in which they are loaded. The kernel takes the strictest answer of all,
  /// so the order changes nothing, but that each of them has to let the next one be loaded.
  package var foreignSeccomp: [ForeignSeccomp] {
    get throws {
      let profiles = try seccompProfiles.map { try ForeignSeccomp($0) }
      let closing = profiles.filter { !$0.letsAnotherFollow }
      guard closing.count < 2 else {
        throw LauncherInterface.Failure.failed(
          "The policy \(policyName) and a machine-wide one demand the seccomp profiles "
            + "\(closing.map(\.file).joined(separator: " and ")), and neither lets seccomp(2) through, so that only one can be "
            + "loaded. Allow seccomp in yours, take it out of the policy, or name the machine's.")
      }
      return profiles.filter(\.letsAnotherFollow) + closing
    }
  }
}

extension Policy {
  /// ``Capabilities/seccompFault``, of any app under it.
  package var seccompFault: String? { Capabilities(policy: self, entitlements: .none).seccompFault }
}
