extension Interface {
  /// Introspection, answered by every server (https://varlink.org/Service).
  package static let service = Interface(embedded: PackageResources.org_varlink_service_varlink)
  package static let picker = Interface(embedded: PackageResources.io_ambit_Picker_varlink)
  package static let access = Interface(embedded: PackageResources.io_ambit_Access_varlink)
  package static let bookmarks = Interface(embedded: PackageResources.io_ambit_Bookmarks_varlink)
  package static let transfer = Interface(embedded: PackageResources.io_ambit_Transfer_varlink)
  package static let coordination = Interface(embedded: PackageResources.io_ambit_Coordination_varlink)
  package static let versions = Interface(embedded: PackageResources.io_ambit_Versions_varlink)
  package static let query = Interface(embedded: PackageResources.io_ambit_Query_varlink)
  package static let opening = Interface(embedded: PackageResources.io_ambit_Opening_varlink)
  package static let index = Interface(embedded: PackageResources.io_ambit_Index_varlink)
  package static let thumbnails = Interface(embedded: PackageResources.io_ambit_Thumbnails_varlink)
  package static let provider = Interface(embedded: PackageResources.io_ambit_Provider_varlink)
  package static let locations = Interface(embedded: PackageResources.io_ambit_Locations_varlink)
  package static let inspector = Interface(embedded: PackageResources.io_ambit_Inspector_varlink)
  package static let launcher = Interface(embedded: PackageResources.io_ambit_Launcher_varlink)
  package static let cloud = Interface(embedded: PackageResources.io_ambit_Cloud_varlink)
  package static let grants = Interface(embedded: PackageResources.io_ambit_Grants_varlink)

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
}
