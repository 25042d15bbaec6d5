internal import Foundation
internal import Kernel

#if canImport(Glibc)
  internal import Glibc
#endif

/// Grants over more than one launch: the limit, bookmarks, and documents that may not be granted.
extension Battery {
  /// More documents than this are not opened one by one; the limit is then taken on trust.
  private static let mostScopes = 600
  /// So many are chosen at once; a picker takes no more than some hundreds.
  private static let batch = 100

  func runDocuments() throws {
    let limit = options.scopeLimit
    guard limit <= Self.mostScopes else {
      for id in ["G4", "G6", "G9", "G11"] {
        inside.append(Attempt(id, "limit", .unable, "the policy's limit of \(limit) scopes takes too long to meet"))
      }
      return
    }
    let documents = (0...limit).map { "\(stage.home)/limit/\($0)" }
    for path in documents { try stage.write("text\n", path) }
    let place = "\(stage.home)/place"
    try KernelError.check("mkdir", place) { unsafe mkdir(place, 0o755) }
    let (replaced, moved, saved) = ("\(place)/replaced", "\(stage.home)/moved", "\(stage.home)/saved")
    for path in [replaced, moved, saved] { try stage.write("\(stage.token)\n", path) }
    try stage.write("chosen\n", replaced)

    let batches = stride(from: 0, to: documents.count, by: Self.batch).map {
      Array(documents[$0..<min($0 + Self.batch, documents.count)])
    }
    let others = [
      ["/"], [stage.home], ["\(stage.ambitHome)/state"], ["\(stage.home)/limit"], [replaced], [moved], [saved],
    ]
    try runStep("make", ["limit=\(limit)", "picks=\(batches.count)"], picks: batches + others)

    // The bookmarks' documents are now elsewhere, and an impostor stands at the path of one. It stands in a new folder: otherwise
    // it would count as the file with which a program replaces a document on saving (BMK-12).
    _ = unsafe unlink(replaced)
    try KernelError.check("rename", place) { unsafe rename(place, "\(place).gone") }
    try KernelError.check("mkdir", place) { unsafe mkdir(place, 0o755) }
    try stage.write("\(stage.token)\n", replaced)
    try KernelError.check("rename", moved) { unsafe rename(moved, "\(moved)-away") }
    try runStep("use", ["limit=\(limit)", "picks=\(batches.count)"], picks: batches)
  }

  private func runStep(_ step: String, _ more: [String], picks: [[String]]) throws {
    var arguments = ["probe"] + settings(isInside: true).filter { !$0.hasPrefix("broker=") }
    arguments += ["only=G4,G6,G9,G11", "step=\(step)"] + more
    let program = try launch(arguments, picks: picks)
    _ = try program.finish()
    let (attempts, isWhole) = Attempt.read(program.outputText)
    guard isWhole else { throw BatteryError("the battery did not come to its end in the sandbox. \(program.said)") }
    // In the second launch G9 and G11 have nothing to ask.
    inside += step == "use" ? attempts.filter { $0.entry != "G9" && $0.entry != "G11" } : attempts
  }
}
