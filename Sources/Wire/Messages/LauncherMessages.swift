extension LauncherInterface.PickRequest {
  /// The request that an app's call makes.
  package init(
    id: Int, call: PickerInterface.PickCall, allowed: [String]? = nil, packages: [String] = [],
    places: [LauncherInterface.Place] = [], startsAt: String? = nil,
    names: [String]? = nil, appName: String, browser: Bool = false, creates: Bool = false, recents: [String] = [],
    actions: [BrowserActionMessage] = []
  ) {
    self.init(
      id: id, mode: call.mode, multiple: call.multiple, kind: call.kind, access: call.access, types: call.types,
      allowed: allowed, packages: packages, places: places, startsAt: startsAt, names: names, message: call.message,
      appName: appName, browser: browser, creates: creates, recents: recents, actions: actions,
      hidesExtensions: call.browser?.hidesExtensions ?? false, style: call.browser?.style, tint: call.browser?.tint)
  }
}

extension LauncherInterface.PrepareCall {
  /// The user's choice for a question of this kind; the newest, if there are several.
  package func answer(_ kind: LauncherInterface.Question.Kind) -> String? { answers.last { $0.kind == kind }?.choice }
}

extension LauncherInterface.ReplaceReply {
  /// The kernel decides.
  package static let undecided = -1
}
