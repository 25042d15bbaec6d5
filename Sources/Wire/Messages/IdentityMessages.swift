extension GrantsInterface {
  package static let identities = "io.ambit.Grants.Identities"
  package static let forget = "io.ambit.Grants.Forget"

  /// What is remembered of an app, to which an identifier belongs (`Identity`).
  package struct Identity: WireMessage, Equatable {
    package var bundleIdentifier: String
    /// The identifier that its manifest has.
    package var claimed: String
    /// Where it lies on the host.
    package var path: String
    /// Of its manifest, its entitlements and its program: 64 hexadecimal digits.
    package var digest: String
    /// The users that its files belong to.
    package var owners: [Int]
    /// RFC 3339.
    package var remembered: String
    /// In force.
    package var grants: Int

    package init(
      bundleIdentifier: String, claimed: String, path: String, digest: String, owners: [Int], remembered: String,
      grants: Int
    ) {
      self.bundleIdentifier = bundleIdentifier
      self.claimed = claimed
      self.path = path
      self.digest = digest
      self.owners = owners
      self.remembered = remembered
      self.grants = grants
    }

    package init(json: JSONObject) throws(FieldError) {
      bundleIdentifier = try json.string("bundleIdentifier")
      claimed = try json.string("claimed")
      path = try json.string("path")
      digest = try json.string("digest")
      guard case .array(let values)? = json["owners"] else { throw FieldError(field: "owners", expected: "an array") }
      owners = try values.map { value throws(FieldError) in
        guard case .int(let owner) = value else { throw FieldError(field: "owners", expected: "an array of numbers") }
        return Int(owner)
      }
      remembered = try json.string("remembered")
      grants = try json.int("grants")
    }

    package var json: JSONObject {
      [
        "bundleIdentifier": .string(bundleIdentifier), "claimed": .string(claimed), "path": .string(path),
        "digest": .string(digest), "owners": .array(owners.map { JSONValue($0) }), "remembered": .string(remembered),
        "grants": JSONValue(grants),
      ]
    }
  }

  /// Parameters of `Identities`.
  package struct IdentitiesCall: WireMessage {
    package init() {}
    package init(json: JSONObject) throws(FieldError) {}
    package var json: JSONObject { [:] }
  }

  package struct IdentitiesReply: WireMessage {
    package var identities: [Identity]
    package init(identities: [Identity]) { self.identities = identities }
    package init(json: JSONObject) throws(FieldError) { identities = try json.messages("identities") }
    package var json: JSONObject { ["identities": identities.map(\.json).json] }
  }

  package struct ForgetCall: WireMessage {
    package var app: String
    package init(app: String) { self.app = app }
    package init(json: JSONObject) throws(FieldError) { app = try json.string("app") }
    package var json: JSONObject { ["app": .string(app)] }
  }

  package struct ForgetReply: WireMessage {
    /// Of the identifier, in force.
    package var grants: Int
    package init(grants: Int) { self.grants = grants }
    package init(json: JSONObject) throws(FieldError) { grants = try json.int("grants") }
    package var json: JSONObject { ["grants": JSONValue(grants)] }
  }
}
