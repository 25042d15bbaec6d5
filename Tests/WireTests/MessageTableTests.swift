import Testing

@testable import Wire

/// Every message against its interface, with samples that are made of the interface.
@Suite struct `Messages and their interfaces` {
  static let interfaces = Interface.all

  /// The words of strings that the interface leaves open.
  static let words = ["mode": "open", "location": "trash"]

  /// Where a message is described.
  struct Place {
    let member: String
    let type: any WireMessage.Type
    let interface: Interface
    let structure: VarlinkStructure

    init(_ entry: (member: String, type: any WireMessage.Type)) throws {
      (member, type) = entry
      let isType = !member.hasSuffix("(") && !member.hasSuffix(")")
      let path = isType ? Substring(member) : member.dropLast()
      let dot = try #require(path.lastIndex(of: "."))
      let name = String(path[path.index(after: dot)...])
      interface = try #require(`Messages and their interfaces`.interfaces.first { $0.name == path[..<dot] })
      if isType {
        guard case .structure(let structure)? = interface.types[name] else {
          throw FieldError(field: name, expected: "a type")
        }
        self.structure = structure
      } else {
        let method = try #require(interface.methods[name])
        structure = member.hasSuffix("(") ? method.parameters : method.reply
      }
    }

    func again(_ json: JSONObject) throws -> JSONObject { try type.init(json: json).json }
  }

  static func places() throws -> [Place] { try messageTable.map { try Place($0) } }

  /// Makes samples: with every optional field and two elements in each array, or with none.
  struct Sampler {
    let interface: Interface
    let isFull: Bool
    /// Numbers differ, and strings are their fields' names: none takes another one's place unseen.
    var number: Int64 = 0

    mutating func object(_ structure: VarlinkStructure) -> JSONObject {
      var object = JSONObject()
      for field in structure.fields { object[field.name] = value(field.type, field.name) }
      return object
    }

    mutating func value(_ type: VarlinkType, _ name: String) -> JSONValue? {
      switch type {
      case .bool: return .bool(isFull)
      case .int, .float:
        number += 1
        return .int(number)
      case .string: return .string(words[name] ?? name)
      case .object: return [:]
      case .named(let other): return interface.types[other].flatMap { value($0, name) }
      case .array(let element): return .array(isFull ? (0..<2).compactMap { _ in value(element, name) } : [])
      case .map(let element): return isFull ? value(element, name).map { ["key": $0] } : [:]
      case .optional(let wrapped): return isFull ? value(wrapped, name) : nil
      case .structure(let structure): return .object(object(structure))
      case .enumeration(let words): return words.last.map { .string($0) }
      }
    }
  }

  static func sample(_ place: Place, isFull: Bool) -> JSONObject {
    var sampler = Sampler(interface: place.interface, isFull: isFull)
    return sampler.object(place.structure)
  }

  @Test func `every type, and every call and answer with fields, has a message`() {
    var members: Set<String> = []
    for interface in Self.interfaces {
      for name in interface.types.keys { members.insert("\(interface.name).\(name)") }
      for (name, method) in interface.methods {
        if !method.parameters.fields.isEmpty { members.insert("\(interface.name).\(name)(") }
        if !method.reply.fields.isEmpty { members.insert("\(interface.name).\(name))") }
      }
    }
    #expect(members.subtracting(messageTable.map(\.member)).isEmpty)
  }

  @Test func `with all of its fields each is written as it was read`() throws {
    for place in try Self.places() {
      let json = Self.sample(place, isFull: true)
      #expect(place.interface.fault(in: json, against: place.structure) == nil, "\(place.member)")
      let again = try place.again(json)
      #expect(again == json, "\(place.member): \(again.text)")
    }
  }

  @Test func `without its optional fields each is read, and is written as its interface describes it`() throws {
    for place in try Self.places() {
      let json = Self.sample(place, isFull: false)
      let once = try place.again(json)
      #expect(place.interface.fault(in: once, against: place.structure) == nil, "\(place.member): \(once.text)")
      for field in json.fields { #expect(once[field.name] == field.value, "\(place.member): \(field.name)") }
      #expect(try place.again(once) == once, "\(place.member)")
    }
  }

  @Test func `each is read with every word of its enumerations`() throws {
    for place in try Self.places() {
      for field in place.structure.fields {
        let values: [JSONValue] =
          switch field.type {
          case .enumeration(let words), .optional(.enumeration(let words)): words.map { .string($0) }
          case .array(.enumeration(let words)): [.array(words.map { .string($0) })]
          default: []
          }
        for value in values {
          var json = Self.sample(place, isFull: true)
          json[field.name] = value
          #expect(try place.again(json) == json, "\(place.member): \(field.name)")
        }
      }
    }
  }

  @Test func `a field that is missing, or of another type, is named`() throws {
    for place in try Self.places() {
      for field in place.structure.fields {
        var json = Self.sample(place, isFull: true)
        json[field.name] = .double(0.5)
        let error = #expect(throws: FieldError.self, "\(place.member): \(field.name)") { try place.again(json) }
        #expect(error?.field == field.name)
        if case .optional = field.type { continue }
        json[field.name] = nil
        let another = #expect(throws: FieldError.self, "\(place.member): \(field.name)") { try place.again(json) }
        #expect(another?.field == field.name)
      }
    }
  }

  /// The order that the interface does not tell, which is that of the first version.
  @Test func `fields are written in an order of their own`() throws {
    let orders = [
      "io.ambit.Grants.Grant": """
      grant bundleIdentifier path kind access origin created bookmarks uses lastUsed parent until appPath appDigest \
      endsWithLaunch
      """,
      "io.ambit.Launcher.GrantRules": """
      mayPass endsOutlived releasesOldest startsPicked executesPicked tellsHostPaths packages related opensInPlace inbox profile readOnly modes \
      folders endsWithLaunch makesBookmarks documentBookmarks implicitBookmarks missingBookmarks missingSelections \
      passesSilent syncsFully types lifetime bookmarkLifetime quota recent patience
      """,
      "io.ambit.Launcher.Limits": """
      processes openFiles fileSize memory cpuTime wallTime processors container containerFiles cgroup
      """,
      "io.ambit.Launcher.Prepare(": """
      program policy variables observe limits canAsk answers allowEntitlements files script given container seccomp manifest
      """,
      "io.ambit.Launcher.PickRequest": """
      id mode multiple kind access appName packages places browser creates recents actions hidesExtensions types allowed \
      startsAt names message style tint
      """,
      "io.ambit.Bookmarks.Create(": "scope readOnly kind minimal relativeTo inside values",
    ]
    for place in try Self.places() {
      guard let order = orders[place.member] else { continue }
      let again = try place.again(Self.sample(place, isFull: true))
      #expect(again.fields.map(\.name).joined(separator: " ") == order, "\(place.member)")
    }
  }
}
