internal import UserFiles

/// The tags of files in the picker: as dots beside names, and as a filter: `#red`, `tag:red`.
enum TagDots {
  static let most = 4

  /// Dots in the tags' colours; where there are no colours, and for tags without one, their names.
  static func pieces(_ tags: [FileTag], colours: Bool) -> [(text: String, colour: Style.Colour?)] {
    tags.prefix(most).map { tag in
      guard colours, let colour = tag.colour else { return ("#" + DisplayText(tag.name, limit: 12).plain, nil) }
      let shown: Style.Colour =
        switch colour {
        case .red: .red
        case .orange: .orange
        case .yellow: .yellow
        case .green: .green
        case .blue: .blue
        case .purple: .purple
        case .grey: .grey
        }
      return ("●", shown)
    }
  }

  static func width(_ tags: [FileTag], colours: Bool) -> Int {
    pieces(tags, colours: colours).reduce(0) { $0 + 1 + DisplayText($1.text).width }
  }

  static func add(_ tags: [FileTag], to line: inout Line, _ base: Style, colours: Bool) {
    for (text, colour) in pieces(tags, colours: colours) {
      var style = base
      style.colour = colour
      style.dim = colour == nil
      line.add(" ", base)
      line.add(text, style)
    }
  }
}

extension PickerModel {
  /// The beginning of the tag that is looked for; `nil`: the filter is about names alone.
  static func tagWanted(by filter: String) -> String? {
    for lead in ["#", "tag:"] where filter.lowercased().hasPrefix(lead) && filter.count > lead.count {
      return String(filter.dropFirst(lead.count))
    }
    return nil
  }

  /// Tags of all entries are read at the first filter that asks for them.
  var wantsTags: Bool { Self.tagWanted(by: filter) != nil && entryTags == nil }

  mutating func learnTags(_ tags: [FileName: FileTags]) {
    entryTags = tags
    setFilter(filter)
  }

  /// Those that have such a tag, or the filter itself in their names.
  func tagged(_ candidates: [Int]) -> [Int]? {
    guard let wanted = Self.tagWanted(by: filter) else { return nil }
    let text = filter.lowercased()
    return candidates.filter { index in
      let name = entries[index].name
      return entryTags?[name]?.answers(wanted) ?? false || name.text.lowercased().contains(text)
    }
  }
}

extension OpenFolder {
  /// Entries whose tags are read.
  private static let mostTagged = 50_000

  /// The tags of those entries that have any.
  func tags(of entries: [Entry]) -> [FileName: FileTags] {
    var found: [FileName: FileTags] = [:]
    for entry in entries.prefix(Self.mostTagged) {
      let tags =
        isCollection
        ? (try? open(.entry(entry.name)))?.descriptor.fileTags ?? FileTags() : descriptor.fileTags(of: entry.name.text)
      if !tags.tags.isEmpty { found[entry.name] = tags }
    }
    return found
  }
}
