package import ArgumentParser
internal import Folders
internal import Foundation

/// `ambit audit`: what the broker decided.
package struct AuditCommand: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "audit",
    abstract: "Show what the broker decided: who got which document, how, and what was refused.",
    subcommands: [
      Log.self,
      At.self,
      Check.self,
      Explain.self,
    ], defaultSubcommand: Log.self)

  /// Where the broker keeps its log when no option says otherwise.
  static var defaultPath: String {
    AmbitFolders.current(environment: ProcessInfo.processInfo.environment).auditLog
  }

  package init() {}
}
