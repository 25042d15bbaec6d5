package import AppModel
internal import Audit
internal import BrokerCore
internal import Folders
package import Kernel
internal import Paths
internal import ScopedAccess
internal import SystemPackage
package import Wire

/// Which app a launch is of: decided by its files, on the descriptors that the launcher hands over.
struct LaunchedApp {
  /// Its container and its grants go by this one.
  let identifier: String
  /// Where its bundle, or the program, lies on the host.
  let path: String
  let digest: AppDigest
}

/// Which app a launch is of, by its files, and whether another one has its identifier.
@BrokerLoop
final class AppIdentification {
  private let rules: LaunchRules
  private let grants: GrantStore
  private let trail: AuditTrail
  private let mounts: MountState
  private let jobs: Jobs
  private let clock: any LoopClock

  init(
    _ rules: LaunchRules, _ grants: GrantStore, _ trail: AuditTrail, _ mounts: MountState, _ jobs: Jobs,
    _ clock: any LoopClock
  ) {
    (self.rules, self.grants, self.trail, self.mounts) = (rules, grants, trail, mounts)
    (self.jobs, self.clock) = (jobs, clock)
  }

  /// Finds out which app is launched, and remembers it.
  ///
  /// - Parameter files: the descriptors that came with the call.
  /// - Throws: `NeedsAnswer` and `Failed` where another app has the identifier.
  func identify(
    _ request: LauncherInterface.PrepareCall, _ files: [Descriptor], on connection: WireConnection
  ) async throws -> LaunchedApp {
    guard request.files.count == files.count, request.files.contains(.folder), request.files.contains(.executable),
      request.files.contains(.manifest) == (request.manifest != nil)
    else { throw ErrorReply.invalidParameter("files") }
    let known = Dictionary(zip(request.files, files)) { first, _ in first }
    let place = try rules.place(of: request, folder: known[.folder])
    let claimed = try rules.identifier(of: request, at: place)
    let seen = try await look(at: known, place, claimed, isProgram: request.manifest == nil, connection)
    func launched(_ identifier: String) -> LaunchedApp {
      LaunchedApp(identifier: identifier, path: place, digest: seen.digest)
    }
    // The user has said which container it is.
    if request.container != nil { return launched(claimed) }

    let verdict = IdentityVerdict(of: seen, among: try grants.identities(claiming: claimed), isVacant: isVacant)
    switch verdict {
    case .same(let record): return launched(record.identifier)
    case .first:
      try note(seen, as: claimed)
      return launched(claimed)
    case .copied(let record):
      try trail.decide([identityEvent(seen, as: record.identifier, "copied", before: record)])
      return launched(record.identifier)
    case .moved(let record):
      try trail.decide([identityEvent(seen, as: record.identifier, "moved", before: record)])
      try note(seen, as: record.identifier)
      return launched(record.identifier)
    case .updated(let record):
      #if AMBIT_MUTANTS
        if Mutant.updateIsStranger.isActive { return launched(try admit(seen, insteadOf: record, request)) }
      #endif
      try trail.decide([identityEvent(seen, as: record.identifier, "updated", before: record)])
      try note(seen, as: record.identifier)
      return launched(record.identifier)
    case .stranger(let record): return launched(try admit(seen, insteadOf: record, request))
    }
  }

  // MARK: The app's files

  /// An app's files as they are now. A file is read only if it is another one, or was changed, since it was read last.
  private func look(
    at files: [LauncherInterface.AppFile: Descriptor], _ place: String, _ claimed: String, isProgram: Bool,
    _ connection: WireConnection
  ) async throws -> SeenApp {
    let all = files.sorted { $0.key.rawValue < $1.key.rawValue }
    func seen(_ look: LookedApp) -> SeenApp {
      SeenApp(claimed: claimed, digest: look.digest, path: place, owners: look.owners, isProgram: isProgram)
    }
    // A user's file system, which may not answer, is asked by a thread; and so is one with files that take long to read.
    let waits = mounts.mayWait(place)
    if !waits {
      let (grants, now) = (self.grants, clock.realtime)
      var left: UInt64 = 1 << 20
      let look = try LookedApp(all) { file, stamp in
        if let known = grants.digest(of: stamp) { return known }
        guard stamp.size <= left else { return nil }
        left -= stamp.size
        return Self.read(file, stamp, grants, at: now) { true }
      }
      if let look { return seen(look) }
    }
    // Each launch has a place of its own among those that wait.
    let grants = self.grants
    let looked = try await jobs.run(
      owner: "launch \(connection.id)", subject: "the files at \(place)"
    ) { heartbeat in
      Result {
        try LookedApp(all) { file, stamp in
          grants.digest(of: stamp) ?? Self.read(file, stamp, grants, at: Clock.realtime(), heartbeat.beat)
        }
      }
    }
    guard let looked, let found = try looked.get() else {
      throw LauncherInterface.Failure.failed("\(place) is on a file system that does not answer.")
    }
    return seen(found)
  }

  private nonisolated static func read(
    _ file: Descriptor, _ stamp: FileStamp, _ grants: GrantStore, at now: Int64, _ goesOn: () -> Bool
  ) -> [UInt8]? {
    do throws(KernelError) {
      guard let digest = try FileDigest.content(of: file, while: goesOn) else { return nil }
      // While it was read it may have been written: then the digest is that of neither content, and of no use later.
      if stamp.isSettled(at: now), FileStamp(try file.status()) == stamp { grants.note(digest, of: stamp, at: now) }
      return digest
    } catch {
      // A program that its user may execute and not read.
      return FileDigest.unread(stamp)
    }
  }

  private func isVacant(_ record: RememberedApp) -> Bool {
    guard !mounts.mayWait(record.path) else { return false }
    do throws(KernelError) {
      _ = try Descriptor.open(record.path, flags: .place)
      return false
    } catch { return error.errno == .noSuchFileOrDirectory || error.errno == .notDirectory }
  }

  // MARK: The outcome

  private func note(_ seen: SeenApp, as identifier: String) throws {
    try grants.note(RememberedApp(seen, as: identifier), at: clock.realtime)
  }

  private func identityEvent(
    _ seen: SeenApp, as identifier: String, _ how: String, before: RememberedApp,
    _ result: AuditEvent.Result = .allowed, reason: String? = nil
  ) -> AuditEvent {
    AuditEvent(
      .identity, result, app: identifier, how: how, reason: reason,
      detail: [
        AuditEvent.Fact.path: seen.path, AuditEvent.Fact.digest: seen.digest.description,
        AuditEvent.Fact.formerPath: before.path, AuditEvent.Fact.formerDigest: before.digest.description,
      ])
  }

  /// Another app claims an identifier than the one that has it: its user decides.
  ///
  /// - Returns: the identifier that it runs under.
  private func admit(
    _ seen: SeenApp, insteadOf record: RememberedApp, _ request: LauncherInterface.PrepareCall
  ) throws -> String {
    let name = rules.name(of: request)
    #if AMBIT_MUTANTS
      if Mutant.strangerAdmitted.isActive { return record.identifier }
    #endif
    let documents = try grants.records(of: record.identifier).count
    let stranger = StrangerWords(name: name, seen: seen, record: record, documents: documents)
    switch request.answer(.identity) {
    case "new":
      let identifier = try unusedIdentifier(for: seen)
      try trail.decide([identityEvent(seen, as: identifier, "new", before: record)])
      try note(seen, as: identifier)
      return identifier
    case "replace":
      try trail.decide([identityEvent(seen, as: record.identifier, "replaced", before: record)])
      // Answers about the other one's entitlements do not hold for this one's.
      try grants.forgetEntitlements(of: record.identifier)
      try note(seen, as: record.identifier)
      return record.identifier
    case nil where request.canAsk: throw LauncherInterface.Failure.needsAnswer(stranger.question)
    case let answer:
      let reason = answer == nil ? "there is no terminal to ask its user on" : "its user does not want it"
      try trail.decide([identityEvent(seen, as: record.identifier, "refused", before: record, .refused, reason: reason)]
      )
      throw LauncherInterface.Failure.failed(answer == nil ? stranger.refusal : "\(name) was not run.")
    }
  }

  private func unusedIdentifier(for seen: SeenApp) throws -> String {
    let taken = Set(try grants.identities().map(\.app.identifier))
    for attempt in 1... {
      let identifier = BundleIdentifier.forAnother(seen.claimed, seen.digest, attempt: attempt)
      // One that was forgotten has left its container and its grants.
      if !taken.contains(identifier), try grants.number(of: identifier) == nil { return identifier }
    }
    return seen.claimed
  }
}

/// An app's files as they are now.
struct LookedApp {
  let digest: AppDigest
  let owners: [UInt32]

  /// - Parameter content: the digest of a file's content; `nil`: it cannot be had here.
  /// - Returns: `nil` if one of the digests cannot.
  init?(
    _ files: [(key: LauncherInterface.AppFile, value: Descriptor)],
    content: (Descriptor, FileStamp) -> [UInt8]?
  ) throws(KernelError) {
    var contents: [LauncherInterface.AppFile: (size: UInt64, digest: [UInt8])] = [:]
    var owners: Set<UInt32> = []
    for (name, file) in files {
      let status = try file.status()
      // The owner of a program's folder does not count: many users have programs in it.
      if name != .folder || files.contains(where: { $0.key == .manifest }) { owners.insert(status.userID) }
      if name == .folder { continue }
      guard status.kind == .regular else { throw KernelError("open", "a file of the app", errno: .invalidArgument) }
      let stamp = FileStamp(status)
      guard let digest = content(file, stamp) else { return nil }
      contents[name] = (status.size, digest)
    }
    guard let digest = FileDigest.app([contents[.manifest], contents[.entitlements], contents[.executable]]) else {
      return nil
    }
    self.digest = digest
    self.owners = owners.sorted()
  }
}

extension AppDigest {
  /// Of an app's files as they are now, all of them read.
  ///
  /// - Parameter descriptors: of the files, in the same order.
  package init?(of files: [LauncherInterface.AppFile], _ descriptors: [Descriptor]) throws(KernelError) {
    let all = zip(files, descriptors).map { (key: $0, value: $1) }
    let looked = try LookedApp(all) { file, stamp in
      (try? FileDigest.content(of: file) { true }) ?? FileDigest.unread(stamp)
    }
    guard let looked else { return nil }
    self = looked.digest
  }
}

/// The message about an app that claims the identifier of another one.
struct StrangerWords {
  let name: String
  let seen: SeenApp
  let record: RememberedApp
  let documents: Int

  private var known: String {
    switch documents {
    case 0: "that you have run before"
    case 1: "that you gave a document to"
    default: "that you gave \(documents) documents to"
    }
  }

  private var places: String {
    let owner = record.owners == seen.owners ? "" : ", and belongs to \(Self.users(seen.owners))"
    return record.path.isSamePath(as: seen.path)
      ? "It lies in the same place, \(seen.path)\(owner), not to \(Self.users(record.owners))."
      : "That one lies at \(record.path); this one at \(seen.path)\(owner)."
  }

  private static func users(_ owners: [UInt32]) -> String {
    (owners.count == 1 ? "user " : "users ") + owners.map(String.init).joined(separator: " and ")
  }

  var question: LauncherInterface.Question {
    .init(
      kind: .identity,
      text: "This is not the \(name) \(known), though it has the same identifier, \(seen.claimed). \(places)",
      choices: [
        .init("new", "run it as a new app, with its own container and no documents"),
        .init("replace", "let it replace the other one, and have its container and documents"),
        .init("quit", "do not run it"),
      ])
  }

  var refusal: String {
    "this is not the \(name) \(known), though it has the same identifier, \(seen.claimed). \(places) "
      + "“--trust new” runs it as a new app, with its own container and no documents; “--trust replace” lets it replace the other one."
  }
}
