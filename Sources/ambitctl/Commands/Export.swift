import AmbitKit
import ArgumentParser
import Foundation

/// Hands files of the container to the user.
struct Export: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Let the user choose a folder for copies of files, or for the files themselves.",
    discussion: """
      Prints the name that each copy got: if a name is taken, a number is added. The app has no access to a copy. With --move the files \
      go there, the app gets a grant for each, and their scoped URLs are printed. When the user cancels, nothing is printed and the exit \
      status is 1.
      """)

  @Flag(name: .customLong("move"), help: "Move the files, and go on with them there.") var moves = false
  @Option(help: "Shown to the user above the folders.") var message: String?
  @Argument(help: "Files or folders in the container.") var files: [String]

  func run() throws {
    try Console.explaining(status: 2) {
      let picker = DocumentPicker(forExporting: files.map { URL(fileURLWithPath: $0) }, asCopy: !moves)
      picker.message = message
      picker.counted = .parent
      do {
        for url in try picker.pick() { try Console.print(moves ? url.absoluteString : url.lastPathComponent) }
      } catch let error as CocoaError where error.code == .userCancelled {
        throw ExitCode(1)
      }
    }
  }
}
