internal import Paths

/// Where a query looks.
package struct QueryScope: Hashable, Sendable {
  /// The app's own documents.
  package var local: Bool
  /// Documents elsewhere that were granted to the app.
  package var external: Bool
  /// Folders and documents, as the app sees them; something in one of them is looked at as well.
  package var places: [String]

  package init(local: Bool, external: Bool, places: [String] = []) {
    (self.local, self.external, self.places) = (local, external, places)
  }

  package static let all = QueryScope(local: true, external: true)
  package static let mostPlaces = 64

  package func contains(_ record: MetadataRecord) -> Bool {
    (record.isExternal ? external : local) || places.contains { record.path.lies(within: $0) }
  }
}
