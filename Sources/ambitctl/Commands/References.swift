internal import AmbitKit
internal import ArgumentParser
internal import Foundation

struct References: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "List the documents that the references in ~/Documents stand for.",
    discussion: """
      One a line: the reference's name, a tab, the document's scoped URL. Those in folders of ~/Documents as well, with the \
      folder before the name. `ambitctl bookmark resolve FILE` prints the URL of a single one. A reference that leads nowhere is \
      reported on standard error, and makes the exit status 1 in the end.
      """)

  func run() throws {
    try Console.explaining {
      var isEveryOneAlive = true
      let documents = DocumentReference.documents
      for reference in try DocumentReference.references(below: documents) {
        let name = Self.name(reference, in: documents)
        do {
          try Console.print("\(Console.printable(name))\t\(reference.resolve().url.absoluteString)")
        } catch {
          Console.complain("\(name): \(error.localizedDescription)")
          isEveryOneAlive = false
        }
      }
      if !isEveryOneAlive { throw ExitCode(1) }
    }
  }

  /// As it stands below ~/Documents, without extension.
  private static func name(_ reference: DocumentReference, in documents: URL) -> String {
    let parts = reference.fileURL.deletingLastPathComponent().pathComponents
    let folders = parts.dropFirst(documents.pathComponents.count)
    return (folders + [reference.name]).joined(separator: "/")
  }
}
