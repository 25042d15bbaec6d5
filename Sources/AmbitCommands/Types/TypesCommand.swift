internal import AppModel
internal import ArgumentParser
internal import ContentTypes
internal import Foundation
internal import Kernel
internal import Launcher
internal import Paths
internal import Policy
internal import Review
internal import Terminal
internal import Wire

/// `ambit types`: content types.
struct TypesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "types", abstract: "Show content types: which there are, which a file has, and what an app declares.",
    discussion: """
      A content type (uniform type identifier) says what a document is: public.png is an image, and an image is data. The types are the \
      system's, those of this machine's MIME database (shared-mime-info), and those that apps declare.

        ambit types explain photo.png            its type, and the rule that decided
        ambit types tree public.image            all kinds of images
        ambit types check Editor.app             the types that an app declares
      """,
    subcommands: [Tree.self, Explain.self, Check.self])

  struct Tree: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Draw a type with all that conform to it.",
      discussion: "A type that conforms to several others stands below each of them.")
    @Argument(help: "A type, a MIME type, or an extension with its dot. Without one: everything.") var type: String?
    @OptionGroup var apps: AppFolders
    @Option(help: "Levels that are drawn.") var depth = 64
    @Option(help: "How to print: table or json.") var format: OutputFormat = .table

    func run() throws {
      let types = TypeDecider.ofUser(try apps.read())
      let tree = types.tree
      let roots = try type.map { [try TypesCommand.find($0, types)] } ?? tree.roots
      switch format {
      case .json:
        var list: [JSONValue] = []
        for name in Set(roots.flatMap(tree.descendants(of:))).sorted() {
          if let declaration = tree[name] { list.append(.object(TypesCommand.json(declaration, types))) }
        }
        try Output.standard.write(json: TypesCommand.object("types", list).text)
      case .table:
        let style = Style(for: 1)
        if let root = roots.first, roots.count == 1 {
          let above = tree.ancestors(of: root).dropFirst()
          if !above.isEmpty { try Output.standard.write(style.dim("conforms to \(above.joined(separator: ", "))\n")) }
        }
        for root in roots { try draw(root, "", "", types, style, depth, []) }
      }
    }

    private func draw(
      _ name: String, _ lead: String, _ indent: String, _ types: TypeDecider, _ style: Style, _ left: Int,
      _ path: [String]
    ) throws {
      let tags = types.tree[name]?.extensions.prefix(4).map { ".\($0)" } ?? []
      let words = types.words(name)
      let room = (WindowSize.columns(of: 1) ?? 200) - indent.count - name.count - 3
      var facts = [words, tags.joined(separator: " ")].filter { !$0.isEmpty }.joined(separator: "  ")
      facts = room > 4 ? truncated(printable(facts), to: room) : ""
      try Output.standard.write("\(style.dim(lead))\(style.cyan(printable(name)))  \(style.dim(facts))\n")
      guard left > 0, !path.contains(name) else { return }
      let children = types.tree.children(of: name)
      for (index, child) in children.enumerated() {
        let isLast = index == children.count - 1
        try draw(
          child, indent + (isLast ? "└ " : "├ "), indent + (isLast ? "  " : "│ "), types, style, left - 1, path + [name]
        )
      }
    }
  }

  struct Explain: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Say which type files have, and which rule decided.",
      discussion: """
        Asked in this order: what kind of file it is; a type that an app exports for the extension; the patterns of the MIME database \
        for the name; the first bytes, where the name says nothing or several things; a type that an app imports. The opinions that lost \
        are shown below the one that won. Exit status: 0, or 1 if a file cannot be looked at.
        """)
    @Argument(help: "Files.") var files: [String] = []
    @Option(
      name: .customLong("files-from"),
      help: ArgumentHelp("Also the files that this file names, a line each; - is standard input.", valueName: "file"))
    var list: String?
    @OptionGroup var apps: AppFolders
    @Option(help: "How to print: table or json.") var format: OutputFormat = .table

    func run() throws {
      let types = TypeDecider.ofUser(try apps.read())
      var list: [JSONValue] = []
      var isWhole = true
      for file in try files + named() {
        let path = file.isAbsolutePath ? file : ThisProcess.directory.path(of: file)
        do throws(KernelError) {
          let decision = try types.decide(path: path)
          switch format {
          case .json: list.append(.object(json(file, decision, types)))
          case .table: try? Output.standard.write(text(file, decision, types, Style(for: 1)))
          }
        } catch {
          isWhole = false
          try? Output.error.write("ambit: \(printable(file)): \(error)\n")
        }
      }
      if format == .json { try Output.standard.write(json: TypesCommand.object("files", list).text) }
      if !isWhole { throw ExitCode(1) }
    }

    private func text(_ file: String, _ decision: TypeDecision, _ types: TypeDecider, _ style: Style) -> String {
      var lines = [
        "\(style.bold(printable(file))): \(style.cyan(decision.identifier))"
          + (decision.mimeType.map { " (\($0))" } ?? "")
          + style.dim("  \(printable(types.words(decision.identifier)))"),
        style.dim("  conforms to \(types.tree.ancestors(of: decision.identifier).dropFirst().joined(separator: ", "))"),
      ]
      for one in decision.candidates {
        let mark = one.hasWon ? style.green("✓") : style.dim("–")
        let rest = one.hasWon ? "" : " → \(one.identifier)"
        lines.append("  \(mark) \(one.rule.rawValue): \(printable(one.reason))\(rest)")
      }
      return lines.joined(separator: "\n") + "\n"
    }

    func validate() throws {
      if files.isEmpty, list == nil { throw ValidationError("say which files") }
    }

    private func named() throws -> [String] {
      guard let list else { return [] }
      let bytes: [UInt8]
      do {
        let source = list == "-" ? try Descriptor.open("/dev/stdin", flags: .read) : try Descriptor.regularFile(list)
        bytes = try source.readAll(limit: 256 << 20)
      } catch { throw Failure("--files-from \(printable(list)): \(error)", status: 1) }
      return bytes.split(separator: UInt8(ascii: "\n")).map { String(kernel: Array($0)) }
    }

    private func json(_ file: String, _ decision: TypeDecision, _ types: TypeDecider) -> JSONObject {
      var object = JSONObject()
      object["file"] = .string(file)
      object["type"] = .string(decision.identifier)
      object["mimeType"] = decision.mimeType.map(JSONValue.string)
      object["description"] = .string(types.words(decision.identifier))
      object["conformsTo"] = .array(types.tree.ancestors(of: decision.identifier).dropFirst().map(JSONValue.string))
      object["rule"] = .string(decision.rule.rawValue)
      object["candidates"] = .array(
        decision.candidates.map { one in
          var candidate = JSONObject()
          candidate["rule"] = .string(one.rule.rawValue)
          candidate["type"] = .string(one.identifier)
          candidate["mimeType"] = one.mimeType.map(JSONValue.string)
          candidate["reason"] = .string(one.reason)
          candidate["won"] = .bool(one.hasWon)
          return .object(candidate)
        })
      return object
    }
  }

  struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Show the types that an app declares and opens, and what is wrong with them.",
      discussion: """
        An app exports the types that it owns, imports those of others, and says which documents it opens, with a rank: Owner only for a \
        type that it exports, never for public.data or public.content. Every type conforms to public.data or com.apple.package, and to \
        public.content if people make such documents.

        Exit status: 0, or 1 if there is an error or a warning.
        """)
    @Argument(help: "A bundle, or an Info.plist.") var app: String
    @Option(help: "How to print: table or json.") var format: OutputFormat = .table

    func run() throws {
      let manifest: PropertyListFile
      do throws(AppBundleError) {
        guard let first = try DeclaredFiles(at: app).lists.first else { throw .bundleMissing(path: app) }
        manifest = first
      } catch { throw Failure(printable(error.description), status: 1) }
      let declarations = DocumentDeclarations(manifest)
      let types = TypeDecider(environment: ThisProcess.environment).adding(declarations.types)
      let findings = Review.Lint.types(of: manifest)
      switch format {
      case .json:
        var object = JSONObject()
        object["types"] = .array(declarations.types.map { .object(TypesCommand.json($0, types)) })
        object["claims"] = .array(
          declarations.claims.map { claim in
            var one = JSONObject()
            one["name"] = claim.name.map(JSONValue.string)
            one["types"] = .array(claim.contentTypes.map(JSONValue.string))
            one["extensions"] = .array(claim.extensions.map(JSONValue.string))
            one["rank"] = .string(claim.rank.rawValue)
            one["role"] = .string(claim.role.rawValue)
            return .object(one)
          })
        object["findings"] = LintReport(findings).json["findings"]
        try Output.standard.write(json: object.text)
      case .table:
        let declared = Table([.init("TYPE"), .init("IS"), .init("CONFORMS TO"), .init("EXTENSIONS")], for: 1)
        if !declarations.types.isEmpty {
          try Output.standard.write(
            declared.render(
              declarations.types.map { type in
                [
                  Table.Cell(type.identifier, .cyan), Self.word(type.origin),
                  Table.Cell(type.conformsTo.joined(separator: ", ")),
                  Table.Cell(type.extensions.joined(separator: " ")),
                ]
              }) + "\n")
        }
        let opened = Table([.init("OPENS"), .init("RANK"), .init("ROLE"), .init("NAME")], for: 1)
        if declarations.claims.isEmpty {
          try Output.standard.write("It opens no type of document.\n")
        } else {
          try Output.standard.write(
            opened.render(
              declarations.claims.map { claim in
                let what = claim.contentTypes.isEmpty ? claim.extensions.map { ".\($0)" } : claim.contentTypes
                return [
                  Table.Cell(what.joined(separator: ", "), .cyan), Table.Cell(claim.rank.rawValue),
                  Table.Cell(claim.role.rawValue), Table.Cell(claim.name ?? "", .dim),
                ]
              }))
        }
        if !findings.isEmpty { try Output.standard.write("\n" + LintReport(findings).text(Style(for: 1))) }
      }
      if findings.contains(where: { $0.severity >= .warning }) { throw ExitCode(1) }
    }

    private static func word(_ origin: TypeDeclaration.Origin) -> Table.Cell {
      if case .exported = origin { Table.Cell("its own", .green) } else { Table.Cell("another's", .dim) }
    }
  }

  // MARK: -

  /// A type by any of its names.
  static func find(_ text: String, _ types: TypeDecider) throws -> String {
    if text.hasPrefix("."), let found = types.tree.types(.filenameExtension, String(text.dropFirst())).first {
      return found
    }
    if text.hasSlash, let found = types.tree.types(.mimeType, text).first { return found }
    if let found = types.tree[text] { return found.identifier }
    let near = types.tree.identifiers.nearest(to: text).map { "; did you mean \($0)?" } ?? "."
    throw Failure("no type is called \(printable(text))\(near)", status: 1)
  }

  fileprivate static func object(_ name: String, _ list: [JSONValue]) -> JSONObject {
    var object = JSONObject()
    object[name] = .array(list)
    return object
  }

  static func json(_ type: TypeDeclaration, _ types: TypeDecider) -> JSONObject {
    var object = JSONObject()
    object["type"] = .string(type.identifier)
    object["conformsTo"] = .array(type.conformsTo.map(JSONValue.string))
    object["extensions"] = .array(type.extensions.map(JSONValue.string))
    object["mimeTypes"] = .array(type.mimeTypes.map(JSONValue.string))
    object["description"] = .string(types.words(type.identifier))
    switch type.origin {
    case .system: object["origin"] = "system"
    case .mimeDatabase: object["origin"] = "shared-mime-info"
    case .exported(let app): (object["origin"], object["app"]) = ("exported", .string(app))
    case .imported(let app): (object["origin"], object["app"]) = ("imported", .string(app))
    case .dynamic: object["origin"] = "dynamic"
    }
    return object
  }
}
