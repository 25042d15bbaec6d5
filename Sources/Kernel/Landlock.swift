internal import CLinux

/// The acts that may be permitted below a path (`landlock(7)`, `LANDLOCK_ACCESS_FS_*`).
package struct LandlockRights: OptionSet, Sendable, Hashable {
  package let rawValue: UInt64
  package init(rawValue: UInt64) { self.rawValue = rawValue }

  package static let execute = Self(rawValue: 1 << 0)
  package static let writeFile = Self(rawValue: 1 << 1)
  package static let readFile = Self(rawValue: 1 << 2)
  package static let readFolder = Self(rawValue: 1 << 3)
  package static let remove = Self(rawValue: 1 << 4 | 1 << 5)
  /// Regular files, folders, links, pipes and sockets; no devices.
  package static let make = Self(rawValue: 1 << 7 | 1 << 8 | 1 << 9 | 1 << 10 | 1 << 12)
  package static let makeDevices = Self(rawValue: 1 << 6 | 1 << 11)
  /// To move and link between folders. ABI 2.
  package static let refer = Self(rawValue: 1 << 13)
  /// ABI 3.
  package static let truncate = Self(rawValue: 1 << 14)
  /// ioctl(2) on devices that are opened from here on. ABI 5.
  package static let deviceControl = Self(rawValue: 1 << 15)

  package static let read: Self = [.readFile, .readFolder]
  package static let change: Self = [.writeFile, .remove, .make, .refer, .truncate]
  package static let changeOrExecute: Self = [.execute, .writeFile, .remove, .make, .makeDevices, .refer]
  /// Every right that this version knows of.
  package static let all: Self = [
    .execute, .writeFile, .readFile, .readFolder, .remove, .make, .makeDevices, .refer, .truncate, .deviceControl,
  ]
  /// Those that can be given for something that is no folder.
  static let ofFiles: Self = [.execute, .writeFile, .readFile, .truncate, .deviceControl]

  /// The part of these that kernels of an ABI know.
  func known(toABI abi: Int) -> Self {
    var known: Self = [.execute, .writeFile, .readFile, .readFolder, .remove, .make, .makeDevices]
    if abi >= 2 { known.insert(.refer) }
    if abi >= 3 { known.insert(.truncate) }
    if abi >= 5 { known.insert(.deviceControl) }
    return intersection(known)
  }
}

/// The acts that Landlock permits an app; everything else that the kernel's Landlock knows is denied.
package struct LandlockRules: Equatable, Sendable {
  package struct Rule: Equatable, Sendable {
    package var path: String
    package var rights: LandlockRights

    package init(_ path: String, _ rights: LandlockRights) {
      self.path = path
      self.rights = rights
    }
  }

  package var rules: [Rule]
  /// The acts on files that are denied unless a rule permits them. If there are none, Landlock does not look at files at all:
  /// looking costs each open a tenth of its time (reading denied as well: a quarter).
  package var denied: LandlockRights
  /// Whether TCP may be used. ABI 4.
  package var network: Bool

  package init(_ rules: [Rule], denied: LandlockRights = [], network: Bool) {
    self.rules = rules
    self.denied = denied
    self.network = network
  }
}

extension LandlockRules {
  /// The ABI from which on abstract sockets and signals can be scoped (Linux 6.12).
  package static let scopesABI = 6

  /// The parts of these rules that an ABI does not have, and the ABI that they came with.
  package func lacking(onABI abi: Int) -> [(what: String, abi: Int)] {
    var asked: [(what: String, abi: Int)] = []
    if denied.contains(.refer) { asked.append(("moving files between folders", 2)) }
    if denied.contains(.truncate) { asked.append(("truncation", 3)) }
    if !network { asked.append(("TCP", 4)) }
    if denied.contains(.deviceControl) { asked.append(("ioctl on devices", 5)) }
    asked.append(("abstract sockets and signals", Self.scopesABI))
    return asked.filter { $0.abi > abi }
  }

  /// Whether an ABI denies nothing at all of the acts that these rules deny.
  package func isEmpty(onABI abi: Int) -> Bool {
    denied.known(toABI: abi).isEmpty && (network || abi < 4) && abi < Self.scopesABI
  }
}

package enum Landlock {
  /// The ABI of the running kernel; `nil` where it has none, or where it is switched off.
  package static let abi: Int? = {
    let abi = ambit_landlock_abi()
    return abi > 0 ? Int(abi) : nil
  }()
}

extension LandlockRules {
  /// For the running kernel; rights that it does not know are neither denied nor permitted by it.
  func lowered(_ memory: LaunchMemory, abi: Int?) -> ambit_landlock {
    var landlock = unsafe ambit_landlock()
    guard let abi else { return unsafe landlock }
    let denied = denied.known(toABI: abi)
    let raw = unsafe rules.filter { !$0.rights.isDisjoint(with: denied) }.map { rule in
      unsafe ambit_landlock_rule(
        path: UnsafePointer(memory.string(rule.path)), rights: rule.rights.intersection(denied).rawValue)
    }
    unsafe landlock.files = denied.rawValue
    // Binding and connecting TCP, from ABI 4; abstract sockets and signals to processes outside, from ABI 6.
    unsafe landlock.network = abi >= 4 && !network ? 3 : 0
    unsafe landlock.scoped = abi >= Self.scopesABI ? 3 : 0
    // The kernel refuses a set of rules that denies nothing.
    guard unsafe landlock.files | landlock.network | landlock.scoped != 0 else { return unsafe landlock }
    unsafe landlock.size = abi >= Self.scopesABI ? 24 : abi >= 4 ? 16 : 8
    unsafe landlock.file_rights = LandlockRights.ofFiles.rawValue
    unsafe landlock.rules = UnsafePointer(memory.array(raw))
    unsafe landlock.rule_count = raw.count
    return unsafe landlock
  }
}
