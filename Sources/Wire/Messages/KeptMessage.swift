extension AccessInterface {
  /// A document that the app used lately (`Recent`).
  package struct Recent: WireMessage, Equatable {
    package var grant: String
    package var name: String
    /// RFC 3339.
    package var used: String
    /// A bookmark or a reference was made of it.
    package var kept: Bool

    package init(grant: String, name: String, used: String, kept: Bool) {
      self.grant = grant
      self.name = name
      self.used = used
      self.kept = kept
    }

    package init(json: JSONObject) throws(FieldError) {
      grant = try json.string("grant")
      name = try json.string("name")
      used = try json.string("used")
      kept = try json.bool("kept")
    }

    package var json: JSONObject {
      ["grant": .string(grant), "name": .string(name), "used": .string(used), "kept": .bool(kept)]
    }
  }

  package struct KeptReply: WireMessage {
    /// The name of the rule.
    package var profile: String
    package var kept: Int
    /// `nil`: as many as it is given.
    package var maximum: Int?
    /// Newest first; empty where there is no such list.
    package var recent: [Recent]
    /// How long the list may be; `nil`: there is none.
    package var recentMaximum: Int?

    package init(profile: String, kept: Int, maximum: Int?, recent: [Recent], recentMaximum: Int?) {
      self.profile = profile
      self.kept = kept
      self.maximum = maximum
      self.recent = recent
      self.recentMaximum = recentMaximum
    }

    package init(json: JSONObject) throws(FieldError) {
      profile = try json.string("profile")
      kept = try json.int("kept")
      maximum = try json.intIfPresent("maximum")
      recent = try json.messages("recent")
      recentMaximum = try json.intIfPresent("recentMaximum")
    }

    package var json: JSONObject {
      var json: JSONObject = [
        "profile": .string(profile), "kept": JSONValue(kept), "recent": recent.map(\.json).json,
      ]
      json.set("maximum", maximum)
      json.set("recentMaximum", recentMaximum)
      return json
    }
  }
}
