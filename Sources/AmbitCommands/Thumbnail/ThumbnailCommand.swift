internal import ArgumentParser
internal import Kernel
internal import Launcher
internal import Terminal
internal import Thumbnails
internal import Wire

/// `ambit thumbnail`: a small picture of a document.
struct ThumbnailCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "thumbnail", abstract: "Draw a small picture of a document, by a program that sees nothing else.",
    discussion: """
      An app's thumbnail extension draws documents of types that its app exports; the system's .thumbnailer programs draw the others. \
      Each run has a sandbox of its own: no network, one document to read, 512 MiB of memory, 20 seconds. Only a picture comes out.

      Pictures are kept where all programs of a desktop keep them (~/.cache/thumbnails). A failure is kept as well, and tried again when \
      the document or the program has changed, or with --retry.

        ambit thumbnail photo.jpg                    prints the path of the picture
        ambit thumbnail --size 512 --output a.png photo.jpg

      Exit status: 0; 1 there is no thumbnail, with the part that failed and its cause.
      """)
  @Option(help: ArgumentHelp("The longest side, in pixels: up to 128, 256, 512 or 1024.", valueName: "pixels"))
  var size = 256
  @Option(name: .shortAndLong, help: ArgumentHelp("Write the picture to this file as well.", valueName: "file"))
  var output: String?
  @Option(help: ArgumentHelp("Seconds that a program has, 1 to 20.", valueName: "seconds")) var timeout = 20
  @Flag(help: "Try again what failed before.") var retry = false
  @OptionGroup var apps: AppFolders
  @Option(help: "How to print: table or json.") var format: OutputFormat = .table
  @Argument(help: "A document.") var file: String

  func validate() throws {
    guard (1...1024).contains(size) else { throw ValidationError("--size: 1 to 1024 pixels") }
    guard (1...20).contains(timeout) else { throw ValidationError("--timeout: 1 to 20 seconds") }
  }

  func run() throws {
    let maker = try ThumbnailMaker(apps)
    let made: ThumbnailMaker.Made
    do throws(ThumbnailMaker.Failure) {
      made = try maker.thumbnail(of: file, pixels: size, timeout: timeout, retry: retry)
    } catch { throw try tell(error) }
    if let output {
      do {
        let target = try Descriptor.open(output, flags: [.readWrite, .create, .truncate], mode: 0o644)
        try target.writeAll(made.picture.encoded)
      } catch { throw Failure("\(printable(output)): \(error)", status: 1) }
    }
    switch format {
    case .json:
      var object: JSONObject = [
        "file": .string(file), "thumbnail": .string(made.path), "width": JSONValue(made.picture.width),
        "height": JSONValue(made.picture.height), "cached": .bool(made.thumbnailer == nil),
      ]
      object.set("thumbnailer", made.thumbnailer)
      try Output.standard.write(json: object.text)
    case .table: try Output.standard.write("\(printable(made.path))\n")
    }
  }

  private func tell(_ failure: ThumbnailMaker.Failure) throws -> any Error {
    guard format == .json else {
      let name = failure.thumbnailer.map { " (\($0))" } ?? ""
      let known = failure.isKnown ? "; it failed so before, and --retry tries again" : ""
      return Failure(
        "\(printable(file)) has no thumbnail: \(failure.layer)\(name): \(failure.cause)\(known).", status: 1)
    }
    var object: JSONObject = [
      "file": .string(file), "layer": .string(failure.layer), "cause": .string(failure.cause),
      "known": .bool(failure.isKnown),
    ]
    object.set("thumbnailer", failure.thumbnailer)
    try Output.standard.write(json: object.text)
    return ExitCode(1)
  }
}
