internal import Foundation
internal import Kernel
internal import Wire

/// The broker's answers, as the errors that Foundation's users know: a Cocoa code, the POSIX error underneath where
/// the kernel has one for it (`SBX-3`), and a sentence with the remedy.
extension WireError {
  func cocoa(for url: URL? = nil) -> CocoaError {
    guard case .remote(let name, let parameters) = self else { return transport(for: url) }
    let reason = (try? parameters.string("reason")) ?? ""
    return switch name {
    case AccessInterface.Failure.limitReachedName: limitReached(parameters, url)
    case AccessInterface.Failure.invalidScopeName, BookmarksInterface.Failure.invalidScopeName,
      TransferInterface.Failure.invalidScopeName:
      .make(
        .fileReadNoPermission, .EPERM, url,
        """
        The security scope of this URL is not one of this launch of the app. A scope does not outlive the launch, \
        also when the URL was saved as a string: save a bookmark, and use the URL that it resolves to.
        """)
    case AccessInterface.Failure.revokedName, BookmarksInterface.Failure.revokedName,
      TransferInterface.Failure.revokedName:
      .make(
        .fileReadNoPermission, .EPERM, url,
        """
        This app's access to the document has ended: it was withdrawn or given up, or others took its place. Only picking \
        it again gives it back.
        """)
    case AccessInterface.Failure.crowdedName:
      .make(.fileReadNoPermission, .EMFILE, url, "The document cannot be started: \(reason).")
    case AccessInterface.Failure.unavailableName:
      .make(.fileReadNoSuchFile, .ENOENT, url, "The document cannot be shown to the app: \(reason)")
    case AccessInterface.Failure.notOpenedName: notOpened(parameters, reason, url)
    case AccessInterface.Failure.notActiveName:
      .make(
        .fileReadNoPermission, .EPERM, url,
        "Call startAccessingSecurityScopedResource() before taking a descriptor of this URL's document.")
    case AccessInterface.Failure.readOnlyName:
      .make(.fileWriteNoPermission, .EROFS, url, "The user has given this document for reading only.")
    case AccessInterface.Failure.notToldName:
      .make(
        .fileReadNoPermission, .EPERM, url,
        "This app's policy does not let it be told where on the host its documents lie.")
    case AccessInterface.Failure.notAllowedName, BookmarksInterface.Failure.notAllowedName:
      .make(.fileReadNoPermission, .EPERM, url, "The app may not do this: \(reason).")
    case TransferInterface.Failure.notAllowedName:
      .make(.fileReadNoPermission, .EPERM, url, "The right to this document cannot be passed on: \(reason).")
    case TransferInterface.Failure.tooMuchName:
      .make(.fileReadNoPermission, .EPERM, url, "Nobody can pass on more than they may do themselves.")
    case PickerInterface.Failure.quotaReachedName, TransferInterface.Failure.quotaReachedName,
      BookmarksInterface.Failure.quotaReachedName:
      .make(
        .fileReadNoPermission, .EDQUOT, url,
        """
        This app may keep its access to \((try? parameters.int("limit")) ?? 0) documents, and this would be more. \
        Give one up first: SecurityScope.release(_:).
        """)
    case BookmarksInterface.Failure.notActiveName:
      .make(
        .fileReadNoPermission, .EPERM, url,
        "Call startAccessingSecurityScopedResource() before making a bookmark of this URL.")
    case BookmarksInterface.Failure.badSealName, TransferInterface.Failure.badSealName:
      .make(
        .fileReadCorruptFile, nil, url,
        "These bytes are no bookmark, reference or pass of this app: \(reason).")
    case BookmarksInterface.Failure.notRelativeName:
      .make(
        .fileReadNoPermission, .EPERM, url,
        "The bookmark was made relative to a document that this app has no access to, or that was not given.")
    case BookmarksInterface.Failure.notFoundName, TransferInterface.Failure.notFoundName:
      .make(
        .fileNoSuchFile, .ENOENT, url,
        """
        The document “\((try? parameters.string("name")) ?? "")” has been deleted, moved to another volume, or another \
        file stands in its place.\(lastSeen(parameters))
        """)
    case PickerInterface.Failure.cancelledName: .make(.userCancelled, nil, url, "The user chose nothing.")
    case PickerInterface.Failure.noUserName:
      .make(.featureUnsupported, nil, url, "Nobody can be asked to pick a document: \(reason)")
    case PickerInterface.Failure.noSourceName:
      .make(
        .fileReadNoSuchFile, .ENOENT, (try? parameters.string("path")).map { URL(fileURLWithPath: $0) },
        "“\((try? parameters.string("path")) ?? "")” cannot be handed over: \(reason).")
    case PickerInterface.Failure.notCopiedName: .make(.fileWriteUnknown, nil, url, "The copy was not made: \(reason).")
    case PickerInterface.Failure.notRenamedName:
      .make(.fileWriteUnknown, nil, url, "The document keeps its name: \(reason).")
    case PickerInterface.Failure.notGrantableName:
      .make(.fileReadNoPermission, .EPERM, url, "What the user chose cannot be handed to an app: \(reason)")
    case CoordinationInterface.Failure.notProvidedName:
      .make(
        (try? parameters.string("error")) == "serverUnreachable"
          ? .ubiquitousFileUbiquityServerNotAvailable : .ubiquitousFileUnavailable, nil, url,
        "The content of the document is not here: \(reason).")
    case IndexInterface.Failure.tooManyName:
      .make(.fileWriteOutOfSpace, nil, url, "The app has as many items in the index as are kept; delete some first.")
    case IndexInterface.Failure.tooLargeName:
      .make(.fileWriteOutOfSpace, nil, url, "The app's items have as many bytes as are kept; delete some first.")
    case OpeningInterface.Failure.notInInboxName:
      .make(.fileNoSuchFile, .ENOENT, url, "Only something in Documents/Inbox can be discarded: \(reason).")
    default: .make(.fileReadUnknown, nil, url, "The broker refused the request: \(description).")
    }
  }

  private func notOpened(_ parameters: JSONObject, _ reason: String, _ url: URL?) -> CocoaError {
    let code = (try? parameters.string("code")).flatMap(ErrorNumber.number(of:)).flatMap(POSIXErrorCode.init)
    let cocoa: CocoaError.Code =
      switch code {
      case .ENOENT, .ENOTDIR: .fileReadNoSuchFile
      case .EACCES, .EPERM, .EROFS, .EXDEV, .ELOOP: .fileReadNoPermission
      default: .fileReadUnknown
      }
    return .make(cocoa, code, url, "The document cannot be opened: \(reason).")
  }

  private func lastSeen(_ parameters: JSONObject) -> String {
    (try? parameters.string("lastPath")).map { " It was last seen at \($0)." } ?? ""
  }

  private func limitReached(_ parameters: JSONObject, _ url: URL?) -> CocoaError {
    let limit = (try? parameters.int("limit")) ?? 0
    let holders = ((try? parameters.objects("holders")) ?? []).compactMap { try? HolderMessage(json: $0) }
    let list = holders.map { "“\($0.name)”" + ($0.caller.map { " (started at \($0))" } ?? "") }
    return .make(
      .fileReadNoPermission, .EMFILE, url,
      """
      All \(limit) security scopes of this process are in use; stop one of them first. They are held by \
      \(list.joined(separator: ", "))\(limit > list.count ? " and \(limit - list.count) more" : "").
      """,
      [
        SecurityScope.statusErrorKey: SecurityScope.Status(
          used: limit, limit: limit, holders: holders.map(SecurityScope.Holder.init))
      ])
  }

  private func transport(for url: URL?) -> CocoaError {
    switch self {
    case .badAddress(let reason): .make(.featureUnsupported, nil, url, reason)
    default:
      .make(
        .fileReadUnknown, systemCode.flatMap(POSIXErrorCode.init), url,
        "The app's broker cannot be reached: \(description).")
    }
  }
}

extension CocoaError {
  static func make(
    _ code: CocoaError.Code, _ posix: POSIXErrorCode?, _ url: URL?, _ sentence: String,
    _ more: [String: any Sendable] = [:]
  ) -> CocoaError {
    var userInfo: [String: Any] = more
    userInfo[NSLocalizedDescriptionKey] = sentence
    if let posix { userInfo[NSUnderlyingErrorKey] = POSIXError(posix) }
    if let url { userInfo[NSURLErrorKey] = url }
    return CocoaError(code, userInfo: userInfo)
  }

  /// Functions that Apple's systems have and this version of Ambit does not have yet.
  static func notInThisVersion(_ what: String) -> CocoaError {
    make(.featureUnsupported, nil, nil, "This version of Ambit does not do this yet: \(what).")
  }
}
