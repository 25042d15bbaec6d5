import AmbitKit
import Foundation

/// The commands of the app, one a line. In a terminal single keys stand for some of them.
@MainActor final class Editor: StateRestorationDelegate {
  static let help = """
    pick | new NAME            a scene of the user's, or a new one in ~/Documents
    set NAME VALUE             rate, gravity, speed, life, red, green, blue
    import                     ask the user for an image (PPM) that colours the particles
    undo | redo | save | close
    state                      name, state, settings
    frame                      one picture
    versions                   earlier contents, and conflicts
    resolve mine | theirs      end a conflict
    background | restore       keep what is open for the next launch, and open it again
    quit
    """

  private(set) var document: ParticlesDocument?
  private var system = ParticleSystem()
  private(set) var message = ""

  func perform(_ line: String) async -> String {
    let words = line.split(separator: " ", maxSplits: 1).map(String.init)
    do { return try await carryOut(words.first ?? "", words.count > 1 ? words[1] : "") } catch {
      return "error \(error.localizedDescription)"
    }
  }

  /// Opens a document that the app was launched with or handed.
  func openHanded(_ url: URL) async -> String {
    do { return try await open(url) } catch { return "error \(error.localizedDescription)" }
  }

  private func carryOut(_ command: String, _ argument: String) async throws -> String {
    switch command {
    case "help": return "ok help\n\(Self.help)"
    case "pick":
      let urls = try DocumentPicker(forOpeningContentTypes: [UTType(filenameExtension: "particles") ?? .folder]).pick()
      return try await open(urls[0])
    case "new": return try await make(argument)
    case "set":
      let parts = argument.split(separator: " ").map(String.init)
      guard parts.count == 2, Scene.names.contains(parts[0]), let value = Double(parts[1]) else {
        return "error set NAME VALUE: \(Scene.names.joined(separator: ", "))"
      }
      try current().set(parts[0], to: value)
      return "ok \(parts[0]) \(try current().scene[parts[0]] ?? 0)"
    case "import":
      let urls = try DocumentPicker(forOpeningContentTypes: [UTType(filenameExtension: "ppm") ?? .image]).pick()
      try current().importImage(from: urls[0])
      return "ok imported \(urls[0].lastPathComponent)"
    case "undo":
      try current().undoManager.undo()
      return "ok"
    case "redo":
      try current().undoManager.redo()
      return "ok"
    case "save": return try result(await current().autosave(), "saved")
    case "close":
      let success = try await current().close()
      if success { document = nil }
      return try result(success, "closed")
    case "state": return try state()
    case "frame":
      for _ in 0..<60 { system.step(try current().scene, seconds: 1.0 / 30, width: 60, height: 32) }
      return "ok frame\n" + (try frame(width: 60, rows: 16, colours: false)).joined(separator: "\n")
    case "versions": return try versions()
    case "resolve": return try await resolve(argument)
    case "background":
      _ = await document?.autosave()
      try StateRestoration(delegate: self).applicationDidEnterBackground()
      return "ok"
    case "restore":
      let restored = StateRestoration(delegate: self).restore()
      guard let url = restored.documents.first else {
        return "ok nothing\(restored.failures.map { ": \($0.error.localizedDescription)" }.joined())"
      }
      return try await open(url)
    default: return "error there is no command “\(command)”; try help"
    }
  }

  private func current() throws -> ParticlesDocument {
    guard let document else {
      throw CocoaError(.fileNoSuchFile, userInfo: [NSLocalizedDescriptionKey: "No scene is open: pick, or new NAME."])
    }
    return document
  }

  private func result(_ success: Bool, _ done: String) throws -> String {
    if success { return "ok \(done)" }
    throw document?.lastError ?? CocoaError(.fileWriteUnknown)
  }

  private func open(_ url: URL) async throws -> String {
    _ = await document?.close()
    let new = ParticlesDocument(fileURL: url)
    new.autosavingDelay = 1
    document = new
    if await new.open() { return "ok \(new.fileURL.lastPathComponent)" }
    document = nil
    throw new.lastError ?? CocoaError(.fileReadUnknown)
  }

  private func make(_ name: String) async throws -> String {
    guard !name.isEmpty, UTType(filenameExtension: name) != nil else {
      return "error new NAME: a name without a slash"
    }
    let home = ProcessInfo.processInfo.environment["HOME"] ?? "/"
    let url = URL(fileURLWithPath: home).appendingPathComponent("Documents/\(name).particles", isDirectory: true)
    _ = await document?.close()
    let new = ParticlesDocument(fileURL: url)
    new.autosavingDelay = 1
    guard await new.save(to: url, for: .forCreating) else { throw new.lastError ?? CocoaError(.fileWriteUnknown) }
    document = new
    return "ok \(url.lastPathComponent)"
  }

  func state() throws -> String {
    let document = try current()
    var words = ["ok", document.fileURL.lastPathComponent]
    words.append(document.hasUnsavedChanges ? "edited" : "saved")
    if document.documentState.contains(.inConflict) { words.append("conflict") }
    if document.documentState.contains(.savingError) { words.append("saving-error") }
    words += Scene.names.map { name in
      let value = document.scene[name] ?? 0
      return "\(name)=\(value == value.rounded() ? "\(Int(value))" : "\(value)")"
    }
    words.append("image=\(document.image.map { "\($0.width)x\($0.height)" } ?? "none")")
    return words.joined(separator: " ")
  }

  // MARK: Versions

  private func versions() throws -> String {
    let versions = NSFileVersion.otherVersionsOfItem(at: try current().fileURL) ?? []
    let lines = versions.map { version in
      let kind = version.isConflict ? version.isResolved ? "resolved conflict" : "conflict" : "saved over"
      return "\(kind), by \(version.bundleIdentifierOfReplacingApp ?? "another program")"
    }
    return "ok \(versions.count)" + lines.map { "\n\($0)" }.joined()
  }

  /// `mine`: the document stays as it is. `theirs`: the conflict version becomes the document.
  private func resolve(_ choice: String) async throws -> String {
    let document = try current()
    guard let conflict = NSFileVersion.unresolvedConflictVersionsOfItem(at: document.fileURL)?.first else {
      return "error there is no conflict"
    }
    guard ["mine", "theirs"].contains(choice) else { return "error resolve mine, or resolve theirs" }
    if choice == "theirs" {
      let url = document.fileURL
      var failure: NSError?
      var outcome: Result<URL, any Error> = .success(url)
      unsafe NSFileCoordinator(filePresenter: document).coordinate(
        writingItemAt: url, options: .forReplacing, error: &failure
      ) { place in outcome = Result { try conflict.replaceItem(at: place) } }
      if let failure { throw failure }
      _ = try outcome.get()
      _ = await document.revert(toContentsOf: url)
    }
    conflict.isResolved = true
    return "ok resolved"
  }

  // MARK: Pictures

  func step(seconds: Double, width: Int, rows: Int) {
    if let document { system.step(document.scene, seconds: seconds, width: width, height: rows * 2) }
  }

  func frame(width: Int, rows: Int, colours: Bool) throws -> [String] {
    let document = try current()
    return system.frame(document.scene, image: document.image, width: width, rows: rows, colours: colours)
  }

  // MARK: Restoration

  nonisolated var openDocuments: [URL] { MainActor.assumeIsolated { document.map { [$0.fileURL] } ?? [] } }
}
