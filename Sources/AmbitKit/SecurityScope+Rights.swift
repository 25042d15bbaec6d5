public import Foundation
internal import Kernel
internal import Paths
internal import SystemPackage
internal import Wire

#if canImport(Glibc)
  internal import Glibc
#endif

/// An app's uses of a right besides turning it on and off. Ambit's additions.
extension SecurityScope {
  /// Opens the document of a scoped URL that is started, or its folder, without going through its path; for something in a granted
  /// folder that thing, if no link is on the way.
  ///
  /// The descriptor gives the same access as opening the path: no more than the grant.
  /// - Parameter writing: for writing as well; refused where the grant is for reading only. Folders are opened for reading.
  /// - Parameter creating: with `writing`, makes a file in a granted folder if nothing is there.
  /// - Returns: an open descriptor, the caller's to close.
  public static func openDescriptor(_ url: URL, writing: Bool = false, creating: Bool = false) throws -> Int32 {
    let inside = try inside(url)
    if creating, writing, !inside.isEmpty { return try openBelow(url, inside, writing: true, creating: true) }
    let call = AccessInterface.OpenCall(
      scope: try scope(of: url), access: writing && inside.isEmpty ? .readWrite : .readOnly)
    let opened: Int32
    do { opened = try Broker.descriptor(AccessInterface.open, call) } catch { throw error.cocoa(for: url) }
    if inside.isEmpty { return opened }
    let folder = Descriptor(owning: opened)
    do throws(KernelError) {
      return try AppFile.open(inside.pathNames, writing ? O_RDWR : O_RDONLY, below: folder).duplicated()
    } catch {
      // The app's own user may not; the grant may all the same.
      guard [.permissionDenied, .notPermitted].contains(error.errno) else { throw error.cocoa(for: url) }
      return try openBelow(url, inside, writing: writing, creating: false)
    }
  }

  /// Has the broker open something in a granted folder.
  private static func openBelow(_ url: URL, _ inside: String, writing: Bool, creating: Bool) throws -> Int32 {
    let call = AccessInterface.OpenCall(
      scope: try scope(of: url), access: writing ? .readWrite : .readOnly,
      path: inside.pathNames.joined(separator: "/"), create: creating ? true : nil)
    do { return try Broker.descriptor(AccessInterface.open, call) } catch { throw error.cocoa(for: url) }
  }

  /// How the document of a scoped URL is opened.
  public enum Opening: Sendable, Hashable {
    /// At its path, or by a descriptor.
    case byPath
    /// With ``openDescriptor(_:writing:creating:)`` alone: the file system shows it with an owner and permissions that do not reach
    /// the app's user, so opening the path is `EACCES`.
    case byDescriptor
  }

  /// How the document of a scoped URL is opened while it is started.
  public static func opening(of url: URL) throws -> Opening {
    let call = AccessInterface.ScopeCall(scope: try scope(of: url))
    do {
      let place: AccessInterface.PathReply = try Broker.call(AccessInterface.path, call)
      return place.by == .descriptor ? .byDescriptor : .byPath
    } catch { throw error.cocoa(for: url) }
  }

  /// The name to show to the user for the document of a scoped URL, or for something in a granted folder: never a part of the path
  /// under which the app reaches it but the document's own name (`FSF-11`).
  public static func displayName(of url: URL) throws -> String {
    let inside = try inside(url)
    if let last = inside.pathNames.last { return last }
    do {
      let place: AccessInterface.PathReply = try Broker.call(
        AccessInterface.path, AccessInterface.ScopeCall(scope: try scope(of: url)))
      return place.name
    } catch let error as WireError { throw error.cocoa(for: url) }
  }

  /// Where the document lies on the host now, to show it to the user: the app cannot open anything by it. Only where
  /// the app's policy lets it be told (`[grants] host_paths`). The policy holds back only the answer:
  /// `/proc/self/mountinfo` has the path of a started document.
  ///
  /// - Returns: nil when no path is known, or none leads to the document any more.
  /// - Throws: `CocoaError`: `fileReadNoPermission` where the policy does not let it.
  public static func hostPath(of url: URL) throws -> String? {
    let inside = try inside(url)
    let call = AccessInterface.ScopeCall(scope: try scope(of: url))
    do {
      let reply: AccessInterface.HostPathReply = try Broker.call(AccessInterface.hostPath, call)
      return reply.path.map { $0 + inside }
    } catch { throw error.cocoa(for: url) }
  }

  /// Gives up this app's right to a document, in all of its launches; its scopes end. Only picking the document again gives it back
  /// (`TOK-19`). A file in a granted folder has no right of its own to be given up.
  public static func release(_ url: URL) throws {
    let call = AccessInterface.ScopeCall(scope: try ownScope(of: url, for: "given back"))
    do { try Broker.call(AccessInterface.release, call) } catch { throw error.cocoa(for: url) }
  }

  /// Makes bytes with which another app can take this app's right to a document, or less of it (`TOK-18`). To be allowed to, an app
  /// has the entitlement `io.ambit.pass-grants`. The other app's right then ends with this app's own right.
  ///
  /// - Parameters:
  ///   - app: its bundle identifier; no other can use the bytes.
  ///   - writing: for writing as well, if this app may.
  public static func pass(_ url: URL, to app: String, writing: Bool = false) throws -> Data {
    let call = TransferInterface.PassCall(
      scope: try ownScope(of: url, for: "passed on"), to: app, access: writing ? .readWrite : .readOnly)
    do {
      let reply: TransferInterface.Transfer = try Broker.call(TransferInterface.pass, call)
      return Data(reply.transfer.utf8)
    } catch { throw error.cocoa(for: url) }
  }

  /// Takes the right that another app has passed on.
  ///
  /// - Returns: a scoped URL; its scope is not started.
  public static func redeem(_ transfer: Data) throws -> URL {
    let call = TransferInterface.Transfer(
      transfer: String(decoding: transfer, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
    let reply: TransferInterface.RedeemReply
    do { reply = try Broker.call(TransferInterface.redeem, call) } catch { throw error.cocoa() }
    return try URL(document: reply.document)
  }
}
