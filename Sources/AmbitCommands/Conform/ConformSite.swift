internal import Conformance
internal import Foundation
internal import Launcher

/// The pages of a run.
struct ConformSite {
  let report: ConformReport
  let earlier: ConformReport.Earlier?

  func write(to folder: String) throws { throw Failure("--site is not there yet", status: 2) }
}

extension ConformReport {
  /// The results of an earlier run.
  struct Earlier {
    init(path: String) throws { throw Failure("--since is not there yet", status: 2) }
  }
}
