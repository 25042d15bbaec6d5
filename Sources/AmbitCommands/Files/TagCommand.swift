internal import ArgumentParser
internal import Folders
internal import Kernel
internal import Launcher
internal import Paths
internal import Terminal
internal import UserFiles
internal import Wire

/// `ambit tag`: words on files.
struct TagCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tag", abstract: "List, add and remove the tags of files, or find files by a tag.",
    discussion: """
      Tags are kept with the file, in the extended attribute “user.xdg.tags”; KDE's programs know them too. Red, orange, yellow, green, \
      blue, purple and grey are shown in their colours.

        ambit tag letter.txt                  its tags
        ambit tag letter.txt +red +tax -draft add two, remove one
        ambit tag --find red                  files below your home folder
        ambit tag --find red --in ~/Letters

      A word that begins with + or - is a tag; a file of such a name is written with ./ before it. --add and --remove say the same \
      at more length.

      Exit status: 0; 1 if a file is not there or keeps no tags, or --find finds none.
      """)
  @Option(help: ArgumentHelp("Find files with a tag that begins so.", valueName: "name")) var find: String?
  @Option(
    name: .customLong("in"), help: ArgumentHelp("Where to find: your home folder by default.", valueName: "folder"))
  var folder: String?
  @Option(help: ArgumentHelp("Add a tag; repeatable.", valueName: "name")) var add: [String] = []
  @Option(help: ArgumentHelp("Remove a tag; repeatable.", valueName: "name")) var remove: [String] = []
  @Option(help: "How to print: table or json.") var format: OutputFormat = .table
  @Argument(parsing: .allUnrecognized, help: ArgumentHelp("Files, and tags with + or -.", valueName: "word"))
  var words: [String] = []

  /// The words of the command line, taken apart.
  struct Request: Equatable {
    var files: [String] = []
    var added: [FileTag] = []
    var removed: [FileTag] = []

    init(_ words: [String], add: [String], remove: [String]) throws(ValidationError) {
      func tag(_ text: some StringProtocol) throws(ValidationError) -> FileTag {
        if let tag = FileTag(String(text)) { return tag }
        throw ValidationError("“\(printable(String(text)))”: \(FileTag.refusal(String(text)) ?? "no tag")")
      }
      for text in add { added.append(try tag(text)) }
      for text in remove { removed.append(try tag(text)) }
      for word in words {
        if word.hasPrefix("--") { throw ValidationError("there is no option \(printable(word))") }
        switch word.first {
        case "+": added.append(try tag(word.dropFirst()))
        case "-": removed.append(try tag(word.dropFirst()))
        default: files.append(word)
        }
      }
    }
  }

  func validate() throws {
    let request = try Request(words, add: add, remove: remove)
    if find == nil, request.files.isEmpty { throw ValidationError("say which files, or --find a tag") }
    if find != nil, !(request.added.isEmpty && request.removed.isEmpty && request.files.isEmpty) {
      throw ValidationError("--find takes no files and no other tags")
    }
    if folder != nil, find == nil { throw ValidationError("--in goes with --find") }
  }

  func run() throws {
    if let find { return try tell(found: find) }
    let request = try Request(words, add: add, remove: remove)
    let acts = try FileActs("ambit tag")
    let held = try request.files.map { try FileActs.held($0) }
    var lines: [(HeldFile, FileTags)] = []
    for file in held {
      guard !(request.added.isEmpty && request.removed.isEmpty) else {
        lines.append((file, file.item.fileTags))
        continue
      }
      let tags = try acts.tag(file) { tags in
        for tag in request.removed { tags.remove(tag) }
        for tag in request.added {
          guard tags.add(tag) || tags.tags.contains(where: tag.isSame) else {
            throw Failure(
              "\(printable(file.path)) has \(FileTags.most) tags already, and that is the limit.", status: 1)
          }
        }
      }
      lines.append((file, tags))
    }
    switch format {
    case .json:
      let list = lines.map { file, tags in
        JSONValue.object([
          "path": .string(file.path), "tags": .array(tags.tags.map { .string($0.name) }),
        ])
      }
      try Output.standard.write(json: (["files": .array(list)] as JSONObject).text)
    case .table:
      for (file, tags) in lines {
        let names = tags.tags.map { printable($0.name) }.joined(separator: ", ")
        try Output.standard.write("\(printable(file.path)): \(names.isEmpty ? "no tags" : names)\n")
      }
    }
  }

  private func tell(found name: String) throws {
    let place = try folder.map { try HostPath.resolved($0) } ?? UserSide.folders.home
    let (paths, isWhole) = try Self.find(name, in: place)
    switch format {
    case .json:
      try Output.standard.write(
        json: (["files": .array(paths.map { .string($0) }), "whole": .bool(isWhole)] as JSONObject).text)
    case .table: for path in paths { try Output.standard.write("\(printable(path))\n") }
    }
    if !isWhole { Failure.say("there are more than can be looked at; say a folder with --in.") }
    if paths.isEmpty { throw ExitCode(1) }
  }

  /// - Returns: absolute paths, sorted.
  static func find(_ name: String, in place: String) throws -> (paths: [String], isWhole: Bool) {
    let open: Descriptor
    do throws(KernelError) { open = try Descriptor.open(place, flags: [.read, .directory]) } catch {
      throw Failure("\(printable(place)) is no folder that can be read: \(error.errno).", status: 1)
    }
    let found = try TaggedFiles.find(in: open) { $0.answers(name) }
    return (found.paths.map { place.path(of: $0) }.sorted(), found.isWhole)
  }
}
