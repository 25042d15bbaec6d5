/// Messages of `io.ambit.Bookmarks`.
package enum BookmarksInterface {
  package static let name = "io.ambit.Bookmarks"
  package static let create = "io.ambit.Bookmarks.Create"
  package static let resolve = "io.ambit.Bookmarks.Resolve"
  package static let resolveReference = "io.ambit.Bookmarks.ResolveReference"

  /// Which evidence found the document.
  package enum MatchedBy: String, CaseIterable, Sendable { case identity, path }

  package struct CreateCall: WireMessage {
    package var scope: String
    package var readOnly: Bool
    package init(scope: String, readOnly: Bool = false) {
      self.scope = scope
      self.readOnly = readOnly
    }
    package init(json: JSONObject) throws(FieldError) {
      scope = try json.string("scope")
      readOnly = try json.boolIfPresent("readOnly") ?? false
    }
    package var json: JSONObject { ["scope": .string(scope), "readOnly": .bool(readOnly)] }
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
    package init(bookmark: String) { self.bookmark = bookmark }
    package init(json: JSONObject) throws(FieldError) { bookmark = try json.string("bookmark") }
    package var json: JSONObject { ["bookmark": .string(bookmark)] }
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
    package init(document: DocumentMessage, isStale: Bool, matchedBy: MatchedBy) {
      self.document = document
      self.isStale = isStale
      self.matchedBy = matchedBy
    }
    package init(json: JSONObject) throws(FieldError) {
      document = try DocumentMessage(json: try json.object("document"))
      isStale = try json.bool("isStale")
      matchedBy = try json.choice("matchedBy")
    }
    package var json: JSONObject {
      ["document": .object(document.json), "isStale": .bool(isStale), "matchedBy": .string(matchedBy.rawValue)]
    }
  }

  package enum Failure {
    package static let notActiveName = "io.ambit.Bookmarks.NotActive"
    package static let invalidScopeName = "io.ambit.Bookmarks.InvalidScope"
    package static let badSealName = "io.ambit.Bookmarks.BadSeal"
    package static let revokedName = "io.ambit.Bookmarks.Revoked"
    package static let notFoundName = "io.ambit.Bookmarks.NotFound"
    package static let notActive = ErrorReply(notActiveName)
    package static let invalidScope = ErrorReply(invalidScopeName)
    package static func badSeal(_ reason: String) -> ErrorReply {
      ErrorReply(badSealName, ["reason": .string(reason)])
    }
    package static let revoked = ErrorReply(revokedName)
    package static func notFound(name: String) -> ErrorReply { ErrorReply(notFoundName, ["name": .string(name)]) }
  }
}
