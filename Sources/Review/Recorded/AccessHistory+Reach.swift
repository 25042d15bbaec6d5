internal import Audit
package import Foundation

extension AccessHistory {
  /// The grants in force that fit, the oldest first.
  ///
  /// - Parameters:
  ///   - app: whose; nil: everybody's.
  ///   - path: through which this can be reached: a document itself, or what lies in a folder; nil: whatever it is.
  package func grants(of app: String? = nil, reaching path: String? = nil) -> [RecordedGrant] {
    grants.values.filter { grant in
      (app == nil || grant.app == app) && (path.map(grant.reaches) ?? true)
    }.sorted { ($0.sequence, $0.id) < ($1.sequence, $1.id) }
  }

  /// The grants whose time was over at a moment, with those that were made of them. A broker that runs withdraws them then, and says
  /// so; where none ran, nobody has.
  package func expired(at time: Date) -> Set<String> {
    var expired = Set(grants.values.lazy.filter { $0.ends.map { $0 <= time } ?? false }.map(\.id))
    guard !expired.isEmpty else { return [] }
    while true {
      let children = grants.values.filter { grant in
        !expired.contains(grant.id) && grant.parent.map(expired.contains) ?? false
      }
      if children.isEmpty { return expired }
      expired.formUnion(children.map(\.id))
    }
  }

  /// The scopes that are started of a grant, in the order in which they were.
  package func scopes(of grant: String) -> [RecordedScope] {
    active.values.flatMap(\.values).filter { $0.key.grant == grant }.sorted { $0.sequence < $1.sequence }
  }
}

extension RecordedGrant {
  /// Whether something at this path is, or lies in, what was granted.
  package func reaches(_ path: String) -> Bool {
    guard let own = document?.path, !own.isEmpty else { return false }
    return own == path || (kind != "file" && path.lies(below: own))
  }
}

extension String {
  /// Whether this path lies in a folder, at whatever depth. Both absolute and normal in form.
  package func lies(below folder: String) -> Bool {
    folder == "/" ? hasPrefix("/") && self != "/" : hasPrefix(folder + "/")
  }
}
