package import ArgumentParser
internal import Folders
internal import Foundation

/// `ambit audit`: the broker's decisions.
package struct AuditCommand: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "audit",
    abstract: "Show what the broker decided: who got which document, how, and what was refused.",
    subcommands: [
      Log.self,
      At.self,
      Check.self,
      Simulate.self,
      Explain.self,
      Diff.self,
      Lint.self,
      Report.self,
      Export.self,
      Verify.self,
      Checkpoint.self,
      Segments.self,
    ], defaultSubcommand: Log.self)

  /// Where the broker keeps its log when no option says otherwise.
  static var defaultPath: String {
    get throws { try UserSide.folders.auditLog }
  }

  package init() {}
}
