/// All uniform types that are known here, and which conforms to which: one graph for the system's types, those of shared-mime-info, and
/// the declarations of apps.
package struct TypeTree: Sendable {
  /// By identifier in lower case: identifiers do not differ by case.
  private var types: [String: TypeDeclaration] = [:]
  private var children: [String: [String]] = [:]
  private var byTag: [TypeDeclaration.TagClass: [String: [String]]] = [:]

  /// The system's own types alone: the same on every machine.
  package static let standard = TypeTree(StandardTypes.all)

  package init(_ declarations: [TypeDeclaration] = []) { for one in declarations { add(one) } }

  /// All identifiers, sorted.
  package var identifiers: [String] { types.values.map(\.identifier).sorted() }
  package var count: Int { types.count }

  // MARK: Types

  /// - Returns: the declaration, also of a dynamic type, which needs none.
  package subscript(_ identifier: String) -> TypeDeclaration? {
    types[identifier.lowercased()] ?? DynamicType.declaration(of: identifier)
  }

  /// Adds a type. Of two with one identifier the one with the better origin stays (`TYP-2`). A parent that would make a circle is left
  /// out.
  package mutating func add(_ declaration: TypeDeclaration) {
    let key = declaration.identifier.lowercased()
    if let known = types[key] {
      guard declaration.origin < known.origin else { return }
      remove(known)
    }
    var declaration = declaration
    declaration.conformsTo.removeAll { conforms($0, to: declaration.identifier) }
    types[key] = declaration
    for parent in declaration.conformsTo { children[parent.lowercased(), default: []].append(declaration.identifier) }
    for tagClass in TypeDeclaration.TagClass.allCases {
      for tag in declaration.tags(tagClass) { insert(declaration, tagClass, tag) }
    }
  }

  /// More tags for a type that is there.
  mutating func addTags(_ identifier: String, extensions: [String], mimeTypes: [String]) {
    guard var known = types[identifier.lowercased()] else { return }
    for tag in extensions where !known.extensions.contains(tag) {
      known.extensions.append(tag)
      insert(known, .filenameExtension, tag)
    }
    for tag in mimeTypes where !known.mimeTypes.contains(tag) {
      known.mimeTypes.append(tag)
      insert(known, .mimeType, tag)
    }
    types[identifier.lowercased()] = known
  }

  private mutating func insert(_ declaration: TypeDeclaration, _ tagClass: TypeDeclaration.TagClass, _ tag: String) {
    let tag = tag.lowercased()
    var names = byTag[tagClass, default: [:]][tag] ?? []
    guard !names.contains(declaration.identifier) else { return }
    // The better origin first; among equals the one that came first.
    let place = names.firstIndex { (types[$0.lowercased()]?.origin ?? .dynamic) > declaration.origin } ?? names.count
    names.insert(declaration.identifier, at: place)
    byTag[tagClass, default: [:]][tag] = names
  }

  private mutating func remove(_ declaration: TypeDeclaration) {
    types[declaration.identifier.lowercased()] = nil
    for parent in declaration.conformsTo {
      children[parent.lowercased()]?.removeAll { $0 == declaration.identifier }
    }
    for tagClass in TypeDeclaration.TagClass.allCases {
      for tag in declaration.tags(tagClass) {
        byTag[tagClass]?[tag.lowercased()]?.removeAll { $0 == declaration.identifier }
      }
    }
  }

  // MARK: Conformance

  /// Itself and all types that it conforms to, the nearest first.
  package func ancestors(of identifier: String) -> [String] {
    var (found, seen): ([String], Set<String>) = ([], [])
    var next = [identifier]
    while !next.isEmpty {
      var following: [String] = []
      for name in next where seen.insert(name.lowercased()).inserted {
        let type = self[name]
        found.append(type?.identifier ?? name)
        following += type?.conformsTo ?? []
      }
      next = following
    }
    return found
  }

  package func conforms(_ identifier: String, to other: String) -> Bool {
    let wanted = other.lowercased()
    var (seen, next): (Set<String>, [String]) = ([], [identifier])
    while let name = next.popLast() {
      let key = name.lowercased()
      if key == wanted { return true }
      if seen.insert(key).inserted { next += self[name]?.conformsTo ?? [] }
    }
    return false
  }

  /// The types that conform to one directly, sorted.
  package func children(of identifier: String) -> [String] { (children[identifier.lowercased()] ?? []).sorted() }

  /// Itself and all that conform to it, sorted.
  package func descendants(of identifier: String) -> [String] {
    var (found, next): (Set<String>, [String]) = ([], [self[identifier]?.identifier ?? identifier])
    while let name = next.popLast() {
      if found.insert(name).inserted { next += children[name.lowercased()] ?? [] }
    }
    return found.sorted()
  }

  /// Types without a parent, sorted.
  package var roots: [String] {
    types.values.filter { $0.conformsTo.allSatisfy { types[$0.lowercased()] == nil } }.map(\.identifier).sorted()
  }

  // MARK: Tags

  /// The types with a tag that conform to another one; the best first.
  package func types(_ tagClass: TypeDeclaration.TagClass, _ tag: String, in parent: String? = nil) -> [String] {
    let all = byTag[tagClass]?[tag.lowercased()] ?? []
    guard let parent else { return all }
    return all.filter { conforms($0, to: parent) }
  }

  /// The type with a tag; a dynamic one where no declaration has it.
  package func type(_ tagClass: TypeDeclaration.TagClass, _ tag: String, in parent: String = "public.data")
    -> TypeDeclaration
  {
    types(tagClass, tag, in: parent).first.flatMap { self[$0] } ?? DynamicType.declaration(tagClass, tag, in: parent)
  }

  /// Every extension of a type and of all that conform to it, sorted; without dot.
  package func extensions(of identifier: String) -> [String] {
    Set(descendants(of: identifier).flatMap { self[$0]?.extensions ?? [] }).sorted()
  }
}
