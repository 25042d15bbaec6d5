/// Messages of `io.ambit.Launcher`, the user's side.
package enum LauncherInterface {
  package static let name = "io.ambit.Launcher"
  package static let prepare = "io.ambit.Launcher.Prepare"
  package static let attach = "io.ambit.Launcher.Attach"
  package static let prompts = "io.ambit.Launcher.Prompts"
  package static let answer = "io.ambit.Launcher.Answer"
  package static let ended = "io.ambit.Launcher.Ended"
  package static let instances = "io.ambit.Launcher.Instances"
  package static let shutdown = "io.ambit.Launcher.Shutdown"

  /// Who made a choice.
  package enum How: String, CaseIterable, Sendable { case user, scripted }

  /// A layer that holds in part or not at all, though the policy requires it or the plan asks for it (`DegradedLayer`).
  package struct DegradedLayer: WireMessage, Equatable {
    package enum Enforcement: String, CaseIterable, Sendable { case partial, notEnforced }

    package var layer: String
    package var enforcement: Enforcement
    /// The end of a sentence.
    package var reason: String
    /// The user said that the app may run all the same.
    package var allowed: Bool

    package init(layer: String, enforcement: Enforcement, reason: String, allowed: Bool) {
      self.layer = layer
      self.enforcement = enforcement
      self.reason = reason
      self.allowed = allowed
    }

    package init(json: JSONObject) throws(FieldError) {
      layer = try json.string("layer")
      enforcement = try json.choice("enforcement")
      reason = try json.string("reason")
      allowed = try json.bool("allowed")
    }

    package var json: JSONObject {
      [
        "layer": .string(layer), "enforcement": .string(enforcement.rawValue), "reason": .string(reason),
        "allowed": .bool(allowed),
      ]
    }
  }

  /// Descriptors that come with it, in this order: pidfd of the sandbox's init, its mount namespace, the writable side
  /// of its `/documents`, its listening socket, its own `/proc`.
  package struct AttachCall: WireMessage {
    package var instance: String
    package var bundleIdentifier: String
    package var name: String
    package var policy: String
    package var scopeLimit: Int
    package var references: Bool
    /// What becomes of a document whose file was replaced: `follow`, `refuse`.
    package var replaced: String
    package var pid: Int
    /// The instance was attached to a broker that is gone.
    package var resume: Bool
    package var degraded: [DegradedLayer]
    package var grants: GrantRules
    /// As `Prepare` has answered.
    package var path: String
    package var digest: String

    package init(
      instance: String, bundleIdentifier: String, name: String, policy: String, scopeLimit: Int, references: Bool,
      replaced: String, pid: Int, resume: Bool, degraded: [DegradedLayer], grants: GrantRules = GrantRules(),
      path: String, digest: String
    ) {
      self.instance = instance
      self.bundleIdentifier = bundleIdentifier
      self.name = name
      self.policy = policy
      self.scopeLimit = scopeLimit
      self.references = references
      self.replaced = replaced
      self.pid = pid
      self.resume = resume
      self.degraded = degraded
      self.grants = grants
      self.path = path
      self.digest = digest
    }

    package init(json: JSONObject) throws(FieldError) {
      instance = try json.string("instance")
      bundleIdentifier = try json.string("bundleIdentifier")
      name = try json.string("name")
      policy = try json.string("policy")
      scopeLimit = try json.int("scopeLimit")
      references = try json.bool("references")
      replaced = try json.string("replaced")
      pid = try json.int("pid")
      resume = try json.bool("resume")
      degraded = try json.messages("degraded")
      grants = try GrantRules(json: try json.object("grants"))
      path = try json.string("path")
      digest = try json.string("digest")
    }

    package var json: JSONObject {
      [
        "instance": .string(instance), "bundleIdentifier": .string(bundleIdentifier), "name": .string(name),
        "policy": .string(policy), "scopeLimit": JSONValue(scopeLimit), "references": .bool(references),
        "replaced": .string(replaced), "pid": JSONValue(pid), "resume": .bool(resume),
        "degraded": degraded.map(\.json).json,
        "grants": .object(grants.json), "path": .string(path), "digest": .string(digest),
      ]
    }
  }

  package struct PromptsCall: WireMessage {
    package var instance: String
    package init(instance: String) { self.instance = instance }
    package init(json: JSONObject) throws(FieldError) { instance = try json.string("instance") }
    package var json: JSONObject { ["instance": .string(instance)] }
  }

  /// Descriptors that come with it: the chosen documents, as many as `paths` and in the same order.
  package struct AnswerCall: WireMessage {
    package var instance: String
    package var id: Int
    package var how: How
    package var cancelled: Bool
    package var paths: [String]
    /// Why nobody could be asked.
    package var unavailable: String?

    package init(
      instance: String, id: Int, how: How, cancelled: Bool = false, paths: [String] = [], unavailable: String? = nil
    ) {
      self.instance = instance
      self.id = id
      self.how = how
      self.cancelled = cancelled
      self.paths = paths
      self.unavailable = unavailable
    }

    package init(json: JSONObject) throws(FieldError) {
      instance = try json.string("instance")
      id = try json.int("id")
      how = try json.choice("how")
      cancelled = try json.bool("cancelled")
      paths = try json.strings("paths")
      unavailable = try json.stringIfPresent("unavailable")
    }

    package var json: JSONObject {
      var json: JSONObject = [
        "instance": .string(instance), "id": JSONValue(id), "how": .string(how.rawValue),
        "cancelled": .bool(cancelled), "paths": .array(paths.map { .string($0) }),
      ]
      json.set("unavailable", unavailable)
      return json
    }
  }

  package struct AnswerReply: WireMessage {
    package var refused: [String]
    package init(refused: [String]) { self.refused = refused }
    package init(json: JSONObject) throws(FieldError) { refused = try json.strings("refused") }
    package var json: JSONObject { ["refused": .array(refused.map { .string($0) })] }
  }

  package struct EndedCall: WireMessage {
    package var instance: String
    package var status: Int
    /// 0 when it exited by itself.
    package var signal: Int
    /// What ended it, if it was one of its limits.
    package var limit: LimitHit?
    package init(instance: String, status: Int, signal: Int, limit: LimitHit? = nil) {
      self.instance = instance
      self.status = status
      self.signal = signal
      self.limit = limit
    }
    package init(json: JSONObject) throws(FieldError) {
      instance = try json.string("instance")
      status = try json.int("status")
      signal = try json.int("signal")
      limit = json.has("limit") ? try LimitHit(json: try json.object("limit")) : nil
    }
    package var json: JSONObject {
      var json: JSONObject = ["instance": .string(instance), "status": JSONValue(status), "signal": JSONValue(signal)]
      if let limit { json["limit"] = .object(limit.json) }
      return json
    }
  }

  /// The answer of `Ended`: what the app left started, and why the broker ended it, if it did.
  package struct EndedReply: WireMessage {
    package var leaks: [Scope]
    package var reason: String?
    package init(leaks: [Scope] = [], reason: String? = nil) {
      self.leaks = leaks
      self.reason = reason
    }
    package init(json: JSONObject) throws(FieldError) {
      leaks = try json.messages("leaks")
      reason = try json.stringIfPresent("reason")
    }
    package var json: JSONObject {
      var json: JSONObject = ["leaks": leaks.map(\.json).json]
      json.set("reason", reason)
      return json
    }
  }

  package enum Failure {
    package static let unknownInstanceName = "io.ambit.Launcher.UnknownInstance"
    package static let failedName = "io.ambit.Launcher.Failed"
    package static let leavingName = "io.ambit.Launcher.Leaving"
    package static let leaving = ErrorReply(leavingName)
    package static let needsAnswerName = "io.ambit.Launcher.NeedsAnswer"
    package static func needsAnswer(_ question: Question) -> ErrorReply {
      ErrorReply(needsAnswerName, ["question": .object(question.json)])
    }
    package static func unknownInstance(_ instance: String) -> ErrorReply {
      ErrorReply(unknownInstanceName, ["instance": .string(instance)])
    }
    package static func failed(_ reason: String) -> ErrorReply { ErrorReply(failedName, ["reason": .string(reason)]) }
  }
}
