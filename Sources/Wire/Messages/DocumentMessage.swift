internal import Paths

/// What a document is.
package enum DocumentKind: String, CaseIterable, Sendable {
  case file, folder
  /// A folder that is one document.
  case package
}
/// What may be done with a document.
package enum DocumentAccess: String, CaseIterable, Sendable { case readOnly, readWrite }

/// A document that the user handed to an app (`Document` in `io.ambit.Picker` and `io.ambit.Bookmarks`).
package struct DocumentMessage: WireMessage {
  /// File URL with the scope in its fragment, see `ScopedURLFormat`.
  package var url: String
  /// The security-scoped token by itself.
  package var scope: String
  package var grant: String
  /// Where the document appears while its scope is active.
  package var path: String
  package var name: String
  package var kind: DocumentKind
  package var access: DocumentAccess

  /// Path and URL follow from the rest.
  package init(scope: String, grant: String, name: String, kind: DocumentKind, access: DocumentAccess) {
    let format = ScopedURLFormat(grant: grant, name: name, scope: scope)
    url = format.url
    path = format.path
    self.scope = scope
    self.grant = grant
    self.name = name
    self.kind = kind
    self.access = access
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

  package init(json: JSONObject) throws(FieldError) {
    url = try json.string("url")
    scope = try json.string("scope")
    grant = try json.string("grant")
    path = try json.string("path")
    name = try json.string("name")
    kind = try json.choice("kind")
    access = try json.choice("access")
  }

  package var json: JSONObject {
    [
      "url": .string(url), "scope": .string(scope), "grant": .string(grant), "path": .string(path),
      "name": .string(name), "kind": .string(kind.rawValue), "access": .string(access.rawValue),
    ]
  }
}
