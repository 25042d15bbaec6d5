/// Rules about a document that comes and goes.
extension ProviderCheck {
  /// A rule about a document that comes and goes. Without the answer that it is about, it holds.
  private static func change(
    _ name: String, _ rule: String, _ remedy: String,
    _ finding: @escaping @Sendable (ProviderTranscript.Change, ProviderItem) -> String?
  ) -> ProviderCheck {
    ProviderCheck(name, rule, remedy) { transcript in
      guard let change = transcript.change, case .answered(let made)? = change.made else { return [] }
      return finding(change, made).map { [$0] } ?? []
    }
  }

  static let changes: [ProviderCheck] = [
    ProviderCheck("create-answers", "A new document is taken.", "Answer its item in importDocument(at:…).") {
      transcript in
      if case .failed(let word)? = transcript.change?.made { return ["it answered \(word.prefix(60))"] }
      return []
    },
    change("create-name", "A new document has the name that it was given.", "Keep the name.") { change, made in
      made.filename == change.names.0 ? nil : "it is named “\(made.filename.prefix(60))”"
    },
    change("create-parent", "A new document is in the folder that it was put into.", "Answer that folder.") { _, made in
      made.parent == ProviderItem.root ? nil : "it is in \(made.parent.prefix(60))"
    },
    change("create-size", "A new document has the size of its content.", "Read all of it.") { change, made in
      made.size == change.sizes.0 ? nil : "it has \(made.size) of \(change.sizes.0) bytes"
    },
    change("create-found", "A new document is found by its identifier.", "Keep it before you answer.") { change, _ in
      if case .failed(let word)? = change.found { return "it answered \(word.prefix(60))" }
      return nil
    },
    change("create-listed", "A new document is listed.", "Add it to its folder.") { change, made in
      change.listed?.contains(made.identifier) == false ? "it is not in the root" : nil
    },
    change("create-content", "The content of a new document comes back.", "Keep it at the provider.") { change, _ in
      switch change.content {
      case .failed(let word)?: "it answered \(word.prefix(60))"
      case .answered(let size)? where size != change.sizes.0: "it has \(size) of \(change.sizes.0) bytes"
      default: nil
      }
    },
    change(
      "create-collision", "A name that is taken, in whatever case, is answered with filenameCollision (PRV-12).",
      "Throw it."
    ) {
      change, _ in
      switch change.collision {
      case .failed("filenameCollision")?, nil: nil
      case .failed(let word)?: "it answered \(word.prefix(60))"
      case .answered(let item)?: "it took “\(item.filename.prefix(60))”"
      }
    },
    change("write-version", "Another content has another version.", "Change the version with the content.") {
      change, made in
      guard case .answered(let item)? = change.written else { return nil }
      return item.version == made.version ? "it has the version from before" : nil
    },
    change("write-content", "A changed content comes back.", "Keep it in itemChanged(at:).") { change, _ in
      switch change.rewritten {
      case .failed(let word)?: "it answered \(word.prefix(60))"
      case .answered(let size)? where size != change.sizes.1: "it has \(size) of \(change.sizes.1) bytes"
      default: nil
      }
    },
    change("rename-answers", "A document is renamed.", "Answer its item in renameItem(withIdentifier:…).") {
      change, _ in
      if case .failed(let word)? = change.renamed { return "it answered \(word.prefix(60))" }
      return nil
    },
    change("rename-identifier", "A renamed document keeps its identifier.", "Do not make it of the name.") {
      change, made in
      guard case .answered(let item)? = change.renamed else { return nil }
      return item.identifier == made.identifier ? nil : "it is \(item.identifier.prefix(60)) now"
    },
    change("rename-found", "A renamed document has its new name from then on.", "Keep the name.") { change, _ in
      guard case .answered(let item)? = change.foundRenamed else { return nil }
      return item.filename == change.names.1 ? nil : "it is named “\(item.filename.prefix(60))”"
    },
    change("rename-unknown", "To rename an unknown item is answered with noSuchItem.", "Throw it.") { change, _ in
      expect("noSuchItem", change.moveOfUnknown).first
    },
    change("delete-answers", "A document is deleted, or the deletion is rejected (PRV-15).", "Throw deletionRejected.")
    { change, _ in
      guard case .failed(let word)? = change.deleted, word != "deletionRejected" else { return nil }
      return "it answered \(word.prefix(60))"
    },
    change("delete-gone", "A deleted document is not found.", "Answer noSuchItem for it.") { change, _ in
      guard case .answered? = change.deleted, case .answered? = change.afterwards else { return nil }
      return "it is still there"
    },
    change("delete-unlisted", "A deleted document is not listed.", "Take it from its folder.") { change, made in
      guard case .answered? = change.deleted else { return nil }
      return change.listedAfterwards?.contains(made.identifier) == true ? "it is still in the root" : nil
    },
    change("delete-unknown", "To delete an unknown item is no failure, or noSuchItem.", "Throw noSuchItem.") {
      change, _ in
      guard case .failed(let word)? = change.deletionOfUnknown, word != "noSuchItem" else { return nil }
      return "it answered \(word.prefix(60))"
    },
  ]
}
