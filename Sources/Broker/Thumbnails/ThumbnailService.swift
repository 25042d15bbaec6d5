internal import BrokerCore
internal import Coordination
internal import Folders
internal import Kernel
internal import Paths
internal import ScopedAccess
internal import SystemPackage
internal import Wire

/// Pictures of documents that the apps which made them have drawn (`io.ambit.Thumbnails`, `THM-4`). No picture is decoded here.
@BrokerLoop
struct ThumbnailService {
  let items: CoordinatedItems
  let grants: GrantStore
  let copies: PickedCopies

  private static let longest = 8 << 20
  private var pictures: DrawnPictures { DrawnPictures(folder: items.host.folders.drawnPictures) }

  /// - Parameter instance: `nil`: the user's side, which only reads.
  func serve(_ call: CheckedCall, for instance: Instance?) throws -> Answer {
    guard call.member == "Put" else {
      let path = try ThumbnailsInterface.GetCall(json: call.parameters).path
      guard let (app, file) = pictures.picture(of: try document(path, instance).found) else {
        throw ThumbnailsInterface.Failure.noPicture(path: path)
      }
      return Answer(ThumbnailsInterface.GetReply(app: app).json, descriptors: [file])
    }
    let request = try ThumbnailsInterface.PutCall(json: call.parameters)
    guard let instance else { throw ThumbnailsInterface.Failure.notMade(path: request.path) }
    let (found, grant) = try document(request.path, instance)
    // What lies in its container is an app's own.
    if let grant, !grant.isAppMade || instance.rights(of: grant) != .readWrite {
      throw ThumbnailsInterface.Failure.notMade(path: request.path)
    }
    let picture = try picture(request.picture, instance)
    do throws(KernelError) {
      try pictures.keep(picture, of: found, by: instance.app.bundleIdentifier)
    } catch { throw ThumbnailsInterface.Failure.notTaken("it cannot be kept: \(error.errno.symbol)") }
    return Answer([:])
  }

  private func document(_ path: String, _ instance: Instance?) throws -> (found: FoundDocument, grant: Grant?) {
    let named: NamedItem
    do { named = try items.item(path, for: instance) } catch { throw ThumbnailsInterface.Failure.notKnown(path: path) }
    // An app changes names in its container as it likes: no link is followed there.
    guard let opened = try? Descriptor.open(named.item.path.text, flags: .place, resolve: .noSymlinks),
      let found = try? FoundDocument(opened)
    else { throw ThumbnailsInterface.Failure.notKnown(path: path) }
    return (found, try named.grant.flatMap { try grants.grant($0) })
  }

  private func picture(_ path: String, _ instance: Instance) throws -> [UInt8] {
    let source: HandedItem
    do { source = try copies.source(path, instance) } catch {
      throw ThumbnailsInterface.Failure.notTaken("\(path) is no file in the app's container")
    }
    do throws(KernelError) {
      let file = try Descriptor.open(
        source.name, below: source.folder, flags: [.read, .noFollow, .nonBlocking], resolve: [.beneath, .noSymlinks])
      guard try file.status().kind == .regular else { throw KernelError("open", path, errno: .invalidArgument) }
      let bytes = try file.readAll(limit: Self.longest + 1)
      guard bytes.count <= Self.longest else { throw KernelError("read", path, errno: .fileTooLarge) }
      return bytes
    } catch { throw ThumbnailsInterface.Failure.notTaken("\(path) cannot be read: \(error.errno.symbol)") }
  }
}
