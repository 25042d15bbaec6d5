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
  let locator: DocumentLocator
  let copies: PickedCopies
  let jobs: Jobs

  private nonisolated static let longest = 8 << 20
  private var pictures: DrawnPictures { DrawnPictures(folder: items.host.folders.drawnPictures) }

  /// - Parameter instance: `nil`: the user's side, which only reads.
  func serve(_ call: CheckedCall, for instance: Instance?) async throws -> Answer {
    guard call.member == "Put" else {
      let path = try ThumbnailsInterface.GetCall(json: call.parameters).path
      guard let (app, file) = pictures.picture(of: try await document(path, instance).found) else {
        throw ThumbnailsInterface.Failure.noPicture(path: path)
      }
      return Answer(ThumbnailsInterface.GetReply(app: app).json, descriptors: [file])
    }
    let request = try ThumbnailsInterface.PutCall(json: call.parameters)
    guard let instance else { throw ThumbnailsInterface.Failure.notMade(path: request.path) }
    let (found, grant) = try await document(request.path, instance)
    // A container's files are an app's own.
    if let grant, !grant.isAppMade || instance.rights(of: grant) != .readWrite {
      throw ThumbnailsInterface.Failure.notMade(path: request.path)
    }
    let source: HandedItem
    do { source = try copies.source(request.picture, instance) } catch {
      throw ThumbnailsInterface.Failure.notTaken("\(request.picture) is no file in the app's container")
    }
    let (pictures, app) = (pictures, instance.app.bundleIdentifier)
    let kept = try await jobs.run(owner: "pictures of \(app)", subject: request.path) { _ in
      Result { () throws(KernelError) in try pictures.keep(Self.bytes(of: source), of: found, by: app) }
    }
    do { try kept?.get() } catch {
      throw ThumbnailsInterface.Failure.notTaken("\(request.picture) cannot be kept: \(error.errno.symbol)")
    }
    guard kept != nil else { throw ThumbnailsInterface.Failure.notTaken("it made no progress") }
    return Answer([:])
  }

  private func document(
    _ path: String, _ instance: Instance?
  ) async throws -> (found: FoundDocument, grant: Grant?) {
    guard let (named, found) = try await items.document(path, for: instance, by: locator) else {
      throw ThumbnailsInterface.Failure.notKnown(path: path)
    }
    return (found, try named.grant.flatMap { try grants.grant($0) })
  }

  private nonisolated static func bytes(of source: HandedItem) throws(KernelError) -> [UInt8] {
    let file = try Descriptor.open(
      source.name, below: source.folder, flags: [.read, .noFollow, .nonBlocking], resolve: [.beneath, .noSymlinks])
    guard try file.status().kind == .regular else { throw KernelError("open", source.name, errno: .invalidArgument) }
    let bytes = try file.readAll(limit: longest + 1)
    guard bytes.count <= longest else { throw KernelError("read", source.name, errno: .fileTooLarge) }
    return bytes
  }
}
