import Testing
import Wire

/// Places in a provider's storage, and forms.
struct ProviderStorageTests {
  @Test(arguments: ["a", "Hello World", "../up", "ü/\u{1}0", "\u{10}", "x_41", String(repeating: "é", count: 20)])
  func `PRV-3: a place in the storage leads back to its identifier`(identifier: String) {
    let path = ProviderStorage.path(identifier: identifier, filename: "name.txt")
    #expect(ProviderStorage.identifier(atPath: path) == identifier)
  }

  @Test func `PRV-3: places outside, and those of identifiers that are cut, have none`() {
    for path in [
      "a/b", "Documents/a/b", "File Provider Storage/a", "File Provider Storage/A/b", "File Provider Storage/_/b",
    ] {
      #expect(ProviderStorage.identifier(atPath: path) == nil)
    }
    let long = ProviderStorage.path(identifier: String(repeating: "a", count: 500), filename: "x")
    #expect(ProviderStorage.identifier(atPath: long) == nil)
  }

  @Test func `Identifiers with control characters do not share a place`() {
    #expect(
      ProviderStorage.path(identifier: "\u{1}0", filename: "x")
        != ProviderStorage.path(identifier: "\u{10}", filename: "x"))
  }

  private func form(_ fields: [ProviderFormField], buttons: Int = 1) -> ProviderFormMessage {
    .init(title: "Sign in", fields: fields, buttons: (0..<buttons).map { .init(key: "\($0)", label: "Go") })
  }

  @Test func `PRV-14: a form has bounds`() {
    let field = ProviderFormField(key: "a", label: "A", kind: .text)
    #expect(form([field]).fault == nil)
    #expect(form([field, field]).fault != nil)
    #expect(form([], buttons: 0).fault != nil)
    #expect(form([], buttons: 5).fault != nil)
    #expect(form([.init(key: "a", label: "A", kind: .choice)]).fault != nil)
    #expect(form([.init(key: "a", label: "A", kind: .secret, value: "known")]).fault != nil)
    #expect(form((0..<17).map { .init(key: "\($0)", label: "", kind: .note) }).fault != nil)
    #expect(form([.init(key: "a", label: String(repeating: "x", count: 10_000_000), kind: .note)]).fault != nil)
  }

  @Test func `Rows of a form have bounds, and answers name some of them`() {
    func list(_ rows: [ProviderFormRow], several: Bool = false) -> ProviderFormMessage {
      form([.init(key: "list", label: "List", kind: .rows, rows: rows, several: several)])
    }
    func reply(_ value: String) -> ProviderFormReply { .init(button: "0", values: ["list": value]) }
    let rows = ["a", "b"].map { ProviderFormRow(key: $0, title: $0) }
    #expect(list(rows).fault == nil && list([]).fault == nil)
    #expect(list(rows + rows).fault != nil)
    #expect(list((0..<257).map { .init(key: "\($0)", title: "") }).fault != nil)
    #expect(list([.init(key: "a\nb", title: "")]).fault != nil)
    #expect(list([.init(key: "", title: "")]).fault != nil)
    #expect(list([.init(key: "a", title: "", detail: String(repeating: "x", count: 201))]).fault != nil)
    #expect(list(rows).accepted(reply("a"))?.values == ["list": "a"])
    #expect(list(rows).accepted(reply("")) != nil)
    #expect(list(rows).accepted(reply("c")) == nil)
    #expect(list(rows).accepted(reply("a\nb")) == nil)
    #expect(list(rows, several: true).accepted(reply("a\nb")) != nil)
    #expect(list(rows, several: true).accepted(reply("a\na")) == nil)
  }

  @Test func `PRV-14: answers are to the fields of the form, and to no others`() {
    let form = form([
      .init(key: "user", label: "Name", kind: .text),
      .init(key: "place", label: "Place", kind: .choice, choices: ["n", "s"]),
      .init(key: "hint", label: "A hint", kind: .note),
    ])
    let reply = ProviderFormReply(button: "0", values: ["user": "ada", "place": "s", "hint": "x", "more": "y"])
    #expect(form.accepted(reply)?.values == ["user": "ada", "place": "s"])
    #expect(form.accepted(.init(button: "9", values: reply.values)) == nil)
    #expect(form.accepted(.init(button: "0", values: ["user": "ada", "place": "elsewhere"])) == nil)
    #expect(
      form.accepted(.init(button: "0", values: ["user": String(repeating: "x", count: 3000), "place": "s"])) == nil)
  }
}
