package import Folders
internal import Kernel
internal import Paths

/// The user's decision that an app may use a document (`AUD-3`).
package struct Grant: Equatable, Sendable {
  /// How the user's decision came about.
  package enum Origin: String, Codable, Sendable {
    /// A person chose, in the picker.
    case user
    /// A script answered the picker (`PCK-22`).
    case scripted
    /// Another app passed its own right on (`TOK-18`).
    case passed
    /// Another app, to which a person had granted the document, passed a bookmark on that may be (`BMK-5`, `BMK-8`).
    case bookmark
  }

  /// How long a grant holds, if it is not ended before.
  package struct Term: Equatable, Sendable {
    /// When the user decided on it last, in nanoseconds since 1970.
    package var decided: Int64
    /// When its time is up, in nanoseconds since 1970; `nil`: never.
    package var until: Int64?
    /// The launch with which it ends; `nil`: with none.
    package var launch: String?

    package init(decided: Int64, until: Int64? = nil, launch: String? = nil) {
      self.decided = decided
      self.until = until
      self.launch = launch
    }
  }

  /// Ten letters and digits; part of the path inside.
  package let id: String
  package let bundleIdentifier: String
  package let kind: DocumentKind
  package var rights: AccessRights
  package let origin: Origin
  /// Nanoseconds since 1970.
  package let created: Int64
  package var revoked: Int64?
  /// Which file it is; another one after a program has replaced it (``ReplacementRule``).
  package var identity: FileIdentity
  /// Where it was last seen on the host.
  package var path: String
  /// The folder that it was last seen in, by the folder's own identity; `nil` for grants of earlier versions until
  /// their document has been found once.
  package var place: Place?

  package var term: Term
  /// The app has made the document and put it in this place (`THM-4`).
  package var isAppMade: Bool

  package var name: String { Self.name(inside: path) }

  /// A document's name inside. Apps know names as texts: of one that is not UTF-8 they could be told, and never open it. A name
  /// gets no longer than a name may be.
  package static func name(inside path: String) -> String {
    let name = path.lastPathName
    let text = name.repaired
    return text.utf8.count <= 255 ? text : String(text.map { $0 == "\u{FFFD}" ? "_" : $0 })
  }

  package init(
    id: String, bundleIdentifier: String, kind: DocumentKind, rights: AccessRights, origin: Origin, created: Int64,
    revoked: Int64? = nil, identity: FileIdentity, path: String, place: Place? = nil, term: Term? = nil,
    isAppMade: Bool = false
  ) {
    self.id = id
    self.bundleIdentifier = bundleIdentifier
    self.kind = kind
    self.rights = rights
    self.origin = origin
    self.created = created
    self.revoked = revoked
    self.identity = identity
    self.path = path
    self.place = place
    self.term = term ?? Term(decided: created)
    self.isAppMade = isAppMade
  }

  /// A fresh identifier. Not a secret: the token opens a grant.
  package static func makeID() -> String {
    let letters = Array("abcdefghijkmnpqrstuvwxyz23456789".utf8)
    // Thirty-two letters: five bits for each, of one random number.
    var bits = UInt64.random(in: .min ... .max)
    return String(
      decoding: (0..<10).map { _ in
        defer { bits >>= 5 }
        return letters[Int(bits & 31)]
      }, as: UTF8.self)
  }
}
