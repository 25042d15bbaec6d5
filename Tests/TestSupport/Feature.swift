internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#endif

/// What not every machine has and some tests need. `AMBIT_TEST_REQUIRE` has the names, with commas between them, of those that this
/// one is known to have (`all`: every one): without such a feature its tests fail. All others are skipped without theirs, and the end
/// of the run says which, also where a test has merely run for fewer users or file systems.
package enum Feature: String, CaseIterable, Sendable {
  /// To be root: most tests are then run for both users.
  case root
  case loopDevices = "loop-devices"
  case ext4, xfs, btrfs
  /// File systems that programs of this test's make.
  case fuse
  case autofs
  case cgroups
  case landlock
  case keyrings
  /// Seccomp profiles of others, which `scripts/deps.sh --test` fetches.
  case podmanProfile = "podman-profile"
  case dockerProfile = "docker-profile"
  /// A list of all mount namespaces (Linux 6.12).
  case mountNamespaces = "mount-namespaces"

  /// For the condition of a test: whether it runs.
  ///
  /// - Throws: if the feature is required and not here.
  package func isHere(_ isHere: Bool, _ place: String = #fileID) throws(HarnessError) -> Bool {
    if isHere { return true }
    if Self.required.contains(self) {
      throw HarnessError("AMBIT_TEST_REQUIRE names \(rawValue), and this machine, or this user, does not have it")
    }
    Self.lacking.withLock { $0.note(self, place) }
    return false
  }

  /// For lists of what a test runs with. What is required and not here stays in, so that the test fails.
  package func isTried(_ isHere: Bool, _ place: String = #fileID) -> Bool { (try? self.isHere(isHere, place)) ?? true }

  static let required: Set<Feature> = {
    guard let text = unsafe getenv("AMBIT_TEST_REQUIRE").map({ unsafe String(cString: $0) }) else { return [] }
    do { return try required(by: text) } catch {
      // Nobody could tell such a run from one that requires nothing.
      Self.say("\(error)\n")
      exit(1)
    }
  }()

  /// - Parameter text: as `AMBIT_TEST_REQUIRE` has it.
  package static func required(by text: String) throws(HarnessError) -> Set<Feature> {
    var result: Set<Feature> = []
    for part in text.split(whereSeparator: { $0 == "," || $0 == " " }) {
      if part == "all" { return Set(allCases) }
      guard let feature = Feature(rawValue: String(part)) else {
        let known = allCases.map(\.rawValue).joined(separator: ", ")
        throw HarnessError("AMBIT_TEST_REQUIRE: there is no feature \(part); there are \(known)")
      }
      result.insert(feature)
    }
    return result
  }

  // MARK: What was not tested

  private struct Lacking {
    var places: [Feature: Set<String>] = [:]

    mutating func note(_ feature: Feature, _ place: String) {
      if places.isEmpty { atexit { Feature.tell() } }
      places[feature, default: []].insert(place)
    }
  }

  private static let lacking = Mutex(Lacking())

  /// `.ci/run` reads these lines.
  private static func tell() {
    let places = lacking.withLock { $0.places }
    let lines = places.sorted { $0.key.rawValue < $1.key.rawValue }.map { feature, places in
      "  needs \(feature.rawValue): \(places.sorted().joined(separator: ", "))\n"
    }
    say("Not tested, or for less, without what is not here:\n\(lines.joined())")
  }

  private static func say(_ text: String) {
    let bytes = Array(text.utf8)
    _ = unsafe write(1, bytes, bytes.count)
  }
}
