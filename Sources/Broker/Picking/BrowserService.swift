internal import Audit
internal import BrokerCore
internal import Decisions
internal import FileProviders
internal import Folders
internal import Foundation
internal import Kernel
internal import Paths
internal import ScopedAccess
internal import SystemPackage
internal import UserFiles
internal import Wire

/// Where the user has asked for a new document, in a browser of an app's.
struct DocumentCreation {
  /// `nil`: no folder was shown, and it goes to the user's folder for documents (`PCK-15`).
  let folder: Descriptor?
}

/// What an app does from its document browser, besides opening: new documents, and other names (`io.ambit.Picker`).
@BrokerLoop
final class BrowserService {
  private let host: BrokerHost
  private let grants: GrantStore
  private let trail: AuditTrail
  private let sessions: SessionTable
  private let locator: DocumentLocator
  private let documents: GrantLocator
  private let places: OfferedPlaces
  private let handover: DocumentHandover
  private let issuer: GrantIssuer
  private let tokens: ScopeTokens
  private let copies: PickedCopies

  init(
    _ host: BrokerHost, _ grants: GrantStore, _ trail: AuditTrail, _ sessions: SessionTable, _ locator: DocumentLocator,
    _ documents: GrantLocator, _ places: OfferedPlaces, _ handover: DocumentHandover, _ issuer: GrantIssuer,
    _ tokens: ScopeTokens, _ copies: PickedCopies
  ) {
    (self.host, self.grants, self.trail, self.sessions) = (host, grants, trail, sessions)
    (self.locator, self.documents, self.places, self.handover) = (locator, documents, places, handover)
    (self.issuer, self.tokens, self.copies) = (issuer, tokens, copies)
  }

  func serve(_ call: CheckedCall, for instance: Instance) async throws -> Answer {
    if call.member == "Create" {
      let request = try PickerInterface.CreateCall(json: call.parameters)
      return Answer(PickerInterface.CreateReply(document: try await create(request, instance)).json)
    }
    let request = try PickerInterface.RenameCall(json: call.parameters)
    return Answer(PickerInterface.RenameReply(document: try await rename(request, instance)).json)
  }

  // MARK: New documents

  /// The user has asked for one document, so one is put there.
  private func create(_ request: PickerInterface.CreateCall, _ instance: Instance) async throws -> DocumentMessage {
    // What its user has opened with the app, and the app could not change, needs no further consent (`OIP-4`).
    let isOpened =
      instance.picker.creation == nil && instance.app.rules.inbox && request.nextTo == nil
      && ((try? copies.source(request.source, instance)).map { isAsItCame($0, instance) } ?? false)
    guard let creation = instance.picker.creation ?? (isOpened ? DocumentCreation(folder: nil) : nil) else {
      let reason = "the user has not asked for a new document"
      try trail.decide([AuditEvent(.pick, .refused, instance, rule: "PCK-14", reason: reason)])
      throw PickerInterface.Failure.notGrantable(reason)
    }
    let source = try copies.source(request.source, instance)
    // The new document is one that the app has opened, from its browser or its Inbox.
    if let refusal = instance.app.decisions.refusal(ofAsking: PickerInterface.Mode.open.rawValue, folder: false)
      ?? instance.refusal(of: .file, named: source.name)
    {
      try trail.decide([AuditEvent(.pick, .refused, instance, rule: refusal.rule, reason: refusal.reason)])
      throw PickerInterface.Failure.notGrantable(refusal.reason)
    }
    let isAsked = instance.picker.creation != nil
    instance.picker.creation = nil
    do {
      let folder = try await folder(request, creation, instance)
      if let reason = refusal(ofPutting: source.name, into: folder, instance) {
        try trail.decide([AuditEvent(.pick, .refused, instance, rule: "SBX-15", reason: reason)])
        throw PickerInterface.Failure.notGrantable(reason)
      }
      let ticket = CopyTicket()
      guard
        let made = try await copies.put([source], into: folder, ticket, instance, mustStayAsItIs: request.move)
      else { throw PickerInterface.Failure.notCopied("it made no progress") }
      let put: PutItems
      do { put = try made.get() } catch {
        throw PickerInterface.Failure.notCopied("\(error.errno.symbol): \(error)")
      }
      do {
        guard isAsked || isAsItCame(source, instance) else {
          throw PickerInterface.Failure.notCopied("it was changed meanwhile")
        }
        let chosen = try await locator.examine(put.copies.map(\.item), "a new document of \(instance.id)")
        guard sessions.isRunning(instance) else { throw StateError("the app is gone") }
        let handed = try handover.hand(
          chosen, to: instance,
          .init(
            origin: .user, asked: .readWrite, term: instance.term(at: host.clock.realtime), isPick: true,
            isAppMade: true))
        // Its user has wished for one document by opening it.
        if !isAsked, let opened = try? FoundDocument(source.item) {
          try? grants.forgetInInbox(opened.identity, of: instance.app.bundleIdentifier)
        }
        if request.move { await copies.remove(put, instance) }
        return handed[0].message
      } catch {
        await copies.discard(put.copies, in: folder, instance)
        throw error
      }
    } catch {
      // It may be tried again: the user still wants it.
      if isAsked, instance.picker.creation == nil { instance.picker.creation = creation }
      throw error
    }
  }

  /// The broker has put it into the app's Inbox, and nothing in it was changed since.
  private func isAsItCame(_ source: HandedItem, _ instance: Instance) -> Bool {
    guard let document = try? FoundDocument(source.item),
      let changed = try? grants.changeInInbox(of: document.identity, instance.app.bundleIdentifier)
    else { return false }
    return (try? InboxDocument.lastChange(of: source.item)) == changed
  }

  /// As for a document that the user picks there.
  private func refusal(ofPutting name: String, into folder: Descriptor, _ instance: Instance) -> String? {
    guard let path = folder.currentPath else { return "the folder is gone" }
    return places.refusal(of: .file, at: path.path(of: name), for: instance.app.bundleIdentifier)
  }

  private func folder(
    _ request: PickerInterface.CreateCall, _ creation: DocumentCreation, _ instance: Instance
  ) async throws -> Descriptor {
    if let neighbour = request.nextTo {
      let location = try await documents.locate(for: instance) { try tokens.grant(of: neighbour, instance) }
      guard location.grant.kind != .folder else {
        throw PickerInterface.Failure.notGrantable("a folder is no document, and what lies around it is not the app's")
      }
      guard let path = location.document.path, let folder = try? Self.folder(around: location.document.descriptor, path)
      else {
        throw PickerInterface.Failure.notCopied("the folder around the other document cannot be found")
      }
      return folder
    }
    if let folder = creation.folder { return folder }
    let home = try Descriptor.open(host.rules.home, flags: [.read, .directory])
    do throws(KernelError) { try home.makeDirectory("Documents", mode: 0o755) } catch {
      guard error.errno == .fileExists else { throw error }
    }
    return try Descriptor.open("Documents", below: home, flags: [.read, .directory])
  }

  /// The folder that a document lies in, if it still lies there.
  private static func folder(around document: Descriptor, _ path: String) throws(KernelError) -> Descriptor {
    let folder = try Descriptor.open(path.parentPath ?? "/", flags: [.read, .directory])
    let present = try Descriptor.open(path.lastPathName, below: folder, flags: .place)
    guard try present.status().inode == document.status().inode, present.mount == document.mount else {
      throw KernelError("openat2", path, errno: .staleNFSFileHandle)
    }
    return folder
  }

  // MARK: Names

  private static let mostTries = 4

  private func rename(_ request: PickerInterface.RenameCall, _ instance: Instance) async throws -> DocumentMessage {
    var name = request.name
    guard !name.isEmpty, !name.isHiddenName, !name.hasSlash, name.utf8.count <= 255, !name.hasControls else {
      throw ErrorReply.invalidParameter("name")
    }
    let location = try await documents.locate(for: instance) { try tokens.grant(of: request.scope, instance) }
    let (grant, document) = (location.grant, location.document)
    guard instance.rights(of: grant) == .readWrite else {
      throw PickerInterface.Failure.notRenamed("the app may only read it")
    }
    guard !handover.lacks(.renaming, document.path ?? "") else {
      throw PickerInterface.Failure.notRenamed("its provider does not allow it")
    }
    if let refusal = instance.refusal(of: grant.kind, named: name) {
      throw PickerInterface.Failure.notRenamed(refusal.reason)
    }
    guard let path = document.path, let folder = try? Self.folder(around: document.descriptor, path) else {
      throw PickerInterface.Failure.notRenamed("it is no longer where it was")
    }
    let own = path.lastPathName
    // A letter stays a letter: with another extension it might be a program to the desktop.
    let (suffix, wanted) = ((own as NSString).pathExtension, (name as NSString).pathExtension)
    if wanted.isEmpty, !suffix.isEmpty { name += ".\(suffix)" }
    guard wanted.isEmpty || wanted.lowercased() == suffix.lowercased() else {
      throw PickerInterface.Failure.notRenamed("its extension stays as it is")
    }
    var tries = 0
    for proposal in NameProposals(name) {
      // It has this name, or those before it are taken.
      if proposal.isSamePath(as: own) { break }
      if (try? Descriptor.open(proposal, below: folder, flags: .place)) != nil { continue }
      let target = (path.parentPath ?? "/").path(of: proposal)
      try trail.decide([
        AuditEvent(
          .grant, .allowed, instance, grant: grant, document: document, how: Grant.Origin.user.rawValue,
          reason: "the app renames it to \(proposal)", detail: ["access": grant.rights.rawValue, "kept": "true"])
      ])
      do throws(KernelError) { try folder.moveAside(own, to: folder, as: proposal) } catch {
        tries += 1
        // Others make files there at the same time.
        if error.errno == .fileExists, tries < Self.mostTries { continue }
        throw PickerInterface.Failure.notRenamed("\(error.errno)")
      }
      grants.move(grant.id, to: target, place: location.looked.place)
      copies.onChanged(target)
      let renamed = try FoundDocument(document.descriptor, at: target)
      return try issuer.expose(grant, as: renamed, to: instance, how: Grant.Origin.user.rawValue)
    }
    return try issuer.expose(grant, as: document, to: instance, how: Grant.Origin.user.rawValue)
  }
}
