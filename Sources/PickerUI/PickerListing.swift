package import Kernel
internal import Paths
package import UserFiles

/// A folder for a face that has no screen of its own: rows as values, and the choice of one by the file that it showed.
package struct PickerListing: Sendable {
  package struct Row: Sendable {
    /// Harmless text.
    package let name: String
    /// The path of the entry, as it is named in this folder.
    package let path: String
    package let isFolder: Bool
    /// Harmless text: the place that a link leads to.
    package let target: String?
    package let size: String?
    /// Why it cannot be chosen, as a sentence.
    package let refusal: String?
    /// The file that the row shows; a choice names it. `nil`: it cannot be opened.
    package let file: String?
    /// Harmless texts, and the colours of those that have one.
    package let tags: [(name: String, colour: FileTag.Colour?)]
  }

  /// A place to show.
  package enum Place: Sendable, Equatable {
    case folder(String)
    /// The documents that were used last.
    case recents
    /// Favourites, tagged files, the trash.
    case user(UserPlace)
  }

  package let place: Place
  /// Text for people.
  package let name: String
  /// The folder above; `nil`: there is none.
  package let parent: String?
  package let rows: [Row]
  /// How many more there are: the filter leaves them out, or the page is full.
  package let left: Int
  /// The folder itself, where folders are asked for or made.
  package let own: Row?
  package static let most = 1000

  /// - Parameters:
  ///   - place: of a folder that is gone, the nearest one above it is shown.
  ///   - filter: text of names; empty: all.
  ///   - home: the user's home folder, which people see as `~`.
  ///   - actor: knows the user's places.
  ///   - refuse: why a document cannot be handed out.
  package init(
    _ request: PickerRequest, at place: Place, filter: String = "", showsHidden: Bool = false, home: String? = nil,
    actor: FileActor? = nil, refuse: (PickedDocument) -> String?
  ) throws(KernelError) {
    let folder =
      switch place {
      case .folder(let path): try OpenFolder.nearest(to: path)
      case .recents: try OpenFolder(recents: request.recents)
      case .user(let place): try OpenFolder(place, actor?.list(place).paths ?? [])
      }
    var model = PickerModel(request)
    model.show(folder: folder.path, isTop: folder.isTop, entries: try folder.entries())
    if showsHidden { model.toggleHidden() }
    let total = model.rowCount
    if !filter.isEmpty { model.setFilter(filter) }
    if model.wantsTags { model.learnTags(folder.tags(of: model.entries)) }
    let base = folder.isCollection ? "/" : folder.path
    var rows: [Row] = []
    for index in 0..<min(model.rowCount, Self.most) {
      guard case .entry(let number)? = model.row(at: index) else { continue }
      let entry = model.entries[number]
      let rule = entry.kind == .folder ? nil : model.rule.refusal(of: entry.kind, named: entry.realName)
      rows.append(
        Self.row(
          entry.name.text, base.path(of: entry.name.text), folder.details(of: entry),
          isFolder: entry.kind == .folder, rule: rule, refuse))
    }
    let isWanted = request.kind == .folder || request.creates
    own =
      !folder.isCollection && isWanted
      ? Self.row("this folder", folder.path, folder.ownDetails(), isFolder: true, rule: nil, refuse) : nil
    self.place = folder.userPlace.map { .user($0) } ?? (folder.isCollection ? .recents : .folder(folder.path))
    name = DisplayText(Measure.place(folder.path, home: home)).plain
    parent = folder.isTop ? nil : folder.parentPath
    self.rows = rows
    left = total - rows.count - (model.hasHereRow ? 1 : 0)
  }

  private static func row(
    _ name: String, _ path: String, _ details: EntryDetails, isFolder: Bool, rule: String?,
    _ refuse: (PickedDocument) -> String?
  ) -> Row {
    var refusal = rule
    if refusal == nil, let document = details.document { refusal = Self.refusal(of: document, refuse) }
    return Row(
      name: DisplayText(name).plain, path: path, isFolder: isFolder,
      target: details.linkTarget.map { DisplayText($0).plain }, size: isFolder ? nil : details.size.map(Measure.size),
      // The name stands beside it.
      refusal: refusal?.split(separator: "; ").last.map(String.init),
      file: details.document.flatMap { identity(of: $0.descriptor) },
      tags: details.tags.prefix(TagDots.most).map { (DisplayText($0.name).plain, $0.colour) })
  }

  private static func refusal(of document: PickedDocument, _ refuse: (PickedDocument) -> String?) -> String? {
    if document.userAccess == .none {
      return "\(DisplayText.quoted(document.name)) is not open to you: permission denied."
    }
    return refuse(document)
  }

  private static func identity(of file: Descriptor) -> String? {
    (try? file.status()).map { "\($0.device):\($0.inode):\($0.birth)" }
  }

  /// Opens a file that the user acts on: the very one that a row showed (`PCK-23`).
  package static func openForAct(_ path: String, file: String) throws(PickerError) -> PickedDocument {
    let document: PickedDocument
    do throws(KernelError) { document = try DocumentOpening.open(path) } catch {
      throw PickerError(DocumentOpening.sentence(error, path))
    }
    guard identity(of: document.descriptor) == file, document.path.isSamePath(as: path) else {
      throw PickerError("\(DisplayText.quoted(document.name)) is not what was listed any more. Look again.")
    }
    return document
  }

  /// Opens a choice: the very file that a row showed (`PCK-23`).
  ///
  /// - Parameter creates: the choice is a folder for a new document.
  package static func open(
    _ path: String, file: String, for request: PickerRequest, creates: Bool = false,
    refuse: (PickedDocument) -> String?
  ) throws(PickerError) -> PickedDocument {
    let document: PickedDocument
    do throws(KernelError) { document = try DocumentOpening.open(path) } catch {
      throw PickerError(DocumentOpening.sentence(error, path))
    }
    guard identity(of: document.descriptor) == file else {
      throw PickerError("\(DisplayText.quoted(document.name)) is not what was listed any more. Look again.")
    }
    if creates {
      guard document.kind == .folder else {
        throw PickerError("\(DisplayText.quoted(document.name)) is not a folder.")
      }
      return document
    }
    if let refusal = ChoiceRule(request).refusal(of: document) ?? refusal(of: document, refuse) {
      throw PickerError(refusal)
    }
    return document
  }
}

extension PickerRequest.Place {
  /// The name, harmless.
  package var label: String { DisplayText(name, limit: 40).plain }
}

extension PickerRequest {
  /// The first line, harmless: the app that asks, and its wish.
  package var heading: String { title(nameLimit: 40) }
  /// The notice, harmless.
  package var warning: String? { notice.map { DisplayText($0).plain } }
  /// The app's own words, as a quotation.
  package var words: String? { quotation }
}
