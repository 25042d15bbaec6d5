internal import BrokerCore
internal import ScopedAccess

extension Broker {
  /// Holds grants and log against each other, and says that this broker has begun.
  func takeOver(_ host: BrokerHost, _ unsettled: UnsettledLaunches) throws {
    let left = try Reconciliation.reconcile(grants, host.folders)
    try trail.append([Reconciliation.started(trail.log, grants, boot: host.boot, unsettled)] + left)
  }

  /// Entries that cannot be written now stay in the journal, and are tried again.
  var settlingGrants: DeferredWork {
    DeferredWork(awake: 100_000, patience: 10_000_000, since: { [grants] in grants.pendingSince }) { [grants] in
      if let failure = grants.settleIfPossible() { complain("\(failure)") }
    }
  }

  /// Serves until it is told to stop, or until there has been nothing to serve for a while. Its connections are closed with the
  /// last reference to it: a client that called meanwhile, and was not read, can ask the next broker.
  func run() throws {
    try loop.run { lifetime.goesOn }
    try finish()
  }

  /// Ends in order.
  func finish() throws {
    user.stop()
    locations.extensions.stopAll()
    locations.placeholders.end()
    keeper.finishSnapshot()
    for instance in Array(sessions.instances.values) { ender.leave(instance) }
    try? loop.run([jobs], until: { sidecars.isIdle })
    for instance in Array(sessions.ended.values) { ender.recordExit(of: instance, nil) }
    try? grants.flushUses()
    // Here, so that it comes to the disk with the log's end.
    try? grants.settle()
    catalog.finish()
    try trail.finish()
    replies.prepare(now: loop.clock.monotonic)
  }
}
