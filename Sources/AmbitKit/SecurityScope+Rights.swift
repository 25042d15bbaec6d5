public import Foundation
internal import Wire

/// What an app may do with a right besides turning it on and off. Ambit's additions.
extension SecurityScope {
  /// Opens the document of a scoped URL that is started, or its folder, without going through its path.
  ///
  /// The descriptor can do what opening the path could: no more than the grant.
  /// - Parameter writing: for writing as well; refused where the grant is for reading only. Folders are opened for reading.
  /// - Returns: an open descriptor, the caller's to close.
  public static func openDescriptor(_ url: URL, writing: Bool = false) throws -> Int32 {
    let call = AccessInterface.OpenCall(scope: try scope(of: url), access: writing ? .readWrite : .readOnly)
    do { return try Broker.descriptor(AccessInterface.open, call) } catch { throw error.cocoa(for: url) }
  }

  /// Gives up this app's right to a document, in all of its launches; what is started ends. Only picking the document again gives it
  /// back (`TOK-19`).
  public static func release(_ url: URL) throws {
    let call = AccessInterface.ScopeCall(scope: try scope(of: url))
    do { try Broker.call(AccessInterface.release, call) } catch { throw error.cocoa(for: url) }
  }

  /// Makes bytes with which another app can take this app's right to a document, or less of it (`TOK-18`). To be allowed to, an app
  /// has the entitlement `io.ambit.pass-grants`. What the other app then has ends with this app's own right.
  ///
  /// - Parameters:
  ///   - app: its bundle identifier; no other can use the bytes.
  ///   - writing: for writing as well, if this app may.
  public static func pass(_ url: URL, to app: String, writing: Bool = false) throws -> Data {
    let call = TransferInterface.PassCall(
      scope: try scope(of: url), to: app, access: writing ? .readWrite : .readOnly)
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
