internal import Policy
internal import Sandbox

extension Rules {
  var kernel: [Entry] {
    [
      systemCalls,
      Entry(
        Ability(.singleWall), Extent(!(settings.landlockFiles && layers[.landlock].enforcement.isFull)),
        by: decided("landlock.files") + (settings.landlockFiles ? kernel(.landlock) : [])),
      Entry(Ability(.unrecorded), Extent(!settings.observe), by: decided("audit.observe")),
      Entry(Ability(.loseRecords), Extent(settings.sync == .group), by: decided("audit.sync")),
    ]
      + (Layer.allCases.filter { !required.contains($0) } + required).map { layer in
        let isRequired = required.contains(layer)
        return Entry(
          Ability(.runWithout, layer.rawValue), Extent(!isRequired),
          by: isRequired ? decided("require.layers", layer.rawValue) : decided("require.layers"))
      }
      + [
        Entry(
          Ability(.shareKeyring), Extent(!layers[.keyring].enforcement.isFull),
          by: layers[.keyring].enforcement.isFull ? [.ambit(rule: "keyring")] : kernel(.keyring)),
        Entry(Ability(.gainPrivileges), .no, by: [.ambit(rule: "capabilities")]),
      ]
  }

  /// In the order of the vocabulary.
  private var required: [Layer] { Layer.allCases.filter(settings.requiredLayers.contains) }

  private var systemCalls: Entry {
    let profiles = ([settings.seccompProfile] + settings.furtherSeccompProfiles).compactMap { $0 }
    guard !profiles.isEmpty else {
      return Entry(Ability(.systemCalls), .yes, by: decided("seccomp.profile"))
    }
    return Entry(
      Ability(.systemCalls), .no, manner: "of them what \(profiles.joined(separator: " and ")) lets through",
      by: decided("seccomp.profile"))
  }
}
