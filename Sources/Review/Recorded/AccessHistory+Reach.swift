internal import Audit
internal import Paths

extension AccessHistory {
  /// The grants in force that fit, the oldest first.
  ///
  /// - Parameters:
  ///   - app: the app that has them; nil: any app.
  ///   - path: a path that they reach: a document itself, or an item in a folder; nil: any path.
  package func grants(of app: String? = nil, reaching path: String? = nil) -> [RecordedGrant] {
    grants.values.filter { grant in
      (app == nil || grant.app == app) && (path.map(grant.reaches) ?? true)
    }.sorted { ($0.sequence, $0.id) < ($1.sequence, $1.id) }
  }

  /// The scopes that are started of a grant, in the order in which they were.
  package func scopes(of grant: String) -> [RecordedScope] {
    active.values.flatMap(\.values).filter { $0.key.grant == grant }.sorted { $0.sequence < $1.sequence }
  }
}

extension RecordedGrant {
  /// Whether something at this path is a granted item, or lies in one.
  package func reaches(_ path: String) -> Bool {
    guard let own = document?.path, !own.isEmpty else { return false }
    return own.isSamePath(as: path) || (kind != "file" && path.lies(below: own))
  }
}
