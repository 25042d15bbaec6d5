extension GrantsInterface {
  /// Who decided that an app may use a document.
  package enum Origin: String, CaseIterable, Sendable { case user, scripted, passed, bookmark }

  /// A running instance in which a grant is active.
  package struct Use: WireMessage, Equatable {
    package var instance: String
    /// Of the sandbox's init, on the host.
    package var pid: Int
    /// Whose scope it is, as its sandbox numbers processes.
    package var process: Int
    /// Starts that have not been balanced by a stop.
    package var count: Int
    /// RFC 3339.
    package var since: String
    package var caller: String?

    package init(instance: String, pid: Int, process: Int, count: Int, since: String, caller: String?) {
      self.instance = instance
      self.pid = pid
      self.process = process
      self.count = count
      self.since = since
      self.caller = caller
    }

    package init(json: JSONObject) throws(FieldError) {
      instance = try json.string("instance")
      pid = try json.int("pid")
      process = try json.int("process")
      count = try json.int("count")
      since = try json.string("since")
      caller = try json.stringIfPresent("caller")
    }

    package var json: JSONObject {
      var json: JSONObject = [
        "instance": .string(instance), "pid": JSONValue(pid), "process": JSONValue(process),
        "count": JSONValue(count), "since": .string(since),
      ]
      json.set("caller", caller)
      return json
    }
  }

  /// A grant in force.
  package struct Grant: WireMessage, Equatable {
    package var grant: String
    package var bundleIdentifier: String
    /// Where the document was last seen on the host.
    package var path: String
    package var kind: DocumentKind
    package var access: DocumentAccess
    package var origin: Origin
    /// RFC 3339.
    package var created: String
    /// RFC 3339; `nil`: never started.
    package var lastUsed: String?
    package var parent: String?
    /// When it ends by itself: a time, or nothing.
    package var until: String?
    /// It ends with the launch that it was made in.
    package var endsWithLaunch: Bool
    package var bookmarks: Int
    package var uses: [Use]
    /// Where the app lay when it was launched last, and the digest of what it was; `nil`: that is not remembered.
    package var appPath: String?
    package var appDigest: String?

    package init(
      grant: String, bundleIdentifier: String, path: String, kind: DocumentKind, access: DocumentAccess,
      origin: Origin, created: String, lastUsed: String?, parent: String?, until: String? = nil,
      endsWithLaunch: Bool = false, bookmarks: Int, uses: [Use],
      appPath: String? = nil, appDigest: String? = nil
    ) {
      self.grant = grant
      self.bundleIdentifier = bundleIdentifier
      self.path = path
      self.kind = kind
      self.access = access
      self.origin = origin
      self.created = created
      self.lastUsed = lastUsed
      self.parent = parent
      self.until = until
      self.endsWithLaunch = endsWithLaunch
      self.bookmarks = bookmarks
      self.uses = uses
      self.appPath = appPath
      self.appDigest = appDigest
    }

    package init(json: JSONObject) throws(FieldError) {
      grant = try json.string("grant")
      bundleIdentifier = try json.string("bundleIdentifier")
      path = try json.string("path")
      kind = try json.choice("kind")
      access = try json.choice("access")
      origin = try json.choice("origin")
      created = try json.string("created")
      lastUsed = try json.stringIfPresent("lastUsed")
      parent = try json.stringIfPresent("parent")
      until = try json.stringIfPresent("until")
      endsWithLaunch = try json.bool("endsWithLaunch")
      bookmarks = try json.int("bookmarks")
      uses = try json.messages("uses")
      appPath = try json.stringIfPresent("appPath")
      appDigest = try json.stringIfPresent("appDigest")
    }

    package var json: JSONObject {
      var json: JSONObject = [
        "grant": .string(grant), "bundleIdentifier": .string(bundleIdentifier), "path": .string(path),
        "kind": .string(kind.rawValue), "access": .string(access.rawValue), "origin": .string(origin.rawValue),
        "created": .string(created), "bookmarks": JSONValue(bookmarks), "uses": uses.map(\.json).json,
      ]
      json.set("lastUsed", lastUsed)
      json.set("parent", parent)
      json.set("until", until)
      json.set("appPath", appPath)
      json.set("appDigest", appDigest)
      json["endsWithLaunch"] = .bool(endsWithLaunch)
      return json
    }
  }

  /// What a process still has of a document that was taken away from it.
  package struct Holder: WireMessage, Equatable {
    /// Inside the sandbox.
    package var pid: Int
    package var reads: Bool
    package var writes: Bool
    /// In its memory.
    package var mapped: Bool
    /// It can open what is in the document's folder.
    package var folder: Bool
    /// And change it.
    package var changesFolder: Bool
    /// The kernel tells it what happens to the document.
    package var watches: Bool
    /// The launch that it is in, if not the one whose scope has ended.
    package var instance: String?

    package init(
      pid: Int, reads: Bool, writes: Bool, mapped: Bool, folder: Bool, changesFolder: Bool, watches: Bool = false,
      instance: String? = nil
    ) {
      self.pid = pid
      self.reads = reads
      self.writes = writes
      self.mapped = mapped
      self.folder = folder
      self.changesFolder = changesFolder
      self.watches = watches
      self.instance = instance
    }

    package init(json: JSONObject) throws(FieldError) {
      pid = try json.int("pid")
      reads = try json.bool("reads")
      writes = try json.bool("writes")
      mapped = try json.bool("mapped")
      folder = try json.bool("folder")
      changesFolder = try json.bool("changesFolder")
      watches = try json.boolIfPresent("watches") ?? false
      instance = try json.stringIfPresent("instance")
    }

    package var json: JSONObject {
      var json: JSONObject = [
        "pid": JSONValue(pid), "reads": .bool(reads), "writes": .bool(writes), "mapped": .bool(mapped),
        "folder": .bool(folder), "changesFolder": .bool(changesFolder), "watches": .bool(watches),
      ]
      json.set("instance", instance)
      return json
    }
  }

  /// A grant that has ended.
  package struct Ended: WireMessage, Equatable {
    package var grant: String
    package var bundleIdentifier: String
    package var path: String
    package var access: DocumentAccess
    /// How many instances had it started.
    package var scopes: Int
    package var outlived: [Holder]
    /// The instances that still had it open have been ended.
    package var killed: Bool

    package init(
      grant: String, bundleIdentifier: String, path: String, access: DocumentAccess, scopes: Int, outlived: [Holder],
      killed: Bool
    ) {
      self.grant = grant
      self.bundleIdentifier = bundleIdentifier
      self.path = path
      self.access = access
      self.scopes = scopes
      self.outlived = outlived
      self.killed = killed
    }

    package init(json: JSONObject) throws(FieldError) {
      grant = try json.string("grant")
      bundleIdentifier = try json.string("bundleIdentifier")
      path = try json.string("path")
      access = try json.choice("access")
      scopes = try json.int("scopes")
      outlived = try json.messages("outlived")
      killed = try json.bool("killed")
    }

    package var json: JSONObject {
      [
        "grant": .string(grant), "bundleIdentifier": .string(bundleIdentifier), "path": .string(path),
        "access": .string(access.rawValue), "scopes": JSONValue(scopes), "outlived": outlived.map(\.json).json,
        "killed": .bool(killed),
      ]
    }
  }

  /// An app that was launched and not removed since.
  package struct App: WireMessage, Equatable {
    package var bundleIdentifier: String
    package var name: String
    package var version: String?
    package var grants: Int
    package var running: Int
    package var container: Bool
    /// Where it lay when it was launched last, and the digest of what it was; `nil`: that is not remembered.
    package var path: String?
    package var digest: String?

    package init(
      bundleIdentifier: String, name: String, version: String?, grants: Int, running: Int, container: Bool,
      path: String? = nil, digest: String? = nil
    ) {
      self.bundleIdentifier = bundleIdentifier
      self.name = name
      self.version = version
      self.grants = grants
      self.running = running
      self.container = container
      self.path = path
      self.digest = digest
    }

    package init(json: JSONObject) throws(FieldError) {
      bundleIdentifier = try json.string("bundleIdentifier")
      name = try json.string("name")
      version = try json.stringIfPresent("version")
      grants = try json.int("grants")
      running = try json.int("running")
      container = try json.bool("container")
      path = try json.stringIfPresent("path")
      digest = try json.stringIfPresent("digest")
    }

    package var json: JSONObject {
      var json: JSONObject = [
        "bundleIdentifier": .string(bundleIdentifier), "name": .string(name), "grants": JSONValue(grants),
        "running": JSONValue(running), "container": .bool(container),
      ]
      json.set("version", version)
      json.set("path", path)
      json.set("digest", digest)
      return json
    }
  }
}
