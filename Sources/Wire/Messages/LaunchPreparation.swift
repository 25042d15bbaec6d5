extension LauncherInterface {
  /// What a bundle's manifest and entitlements say (`Manifest`).
  package struct Manifest: WireMessage, Equatable {
    package var identifier: String
    package var name: String
    package var version: String?
    package var networkClient: Bool
    package var networkServer: Bool
    /// The app asks to pass rights of its own on to other apps.
    package var passGrants: Bool
    /// The app asks to run programs that lie in what the user picked.
    package var executePicked: Bool
    /// What its user may select for it where it asks for Apple's sandbox: `nothing`, `read-only`, `read-write`; `nil`: it does not.
    package var selection: String?
    /// Which bookmarks it asks to keep; without that sandbox it need not ask.
    package var appBookmarks: Bool
    package var documentBookmarks: Bool
    /// Extensions of its own package types.
    package var packageTypes: [String]
    /// Other apps' pickers show its Documents, at once and as far as its version has increased since.
    package var sharesDocuments: Bool
    package var publicScope: Bool

    package init(
      identifier: String, name: String, version: String?, networkClient: Bool, networkServer: Bool,
      passGrants: Bool = false, executePicked: Bool = false, selection: String? = nil, appBookmarks: Bool = false,
      documentBookmarks: Bool = false, packageTypes: [String] = [],
      sharesDocuments: Bool = false, publicScope: Bool = false
    ) {
      self.identifier = identifier
      self.name = name
      self.version = version
      self.networkClient = networkClient
      self.networkServer = networkServer
      self.passGrants = passGrants
      self.executePicked = executePicked
      self.selection = selection
      self.appBookmarks = appBookmarks
      self.documentBookmarks = documentBookmarks
      self.packageTypes = packageTypes
      self.sharesDocuments = sharesDocuments
      self.publicScope = publicScope
    }

    package init(json: JSONObject) throws(FieldError) {
      identifier = try json.string("identifier")
      name = try json.string("name")
      version = try json.stringIfPresent("version")
      networkClient = try json.bool("networkClient")
      networkServer = try json.bool("networkServer")
      passGrants = try json.bool("passGrants")
      executePicked = try json.bool("executePicked")
      selection = try json.stringIfPresent("selection")
      appBookmarks = try json.bool("appBookmarks")
      documentBookmarks = try json.bool("documentBookmarks")
      packageTypes = try json.strings("packageTypes")
      sharesDocuments = try json.bool("sharesDocuments")
      publicScope = try json.bool("publicScope")
    }

    package var json: JSONObject {
      var json: JSONObject = [
        "identifier": .string(identifier), "name": .string(name), "networkClient": .bool(networkClient),
        "networkServer": .bool(networkServer), "passGrants": .bool(passGrants),
        "executePicked": .bool(executePicked), "appBookmarks": .bool(appBookmarks),
        "documentBookmarks": .bool(documentBookmarks), "packageTypes": .array(packageTypes.map { .string($0) }),
        "sharesDocuments": .bool(sharesDocuments), "publicScope": .bool(publicScope),
      ]
      json.set("version", version)
      json.set("selection", selection)
      return json
    }
  }

  /// What an app may do by its policy (`Capabilities`).
  package struct Capabilities: WireMessage, Equatable {
    package var policy: String
    package var scopeLimit: Int
    package var references: Bool
    /// What becomes of a document whose file was replaced: `follow`, `refuse`.
    package var replaced: String
    package var readOnlyPaths: [String]
    /// Names of the launcher's variables that the app gets.
    package var variables: [String]
    /// Variables that the policy sets; they win over those.
    package var environment: [String: String]
    /// How far it goes: `none`, `loopback`, `host`.
    package var network: String
    package var execute: Bool
    /// What it is refused is seen and reported.
    package var observe: Bool
    /// Landlock repeats for files what the mounts say.
    package var landlockFiles: Bool
    /// Names of what has to hold in full, or the app is not run.
    package var requiredLayers: [String]
    /// The machine-wide policy that some of those come from.
    package var requiredBy: String?
    package var limits: Limits
    package var grants: GrantRules

    package init(
      policy: String, scopeLimit: Int, references: Bool, replaced: String, readOnlyPaths: [String], variables: [String],
      environment: [String: String], network: String, execute: Bool, observe: Bool, landlockFiles: Bool,
      requiredLayers: [String], requiredBy: String? = nil, limits: Limits, grants: GrantRules = GrantRules()
    ) {
      self.policy = policy
      self.scopeLimit = scopeLimit
      self.references = references
      self.replaced = replaced
      self.readOnlyPaths = readOnlyPaths
      self.variables = variables
      self.environment = environment
      self.network = network
      self.execute = execute
      self.observe = observe
      self.landlockFiles = landlockFiles
      self.requiredLayers = requiredLayers
      self.requiredBy = requiredBy
      self.limits = limits
      self.grants = grants
    }

    package init(json: JSONObject) throws(FieldError) {
      policy = try json.string("policy")
      scopeLimit = try json.int("scopeLimit")
      references = try json.bool("references")
      replaced = try json.string("replaced")
      readOnlyPaths = try json.strings("readOnlyPaths")
      variables = try json.strings("variables")
      environment = try json.strings(by: "environment")
      network = try json.string("network")
      execute = try json.bool("execute")
      observe = try json.bool("observe")
      landlockFiles = try json.bool("landlockFiles")
      requiredLayers = try json.strings("requiredLayers")
      requiredBy = try json.stringIfPresent("requiredBy")
      limits = try Limits(json: try json.object("limits"))
      grants = try GrantRules(json: try json.object("grants"))
    }

    package var json: JSONObject {
      var json: JSONObject = [
        "policy": .string(policy), "scopeLimit": JSONValue(scopeLimit), "references": .bool(references),
        "replaced": .string(replaced),
        "readOnlyPaths": .array(readOnlyPaths.map { .string($0) }), "variables": .array(variables.map { .string($0) }),
        "environment": .object(JSONObject(environment)), "network": .string(network),
        "execute": .bool(execute), "observe": .bool(observe),
        "landlockFiles": .bool(landlockFiles), "requiredLayers": .array(requiredLayers.map { .string($0) }),
        "limits": .object(limits.json), "grants": .object(grants.json),
      ]
      json.set("requiredBy", requiredBy)
      return json
    }
  }

  /// One of the files that say which app is launched.
  package enum AppFile: String, CaseIterable, Sendable {
    /// The bundle, or what the program lies in.
    case folder
    case manifest, entitlements, executable
  }

  /// Descriptors that come with it: those that `files` names.
  package struct PrepareCall: WireMessage, Equatable {
    /// The host path of the file to run.
    package var program: String
    /// `nil` for a program that is no bundle's.
    package var manifest: Manifest?
    /// The container's name, if not the app's own.
    package var container: String?
    /// A name, or the absolute path of a file.
    package var policy: String
    /// The names in the launcher's environment.
    package var variables: [String]
    /// Report what the app is refused, whatever the policy says of it.
    package var observe: Bool
    /// A seccomp profile's absolute path, or `standard` for none; `nil`: as the policy says.
    package var seccomp: String?
    /// Limits in place of the policy's, as on a command line: `memory=512MiB`.
    package var limits: [String]
    /// The launcher has a terminal to ask the user on.
    package var canAsk: Bool
    /// What the user has chosen, on the terminal or beforehand by an option.
    package var answers: [QuestionAnswer]
    /// Entitlements that the user allows beforehand, by name.
    package var allowEntitlements: [String]
    /// Which files' descriptors come with it, in this order, opened as locations.
    package var files: [AppFile]
    /// The file that the program, an interpreter, is given to run; then it is the executable.
    package var script: String?

    package init(
      program: String, manifest: Manifest?, container: String?, policy: String, variables: [String],
      observe: Bool, seccomp: String? = nil, limits: [String] = [], canAsk: Bool = false,
      answers: [QuestionAnswer] = [], allowEntitlements: [String] = [], files: [AppFile] = [], script: String? = nil
    ) {
      self.program = program
      self.manifest = manifest
      self.container = container
      self.policy = policy
      self.variables = variables
      self.observe = observe
      self.seccomp = seccomp
      self.limits = limits
      self.canAsk = canAsk
      self.answers = answers
      self.allowEntitlements = allowEntitlements
      self.files = files
      self.script = script
    }

    /// The user's choice for a question of this kind; the newest, if there are several.
    package func answer(_ kind: Question.Kind) -> String? { answers.last { $0.kind == kind }?.choice }

    package init(json: JSONObject) throws(FieldError) {
      program = try json.string("program")
      manifest = json.has("manifest") ? try Manifest(json: try json.object("manifest")) : nil
      container = try json.stringIfPresent("container")
      policy = try json.string("policy")
      variables = try json.strings("variables")
      observe = try json.bool("observe")
      seccomp = try json.stringIfPresent("seccomp")
      limits = try json.strings("limits")
      canAsk = try json.bool("canAsk")
      answers = try json.messages("answers")
      allowEntitlements = try json.strings("allowEntitlements")
      files = try json.strings("files").map { name throws(FieldError) in
        guard let file = AppFile(rawValue: name) else { throw FieldError(field: "files", expected: "files of an app") }
        return file
      }
      script = try json.stringIfPresent("script")
    }

    package var json: JSONObject {
      var json: JSONObject = [
        "program": .string(program), "policy": .string(policy), "variables": .array(variables.map { .string($0) }),
        "observe": .bool(observe), "limits": .array(limits.map { .string($0) }), "canAsk": .bool(canAsk),
        "answers": answers.map(\.json).json, "allowEntitlements": .array(allowEntitlements.map { .string($0) }),
        "files": .array(files.map { .string($0.rawValue) }),
      ]
      json.set("script", script)
      json.set("container", container)
      json.set("seccomp", seccomp)
      if let manifest { json["manifest"] = .object(manifest.json) }
      return json
    }
  }

  /// Descriptors that come with it: the compiled filters, sealed; the broker's user and mount namespace, if it has its
  /// own; and a network namespace, if one is ready.
  package struct PrepareReply: WireMessage, Equatable {
    package var instance: String
    package var bundleIdentifier: String
    package var name: String
    /// The app's container on the host.
    package var container: String
    /// Host user and group to run as; -1: the caller's own.
    package var hostID: Int
    /// How many there are: Ambit's own, and a second one where a profile is to hold as well.
    package var filters: Int
    /// Whether a network namespace comes with it, made for this app and with nothing in it.
    package var network: Bool
    package var capabilities: Capabilities
    /// Sentences for the user about this launch.
    package var notices: [String]
    /// Where the app lies on the host.
    package var path: String
    /// Of what it is: 64 hexadecimal digits.
    package var digest: String

    package init(
      instance: String, bundleIdentifier: String, name: String, container: String, hostID: Int,
      filters: Int, network: Bool, capabilities: Capabilities, notices: [String] = [],
      path: String, digest: String
    ) {
      self.instance = instance
      self.bundleIdentifier = bundleIdentifier
      self.name = name
      self.container = container
      self.hostID = hostID
      self.filters = filters
      self.network = network
      self.capabilities = capabilities
      self.notices = notices
      self.path = path
      self.digest = digest
    }

    package init(json: JSONObject) throws(FieldError) {
      instance = try json.string("instance")
      bundleIdentifier = try json.string("bundleIdentifier")
      name = try json.string("name")
      container = try json.string("container")
      hostID = try json.int("hostID")
      filters = try json.int("filters")
      network = try json.bool("network")
      capabilities = try Capabilities(json: try json.object("capabilities"))
      notices = try json.strings("notices")
      path = try json.string("path")
      digest = try json.string("digest")
    }

    package var json: JSONObject {
      [
        "instance": .string(instance), "bundleIdentifier": .string(bundleIdentifier), "name": .string(name),
        "container": .string(container), "hostID": JSONValue(hostID), "filters": JSONValue(filters),
        "network": .bool(network), "capabilities": .object(capabilities.json),
        "notices": .array(notices.map { .string($0) }), "path": .string(path), "digest": .string(digest),
      ]
    }
  }
}
