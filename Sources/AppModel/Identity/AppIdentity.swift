internal import Cryptography

/// SHA-256 over an app's parts: its manifest, its entitlements and the file that is executed, each with its length before it.
package struct AppDigest: Hashable, Sendable, CustomStringConvertible {
  package let bytes: [UInt8]

  /// - Returns: `nil` unless there are 32 bytes.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count == 32 else { return nil }
    self.bytes = bytes
  }

  /// - Parameter text: as ``description`` has it.
  package init?(hexadecimal text: String) {
    let digits = text.utf8.map { Character(Unicode.Scalar($0)).hexDigitValue }
    guard digits.count == 64, !digits.contains(nil) else { return nil }
    let values = digits.compactMap(\.self)
    self.init(stride(from: 0, to: 64, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) })
  }

  /// 64 hexadecimal digits.
  package var description: String { Hexadecimal.text(bytes) }
}

/// An app as its files are now.
package struct SeenApp: Equatable, Sendable {
  /// The identifier that its manifest has; a program's comes from its path.
  package let claimed: String
  package let digest: AppDigest
  /// Where its bundle, or the program, lies on the host.
  package let path: String
  /// The users that its files belong to: their numbers, the smallest first.
  package let owners: [UInt32]
  package let isProgram: Bool

  package init(claimed: String, digest: AppDigest, path: String, owners: [UInt32], isProgram: Bool) {
    self.claimed = claimed
    self.digest = digest
    self.path = path
    self.owners = owners
    self.isProgram = isProgram
  }
}

/// An app as it was when it was launched last.
package struct RememberedApp: Equatable, Sendable {
  /// Its container and its grants go by this one.
  package var identifier: String
  package var claimed: String
  package var digest: AppDigest
  package var path: String
  package var owners: [UInt32]

  package init(identifier: String, claimed: String, digest: AppDigest, path: String, owners: [UInt32]) {
    self.identifier = identifier
    self.claimed = claimed
    self.digest = digest
    self.path = path
    self.owners = owners
  }

  package init(_ seen: SeenApp, as identifier: String) {
    self.init(
      identifier: identifier, claimed: seen.claimed, digest: seen.digest, path: seen.path, owners: seen.owners)
  }
}

/// Which app it is that claims an identifier.
package enum IdentityVerdict: Equatable, Sendable {
  /// No app has claimed the identifier before.
  case first
  case same(RememberedApp)
  /// The same app, which lies elsewhere now; nothing is left in the old place.
  case moved(RememberedApp)
  /// The same app in another place, or with another owner. It is remembered where it was.
  case copied(RememberedApp)
  /// Another content in the same place, and of the same owner.
  case updated(RememberedApp)
  /// Another app than this one, to which the identifier belongs.
  case stranger(to: RememberedApp)

  /// - Parameters:
  ///   - records: all that is remembered of apps that claim this identifier.
  ///   - isVacant: whether nothing lies any more where an app was.
  package init(of seen: SeenApp, among records: [RememberedApp], isVacant: (RememberedApp) -> Bool) {
    // The app that has the identifier itself before those that were taken in under another one.
    let records = records.sorted { ($0.identifier != seen.claimed ? 1 : 0) < ($1.identifier != seen.claimed ? 1 : 0) }
    func isHere(_ record: RememberedApp) -> Bool { record.path.utf8.elementsEqual(seen.path.utf8) }
    let alike = records.filter { $0.digest == seen.digest }
    if let record = alike.first(where: { isHere($0) && $0.owners == seen.owners }) {
      self = .same(record)
    } else if let record = alike.first(where: { isHere($0) || !seen.isProgram }) {
      // By the content before the place: an app that was once taken for a stranger does not become the app in whose place it
      // is put. Another owner could put anything there later, so the place is not taken over from one to the other.
      self = !isHere(record) && record.owners == seen.owners && isVacant(record) ? .moved(record) : .copied(record)
    } else if let record = records.first(where: { isHere($0) && $0.owners == seen.owners }) {
      self = .updated(record)
    } else if let owner = records.first(where: { $0.identifier == seen.claimed }) {
      self = .stranger(to: owner)
    } else {
      self = .first
    }
  }
}
