internal import BrokerCore
internal import Folders
internal import Kernel

/// The launches that a broker knows.
@BrokerLoop
final class SessionTable {
  /// Those that run, by identifier.
  private(set) var instances: [String: Instance] = [:]
  /// Which folders are documents to one of them, or to everybody.
  private(set) var packages = PackageTypes()
  /// Instances that are over, and of which the launcher has not said yet how they ended.
  var ended: [String: Instance] = [:]
  /// Launches that have been prepared and not yet attached.
  var prepared: [String: Preparation] = [:]
  /// Apps of which a running launch can watch files (`inotify(7)`). A descriptor for it can be sent from one launch to another.
  var watchingApps: Set<String> = []
  /// Called when an instance has been suspended: none of its processes runs any more. Also when a broker takes a suspended one over.
  var onSuspend: @BrokerLoop (Instance) -> Void = { _ in }
  /// Called when an instance has been resumed, before a message is read that it sends from then on. Not when a suspended one ends.
  var onResume: @BrokerLoop (Instance) -> Void = { _ in }
  /// Requests that wait for apps to end.
  private var endWaits: [(launches: Set<String>, wait: Wait<Bool>)] = []

  /// Told a launch that is over.
  var onRemove: (Instance) -> Void = { _ in }

  func add(_ instance: Instance) {
    instances[instance.id] = instance
    notePackages()
  }

  private func notePackages() { packages = PackageTypes(of: instances.values.map(\.app.packages)) }

  /// - Returns: whether it ran.
  func remove(_ instance: Instance) -> Bool {
    guard instances.removeValue(forKey: instance.id) != nil else { return false }
    notePackages()
    onRemove(instance)
    for each in endWaits where each.launches.isDisjoint(with: instances.keys) { each.wait.finish(true) }
    endWaits.removeAll { $0.wait.isOver }
    return true
  }

  /// Finishes when none of some launches runs any more.
  func whenEnded(_ launches: Set<String>) -> Wait<Bool> {
    let wait = Wait<Bool>()
    if launches.isDisjoint(with: instances.keys) { wait.finish(true) } else { endWaits.append((launches, wait)) }
    return wait
  }

  /// No launch runs, and none is about to.
  var isIdle: Bool { instances.isEmpty && prepared.isEmpty }
  func isRunning(_ instance: Instance) -> Bool { instances[instance.id] === instance }
  func running(_ app: String) -> [Instance] { instances.values.filter { $0.app.bundleIdentifier == app } }
  func isPreparing(_ app: String) -> Bool { prepared.values.contains { $0.bundleIdentifier == app } }
  func isPresent(_ app: String) -> Bool { !running(app).isEmpty || isPreparing(app) }

  /// An app of which nothing runs any more watches nothing.
  func forgetWatches(of app: String) {
    if watchingApps.contains(app), running(app).isEmpty { watchingApps.remove(app) }
  }
}
