internal import Paths

/// The settings that two policies both permit.
extension PolicyOverrides {
  /// Everything that settings have, as a file would say it.
  init(_ settings: PolicySettings) {
    self.init()
    for field in PolicyField.all { field.access.lift(settings, &self) }
  }

  /// The settings that both files permit; a file without a field permits everything there.
  func narrowed(by other: PolicyOverrides, on machine: FieldAccess.Machine) -> PolicyOverrides {
    var result = self
    for field in PolicyField.all { field.access.narrow(&result, other, machine) }
    return result
  }

  mutating func narrowNetwork(by other: PolicyOverrides) {
    guard let theirs = other.network else { return }
    guard let ours = network else {
      network = theirs
      return
    }
    // Fixed values are ordered by their reach. A value that depends on the entitlement opens nothing to apps without it. To apps
    // with it, it opens the network that both values open.
    switch (ours, theirs) {
    case (.none, _), (_, .none): network = NetworkAccess.none
    case (.loopback, .entitlement), (.entitlement, .loopback):
      network = .entitlement
      entitledNetwork = .loopback
    case (.entitlement, _), (_, .entitlement): network = .entitlement
    case (.loopback, _), (_, .loopback): network = .loopback
    case (.host, .host): network = .host
    }
  }

  mutating func narrowProfiles(by other: PolicyOverrides) {
    let all =
      ([seccompProfile, other.seccompProfile] + (furtherSeccompProfiles ?? []) + (other.furtherSeccompProfiles ?? []))
      .compactMap { $0 }
    guard !all.isEmpty else { return }
    var held: [String] = []
    for profile in all where profile != SeccompFile.none && !held.contains(profile) { held.append(profile) }
    seccompProfile = held.first ?? SeccompFile.none
    furtherSeccompProfiles = Array(held.dropFirst())
  }
}

extension HostFolder {
  /// The folders that lie in a folder of both lists.
  static func narrowed(_ ours: [String], _ theirs: [String]) -> [String] {
    func isInside(_ path: String, _ folders: [String]) -> Bool {
      folders.contains { path.lies(within: $0) }
    }
    let both = ours.filter { isInside($0, theirs) }
    let known = Set(both.map { PathKey($0) })
    return both + theirs.filter { !known.contains(PathKey($0)) && isInside($0, ours) }
  }
}

extension EnvironmentName {
  /// The patterns of which both lists have all that they cover.
  static func narrowed(_ ours: [String], _ theirs: [String]) -> [String] {
    let both = ours.filter { one in theirs.contains { covers($0, one) } }
    return both + theirs.filter { one in !both.contains(one) && ours.contains { covers($0, one) } }
  }

  /// Whether the first stands for everything that the second does.
  private static func covers(_ wide: String, _ narrow: String) -> Bool {
    guard wide.hasSuffix("*") else { return wide == narrow }
    return narrow.hasPrefix(wide.dropLast())
  }
}

extension Capabilities.Limits.Memory {
  /// - Parameter machine: bytes that the machine has.
  func narrowed(by other: Self, machine: Int) -> Self {
    func bytes(_ amount: Self) -> Int {
      switch amount {
      case .bytes(let bytes): bytes
      case .percent(let share): machine / 100 * share
      }
    }
    return bytes(other) < bytes(self) ? other : self
  }
}
