internal import AmbitKit
internal import ArgumentParser
internal import Foundation

struct References: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "List the documents that the references in ~/Documents stand for.",
    discussion: """
      One a line: the reference's name, a tab, the document's scoped URL. A reference that leads nowhere is reported on \
      standard error, and makes the exit status 1 in the end.
      """)

  func run() throws {
    try Console.explaining {
      var isEveryOneAlive = true
      for reference in try DocumentReference.references() {
        do {
          try Console.print("\(Console.printable(reference.name))\t\(reference.resolve().url.absoluteString)")
        } catch {
          Console.complain("\(reference.name): \(error.localizedDescription)")
          isEveryOneAlive = false
        }
      }
      if !isEveryOneAlive { throw ExitCode(1) }
    }
  }
}
