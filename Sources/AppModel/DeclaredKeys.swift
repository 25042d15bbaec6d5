/// The keys by which an app's property lists ask for something, with their lines: a decision can be traced to them.
package struct DeclaredKeys: Equatable, Sendable {
  package struct Key: Equatable, Sendable {
    /// `UIFileSharingEnabled`.
    package let path: String
    /// From 1; `nil` in a binary list.
    package let line: Int?

    package init(path: String, line: Int?) { (self.path, self.line) = (path, line) }
  }

  /// Those by which other apps' pickers show its Documents, together (`SBX-6`, `SBX-7`).
  package var sharing: [Key] = []
  /// Entitlements that are true.
  package var entitlements: [Key] = []

  package init(sharing: [Key] = [], entitlements: [Key] = []) {
    (self.sharing, self.entitlements) = (sharing, entitlements)
  }

  package init(manifest: PropertyListFile?, entitlements: PropertyListFile?) {
    if let manifest { sharing = Self.sharing(manifest) }
    self.entitlements = (entitlements?.entries ?? []).filter { $0.node.boolean == true }
      .map { Key(path: $0.key, line: $0.line) }
  }

  package func line(ofEntitlement key: String) -> Int? { entitlements.first { $0.path == key }?.line }

  private static func sharing(_ manifest: PropertyListFile) -> [Key] {
    func on(_ keys: [String]) -> [Key] {
      manifest.entries.filter { keys.contains($0.key) && $0.node.looseBoolean == true }
        .map { Key(path: $0.key, line: $0.line) }
    }
    let browser = on(["UISupportsDocumentBrowser"])
    let inPlace = on(["UIFileSharingEnabled", "LSSupportsOpeningDocumentsInPlace"])
    let containers = manifest.entries.filter { $0.key == "NSUbiquitousContainers" }.flatMap { $0.node.dictionary ?? [] }
    let scope = containers.compactMap { container -> Key? in
      let name = "NSUbiquitousContainerIsDocumentScopePublic"
      guard let entry = container.node.dictionary?.first(where: { $0.key == name }), entry.node.looseBoolean == true
      else {
        return nil
      }
      return Key(
        path: "\(KeyPath().key("NSUbiquitousContainers").key(container.key).key(name))", line: entry.line)
    }
    return (browser.isEmpty && inPlace.count == 2 ? inPlace : browser) + scope.prefix(1)
  }
}
