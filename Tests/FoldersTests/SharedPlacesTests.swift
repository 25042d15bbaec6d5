import Testing

@testable import Folders

@Suite struct `What an app shows to others` {
  private let rules = GrantRules(home: "/home/ann", own: ["/home/ann/ambit/data", "/home/ann/ambit/state"])
  private let shared = ["/home/ann/ambit/data/containers/org.example.notes/Documents"]

  @Test func `SBX-6: what lies in a shared Documents folder may be granted, and nothing else of Ambit's`() {
    let containers = "/home/ann/ambit/data/containers"
    for path in ["a.txt", "deep/in/it/b.txt", "folder"].map({ "\(shared[0])/\($0)" }) {
      for kind in [DocumentKind.file, .folder, .package] {
        #expect(rules.refusal(of: kind, at: path, shared: shared) == nil, "\(path)")
        #expect(rules.refusal(of: kind, at: path) != nil, "\(path)")
      }
    }
    for path in [
      shared[0], "\(containers)/org.example.notes", "\(containers)/org.example.notes/Library/a.txt",
      "\(containers)/org.example.notes/Documents2/a.txt", "\(containers)/org.example.other/Documents/a.txt", containers,
      "/home/ann/ambit/state/grants.sqlite", "/home/ann/ambit/data/staging/x/y", "/home/ann/ambit",
    ] {
      for kind in [DocumentKind.file, .folder] {
        guard kind == .folder || path != "/home/ann/ambit" else { continue }
        #expect(rules.refusal(of: kind, at: path, shared: shared) != nil, "\(path)")
      }
    }
    // A list of places takes nothing else out of the rules.
    #expect(rules.refusal(of: .folder, at: "/home/ann", shared: ["/home"]) != nil)
    #expect(rules.refusal(of: .file, at: "/etc/passwd", shared: ["/etc"]) != nil)
  }
}
