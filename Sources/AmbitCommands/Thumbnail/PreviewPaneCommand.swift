internal import ArgumentParser
internal import ContentTypes
internal import Folders
internal import Foundation
internal import Kernel
internal import Launcher
internal import Paths
internal import Terminal
internal import Thumbnails

/// The preview for the picker's pane: the picker starts it with the document that a row shows, and reads its lines.
struct PreviewPaneCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "preview-pane", abstract: "Print the preview of an open document, for the picker.",
    shouldDisplay: false)
  @Argument(help: "The number of the document's descriptor.") var descriptor: Int32
  @Argument var columns: Int
  @Argument var rows: Int
  @Argument(help: "none, indexed or direct.") var colours: String
  private static let mostText = 64 << 10
  private static let mostNames = 10_000

  func validate() throws {
    guard descriptor > 2, (1...500).contains(columns), (1...500).contains(rows) else {
      throw ValidationError("it is for the picker's own use; see “ambit preview”")
    }
  }

  func run() throws {
    let document = Descriptor(owning: descriptor)
    let status = try document.status()
    let name = document.currentPath?.lastPathName ?? ""
    let types = TypeDecider.ofUser(try AppFolders.parse([]).read())
    let decision = try types.decide(name, document)
    let words = types.words(decision.identifier)
    var lines = [words.isEmpty ? decision.identifier : words]
    if status.kind == .regular { lines.append("\(status.size) byte\(status.size == 1 ? "" : "s")") }
    let seconds = status.modified / 1_000_000_000
    lines.append(Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601.dateSeparator(.dash)))
    // The facts are there while a picture is still being drawn.
    try tell(lines + [""])
    let rest = rows - lines.count - 1
    guard rest > 0 else { return }
    if status.kind == .directory, !types.tree.conforms(decision.identifier, to: "com.apple.package") {
      try tell(Self.folder(document, rest))
    } else if status.kind == .regular, types.tree.conforms(decision.identifier, to: "public.text") {
      try tell(Self.text(document, rest))
    } else {
      try showPicture(document, rest)
    }
  }

  private func tell(_ lines: [String]) throws {
    let text = lines.map { truncated(printable($0), to: columns) + "\n" }.joined()
    try Output.standard.write(text)
  }

  private static func folder(_ folder: Descriptor, _ rows: Int) throws -> [String] {
    let entries = try DirectoryReader.entries(of: folder.reopened([.read, .directory]), limit: mostNames)
    let seen = entries.filter { !$0.name.isHiddenName }.sorted { $0.name < $1.name }
    var lines = seen.prefix(rows).map { $0.name + ($0.kind == .directory ? "/" : "") }
    if seen.count > rows { lines[rows - 1] = "and \(seen.count - rows + 1) more" }
    return lines.isEmpty ? ["nothing"] : lines
  }

  private static func text(_ file: Descriptor, _ rows: Int) throws -> [String] {
    let bytes = try file.reopened([.read, .nonBlocking]).readAll(limit: mostText)
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false).prefix(rows)
      .map { String($0).replacing("\t", with: "    ").replacing("\r", with: "") }
  }

  private func showPicture(_ document: Descriptor, _ rows: Int) throws {
    do {
      let made = try ThumbnailMaker(try AppFolders.parse([])).thumbnail(
        of: "/proc/self/fd/\(descriptor)", pixels: 512, timeout: 5)
      try Output.standard.write(
        bytes: PictureDrawing.lines(of: made.path, columns: columns, rows: rows, colours: colours))
    } catch let failure as ThumbnailMaker.Failure {
      try tell(["No picture: \(failure.cause)."])
    } catch {
      try tell(["No picture: \(error)."])
    }
  }
}

/// A picture as characters, drawn by libchafa in a sandbox: the picture is a stranger's still.
enum PictureDrawing {
  private static let most = 4 << 20

  /// - Parameters:
  ///   - colours: `none`, `indexed` or `direct`.
  /// - Returns: lines with colours (SGR), and nothing else that a terminal obeys.
  static func lines(of picture: String, columns: Int, rows: Int, colours: String) throws -> [UInt8] {
    guard let ambit = Programs.ambit.path, let draw = Programs.draw.path else {
      throw Failure("\(Programs.draw.rawValue) is not where this program is; install Ambit again, whole.")
    }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: ambit)
    process.arguments = [
      "run", "--policy", "thumbnailer", "--limit", "wall_time=5", "--give-read", picture, "--", draw, "\(columns)",
      "\(rows)", colours, "{}",
    ]
    process.standardInput = FileHandle.nullDevice
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    var bytes: [UInt8] = []
    while let part = try output.fileHandleForReading.read(upToCount: 65_536), !part.isEmpty {
      if bytes.count < most { bytes += part }
    }
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Failure("the picture cannot be drawn", status: 1) }
    return Array(DrawnText.harmless(bytes, columns: columns, rows: rows).utf8)
  }
}
