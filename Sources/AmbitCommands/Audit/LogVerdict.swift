internal import ArgumentParser
internal import Audit
internal import Launcher
internal import Review
internal import Scenario
internal import Synchronization
internal import Terminal

extension AuditCommand.Report {
  /// Whether a log verifies: found out by a thread of its own, while the log is read.
  struct Verdict {
    private enum Finding: Sendable {
      case integrity(ReportModel.Integrity)
      case failure(AuditLogError)
    }

    /// Until the log has been read, the terminal shows the progress of the reading.
    private final class Attention: Sendable {
      let isHere = Mutex(false)
    }

    private let attention = Attention()
    private let work: BackgroundWork<Finding>

    /// - Parameter isAskedFor: else nothing is looked at.
    init(of path: String, isAskedFor: Bool) {
      let attention = attention
      work = BackgroundWork {
        guard isAskedFor else { return .integrity(.init(.unchecked, "--no-verify was given")) }
        guard !RecordedLog(path: path).isJSONLines else {
          return .integrity(.init(.unchecked, "JSON Lines carry nothing that could be checked"))
        }
        return Self.find(path, attention)
      }
    }

    /// - Throws: when the log cannot be looked at; `ExitCode` when a signal came first.
    func wait() throws -> ReportModel.Integrity {
      attention.isHere.withLock { $0 = true }
      let finding = work.wait()
      if let signal = Interruption.signal { throw ExitCode(128 + signal) }
      switch finding {
      case .integrity(let integrity)?: return integrity
      case .failure(let error)?: throw Launcher.Failure(printable(error.description), status: 2)
      case nil: return .init(.unchecked, "the check was not made")
      }
    }

    private static func find(_ path: String, _ attention: Attention) -> Finding {
      do throws(AuditLogError) {
        let reader = try AuditReader(path: path)
        let progress = LogProgress(of: try reader.lastSequence(), isShown: true, doing: "checking the log")
        defer { progress.clear() }
        let found = try reader.verified { done in
          if attention.isHere.withLock({ $0 }) { progress.show(done) }
          return Interruption.signal == nil
        }
        return .integrity(.init(.verified, words(found)))
      } catch {
        return error.problem == .damaged ? .integrity(.init(.damaged, error.description)) : .failure(error)
      }
    }

    /// The words of `ambit audit verify` for a log in order, as the end of a sentence.
    private static func words(_ found: AuditVerification) -> String {
      var text = "\(found.count) entries, each as it was written, "
      text +=
        found.lost > 0
        ? "and \(found.lost) after them missing: a power failure took them, or somebody has" : "none missing"
      if !found.isEndChecked { text += ", as far as that can be said without the key" }
      for doubt in found.doubts { text += "; a broker that began with entry \(doubt.sequence) found: \(doubt.words)" }
      for words in found.unsaidDoubts { text += "; found when it was opened, and in no entry yet: \(words)" }
      if let begins = found.begins { text += "; entries up to \(begins.mark.sequence) were removed, which is signed" }
      text += "; signed through entry \(found.head.mark.sequence)"
      text += found.lastCheckpoint.map { ", the last signed checkpoint is at entry \($0)" } ?? ", no checkpoint in it"
      return text
    }
  }
}
