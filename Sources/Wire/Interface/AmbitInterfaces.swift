extension Interface {
  /// Introspection, answered by every server (https://varlink.org/Service).
  package static let service = embedded(PackageResources.org_varlink_service_varlink)
  package static let picker = embedded(PackageResources.io_ambit_Picker_varlink)
  package static let access = embedded(PackageResources.io_ambit_Access_varlink)
  package static let bookmarks = embedded(PackageResources.io_ambit_Bookmarks_varlink)
  package static let transfer = embedded(PackageResources.io_ambit_Transfer_varlink)
  package static let coordination = embedded(PackageResources.io_ambit_Coordination_varlink)
  package static let versions = embedded(PackageResources.io_ambit_Versions_varlink)
  package static let query = embedded(PackageResources.io_ambit_Query_varlink)
  package static let opening = embedded(PackageResources.io_ambit_Opening_varlink)
  package static let index = embedded(PackageResources.io_ambit_Index_varlink)
  package static let thumbnails = embedded(PackageResources.io_ambit_Thumbnails_varlink)
  package static let provider = embedded(PackageResources.io_ambit_Provider_varlink)
  package static let locations = embedded(PackageResources.io_ambit_Locations_varlink)
  package static let inspector = embedded(PackageResources.io_ambit_Inspector_varlink)
  package static let launcher = embedded(PackageResources.io_ambit_Launcher_varlink)
  package static let cloud = embedded(PackageResources.io_ambit_Cloud_varlink)
  package static let grants = embedded(PackageResources.io_ambit_Grants_varlink)

  /// The interfaces that an app instance's own socket serves.
  package static var app: [Interface] {
    [picker, access, bookmarks, transfer, coordination, versions, query, opening, index, thumbnails, provider]
  }
  /// The interfaces that the user's socket serves, which no sandbox can see.
  package static var user: [Interface] {
    [launcher, grants, inspector, coordination, versions, query, thumbnails, locations]
  }

  /// Each of them once: apps and the user's side coordinate and query by the same ones.
  package static var all: [Interface] { app + user.filter { each in !app.contains { $0.name == each.name } } + [cloud] }

  /// A description that was compiled in. It is Ambit's own text, tested to be well formed, and no input reaches it.
  private static func embedded(_ bytes: [UInt8]) -> Interface {
    do throws(InterfaceError) {
      return try Interface(parsing: String(decoding: bytes, as: UTF8.self))
    } catch {
      preconditionFailure("an interface description that was compiled in is broken: \(error)")
    }
  }
}
