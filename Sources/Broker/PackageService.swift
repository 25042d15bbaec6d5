internal import Audit
internal import Kernel
internal import ScopedAccess
internal import SystemPackage
internal import Wire

/// Packages that a folder comes in the place of which an app has made beside them. To copy one takes its time, and so does removing
/// the old one: both are errands.
extension Broker {
  /// - Returns: what the app's rename answers; `nil` if that is told later.
  func replacePackage(
    _ document: FoundDocument, at place: DocumentPlace, _ grant: Grant, _ request: LauncherInterface.ReplaceCall,
    _ instance: Instance, from staging: Descriptor, then answer: @escaping (LauncherInterface.ReplaceReply) -> Void
  ) -> LauncherInterface.ReplaceReply? {
    let replacement: PackageReplacement
    do {
      replacement = try PackageReplacement(
        of: document, at: place, by: request.temporary, from: staging, through: try instance.staging.area(),
        exchanging: request.exchanges)
    } catch { return failed(error, grant, document, instance) }
    do { if let pending = replacement.pending { try grants.begin(pending) } } catch {
      clear(replacement, document, instance)
      return failed(error, grant, document, instance)
    }
    instance.saving.insert(grant.id)
    errands.add(
      owner: instance.app.bundleIdentifier, subject: grant.id,
      { pulse in
        FaultPoint.contentDue.hold()
        return Result { () throws(KernelError) in try replacement.fill { pulse.beat() } }
      }
    ) { outcome in
      instance.saving.remove(grant.id)
      let late = KernelError("copy_file_range", "the file system does not answer", errno: .ioError)
      let reply: LauncherInterface.ReplaceReply
      switch outcome ?? .failure(late) {
      case .success: reply = self.carryOut(replacement, request, of: document, instance)
      case .failure(let error): reply = self.failed(error, grant, document, instance)
      }
      answer(reply)
      self.clear(replacement, document, instance)
      self.goOnSaving(grant.id, instance)
    }
    beginErrands(now: Clock.monotonic())
    return nil
  }

  /// Everything is decided again: meanwhile its scope may have ended.
  private func carryOut(
    _ replacement: PackageReplacement, _ request: LauncherInterface.ReplaceCall, of document: FoundDocument,
    _ instance: Instance
  ) -> LauncherInterface.ReplaceReply {
    guard let (grant, _) = (try? saved(request, instance)) ?? nil else {
      return .init(error: Int(Errno.resourceBusy.rawValue))
    }
    let facts = Self.facts(document.identity, replacement.new)
    do {
      FaultPoint.replacementBegun.pass()
      try decide([
        event(.replaced, .allowed, instance, grant: grant, document: document, how: "app", detail: facts)
      ])
      let new = try replacement.carryOut()
      FaultPoint.filesExchanged.pass()
      replacement.settle()
      // Until the old one is removed it stays written down.
      try succeed(document.identity, by: new, isSettled: false)
      if let path = new.path { carryOver(from: document, at: path, to: new) }
      return .init(error: 0)
    } catch { return failed(error, grant, document, instance, facts) }
  }

  private func clear(_ replacement: PackageReplacement, _ document: FoundDocument, _ instance: Instance) {
    errands.add(owner: "what is left of packages", subject: "\(replacement.new.inode)") { _ in
      replacement.clear()
      return true
    } then: { (isDone: Bool?) in
      // Otherwise the next broker does.
      if isDone != nil { try? self.grants.abandon(document.identity) }
    }
    beginErrands(now: Clock.monotonic())
  }
}
