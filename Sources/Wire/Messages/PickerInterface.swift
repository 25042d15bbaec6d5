/// Messages of `io.ambit.Picker`.
package enum PickerInterface {
  package static let name = "io.ambit.Picker"
  package static let pick = "io.ambit.Picker.Pick"

  /// What the choice means. This version knows the original, not a copy.
  package enum Mode: String, CaseIterable, Sendable { case open }

  package struct PickCall: WireMessage {
    package var mode: Mode
    package var multiple: Bool
    package var kind: DocumentKind
    package var access: DocumentAccess
    /// File name extensions without dot; nil: anything may be chosen.
    package var types: [String]?
    package var message: String?
    /// Whose start it is where the policy starts what is picked; nil: that of the one that calls.
    package var process: CountedProcess?

    package init(
      mode: Mode = .open, multiple: Bool = false, kind: DocumentKind = .file, access: DocumentAccess = .readWrite,
      types: [String]? = nil, message: String? = nil, process: CountedProcess? = nil
    ) {
      self.mode = mode
      self.multiple = multiple
      self.kind = kind
      self.access = access
      self.types = types
      self.message = message
      self.process = process
    }

    /// Absent fields have their defaults: one file, for reading and writing.
    package init(json: JSONObject) throws(FieldError) {
      mode = try json.choice("mode")
      multiple = try json.boolIfPresent("multiple") ?? false
      kind = try json.choiceIfPresent("kind") ?? .file
      access = try json.choiceIfPresent("access") ?? .readWrite
      types = try json.stringsIfPresent("types")
      message = try json.stringIfPresent("message")
      process = try json.choiceIfPresent("process")
    }

    package var json: JSONObject {
      var json: JSONObject = [
        "mode": .string(mode.rawValue), "multiple": .bool(multiple), "kind": .string(kind.rawValue),
        "access": .string(access.rawValue),
      ]
      json.set("types", types)
      json.set("message", message)
      json.set("process", process?.rawValue)
      return json
    }
  }

  package struct PickReply: WireMessage {
    package var documents: [DocumentMessage]
    package init(documents: [DocumentMessage]) { self.documents = documents }
    package init(json: JSONObject) throws(FieldError) {
      documents = try json.messages("documents")
    }
    package var json: JSONObject { ["documents": documents.map(\.json).json] }
  }

  package enum Failure {
    package static let cancelledName = "io.ambit.Picker.Cancelled"
    package static let noUserName = "io.ambit.Picker.NoUser"
    package static let notGrantableName = "io.ambit.Picker.NotGrantable"
    package static let cancelled = ErrorReply(cancelledName)
    package static func noUser(_ reason: String) -> ErrorReply {
      ErrorReply(noUserName, ["reason": .string(reason)])
    }
    package static let quotaReachedName = "io.ambit.Picker.QuotaReached"
    package static func quotaReached(limit: Int) -> ErrorReply {
      ErrorReply(quotaReachedName, ["limit": JSONValue(limit)])
    }
    package static func notGrantable(_ reason: String) -> ErrorReply {
      ErrorReply(notGrantableName, ["reason": .string(reason)])
    }
  }
}
