/// Messages of `io.ambit.Grants`, the user's side.
package enum GrantsInterface {
  package static let name = "io.ambit.Grants"
  package static let list = "io.ambit.Grants.List"
  package static let add = "io.ambit.Grants.Add"
  package static let revoke = "io.ambit.Grants.Revoke"
  package static let apps = "io.ambit.Grants.Apps"
  package static let entitlements = "io.ambit.Grants.Entitlements"
  package static let remove = "io.ambit.Grants.Remove"

  /// Parameters of `List`.
  package struct ListCall: WireMessage {
    package var app: String?
    package init(app: String? = nil) { self.app = app }
    package init(json: JSONObject) throws(FieldError) { app = try json.stringIfPresent("app") }
    package var json: JSONObject {
      var json = JSONObject()
      json.set("app", app)
      return json
    }
  }

  package struct ListReply: WireMessage {
    package var grants: [Grant]
    package init(grants: [Grant]) { self.grants = grants }
    package init(json: JSONObject) throws(FieldError) { grants = try json.messages("grants") }
    package var json: JSONObject { ["grants": grants.map(\.json).json] }
  }

  /// The documents come as descriptors.
  package struct AddCall: WireMessage {
    package var app: String
    package var access: DocumentAccess
    package init(app: String, access: DocumentAccess) {
      self.app = app
      self.access = access
    }
    package init(json: JSONObject) throws(FieldError) {
      app = try json.string("app")
      access = try json.choice("access")
    }
    package var json: JSONObject { ["app": .string(app), "access": .string(access.rawValue)] }
  }

  package struct AddReply: WireMessage {
    package var grants: [String]
    /// What the app may do with each of them: no more than the user may.
    package var access: [DocumentAccess]
    package init(grants: [String], access: [DocumentAccess]) { (self.grants, self.access) = (grants, access) }
    package init(json: JSONObject) throws(FieldError) {
      grants = try json.strings("grants")
      access = try json.strings("access").map { DocumentAccess(rawValue: $0) ?? .readOnly }
    }
    package var json: JSONObject {
      [
        "grants": .array(grants.map { .string($0) }), "access": .array(access.map { .string($0.rawValue) }),
      ]
    }
  }

  package struct RevokeCall: WireMessage {
    package var grant: String?
    package var app: String?
    /// Absolute. The document itself may come as a descriptor.
    package var path: String?
    package var all: Bool
    package init(grant: String? = nil, app: String? = nil, path: String? = nil, all: Bool = false) {
      self.grant = grant
      self.app = app
      self.path = path
      self.all = all
    }
    package init(json: JSONObject) throws(FieldError) {
      grant = try json.stringIfPresent("grant")
      app = try json.stringIfPresent("app")
      path = try json.stringIfPresent("path")
      all = try json.bool("all")
    }
    package var json: JSONObject {
      var json: JSONObject = ["all": .bool(all)]
      json.set("grant", grant)
      json.set("app", app)
      json.set("path", path)
      return json
    }
  }

  package struct RevokeReply: WireMessage {
    package var ended: [Ended]
    /// Grants of folders through which the same apps still have the document.
    package var through: [Grant]
    /// That not all of it is written down yet; a sentence.
    package var note: String?
    package init(ended: [Ended], through: [Grant], note: String? = nil) {
      self.ended = ended
      self.through = through
      self.note = note
    }
    package init(json: JSONObject) throws(FieldError) {
      ended = try json.messages("ended")
      through = try json.messages("through")
      note = try json.stringIfPresent("note")
    }
    package var json: JSONObject {
      var json: JSONObject = ["ended": ended.map(\.json).json, "through": through.map(\.json).json]
      json.set("note", note)
      return json
    }
  }

  package struct AppsReply: WireMessage {
    package var apps: [App]
    package init(apps: [App]) { self.apps = apps }
    package init(json: JSONObject) throws(FieldError) { apps = try json.messages("apps") }
    package var json: JSONObject { ["apps": apps.map(\.json).json] }
  }

  package struct EntitlementsCall: WireMessage {
    package var app: String
    package init(app: String) { self.app = app }
    package init(json: JSONObject) throws(FieldError) { app = try json.string("app") }
    package var json: JSONObject { ["app": .string(app)] }
  }

  package struct EntitlementsReply: WireMessage {
    package var allowed: [String]
    package var refused: [String]
    package init(allowed: [String], refused: [String]) { (self.allowed, self.refused) = (allowed, refused) }
    package init(json: JSONObject) throws(FieldError) {
      allowed = try json.strings("allowed")
      refused = try json.strings("refused")
    }
    package var json: JSONObject {
      ["allowed": .array(allowed.map { .string($0) }), "refused": .array(refused.map { .string($0) })]
    }
  }

  package struct RemoveCall: WireMessage {
    package var app: String
    package var keepData: Bool
    package var kill: Bool
    package init(app: String, keepData: Bool, kill: Bool) {
      self.app = app
      self.keepData = keepData
      self.kill = kill
    }
    package init(json: JSONObject) throws(FieldError) {
      app = try json.string("app")
      keepData = try json.bool("keepData")
      kill = try json.bool("kill")
    }
    package var json: JSONObject { ["app": .string(app), "keepData": .bool(keepData), "kill": .bool(kill)] }
  }

  package struct RemoveReply: WireMessage {
    package var ended: [Ended]
    package var leftovers: String?
    /// That not all of it is written down yet; a sentence.
    package var note: String?
    package init(ended: [Ended], leftovers: String?, note: String? = nil) {
      self.ended = ended
      self.leftovers = leftovers
      self.note = note
    }
    package init(json: JSONObject) throws(FieldError) {
      ended = try json.messages("ended")
      leftovers = try json.stringIfPresent("leftovers")
      note = try json.stringIfPresent("note")
    }
    package var json: JSONObject {
      var json: JSONObject = ["ended": ended.map(\.json).json]
      json.set("leftovers", leftovers)
      json.set("note", note)
      return json
    }
  }

  package enum Failure {
    package static let notFoundName = "io.ambit.Grants.NotFound"
    package static let runningName = "io.ambit.Grants.Running"
    package static let notGrantableName = "io.ambit.Grants.NotGrantable"
    package static let failedName = "io.ambit.Grants.Failed"
    package static func notFound(_ reason: String) -> ErrorReply {
      ErrorReply(notFoundName, ["reason": .string(reason)])
    }
    package static func running(_ app: String, _ instances: Int) -> ErrorReply {
      ErrorReply(runningName, ["app": .string(app), "instances": JSONValue(instances)])
    }
    package static func notGrantable(_ reason: String) -> ErrorReply {
      ErrorReply(notGrantableName, ["reason": .string(reason)])
    }
    package static func failed(_ reason: String) -> ErrorReply { ErrorReply(failedName, ["reason": .string(reason)]) }
  }
}
