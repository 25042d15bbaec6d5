/// Messages of `io.ambit.Bookmarks`.
package enum BookmarksInterface {
  package static let name = "io.ambit.Bookmarks"
  package static let create = "io.ambit.Bookmarks.Create"
  package static let createContained = "io.ambit.Bookmarks.CreateContained"
  package static let resolve = "io.ambit.Bookmarks.Resolve"
  package static let resolveReference = "io.ambit.Bookmarks.ResolveReference"
  package static let values = "io.ambit.Bookmarks.Values"

  /// Which evidence found the document.
  package enum MatchedBy: String, CaseIterable, Sendable { case identity, path }
  /// Who may resolve a bookmark.
  package enum Kind: String, CaseIterable, Sendable { case app, implicit, document }
  /// Where a document is, if that has to be said.
  package enum Location: String, CaseIterable, Sendable { case trash }

  package struct CreateCall: WireMessage {
    package var scope: String
    package var readOnly: Bool
    package var kind: Kind
    /// The scope of the document that a document-scoped one is made relative to.
    package var relativeTo: String?
    /// Apple's names of resource keys.
    package var values: [String]
    package var minimal: Bool
    /// Something in the folder that the scope is for, by its path from there on.
    package var inside: String?

    package init(
      scope: String, readOnly: Bool = false, kind: Kind = .app, relativeTo: String? = nil, values: [String] = [],
      minimal: Bool = false, inside: String? = nil
    ) {
      self.scope = scope
      self.readOnly = readOnly
      self.kind = kind
      self.relativeTo = relativeTo
      self.values = values
      self.minimal = minimal
      self.inside = inside
    }

    package init(json: JSONObject) throws(FieldError) {
      scope = try json.string("scope")
      readOnly = try json.boolIfPresent("readOnly") ?? false
      kind = try json.choiceIfPresent("kind") ?? .app
      relativeTo = try json.stringIfPresent("relativeTo")
      values = try json.stringsIfPresent("values") ?? []
      minimal = try json.boolIfPresent("minimal") ?? false
      inside = try json.stringIfPresent("inside")
    }

    package var json: JSONObject {
      var json: JSONObject = [
        "scope": .string(scope), "readOnly": .bool(readOnly), "kind": .string(kind.rawValue), "minimal": .bool(minimal),
      ]
      json.set("relativeTo", relativeTo)
      json.set("inside", inside)
      if !values.isEmpty { json.set("values", values) }
      return json
    }
  }

  package struct CreateContainedCall: WireMessage {
    /// From the container on.
    package var path: String
    /// Apple's names of resource keys.
    package var values: [String]

    package init(path: String, values: [String] = []) {
      self.path = path
      self.values = values
    }

    package init(json: JSONObject) throws(FieldError) {
      path = try json.string("path")
      values = try json.stringsIfPresent("values") ?? []
    }

    package var json: JSONObject {
      var json: JSONObject = ["path": .string(path)]
      if !values.isEmpty { json.set("values", values) }
      return json
    }
  }

  package struct CreateReply: WireMessage {
    /// Base64.
    package var bookmark: String
    package init(bookmark: String) { self.bookmark = bookmark }
    package init(json: JSONObject) throws(FieldError) { bookmark = try json.string("bookmark") }
    package var json: JSONObject { ["bookmark": .string(bookmark)] }
  }

  package struct ResolveCall: WireMessage {
    /// Base64.
    package var bookmark: String
    /// The scope of the document that a document-scoped one was made relative to.
    package var relativeTo: String?
    /// Start the scope of an implicit one.
    package var implicitStart: Bool
    package var withoutMounting: Bool

    package init(
      bookmark: String, relativeTo: String? = nil, implicitStart: Bool = false, withoutMounting: Bool = false
    ) {
      self.bookmark = bookmark
      self.relativeTo = relativeTo
      self.implicitStart = implicitStart
      self.withoutMounting = withoutMounting
    }

    package init(json: JSONObject) throws(FieldError) {
      bookmark = try json.string("bookmark")
      relativeTo = try json.stringIfPresent("relativeTo")
      implicitStart = try json.boolIfPresent("implicitStart") ?? false
      withoutMounting = try json.boolIfPresent("withoutMounting") ?? false
    }

    package var json: JSONObject {
      var json: JSONObject = [
        "bookmark": .string(bookmark), "implicitStart": .bool(implicitStart), "withoutMounting": .bool(withoutMounting),
      ]
      json.set("relativeTo", relativeTo)
      return json
    }
  }

  package struct ResolveReferenceCall: WireMessage {
    /// Base64 of the reference's content.
    package var reference: String
    package init(reference: String) { self.reference = reference }
    package init(json: JSONObject) throws(FieldError) { reference = try json.string("reference") }
    package var json: JSONObject { ["reference": .string(reference)] }
  }

  /// The answer of `Resolve` and of `ResolveReference`.
  package struct ResolveReply: WireMessage {
    package var document: DocumentMessage
    package var isStale: Bool
    package var matchedBy: MatchedBy
    package var location: Location?
    package var started: Bool
    /// Another file stands where the bookmark remembers the document (`BMK-13`).
    package var isPlaceTaken: Bool

    package init(
      document: DocumentMessage, isStale: Bool, matchedBy: MatchedBy, location: Location? = nil, started: Bool = false,
      isPlaceTaken: Bool = false
    ) {
      self.document = document
      self.isStale = isStale
      self.matchedBy = matchedBy
      self.location = location
      self.started = started
      self.isPlaceTaken = isPlaceTaken
    }

    package init(json: JSONObject) throws(FieldError) {
      document = try DocumentMessage(json: try json.object("document"))
      isStale = try json.bool("isStale")
      matchedBy = try json.choice("matchedBy")
      location = try json.choiceIfPresent("location")
      started = try json.boolIfPresent("started") ?? false
      isPlaceTaken = try json.boolIfPresent("isPlaceTaken") ?? false
    }

    package var json: JSONObject {
      var json: JSONObject = [
        "document": .object(document.json), "isStale": .bool(isStale), "matchedBy": .string(matchedBy.rawValue),
        "started": .bool(started),
      ]
      json.set("location", location?.rawValue)
      if isPlaceTaken { json.set("isPlaceTaken", true) }
      return json
    }
  }

  package struct ValuesCall: WireMessage {
    /// Base64.
    package var bookmark: String
    package init(bookmark: String) { self.bookmark = bookmark }
    package init(json: JSONObject) throws(FieldError) { bookmark = try json.string("bookmark") }
    package var json: JSONObject { ["bookmark": .string(bookmark)] }
  }

  package struct ValuesReply: WireMessage {
    package var keys: [String]
    package var name: String
    package var path: String
    package var kind: DocumentKind?
    package var access: DocumentAccess
    /// Bytes.
    package var size: Int?
    /// Nanoseconds since 1970.
    package var created: Int?
    package var modified: Int?
    package var volumeName: String?

    package init(
      keys: [String], name: String, path: String, kind: DocumentKind?, access: DocumentAccess, size: Int? = nil,
      created: Int? = nil, modified: Int? = nil, volumeName: String? = nil
    ) {
      self.keys = keys
      self.name = name
      self.path = path
      self.kind = kind
      self.access = access
      self.size = size
      self.created = created
      self.modified = modified
      self.volumeName = volumeName
    }

    package init(json: JSONObject) throws(FieldError) {
      keys = try json.strings("keys")
      name = try json.string("name")
      path = try json.string("path")
      kind = try json.choiceIfPresent("kind")
      access = try json.choice("access")
      size = try json.intIfPresent("size")
      created = try json.intIfPresent("created")
      modified = try json.intIfPresent("modified")
      volumeName = try json.stringIfPresent("volumeName")
    }

    package var json: JSONObject {
      var json: JSONObject = [
        "keys": .array(keys.map { .string($0) }), "name": .string(name), "path": .string(path),
        "access": .string(access.rawValue),
      ]
      json.set("kind", kind?.rawValue)
      json.set("size", size)
      json.set("created", created)
      json.set("modified", modified)
      json.set("volumeName", volumeName)
      return json
    }
  }

  package enum Failure {
    package static let notActiveName = "io.ambit.Bookmarks.NotActive"
    package static let invalidScopeName = "io.ambit.Bookmarks.InvalidScope"
    package static let badSealName = "io.ambit.Bookmarks.BadSeal"
    package static let notRelativeName = "io.ambit.Bookmarks.NotRelative"
    package static let revokedName = "io.ambit.Bookmarks.Revoked"
    package static let notFoundName = "io.ambit.Bookmarks.NotFound"
    package static let quotaReachedName = "io.ambit.Bookmarks.QuotaReached"
    package static let notAllowedName = "io.ambit.Bookmarks.NotAllowed"
    package static func notAllowed(_ reason: String) -> ErrorReply {
      ErrorReply(notAllowedName, ["reason": .string(reason)])
    }
    package static let notActive = ErrorReply(notActiveName)
    package static let invalidScope = ErrorReply(invalidScopeName)
    package static func badSeal(_ reason: String) -> ErrorReply {
      ErrorReply(badSealName, ["reason": .string(reason)])
    }
    package static let notRelative = ErrorReply(notRelativeName)
    package static let revoked = ErrorReply(revokedName)
    package static func quotaReached(limit: Int) -> ErrorReply {
      ErrorReply(quotaReachedName, ["limit": JSONValue(limit)])
    }
    package static func notFound(name: String, lastPath: String? = nil) -> ErrorReply {
      var parameters: JSONObject = ["name": .string(name)]
      parameters.set("lastPath", lastPath)
      return ErrorReply(notFoundName, parameters)
    }
  }
}
