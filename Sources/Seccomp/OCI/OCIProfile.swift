package import Kernel

/// A seccomp profile as container engines have it: the JSON of the OCI's runtime specification (`linux.seccomp`), with
/// Docker's and Podman's additions. As it stands in the file; ``evaluated(on:)`` gives its result on a machine.
package struct OCIProfile: Equatable, Sendable {
  /// One element of `syscalls`.
  package struct Entry: Equatable, Sendable {
    package var names: [String]
    package var action: SeccompAction
    /// All of them have to hold.
    package var conditions: [SeccompCondition] = []
    package var includes = Requirements()
    package var excludes = Requirements()
    package var comment = ""
  }

  /// The conditions of `includes` or `excludes`.
  package struct Requirements: Equatable, Sendable {
    package var capabilities: [String] = []
    /// As Go calls them: `amd64`, `arm64`.
    package var architectures: [String] = []
    package var minimumKernel: KernelVersion?
  }

  package var defaultAction: SeccompAction
  package var entries: [Entry]
  /// Of the filter as a whole, such as `SECCOMP_FILTER_FLAG_LOG`. Ambit sets none of them.
  package var flags: [String] = []
}

/// Why a file is no profile that Ambit takes.
package struct OCIProfileError: Error, Equatable, Sendable, CustomStringConvertible {
  /// As the user called it.
  package let file: String
  /// `syscalls[3].args[0].op`, or `line 4, column 7`; empty if the file as a whole is meant.
  package let place: String
  /// The expectation, and the remedy.
  package let reason: String

  package var description: String { place.isEmpty ? "\(file): \(reason)" : "\(file): \(place): \(reason)" }
}
