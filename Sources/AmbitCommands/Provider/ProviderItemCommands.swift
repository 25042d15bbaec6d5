internal import ArgumentParser
internal import Broker
internal import FileProviders
internal import Folders
internal import Launcher
internal import Paths
internal import Terminal
internal import Wire

/// `ambit provider identify`: the item that a document is (`PRV-3`).
struct ProviderIdentifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "identify", abstract: "Show the provider and the identifier of a document.",
    discussion: """
      With --link it is a link that leads to the document on each of your devices that has the provider. Only a provider that declares \
      its identifiers to be the same on all devices has such links (NSFileProviderUsesUniqueItemIdentifiersAcrossDevices, PRV-21).
      """)
  @Flag(help: "Print a link for all devices.") var link = false
  @Option(help: "table or json.") var format: OutputFormat = .table
  @Argument(help: "A document.") var file: String

  func run() throws {
    let reply = try UserSide.call(
      LocationsInterface.identify, LocationsInterface.IdentifyCall(path: try HostPath.resolved(file)),
      answer: LocationsInterface.IdentifyReply.self)
    if link, !reply.acrossDevices {
      throw Failure(
        "\(printable(file)): the identifiers of \(printable(reply.provider)) are those of this device (PRV-21).",
        status: 1)
    }
    guard format == .table else { return try Output.standard.write(reply.json.text + "\n") }
    try Output.standard.write(
      link
        ? "\(ProviderLink(provider: reply.provider, identifier: reply.identifier).text)\n"
        : "\(printable(reply.provider))  \(printable(reply.identifier))\n")
  }
}

/// `ambit provider locate`: the document that an item is.
struct ProviderLocateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "locate", abstract: "Show the document of an identifier or a link.",
    discussion: "An item that is not shown yet is asked for. Exit status: 0; 1 there is no such document.")
  @Argument(
    help: "The provider's identifier, its name or its app's bundle, or a link of “identify --link”.",
    transform: ProviderCommand.named)
  var provider: String
  @Argument(help: "The item's identifier.") var identifier: String?

  func run() throws {
    var (provider, item) = (provider, identifier)
    if item == nil {
      guard let link = ProviderLink(provider) else {
        throw ValidationError("“\(printable(provider))” is no link; name a provider and an identifier.")
      }
      (provider, item) = (link.provider, link.identifier)
    }
    let reply = try UserSide.call(
      LocationsInterface.locate, LocationsInterface.LocateCall(provider: provider, identifier: item ?? ""),
      answer: LocationsInterface.LocateReply.self)
    try Output.standard.write("\(printable(reply.path))\n")
  }
}

/// `ambit provider working-set`: recent, tagged, favourite, shared and deleted items (`PRV-11`).
struct ProviderWorkingSetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "working-set",
    abstract: "List what you work with: recent, tagged, favourite, shared and recently deleted items.")
  @Option(help: "table or json.") var format: OutputFormat = .table
  @Argument(help: "Its identifier, its name, or its app's bundle.", transform: ProviderCommand.named)
  var provider: String

  func run() throws {
    let reply = try UserSide.call(
      LocationsInterface.workingSet, LocationsInterface.WorkingSetCall(provider: provider),
      answer: LocationsInterface.WorkingSetReply.self)
    try ProviderTrashCommand.print(reply.items, format, reply.json)
  }
}

/// `ambit provider trash`: the provider's trash.
struct ProviderTrashCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "trash", abstract: "List a provider's trash, or put documents into it.",
    discussion: """
        ambit provider trash Cloud                  lists it
        ambit provider trash --put FILE             puts a document into it
        ambit provider restore Cloud IDENTIFIER     takes it back
      """)
  @Flag(help: "Put these documents into the trash.") var put = false
  @Option(help: "table or json.") var format: OutputFormat = .table
  @Argument(help: "The provider's identifier, its name or its app's bundle; with --put, documents.") var names: [String]

  func run() throws {
    guard put else {
      for name in names {
        let reply = try UserSide.call(
          LocationsInterface.trash, LocationsInterface.TrashCall(provider: ProviderCommand.named(name)),
          answer: LocationsInterface.TrashReply.self)
        try Self.print(reply.items, format, reply.json)
      }
      return
    }
    for file in names {
      try UserSide.perform(
        LocationsInterface.discard, LocationsInterface.DiscardCall(path: try HostPath.resolved(file)))
      try Output.standard.write("\(printable(file)) is in the provider's trash\n")
    }
  }

  static func print(_ items: [ProviderItemMessage], _ format: OutputFormat, _ json: JSONObject) throws {
    guard format == .table else { return try Output.standard.write(json.text + "\n") }
    guard !items.isEmpty else { return try Output.standard.write("Nothing is in it.\n") }
    let table = Table(
      [.init("IDENTIFIER", .identifier, minWidth: 8), .init("NAME", keeping: .end), .init("MARKS")], for: 1)
    try Output.standard.write(
      table.render(
        items.map { [.init($0.identifier), .init($0.filename), .init($0.marks.joined(separator: ", "), .dim)] }))
  }
}

/// `ambit provider restore`: out of the provider's trash.
struct ProviderRestoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore", abstract: "Take an item from a provider's trash.",
    discussion: "It goes to the folder that it was thrown away from. “ambit provider trash PROVIDER” shows identifiers."
  )
  @Argument(help: "The provider's identifier, its name, or its app's bundle.", transform: ProviderCommand.named)
  var provider: String
  @Argument(help: "The item's identifier.") var identifier: String

  func run() throws {
    let reply = try UserSide.call(
      LocationsInterface.restore, LocationsInterface.RestoreCall(provider: provider, identifier: identifier),
      answer: LocationsInterface.RestoreReply.self)
    try Output.standard.write("\(printable(reply.path))\n")
  }
}

/// An item of a provider as a link for all devices.
struct ProviderLink: Equatable {
  let provider: String
  let identifier: String
  private static let scheme = "ambit-item:"

  init(provider: String, identifier: String) { (self.provider, self.identifier) = (provider, identifier) }

  /// - Returns: `nil`: it is none.
  init?(_ text: String) {
    guard text.hasPrefix(Self.scheme), text.utf8.count <= 8192 else { return nil }
    let parts = text.dropFirst(Self.scheme.count).split(separator: "?", maxSplits: 1)
    guard parts.count == 2, let provider = Self.plain(parts[0]), let identifier = Self.plain(parts[1]),
      !provider.isEmpty, !identifier.isEmpty
    else { return nil }
    self.init(provider: provider, identifier: identifier)
  }

  var text: String { "\(Self.scheme)\(Self.escaped(provider))?\(Self.escaped(identifier))" }

  private static let escape = ByteEscape.percent(keeping: ".-")

  private static func escaped(_ text: String) -> String { escape.escaped(text.utf8) }

  private static func plain(_ text: Substring) -> String? {
    escape.bytes(of: text.utf8).flatMap { String(validating: $0, as: UTF8.self) }
  }
}
