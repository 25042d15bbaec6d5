/// Messages of `io.ambit.Inspector`, the user's side.
package enum InspectorInterface {
  package static let name = "io.ambit.Inspector"
  package static let bookmark = "io.ambit.Inspector.Bookmark"

  package enum Purpose: String, CaseIterable, Sendable { case bookmark, reference }
  package enum GrantState: String, CaseIterable, Sendable { case inForce, withdrawn, unknown }

  package struct Identity: WireMessage {
    /// Hexadecimal.
    package var volume: String
    package var handleType: Int
    /// Hexadecimal.
    package var handle: String
    /// As the kernel's bits; a number of more than 63 is negative here.
    package var inode: Int
    /// RFC 3339.
    package var birth: String?

    package init(volume: String, handleType: Int, handle: String, inode: Int, birth: String?) {
      self.volume = volume
      self.handleType = handleType
      self.handle = handle
      self.inode = inode
      self.birth = birth
    }

    package init(json: JSONObject) throws(FieldError) {
      volume = try json.string("volume")
      handleType = try json.int("handleType")
      handle = try json.string("handle")
      inode = try json.int("inode")
      birth = try json.stringIfPresent("birth")
    }

    package var json: JSONObject {
      var json: JSONObject = [
        "volume": .string(volume), "handleType": JSONValue(handleType), "handle": .string(handle),
        "inode": JSONValue(inode),
      ]
      json.set("birth", birth)
      return json
    }
  }

  package struct Place: WireMessage {
    package var folder: Identity
    package var name: String

    package init(folder: Identity, name: String) {
      self.folder = folder
      self.name = name
    }

    package init(json: JSONObject) throws(FieldError) {
      folder = try Identity(json: try json.object("folder"))
      name = try json.string("name")
    }

    package var json: JSONObject { ["folder": .object(folder.json), "name": .string(name)] }
  }

  package struct Found: WireMessage {
    package var path: String?
    package var matchedBy: BookmarksInterface.MatchedBy
    package var by: String
    package var isStale: Bool
    package var location: String?

    package init(
      path: String?, matchedBy: BookmarksInterface.MatchedBy, by: String, isStale: Bool, location: String?
    ) {
      self.path = path
      self.matchedBy = matchedBy
      self.by = by
      self.isStale = isStale
      self.location = location
    }

    package init(json: JSONObject) throws(FieldError) {
      path = try json.stringIfPresent("path")
      matchedBy = try json.choice("matchedBy")
      by = try json.string("by")
      isStale = try json.bool("isStale")
      location = try json.stringIfPresent("location")
    }

    package var json: JSONObject {
      var json: JSONObject = [
        "matchedBy": .string(matchedBy.rawValue), "by": .string(by), "isStale": .bool(isStale),
      ]
      json.set("path", path)
      json.set("location", location)
      return json
    }
  }

  package struct BookmarkCall: WireMessage {
    /// Base64.
    package var sealed: String
    package init(sealed: String) { self.sealed = sealed }
    package init(json: JSONObject) throws(FieldError) { sealed = try json.string("sealed") }
    package var json: JSONObject { ["sealed": .string(sealed)] }
  }

  package struct BookmarkReply: WireMessage {
    package var purpose: Purpose
    package var app: String
    package var grant: String
    package var state: GrantState
    package var origin: String?
    package var access: DocumentAccess
    package var kind: DocumentKind?
    package var scope: BookmarksInterface.Kind
    package var until: String?
    package var relativeTo: Identity?
    package var made: String?
    package var path: String
    package var identity: Identity?
    package var place: Place?
    package var values: [String]
    package var found: Found?
    package var problem: String?

    package init(
      purpose: Purpose, app: String, grant: String, state: GrantState, origin: String? = nil, access: DocumentAccess,
      kind: DocumentKind? = nil, scope: BookmarksInterface.Kind, until: String? = nil, relativeTo: Identity? = nil,
      made: String? = nil, path: String, identity: Identity? = nil, place: Place? = nil, values: [String] = [],
      found: Found? = nil, problem: String? = nil
    ) {
      self.purpose = purpose
      self.app = app
      self.grant = grant
      self.state = state
      self.origin = origin
      self.access = access
      self.kind = kind
      self.scope = scope
      self.until = until
      self.relativeTo = relativeTo
      self.made = made
      self.path = path
      self.identity = identity
      self.place = place
      self.values = values
      self.found = found
      self.problem = problem
    }

    package init(json: JSONObject) throws(FieldError) {
      purpose = try json.choice("purpose")
      app = try json.string("app")
      grant = try json.string("grant")
      state = try json.choice("state")
      origin = try json.stringIfPresent("origin")
      access = try json.choice("access")
      kind = try json.choiceIfPresent("kind")
      scope = try json.choice("scope")
      until = try json.stringIfPresent("until")
      relativeTo = json.has("relativeTo") ? try Identity(json: try json.object("relativeTo")) : nil
      made = try json.stringIfPresent("made")
      path = try json.string("path")
      identity = json.has("identity") ? try Identity(json: try json.object("identity")) : nil
      place = json.has("place") ? try Place(json: try json.object("place")) : nil
      values = try json.strings("values")
      found = json.has("found") ? try Found(json: try json.object("found")) : nil
      problem = try json.stringIfPresent("problem")
    }

    package var json: JSONObject {
      var json: JSONObject = [
        "purpose": .string(purpose.rawValue), "app": .string(app), "grant": .string(grant),
        "state": .string(state.rawValue), "access": .string(access.rawValue), "scope": .string(scope.rawValue),
        "path": .string(path), "values": .array(values.map { .string($0) }),
      ]
      json.set("origin", origin)
      json.set("kind", kind?.rawValue)
      json.set("until", until)
      json["relativeTo"] = relativeTo.map { .object($0.json) }
      json.set("made", made)
      json["identity"] = identity.map { .object($0.json) }
      json["place"] = place.map { .object($0.json) }
      json["found"] = found.map { .object($0.json) }
      json.set("problem", problem)
      return json
    }
  }

  package enum Failure {
    package static let badSealName = "io.ambit.Inspector.BadSeal"
    package static func badSeal(_ reason: String) -> ErrorReply {
      ErrorReply(badSealName, ["reason": .string(reason)])
    }
  }
}
