internal import AmbitKit
internal import ArgumentParser
internal import Foundation

struct Pick: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Ask the user for a document and print its scoped URL.",
    discussion: """
      Several are printed one a line. When the user cancels, nothing is printed and the exit status is 1; so it is when \
      what the user chose is refused, with the reason on standard error.
      """)

  @Flag(help: "Let the user pick several.") var multiple = false
  @Flag(help: "Ask for a folder.") var folder = false
  @Flag(help: "Ask for reading only.") var readOnly = false
  @Flag(
    name: .customLong("import"),
    help: "Ask for a copy in the container, and print its path. The copy goes when the app ends.") var imports = false
  @Option(
    name: .customLong("type"), help: ArgumentHelp("Only files with this extension; may be repeated.", valueName: "EXT"))
  var types: [String] = []
  @Option(help: "Shown to the user above the documents.") var message: String?

  func validate() throws {
    if folder && !types.isEmpty { throw ValidationError("--folder and --type exclude each other") }
    for type in types where UTType(filenameExtension: type) == nil {
      throw ValidationError("“\(type)” is not a file name extension; write it without dot")
    }
  }

  func run() throws {
    try Console.explaining(status: 2) {
      let picker =
        folder
        ? DocumentPicker(forOpeningContentTypes: [.folder], asCopy: imports)
        : DocumentPicker(forOpeningFilenameExtensions: types, asCopy: imports)
      picker.allowsMultipleSelection = multiple
      picker.isReadOnly = readOnly
      picker.message = message
      picker.counted = .parent
      do {
        for url in try picker.pick() { try Console.print(imports ? url.path : url.absoluteString) }
      } catch let error as CocoaError where error.code == .userCancelled {
        throw ExitCode(1)
      } catch let error as CocoaError where error.code == .fileReadNoPermission {
        Console.complain(error.localizedDescription)
        throw ExitCode(1)
      }
    }
  }
}
