internal import Paths

extension DocumentMessage {
  /// Path and URL follow from the rest.
  package init(scope: String, grant: String, name: String, kind: DocumentKind, access: DocumentAccess) {
    let format = ScopedURLFormat(grant: grant, name: name, scope: scope)
    self.init(
      url: format.url, scope: scope, grant: grant, path: format.path, name: name, kind: kind, access: access)
  }

  /// Makes it something in the folder that it is, which has the folder's scope.
  ///
  /// - Parameter path: from the folder on.
  package mutating func enter(_ path: String, _ kind: DocumentKind) {
    url = ScopedURLFormat(grant: grant, name: name, scope: scope).url(inside: path)
    self.path += "/\(path)"
    name = path.pathNames.last ?? name
    self.kind = kind
  }
}
