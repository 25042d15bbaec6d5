internal import Synchronization

/// The type of a field in an interface description.
package indirect enum VarlinkType: Equatable, Sendable {
  case bool
  case int
  case float
  case string
  /// Any JSON object.
  case object
  case named(String)
  case array(VarlinkType)
  /// An object with free names, and values of one type.
  case map(VarlinkType)
  case optional(VarlinkType)
  case structure(VarlinkStructure)
  case enumeration([String])
}

package struct VarlinkStructure: Equatable, Sendable {
  package struct Field: Equatable, Sendable {
    package let name: String
    package let type: VarlinkType
  }
  package let fields: [Field]
}

/// A Varlink interface: the content of its description, in a form against which messages are checked.
package struct Interface: Sendable {
  package struct Method: Equatable, Sendable {
    package let parameters: VarlinkStructure
    package let reply: VarlinkStructure
  }

  /// For example `io.ambit.Picker`.
  package let name: String
  /// The description as it was written, comments included; the answer of `GetInterfaceDescription`.
  package let description: String
  private let declared: Declared

  package var types: [String: VarlinkType] { declared.members.types }
  package var methods: [String: Method] { declared.members.methods }
  package var errors: [String: VarlinkStructure] { declared.members.errors }

  struct Members: Sendable {
    let types: [String: VarlinkType]
    let methods: [String: Method]
    let errors: [String: VarlinkStructure]
  }

  /// Members that are read when they are first asked for: a process serves more interfaces than its clients speak.
  private final class Declared: Sendable {
    private let read: @Sendable () -> Members
    private let known = Mutex<Members?>(nil)

    init(_ read: @escaping @Sendable () -> Members) { self.read = read }

    var members: Members {
      known.withLock { known in
        if let known { return known }
        let members = read()
        known = members
        return members
      }
    }
  }

  init(name: String, description: String, _ members: @escaping @Sendable () -> Members) {
    self.name = name
    self.description = description
    declared = Declared(members)
  }
}

extension Interface {
  /// The path of the first field that is not as the structure says (missing, unknown, or of another type), for example
  /// `documents.name`; nil when all is well.
  package func fault(in object: JSONObject, against structure: VarlinkStructure) -> String? {
    Self.fault(in: object, against: structure, types)
  }

  private static func fault(
    in object: JSONObject, against structure: VarlinkStructure, _ types: [String: VarlinkType]
  ) -> String? {
    let given = object.fields
    var (found, next) = (0, 0)
    for field in structure.fields {
      // Most messages have their fields in this order.
      let isNext = next < given.count && given[next].name == field.name
      let value = isNext ? given[next].value : object[field.name]
      if isNext { next += 1 }
      if value != nil { found += 1 }
      if let fault = fault(in: value, field.type, at: field.name, types) { return fault }
    }
    if found == given.count { return nil }
    // Names are unique, so an object with a field too many has one that is unknown.
    return given.first { given in !structure.fields.contains { $0.name == given.name } }?.name
  }

  private static func fault(
    in value: JSONValue?, _ type: VarlinkType, at path: String, _ types: [String: VarlinkType]
  ) -> String? {
    switch (type, value) {
    case (.optional, nil), (.optional, .null?): return nil
    case (.optional(let wrapped), _): return fault(in: value, wrapped, at: path, types)
    case (.bool, .bool?), (.int, .int?), (.object, .object?): return nil
    // Paths and names come as strings, and to C a NUL would end them.
    case (.string, .string(let text)?): return text.utf8.contains(0) ? path : nil
    case (.float, .double?), (.float, .int?), (.float, .unsigned?): return nil
    case (.enumeration(let words), .string(let word)?): return words.contains(word) ? nil : path
    case (.named(let name), _): return types[name].map { fault(in: value, $0, at: path, types) } ?? path
    case (.array(let element), .array(let values)?):
      for value in values { if let fault = fault(in: value, element, at: path, types) { return fault } }
      return nil
    case (.map(let element), .object(let object)?):
      for field in object.fields { if let fault = fault(in: field.value, element, at: path, types) { return fault } }
      return nil
    case (.structure(let structure), .object(let object)?):
      return fault(in: object, against: structure, types).map { "\(path).\($0)" }
    default: return path
    }
  }
}
