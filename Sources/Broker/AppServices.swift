internal import BrokerCore
internal import Wire

/// The services that an app can call, by their interfaces.
@BrokerLoop
struct AppServices {
  let picker: PickService
  let browser: BrowserService
  let access: ScopeService
  let transfers: TransferService
  let bookmarks: BookmarkService
  let coordination: CoordinationService
  let versions: VersionService
  let catalog: CatalogService
  let index: IndexService
  let thumbnails: ThumbnailService
  let openings: OpeningService
  let providers: ProviderExtensions

  func serve(_ call: CheckedCall, on connection: WireConnection, for instance: Instance) throws -> Course {
    switch call.interface {
    case CoordinationInterface.name: try coordination.serve(call, on: connection, for: instance)
    case AccessInterface.name: try access.serve(call, on: connection, for: instance)
    default: .waits { try await waiting(call, on: connection, for: instance) }
    }
  }

  /// - Returns: `nil`: the service answers on the connection itself.
  private func waiting(
    _ call: CheckedCall, on connection: WireConnection, for instance: Instance
  ) async throws -> Answer? {
    switch call.interface {
    case PickerInterface.name where call.member != "Pick": try await browser.serve(call, for: instance)
    case PickerInterface.name: try await picker.pick(call, for: instance)
    case TransferInterface.name: try await transfers.serve(call, for: instance)
    case VersionsInterface.name: try await versions.serve(call, for: instance)
    case QueryInterface.name: try await catalog.serve(call, on: connection, for: instance)
    case ThumbnailsInterface.name: try await thumbnails.serve(call, for: instance)
    case IndexInterface.name: try await index.serve(call, for: instance)
    case ProviderInterface.name: try await providers.serve(call, on: connection, for: instance)
    case OpeningInterface.name: try await openings.serve(call, for: instance)
    default: try await bookmarks.serve(call, for: instance)
    }
  }

  /// A connection of an app's has closed.
  func left(_ connection: WireConnection) {
    coordination.left(connection)
    catalog.left(connection)
    providers.left(connection)
  }

  /// A launch is over.
  func ended(_ instance: Instance) {
    coordination.ended(instance)
    catalog.ended(instance)
    providers.ended(instance)
  }
}
