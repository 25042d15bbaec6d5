/// The entitlements that decide anything, as words of a log: so the entitlements of a past launch can be asked again.
extension Entitlements {
  /// Those that it has, in an order that stays.
  package var words: [String] {
    var all: [(word: String, isOn: Bool)] = [
      ("networkClient", networkClient), ("networkServer", networkServer), ("passGrants", passGrants),
      ("executePicked", executePicked),
    ]
    if let sandbox {
      all += [
        ("appSandbox", true), ("selectReadOnly", sandbox.selection == .readOnly),
        ("selectReadWrite", sandbox.selection == .readWrite), ("appBookmarks", sandbox.appBookmarks),
        ("documentBookmarks", sandbox.documentBookmarks),
      ]
    }
    return all.filter(\.isOn).map(\.word)
  }

  /// - Parameter words: as ``words`` has them. Other words say nothing.
  package init(words: [String]) {
    let words = Set(words)
    var sandbox: AppSandbox?
    if words.contains("appSandbox") {
      sandbox = AppSandbox(
        selection: words.contains("selectReadWrite")
          ? .readWrite : words.contains("selectReadOnly") ? .readOnly : .nothing,
        appBookmarks: words.contains("appBookmarks"), documentBookmarks: words.contains("documentBookmarks"))
    }
    self.init(
      networkClient: words.contains("networkClient"), networkServer: words.contains("networkServer"),
      passGrants: words.contains("passGrants"), executePicked: words.contains("executePicked"), sandbox: sandbox)
  }
}
