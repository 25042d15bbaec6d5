import Testing

@testable import ContentTypes

@Suite struct HandlerTests {
  private func app(
    _ name: String, _ types: [String], _ rank: DocumentClaim.Rank = .standard, _ role: DocumentClaim.Role = .editor,
    exports: [String] = [], extensions: [String] = []
  ) -> (identifier: String, declarations: DocumentDeclarations) {
    (
      name,
      DocumentDeclarations(
        types: exports.map {
          TypeDeclaration(
            identifier: $0, conformsTo: ["public.text"], extensions: ["note"], origin: .exported(by: name))
        },
        claims: [DocumentClaim(contentTypes: types, extensions: extensions, rank: rank, role: role)])
    )
  }

  private func handlers(
    _ name: String, _ apps: [(identifier: String, declarations: DocumentDeclarations)]
  ) -> [Handler] {
    let decider = TypeDecider(
      TypeTree.standard, MimeDatabase(folders: [])
    ).adding(apps.flatMap(\.declarations.types))
    let decision = decider.decide(name, .file(size: 1))
    return HandlerRules.handlers(
      of: decision.identifier, named: name, mimeType: decision.mimeType, in: decider.tree, apps: apps)
  }

  @Test func `TYP-4: the highest rank opens a file: owner, then default, then alternate`() {
    let apps = [
      app("org.alternate", ["org.owner.note"], .alternate), app("org.default", ["org.owner.note"]),
      app("org.owner", ["org.owner.note"], .owner, exports: ["org.owner.note"]),
      app("org.none", ["org.owner.note"], .none),
    ]
    for order in [apps, apps.reversed()] {
      #expect(handlers("a.note", order).map(\.app) == ["org.owner", "org.default", "org.alternate", "org.none"])
    }
    #expect(handlers("a.png", apps).isEmpty)
  }

  @Test func `nobody owns the type of another, nor nearly every file`() {
    let found = handlers(
      "a.txt",
      [
        app("org.greedy", ["public.data"], .owner), app("org.claims", ["public.plain-text"], .owner),
        app("org.text", ["public.text"], .standard), app("org.a", ["public.plain-text"], .standard, .viewer),
        app("org.any", [], .standard, extensions: ["*"]),
      ])
    // Among equals the nearest type, then editors.
    #expect(found.map(\.app) == ["org.claims", "org.a", "org.text", "org.greedy", "org.any"])
    #expect(found.map(\.rank) == [.standard, .standard, .standard, .alternate, .alternate])
    #expect(found[0].reason?.contains("does not export") == true && found[1].reason == nil)
    #expect(found[3].reason?.contains("nearly every file") == true)
  }

  @Test func `extensions count where no type is named`() {
    let found = handlers(
      "a.TXT", [app("org.ext", [], extensions: ["txt"]), app("org.other", ["public.png"], extensions: ["txt"])])
    #expect(found.map(\.app) == ["org.ext"] && found[0].matched == ".txt")
  }
}
