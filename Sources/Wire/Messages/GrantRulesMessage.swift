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
    /// Extensions of folders that are documents, besides those that everybody knows.
    package var packages: [String]
    /// The name of the rule, for people.
    package var profile: String

    package init(
      mayPass: Bool = false, endsOutlived: Bool = false, quota: Int? = nil, recent: Int? = nil,
      releasesOldest: Bool = false,
      startsPicked: Bool = false, executesPicked: Bool = false, tellsHostPaths: Bool = false,
      packages: [String] = [], profile: String = "unlimited"
    ) {
      self.mayPass = mayPass
      self.endsOutlived = endsOutlived
      self.quota = quota
      self.recent = recent
      self.releasesOldest = releasesOldest
      self.startsPicked = startsPicked
      self.executesPicked = executesPicked
      self.tellsHostPaths = tellsHostPaths
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
      packages = try json.strings("packages")
      profile = try json.string("profile")
    }

    package var json: JSONObject {
      var json: JSONObject = [
        "mayPass": .bool(mayPass), "endsOutlived": .bool(endsOutlived), "releasesOldest": .bool(releasesOldest),
        "startsPicked": .bool(startsPicked), "executesPicked": .bool(executesPicked),
        "tellsHostPaths": .bool(tellsHostPaths), "packages": .array(packages.map { .string($0) }),
        "profile": .string(profile),
      ]
      json.set("quota", quota)
      json.set("recent", recent)
      return json
    }
  }
}
