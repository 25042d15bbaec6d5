import Foundation
import Sandbox
import Testing

@testable import Policy

@Suite struct `Layers that a policy requires` {
  /// Policies by name, in a folder; the first is loaded.
  private func load(_ texts: (name: String, text: String)...) throws -> Policy {
    let folder = FileManager.default.temporaryDirectory.appending(path: "ambit-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for (name, text) in texts {
      try Data(text.utf8).write(to: folder.appending(path: "\(name).toml"))
    }
    return try PolicyLibrary(directories: [folder]).load(texts[0].name)
  }

  private func refusal(_ texts: (name: String, text: String)...) -> String {
    do {
      _ = try texts.count == 1 ? load(texts[0]) : load(texts[0], texts[1])
      return "none"
    } catch {
      return "\(error)"
    }
  }

  @Test func `are read by their names, and a nearer file's take the place of those that it inherits`() throws {
    #expect(
      try load(("a", "require.layers = [\"file-tree\", \"seccomp\"]")).settings.requiredLayers == [.fileTree, .seccomp])
    let child = ("a", "inherits = \"b\"\n[require]\nlayers = []")
    #expect(try load(child, ("b", "require.layers = [\"seccomp\"]")).settings.requiredLayers == [])
    #expect(
      try load(("a", "inherits = \"b\""), ("b", "require.layers = [\"seccomp\"]")).settings.requiredLayers == [.seccomp]
    )
    #expect(try load(("a", "")).settings.requiredLayers == [])
  }

  @Test func `an unknown one is refused with its place and the nearest name, and so is one that stands there twice`() {
    let unknown = refusal(("a", "[require]\nlayers = [\"proc\", \"seccmp\"]"))
    #expect(
      unknown.contains("a.toml:2:19: require.layers has \"seccmp\", which is no layer; did you mean \"seccomp\"?"))
    #expect(unknown.contains("file-tree"))
    let twice = refusal(("a", "require.layers = [\"proc\", \"proc\"]"))
    #expect(twice.contains("a.toml:1:27: require.layers has \"proc\" twice"))
  }

  @Test func `one that the same policy turns off is refused, and both places are named`() {
    let one = refusal(("a", "[network]\naccess = \"host\"\n[require]\nlayers = [\"network\"]"))
    #expect(one.contains("a.toml:4:11: require.layers has \"network\", and network.access = \"host\" ("))
    #expect(one.contains("a.toml:2:10) turns it off"))
    // The built-in default does not observe.
    let inherited = refusal(("a", "inherits = \"default\"\nrequire.layers = [\"observer\"]"))
    #expect(inherited.contains("a.toml:2:19: ") && inherited.contains("audit.observe = false (built-in:default:"))
    let files = refusal(("a", "landlock.files = false\nrequire.layers = [\"landlock\"]"))
    #expect(files.contains("landlock.files = false (") && files.contains("a.toml:1:18) turns it off"), "\(files)")
    let other = refusal(
      ("a", "inherits = \"b\"\nnetwork.access = \"host\""), ("b", "\n\nrequire.layers = [\"seccomp\", \"network\"]"))
    #expect(other.contains("b.toml:3:30: ") && other.contains("a.toml:2:18) turns it off"), "\(other)")
  }

  @Test func `strict turns on all that there is, and requires it`() throws {
    let strict = try PolicyLibrary(directories: []).load("strict").settings
    #expect(strict.landlockFiles && strict.observe && !strict.execute && strict.network == .none)
    #expect(strict.limits.processes != nil && strict.limits.openFiles != nil && strict.limits.fileSize != nil)
    #expect(
      Set(strict.requiredLayers).isSuperset(of: [.landlock, .seccomp, .network, .observer, .proc, .keyring, .rlimits]))
  }

  @Test func `what a launch decides is no contradiction`() throws {
    for text in [
      "network.access = \"entitlement\"\nrequire.layers = [\"network\"]",
      "require.layers = [\"observer\", \"landlock\"]",
      "inherits = \"observed\"\nrequire.layers = [\"observer\"]",
    ] {
      #expect(refusal(("a", text)) == "none", "\(text)")
    }
  }
}
