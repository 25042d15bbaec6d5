internal import Foundation
internal import Kernel
internal import Paths

#if canImport(Glibc)
  internal import Glibc
#endif

/// I1: an app that takes another one's identifier, or a program another one's name, and finds neither its container nor its documents.
extension Battery {
  func runIdentities() throws {
    try impersonateBundle()
    try impersonateProgram()
  }

  /// The marks in a container that name its owner.
  private static let marks = (bundle: "/home/user/whose-bundle", program: "/home/user/whose-program")

  private func impersonateBundle() throws {
    let (own, other) = (stage.bundle, "\(stage.folder)/other/Battery.app")
    try copy(own, to: other, changing: "battery")
    try stage.write("its own\n", "\(stage.ambitContainer)/whose-bundle")
    defer { _ = unsafe unlink("\(stage.ambitContainer)/whose-bundle") }
    attempts("bundle", looking: Self.marks.bundle, own: own, other: other)
    // The one that the other one's identifier is not: its documents are those of its identifier.
    let listing = try list()
    let claimants = listing.filter { $0.hasSuffix(Stage.identifier) || $0.contains("\(Stage.identifier)-") }
    if claimants.count < 2 {
      note("bundle", .reached, "what ran as a new app got no identifier of its own: \(listing)")
    }
  }

  private func impersonateProgram() throws {
    let (own, other) = ("\(stage.folder)/A/tool", "\(stage.folder)/B/tool")
    for path in [own, other] {
      try FileManager.default.createDirectory(
        atPath: path.parentPath ?? "/", withIntermediateDirectories: true)
      try FileManager.default.copyItem(atPath: options.program, toPath: path)
    }
    let before = Set(try list())
    _ = try launch(["look", Self.marks.program], bundle: own).finish()
    for container in Set(try list()).subtracting(before) {
      try stage.write("its own\n", "\(stage.ambitHome)/data/containers/\(container)/whose-program")
    }
    attempts("program", looking: Self.marks.program, own: own, other: other)
  }

  private func list() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: "\(stage.ambitHome)/data/containers").sorted()
  }

  /// The same look by the app itself, by the other one, and by the other one where its user takes it for a new app.
  private func attempts(_ name: String, looking path: String, own: String, other: String) {
    func look(_ app: String, _ more: [String] = []) -> Program.Ending? {
      try? launch(["look", path], bundle: app, more: more).finish()
    }
    if case .exit(43)? = look(own) { note(name, .control, "the app itself finds its container") }
    for more in [[], ["--trust", "new"]] {
      switch look(other, more) {
      case .exit(43)?: note(name, .reached, "another app of the same name has its container")
      case .exit(42)?: note(name, .refused, "another app has another container")
      case .exit(125)?: note(name, .refused, "the launch was refused")
      case let ending: note(name, .unable, "it ended with \(ending.map { "\($0)" } ?? "nothing")")
      }
    }
  }

  private func note(_ name: String, _ outcome: Attempt.Outcome, _ text: String) {
    let attempt = Attempt("I1", name, outcome, text)
    if !inside.contains(attempt) { inside.append(attempt) }
  }

  private func copy(_ bundle: String, to other: String, changing name: String) throws {
    try FileManager.default.createDirectory(
      atPath: other.parentPath ?? "/", withIntermediateDirectories: true)
    try FileManager.default.copyItem(atPath: bundle, toPath: other)
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: "\(other)/\(name)"))
    _ = try file.seekToEnd()
    // After the part that the loader reads: it runs as before, and is another file.
    try file.write(contentsOf: Data("other".utf8))
    try file.close()
  }
}
