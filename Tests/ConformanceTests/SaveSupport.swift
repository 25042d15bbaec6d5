import Foundation
import TestSupport
import Testing

extension Workspace {
  /// Runs a script of bash as an app that has picked documents. `$u` is the first one's URL, and `take` picks the next one;
  /// after `open` its scope is started, `$p` is its path, and the folder that it appears in is the current one.
  func saving(
    _ documents: [String], as name: String = "Script", options: [String] = [], pick: String = "",
    environment: [String: String] = [:], _ lines: String
  ) throws -> Outcome {
    try start(saving: documents, as: name, options: options, pick: pick, environment: environment, lines).outcome()
  }

  func start(
    saving documents: [String], as name: String = "Script", options: [String] = [], pick: String = "",
    environment: [String: String] = [:], _ lines: String
  ) throws -> ChildProcess {
    let script = """
      #!/bin/bash
      say() { echo "$@"; }
      take() { u=$(ambitctl pick \(pick)) || exit 90; p=$(ambitctl path "$u"); }
      open() { ambitctl start "$u" || exit 91; cd "${p%/*}" || exit 92; }
      take
      \(lines)
      """
    let path = try bundle(name, identifier: "io.ambit.tests.\(name.lowercased())", script: script)
    // The bundle is made once; the script may be another one.
    try write(script, to: "\(path)/main")
    guard unsafe chmod("\(path)/main", 0o755) == 0 else { throw HarnessError("chmod \(path)/main") }
    return try start(
      [try Products.path("ambit"), "run"] + options + documents.flatMap { ["--pick", $0] } + [path],
      environment: environment)
  }

  /// Names in a folder of the host's, in order.
  func names(in folder: String = "Papers") throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.hasPrefix("/") ? folder : "\(home)/\(folder)").sorted()
  }

  /// What running or ended apps have left beside their documents.
  func staged() throws -> [String] {
    FileManager.default.enumerator(atPath: "\(ambitHome)/data/staging")?.compactMap { $0 as? String } ?? []
  }

  func inode(_ path: String) throws -> UInt64 {
    try #require(try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? UInt64)
  }
}

extension ChildProcess {
  func outcome(patience: Duration = .seconds(30)) throws -> Outcome {
    closeInput()
    let exit = try waitForExit(patience: patience)
    return Outcome(exit: exit, output: allOutput, errors: allErrors)
  }
}
