import Testing

@testable import ContentTypes

@Suite struct TypeTreeTests {
  private let tree = TypeTree.standard

  @Test func `has no circle, and every parent`() {
    for identifier in tree.identifiers {
      for parent in tree[identifier]?.conformsTo ?? [] {
        #expect(tree[parent] != nil, "\(identifier): \(parent)")
        #expect(!tree.conforms(parent, to: identifier), "\(identifier): \(parent)")
      }
      #expect(TypeDeclaration.problem(ofIdentifier: identifier) == nil, "\(identifier)")
    }
  }

  @Test func `knows what conforms to what`() {
    #expect(tree.conforms("public.png", to: "public.image") && tree.conforms("public.png", to: "public.item"))
    #expect(!tree.conforms("public.image", to: "public.png"))
    #expect(tree.conforms("PUBLIC.PNG", to: "public.Image"))
    #expect(
      tree.conforms("public.svg-image", to: "public.xml") && tree.conforms("public.svg-image", to: "public.image"))
    #expect(
      tree.ancestors(of: "public.json") == [
        "public.json", "public.text", "public.data", "public.content", "public.item",
      ])
    #expect(tree.extensions(of: "public.jpeg") == ["jpe", "jpeg", "jpg"])
    #expect(Set(tree.extensions(of: "public.image")).isSuperset(of: ["png", "svg", "heic", "dng"]))
  }

  @Test func `TYP-3: an unknown extension gets a dynamic type, which says what it is`() throws {
    let type = tree.type(.filenameExtension, "Frobnicate")
    #expect(type.identifier.hasPrefix("dyn.a") && TypeDeclaration.problem(ofIdentifier: type.identifier) == nil)
    let again = try #require(TypeTree()[type.identifier])
    #expect(again.extensions == ["frobnicate"] && again.conformsTo == ["public.data"])
    #expect(tree.conforms(type.identifier, to: "public.data") && !tree.conforms(type.identifier, to: "public.content"))
    #expect(tree.type(.filenameExtension, "png").identifier == "public.png")
    // A tag of a package is none of data.
    #expect(tree.type(.filenameExtension, "rtfd").origin == .dynamic)
    #expect(tree.type(.filenameExtension, "rtfd", in: "com.apple.package").identifier == "com.apple.rtfd")
    for tag in ["a:b", "a=b,c?", "\\", "é", "x-y_z"] {
      let type = tree.type(.filenameExtension, tag)
      #expect(TypeTree()[type.identifier]?.extensions == [tag.lowercased()], "\(tag)")
    }
    for broken in ["dyn.", "dyn.a", "dyn.aaaa", "dyn.a!!", "dyn.b123"] { #expect(tree[broken] == nil, "\(broken)") }
  }

  @Test func `TYP-2: an exported declaration beats an imported one, in any order`() {
    let exported = TypeDeclaration(
      identifier: "org.a.note", conformsTo: ["public.text"], extensions: ["note"], origin: .exported(by: "org.a"))
    let imported = TypeDeclaration(
      identifier: "org.a.note", conformsTo: ["public.data"], extensions: ["memo"], origin: .imported(by: "org.b"))
    for order in [[exported, imported], [imported, exported]] {
      var tree = tree
      for one in order { tree.add(one) }
      #expect(tree["org.a.note"] == exported)
      #expect(tree.types(.filenameExtension, "memo") == [] && tree.types(.filenameExtension, "note") == ["org.a.note"])
      #expect(tree.children(of: "public.text").contains("org.a.note"))
    }
  }

  @Test func `leaves out a parent that would make a circle`() {
    var tree = TypeTree()
    tree.add(TypeDeclaration(identifier: "a.a", conformsTo: ["a.b"]))
    tree.add(TypeDeclaration(identifier: "a.b", conformsTo: ["a.a", "a.b", "public.data"]))
    #expect(tree["a.b"]?.conformsTo == ["public.data"] && tree.ancestors(of: "a.a") == ["a.a", "a.b", "public.data"])
  }

  @Test func `TYP-6: apps declare no names of others`() {
    func declare(_ identifier: String) -> TypeDeclaration? {
      .ofApp(
        identifier: identifier, conformsTo: [], extensions: [], mimeTypes: [], description: nil,
        origin: .exported(by: "a"))
    }
    #expect(declare("org.example.note") != nil)
    for bad in ["public.note", "Public.note", "dyn.note", "com.apple.note", "", "a/b", "a b"] {
      #expect(declare(bad) == nil, "\(bad)")
    }
  }
}
