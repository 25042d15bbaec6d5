extension LauncherInterface {
  /// The Documents of an app that shows them to the others (`Place`).
  package struct Place: WireMessage, Equatable {
    package var name: String
    /// On the host.
    package var path: String
    package init(name: String, path: String) {
      self.name = name
      self.path = path
    }
    package init(json: JSONObject) throws(FieldError) {
      name = try json.string("name")
      path = try json.string("path")
    }
    package var json: JSONObject { ["name": .string(name), "path": .string(path)] }
  }

  /// What an app asks its user for (`PickRequest`); the one field of an answer to `Prompts`.
  package struct PickRequest: WireMessage {
    package var id: Int
    package var mode: PickerInterface.Mode
    package var multiple: Bool
    package var kind: DocumentKind
    package var access: DocumentAccess
    package var types: [String]?
    /// Lower-case extensions of what its policy lets it have; `nil`: any.
    package var allowed: [String]?
    /// Extensions of folders that are documents, of all that there are.
    package var packages: [String]
    package var places: [Place]
    package var message: String?
    package var appName: String

    package init(
      id: Int, call: PickerInterface.PickCall, allowed: [String]? = nil, packages: [String] = [], places: [Place] = [],
      appName: String
    ) {
      self.id = id
      mode = call.mode
      multiple = call.multiple
      kind = call.kind
      access = call.access
      types = call.types
      self.allowed = allowed
      self.packages = packages
      self.places = places
      message = call.message
      self.appName = appName
    }

    package init(json: JSONObject) throws(FieldError) {
      id = try json.int("id")
      mode = try json.choice("mode")
      multiple = try json.bool("multiple")
      kind = try json.choice("kind")
      access = try json.choice("access")
      types = try json.stringsIfPresent("types")
      allowed = try json.stringsIfPresent("allowed")
      packages = try json.strings("packages")
      places = try json.messages("places")
      message = try json.stringIfPresent("message")
      appName = try json.string("appName")
    }

    package var json: JSONObject {
      var json: JSONObject = [
        "id": JSONValue(id), "mode": .string(mode.rawValue), "multiple": .bool(multiple),
        "kind": .string(kind.rawValue), "access": .string(access.rawValue), "appName": .string(appName),
        "packages": .array(packages.map { .string($0) }), "places": places.map(\.json).json,
      ]
      json.set("types", types)
      json.set("allowed", allowed)
      json.set("message", message)
      return json
    }
  }

  package struct PromptsReply: WireMessage {
    package var request: PickRequest
    package init(request: PickRequest) { self.request = request }
    package init(json: JSONObject) throws(FieldError) { request = try PickRequest(json: try json.object("request")) }
    package var json: JSONObject { ["request": .object(request.json)] }
  }

  /// An active scope of a running instance, as the user sees it.
  package struct Scope: WireMessage {
    package var grant: String
    package var path: String
    /// Where the document is on the host.
    package var host: String
    /// Whose it is, as its sandbox numbers processes.
    package var process: Int
    package var count: Int
    package var since: String
    package var caller: String?

    package init(grant: String, path: String, host: String, process: Int, count: Int, since: String, caller: String?) {
      self.grant = grant
      self.path = path
      self.host = host
      self.process = process
      self.count = count
      self.since = since
      self.caller = caller
    }

    package init(json: JSONObject) throws(FieldError) {
      grant = try json.string("grant")
      path = try json.string("path")
      host = try json.string("host")
      process = try json.int("process")
      count = try json.int("count")
      since = try json.string("since")
      caller = try json.stringIfPresent("caller")
    }

    package var json: JSONObject {
      var json: JSONObject = [
        "grant": .string(grant), "path": .string(path), "host": .string(host), "process": JSONValue(process),
        "count": JSONValue(count), "since": .string(since),
      ]
      json.set("caller", caller)
      return json
    }
  }

  /// A running instance.
  package struct Instance: WireMessage {
    package var instance: String
    package var bundleIdentifier: String
    package var name: String
    package var pid: Int
    package var policy: String
    package var started: String
    /// By the process that uses most.
    package var used: Int
    /// Of each process.
    package var limit: Int
    package var scopes: [Scope]
    /// Where the app lies on the host, and the digest of what it is.
    package var path: String
    package var digest: String

    package init(
      instance: String, bundleIdentifier: String, name: String, pid: Int, policy: String, started: String, used: Int,
      limit: Int, scopes: [Scope], path: String, digest: String
    ) {
      self.instance = instance
      self.bundleIdentifier = bundleIdentifier
      self.name = name
      self.pid = pid
      self.policy = policy
      self.started = started
      self.used = used
      self.limit = limit
      self.scopes = scopes
      self.path = path
      self.digest = digest
    }

    package init(json: JSONObject) throws(FieldError) {
      instance = try json.string("instance")
      bundleIdentifier = try json.string("bundleIdentifier")
      name = try json.string("name")
      pid = try json.int("pid")
      policy = try json.string("policy")
      started = try json.string("started")
      used = try json.int("used")
      limit = try json.int("limit")
      scopes = try json.messages("scopes")
      path = try json.string("path")
      digest = try json.string("digest")
    }

    package var json: JSONObject {
      [
        "instance": .string(instance), "bundleIdentifier": .string(bundleIdentifier), "name": .string(name),
        "pid": JSONValue(pid), "policy": .string(policy), "started": .string(started), "used": JSONValue(used),
        "limit": JSONValue(limit), "scopes": scopes.map(\.json).json, "path": .string(path), "digest": .string(digest),
      ]
    }
  }

  package struct InstancesReply: WireMessage {
    package var instances: [Instance]
    package init(instances: [Instance]) { self.instances = instances }
    package init(json: JSONObject) throws(FieldError) {
      instances = try json.messages("instances")
    }
    package var json: JSONObject { ["instances": instances.map(\.json).json] }
  }
}
