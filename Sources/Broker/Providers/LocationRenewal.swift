internal import FileProviders
internal import Folders
internal import Kernel

/// Has a folder, and the table, show the items that a provider has told. In a thread: a hundred thousand items take seconds, and other
/// requests do not wait for them.
struct LocationRenewal: Sendable {
  /// The table before the provider was asked.
  let before: ProviderStore.Reading
  let folder: LocationFolder
  let store: ProviderStore
  let items: ListedItems
  let anchors: [String: String]

  private var provider: String { before.provider }

  /// - Returns: for the user, the items that cannot be shown.
  func carryOut(while goesOn: () -> Bool) throws -> [String] {
    if items.isUnchanged, store.isUnchanged(since: before) {
      try store.put(anchors: anchors, of: provider)
      return []
    }
    let tree = ProviderTree(items.all)
    var faults = tree.faults.map { "not shown: \($0.description)" }
    let known = try store.files(since: before)
    let steps = ProviderChange.steps(from: known, to: tree)
    // Where all items are new, or nothing is, none is looked for.
    lazy var places = Dictionary(known.map { ($0.item.identifier, $0) }, uniquingKeysWith: { first, _ in first })
    var folders = folder.openFolders()
    var (put, placed, removed): ([ProvidedFile], [ProvidedFile], [String]) = ([], [], [])
    var isWhole = faults.isEmpty
    for step in steps {
      guard goesOn() else {
        isWhole = false
        break
      }
      do throws(KernelError) {
        let node = try folder.carryOut(step, &folders)
        if case .remove(let shown) = step { removed.append(shown.item.identifier) }
        let before = step.known.flatMap { places[$0.identifier] }
        guard let file = file(after: step, node, before) else { continue }
        switch step {
        case .move, .describe: placed.append(file)
        default: put.append(file)
        }
      } catch {
        faults.append("\(step.words): \(error.errno.symbol)")
        isWhole = false
      }
    }
    try store.remove(removed, of: provider)
    try store.put(put)
    try store.place(placed)
    // Items that could not be shown are told again the next time.
    try store.put(anchors: isWhole ? anchors : [:], of: provider)
    return faults
  }

  /// An item's file when a step is done.
  ///
  /// - Parameters:
  ///   - node: of what the step has made.
  ///   - before: the item's file before the step.
  /// - Returns: `nil`: there is none.
  private func file(after step: ProviderChange, _ node: String?, _ before: ProvidedFile?) -> ProvidedFile? {
    switch step {
    case .add(let placed):
      return ProvidedFile(provider: provider, item: placed.item, path: placed.path, node: node ?? "")
    case .renew(let placed, _, _):
      return ProvidedFile(provider: provider, item: placed.item, path: placed.path, node: before?.node ?? "")
    case .move(let item, _, let to):
      guard var file = before else { return nil }
      (file.item.filename, file.item.parent, file.path) = (item.filename, item.parent, to)
      return file
    case .describe(let placed, _):
      guard var file = before else { return nil }
      let content = file.item
      (file.item, file.path) = (placed.item, placed.path)
      (file.item.size, file.item.modified, file.item.version) = (content.size, content.modified, content.version)
      return file
    case .remove: return nil
    }
  }
}

extension ProviderChange {
  /// The item whose file stays.
  fileprivate var known: ProviderItem? {
    switch self {
    case .move(let item, _, _): item
    case .renew(let placed, _, _), .describe(let placed, _): placed.item
    case .add, .remove: nil
    }
  }

  /// For a message.
  fileprivate var words: String {
    switch self {
    case .add(let placed): "“\(placed.path)” cannot be shown"
    case .move(_, let from, let to): "“\(from)” cannot become “\(to)”"
    case .renew(let placed, _, _): "“\(placed.path)” stays as it was"
    case .describe(let placed, _): "“\(placed.path)” keeps the rights that it had"
    case .remove(let shown): "“\(shown.path)” cannot be removed"
    }
  }
}
