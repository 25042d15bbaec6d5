extension LauncherInterface {
  package static let denied = "io.ambit.Launcher.Denied"

  /// Something that an instance was refused.
  package struct DeniedCall: WireMessage, Equatable {
    package var instance: String
    /// `read`, `write`, `create`, `connect`, `socket`, `call`; `launch`: all of it, by the launcher; `more`: refusals that were
    /// only counted.
    package var operation: String
    package var path: String?
    /// The number of a system call.
    package var call: Int?
    /// What the call failed with, by its name in `errno(3)`.
    package var error: String
    package var rule: String
    package var reason: String
    package var remedy: String
    /// How many like it were not reported since the last report.
    package var suppressed: Int

    package init(
      instance: String, operation: String, path: String?, call: Int?, error: String, rule: String, reason: String,
      remedy: String, suppressed: Int
    ) {
      self.instance = instance
      self.operation = operation
      self.path = path
      self.call = call
      self.error = error
      self.rule = rule
      self.reason = reason
      self.remedy = remedy
      self.suppressed = suppressed
    }

    package init(json: JSONObject) throws(FieldError) {
      instance = try json.string("instance")
      operation = try json.string("operation")
      path = try json.stringIfPresent("path")
      call = try json.intIfPresent("call")
      error = try json.string("error")
      rule = try json.string("rule")
      reason = try json.string("reason")
      remedy = try json.string("remedy")
      suppressed = try json.int("suppressed")
    }

    package var json: JSONObject {
      var json: JSONObject = [
        "instance": .string(instance), "operation": .string(operation), "error": .string(error), "rule": .string(rule),
        "reason": .string(reason), "remedy": .string(remedy), "suppressed": JSONValue(suppressed),
      ]
      json.set("path", path)
      json.set("call", call)
      return json
    }
  }

  package struct DeniedReply: WireMessage, Equatable {
    /// Of the system call that was refused.
    package var name: String?
    package init(name: String?) { self.name = name }
    package init(json: JSONObject) throws(FieldError) { name = try json.stringIfPresent("name") }
    package var json: JSONObject {
      var json = JSONObject()
      json.set("name", name)
      return json
    }
  }
}
