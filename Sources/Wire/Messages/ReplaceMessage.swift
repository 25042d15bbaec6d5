extension LauncherInterface {
  package static let replace = "io.ambit.Launcher.Replace"
  package static let watches = "io.ambit.Launcher.Watches"

  /// An app is about to be able to watch files.
  package struct WatchesCall: WireMessage, Equatable {
    package var instance: String
    package init(instance: String) { self.instance = instance }
    package init(json: JSONObject) throws(FieldError) { instance = try json.string("instance") }
    package var json: JSONObject { ["instance": .string(instance)] }
  }

  /// An app saves its document by renaming another file over it.
  package struct ReplaceCall: WireMessage, Equatable {
    package var instance: String
    package var grant: String
    /// The document's, inside.
    package var name: String
    /// The other file's, in the same folder.
    package var temporary: String
    /// The document is to stand at that name afterwards.
    package var exchanges: Bool

    package init(instance: String, grant: String, name: String, temporary: String, exchanges: Bool = false) {
      self.instance = instance
      self.grant = grant
      self.name = name
      self.temporary = temporary
      self.exchanges = exchanges
    }

    package init(json: JSONObject) throws(FieldError) {
      instance = try json.string("instance")
      grant = try json.string("grant")
      name = try json.string("name")
      temporary = try json.string("temporary")
      exchanges = try json.boolIfPresent("exchange") ?? false
    }

    package var json: JSONObject {
      [
        "instance": .string(instance), "grant": .string(grant), "name": .string(name), "temporary": .string(temporary),
        "exchange": .bool(exchanges),
      ]
    }
  }

  package struct ReplaceReply: WireMessage, Equatable {
    /// It is for the kernel to say.
    package static let undecided = -1

    /// What the rename answers, by `errno(3)`; 0: it is done.
    package var error: Int
    package init(error: Int) { self.error = error }
    package init(json: JSONObject) throws(FieldError) { error = try json.int("error") }
    package var json: JSONObject { ["error": JSONValue(error)] }
  }
}
