internal import Kernel
package import Policy
package import Seccomp
internal import Wire

/// A profile from a file of the user's, as it comes out for an app on this machine.
///
/// It is loaded behind Ambit's own filter, so that it can only take away from what that lets through.
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

  func program(_ cache: SeccompCache) throws -> SeccompProgram {
    do throws(KernelError) { return try cache.program(for: evaluated.profile, by: .strictest) } catch {
      throw LauncherInterface.Failure.failed(
        "The seccomp profile \(file): it cannot be compiled (\(error)). Take out comparisons of arguments.")
    }
  }
}

extension Capabilities {
  /// `nil` if Ambit's own profile holds alone.
  package var foreignSeccomp: ForeignSeccomp? {
    get throws {
      // Two of them would both have to hold, and a launch loads one. Less than either demands is nobody's wish.
      if let further = furtherSeccompProfiles.first {
        throw LauncherInterface.Failure.failed(
          "The policy \(policyName) has the seccomp profile \(seccompProfile ?? SeccompFile.none), and a machine-wide policy "
            + "demands \(further) as well; this version loads one. Take yours out of the policy, or name the same.")
      }
      return try seccompProfile.map { try ForeignSeccomp($0) }
    }
  }
}
