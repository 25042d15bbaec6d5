#if canImport(Glibc)
  internal import Glibc
#endif

/// How often a random test is played. `make test` has time for a few rounds; `make races` sets `AMBIT_TEST_ROUNDS=all`.
package enum Rounds {
  package static let areAll = unsafe getenv("AMBIT_TEST_ROUNDS").map { unsafe String(cString: $0) } == "all"

  package static func few(_ few: Int, of all: Int) -> Int { areAll ? all : few }
}
