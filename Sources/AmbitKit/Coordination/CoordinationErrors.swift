internal import Foundation
internal import Wire

extension NSFileCoordinator {
  /// In the `userInfo` of an error of coordination: the ones that were waited for, an array of ``Asker``.
  public static let waitedForErrorKey = "AmbitFileCoordinationWaitedFor"
}

extension WireError {
  /// As ``cocoa(for:)``, for the errors of coordination.
  func coordination(for url: URL?) -> CocoaError {
    typealias Failure = CoordinationInterface.Failure
    guard case .remote(let name, let parameters) = self else { return cocoa(for: url) }
    let reason = (try? parameters.string("reason")) ?? ""
    let seconds = Double((try? parameters.int("after")) ?? 0) / 1e9
    let time = "\((seconds * 10).rounded() / 10) seconds"
    var parties: [NSFileCoordinator.Asker] = []
    if let party = try? parameters.object("party"), let message = try? CoordinationInterface.Party(json: party) {
      parties.append(.init(message))
    }
    parties += ((try? parameters.objects("holders")) ?? []).compactMap { object in
      (try? CoordinationInterface.Party(json: object)).map { .init($0) }
    }
    let names = parties.map { "\($0.app) (process \($0.process))" }.joined(separator: ", ")
    let more: [String: any Sendable] = parties.isEmpty ? [:] : [NSFileCoordinator.waitedForErrorKey: parties]
    return switch name {
    case Failure.notKnownName:
      .make(
        .fileReadNoPermission, .EPERM, url,
        "This app has not been given the item, or its access has ended; only what it has can be coordinated.", more)
    case Failure.readOnlyName:
      .make(.fileWriteNoPermission, .EROFS, url, "The user has given this item for reading only.", more)
    case Failure.cancelledName: .make(.userCancelled, .ECANCELED, url, "The coordinated access was cancelled.", more)
    case Failure.presenterFailedName:
      .make(.fileReadUnknown, .EIO, url, "\(names) could not let go of the item: \(reason)", more)
    case Failure.presenterSilentName:
      .make(
        .fileReadUnknown, .ETIMEDOUT, url,
        "\(names) presents the item, and has not answered for \(time).", more)
    case Failure.heldName:
      .make(.fileReadUnknown, .ETIMEDOUT, url, "The item has been held for \(time) by \(names).", more)
    case Failure.deadlockName:
      .make(
        .fileReadUnknown, .EDEADLK, url,
        "Each waits for the next: \(((try? parameters.strings("cycle")) ?? []).joined(separator: "; ")).", more)
    case Failure.crowdedName:
      .make(.fileReadUnknown, .EAGAIN, url, "The access cannot be coordinated: \(reason).", more)
    default: cocoa(for: url)
    }
  }
}
