internal import Kernel
internal import Paths
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// Where Ambit keeps its things. `AMBIT_HOME` puts all of them under one folder.
package struct AmbitFolders: Equatable, Sendable {
  /// The apps' containers.
  package let data: String
  /// Grants, the sealing key, the audit log.
  package let state: String
  /// Sockets.
  package let runtime: String
  /// The user's own policies.
  package let configuration: String
  /// The user's home folder.
  package let home: String
  /// A file that is taken for a machine-wide policy besides the machine's own (``MachinePolicyFile``): under `AMBIT_HOME`.
  package let furtherMachinePolicy: String?

  package var containers: String { "\(data)/containers" }
  /// Files that running apps keep beside their started documents.
  package var staging: String { "\(data)/staging" }
  package var grants: String { "\(state)/grants.sqlite" }
  package var catalog: String { "\(state)/catalog.sqlite" }
  /// The items that apps have indexed.
  package var searchIndex: String { "\(state)/search.sqlite" }
  /// The enabled file providers and their items.
  package var providers: String { "\(state)/providers.sqlite" }
  package var sealingKey: String { "\(state)/sealing.key" }
  package var auditLog: String { "\(state)/audit.sqlite" }
  package var filters: String { "\(state)/filters" }
  /// Old contents of documents that are being saved in place.
  package var recovery: String { "\(state)/recovery" }
  /// Earlier contents of documents, and their table beside them.
  package var versions: String { "\(state)/versions" }
  /// Pictures that apps have drawn of their documents.
  package var drawnPictures: String { "\(state)/pictures" }
  package var brokerLog: String { "\(state)/broker.log" }
  /// Which control groups there are of running apps.
  package var groups: String { "\(runtime)/groups" }
  package var policies: String { "\(configuration)/policies" }
  /// How the audit log is kept.
  package var auditSettings: String { "\(configuration)/audit.toml" }

  package static let socketName = "user"
  package static let lockName = "broker.lock"

  /// - Parameters:
  ///   - environment: of the user's own side, never of an app.
  ///   - home: the home folder that the system has for this user.
  package init(environment: [String: String], home: String) {
    func absolute(_ name: String) -> String? {
      environment[name].flatMap { $0.isAbsolutePath ? $0.withoutTrailingSlashes : nil }
    }
    self.home = home
    if let all = absolute("AMBIT_HOME") {
      data = "\(all)/data"
      state = "\(all)/state"
      runtime = "\(all)/run"
      configuration = "\(all)/config"
      furtherMachinePolicy = "\(all)/machine-policy.toml"
    } else {
      data = "\(absolute("XDG_DATA_HOME") ?? "\(home)/.local/share")/ambit"
      state = "\(absolute("XDG_STATE_HOME") ?? "\(home)/.local/state")/ambit"
      configuration = "\(absolute("XDG_CONFIG_HOME") ?? "\(home)/.config")/ambit"
      // Without a session there is no runtime folder; the state folder is private as well, and only slower to clean.
      runtime = absolute("XDG_RUNTIME_DIR").map { "\($0)/ambit" } ?? "\(state)/run"
      furtherMachinePolicy = nil
    }
  }

  /// For the user that this process runs as, to do something with.
  ///
  /// - Throws: where they are another user's (``check(as:)``).
  package static func current(environment: [String: String]) throws(StateError) -> AmbitFolders {
    let folders = located(environment: environment)
    try folders.check(as: geteuid())
    return folders
  }

  /// For the user that this process runs as, to say something of; whosever they are.
  package static func located(environment: [String: String]) -> AmbitFolders {
    let user = getuid()
    var home = environment["HOME"] ?? ""
    if !home.isAbsolutePath {
      home = UserDirectory.home(of: user) ?? "/"
    }
    return AmbitFolders(environment: environment, home: home.withoutTrailingSlashes)
  }

  /// Makes the folders that are missing, for their owner only, and refuses one that others could write.
  package func make() throws(StateError) {
    for folder in [data, containers, staging, state, recovery, versions, runtime] { try Self.make(folder) }
  }

  private static func make(_ path: String) throws(StateError) {
    do throws(KernelError) {
      var reached = ""
      for component in path.pathNames {
        reached += "/\(component)"
        let made = unsafe mkdir(reached, 0o700)
        if made == -1, Glibc.errno != EEXIST, Glibc.errno != EISDIR { throw KernelError.last("mkdir", reached) }
      }
      let status = try Descriptor.open(path, flags: [.path, .directory]).status()
      guard status.userID == geteuid() else {
        throw KernelError("open", "\(path), which belongs to user \(status.userID)", errno: .notPermitted)
      }
      if status.mode & 0o022 != 0 {
        throw KernelError("open", "\(path), which others may write (chmod go-w it)", errno: .notPermitted)
      }
    } catch {
      throw StateError(
        "\(path): Ambit cannot keep its things here: \(error). Make the folder writable for you, or set AMBIT_HOME to another one."
      )
    }
  }

  /// The files that may be granted, given these folders. Links in their paths are resolved, since documents' paths are.
  package var grantRules: GrantRules {
    func real(_ path: String) -> String {
      if let resolved = unsafe realpath(path, nil) {
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
      }
      // A missing folder, as the folder of settings may be, counts as lying where its parent lies.
      guard let folder = path.parentPath, path != "/" else { return path }
      return real(folder).path(of: path.lastPathName)
    }
    let sensitive = GrantRules.sensitiveNames.map { real(home.path(of: $0)) }
    return GrantRules(home: real(home), own: [data, state, runtime, configuration].map(real), sensitive: sensitive)
  }
}
