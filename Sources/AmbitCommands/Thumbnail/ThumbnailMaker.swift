internal import ContentTypes
internal import Folders
internal import Foundation
internal import Kernel
internal import Launcher
internal import Paths
internal import ScopedAccess
internal import SystemPackage
internal import Terminal
internal import Thumbnails
internal import Wire

/// Makes thumbnails: from the cache, or by a program in a sandbox of its own.
struct ThumbnailMaker {
  /// Why a document has no thumbnail.
  struct Failure: Error {
    /// The part that failed: `document`, `choice`, `sandbox`, `program`, `picture`.
    let layer: String
    /// A sentence without its full stop.
    let cause: String
    var thumbnailer: String?
    /// It failed before, and neither the document nor the program has changed since.
    var isKnown = false
  }

  struct Made {
    let path: String
    let picture: PNG
    /// `nil`: it was in the cache.
    let thumbnailer: String?
  }

  private let types: TypeDecider
  private let thumbnailers: [Thumbnailer]
  private let cache: ThumbnailCache
  private let environment: [String: String]

  init(_ apps: AppFolders) throws {
    environment = ThisProcess.environment
    let known = try apps.read()
    types = TypeDecider.ofUser(known)
    thumbnailers = KnownThumbnailers.all(known, environment: environment)
    cache = ThumbnailCache(environment: environment)
  }

  /// - Parameters:
  ///   - pixels: of the longest side, at most.
  ///   - timeout: seconds that a program has.
  ///   - retry: a failure that was noted does not count.
  func thumbnail(of file: String, pixels: Int, timeout: Int = 20, retry: Bool = false) throws(Failure) -> Made {
    let size = ThumbnailCache.Size(for: pixels)
    // Before anything looks into it: its content is not here.
    if let subject = placeholder(at: file), let made = try provided(subject, size) { return made }
    let (subject, decision) = try look(at: file)
    if let made = drawn(subject) { return made }
    if let picture = cache.picture(of: subject, size) {
      return Made(path: cache.path(of: subject, size), picture: picture, thumbnailer: nil)
    }
    let (chosen, passed) = ThumbnailRules.choice(
      thumbnailers, type: decision.identifier, mimeType: decision.mimeType,
      exporter: types.exporter(of: decision.identifier), size: size.rawValue)
    guard let chosen else {
      let why = passed.isEmpty ? "" : ": " + passed.map { "\($0.name): \($0.reason)" }.joined(separator: "; ")
      throw Failure(layer: "choice", cause: "no program here draws \(decision.identifier)\(why)")
    }
    let mark = mark(chosen)
    if !retry, let failure = cache.failure(of: subject, by: mark) {
      throw Failure(layer: "program", cause: failure.reason, thumbnailer: chosen.name, isKnown: true)
    }
    do throws(Failure) {
      let picture = try ThumbnailRun(chosen, timeout: timeout, environment).draw(subject.path, size: size.rawValue)
      do { try cache.keep(picture, of: subject, size) } catch {
        throw Failure(layer: "picture", cause: "it cannot be kept: \(error)", thumbnailer: chosen.name)
      }
      return Made(path: cache.path(of: subject, size), picture: picture, thumbnailer: chosen.name)
    } catch {
      guard error.layer != "sandbox" else { throw error }
      try? cache.note(.init(reason: "\(error.layer): \(error.cause)", thumbnailer: mark), of: subject)
      throw error
    }
  }

  /// The picture that the app which made the document has drawn of it (`THM-4`): it is in its own size. One that cannot be used is none.
  private func drawn(_ subject: ThumbnailCache.Subject) -> Made? {
    guard let folder = try? UserSide.folders.drawnPictures, (try? Descriptor.open(folder, flags: .path)) != nil,
      let (drawn, file) = try? UserSide.descriptor(
        ThumbnailsInterface.get, ThumbnailsInterface.GetCall(path: subject.path),
        answer: ThumbnailsInterface.GetReply.self),
      let bytes = try? file.readAll(limit: ThumbnailRun.longestPicture),
      let picture = try? PNG(bytes, longest: ThumbnailCache.Size.doubleExtraLarge.rawValue)
    else { return nil }
    let size = ThumbnailCache.Size(for: max(picture.width, picture.height))
    guard (try? cache.keep(picture, of: subject, size)) != nil else { return nil }
    return Made(path: cache.path(of: subject, size), picture: picture, thumbnailer: drawn.app)
  }

  /// The picture of a document whose content is not here: its file provider draws it (`THM-5`).
  ///
  /// - Returns: `nil`: the document is no provider's.
  private func provided(_ subject: ThumbnailCache.Subject, _ size: ThumbnailCache.Size) throws(Failure) -> Made? {
    var subject = subject
    let provider: String
    do {
      let item = try UserSide.call(
        LocationsInterface.identify, LocationsInterface.IdentifyCall(path: subject.path),
        answer: LocationsInterface.IdentifyReply.self)
      (subject.version, provider) = (item.version, item.provider)
    } catch { return nil }
    if let picture = cache.picture(of: subject, size) {
      return Made(path: cache.path(of: subject, size), picture: picture, thumbnailer: nil)
    }
    let bytes: [UInt8]
    do {
      let drawn = try UserSide.descriptor(
        LocationsInterface.thumbnail, LocationsInterface.ThumbnailCall(path: subject.path, size: size.rawValue))
      bytes = try drawn.readAll(limit: ThumbnailRun.longestPicture)
    } catch { throw Failure(layer: "program", cause: "\(error)", thumbnailer: provider) }
    let picture: PNG
    do throws(PNG.Fault) { picture = try PNG(bytes, longest: size.rawValue) } catch {
      throw Failure(layer: "picture", cause: error.words, thumbnailer: provider)
    }
    do { try cache.keep(picture, of: subject, size) } catch {
      throw Failure(layer: "picture", cause: "it cannot be kept: \(error)", thumbnailer: provider)
    }
    return Made(path: cache.path(of: subject, size), picture: picture, thumbnailer: provider)
  }

  /// A file without any mode, as placeholders are.
  private func placeholder(at file: String) -> ThumbnailCache.Subject? {
    guard let opened = try? Descriptor.open(file, flags: .path), let path = opened.currentPath,
      let status = try? opened.status(), status.kind == .regular, status.mode & 0o777 == 0
    else { return nil }
    return .init(path: path, modified: status.modified / 1_000_000_000, size: Int64(clamping: status.size))
  }

  private func look(at file: String) throws(Failure) -> (ThumbnailCache.Subject, TypeDecision) {
    do {
      let opened = try Descriptor.open(file, flags: .path)
      guard let path = opened.currentPath else { throw KernelError("open", file, errno: .noSuchFileOrDirectory) }
      let status = try opened.status()
      let decision = try types.decide(path: path)
      let isPackage = status.kind == .directory && types.tree.conforms(decision.identifier, to: "com.apple.package")
      guard status.kind == .regular || isPackage else {
        throw Failure(layer: "document", cause: "it is neither a file nor a package")
      }
      let modified = isPackage ? try FoundDocument(opened).modified() : status.modified
      return (
        .init(path: path, modified: modified / 1_000_000_000, size: Int64(clamping: status.size)), decision
      )
    } catch let failure as Failure {
      throw failure
    } catch { throw Failure(layer: "document", cause: "\(error)") }
  }

  /// A program, and when it was changed last.
  private func mark(_ thumbnailer: Thumbnailer) -> String {
    let changed = (try? Descriptor.open(thumbnailer.program, flags: .path).status().modified) ?? 0
    return "\(thumbnailer.name) \(thumbnailer.program) \(changed)"
  }
}

/// One run of a program that draws, under the policy `thumbnailer`: it reads one document, has no network, and seconds of time. Its
/// container is made for it, and goes with it.
struct ThumbnailRun {
  private let thumbnailer: Thumbnailer
  private let timeout: Int
  private let environment: [String: String]
  static let longestPicture = 8 << 20

  /// - Parameter timeout: seconds that the program has.
  init(_ thumbnailer: Thumbnailer, timeout: Int, _ environment: [String: String]) {
    (self.thumbnailer, self.timeout, self.environment) = (thumbnailer, timeout, environment)
  }

  func draw(_ document: String, size: Int) throws(ThumbnailMaker.Failure) -> PNG {
    func failure(_ layer: String, _ cause: String) -> ThumbnailMaker.Failure {
      .init(layer: layer, cause: cause, thumbnailer: thumbnailer.name)
    }
    guard let ambit = Programs.ambit.path else { throw failure("sandbox", "Ambit is not installed whole") }
    let container = "thumbnail.r\(UInt64.random(in: 0...UInt64.max))"
    defer { remove(container) }
    let isFolder = (try? Descriptor.open(document, flags: .path).status().kind) == .directory
    let output = "/home/user/tmp/thumbnail.png"
    // A place in its arguments stands for the document; a URL of it has only letters that need no escape.
    let words = thumbnailer.arguments(document: DocumentPlaces.mark, size: size, output: output)
      .map { $0.replacing("file://%7B%7D", with: "file://\(DocumentPlaces.mark)") }
    let ended: (status: Int32, errors: String)
    do {
      ended = try run(
        ambit,
        [
          "run", "--policy", "thumbnailer", "--container", container, "--limit", "wall_time=\(timeout)",
          isFolder ? "--give-folder-read" : "--give-read",
          document, "--", thumbnailer.program,
        ]
          + words)
    } catch { throw failure("sandbox", "\(error)") }
    switch ended.status {
    case 0: break
    case 125, 126, 127: throw failure("sandbox", ended.errors.isEmpty ? "it cannot be run" : ended.errors)
    case 124: throw failure("program", "its time was over")
    default:
      let how = ended.status > 128 ? "was ended by signal \(ended.status - 128)" : "exited with status \(ended.status)"
      throw failure("program", "it \(how)\(ended.errors.isEmpty ? "" : ": \(ended.errors)")")
    }
    let bytes: [UInt8]
    do { bytes = try picture(in: container) } catch {
      guard error.errno != .fileTooLarge else {
        throw failure("picture", "it is larger than \(Self.longestPicture >> 20) MiB")
      }
      throw failure("picture", "the program wrote none")
    }
    do throws(PNG.Fault) { return try PNG(bytes, longest: size) } catch { throw failure("picture", error.words) }
  }

  /// The container is the program's: no link in it is followed.
  private func picture(in container: String) throws(KernelError) -> [UInt8] {
    guard let folders = try? UserSide.folders else {
      throw KernelError("open", container, errno: .noSuchFileOrDirectory)
    }
    let folder = try Descriptor.open(folders.containers.path(of: container), flags: [.path, .directory, .noFollow])
    let file = try Descriptor.open(
      "tmp/thumbnail.png", below: folder, flags: [.read, .nonBlocking, .noFollow], resolve: [.beneath, .noSymlinks])
    guard try file.status().kind == .regular else { throw KernelError("open", container, errno: .invalidArgument) }
    let bytes = try file.readAll(limit: Self.longestPicture + 1)
    guard bytes.count <= Self.longestPicture else { throw KernelError("read", container, errno: .fileTooLarge) }
    return bytes
  }

  private func run(_ program: String, _ arguments: [String]) throws -> (status: Int32, errors: String) {
    let process = Process()
    // In a session of its own: a program that stops itself stops no shell and no launcher, and its time goes on.
    process.executableURL = URL(fileURLWithPath: "/usr/bin/setsid")
    process.arguments = ["--wait", program] + arguments
    process.environment = environment
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    let errors = Pipe()
    process.standardError = errors
    try process.run()
    // What a program says is a stranger's: bounded, and read to the end so that it does not wait.
    var said = Data()
    while let part = try errors.fileHandleForReading.read(upToCount: 65_536), !part.isEmpty {
      if said.count < 65_536 { said += part }
    }
    process.waitUntilExit()
    let status = process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus
    let last = String(decoding: said, as: UTF8.self).split(separator: "\n").last.map(String.init) ?? ""
    return (status, truncated(printable(last), to: 300))
  }

  private func remove(_ container: String) {
    let reply = try? UserSide.call(
      GrantsInterface.remove, GrantsInterface.RemoveCall(app: container, keepData: false, kill: true),
      answer: GrantsInterface.RemoveReply.self)
    guard let left = reply?.leftovers, let folders = try? UserSide.folders else { return }
    try? Descriptor.open(folders.containers, flags: [.read, .directory]).removeTree(left)
  }
}
