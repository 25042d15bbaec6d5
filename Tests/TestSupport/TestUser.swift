#if canImport(Glibc)
  internal import Glibc
#endif

/// As whom a test drives Ambit. Run by root, tests are run for both; run by an ordinary user, for that one.
package enum TestUser: String, Sendable, CaseIterable, CustomStringConvertible {
  case root
  case ordinary = "ordinary user"

  /// Those that this process can be.
  package static let all: [TestUser] = {
    do { return try Feature.root.isHere(geteuid() == 0) ? [.root, .ordinary] : [.ordinary] } catch {
      // As an ordinary user these tests would pass for root.
      print(error)
      exit(1)
    }
  }()

  /// For a statement about a rule of the broker's, where the kernel's path is the same for both: this user, if the process can be
  /// it. The tests of a suite take turns. With `AMBIT_TEST_USERS=all` they are run for both as well.
  package static func one(_ user: TestUser) -> [TestUser] {
    isExhaustive || !all.contains(user) ? all : [user]
  }

  /// The same for a test with several cases: root has every second one, and the ordinary user the others.
  package static func inTurn<Case: Sendable>(_ cases: [Case]) -> [(TestUser, Case)] {
    if isExhaustive { return cases.flatMap { each in all.map { ($0, each) } } }
    return cases.enumerated().map { number, each in (all[number % all.count], each) }
  }

  private static let isExhaustive = unsafe getenv("AMBIT_TEST_USERS").map { unsafe String(cString: $0) } == "all"

  package var description: String { rawValue }

  /// The user and group id. Far from those of people and services, where root has to choose one.
  package var id: UInt32 {
    switch self {
    case .root: 0
    case .ordinary: geteuid() == 0 ? 61234 : geteuid()
    }
  }

  /// What has to stand before a command so that it runs as this user.
  package var prefix: [String] {
    self == .ordinary && geteuid() == 0
      ? ["/usr/bin/setpriv", "--reuid", "\(id)", "--regid", "\(id)", "--clear-groups"] : []
  }

  /// Gives a file to this user.
  package func own(_ path: String) throws(HarnessError) {
    guard geteuid() == 0 else { return }
    if unsafe lchown(path, id, id) == -1 { throw HarnessError("chown \(path): errno \(errno)") }
  }
}
