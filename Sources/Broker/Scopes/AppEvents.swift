internal import BrokerCore
internal import Kernel
internal import ScopedAccess
internal import Wire

/// Tells apps of the events of their documents without a call of their own (`io.ambit.Access.Events`).
@BrokerLoop
final class AppEvents: LoopMember {
  typealias Listener = (instance: Instance, events: Subscription<AccessInterface.EventsReply>)
  private let sessions: SessionTable
  private(set) var listeners: [Listener] = []

  init(_ sessions: SessionTable) { self.sessions = sessions }

  /// The answers to a call are the events from now on.
  func subscribe(_ instance: Instance, on connection: WireConnection) {
    let lost = AccessInterface.EventsReply(event: .init(kind: .lost))
    listeners.append((instance, Subscription(connection, lost: lost)))
  }

  /// - Parameter cause: the word for it in the interface.
  func tell(_ instance: Instance, _ kind: AccessInterface.Event.Kind, _ grant: String, cause: String) {
    #if AMBIT_MUTANTS
      if Mutant.watchersUntold.isActive { return }
    #endif
    guard !listeners.isEmpty else { return }
    let path = instance.scopes.exposed[grant].map { ScopeMounts.path(grant: grant, name: $0.name) }
    let event = AccessInterface.Event(kind: kind, grant: grant, path: path, cause: cause)
    for (listener, events) in listeners where listener === instance { events.send(.init(event: event)) }
  }

  /// Every launch of the grant's app is told.
  func tell(_ instances: some Sequence<Instance>, endOf grant: Grant, cause: String) {
    for instance in instances where instance.app.bundleIdentifier == grant.bundleIdentifier {
      tell(instance, .grantEnded, grant.id, cause: cause)
    }
  }

  // MARK: LoopMember

  /// Sends waiting events, and forgets clients that have gone.
  func finishTurn(now: Int64) {
    guard !listeners.isEmpty else { return }
    // The connections of a launch that is over are not read any more, so nothing closes them.
    listeners.removeAll { $0.events.isOver || !sessions.isRunning($0.instance) }
    for (_, events) in listeners { events.flush() }
  }
}
