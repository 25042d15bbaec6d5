internal import Paths

/// The kind of the file behind a name in a folder, links followed.
enum EntryKind: Sendable, Equatable {
  case file, folder
  /// A folder that is one document.
  case package
  /// A FIFO, socket or device: never a document.
  case special
  /// A symbolic link to nothing that can be reached.
  case broken
}

/// Which documents answer a request (`PCK-7`). Pure: the list, the scripted picker and the final check share it.
struct ChoiceRule: Sendable, Equatable {
  let kind: PickerRequest.Kind
  /// Lower-case extensions without dot; nil: any.
  let types: [String]?
  /// The types that the app's policy lets it have, even if it asks for more; nil: any.
  let allowed: [String]?
  /// Lower-case extensions of folders that are documents.
  let packages: Set<String>

  init(_ request: PickerRequest) {
    kind = request.kind
    packages = request.packages
    let wanted = (request.types ?? []).map { type in
      (type.hasPrefix(".") ? String(type.dropFirst()) : type).lowercased()
    }
    types = wanted.isEmpty ? nil : wanted
    allowed = request.allowed?.map { $0.lowercased() }
  }

  /// Whether a file of this name has one of the wanted extensions.
  func hasWantedType(_ name: String) -> Bool { Self.has(types, name) }

  /// Whether the app's policy lets it have a file of this name.
  func hasAllowedType(_ name: String) -> Bool { Self.has(allowed, name) }

  static func has(_ types: [String]?, _ name: String) -> Bool {
    types.map { name.hasExtension(in: $0) } ?? true
  }

  /// The kind of a folder of this name to the user.
  func kind(ofFolder name: String) -> EntryKind {
    guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return .folder }
    return packages.contains(name[name.index(after: dot)...].lowercased()) ? .package : .folder
  }

  /// A folder's entries as the user is to see them: packages among the files.
  func shown(_ entries: [Entry]) -> [Entry] {
    let isPackage = { (entry: Entry) in
      entry.kind == .folder && self.kind(ofFolder: entry.realName) == .package
    }
    guard !packages.isEmpty, entries.contains(where: isPackage) else { return entries }
    return NameOrder.sorted(
      entries.map { entry in
        guard isPackage(entry) else { return entry }
        return Entry(name: entry.name, kind: .package, isLink: entry.isLink, realName: entry.realName)
      })
  }

  func allows(_ kind: EntryKind, named name: String) -> Bool {
    switch (kind, self.kind) {
    case (.file, .file), (.package, .file): hasWantedType(name) && hasAllowedType(name)
    case (.folder, .folder): true
    default: false
    }
  }

  /// Why this cannot be chosen, as a sentence; nil when it can.
  func refusal(of kind: EntryKind, named name: String) -> String? {
    if allows(kind, named: name) { return nil }
    let quoted = DisplayText.quoted(name)
    switch kind {
    case .special: return "\(quoted) is neither a file nor a folder."
    case .broken: return "\(quoted) is a link that leads nowhere."
    case .folder: return "\(quoted) is a folder; the app asks for a file."
    case .package where self.kind == .folder: return "\(quoted) is a package, one document; the app asks for a folder."
    case .file where self.kind == .folder: return "\(quoted) is a file; the app asks for a folder."
    case .file where hasWantedType(name), .package where hasWantedType(name):
      return "\(quoted) cannot be chosen; the app's policy allows no documents of its type."
    case .file, .package: return "\(quoted) cannot be chosen; the app asks for \(typeList ?? "other files")."
    }
  }

  /// “.md or .txt”, for sentences; nil when anything will do.
  var typeList: String? {
    guard let types, kind == .file else { return nil }
    let names = types.map { DisplayText($0, limit: 16).plain }.map { "." + $0 }
    return names.count < 2 ? names.first : names.dropLast().joined(separator: ", ") + " or " + names[names.count - 1]
  }
}
