internal import Conformance
internal import Foundation
internal import Kernel
internal import Launcher
internal import Wire

/// Writes the pages of a run, and its results beside them for a later comparison.
struct ConformSite {
  let report: ConformReport
  let earlier: ConformReport.Earlier?

  func write(to folder: String) throws {
    let site = Site(
      suite: report.suite, items: report.items, matrix: Matrix(report.items, report.runs),
      earlier: earlier.map { Matrix(report.items, $0.runs) })
    do {
      try FileManager.default.createDirectory(atPath: "\(folder)/statements", withIntermediateDirectories: true)
      for page in site.pages { try Data(page.text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(page.path)")) }
      try Data((report.json.text + "\n").utf8).write(to: URL(fileURLWithPath: "\(folder)/results.json"))
    } catch {
      throw Failure("--site \(folder): \(error.localizedDescription)", status: 2)
    }
  }
}

extension ConformReport {
  /// The results of an earlier run.
  struct Earlier {
    let runs: [SystemRun]

    /// - Parameter path: what `--format json` printed, or a site's results.json.
    init(path: String) throws {
      let bytes: [UInt8]
      do throws(KernelError) { bytes = try Descriptor.content(ofFile: path, limit: 1 << 28) } catch {
        throw Failure("--since \(path): cannot be read: \(error.fileFault)", status: 2)
      }
      guard let json = try? JSONValue(parsing: bytes), case .object(let object) = json,
        case .array(let systems)? = object["systems"]
      else { throw Failure("--since \(path): it has no results of `ambit conform --format json`", status: 2) }
      runs = systems.compactMap(SystemRun.init)
    }
  }
}
