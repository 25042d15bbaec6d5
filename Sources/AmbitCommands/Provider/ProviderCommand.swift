internal import AppModel
internal import ArgumentParser
internal import Folders
internal import Foundation
internal import Kernel
internal import Launcher
internal import Paths
internal import Policy
internal import Terminal
internal import Wire

#if canImport(Glibc)
  internal import Glibc
#endif

/// `ambit provider`: places whose documents are not on this machine until a program reads them.
struct ProviderCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "provider",
    abstract: "File providers: documents that come when they are read.",
    discussion: """
      An app's file provider is off until you enable it. Its documents are then in ~/CloudStorage, with name, size and date, and without \
      content. An app's coordinated read brings the content; any other program gets “Permission denied” until then, and never zeros.

        ambit provider enable Snippets.app
        ambit provider list
        ambit provider get ~/CloudStorage/io.ambit.demo.snippets/Greeting.txt
        ambit provider validate io.ambit.demo.snippets
      """,
    subcommands: [
      ProviderListCommand.self, ProviderEnableCommand.self, ProviderDisableCommand.self, ProviderRefreshCommand.self,
      ProviderGetCommand.self, ProviderEvictCommand.self, ProviderSignInCommand.self, ProviderIdentifyCommand.self,
      ProviderLocateCommand.self, ProviderWorkingSetCommand.self, ProviderTrashCommand.self,
      ProviderRestoreCommand.self, ProviderValidateCommand.self,
    ], defaultSubcommand: ProviderListCommand.self)

  /// A word as the broker's name of a provider: identifiers and names as they are, a bundle's path as its identifier.
  static func named(_ word: String) -> String {
    guard let path = try? HostPath.resolved(word), let manifest = try? DeclaredFiles(at: path).lists.first,
      let identifier = manifest["CFBundleIdentifier"]?.string
    else { return word }
    return identifier
  }

  static func print(_ locations: [LocationsInterface.Location], _ format: OutputFormat) throws {
    guard format == .table else {
      return try Output.standard.write(
        (["locations": .array(locations.map { .object($0.json) })] as JSONObject).text + "\n")
    }
    guard !locations.isEmpty else {
      return try Output.standard.write("No file provider is enabled. ambit provider enable APP\n")
    }
    for each in locations {
      try Output.standard.write(
        "\(printable(each.name))  \(each.items) items, \(each.here) here\(each.running ? ", running" : "")\n"
          + "  \(printable(each.folder))\n")
    }
  }
}

struct ProviderListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "list", abstract: "List the enabled providers.")
  @Option(help: "table or json.") var format: OutputFormat = .table

  func run() throws {
    let reply = try BrokerConnection.ask(try UserSide.folders) {
      try $0.call(LocationsInterface.list, answer: LocationsInterface.ListReply.self)
    }
    try ProviderCommand.print(reply.locations, format)
  }
}

struct ProviderEnableCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "enable", abstract: "Switch an app's file provider on.",
    discussion: "Its program runs in a sandbox of its own (policy “provider”), and sees no document of yours.")
  @Option(help: "table or json.") var format: OutputFormat = .table
  @Argument(help: "The app's bundle.") var app: String

  func run() throws {
    let found = try FileProviderBundle(at: app)
    _ = try UserSide.call(
      LocationsInterface.enable,
      LocationsInterface.EnableCall(
        provider: found.identifier, name: found.name, app: found.app, program: found.program,
        acrossDevices: found.acrossDevices, pickerModes: found.pickerModes),
      answer: LocationsInterface.EnableReply.self)
    try ProviderRefreshCommand.refresh(found.identifier, format)
  }
}

struct ProviderRefreshCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "refresh", abstract: "Ask a provider for its documents.")
  @Option(help: "table or json.") var format: OutputFormat = .table
  @Argument(help: "Its identifier, its name, or its app's bundle.", transform: ProviderCommand.named)
  var provider: String

  func run() throws { try Self.refresh(provider, format) }

  static func refresh(_ provider: String, _ format: OutputFormat) throws {
    let reply = try UserSide.call(
      LocationsInterface.refresh, LocationsInterface.RefreshCall(provider: provider),
      answer: LocationsInterface.RefreshReply.self)
    for fault in reply.faults { try Output.error.write("ambit: \(printable(fault))\n") }
    try ProviderCommand.print([reply.location], format)
  }
}

struct ProviderDisableCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "disable", abstract: "Switch a provider off.",
    discussion: "Its documents go from ~/CloudStorage. Those with changes that it has not got stay, and are named.")
  @Argument(help: "Its identifier, its name, or its app's bundle.", transform: ProviderCommand.named)
  var provider: String

  func run() throws {
    let reply = try UserSide.call(
      LocationsInterface.disable, LocationsInterface.DisableCall(provider: provider),
      answer: LocationsInterface.DisableReply.self)
    for path in reply.kept {
      try Output.error.write("ambit: \(printable(path)) stays: the provider has not got its changes\n")
    }
  }
}

struct ProviderGetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get", abstract: "Bring the contents of documents.",
    discussion: "Ctrl-C cancels it. Exit status: 0 all are here; 1 a provider did not bring one.")
  @Argument(help: "Documents.") var files: [String]

  func run() throws {
    for file in files {
      let path = try HostPath.resolved(file)
      let progress = StatusLine()
      let reply = try UserSide.fetch(path) { bytes, total in
        if total > 0 { progress.tell("\(file): \(Self.percent(bytes, of: total)) % of \(total) bytes") }
      }
      progress.clear()
      try Output.standard.write("\(printable(file)): \(reply.bytes) bytes are here\n")
    }
  }

  /// A provider may say any numbers.
  static func percent(_ bytes: Int, of total: Int) -> Int {
    guard total > 0 else { return 0 }
    return total.dividingFullWidth(min(max(0, bytes), total).multipliedFullWidth(by: 100)).quotient
  }
}

struct ProviderEvictCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "evict", abstract: "Take the contents of documents away, to get room.",
    discussion: """
      What is open, has a further name, or was changed and not sent yet stays (status 1). With --keep the documents that were used longest \
      ago go first. When a disk is full, Ambit makes room for a content in the same way.

        ambit provider evict ~/CloudStorage/org.example.cloud/film.mkv
        ambit provider evict --keep "2 GiB" ~/CloudStorage
      """)
  @Option(help: ArgumentHelp("Only as long as the contents have more bytes than these.", valueName: "size"))
  var keep: String?
  @Argument(help: "Documents or folders.") var files: [String]

  func run() throws {
    for file in files {
      let path = try HostPath.resolved(file)
      if let keep {
        guard let bytes = Amount.bytes(keep) else {
          throw ValidationError("--keep takes a number and a unit, such as “500 MB” or “2 GiB”.")
        }
        let reply = try UserSide.call(
          LocationsInterface.evict, LocationsInterface.EvictCall(path: path, keep: bytes),
          answer: LocationsInterface.EvictReply.self)
        try Output.standard.write(
          "\(printable(file)): \(reply.bytes) bytes are free, \(reply.left ?? 0) bytes are here\n")
        continue
      }
      let reply = try UserSide.call(
        LocationsInterface.evict, LocationsInterface.EvictCall(path: path), answer: LocationsInterface.EvictReply.self)
      try Output.standard.write("\(printable(file)): \(reply.bytes) bytes are free\n")
    }
  }
}

/// The file provider of a bundle: an extension in its `PlugIns`.
struct FileProviderBundle {
  /// The app's.
  let identifier: String
  let name: String
  /// Absolute path of the bundle.
  let app: String
  let program: String
  /// Its item identifiers are the same on all devices (`PRV-21`).
  let acrossDevices: Bool
  /// Of its own picker; words: open, import.
  let pickerModes: [String]

  init(at bundle: String) throws {
    app = try HostPath.resolved(bundle)
    guard let manifest = try? DeclaredFiles(at: app).lists.first, let own = manifest["CFBundleIdentifier"]?.string
    else {
      throw Failure("\(printable(bundle)) is no app's bundle with an Info.plist.")
    }
    identifier = own
    name = manifest["CFBundleName"]?.string ?? own
    for folder in ["PlugIns", "Contents/PlugIns"] {
      let path = app.path(of: folder)
      for each in ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() {
        guard each.hasSuffix(".appex"), let manifest = try? DeclaredFiles(at: path.path(of: each)).lists.first,
          let point = manifest["NSExtension"]?.dictionary?.first(where: { $0.key == "NSExtensionPointIdentifier" }),
          point.node.string == "com.apple.fileprovider-nonui",
          let executable = manifest["CFBundleExecutable"]?.string, !executable.hasSlash
        else { continue }
        program = path.path(of: each).path(of: executable)
        let key = "NSFileProviderUsesUniqueItemIdentifiersAcrossDevices"
        let inner = manifest["NSExtension"]?.dictionary?.first { $0.key == key }?.node
        acrossDevices = (manifest[key] ?? inner)?.boolean == true
        pickerModes = Self.pickerModes(manifest)
        return
      }
    }
    throw Failure(
      "\(printable(bundle)) has no file provider: no .appex in its PlugIns names com.apple.fileprovider-nonui.",
      status: 1)
  }

  /// `UIDocumentPickerModes` among the attributes of the extension.
  private static func pickerModes(_ manifest: PropertyListFile) -> [String] {
    func value(_ key: String, _ entries: [PropertyListEntry]?) -> PropertyListNode? {
      entries?.first { $0.key == key }?.node
    }
    let attributes = value("NSExtensionAttributes", manifest["NSExtension"]?.dictionary)?.dictionary
    let named = value("UIDocumentPickerModes", attributes)?.array?.compactMap(\.string) ?? []
    return [("UIDocumentPickerModeOpen", "open"), ("UIDocumentPickerModeImport", "import")]
      .filter { named.contains($0.0) }.map(\.1)
  }
}
