internal import AppModel
internal import ContentTypes
internal import Kernel
internal import Launcher
internal import Paths
internal import Terminal
internal import Wire

/// The app that a document is opened with, and the way (`OIP-1`, `TYP-4`).
struct OpeningChoice {
  let app: KnownAppTypes
  /// The claim by which it opens the document; `nil`: it claims no such documents.
  let handler: Handler?

  /// As the share sheet calls it.
  var title: String { "\(app.opensInPlace ? "Open in" : "Copy to") \(app.name)" }
}

/// Finds the apps for documents, and opens documents with them.
struct Opener {
  let apps: [KnownAppTypes]
  private let types: TypeDecider

  init(_ folders: AppFolders) throws {
    apps = try folders.read()
    types = TypeDecider.ofUser(apps)
  }

  /// All apps that open a file, the best first.
  func choices(for file: String) throws -> [OpeningChoice] {
    let path = file.isAbsolutePath ? file : ThisProcess.directory.path(of: file)
    let decision: TypeDecision
    do throws(KernelError) { decision = try types.decide(path: path) } catch {
      throw Failure("\(printable(file)): \(error)", status: 1)
    }
    return HandlerRules.handlers(
      of: decision.identifier, named: path.lastPathName, mimeType: decision.mimeType, in: types.tree,
      apps: apps.map { ($0.identifier, $0.declarations) }
    ).filter { $0.rank != .none }.compactMap { handler in
      apps.first { $0.identifier == handler.app }.map { OpeningChoice(app: $0, handler: handler) }
    }
  }

  /// An app that the user names.
  ///
  /// - Parameter name: its bundle's path, its identifier or its name.
  /// - Returns: `nil` for a plain program.
  func app(named name: String) throws -> KnownAppTypes? {
    if AppBundle.isBundlePath(name) {
      guard let app = KnownAppTypes(try HostPath.resolved(name)) else {
        throw Failure("\(printable(name)) is no app: it has no Info.plist with an identifier.", status: 1)
      }
      return app
    }
    let named = apps.filter { $0.identifier == name || $0.name == name }
    guard named.count < 2 else {
      let all = named.map { printable($0.identifier) }.joined(separator: ", ")
      throw Failure("\(printable(name)) is the name of several apps: \(all). Name one by its identifier.", status: 1)
    }
    return named.first
  }

  /// An app that runs; of several launches the newest.
  ///
  /// An app's name is its own choice, so it counts only where no launch and no app has it as identifier.
  ///
  /// - Parameter isIdentifier: `app` is a bundle identifier, and no name.
  /// - Returns: its launch; `nil`: it does not run.
  static func launch(
    of app: String, isIdentifier: Bool, among running: [LauncherInterface.Instance]
  ) throws(Failure) -> String? {
    if !isIdentifier, running.contains(where: { $0.instance == app }) { return app }
    var named = running.filter { $0.bundleIdentifier == app }
    if named.isEmpty, !isIdentifier {
      named = running.filter { $0.name == app }
      let all = Set(named.map(\.bundleIdentifier)).sorted()
      guard all.count < 2 else {
        throw Failure(
          "\(printable(app)) is the name of several apps: \(all.map { printable($0) }.joined(separator: ", ")). "
            + "Name one by its identifier.", status: 1)
      }
    }
    return named.max { $0.started < $1.started }?.instance
  }

  /// Hands documents to an app that runs.
  ///
  /// - Parameter isIdentifier: `app` is a bundle identifier, and no name.
  /// - Returns: `nil` if it does not run.
  static func open(
    _ files: [String], withRunning app: String, isIdentifier: Bool = false, readOnly: Bool
  ) throws -> LauncherInterface.OpenReply? {
    let documents = try files.map { path throws -> Descriptor in
      do { return try Descriptor.open(path, flags: .path) } catch { throw Failure("\(error)", status: 1) }
    }
    let running = try BrokerConnection.running(try UserSide.folders)
    guard let launch = try launch(of: app, isIdentifier: isIdentifier, among: running.instances) else { return nil }
    return try UserSide.call(
      LauncherInterface.open, LauncherInterface.OpenCall(app: launch, access: readOnly ? .readOnly : .readWrite),
      descriptors: documents, answer: LauncherInterface.OpenReply.self)
  }

  /// Says what happened to documents that a running app was handed.
  static func tell(
    _ reply: LauncherInterface.OpenReply, _ files: [String], app: String, _ format: OutputFormat
  ) throws {
    switch format {
    case .json: try Output.standard.write(json: reply.json.text)
    case .table:
      let style = Style(for: 1)
      let way = reply.inPlace ? "opens" : "got a copy of"
      for file in files {
        try Output.standard.write(
          "\(style.green("✓")) \(style.cyan(printable(app))) \(way) \(style.bold(printable(file)))\n")
      }
    }
  }
}
