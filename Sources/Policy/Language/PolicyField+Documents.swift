internal import AppModel

/// The fields about documents: the documents that an app may be given, for how long, and how many it may keep.
extension PolicyField {
  /// Every field, in the order in which the reference and messages list them.
  package static let all: [PolicyField] =
    [descriptionField, inheritsField] + scopes + picker + grants + entitlements + bookmarks + coordination + sandbox
    + limits + layers

  /// The tables, in the same order.
  package static let tables: [String] = all.reduce(into: []) { tables, field in
    if let table = field.table, !tables.contains(table) { tables.append(table) }
  }

  private static let descriptionField = PolicyField(
    nil, "description", [.text("any words")], example: "\"Documents to read, none to change\"",
    narrowing: "says nothing", .words(\.description) { (top) throws(SourceError) in try top.string("description") },
    "What the policy is for, in a sentence that lists of policies show.")

  private static let inheritsField = PolicyField(
    nil, "inherits", [.text("the name of a policy"), .list(of: [.text("the name of a policy")])],
    example: "\"default\"", narrowing: "is followed among the built-in policies alone",
    .words(\.inherits, decode: PolicyOverrides.inherits),
    """
    The policies that this one starts from. Of several each is laid over those before it, a policy that two of them inherit once and \
    first; and the file itself over all of them. What a file says takes the place of what it inherits, lists and tables whole. A file \
    that inherits its own name means the policy that it stands before, so that a user's own default can be the built-in one with a \
    few changes. Without it a file starts from what is closed.
    """)

  private static let scopes = [
    PolicyField(
      "scopes", "limit",
      [
        .integer(ScopeLimit.range),
        .words(ScopeLimit.presets.sorted { $0.value < $1.value }.map { .init($0.key, "\($0.value)") }),
      ], rule: "LIM-1", example: "32", narrowing: "the smaller holds",
      .init(
        \.scopeLimit, \.scopeLimit, decode: PolicyOverrides.scopeLimit, meet: { ours, theirs, _ in min(ours, theirs) },
        text: { "\($0)" }),
      "How many documents each process of an app may have started at once."),
    PolicyField(
      "scopes", "references", [.boolean], rule: "PCK-1", example: "false", narrowing: "false holds",
      .flag("references", \.references, \.references, permits: true),
      "Whether a picked document leaves a reference in the container's Documents folder, so that the app finds it again."
    ),
    PolicyField(
      "scopes", "start_picked", [.boolean], rule: "TOK-13", example: "true", narrowing: "false holds",
      .flag("start_picked", \.startsPicked, \.startsPicked, permits: true),
      "Whether what the user picks is started when the app gets it, as with an open panel on macOS, or waits for its start as on iOS."
    ),
    PolicyField(
      "scopes", "outlived", [.words(of: OutlivedScopes.self)], rule: "TOK-16", example: "\"end\"",
      narrowing: "\"end\" holds",
      .choice("outlived", \.outlived, \.outlived, strictestFirst: [.end, .allow]),
      """
      When a scope ends and the app still has something of the document open: "allow" (it is in the log, with what it can be used for) \
      or "end" (the app is ended).
      """),
  ]

  private static let picker = [
    PolicyField(
      "picker", "modes",
      [
        .list(of: [
          .words(
            PickerMode.allCases.map { .init($0.rawValue) })
        ])
      ], rule: "PCK-1", example: "[\"open\"]", narrowing: "what is in both lists holds",
      .init(
        \.pickerModes, \.picker.modes, decode: PolicyOverrides.modes,
        meet: { ours, theirs, _ in ours.filter(theirs.contains) }, text: { $0.map(\.rawValue).quotedTOML }),
      """
      What an app may ask its user for with the document picker; anything else is refused before the user is asked. \
      open gives the original, import a copy in the app's container; export and move put files of the app's into a folder.
      """),
    PolicyField(
      "picker", "types",
      [
        .words([.init(PickedTypes.anyWord)]),
        .list(of: [.text("a content type, or an extension without dot", pattern: "^[^./][^/]*$")]),
      ], rule: "PCK-7", example: "[\"public.text\", \"tar.gz\"]", narrowing: "a name has to be allowed by both",
      .init(
        \.pickedTypes, \.picker.types, decode: PolicyOverrides.pickedTypes,
        meet: { ours, theirs, _ in ours.narrowed(by: theirs) },
        text: {
          if case .only(let names) = $0 { names.quotedTOML } else { PickedTypes.anyWord.quotedTOML }
        }),
      """
      The documents that an app may be given, by the extensions of their names; a content type stands for the extensions that it has. \
      Others are dim in the picker. What counts is what the broker finds when it has opened the document, however it was handed \
      over: by the picker, by the user's side, by another app. Folders have no type.
      """),
    PolicyField(
      "picker", "folders", [.boolean], rule: "PCK-10", example: "false", narrowing: "false holds",
      .flag("folders", \.pickedFolders, \.picker.folders, permits: true),
      "Whether an app may be given a whole folder, with everything that is in it and comes to be in it."),
  ]

  private static let grants = [
    PolicyField(
      "grants", "persisted",
      [
        .integer(PersistedGrants.range),
        .words(PersistedGrants.names.map { .init($0.name, persistedMeaning($0.value)) }),
        .list(of: [.integer(PersistedGrants.range), .words(PersistedGrants.names.map { .init($0.name) })]),
      ],
      rule: "LIM-10", example: "100", narrowing: "the smaller number holds",
      .init(
        \.persisted, \.persisted, decode: PolicyOverrides.persisted,
        meet: { ours, theirs, _ in ours.narrowed(by: theirs) },
        text: \.text),
      """
      How many documents an app may keep its access to: a number, after which a document that is picked is refused, or another \
      system's rule. Of an array all hold together.
      """
    ),
    PolicyField(
      "grants", "pass", [.words(of: AppPermission.self)], rule: "TOK-18", example: "\"none\"",
      narrowing: "the stricter holds: \"none\" before \"entitlement\" before \"any\"",
      .choice("pass", \.passing, \.passing, strictestFirst: [.none, .entitlement, .any]),
      "Which apps may pass their own rights on to another app. \"entitlement\": those whose entitlements have io.ambit.pass-grants."
    ),
    PolicyField(
      "grants", "execute", [.words(of: AppPermission.self)], rule: "SBX-8", example: "\"none\"",
      narrowing: "the stricter holds: \"none\" before \"entitlement\" before \"any\"",
      .choice("execute", \.executing, \.executing, strictestFirst: [.none, .entitlement, .any]),
      """
      Which apps may run programs that lie in what their user picked. "entitlement": those whose entitlements have \
      com.apple.security.files.user-selected.executable.
      """),
    PolicyField(
      "grants", "host_paths", [.boolean], rule: "FSF-11", example: "true", narrowing: "false holds",
      .flag("host_paths", \.tellsHostPaths, \.tellsHostPaths, permits: true),
      """
      Whether an app is told, when it asks, where on the host a document of its lies. Its name it knows in any case. This is no \
      wall: while a document is started, the kernel has its path in the app's /proc/self/mountinfo.
      """),
    PolicyField(
      "grants", "access", [.words(of: GrantedAccess.self)], rule: "AUD-3", example: "\"read-only\"",
      narrowing: "\"read-only\" holds",
      .choice("access", \.access, \.access, strictestFirst: [.readOnly, .readWrite]),
      """
      What an app may do with documents at most, whatever it asks for. With "read-only" an app that asks for more is given less; a \
      document that it may write by an earlier decision is shown to it for reading.
      """),
    PolicyField(
      "grants", "lifetime",
      [
        .words([
          .init("forever", "until it is withdrawn"), .init("launch", "until the launch in which it was made ends"),
        ]),
        .duration, .list(of: [.words([.init("launch")]), .duration]),
      ], rule: "AUD-1", example: "\"8h\"", narrowing: "whichever end comes first holds",
      .init(
        \.lifetime, \.lifetime, decode: PolicyOverrides.lifetime,
        meet: { ours, theirs, _ in ours.narrowed(by: theirs) },
        text: { $0.words.count == 1 ? $0.words[0].quotedTOML : $0.words.quotedTOML }),
      """
      When a grant ends by itself, with everything that was made from it, in running apps at once, and also when no broker runs at \
      that moment. It counts from the user's last decision on the document. A grant from before that is older than this, or of another \
      launch, may not be used under the policy; it does not end.
      """),
  ]

  private static let entitlements = [
    PolicyField(
      "entitlements", "trust",
      [
        .words([
          .init(EntitlementTrust.none.rawValue, "no app gets them, whatever a command line says"),
          .init(
            EntitlementTrust.ask.rawValue,
            "the user is asked at the app's first launch, and the answer is remembered; without a terminal the app runs without them"
          ),
          .init(EntitlementTrust.declared.rawValue, "each app gets those that it declares"),
        ])
      ], example: "\"declared\"", narrowing: "the stricter holds: \"none\" before \"ask\" before \"declared\"",
      .choice("trust", \.entitlementTrust, \.entitlementTrust, strictestFirst: [.none, .ask, .declared]),
      """
      Whether an app gets the entitlements of its bundle that give it more than other apps have: those for the network, \
      io.ambit.pass-grants and com.apple.security.files.user-selected.executable. Only those count that change something under the \
      policy. Entitlements that narrow, such as com.apple.security.app-sandbox, hold in any case.
      """)
  ]

  private static func persistedMeaning(_ rule: PersistedGrants) -> String {
    switch rule {
    case .android: "512, and then the oldest ends"
    case .android10: "128, and then the oldest ends"
    case .windows: "1000 that a bookmark or reference was made of, then refused; and of the others the 25 used last"
    default: "no limit"
    }
  }

  private static let bookmarks = [
    PolicyField(
      "bookmarks", "replaced", [.words(of: ReplacedDocuments.self)], rule: "BMK-12", example: "\"refuse\"",
      narrowing: "\"refuse\" holds",
      .choice("replaced", \.replacedDocuments, \.replacedDocuments, strictestFirst: [.refuse, .follow]),
      """
      Many programs save by writing a new file and renaming it over the old one. "follow": when the file that the user chose is gone \
      and another stands under its name in the same folder, that one is the document, which is recorded, and bookmarks of it are \
      stale; "refuse": it is not, as on iOS. A package is as a file here. A document that was moved is found wherever it is, under either.
      """),
    PolicyField(
      "bookmarks", "create", [.boolean], rule: "BMK-1", example: "false", narrowing: "false holds",
      .flag("create", \.createsBookmarks, \.bookmarks.create, permits: true),
      "Whether an app may make bookmarks at all. Without them, and without references, it asks its user anew at each launch."
    ),
    PolicyField(
      "bookmarks", "document_scoped", [.boolean], rule: "BMK-5", example: "false", narrowing: "false holds",
      .flag("document_scoped", \.documentBookmarks, \.bookmarks.documentScoped, permits: true),
      "Whether an app may make, and open, bookmarks that belong to a document and that any app opens that has that document."
    ),
    PolicyField(
      "bookmarks", "implicit", [.boolean], rule: "BMK-8", example: "false", narrowing: "false holds",
      .flag("implicit", \.implicitBookmarks, \.bookmarks.implicit, permits: true),
      "Whether an app may make, and open, bookmarks that start their document when they are resolved, by any app, until the machine is started anew."
    ),
    PolicyField(
      "bookmarks", "lifetime", [.words([.init("forever", "as long as the grant")]), .duration], rule: "BMK-3",
      example: "\"30d\"", narrowing: "the shorter holds",
      .init(
        \.bookmarkLifetime, ceiling: \.bookmarks.lifetime, decode: PolicyOverrides.bookmarkLifetime, without: "forever",
        meet: { ours, theirs, _ in min(ours, theirs) }, text: { Amount.text(seconds: $0).quotedTOML }),
      "How long after it was made a bookmark can be resolved."),
  ]

  private static let coordination = [
    PolicyField(
      "coordination", "patience", [.words([.init("forever")]), .duration], rule: "COO-8", example: "\"5s\"",
      narrowing: "the shorter holds",
      .init(
        \.patience, ceiling: \.patience, decode: PolicyOverrides.patience, without: "forever",
        meet: { ours, theirs, _ in min(ours, theirs) }, text: { Amount.text(seconds: $0).quotedTOML }),
      """
      How long the app's coordinated access waits for the answer of a presenter, and for the next access before it to end.
      """),
    PolicyField(
      "coordination", "silent", [.words(of: SilentPresenters.self)], rule: "COO-8", example: "\"proceed\"",
      narrowing: "\"refuse\" holds",
      .choice("silent", \.silentPresenters, \.silentPresenters, strictestFirst: [.refuse, .proceed]),
      """
      When another app's presenter does not answer in that time: "refuse" (the access fails, and names it) or "proceed" (the access goes \
      on without it).
      """),
  ]
}

extension FieldAccess {
  /// A text that is no setting.
  static func words<Value: Sendable>(
    _ file: FilePlace<Value>,
    decode: @escaping @Sendable (TOMLReader) throws(SourceError) -> Value?
  ) -> FieldAccess {
    FieldAccess(
      decode: { (reader, overrides) throws(SourceError) in overrides[keyPath: file] = try decode(reader) },
      isSet: { $0[keyPath: file] != nil }, copy: { $1[keyPath: file] = $0[keyPath: file] }, apply: { _, _ in },
      lift: { _, _ in }, narrow: { _, _, _ in },
      text: { _ in nil })
  }
}
