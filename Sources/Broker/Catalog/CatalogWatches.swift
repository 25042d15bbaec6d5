internal import Kernel
internal import Paths
internal import Synchronization

/// The folders that are watched for catalogs, and what each of them is to which app. Threads that read folders watch them first, so that
/// nothing falls between the two.
final class CatalogWatches: Sendable {
  /// A folder's part in a catalog.
  enum Role: Hashable {
    /// The folder that an app's `Documents` is in.
    case container(app: String)
    /// A folder in an app's `Documents`, from there on.
    case folder(app: String, PathKey)
    /// A package in an app's `Documents`, or a folder in that package.
    case package(app: String, PathKey)
    /// A folder of the host with documents that were granted to an app, or a granted folder itself.
    case external(app: String, PathKey)

    var app: String {
      switch self {
      case .container(let app), .folder(let app, _), .package(let app, _), .external(let app, _): app
      }
    }
  }

  private struct State {
    var watcher: ChangeWatcher?
    var roles: [Int32: Set<Role>] = [:]
    var numbers: [Role: Int32] = [:]
    var counts: [String: Int] = [:]
  }

  /// Of all apps, and of one. A folder beyond that is read anew when an app waits for a barrier.
  private static let most = 32_768
  private static let mostOfApp = 8192

  private let state = Mutex(State())

  /// `nil`: nothing is watched, or the kernel has no room for a watcher (`fs.inotify.max_user_instances`).
  var watcher: ChangeWatcher? { state.withLock { $0.watcher } }

  /// From here on folders can be watched, if the kernel has room.
  func open() {
    state.withLock { _ = $0.watcher.opened() }
  }

  /// Nothing is watched any more.
  func close() { state.withLock { $0 = State() } }

  /// - Returns: `false`: there is no room for it.
  func watch(_ folder: Descriptor, as role: Role) -> Bool {
    state.withLock { state in
      guard let watcher = state.watcher else { return false }
      let known = state.numbers[role]
      guard known != nil || state.numbers.count < Self.most && state.counts[role.app, default: 0] < Self.mostOfApp,
        let number = try? watcher.watch(folder)
      else { return false }
      if known == number { return true }
      leave(role, &state)
      state.roles[number, default: []].insert(role)
      state.numbers[role] = number
      state.counts[role.app, default: 0] += 1
      return true
    }
  }

  func roles(of number: Int32) -> Set<Role> { state.withLock { $0.roles[number] ?? [] } }
  func count(of app: String) -> Int { state.withLock { $0.counts[app] ?? 0 } }

  func leave(_ role: Role) { state.withLock { leave(role, &$0) } }

  private func leave(_ role: Role, _ state: inout State) {
    guard let number = state.numbers.removeValue(forKey: role) else { return }
    state.counts[role.app, default: 1] -= 1
    state.roles[number]?.remove(role)
    guard state.roles[number]?.isEmpty == true else { return }
    state.roles[number] = nil
    state.watcher?.unwatch(number)
  }

  func leaveAll(of app: String) {
    state.withLock { state in
      for role in state.numbers.keys where role.app == app { leave(role, &state) }
      state.counts[app] = nil
    }
  }

  /// A folder in an app's `Documents` is there no more.
  func leaveTree(_ app: String, _ folder: String) {
    state.withLock { state in
      for role in state.numbers.keys where role.lies(in: app, folder) { leave(role, &state) }
    }
  }

  /// It has another place, and the same watches.
  func moveTree(_ app: String, from old: String, to new: String) {
    state.withLock { state in
      for (role, number) in state.numbers where role.lies(in: app, old) {
        guard let moved = role.moved(from: old, to: new) else { continue }
        state.numbers[role] = nil
        state.roles[number]?.remove(role)
        // The place may have been another folder's.
        leave(moved, &state)
        state.numbers[moved] = number
        state.roles[number, default: []].insert(moved)
      }
    }
  }
}

extension CatalogWatches.Role {
  fileprivate func lies(in app: String, _ folder: String) -> Bool {
    switch self {
    case .folder(app, let path), .package(app, let path): folder.isEmpty || path.text.lies(within: folder)
    default: false
    }
  }

  fileprivate func moved(from old: String, to new: String) -> Self? {
    switch self {
    case .folder(let app, let path):
      path.text.path(within: old).map { .folder(app: app, PathKey($0.isEmpty ? new : new.path(of: $0))) }
    case .package(let app, let path):
      path.text.path(within: old).map { .package(app: app, PathKey($0.isEmpty ? new : new.path(of: $0))) }
    case .container, .external: nil
    }
  }
}
