import Testing

@testable import Folders

@Suite struct `Packages, by their names` {
  @Test(arguments: ["Letter.rtfd", "a.RTFD", "Ärger.pages", "x.y.key", ".hidden.rtfd", "n.notebook", "n.NoteBook"])
  func `these folders are documents`(name: String) {
    #expect(PackageTypes(declared: ["Notebook"]).isPackage(name))
  }

  @Test(arguments: [
    "Letter", "Letter.", ".rtfd", "rtfd", "a.rtfd.d", "a.app", "a.rtfd ", "a.rtf", "", ".", "a.notebooks",
  ])
  func `these are folders`(name: String) {
    #expect(!PackageTypes(declared: ["Notebook"]).isPackage(name))
    #expect(!PackageTypes().isPackage("n.notebook"))
  }

  @Test func `what can be no extension declares nothing, and no app declares without end`() {
    let wrong = ["", "a.b", "a/b", "a b", "é", "..", String(repeating: "x", count: 33), "a\u{0}"]
    #expect(PackageTypes(declared: wrong).extensions == PackageTypes.known)
    let many = (0..<200).map { "x\($0)" }
    #expect(PackageTypes(declared: many).extensions.count == PackageTypes.known.count + PackageTypes.mostDeclared)
  }

  @Test func `SBX-15: what may not be granted as a folder may not as a package`() {
    let rules = GrantRules(home: "/home/ann", own: ["/home/ann/.local/share/ambit"])
    for path in [
      "/home", "/home/ann", "/home/ann/.ssh", "/usr", "/home/ann/.local/share/ambit/x.rtfd", "/home/ann/.local",
    ] {
      #expect(rules.refusal(of: .package, at: path) != nil, "\(path)")
      #expect(rules.refusal(of: .package, at: path) == rules.refusal(of: .folder, at: path))
    }
    #expect(rules.refusal(of: .package, at: "/home/ann/Letter.rtfd") == nil)
  }
}
