internal import Kernel
internal import Paths
package import PickerUI
package import Sandbox
package import Wire

/// The user's answer, beforehand, for an app that is not the one which its identifier was given to (`--trust`).
package enum Trust: String, CaseIterable, Sendable {
  /// It is run as an app of its own.
  case new
  /// It takes the other one's place.
  case replace
}

/// The app to launch: found, and not yet checked by the broker.
package struct LaunchRequest: Equatable, Sendable {
  package var program: SandboxRequest.Program
  /// `nil` for a program that is no bundle's.
  package var manifest: LauncherInterface.Manifest?
  package var arguments: [String]
  package var container: String?
  /// A name, or the absolute path of a file.
  package var policy: String
  /// The answers to the app's requests for documents, in order; `nil`: the user answers.
  package var answers: [ScriptedPicker.Answer]?
  /// Show the user each refusal to the app as it happens.
  package var trace: Bool
  /// Where programs read the events of the launch; `nil`: nowhere.
  package var statusDescriptor: Int32?
  /// A seccomp profile's absolute path, or `standard` for none; `nil`: as the policy says.
  package var seccomp: String?
  /// Limits in place of the policy's: `memory=512MiB`.
  package var limits: [String]
  /// The layers that may hold in part or not at all, although the policy requires them.
  package var allowDegraded: [Layer]
  /// The treatment of an app other than the one that its identifier was given to; `nil`: the user is asked.
  package var trust: Trust?
  /// Entitlements that the user allows beforehand, by their keys.
  package var allowEntitlements: [String]
  /// The picker is lines of text, and repaints nothing.
  package var face: PickerFace?
  /// The documents that it is given; `{}` in its arguments stands for them.
  package var given: [GivenDocument] = []

  package init(
    program: SandboxRequest.Program, manifest: LauncherInterface.Manifest?, arguments: [String], container: String?,
    policy: String, answers: [ScriptedPicker.Answer]?, trace: Bool, statusDescriptor: Int32? = nil,
    seccomp: String? = nil, limits: [String] = [], allowDegraded: [Layer] = [], trust: Trust? = nil,
    allowEntitlements: [String] = []
  ) {
    self.program = program
    self.manifest = manifest
    self.arguments = arguments
    self.container = container
    self.policy = Self.absolute(policy)
    self.answers = answers
    self.trace = trace
    self.statusDescriptor = statusDescriptor
    self.limits = limits
    self.seccomp = seccomp.map { $0 == Self.standardProfile ? $0 : Self.fromHere($0) }
    self.allowDegraded = allowDegraded
    self.trust = trust
    self.allowEntitlements = allowEntitlements
  }

  /// A plain program, by the command line.
  init(_ words: RunArguments, environment: [String: String]) throws(Failure) {
    self.init(
      program: .file(path: try ProgramSearch.find(words.app, path: environment["PATH"])), manifest: nil,
      arguments: words.arguments, container: words.container, policy: words.policy,
      answers: words.picks.isEmpty ? nil : words.picks.map { .pick([$0]) }, trace: words.trace,
      statusDescriptor: words.statusDescriptor, seccomp: words.seccomp, limits: words.limits,
      allowDegraded: words.allowDegraded, trust: words.trust)
    face = words.face
    try give(words.given)
  }

  /// The app is given documents as well.
  package mutating func give(_ documents: [GivenDocument]) throws(Failure) {
    if let fault = DocumentPlaces.fault(arguments, documents: documents.count) { throw Failure(fault) }
    // As many as come with one message, beside the app's own files.
    guard documents.count <= 240 else { throw Failure("at most 240 documents at a time; these are \(documents.count)") }
    given = documents.map { .init($0.how, Self.fromHere($0.path)) }
  }

  /// The word for Ambit's own profile and no other.
  package static let standardProfile = "standard"

  /// The broker has a current folder of its own.
  private static func absolute(_ policy: String) -> String {
    let isPath = policy.hasSlash || policy.hasSuffix(".toml")
    return isPath ? fromHere(policy) : policy
  }

  private static func fromHere(_ path: String) -> String {
    path.isAbsolutePath ? path : "\(ThisProcess.directory)/\(path)"
  }

  /// The host path of the file to run.
  package var executable: String {
    switch program {
    case .bundle(let path, let executable): "\(path)/\(executable)"
    case .file(let path): path
    }
  }

  /// The host path of the bundle, or of the program that is no bundle's.
  var appPath: String {
    switch program {
    case .bundle(let path, _), .file(let path): path
    }
  }
}

/// The form in which the tools hand a request back to the launcher; the arguments come on the command line.
extension LaunchRequest {
  package var json: JSONObject {
    var json: JSONObject = ["policy": .string(policy), "trace": .bool(trace)]
    switch program {
    case .bundle(let path, let executable):
      json["bundle"] = .string(path)
      json["executable"] = .string(executable)
    case .file(let path): json["executable"] = .string(path)
    }
    if let manifest { json["manifest"] = .object(manifest.json) }
    json.set("container", container)
    json.set("statusDescriptor", statusDescriptor.map { Int($0) })
    json.set("seccomp", seccomp)
    if !limits.isEmpty { json.set("limits", limits) }
    if !allowDegraded.isEmpty { json.set("allowDegraded", allowDegraded.map(\.rawValue)) }
    json.set("trust", trust?.rawValue)
    json.set("face", face?.rawValue)
    if !given.isEmpty { json.set("given", given.flatMap { [$0.how.rawValue, $0.path] }) }
    if !allowEntitlements.isEmpty { json.set("allowEntitlements", allowEntitlements) }
    if let answers {
      json["answers"] = .array(
        answers.map { answer in
          switch answer {
          case .pick(let paths): .array(paths.map { .string($0) })
          case .cancel: .null
          case .create(let folder): folder.map { .string($0) } ?? .bool(true)
          case .act(let action, let paths):
            .object(["action": .string(action), "pick": .array(paths.map { .string($0) })])
          case .fill(let values, let button):
            .object([
              "fill": .array(values.flatMap { [.string($0.key), .string($0.value)] }),
              "button": button.map { .string($0) } ?? .null,
            ])
          }
        })
    }
    return json
  }

  package init(json: JSONObject, arguments: [String]) throws(FieldError) {
    let executable = try json.string("executable")
    let bundle = try json.stringIfPresent("bundle")
    var answers: [ScriptedPicker.Answer]?
    if case .array(let values)? = json["answers"] {
      answers = try values.map { value throws(FieldError) in
        if case .null = value { return .cancel }
        if case .bool = value { return .create(nil) }
        if case .string(let folder) = value { return .create(folder) }
        if case .object(let act) = value, act.has("action") {
          return .act(try act.string("action"), try act.strings("pick"))
        }
        if case .object(let form) = value {
          let words = try form.strings("fill")
          var fields: [String: String] = [:]
          for index in stride(from: 0, to: words.count - 1, by: 2) { fields[words[index]] = words[index + 1] }
          return .fill(fields, button: try form.stringIfPresent("button"))
        }
        return .pick(try (["pick": value] as JSONObject).strings("pick"))
      }
    }
    let allowDegraded = try (json.stringsIfPresent("allowDegraded") ?? []).map { name throws(FieldError) in
      guard let layer = Layer(rawValue: name) else { throw FieldError(field: "allowDegraded", expected: "layers") }
      return layer
    }
    let trust = try json.stringIfPresent("trust").map { word throws(FieldError) in
      guard let trust = Trust(rawValue: word) else { throw FieldError(field: "trust", expected: "new or replace") }
      return trust
    }
    self.init(
      program: bundle.map { .bundle(path: $0, executable: executable) } ?? .file(path: executable),
      manifest: json.has("manifest") ? try .init(json: try json.object("manifest")) : nil, arguments: arguments,
      container: try json.stringIfPresent("container"), policy: try json.string("policy"), answers: answers,
      trace: try json.bool("trace"),
      statusDescriptor: try json.intIfPresent("statusDescriptor").map { Int32(truncatingIfNeeded: $0) },
      seccomp: try json.stringIfPresent("seccomp"), limits: try json.stringsIfPresent("limits") ?? [],
      allowDegraded: allowDegraded, trust: trust,
      allowEntitlements: try json.stringsIfPresent("allowEntitlements") ?? [])
    face = try json.stringIfPresent("face").flatMap(PickerFace.init)
    let words = try json.stringsIfPresent("given") ?? []
    given = try stride(from: 0, to: words.count - 1, by: 2).map { index throws(FieldError) in
      guard let how = GivenDocument.How(rawValue: words[index]) else {
        throw FieldError(field: "given", expected: "documents")
      }
      return GivenDocument(how, words[index + 1])
    }
  }
}
