package import ArgumentParser
internal import Audit
internal import Foundation
internal import Launcher
internal import Terminal

extension AuditCommand {
  package struct Checkpoint: ParsableCommand {
    package static let configuration = CommandConfiguration(
      commandName: "checkpoint",
      abstract: "Print an anchor: the number and the hash of the audit log's last entry.",
      discussion: """
        The hash stands for every entry up to there. Written down where the log's own user cannot change it (another \
        machine, paper), it shows later whether the log was written anew, which its own signatures cannot show to whom the \
        key was stolen from.

        EXAMPLES
          ambit audit checkpoint | ssh archive 'cat >> anchors'
          ambit audit verify --anchor \\
            1207:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
        """)

    @OptionGroup var log: LogArgument

    @Option(help: "table: NUMBER:HASH; json: one object, with the public key.")
    var format: OutputFormat = .table

    package init() {}

    package func run() throws {
      do {
        let path = try log.path ?? AuditCommand.defaultPath
        let (reader, _) = try RecordedLog.open(path, isNamed: log.path != nil)
        let anchor = try reader.anchor()
        guard format == .json else { return try Output.standard.write("\(anchor)\n") }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let answer = [
          "number": "\(anchor.sequence)", "hash": anchor.hash.hexadecimal, "key": try reader.publicKey()?.text ?? "",
        ]
        try Output.standard.write(json: String(decoding: try encoder.encode(answer), as: UTF8.self))
      } catch let error as AuditLogError {
        throw Failure(printable(error.description))
      }
    }
  }
}
