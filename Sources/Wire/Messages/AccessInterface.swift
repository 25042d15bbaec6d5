/// How an app comes to a document that is started: it opens the path, or the broker hands over descriptors.
package enum AccessWay: String, CaseIterable, Sendable { case path, descriptor }

/// One active scope of a process (`Holder` in `io.ambit.Access`).
package struct HolderMessage: WireMessage {
  package var grant: String
  package var path: String
  package var name: String
  /// Starts that have not been balanced by a stop.
  package var count: Int
  /// RFC 3339.
  package var since: String
  /// As given to the first start, for example `Editor.swift:41`.
  package var caller: String?

  package init(grant: String, path: String, name: String, count: Int, since: String, caller: String?) {
    self.grant = grant
    self.path = path
    self.name = name
    self.count = count
    self.since = since
    self.caller = caller
  }

  package init(json: JSONObject) throws(FieldError) {
    grant = try json.string("grant")
    path = try json.string("path")
    name = try json.string("name")
    count = try json.int("count")
    since = try json.string("since")
    caller = try json.stringIfPresent("caller")
  }

  package var json: JSONObject {
    var json: JSONObject = [
      "grant": .string(grant), "path": .string(path), "name": .string(name), "count": JSONValue(count),
      "since": .string(since),
    ]
    json.set("caller", caller)
    return json
  }
}

/// Messages of `io.ambit.Access`.
package enum AccessInterface {
  package static let name = "io.ambit.Access"
  package static let start = "io.ambit.Access.Start"
  package static let stop = "io.ambit.Access.Stop"
  package static let path = "io.ambit.Access.Path"
  package static let hostPath = "io.ambit.Access.HostPath"
  package static let kept = "io.ambit.Access.Kept"
  package static let open = "io.ambit.Access.Open"
  package static let release = "io.ambit.Access.Release"
  package static let status = "io.ambit.Access.Status"

  package struct StartCall: WireMessage {
    package var scope: String
    package var caller: String?
    /// `nil`: the one that calls.
    package var process: CountedProcess?
    package init(scope: String, caller: String? = nil, process: CountedProcess? = nil) {
      self.scope = scope
      self.caller = caller
      self.process = process
    }
    package init(json: JSONObject) throws(FieldError) {
      scope = try json.string("scope")
      caller = try json.stringIfPresent("caller")
      process = try json.choiceIfPresent("process")
    }
    package var json: JSONObject {
      var json: JSONObject = ["scope": .string(scope)]
      json.set("caller", caller)
      json.set("process", process?.rawValue)
      return json
    }
  }

  package struct StartReply: WireMessage {
    package var path: String
    package var count: Int
    /// `nil`: by its path.
    package var by: AccessWay?
    package init(path: String, count: Int, by: AccessWay? = nil) {
      self.path = path
      self.count = count
      self.by = by
    }
    package init(json: JSONObject) throws(FieldError) {
      path = try json.string("path")
      count = try json.int("count")
      by = try json.choiceIfPresent("by")
    }
    package var json: JSONObject {
      var json: JSONObject = ["path": .string(path), "count": JSONValue(count)]
      json.set("by", by?.rawValue)
      return json
    }
  }

  package struct StopCall: WireMessage {
    package var scope: String
    /// `nil`: the one that calls.
    package var process: CountedProcess?
    package init(scope: String, process: CountedProcess? = nil) {
      self.scope = scope
      self.process = process
    }
    package init(json: JSONObject) throws(FieldError) {
      scope = try json.string("scope")
      process = try json.choiceIfPresent("process")
    }
    package var json: JSONObject {
      var json: JSONObject = ["scope": .string(scope)]
      json.set("process", process?.rawValue)
      return json
    }
  }

  package struct StatusCall: WireMessage {
    /// `nil`: the one that calls.
    package var process: CountedProcess?
    package init(process: CountedProcess? = nil) { self.process = process }
    package init(json: JSONObject) throws(FieldError) { process = try json.choiceIfPresent("process") }
    package var json: JSONObject {
      var json: JSONObject = [:]
      json.set("process", process?.rawValue)
      return json
    }
  }

  /// Parameters of `Path`, `HostPath` and `Release`.
  package struct ScopeCall: WireMessage {
    package var scope: String
    package init(scope: String) { self.scope = scope }
    package init(json: JSONObject) throws(FieldError) { scope = try json.string("scope") }
    package var json: JSONObject { ["scope": .string(scope)] }
  }

  /// The descriptor comes with the answer, which has no fields.
  package struct OpenCall: WireMessage {
    package var scope: String
    /// `nil`: as the grant says.
    package var access: DocumentAccess?
    /// Below the document; `nil`: the document itself.
    package var path: String?
    package var create: Bool?
    package init(scope: String, access: DocumentAccess? = nil, path: String? = nil, create: Bool? = nil) {
      self.scope = scope
      self.access = access
      self.path = path
      self.create = create
    }
    package init(json: JSONObject) throws(FieldError) {
      scope = try json.string("scope")
      access = try json.choiceIfPresent("access")
      path = try json.stringIfPresent("path")
      create = try json.boolIfPresent("create")
    }
    package var json: JSONObject {
      var json: JSONObject = ["scope": .string(scope)]
      json.set("access", access?.rawValue)
      json.set("path", path)
      json.set("create", create)
      return json
    }
  }

  package struct StopReply: WireMessage {
    package var count: Int
    package init(count: Int) { self.count = count }
    package init(json: JSONObject) throws(FieldError) { count = try json.int("count") }
    package var json: JSONObject { ["count": JSONValue(count)] }
  }

  package struct PathReply: WireMessage {
    package var path: String
    package var name: String
    package var kind: DocumentKind
    package var access: DocumentAccess
    /// `nil`: by its path, or it is not started.
    package var by: AccessWay?
    package init(path: String, name: String, kind: DocumentKind, access: DocumentAccess, by: AccessWay? = nil) {
      self.path = path
      self.name = name
      self.kind = kind
      self.access = access
      self.by = by
    }
    package init(json: JSONObject) throws(FieldError) {
      path = try json.string("path")
      name = try json.string("name")
      kind = try json.choice("kind")
      access = try json.choice("access")
      by = try json.choiceIfPresent("by")
    }
    package var json: JSONObject {
      var json: JSONObject = [
        "path": .string(path), "name": .string(name), "kind": .string(kind.rawValue),
        "access": .string(access.rawValue),
      ]
      json.set("by", by?.rawValue)
      return json
    }
  }

  package struct HostPathReply: WireMessage {
    /// `nil`: not known.
    package var path: String?
    package init(path: String?) { self.path = path }
    package init(json: JSONObject) throws(FieldError) { path = try json.stringIfPresent("path") }
    package var json: JSONObject {
      var json: JSONObject = [:]
      json.set("path", path)
      return json
    }
  }

  package struct StatusReply: WireMessage {
    package var used: Int
    package var limit: Int
    package var holders: [HolderMessage]
    package init(used: Int, limit: Int, holders: [HolderMessage]) {
      self.used = used
      self.limit = limit
      self.holders = holders
    }
    package init(json: JSONObject) throws(FieldError) {
      used = try json.int("used")
      limit = try json.int("limit")
      holders = try json.messages("holders")
    }
    package var json: JSONObject {
      ["used": JSONValue(used), "limit": JSONValue(limit), "holders": holders.map(\.json).json]
    }
  }

  package enum Failure {
    package static let limitReachedName = "io.ambit.Access.LimitReached"
    package static let invalidScopeName = "io.ambit.Access.InvalidScope"
    package static let notActiveName = "io.ambit.Access.NotActive"
    package static let readOnlyName = "io.ambit.Access.ReadOnly"
    package static let notToldName = "io.ambit.Access.NotTold"
    package static let notAllowedName = "io.ambit.Access.NotAllowed"
    package static let revokedName = "io.ambit.Access.Revoked"
    package static let crowdedName = "io.ambit.Access.Crowded"
    package static let unavailableName = "io.ambit.Access.Unavailable"
    package static let notOpenedName = "io.ambit.Access.NotOpened"
    package static func limitReached(limit: Int, holders: [HolderMessage]) -> ErrorReply {
      ErrorReply(limitReachedName, ["limit": JSONValue(limit), "holders": holders.map(\.json).json])
    }
    package static func crowded(_ reason: String) -> ErrorReply {
      ErrorReply(crowdedName, ["reason": .string(reason)])
    }
    package static let invalidScope = ErrorReply(invalidScopeName)
    package static let notActive = ErrorReply(notActiveName)
    package static let readOnly = ErrorReply(readOnlyName)
    package static let notTold = ErrorReply(notToldName)
    package static let revoked = ErrorReply(revokedName)
    package static func notAllowed(_ reason: String) -> ErrorReply {
      ErrorReply(notAllowedName, ["reason": .string(reason)])
    }
    package static func notOpened(_ reason: String, code: String) -> ErrorReply {
      ErrorReply(notOpenedName, ["reason": .string(reason), "code": .string(code)])
    }
    package static func unavailable(_ reason: String) -> ErrorReply {
      ErrorReply(unavailableName, ["reason": .string(reason)])
    }
  }
}
