internal import AppModel
internal import ArgumentParser
internal import ContentTypes
internal import Folders
internal import Foundation
internal import Kernel
internal import Launcher
internal import Paths
internal import Terminal
internal import Thumbnails
internal import Wire

/// `ambit preview`: the look of a document, in the terminal.
struct PreviewCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "preview", abstract: "Show what a document looks like: its first lines, its picture, or its contents.",
    discussion: """
      Texts show their first lines, folders their contents. Of other documents the thumbnail is drawn, by libchafa in a \
      sandbox of its own; where the output is no terminal, its path is printed. Nothing of a document can command the terminal.

        ambit preview notes.md
        ambit preview --lines 40 photo.jpg

      Exit status: 0; 1 there is no preview, with its cause.
      """)
  @Option(help: ArgumentHelp("Lines of the preview.", valueName: "number")) var lines = 20
  @OptionGroup var apps: AppFolders
  @Argument(help: "A document or a folder.") var file: String

  func validate() throws {
    guard (1...1000).contains(lines) else { throw ValidationError("--lines: 1 to 1000") }
  }

  func run() throws {
    let types = TypeDecider.ofUser(try apps.read())
    let opened: Descriptor
    let decision: TypeDecision
    do {
      opened = try Descriptor.open(file, flags: .path)
      decision = try types.decide(path: opened.currentPath ?? file)
    } catch { throw Failure("\(printable(file)): \(error)", status: 1) }
    let style = Style(for: 1)
    try Output.standard.write(
      "\(style.bold(printable(file.lastPathName)))  \(style.dim(printable(types.words(decision.identifier))))\n")
    if types.tree.conforms(decision.identifier, to: "public.folder") { return try showFolder(opened) }
    if types.tree.conforms(decision.identifier, to: "public.text") { return try showText() }
    try showPicture()
  }

  private func showFolder(_ folder: Descriptor) throws {
    let entries = (try? DirectoryReader.entries(of: folder.reopened([.read, .directory]), limit: 10_000)) ?? []
    let names = entries.filter { !$0.name.isHiddenName }.sorted { $0.name < $1.name }
    for entry in names.prefix(lines) {
      try Output.standard.write("  \(printable(entry.name))\(entry.kind == .directory ? "/" : "")\n")
    }
    if names.count > lines { try Output.standard.write("  and \(names.count - lines) more\n") }
    if names.isEmpty { try Output.standard.write("  nothing\n") }
  }

  private func showText() throws {
    let bytes: [UInt8]
    do { bytes = try Descriptor.regularFile(file).readAll(limit: 64 << 10) } catch {
      throw Failure("\(printable(file)): \(error)", status: 1)
    }
    let columns = WindowSize.columns(of: 1) ?? 80
    let text = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    for line in text.prefix(lines) {
      try Output.standard.write(
        "  \(truncated(printable(String(line).replacing("\t", with: "    ")), to: max(1, columns - 2)))\n")
    }
    if text.count > lines { try Output.standard.write("  …\n") }
  }

  private func showPicture() throws {
    let maker = try ThumbnailMaker(apps)
    let made: ThumbnailMaker.Made
    do throws(ThumbnailMaker.Failure) { made = try maker.thumbnail(of: file, pixels: 512) } catch {
      throw Failure("\(printable(file)) has no preview: \(error.layer): \(error.cause).", status: 1)
    }
    guard let columns = WindowSize.columns(of: 1) else {
      return try Output.standard.write(
        "  \(made.picture.width) × \(made.picture.height) pixels: \(printable(made.path))\n")
    }
    let environment = ThisProcess.environment
    let isDirect = ["truecolor", "24bit"].contains(environment["COLORTERM"])
    let colours = !(environment["NO_COLOR"] ?? "").isEmpty ? "none" : isDirect ? "direct" : "indexed"
    try Output.standard.write(
      bytes: PictureDrawing.lines(of: made.path, columns: min(columns, 120), rows: min(500, lines), colours: colours))
  }
}
