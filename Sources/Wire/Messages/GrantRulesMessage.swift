extension LauncherInterface {
  /// What an app's policy says of its grants (`GrantRules`).
  package struct GrantRules: WireMessage, Equatable {
    /// It may pass rights of its own on to other apps (`TOK-18`).
    package var mayPass: Bool
    /// It is ended when it still has something of a document open whose scope has ended (`TOK-16`).
    package var endsOutlived: Bool
    /// How many grants it may have at a time; `nil`: as many as it is given.
    package var quota: Int?
    /// Of the documents that the app used last, so many it keeps without a bookmark or a reference, and the quota counts those that
    /// have one; `nil`: all are kept, and counted (`LIM-11`).
    package var recent: Int?
    /// What happens when there is one more: the oldest ends; otherwise the new one is refused (`LIM-10`, `LIM-11`).
    package var releasesOldest: Bool
    /// What the user picks is started when it is handed over (`TOK-13`).
    package var startsPicked: Bool
    /// Files that the user picked, and those in picked folders, may be executed (`SBX-8`).
    package var executesPicked: Bool
    /// The app is told, when it asks, where on the host a document lies (`FSF-11`).
    package var tellsHostPaths: Bool
    /// Its grants are for reading, whatever they were made for.
    package var readOnly: Bool
    /// What it may ask its user for with the picker, by name.
    package var modes: [String]
    /// Lower-case extensions of the documents that it may be given; `nil`: any.
    package var types: [String]?
    /// It may be given whole folders.
    package var folders: Bool
    /// Seconds after the user's decision for which grants may be used; `nil`: time does not end them.
    package var lifetime: Int?
    /// Its grants end with the launch in which they were made.
    package var endsWithLaunch: Bool
    package var makesBookmarks: Bool
    package var documentBookmarks: Bool
    package var implicitBookmarks: Bool
    /// The entitlements for bookmarks, of an app's own and of a document's, that it asks for Apple's sandbox without.
    package var missingBookmarks: [String]
    /// Those for what the user selects, where modes of the picker are closed for the lack of them.
    package var missingSelections: [String]
    /// Seconds for which a bookmark can be resolved; `nil`: always.
    package var bookmarkLifetime: Int?
    /// Each decision is on the disk before it is answered.
    package var syncsFully: Bool
    /// Extensions of folders that are documents, besides those that everybody knows.
    package var packages: [String]
    /// The name of the rule, for people.
    package var profile: String

    package init(
      mayPass: Bool = false, endsOutlived: Bool = false, quota: Int? = nil, recent: Int? = nil,
      releasesOldest: Bool = false,
      startsPicked: Bool = false, executesPicked: Bool = false, tellsHostPaths: Bool = false,
      readOnly: Bool = false, modes: [String] = ["open"], types: [String]? = nil, folders: Bool = true,
      lifetime: Int? = nil, endsWithLaunch: Bool = false, makesBookmarks: Bool = true, documentBookmarks: Bool = true,
      implicitBookmarks: Bool = true, missingBookmarks: [String] = [], missingSelections: [String] = [],
      bookmarkLifetime: Int? = nil,
      syncsFully: Bool = false, packages: [String] = [],
      profile: String = "unlimited"
    ) {
      self.mayPass = mayPass
      self.endsOutlived = endsOutlived
      self.quota = quota
      self.recent = recent
      self.releasesOldest = releasesOldest
      self.startsPicked = startsPicked
      self.executesPicked = executesPicked
      self.tellsHostPaths = tellsHostPaths
      self.readOnly = readOnly
      self.modes = modes
      self.types = types
      self.folders = folders
      self.lifetime = lifetime
      self.endsWithLaunch = endsWithLaunch
      self.makesBookmarks = makesBookmarks
      self.documentBookmarks = documentBookmarks
      self.implicitBookmarks = implicitBookmarks
      self.missingBookmarks = missingBookmarks
      self.missingSelections = missingSelections
      self.bookmarkLifetime = bookmarkLifetime
      self.syncsFully = syncsFully
      self.packages = packages
      self.profile = profile
    }

    package init(json: JSONObject) throws(FieldError) {
      mayPass = try json.bool("mayPass")
      endsOutlived = try json.bool("endsOutlived")
      quota = try json.intIfPresent("quota")
      recent = try json.intIfPresent("recent")
      releasesOldest = try json.bool("releasesOldest")
      startsPicked = try json.bool("startsPicked")
      executesPicked = try json.bool("executesPicked")
      tellsHostPaths = try json.bool("tellsHostPaths")
      readOnly = try json.bool("readOnly")
      modes = try json.strings("modes")
      types = try json.stringsIfPresent("types")
      folders = try json.bool("folders")
      lifetime = try json.intIfPresent("lifetime")
      endsWithLaunch = try json.bool("endsWithLaunch")
      makesBookmarks = try json.bool("makesBookmarks")
      documentBookmarks = try json.bool("documentBookmarks")
      implicitBookmarks = try json.bool("implicitBookmarks")
      missingBookmarks = try json.strings("missingBookmarks")
      missingSelections = try json.strings("missingSelections")
      bookmarkLifetime = try json.intIfPresent("bookmarkLifetime")
      syncsFully = try json.bool("syncsFully")
      packages = try json.strings("packages")
      profile = try json.string("profile")
    }

    package var json: JSONObject {
      var json: JSONObject = [
        "mayPass": .bool(mayPass), "endsOutlived": .bool(endsOutlived), "releasesOldest": .bool(releasesOldest),
        "startsPicked": .bool(startsPicked), "executesPicked": .bool(executesPicked),
        "tellsHostPaths": .bool(tellsHostPaths), "packages": .array(packages.map { .string($0) }),
        "profile": .string(profile), "readOnly": .bool(readOnly), "modes": .array(modes.map { .string($0) }),
        "folders": .bool(folders), "endsWithLaunch": .bool(endsWithLaunch), "makesBookmarks": .bool(makesBookmarks),
        "documentBookmarks": .bool(documentBookmarks), "implicitBookmarks": .bool(implicitBookmarks),
        "missingBookmarks": .array(missingBookmarks.map { .string($0) }),
        "missingSelections": .array(missingSelections.map { .string($0) }), "syncsFully": .bool(syncsFully),
      ]
      json.set("types", types)
      json.set("lifetime", lifetime)
      json.set("bookmarkLifetime", bookmarkLifetime)
      json.set("quota", quota)
      json.set("recent", recent)
      return json
    }
  }
}
