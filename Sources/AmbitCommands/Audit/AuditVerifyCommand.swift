package import ArgumentParser
internal import Audit
internal import Foundation
internal import Kernel
internal import Launcher
internal import Scenario
internal import Terminal

#if canImport(Glibc)
  internal import Glibc
#endif

extension AuditCommand {
  package struct Verify: ParsableCommand {
    package static let configuration = CommandConfiguration(
      commandName: "verify",
      abstract: "Check that nothing in the audit log was changed, moved or taken out, also at its end.",
      discussion: """
        Each entry is chained to the one before it by its hash (SHA-256). The broker signs how far the log goes, many \
        times a second while it writes, into a head beside it, and checkpoints within it (Ed25519). The first entry that is \
        not as it was written is named.

        WHAT IT CANNOT SEE
        Who can read the broker's key (audit.key: the user, and root) and write all of the log's files can write another \
        log and sign it; and who keeps an old copy of all of the log's files, and puts it back, has a log that is \
        whole. Only what lies elsewhere shows either: an anchor from “ambit audit checkpoint”, which no later log but a \
        true continuation meets, and the public key. The head is signed some moments after the entries; until then \
        audit.end has the last one's number and hash, over a code that needs the key: who cannot read that is told so. A log \
        that was closed in order says so in its head; any other has its journal beside it. After a power failure the entries of \
        the last tenth of a second may be missing, or have been taken away: how many is said, also later, since the broker that \
        goes on with the log writes down what it found.

        EXAMPLES
          ambit audit verify
          ambit audit verify /srv/logs/audit.sqlite --key /srv/keys/audit.pub
          ambit audit verify --anchor "$(cat yesterday)"

        Exit status: 0 if the log is whole, 1 if something is wrong with it, 125 if it could not be checked, 128+n if \
        signal n ended it.
        """)

    @OptionGroup var log: LogArgument

    @Option(
      help: ArgumentHelp(
        "An anchor that was noted before; the log has to go through there. May be repeated.", valueName: "number:hash"))
    var anchor: [String] = []

    @Option(
      help: ArgumentHelp("The public key that it has to be signed with: base64, or a file with it.", valueName: "key"))
    var key: String?

    @Option(help: "table, for people; json, one object, for programs.")
    var format: OutputFormat = .table

    package init() {}

    package func validate() throws {
      if let wrong = anchor.first(where: { ChainMark($0) == nil }) {
        throw ValidationError(
          "--anchor takes NUMBER:HASH as “ambit audit checkpoint” prints it, not \"\(printable(wrong))\".")
      }
    }

    package func run() throws {
      Interruption.listen()
      let path = try log.path ?? AuditCommand.defaultPath
      do {
        let key = try key.map(Self.publicKey)
        let reader = try AuditReader(path: path)
        let isCopy = try Self.isCopy(path)
        let isWatched = format == .table && isatty(STDERR_FILENO) == 1
        let total = isWatched ? try reader.lastSequence() : 0
        defer { if isWatched { try? Output.error.write("\r\u{1b}[K") } }
        let anchors = anchor.compactMap { ChainMark($0) }
        if isWatched { try? Output.error.write("looking at the structure of \(total) entries …") }
        let work = BackgroundWork {
          Result { () throws(AuditLogError) in
            try reader.verified(key: key, anchors: anchors, isCopy: isCopy) { number in
              if isWatched { try? Output.error.write("\r\u{1b}[K\(number) of \(total) entries …") }
              return Interruption.signal == nil
            }
          }
        }
        if let found = try work.wait()?.get() { try report(found, path) }
        if let signal = Interruption.signal { throw ExitCode(128 + signal) }
      } catch let error as AuditLogError where error.problem == .damaged {
        try report(error, path)
        throw ExitCode(1)
      } catch let error as AuditLogError {
        if let signal = Interruption.signal { throw ExitCode(128 + signal) }
        throw Failure(printable(error.description))
      }
    }
  }
}

extension AuditCommand.Verify {
  /// Whether it lies elsewhere than the user's own log, which has its private key beside it.
  private static func isCopy(_ path: String) throws -> Bool {
    func file(_ path: String) -> stat? {
      var status = stat()
      return unsafe stat(path, &status) == 0 ? status : nil
    }
    guard let named = file(path), let own = file(try AuditCommand.defaultPath) else { return true }
    return named.st_dev != own.st_dev || named.st_ino != own.st_ino
  }

  private static func publicKey(_ text: String) throws -> AuditKey.Public {
    if let key = AuditKey.Public(text) { return key }
    guard let bytes = try? Descriptor.content(ofFile: text, limit: 4096),
      let content = String(validating: bytes, as: UTF8.self)
    else {
      throw Failure("“\(printable(text))” is neither a public key (32 bytes as base64) nor a file that can be read.")
    }
    guard let key = AuditKey.Public(content) else {
      throw Failure(
        "\(printable(text)) is no public key: it should have 32 bytes as base64, as audit.pub beside a log has.")
    }
    return key
  }

  private struct Report: Encodable {
    var log: String
    var whole: Bool
    var problem: String?
    var first: Int64?
    var last: Int64?
    var hash: String?
    var signedThrough: Int64?
    var signed: String?
    var checkpoints: Int?
    var lost: Int64?
    var unanswered: Int64?
    var endChecked: Bool?
    var doubts: [Doubt]?
    var unsaidDoubts: [String]?
    var removedThrough: Int64?
    var key: String?
  }

  private struct Doubt: Encodable {
    var entry: Int64
    var time: String
    var finding: String
  }

  private func report(_ found: AuditVerification, _ path: String) throws {
    if format == .json {
      return try write(
        Report(
          log: path, whole: true, first: found.first, last: found.last.sequence, hash: found.last.hash.hexadecimal,
          signedThrough: found.head.mark.sequence, signed: Timestamp(microseconds: found.head.time).text,
          checkpoints: found.checkpoints, lost: found.lost, unanswered: found.unanswered,
          endChecked: found.isEndChecked,
          doubts: found.doubts.map {
            Doubt(entry: $0.sequence, time: Timestamp(microseconds: $0.time).text, finding: $0.words)
          }, unsaidDoubts: found.unsaidDoubts.isEmpty ? nil : found.unsaidDoubts,
          removedThrough: found.begins?.mark.sequence,
          key: found.key.text))
    }
    let style = Style(for: STDOUT_FILENO)
    var text = style.green("✓") + " \(printable(path)) is whole: "
    text += found.count == 0 ? "no entries\n" : "entries \(found.first) to \(found.last.sequence)\n"
    if let begins = found.begins {
      text += "  begins at \(found.first): entries up to \(begins.mark.sequence) were removed on "
      text += "\(Timestamp(microseconds: begins.time).text), signed\n"
    }
    text += "  signed through \(found.head.mark.sequence) on \(Timestamp(microseconds: found.head.time).text)"
    text += ", \(found.checkpoints) checkpoint\(found.checkpoints == 1 ? "" : "s")\n"
    if found.unsigned > 0 { text += "  \(found.unsigned) after that, chained and not signed yet\n" }
    if found.lost > 0 {
      text +=
        style.yellow("◐")
        + " \(found.lost) after the last one had been written and are not there: a power failure took "
      text += "them, or somebody has\n"
    }
    if found.unanswered > 0 {
      text +=
        style.yellow("◐") + " the last \(found.unanswered) were answered to nobody: their broker was killed just then, "
      text += "or somebody has added them\n"
    }
    for doubt in found.doubts {
      text += style.yellow("◐") + " a broker that began with entry \(doubt.sequence) on "
      text += "\(Timestamp(microseconds: doubt.time).text) found: \(printable(doubt.words))\n"
    }
    for words in found.unsaidDoubts {
      text += style.yellow("◐") + " found when it was opened, and in no entry yet: \(printable(words))\n"
    }
    if !found.isEndChecked {
      text +=
        style.yellow("◐") + " its private key is not there, or cannot be read: "
        + "entries after the signed head may have been taken away\n"
    }
    text += "  key     \(found.key.text)\n  anchor  \(found.last)\n"
    if anchor.isEmpty {
      text += style.dim(
        "  Whoever has the key can sign another log: note the anchor elsewhere, and give it with --anchor.\n")
    }
    try Output.standard.write(text)
  }

  private func report(_ error: AuditLogError, _ path: String) throws {
    if format == .json { return try write(Report(log: path, whole: false, problem: error.description)) }
    try Output.standard.write(Style(for: STDOUT_FILENO).red("✗") + " \(printable(error.description))\n")
  }

  private func write(_ report: Report) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    try Output.standard.write(json: String(decoding: try encoder.encode(report), as: UTF8.self))
  }
}
